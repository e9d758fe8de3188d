/* SPDX-License-Identifier: GPL-3.0-or-later
 * Feeds every file of the folders named on the command line to a fuzz target: the corpus as an ordinary test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/base/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

enum { FILE_MAX_BYTES = 1024 * 1024 };

static int replay_file(const char *path)
{
	FILE *const file = fopen(path, "rb");

	if (!file) {
		perror(path);
		return 1;
	}
	uint8_t *const data = xmalloc(FILE_MAX_BYTES, 1);
	const size_t n_bytes = fread(data, 1, FILE_MAX_BYTES, file);
	fclose(file);
	/* its own block, so that sanitizers see reads past the end */
	uint8_t *const exact = xrealloc(data, n_bytes, 1);
	LLVMFuzzerTestOneInput(exact, n_bytes);
	free(exact);
	return 0;
}

static int is_plain_name(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int replay_folder(const char *folder, size_t *n_files)
{
	struct dirent **entries;
	const int n = scandir(folder, &entries, is_plain_name, alphasort);
	int rc = n < 0;

	for (int i = 0; i < n; i++) {
		struct arena arena = {0};
		rc |= replay_file(arena_printf(&arena, "%s/%s", folder, entries[i]->d_name));
		(*n_files)++;
		arena_release(&arena);
		free(entries[i]);
	}
	if (n < 0)
		perror(folder);
	else
		free(entries);
	return rc;
}

int main(int argc, char **argv)
{
	size_t n_files = 0;
	int rc = argc < 2;

	for (int i = 1; i < argc; i++)
		rc |= replay_folder(argv[i], &n_files);
	printf("%s: %zu passed, %d failed, 0 skipped\n", argc > 1 ? argv[1] : "replay", n_files, rc);
	return rc;
}
