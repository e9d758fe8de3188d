/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/file_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/base/arena.h"

static bool is_standard_input(const char *path)
{
	return strcmp(path, "-") == 0;
}

const char *file_text_name(const char *path)
{
	return is_standard_input(path) ? "standard input" : path;
}

static int too_large(const char *name, struct err *err)
{
	return err_set(err, STATUS_INPUT, "%s: larger than %d MiB, the most that is read", name,
	    (int)FILE_TEXT_MAX_BYTES / 1024 / 1024);
}

/* Reads all of `file` into *text (malloc, NUL-terminated). */
static int read_all(char **text, size_t *n_bytes, FILE *file, const char *name, struct err *err)
{
	size_t capacity = 64 * 1024, used = 0, n;

	*text = xmalloc(capacity, 1);
	while ((n = fread(*text + used, 1, capacity - used - 1, file)) > 0) {
		used += n;
		if (used > FILE_TEXT_MAX_BYTES)
			return too_large(name, err);
		if (capacity - used < capacity / 2)
			*text = xrealloc(*text, capacity *= 2, 1);
	}
	if (ferror(file))
		return err_set(err, STATUS_INPUT, "%s: cannot read: %s", name, strerror(errno));
	(*text)[used] = '\0';
	*n_bytes = used;
	return 0;
}

static int check_file(FILE *file, const char *name, struct err *err)
{
	struct stat info;

	if (fstat(fileno(file), &info) != 0)
		return err_set(err, STATUS_INPUT, "%s: %s", name, strerror(errno));
	if (S_ISDIR(info.st_mode))
		return err_set(err, STATUS_INPUT, "%s: is a directory, a file expected", name);
	if (S_ISREG(info.st_mode) && info.st_size > FILE_TEXT_MAX_BYTES)
		return too_large(name, err);
	return 0;
}

int file_text_load(char **text, size_t *n_bytes, const char *path, struct err *err)
{
	const char *const name = file_text_name(path);
	FILE *const file = is_standard_input(path) ? stdin : fopen(path, "rb");

	*text = NULL;
	*n_bytes = 0;
	if (!file)
		return err_set(err, STATUS_INPUT, "%s: %s", path, strerror(errno));
	int rc = check_file(file, name, err);
	if (rc == 0)
		rc = read_all(text, n_bytes, file, name, err);
	if (!is_standard_input(path))
		fclose(file);
	if (rc) {
		free(*text);
		*text = NULL;
	}
	return rc;
}
