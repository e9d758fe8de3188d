/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * traps: what is known to go wrong in a configuration, each with an id, the key, and what would be better.
 *
 * A warning costs time, memory or the run; a note is worth knowing. What needs the model, the machine or the number of GPUs is
 * silent without them.
 */
#ifndef MODEL_TRAPS_H
#define MODEL_TRAPS_H

#include "model/config_file.h"
#include "model/hwprofile.h"

struct trap {
	bool is_warning;
	const char *id; /* "one-subgroup" */
	const char *file, *key; /* key: path in the file, "/zero_optimization/sub_group_size" */
	const char *finding, *better; /* better NULL: nothing to do */
};

struct traps {
	struct trap *list;
	size_t n, n_warnings, capacity;
	struct arena *arena;
};

struct traps_context {
	const struct shape *shape; /* NULL: unknown */
	const struct hwprofile *hw; /* NULL: unknown */
	double gpus; /* 0: unknown */
};

/* Appends what the file has. STATUS_USAGE for a shape that cannot be. */
int traps_find(
    struct traps *traps, const struct config_file *file, const struct traps_context *context, struct err *err) MUST_CHECK;

/* For the rules. */
void traps_add(struct traps *traps, struct trap trap);
const char *traps_text(struct traps *traps, const char *fmt, ...) PRINTF_LIKE(2, 3);
int traps_find_ds(
    struct traps *traps, const struct config_file *file, const struct traps_context *context, struct err *err) MUST_CHECK;
void traps_find_megatron(struct traps *traps, const struct config_file *file, const struct traps_context *context);

#endif
