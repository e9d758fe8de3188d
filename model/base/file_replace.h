/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * file_replace: writes a file completely or not at all: into PATH.dos-PID-0.tmp, renamed when all of it is on disk. What is no
 * regular file (/dev/stdout, a pipe) and "-" (standard output) are written directly.
 *
 * Those of writers that were killed go at the next write of PATH: nobody holds their lock any more.
 *
 * Invariant: after commit or cancel nothing is open and no temporary file is left; an older PATH is untouched unless commit
 * returned 0. Failures are STATUS_ENV.
 */
#ifndef MODEL_BASE_FILE_REPLACE_H
#define MODEL_BASE_FILE_REPLACE_H

#include <stdio.h>

#include "model/base/arena.h"
#include "model/base/err.h"

struct file_replace {
	FILE *out;
	const char *path; /* as messages name it; arena */
	const char *target; /* behind symbolic links; arena */
	const char *temp; /* NULL: written directly */
	int lock; /* -1: none */
};

/* path NULL or "-": standard output. */
int file_replace_open(struct file_replace *file, const char *path, struct arena *arena, struct err *err) MUST_CHECK;
/* Whether that would do, for a command that works long before it writes; leaves nothing behind. */
int file_replace_check(const char *path, struct arena *arena, struct err *err) MUST_CHECK;
int file_replace_commit(struct file_replace *file, struct err *err) MUST_CHECK;
/* Drops what was written. */
void file_replace_cancel(struct file_replace *file);

#endif
