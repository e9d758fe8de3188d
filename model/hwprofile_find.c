/* SPDX-License-Identifier: GPL-3.0-or-later
 * Shipped profiles: NAME.json in one of the folders, in this order: near the binary, $DOS_DATA, the installed data. */
#include "model/hwprofile.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDERS_MAX = 8 };

static const char suffix[] = ".json";

static bool ends_in_suffix(const char *text)
{
	const size_t length = strlen(text), n = sizeof(suffix) - 1;

	return length > n && strcmp(text + length - n, suffix) == 0;
}

bool hwprofile_is_file(const char *text)
{
	return strcmp(text, "-") == 0 || strchr(text, '/') || ends_in_suffix(text);
}

/* Folder of the running binary, "" when the system does not say. */
static const char *binary_folder(struct arena *arena)
{
	char path[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	if (n <= 0 || (size_t)n >= sizeof(path))
		return "";
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	return arena_strdup(arena, path);
}

/* Folders that may hold shipped profiles. The binary is in bin/ or build/MODE/[bin/] of a checkout, or in PREFIX/bin. */
static size_t list_folders(const char *folders[FOLDERS_MAX], struct arena *arena)
{
	const char *const binary = binary_folder(arena);
	const char *const data = getenv("DOS_DATA");
	size_t n = 0;

	if (*binary) {
		folders[n++] = arena_printf(arena, "%s/../hwprofiles", binary);
		folders[n++] = arena_printf(arena, "%s/../../hwprofiles", binary);
		folders[n++] = arena_printf(arena, "%s/../../../hwprofiles", binary);
	}
	if (data && *data)
		folders[n++] = arena_printf(arena, "%s/hwprofiles", data);
	if (*binary)
		folders[n++] = arena_printf(arena, "%s/../share/dos/hwprofiles", binary);
#ifdef DOS_PREFIX
	folders[n++] = DOS_PREFIX "/share/dos/hwprofiles";
#endif
	return n;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_folder(struct opt_list *names, const char *path, struct arena *arena)
{
	DIR *const folder = opendir(path);

	if (!folder)
		return;
	for (const struct dirent *entry; (entry = readdir(folder));) {
		if (!ends_in_suffix(entry->d_name) || entry->d_name[0] == '.')
			continue;
		const int length = (int)(strlen(entry->d_name) - (sizeof(suffix) - 1));
		opt_list_add(names, arena_printf(arena, "%.*s", length, entry->d_name), arena);
	}
	closedir(folder);
}

size_t hwprofile_list(struct opt_list *names, struct arena *arena)
{
	const char *folders[FOLDERS_MAX];
	const size_t n_folders = list_folders(folders, arena);
	size_t n_unique = 0;

	*names = (struct opt_list){0};
	for (size_t i = 0; i < n_folders; i++)
		add_folder(names, folders[i], arena);
	if (names->n == 0)
		return 0;
	qsort(names->items, names->n, sizeof(*names->items), compare_names);
	for (size_t i = 0; i < names->n; i++)
		if (i == 0 || strcmp(names->items[i], names->items[n_unique - 1]) != 0)
			names->items[n_unique++] = names->items[i];
	return names->n = n_unique;
}

static int unknown_name(const char *name, struct arena *arena, struct err *err)
{
	struct opt_list names;
	const char *list = "";

	if (hwprofile_list(&names, arena) == 0)
		return err_set(err, STATUS_INPUT,
		    "%s: no shipped hardware profiles are found; set DOS_DATA to the folder that holds "
		    "hwprofiles/, or give a file (./%s.json)",
		    name, name);
	for (size_t i = 0; i < names.n; i++)
		list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", names.items[i]);
	opt_list_add(&names, NULL, arena);
	const char *const nearest = err_nearest(name, names.items);
	if (nearest)
		return err_set(err, STATUS_INPUT, "%s: no hardware profile of that name; did you mean \"%s\"? shipped: %s",
		    name, nearest, list);
	return err_set(err, STATUS_INPUT,
	    "%s: no hardware profile of that name; a file or one of these would be accepted: %s", name, list);
}

int hwprofile_find(const char **path, const char *name, struct arena *arena, struct err *err)
{
	const char *folders[FOLDERS_MAX];
	const size_t n_folders = list_folders(folders, arena);

	for (size_t i = 0; *name && i < n_folders; i++) {
		const char *const candidate = arena_printf(arena, "%s/%s%s", folders[i], name, suffix);
		if (access(candidate, F_OK) == 0) {
			*path = candidate;
			return 0;
		}
	}
	return unknown_name(name, arena, err);
}
