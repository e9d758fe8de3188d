/* SPDX-License-Identifier: GPL-3.0-or-later
 * Preloaded into dos by tests/power_loss.sh: writes down, into the file $POWER_LOG, what the program asks of files whose name begins
 * with $POWER_NAME and of their folder, and when SQLite told it that a transaction is committed. Read by replay.py.
 *
 * A record: kind, bytes of the name (2), offset or size (8), bytes of data (8), name, data. Kinds: O made, W written, T truncated,
 * S file synced, U removed, D folder synced, C committed. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 1024, NAME_MAX_BYTES = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char names[FILES_MAX][NAME_MAX_BYTES]; /* of open descriptors; "" is none of ours */

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void record(char kind, const char *name, int64_t at, const void *data, uint64_t n)
{
	static FILE *log;
	const uint16_t n_name = (uint16_t)strlen(name);

	pthread_mutex_lock(&lock);
	if (!log)
		log = fopen(getenv("POWER_LOG"), "ab");
	fwrite(&kind, 1, 1, log);
	fwrite(&n_name, sizeof(n_name), 1, log);
	fwrite(&at, sizeof(at), 1, log);
	fwrite(&n, sizeof(n), 1, log);
	fwrite(name, 1, n_name, log);
	if (data)
		fwrite(data, 1, n, log);
	fflush(log);
	pthread_mutex_unlock(&lock);
}

/* The name in the folder when it is one of the database's files, else NULL. What is shared memory is gone without power. */
static const char *ours(const char *path)
{
	const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
	const size_t n = strlen(name);

	if (strncmp(name, getenv("POWER_NAME"), strlen(getenv("POWER_NAME"))) != 0 || n >= NAME_MAX_BYTES)
		return NULL;
	return n > 4 && strcmp(name + n - 4, "-shm") == 0 ? NULL : name;
}

static int opened(const char *path, int flags, int fd)
{
	const char *const name = ours(path);

	if (fd < 0 || fd >= FILES_MAX)
		return fd;
	strcpy(names[fd], name ? name : "");
	if (name && (flags & O_CREAT))
		record('O', name, 0, NULL, 0);
	return fd;
}

int open64(const char *path, int flags, ...)
{
	va_list args;

	va_start(args, flags);
	const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return opened(path, flags, REAL(open64)(path, flags, mode));
}

int open(const char *path, int flags, ...)
{
	va_list args;

	va_start(args, flags);
	const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return opened(path, flags, REAL(open)(path, flags, mode));
}

int close(int fd)
{
	if (fd >= 0 && fd < FILES_MAX)
		names[fd][0] = '\0';
	return REAL(close)(fd);
}

static const char *name_of(int fd)
{
	return fd >= 0 && fd < FILES_MAX && names[fd][0] ? names[fd] : NULL;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
	const ssize_t done = REAL(pwrite64)(fd, bytes, n, at);

	if (done > 0 && name_of(fd))
		record('W', name_of(fd), at, bytes, (uint64_t)done);
	return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	return pwrite64(fd, bytes, n, at);
}

int ftruncate64(int fd, off64_t size)
{
	const int rc = REAL(ftruncate64)(fd, size);

	if (rc == 0 && name_of(fd))
		record('T', name_of(fd), size, NULL, 0);
	return rc;
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

static int synced(int fd, int rc)
{
	struct stat info;

	if (rc == 0 && name_of(fd))
		record('S', name_of(fd), 0, NULL, 0);
	else if (rc == 0 && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
		record('D', "", 0, NULL, 0);
	return rc;
}

int fdatasync(int fd)
{
	return synced(fd, REAL(fdatasync)(fd));
}

int fsync(int fd)
{
	return synced(fd, REAL(fsync)(fd));
}

int unlink(const char *path)
{
	const int rc = REAL(unlink)(path);

	if (rc == 0 && ours(path))
		record('U', ours(path), 0, NULL, 0);
	return rc;
}

int sqlite3_step(sqlite3_stmt *statement)
{
	const int rc = REAL(sqlite3_step)(statement);

	if (rc == SQLITE_DONE && sqlite3_sql(statement) && strcmp(sqlite3_sql(statement), "COMMIT") == 0)
		record('C', "", 0, NULL, 0);
	return rc;
}
