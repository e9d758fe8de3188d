/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * zero3-offload: all optimizer state on the host, updated by the CPU, one subgroup after the other on the main thread.
 * Source: DeepSpeed ZeRO-3 offload (arXiv 2101.06840, 2104.07857); flush=async is the authors' part_grads_async
 * (arXiv 2410.21316).
 *
 *   MAIN | unscale adam push | unscale adam push | ...      push: host cast and pageable H2D, blocking
 */
#include "sim/policy.h"
#include "sim/steps.h"

struct params {
	int flush; /* enum flush */
};

static const struct opt opts[] = {
    {.name = "flush", .kind = OPT_WORD, .offset = offsetof(struct params, flush), .words = flush_names, .fallback = "blocking",
        .arg = "async|blocking", .help = "gradients to the host: pinned and asynchronous, or pageable and blocking"},
};

static void place(enum place *places, const void *params, const struct workload *workload)
{
	(void)params;
	for (size_t x = 0; x < workload->n_subgroups; x++)
		places[x] = PLACE_CPU;
}

static void flush(struct build *b, const void *params, const struct bucket *bucket)
{
	const struct params *const p = params;
	steps_flush_zero3(b, bucket, (enum flush)p->flush, 4);
}

static void update(struct build *b, const void *params)
{
	(void)params;
	for (size_t x = 0; x < b->workload->n_subgroups; x++)
		steps_cpu_zero3(b, x);
}

const struct policy policy_zero3_offload = {
    .name = "zero3-offload",
    .summary = "optimizer state on the host, updated by the CPU; DeepSpeed's offload",
    .source = "DeepSpeed ZeRO-3 offload, arXiv 2104.07857",
    .opts = opts,
    .n_opts = sizeof opts / sizeof *opts,
    .params_size = sizeof(struct params),
    .place = place,
    .flush = flush,
    .update = update,
    .memory = steps_memory_states,
};
