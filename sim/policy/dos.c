/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dos: every stride-th subgroup is streamed to the GPU, updated there and streamed back while the CPU updates the others. The
 * defaults reproduce the authors' published code; its deviations from the ideal are options.
 * Source: Deep Optimizer States, arXiv 2410.21316, and its published code.
 *
 *   MAIN  | adam adam . | adam adam . | ...     .: blocks until the fetch has arrived, enqueues gpu adam
 *   WORKER            | cast cast   | cast ..
 *   H2D   | fetch 2       | fetch 5 push push
 *   D2H                 | write back 2 |
 */
#include "sim/policy.h"
#include "sim/steps.h"


struct params {
	double ratio; /* first member: has no given flag */
	long long stride;
	bool has_stride;
	int chain; /* enum chain */
	long long buffers;
	bool has_buffers;
	int downscale; /* enum downscale */
	long long workers;
	bool has_workers;
	int grads; /* enum grads */
	int unscale; /* enum unscale */
	bool has_unscale;
	int flush; /* enum flush */
};

static const char *const flushes[] = {"async", "blocking", "direct", NULL}; /* enum flush */

static const struct opt opts[] = {
    {.name = "stride", .kind = OPT_INT, .offset = offsetof(struct params, stride), .min = 0, .max = 1e7, .arg = "K",
        .help = "every K-th subgroup on the GPU, 0: none (default: stride_opt)", .given_offset = offsetof(struct params, has_stride)},
    {.name = "chain", .kind = OPT_WORD, .offset = offsetof(struct params, chain), .words = chain_names, .fallback = "published",
        .arg = "published|serial|duplex", .help = "order of write-back and fetch: three streams, one, one per direction"},
    {.name = "buffers", .kind = OPT_INT, .offset = offsetof(struct params, buffers), .min = 1, .max = 64, .arg = "B",
        .help = "device buffer sets (default: 1; 2 with chain=duplex)", .given_offset = offsetof(struct params, has_buffers)},
    {.name = "downscale", .kind = OPT_WORD, .offset = offsetof(struct params, downscale), .words = downscale_names,
        .fallback = "batch", .arg = "batch|eager|fused|split",
        .help = "16-bit copies: per window, per subgroup, by Adam itself, or as the upper half of the master"},
    {.name = "workers", .kind = OPT_INT, .offset = offsetof(struct params, workers), .min = 1, .max = 4096, .arg = "W",
        .help = "threads of the downscale worker (default: the profile's)", .given_offset = offsetof(struct params, has_workers)},
    {.name = "grads", .kind = OPT_WORD, .offset = offsetof(struct params, grads), .words = grads_names, .fallback = "fp32",
        .arg = "fp32|bf16", .help = "gradients on the host"},
    {.name = "unscale", .kind = OPT_WORD, .offset = offsetof(struct params, unscale), .words = unscale_names,
        .arg = "fused|separate", .help = "gradient unscale inside Adam or as a pass (default: separate with published and fp32)",
        .given_offset = offsetof(struct params, has_unscale)},
    {.name = "flush", .kind = OPT_WORD, .offset = offsetof(struct params, flush), .words = flushes, .fallback = "async",
        .arg = "async|blocking|direct", .help = "gradients to the host: pinned and asynchronous, pageable and blocking, or without ZeRO-3's round trip"},
    {.name = "ratio", .kind = OPT_NUMBER, .unit = UNIT_FRAC, .offset = offsetof(struct params, ratio), .min = 0, .max = 1,
        .fallback = "1", .arg = "R", .help = "share of subgroups that take part; the rest lives on the GPU (TwinFlow)"},
};

static int check(const void *params, struct err *err)
{
	const struct params *const p = params;
	if (p->has_buffers && p->buffers != 1 && p->chain != CHAIN_DUPLEX)
		return err_set(err, STATUS_USAGE, "dos: buffers=%lld needs chain=duplex (%s has one buffer set)", p->buffers,
		    chain_names[p->chain]);
	if (p->has_unscale && p->unscale == UNSCALE_SEPARATE && p->grads == GRADS_BF16)
		return err_set(err, STATUS_USAGE, "dos: unscale=separate needs grads=fp32");
	return steps_check_split("dos", (enum chain)p->chain, (enum downscale)p->downscale, err);
}

/* The published code interleaves the subgroups of DeepSpeed's ZeRO-3 optimizer, which its other stages do not have. The other chains
 * are no one's code, and subgroups of a partition are all that they need. */
static const char *needs_zero3(const void *params)
{
	const struct params *const p = params;
	return p->chain == CHAIN_PUBLISHED ? "chain=published is code of ZeRO-3 alone; chain=serial or chain=duplex would be accepted" : NULL;
}

static const char *needs_bf16(const void *params)
{
	return steps_needs_bf16((enum downscale)((const struct params *)params)->downscale);
}

static size_t n_dynamic(const struct params *p, size_t n_subgroups)
{
	return (size_t)(p->ratio * (double)n_subgroups + 1e-9);
}

static bool has_separate_unscale(const struct params *p)
{
	return p->has_unscale ? p->unscale == UNSCALE_SEPARATE : p->chain == CHAIN_PUBLISHED && p->grads == GRADS_FP32;
}

static bool is_streamed(const struct params *p, size_t x)
{
	return p->stride > 0 && (x + 1) % (size_t)p->stride == 0;
}

static void resolve(void *params, const struct hwprofile *hw, const struct workload *workload, double threads)
{
	struct params *const p = params;
	if (!p->has_buffers)
		p->buffers = p->chain == CHAIN_DUPLEX ? 2 : 1;
	if (!p->has_workers)
		p->workers = (long long)hw->workers;
	p->unscale = has_separate_unscale(p) ? UNSCALE_SEPARATE : UNSCALE_FUSED;
	if (!p->has_stride) {
		struct cost cost;
		cost_init(&cost, hw, workload, threads, (double)p->workers);
		const struct interleave how = {.chain = (enum chain)p->chain, .downscale = (enum downscale)p->downscale,
		    .buffers = (size_t)p->buffers, .has_bf16_grads = p->grads == GRADS_BF16,
		    .has_separate_unscale = p->unscale == UNSCALE_SEPARATE, .waits_for_fetch = true,
		    .n_dynamic = n_dynamic(p, workload->n_subgroups)};
		p->stride = (long long)stride_opt(&cost, workload, &how);
	}
	p->has_stride = p->has_buffers = p->has_workers = p->has_unscale = true;
}

static void place(enum place *places, const void *params, const struct workload *workload)
{
	const struct params *const p = params;
	const size_t n = n_dynamic(p, workload->n_subgroups);
	for (size_t x = 0; x < workload->n_subgroups; x++)
		places[x] = x >= n ? PLACE_GPU : is_streamed(p, x) ? PLACE_STREAMED : PLACE_CPU;
}

static void flush(struct build *b, const void *params, const struct bucket *bucket)
{
	const struct params *const p = params;
	const double host_bytes = p->grads == GRADS_FP32 ? 4 : 2;
	if (p->flush == FLUSH_DIRECT)
		steps_flush_direct(b, bucket, host_bytes);
	else
		steps_flush_zero3(b, bucket, (enum flush)p->flush, host_bytes);
}

static bool flushes_tensors(const void *params)
{
	return ((const struct params *)params)->flush == FLUSH_DIRECT;
}

/* Window j: the write-back of the GPU subgroup before it, the fetches that its buffers allow, and the pushes already enqueued. */
static void start_window(struct stream_state *st, struct build *b, size_t j)
{
	if (j > 0 && j - 1 < st->n_streamed)
		steps_write_back(st, b, j - 1);
	const size_t first = j > 0 ? j + st->buffers - 1 : 0;
	for (size_t i = first; i < j + st->buffers && i < st->n_streamed; i++) {
		steps_gradient_cast(st, b, i);
		steps_fetch(st, b, i);
	}
	build_wait_pushes(b);
}

static void end_update(struct stream_state *st, struct build *b, const struct params *p, size_t n_flushed)
{
	if (p->chain == CHAIN_PUBLISHED) {
		build_wait(b, b->push_last);
		build_wait(b, st->gpu_last);
		return;
	}
	for (size_t j = n_flushed; j < st->n_streamed; j++)
		steps_write_back(st, b, j);
	build_wait_all(b);
}

static void update(struct build *b, const void *params)
{
	const struct params *const p = params;
	const size_t n = n_dynamic(p, b->workload->n_subgroups), stride = (size_t)p->stride;
	const enum op_kind adam = steps_adam_kind((enum grads)p->grads, (enum downscale)p->downscale);
	struct stream_state st;
	const struct interleave how = {.chain = (enum chain)p->chain, .downscale = (enum downscale)p->downscale,
	    .buffers = (size_t)p->buffers, .n_dynamic = n};
	steps_stream_init(&st, b, &how);
	struct hand_over hand = {.mode = (enum downscale)p->downscale};
	size_t n_flushed = 0, j = 0;
	for (size_t x = 0; x < n; x++) {
		if (stride ? x % stride == 0 : x == 0) {
			start_window(&st, b, stride ? x / stride : 0);
			n_flushed = stride ? x / stride : 0;
		}
		if (b->places[x] == PLACE_STREAMED) {
			steps_wait_fetch(&st, b, j);
			if (b->schedule->cost->hw->stream_subgroup_s > 0)
				build_main(b, OP_HOST, b->schedule->cost->hw->stream_subgroup_s);
			steps_gpu_update(&st, b, j++);
			continue;
		}
		steps_cpu_adam(b, x, adam, p->unscale == UNSCALE_SEPARATE);
		steps_hand_over(&hand, b, x, x + 1 == n || b->places[x + 1] == PLACE_STREAMED);
	}
	for (size_t x = n; x < b->workload->n_subgroups; x++)
		st.gpu_last = steps_gpu_adam(b, x, st.gpu_last);
	end_update(&st, b, p, n_flushed);
}

/* Beside the states: device buffer sets, and pinned staging: one 16-bit buffer per CPU subgroup of a window,
 * and per CPU subgroup a 16-bit and an fp32 pinned copy (from the growth of host memory with the stride in published runs).
 * Halves are pushed from where they are. */
static void memory(struct build *b, const void *params)
{
	const struct params *const p = params;
	const size_t n = n_dynamic(p, b->workload->n_subgroups);
	(p->downscale == DOWNSCALE_SPLIT ? steps_hold_halves : steps_hold_states)(b);
	double streamed = 0, staged = 0;
	for (size_t x = 0; x < n; x++) {
		const double n_params = b->workload->subgroups[x].n_params;
		if (b->places[x] == PLACE_STREAMED) {
			streamed = n_params > streamed ? n_params : streamed;
		} else {
			staged = n_params > staged ? n_params : staged;
			if (downscale_is_a_pass((enum downscale)p->downscale))
				steps_hold(b, POOL_HOST, MEM_STAGING, steps_pinned_bytes(2 * n_params) + steps_pinned_bytes(4 * n_params));
		}
	}
	steps_hold(b, POOL_GPU, MEM_BUFFERS, (double)p->buffers * downscale_state_bytes((enum downscale)p->downscale) * streamed);
	if (p->downscale == DOWNSCALE_SPLIT)
		return;
	const double n_staging = p->stride > 0 ? (double)(p->stride - 1) : 1;
	steps_hold(b, POOL_HOST, MEM_STAGING, n_staging * steps_pinned_bytes(2 * staged));
}

static double workers(const void *params)
{
	return (double)((const struct params *)params)->workers;
}

const struct policy policy_dos = {
    .name = "dos",
    .summary = "every k-th subgroup streamed to the GPU while the CPU updates the others; Deep Optimizer States",
    .source = "arXiv 2410.21316 and its published code",
    .opts = opts,
    .n_opts = sizeof opts / sizeof *opts,
    .params_size = sizeof(struct params),
    .check = check,
    .needs_zero3 = needs_zero3,
    .needs_bf16 = needs_bf16,
    .resolve = resolve,
    .place = place,
    .flush = flush,
    .flushes_tensors = flushes_tensors,
    .update = update,
    .memory = memory,
    .workers = workers,
};
