/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * shipped: files that come with the program and are known by name: hardware profiles, recorded runs, plots. They are
 * looked for near the binary (a checkout), then in $DOS_DATA, then in the installed data (share/dos beside bin).
 *
 * A file FOLDER/some_name.SUFFIX is known as "some-name".
 */
#ifndef MODEL_BASE_SHIPPED_H
#define MODEL_BASE_SHIPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "model/base/arena.h"
#include "model/base/err.h"
#include "model/base/opt.h"

struct shipped {
	const char *folder; /* "hwprofiles" */
	const char *suffix; /* ".json" */
	const char *what; /* for messages: "hardware profile" */
};

/* True for what is a file by its spelling: "-", or with a '/', or ending in the suffix. */
bool shipped_is_file(const struct shipped *kind, const char *text);
/* Path of the file of that name. STATUS_INPUT names the nearest and lists what exists. */
int shipped_find(const char **path, const struct shipped *kind, const char *name, struct arena *arena, struct err *err) MUST_CHECK;
/* All names, sorted, each once; returns how many. */
size_t shipped_list(struct opt_list *names, const struct shipped *kind, struct arena *arena);

#endif
