/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/file_replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/base/leftovers.h"

enum { LINKS_MAX = 40 };

static int fail(const struct file_replace *file, struct err *err)
{
	return err_set(err, STATUS_ENV, "%s: cannot be written: %s", file->path, strerror(errno));
}

/* What the symbolic link at path names, seen from where path is; NULL: path is no link. */
static const char *link_target(const char *path, struct arena *arena)
{
	char name[PATH_MAX];
	const ssize_t n = readlink(path, name, sizeof(name));
	const char *const slash = strrchr(path, '/');

	if (n < 0 || (size_t)n == sizeof(name))
		return NULL;
	return arena_printf(arena, "%.*s%.*s", name[0] == '/' || !slash ? 0 : (int)(slash + 1 - path), path, (int)n, name);
}

/* The file behind symbolic links, so that a link stays one, also where there is no file yet. */
static const char *resolve(const char *path, struct arena *arena)
{
	char *const real = realpath(path, NULL);
	const char *found = real ? arena_strdup(arena, real) : path;

	free(real);
	for (int i = 0; !real && i < LINKS_MAX; i++) {
		const char *const next = link_target(found, arena);
		if (!next)
			break;
		found = next;
	}
	return found;
}

/* ---- temporary files: PATH.dos-PID-TRY.tmp. A writer holds a lock of its own until it is renamed, so one without a lock has no writer
 * any more. The name says whose it is: nobody else's file is taken for one. */

enum { TRIES_MAX = 100 };

static bool is_at(int fd, const char *path)
{
	struct stat own, there;

	return fstat(fd, &own) == 0 && S_ISREG(own.st_mode) && lstat(path, &there) == 0 && own.st_dev == there.st_dev &&
	    own.st_ino == there.st_ino;
}

static void remove_orphan(const char *path)
{
	const int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_at(fd, path))
		unlink(path);
	close(fd);
}

/* After some digits and what follows them; NULL when it is something else. */
static const char *after_number(const char *text, const char *follows)
{
	const size_t n_digits = strspn(text, "0123456789"), n_follows = strlen(follows);

	return n_digits > 0 && strncmp(text + n_digits, follows, n_follows) == 0 ? text + n_digits + n_follows : NULL;
}

static bool is_temp_of(const char *file, const char *name)
{
	static const char mark[] = ".dos-";
	const size_t n_name = strlen(name), n_mark = strlen(mark);

	if (strncmp(file, name, n_name) != 0 || strncmp(file + n_name, mark, n_mark) != 0)
		return false;
	const char *const try = after_number(file + n_name + n_mark, "-");
	const char *const end = try ? after_number(try, ".tmp") : NULL;
	return end && *end == '\0';
}

/* What writers of target left that were killed. */
static void remove_orphans(const char *target, struct arena *arena)
{
	const char *const slash = strrchr(target, '/'), *const name = slash ? slash + 1 : target;
	const char *const folder = slash ? arena_printf(arena, "%.*s", (int)(name - target), target) : "./";
	DIR *const files = opendir(folder);

	for (const struct dirent *file; files && (file = readdir(files));)
		if (is_temp_of(file->d_name, name))
			remove_orphan(arena_printf(arena, "%s%s", folder, file->d_name));
	if (files)
		closedir(files);
}

/* False: another one took the new file for an orphan before it was locked. */
static bool take_lock(int *lock, FILE *out, const char *path)
{
	*lock = fcntl(fileno(out), F_DUPFD_CLOEXEC, 0); /* of the same lock, for after the close */
	return *lock < 0 || flock(*lock, LOCK_EX) != 0 || is_at(*lock, path); /* where no locks are nobody finds an orphan */
}

/* The next name where there is one already, be it a link or a file of the same process number in another container. */
static FILE *create_temp(struct file_replace *file, struct arena *arena)
{
	for (int i = 0; i < TRIES_MAX; i++) {
		file->temp = arena_printf(arena, "%s.dos-%ld-%d.tmp", file->target, (long)getpid(), i);
		FILE *const out = fopen(file->temp, "wxe");
		if (!out && errno != EEXIST)
			return NULL;
		if (out && take_lock(&file->lock, out, file->temp)) {
			leftovers_add(file->temp);
			return out;
		}
		if (out) {
			close(file->lock);
			fclose(out);
		}
	}
	errno = EEXIST;
	return NULL;
}

static void drop_lock(struct file_replace *file)
{
	if (file->lock >= 0)
		close(file->lock);
	file->lock = -1;
}

int file_replace_open(struct file_replace *file, const char *path, struct arena *arena, struct err *err)
{
	struct stat info;

	*file = (struct file_replace){.path = "standard output", .lock = -1};
	if (!path || strcmp(path, "-") == 0) {
		file->out = stdout;
		return 0;
	}
	file->path = arena_strdup(arena, path);
	file->target = resolve(path, arena);
	const bool is_there = stat(path, &info) == 0;
	if (!is_there && errno == ELOOP)
		return fail(file, err);
	if (is_there && !S_ISREG(info.st_mode)) {
		file->target = file->path;
		file->out = fopen(path, "we");
		return file->out ? 0 : fail(file, err);
	}
	if (access(file->target, F_OK) == 0 && access(file->target, W_OK) != 0)
		return fail(file, err);
	remove_orphans(file->target, arena);
	file->out = create_temp(file, arena);
	if (!file->out)
		return fail(file, err);
	if (is_there)
		(void)!fchmod(fileno(file->out), info.st_mode & 0777); /* nobody else may read it than before */
	return 0;
}

int file_replace_check(const char *path, struct arena *arena, struct err *err)
{
	struct file_replace file;
	struct stat info;

	if (!path || strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
		return access(path, W_OK) == 0 ? 0 : err_set(err, STATUS_ENV, "%s: cannot be written: %s", path, strerror(errno));
	const int code = file_replace_open(&file, path, arena, err);
	if (code == 0)
		file_replace_cancel(&file);
	return code;
}

/* 0 when everything written arrived. */
static int close_out(struct file_replace *file)
{
	FILE *const out = file->out;

	errno = 0;
	const bool failed = fflush(out) != 0 || ferror(out);
	if (failed && errno == 0) /* an earlier write failed: one more says why, and the output is no use in any case */
		(void)(putc('\n', out) == EOF || fflush(out));
	const int why = errno ? errno : EIO;
	file->out = NULL;
	if (out != stdout && fclose(out) != 0 && !failed)
		return -1;
	errno = why;
	return failed ? -1 : 0;
}

int file_replace_commit(struct file_replace *file, struct err *err)
{
	int code = 0;

	if (close_out(file) != 0 || (file->temp && rename(file->temp, file->target) != 0)) {
		code = fail(file, err);
		if (file->temp)
			unlink(file->temp);
	}
	drop_lock(file);
	if (file->temp)
		leftovers_drop(file->temp);
	return code;
}

void file_replace_cancel(struct file_replace *file)
{
	if (!file->out)
		return;
	close_out(file);
	if (!file->temp)
		return;
	unlink(file->temp);
	drop_lock(file);
	leftovers_drop(file->temp);
}
