/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_edit: sets members of a JSON text by path and leaves all other bytes alone. Comments and commas too many are allowed.
 *
 * Invariant: the text was read by the strict reader after json_relax; every edit keeps that true.
 */
#ifndef MODEL_JSON_EDIT_H
#define MODEL_JSON_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/base/arena.h"

struct json_edit {
	struct arena *arena;
	char *text; /* NUL-terminated, arena */
	size_t n_bytes;
	char *relaxed; /* the same with spaces for what JSON does not have */
	const char *indent; /* one level */
	const char *newline;
};

void json_edit_init(struct json_edit *edit, const char *text, size_t n_bytes, struct arena *arena);
/* path "a/b/key"; value: JSON text of a scalar. Objects on the way are made where they are missing, or are no objects. */
void json_edit_set(struct json_edit *edit, const char *path, const char *value);
/* Replaces a member's key and value; false when there is none. value as in `key`: {`member`: `value`}. */
bool json_edit_rename(struct json_edit *edit, const char *path, const char *key, const char *member, const char *value);

#endif
