/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hybrid: any GPU fraction; all device work is queued up front under buffer reuse alone, so nothing waits for the main thread; Adam
 * writes the 16-bit copy itself and reads 16-bit gradients. What we would run instead of the published schedule.
 * Source: own; after arXiv 2410.21316 (interleaving) and 2509.21271 (gradients stay 16 bit); downscale=split: masters in two halves (E34),
 * after arXiv 2005.04680.
 *
 *   MAIN | adam push adam push adam push ... |
 *   H2D  | fetch fetch fetch ...  (pushes where fetches wait for a buffer set)
 *   D2H        | write back  write back ...
 */
#include "sim/policy.h"

#include <math.h>
#include <string.h>

#include "sim/steps.h"

enum prefetch { PREFETCH_STEP, PREFETCH_BACKWARD };
static const char *const prefetch_names[] = {"step", "backward", NULL};

struct params {
	const char *mask; /* "0110..": repeated over the subgroups; NULL: by fraction */
	double fraction;
	bool has_fraction;
	bool has_mask;
	int chain; /* enum chain */
	long long buffers;
	int downscale; /* enum downscale */
	long long workers;
	bool has_workers;
	int grads; /* enum grads */
	int unscale; /* enum unscale */
	int flush; /* enum flush */
	int prefetch; /* enum prefetch */
};

static const struct opt opts[] = {
    {.name = "fraction", .kind = OPT_NUMBER, .unit = UNIT_FRAC, .offset = offsetof(struct params, fraction), .min = 0, .max = 1,
        .arg = "F", .help = "share of subgroups updated on the GPU (default: fraction_opt_frac in whole subgroups)",
        .given_offset = offsetof(struct params, has_fraction)},
    {.name = "mask", .kind = OPT_TEXT, .offset = offsetof(struct params, mask), .arg = "0110..",
        .help = "which subgroups, repeated (instead of fraction)", .given_offset = offsetof(struct params, has_mask)},
    {.name = "chain", .kind = OPT_WORD, .offset = offsetof(struct params, chain), .words = chain_names, .fallback = "duplex",
        .arg = "published|serial|duplex", .help = "order of write-back and fetch: three streams, one, one per direction"},
    {.name = "buffers", .kind = OPT_INT, .offset = offsetof(struct params, buffers), .min = 1, .max = 64, .fallback = "3",
        .arg = "B", .help = "device buffer sets"},
    {.name = "downscale", .kind = OPT_WORD, .offset = offsetof(struct params, downscale), .words = downscale_names,
        .fallback = "fused", .arg = "batch|eager|fused|split",
        .help = "16-bit copies: per run, per subgroup, by Adam itself, or as the upper half of the master"},
    {.name = "workers", .kind = OPT_INT, .offset = offsetof(struct params, workers), .min = 1, .max = 4096, .arg = "W",
        .help = "threads of the downscale worker (default: the profile's)", .given_offset = offsetof(struct params, has_workers)},
    {.name = "grads", .kind = OPT_WORD, .offset = offsetof(struct params, grads), .words = grads_names, .fallback = "bf16",
        .arg = "fp32|bf16", .help = "gradients on the host"},
    {.name = "unscale", .kind = OPT_WORD, .offset = offsetof(struct params, unscale), .words = unscale_names, .fallback = "fused",
        .arg = "fused|separate", .help = "gradient unscale inside Adam or as a pass of its own"},
    {.name = "flush", .kind = OPT_WORD, .offset = offsetof(struct params, flush), .words = flush_names, .fallback = "async",
        .arg = "async|blocking", .help = "gradients to the host: pinned and asynchronous, or pageable and blocking"},
    {.name = "prefetch", .kind = OPT_WORD, .offset = offsetof(struct params, prefetch), .words = prefetch_names,
        .fallback = "step", .arg = "step|backward", .help = "first fetches start with the step or with backward"},
};

static int check(const void *params, struct err *err)
{
	const struct params *const p = params;
	if (p->has_mask && p->has_fraction)
		return err_set(err, STATUS_USAGE, "hybrid: give fraction or mask, not both");
	if (p->has_mask && (!*p->mask || strspn(p->mask, "01") != strlen(p->mask)))
		return err_set(err, STATUS_USAGE, "hybrid: mask=%s: accepted are digits 0 (CPU) and 1 (GPU)", p->mask);
	if (p->unscale == UNSCALE_SEPARATE && p->grads == GRADS_BF16)
		return err_set(err, STATUS_USAGE, "hybrid: unscale=separate needs grads=fp32");
	return steps_check_split("hybrid", (enum chain)p->chain, (enum downscale)p->downscale, err);
}

static const char *needs_bf16(const void *params)
{
	return steps_needs_bf16((enum downscale)((const struct params *)params)->downscale);
}

/* The better of the two fractions beside it that a number of subgroups can have. */
static double in_whole_subgroups(
    double fraction, const struct cost *cost, const struct workload *workload, const struct interleave *how)
{
	const double n = (double)workload->n_subgroups, below = floor(fraction * n) / n, above = ceil(fraction * n) / n;
	return fraction_update_s(cost, workload, how, below, true) <= fraction_update_s(cost, workload, how, above, true) ? below : above;
}

static void resolve(void *params, const struct hwprofile *hw, const struct workload *workload, double threads)
{
	struct params *const p = params;
	if (!p->has_workers)
		p->workers = (long long)hw->workers;
	p->has_workers = true;
	if (p->has_fraction || p->has_mask)
		return;
	struct cost cost;
	cost_init(&cost, hw, workload, threads, (double)p->workers);
	const struct interleave how = {.chain = (enum chain)p->chain, .downscale = (enum downscale)p->downscale,
	    .buffers = (size_t)p->buffers, .has_bf16_grads = p->grads == GRADS_BF16,
	    .has_separate_unscale = p->unscale == UNSCALE_SEPARATE, .n_dynamic = workload->n_subgroups};
	double best_s;
	const double fraction = fraction_opt_frac(&best_s, &cost, workload, &how);
	/* Nine digits: libraries of mathematics that differ in the last one choose, and store, the same. */
	p->fraction = nearbyint(1e9 * in_whole_subgroups(fraction, &cost, workload, &how)) / 1e9;
	p->has_fraction = true;
}

static void place(enum place *places, const void *params, const struct workload *workload)
{
	const struct params *const p = params;
	const size_t period = p->has_mask ? strlen(p->mask) : 1;
	for (size_t x = 0; x < workload->n_subgroups; x++) {
		const double i = (double)x, f = p->fraction;
		const bool on_gpu = p->has_mask ? p->mask[x % period] == '1' : floor((i + 1) * f + 1e-6) > floor(i * f + 1e-6);
		places[x] = on_gpu ? PLACE_STREAMED : PLACE_CPU;
	}
}

static void flush(struct build *b, const void *params, const struct bucket *bucket)
{
	const struct params *const p = params;
	const double host_bytes = p->grads == GRADS_FP32 ? 4 : 2;
	if (p->flush == FLUSH_BLOCKING)
		steps_flush_zero3(b, bucket, FLUSH_BLOCKING, host_bytes);
	else
		steps_flush_direct(b, bucket, host_bytes);
}

static struct stream_state *start_streams(struct build *b, const struct params *p)
{
	struct stream_state *const st = arena_alloc(b->schedule->arena, 1, sizeof *st);
	const struct interleave how = {.chain = (enum chain)p->chain, .downscale = (enum downscale)p->downscale,
	    .buffers = (size_t)p->buffers, .n_dynamic = b->workload->n_subgroups};
	steps_stream_init(st, b, &how);
	b->policy_state = st;
	return st;
}

static void backward(struct build *b, const void *params)
{
	const struct params *const p = params;
	if (p->prefetch != PREFETCH_BACKWARD)
		return;
	struct stream_state *const st = start_streams(b, p);
	for (size_t j = 0; j < st->n_streamed && j < st->buffers && (j == 0 || p->chain == CHAIN_DUPLEX); j++)
		steps_fetch(st, b, j);
}

static void update(struct build *b, const void *params)
{
	const struct params *const p = params;
	const size_t n = b->workload->n_subgroups;
	const enum op_kind adam = steps_adam_kind((enum grads)p->grads, (enum downscale)p->downscale);
	struct stream_state *const st = b->policy_state ? b->policy_state : start_streams(b, p);
	for (size_t j = 0; j < st->n_streamed; j++) {
		if (st->fetched[j][0] == NO_OP)
			steps_fetch(st, b, j);
		steps_gradient_cast(st, b, j);
		steps_gpu_update(st, b, j);
		steps_write_back(st, b, j);
	}
	struct hand_over hand = {.mode = (enum downscale)p->downscale};
	for (size_t x = 0; x < n; x++) {
		if (b->places[x] == PLACE_STREAMED)
			continue;
		steps_cpu_adam(b, x, adam, p->unscale == UNSCALE_SEPARATE);
		steps_hand_over(&hand, b, x, x + 1 == n || b->places[x + 1] == PLACE_STREAMED);
	}
	build_wait_all(b);
}

static void memory(struct build *b, const void *params)
{
	const struct params *const p = params;
	(p->downscale == DOWNSCALE_SPLIT ? steps_hold_halves : steps_hold_states)(b);
	double streamed = 0, staging_bytes = 0;
	for (size_t x = 0; x < b->workload->n_subgroups; x++) {
		const double n_params = b->workload->subgroups[x].n_params;
		if (b->places[x] == PLACE_STREAMED)
			streamed = fmax(streamed, n_params);
		else if (p->downscale != DOWNSCALE_SPLIT)
			staging_bytes += steps_pinned_bytes(2 * n_params);
	}
	steps_hold(b, POOL_GPU, MEM_BUFFERS, (double)p->buffers * downscale_state_bytes((enum downscale)p->downscale) * streamed);
	steps_hold(b, POOL_HOST, MEM_STAGING, staging_bytes);
}

static double workers(const void *params)
{
	return (double)((const struct params *)params)->workers;
}

const struct policy policy_hybrid = {
    .name = "hybrid",
    .summary = "any GPU fraction, all copies asynchronous, 16-bit output fused into Adam",
    .source = "own, after arXiv 2410.21316",
    .opts = opts,
    .n_opts = sizeof opts / sizeof *opts,
    .params_size = sizeof(struct params),
    .check = check,
    .needs_bf16 = needs_bf16,
    .resolve = resolve,
    .place = place,
    .flush = flush,
    .backward = backward,
    .update = update,
    .memory = memory,
    .workers = workers,
};
