/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/shipped.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { FOLDERS_MAX = 8 };

static bool ends_in(const char *text, const char *suffix)
{
	const size_t length = strlen(text), n = strlen(suffix);

	return length > n && strcmp(text + length - n, suffix) == 0;
}

bool shipped_is_file(const struct shipped *kind, const char *text)
{
	return strcmp(text, "-") == 0 || strchr(text, '/') || ends_in(text, kind->suffix);
}

/* Folder of the running binary, "" when the system does not say. Where /proc is not mounted: of the path that was executed. */
static const char *binary_folder(struct arena *arena)
{
	char path[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	const char *const executed = (const char *)getauxval(AT_EXECFN);

	if (n > 0 && (size_t)n < sizeof(path))
		path[n] = '\0';
	else if (!executed || !realpath(executed, path))
		return "";
	*strrchr(path, '/') = '\0';
	return arena_strdup(arena, path);
}

/* The binary is in bin/ or build/MODE/[bin/] of a checkout, or in PREFIX/bin. */
static size_t list_folders(const char *folders[FOLDERS_MAX], const struct shipped *kind, struct arena *arena)
{
	const char *const binary = binary_folder(arena);
	const char *const data = getenv("DOS_DATA");
	size_t n = 0;

	if (*binary) {
		folders[n++] = arena_printf(arena, "%s/../%s", binary, kind->folder);
		folders[n++] = arena_printf(arena, "%s/../../%s", binary, kind->folder);
		folders[n++] = arena_printf(arena, "%s/../../../%s", binary, kind->folder);
	}
	if (data && *data)
		folders[n++] = arena_printf(arena, "%s/%s", data, kind->folder);
	if (*binary)
		folders[n++] = arena_printf(arena, "%s/../share/dos/%s", binary, kind->folder);
	return n;
}

static char *swap_letter(const char *text, char from, char to, struct arena *arena)
{
	char *const copy = arena_strdup(arena, text);

	for (char *c = copy; *c; c++)
		if (*c == from)
			*c = to;
	return copy;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_folder(struct opt_list *names, const char *path, const struct shipped *kind, struct arena *arena)
{
	DIR *const folder = opendir(path);

	if (!folder)
		return;
	for (const struct dirent *entry; (entry = readdir(folder));) {
		if (!ends_in(entry->d_name, kind->suffix) || entry->d_name[0] == '.')
			continue;
		char *const name = swap_letter(entry->d_name, '_', '-', arena);
		name[strlen(name) - strlen(kind->suffix)] = '\0';
		opt_list_add(names, name, arena);
	}
	closedir(folder);
}

size_t shipped_list(struct opt_list *names, const struct shipped *kind, struct arena *arena)
{
	const char *folders[FOLDERS_MAX];
	const size_t n_folders = list_folders(folders, kind, arena);
	size_t n_unique = 0;

	*names = (struct opt_list){0};
	for (size_t i = 0; i < n_folders; i++)
		add_folder(names, folders[i], kind, arena);
	if (names->n == 0)
		return 0;
	qsort(names->items, names->n, sizeof(*names->items), compare_names);
	for (size_t i = 0; i < names->n; i++)
		if (i == 0 || strcmp(names->items[i], names->items[n_unique - 1]) != 0)
			names->items[n_unique++] = names->items[i];
	return names->n = n_unique;
}

static int unknown_name(const struct shipped *kind, const char *name, struct arena *arena, struct err *err)
{
	struct opt_list names;
	const char *list = "";

	if (shipped_list(&names, kind, arena) == 0)
		return err_set(err, STATUS_INPUT,
		    "%s: no shipped %s is found; set DOS_DATA to the folder that holds %s/, or give a file (./%s%s)", name,
		    kind->what, kind->folder, name, kind->suffix);
	for (size_t i = 0; i < names.n; i++)
		list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", names.items[i]);
	opt_list_add(&names, NULL, arena);
	const char *const nearest = err_nearest(name, names.items);
	if (nearest)
		return err_set(err, STATUS_INPUT, "%s: no %s of that name; did you mean \"%s\"? shipped: %s", name, kind->what,
		    nearest, list);
	return err_set(err, STATUS_INPUT, "%s: no %s of that name; a file or one of these would be accepted: %s", name, kind->what,
	    list);
}

int shipped_find(const char **path, const struct shipped *kind, const char *name, struct arena *arena, struct err *err)
{
	const char *const spellings[] = {name, swap_letter(name, '-', '_', arena)};
	const char *folders[FOLDERS_MAX];
	const size_t n_folders = list_folders(folders, kind, arena);

	for (size_t i = 0; *name && i < n_folders; i++)
		for (size_t spelling = 0; spelling < 2; spelling++) {
			const char *const candidate = arena_printf(arena, "%s/%s%s", folders[i], spellings[spelling], kind->suffix);
			if (access(candidate, F_OK) == 0) {
				*path = candidate;
				return 0;
			}
		}
	return unknown_name(kind, name, arena, err);
}
