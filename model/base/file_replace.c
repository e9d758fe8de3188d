/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/file_replace.h"

#include <ctype.h>
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

/* ---- temporary files: a writer holds a lock of its own until it is renamed, so one without a lock has no writer any more */

static bool is_at(int fd, const char *path)
{
	struct stat own, there;

	return fstat(fd, &own) == 0 && lstat(path, &there) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
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

/* NAME.DIGITS.tmp */
static bool is_temp_of(const char *file, const char *name, size_t n_name)
{
	const char *c = file + n_name + 1;

	if (strncmp(file, name, n_name) != 0 || file[n_name] != '.' || !isdigit((unsigned char)*c))
		return false;
	while (isdigit((unsigned char)*c))
		c++;
	return strcmp(c, ".tmp") == 0;
}

/* What writers of target left that were killed. */
static void remove_orphans(const char *target, struct arena *arena)
{
	const char *const slash = strrchr(target, '/'), *const name = slash ? slash + 1 : target;
	const char *const folder = slash ? arena_printf(arena, "%.*s", (int)(name - target), target) : "./";
	DIR *const files = opendir(folder);

	for (const struct dirent *file; files && (file = readdir(files));)
		if (is_temp_of(file->d_name, name, strlen(name)))
			remove_orphan(arena_printf(arena, "%s%s", folder, file->d_name));
	if (files)
		closedir(files);
}

/* Follows no link that somebody left there. Another one may take it for an orphan before it is locked: then once more. */
static FILE *create_temp(int *lock, const char *path)
{
	for (int i = 0; i < LINKS_MAX; i++) {
		FILE *const out = fopen(path, "wxe");
		if (!out)
			return NULL;
		*lock = fcntl(fileno(out), F_DUPFD_CLOEXEC, 0); /* of the same lock, for after the close */
		if (*lock < 0 || flock(*lock, LOCK_EX) != 0 || is_at(*lock, path)) /* where no locks are nobody finds an orphan */
			return out;
		close(*lock);
		fclose(out);
	}
	errno = EBUSY;
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
	file->temp = arena_printf(arena, "%s.%ld.tmp", file->target, (long)getpid()); /* ours alone, whoever else writes PATH */
	if (link_target(file->temp, arena))
		unlink(file->temp);
	leftovers_add(file->temp);
	file->out = create_temp(&file->lock, file->temp);
	if (file->out)
		return 0;
	const int code = fail(file, err);
	leftovers_drop(file->temp);
	return code;
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
