/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * twinflow: a fixed share of subgroups lives on the GPU for ever, the first int(ratio n) stay on the host.
 * Source: DeepSpeed ZeRO-Offload++ Twin-Flow (offload_optimizer.ratio); the serial loop is what its code does.
 *
 *   serial    MAIN | unscale adam push | ... |          parallel  MAIN | unscale adam push | ... |
 *             GPU                        | adam adam |            GPU  | adam adam |
 */
#include "sim/policy.h"
#include "sim/steps.h"

enum mode { MODE_SERIAL, MODE_PARALLEL };
static const char *const mode_names[] = {"serial", "parallel", NULL};

struct params {
	double ratio;
	int mode; /* enum mode */
	int flush; /* enum flush */
};

static const struct opt opts[] = {
    {.name = "ratio", .kind = OPT_NUMBER, .unit = UNIT_FRAC, .offset = offsetof(struct params, ratio), .min = 0, .max = 1,
        .fallback = "1", .arg = "R", .help = "share of subgroups on the host, in whole subgroups"},
    {.name = "mode", .kind = OPT_WORD, .offset = offsetof(struct params, mode), .words = mode_names, .fallback = "serial",
        .arg = "serial|parallel", .help = "GPU subgroups after the CPU's, or beside them"},
    {.name = "flush", .kind = OPT_WORD, .offset = offsetof(struct params, flush), .words = flush_names, .fallback = "blocking",
        .arg = "async|blocking", .help = "gradients to the host: pinned and asynchronous, or pageable and blocking"},
};

static void place(enum place *places, const void *params, const struct workload *workload)
{
	const struct params *const p = params;
	const size_t n_cpu = (size_t)(p->ratio * (double)workload->n_subgroups + 1e-9);
	for (size_t x = 0; x < workload->n_subgroups; x++)
		places[x] = x < n_cpu ? PLACE_CPU : PLACE_GPU;
}

static void flush(struct build *b, const void *params, const struct bucket *bucket)
{
	const struct params *const p = params;
	steps_flush_zero3(b, bucket, (enum flush)p->flush, 4);
}

static void update(struct build *b, const void *params)
{
	const struct params *const p = params;
	op_id last = NO_OP;
	if (p->mode == MODE_PARALLEL)
		for (size_t x = 0; x < b->workload->n_subgroups; x++)
			if (b->places[x] == PLACE_GPU)
				last = steps_gpu_adam(b, x, last);
	for (size_t x = 0; x < b->workload->n_subgroups; x++) {
		if (b->places[x] == PLACE_CPU)
			steps_cpu_zero3(b, x);
		else if (p->mode == MODE_SERIAL)
			build_wait(b, steps_gpu_adam(b, x, NO_OP));
	}
	build_wait(b, last);
}

const struct policy policy_twinflow = {
    .name = "twinflow",
    .summary = "a fixed share of subgroups on the GPU, the others on the CPU; ZeRO-Offload++",
    .source = "DeepSpeed ZeRO-Offload++ Twin-Flow",
    .opts = opts,
    .n_opts = sizeof opts / sizeof *opts,
    .params_size = sizeof(struct params),
    .place = place,
    .flush = flush,
    .update = update,
    .memory = steps_memory_states,
};
