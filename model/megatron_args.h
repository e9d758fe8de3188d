/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * megatron_args: arguments as names and values, from a command line, a script or a log. Private to megatron.c.
 *
 * Names have dashes and no leading ones; the last use of a name counts.
 */
#ifndef MODEL_MEGATRON_ARGS_H
#define MODEL_MEGATRON_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/base/arena.h"

struct megatron_arg {
	const char *name;
	const char *value; /* NULL: none */
	size_t line;
};

struct megatron_args {
	struct megatron_arg *args;
	size_t n;
	bool is_log;
};

void megatron_args_read(struct megatron_args *args, const char *text, size_t n_bytes, struct arena *arena);
/* NULL: absent, or None. */
const struct megatron_arg *megatron_args_find(const struct megatron_args *args, const char *name);

#endif
