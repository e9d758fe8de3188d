/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/file_replace.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
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

int file_replace_open(struct file_replace *file, const char *path, struct arena *arena, struct err *err)
{
	struct stat info;

	*file = (struct file_replace){.path = "standard output"};
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
	file->temp = arena_printf(arena, "%s.%ld.tmp", file->target, (long)getpid()); /* ours alone, whoever else writes PATH */
	unlink(file->temp);
	leftovers_add(file->temp);
	file->out = fopen(file->temp, "wxe"); /* follows no link that somebody left there */
	if (file->out)
		return 0;
	const int code = fail(file, err);
	leftovers_drop(file->temp);
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
	leftovers_drop(file->temp);
}
