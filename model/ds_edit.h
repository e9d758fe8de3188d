/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ds_edit: a DeepSpeed configuration with recommended keys set and every other byte as it was.
 *
 * Invariant (checked before it returns): the result reads as the original with these values. A key that already has the value,
 * however it is written, keeps its bytes; a new key follows the last one of its object in that one's style; objects that are
 * missing are made. cpu_offload, which newer versions refuse beside offload_optimizer, becomes offload_optimizer.
 */
#ifndef MODEL_DS_EDIT_H
#define MODEL_DS_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/base/arena.h"
#include "model/base/err.h"

struct ds_recommendation {
	const char *device; /* of the optimizer, "cpu" or "none"; NULL: leave as it is */
	double ratio; /* NAN: leave */
	double subgroup_params; /* 0: leave */
	bool sets_pin, pin;
	bool sets_fork; /* the published fork's keys: */
	double stride; /* 0: no prefetch */
	bool is_async; /* gradients leave asynchronously */
	bool keeps_params; /* on the GPUs: offload_param, where the file asks for it, becomes "none" */
};

/* The result is NUL-terminated and in the arena; `name` is what messages call the file. STATUS_INPUT. */
int ds_edit(char **result, size_t *n_result, const char *name, const char *text, size_t n_bytes,
    const struct ds_recommendation *what, struct arena *arena, struct err *err) MUST_CHECK;

#endif
