/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gpu-only: all optimizer state lives on the GPU and is updated there; nothing crosses PCIe. The null policy: it tests the
 * engine, and it is the template for others.
 * Source: ZeRO stage 3 without offload (arXiv 1910.02054).
 *
 *   GPU  | forward | backward | adam adam adam |
 *   NET      g g g      g r g r
 */
#include "sim/policy.h"
#include "sim/steps.h"

static void place(enum place *places, const void *params, const struct workload *workload)
{
	(void)params;
	for (size_t x = 0; x < workload->n_subgroups; x++)
		places[x] = PLACE_GPU;
}

static void flush(struct build *b, const void *params, const struct bucket *bucket)
{
	(void)params;
	steps_flush_none(b, bucket);
}

static void update(struct build *b, const void *params)
{
	(void)params;
	op_id last = NO_OP;
	for (size_t x = 0; x < b->workload->n_subgroups; x++)
		last = steps_gpu_adam(b, x, last);
	build_wait(b, last);
}

const struct policy policy_gpu_only = {
    .name = "gpu-only",
    .summary = "optimizer state on the GPU, updated there; the limit without offload",
    .source = "ZeRO stage 3, arXiv 1910.02054",
    .place = place,
    .flush = flush,
    .update = update,
    .memory = steps_memory_states,
};
