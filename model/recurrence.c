/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * MAIN's program is followed once, in order. Every other lane is a finishing time; only on H2D do two streams of copies (fetches
 * and pushes) mix, so these two are kept as lists and merged when MAIN, or a later copy, needs to know.
 *
 * Why the merge may be evaluated when MAIN waits: whatever MAIN has not yet enqueued becomes ready no earlier than the moment at
 * which MAIN's wait ends, hence behind everything that the wait depends on.
 */
#include "model/recurrence.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "model/base/arena.h"

/* A copy on the H2D lane. */
struct copy {
	double ready_s; /* without the stream order among fetches */
	double duration_s;
	double end_s; /* once it has run */
	size_t created; /* order of creation, for ties */
};

/* Copies of one kind, in the order in which they become ready; the first n_run have run. */
struct copies {
	struct copy *list;
	size_t n, n_run;
};

struct run {
	const struct cost *cost;
	const struct workload *workload;
	const struct interleave *how;
	double main_s, worker_s, gpu_s, h2d_s, d2h_s; /* finishing times of the lanes */
	struct copies fetches, pushes;
	double *back_s; /* [n_streamed][n_copies] ends of the write-back copies */
	size_t *streamed; /* GPU-scheduled subgroups y_0, y_1, .. */
	size_t n_streamed, n_copies, n_buffers, n_created;
	double adam_s; /* end of the newest streamed gpu adam */
	size_t first_unhanded; /* CPU subgroups from here on have not been handed to the WORKER */
	const struct copies *h2d_stream; /* whose copy ran last on H2D, NULL: none that its own stream could follow at once */
};

static double params_of(const struct run *r, size_t subgroup)
{
	return r->workload->subgroups[subgroup].n_params;
}

/* E8: the next operation of a lane ends `duration` after it is ready and its predecessor has ended. */
static double lane_run(double *lane_s, double ready_s, double duration_s)
{
	return *lane_s = fmax(*lane_s, ready_s) + duration_s;
}

static void copies_add(struct run *r, struct copies *copies, double ready_s, double bytes)
{
	copies->list[copies->n++] =
	    (struct copy){.ready_s = ready_s, .duration_s = cost_op_s(r->cost, OP_H2D, bytes), .created = r->n_created++};
}

/* ---- H2D: E11, the merge of fetches and pushes */

/* When the next fetch copy is ready. Fetches share one stream with CHAIN_DUPLEX; in the other chains the write-back that a fetch
 * copy waits for is behind the fetch before it already. */
static double next_fetch_ready_s(const struct run *r)
{
	const struct copy *const next = &r->fetches.list[r->fetches.n_run];
	const bool is_after_another = r->how->chain == CHAIN_DUPLEX && r->fetches.n_run > 0;
	return is_after_another ? fmax(next->ready_s, next[-1].end_s) : next->ready_s;
}

static bool is_push_next(const struct run *r)
{
	if (r->pushes.n_run == r->pushes.n || r->fetches.n_run == r->fetches.n)
		return r->pushes.n_run < r->pushes.n;
	const struct copy *const push = &r->pushes.list[r->pushes.n_run];
	const double fetch_ready_s = next_fetch_ready_s(r);
	if (r->h2d_stream == &r->pushes && push->ready_s <= r->h2d_s)
		return true;
	if (r->h2d_stream == &r->fetches && fetch_ready_s <= r->h2d_s)
		return false;
	if (push->ready_s == fetch_ready_s)
		return push->created < r->fetches.list[r->fetches.n_run].created;
	return push->ready_s < fetch_ready_s;
}

static void h2d_run_next(struct run *r)
{
	const bool is_push = is_push_next(r);
	struct copies *const copies = is_push ? &r->pushes : &r->fetches;
	struct copy *const copy = &copies->list[copies->n_run];
	const double ready_s = is_push ? copy->ready_s : next_fetch_ready_s(r);
	copy->end_s = lane_run(&r->h2d_s, ready_s, copy->duration_s); /* E11 */
	copies->n_run++;
	/* published: the next fetch copy on a tensor's stream comes after the write-back of what this one brings */
	r->h2d_stream = is_push || r->how->chain != CHAIN_PUBLISHED ? copies : NULL;
}

/* End of the fetch of y_j. */
static double fetch_end_s(struct run *r, size_t j)
{
	while (r->fetches.n_run < (j + 1) * r->n_copies)
		h2d_run_next(r);
	return r->fetches.list[(j + 1) * r->n_copies - 1].end_s;
}

/* MAIN waits for the pushes enqueued by now. */
static void main_wait_pushes(struct run *r)
{
	const double now_s = r->main_s;
	struct copies *const pushes = &r->pushes;
	while (pushes->n_run < pushes->n && pushes->list[pushes->n_run].ready_s <= now_s)
		h2d_run_next(r);
	if (pushes->n_run > 0)
		r->main_s = fmax(now_s, pushes->list[pushes->n_run - 1].end_s);
}

/* MAIN waits for all pushes, the WORKER's to come too, and for the GPU. */
static void main_wait_update(struct run *r)
{
	while (r->pushes.n_run < r->pushes.n)
		h2d_run_next(r);
	if (r->pushes.n > 0)
		r->main_s = fmax(r->main_s, r->pushes.list[r->pushes.n - 1].end_s);
	r->main_s = fmax(r->main_s, r->gpu_s);
}

/* MAIN waits for everything enqueued, by the WORKER too. */
static void main_wait_all(struct run *r)
{
	while (r->fetches.n_run < r->fetches.n || r->pushes.n_run < r->pushes.n)
		h2d_run_next(r);
	r->main_s = fmax(fmax(r->main_s, r->worker_s), fmax(fmax(r->h2d_s, r->d2h_s), r->gpu_s));
}

/* ---- the device work of y_j: E12. MAIN enqueues it at `now_s`. */

/* Fetch after the write-back that frees what it overwrites: the same tensor of y_(j-1), or the buffer set of y_(j-B). */
static void enqueue_fetch(struct run *r, size_t j, double now_s)
{
	const double bytes = interleave_copy_bytes(r->how, params_of(r, r->streamed[j]));
	for (size_t c = 0; c < r->n_copies; c++) {
		const double free_s = j >= r->n_buffers ? r->back_s[(j - r->n_buffers) * r->n_copies + c] : 0;
		copies_add(r, &r->fetches, fmax(now_s, free_s), bytes); /* E12 */
	}
}

static void enqueue_cast(struct run *r, size_t j, double now_s)
{
	if (r->how->downscale == DOWNSCALE_SPLIT)
		return;
	lane_run(&r->gpu_s, now_s, cost_op_s(r->cost, OP_GPU_CAST, params_of(r, r->streamed[j]))); /* E12 */
}

static void enqueue_adam(struct run *r, size_t j, double ready_s)
{
	const double duration_s = cost_op_s(r->cost, interleave_gpu_adam_kind(r->how), params_of(r, r->streamed[j]));
	r->adam_s = lane_run(&r->gpu_s, ready_s, duration_s); /* E12 */
}

/* The newest gpu adam must be that of y_j. */
static void enqueue_write_back(struct run *r, size_t j, double now_s)
{
	const double bytes = interleave_copy_bytes(r->how, params_of(r, r->streamed[j]));
	enqueue_cast(r, j, now_s);
	for (size_t c = 0; c < r->n_copies; c++)
		r->back_s[j * r->n_copies + c] =
		    lane_run(&r->d2h_s, fmax(now_s, r->adam_s), cost_op_s(r->cost, OP_D2H, bytes)); /* E12 */
}

/* ---- the CPU subgroups: E10 */

static void push(struct run *r, size_t x, double ready_s)
{
	copies_add(r, &r->pushes, ready_s, 2 * params_of(r, x));
}

static void hand_over(struct run *r, size_t x, bool is_run_end)
{
	if (!downscale_is_a_pass(r->how->downscale)) {
		push(r, x, r->main_s);
		return;
	}
	if (r->how->downscale == DOWNSCALE_EAGER)
		r->first_unhanded = x;
	else if (!is_run_end)
		return;
	for (; r->first_unhanded <= x; r->first_unhanded++) {
		const double duration_s = cost_op_s(r->cost, OP_CPU_DOWNSCALE, params_of(r, r->first_unhanded));
		push(r, r->first_unhanded, lane_run(&r->worker_s, r->main_s, duration_s)); /* E10 */
	}
}

static void update_on_cpu(struct run *r, size_t x)
{
	const bool is_run_end = x + 1 == r->how->n_dynamic || interleave_is_streamed(r->how, x + 1);
	if (x == 0 || interleave_is_streamed(r->how, x - 1))
		r->first_unhanded = x;
	r->main_s += interleave_cpu_s(r->how, r->cost, params_of(r, x)); /* E10 */
	hand_over(r, x, is_run_end);
}

static void enqueue_resident(struct run *r)
{
	for (size_t x = r->how->n_dynamic; x < r->workload->n_subgroups; x++)
		lane_run(&r->gpu_s, r->main_s, cost_op_s(r->cost, OP_GPU_ADAM, params_of(r, x)));
}

/* ---- dos: E13 */

static void start_window(struct run *r, size_t window)
{
	if (window > 0 && window - 1 < r->n_streamed)
		enqueue_write_back(r, window - 1, r->main_s);
	const size_t end = window + r->n_buffers;
	for (size_t j = window > 0 ? end - 1 : 0; j < end && j < r->n_streamed; j++) {
		enqueue_cast(r, j, r->main_s);
		enqueue_fetch(r, j, r->main_s);
	}
	main_wait_pushes(r);
}

static void end_windows(struct run *r)
{
	const size_t stride = r->how->stride;
	enqueue_resident(r);
	if (r->how->chain == CHAIN_PUBLISHED) {
		main_wait_update(r);
		return;
	}
	if (r->n_streamed > 0 && r->how->n_dynamic % stride == 0)
		enqueue_write_back(r, r->n_streamed - 1, r->main_s);
	main_wait_all(r);
}

static void run_windows(struct run *r)
{
	const size_t stride = r->how->stride;
	for (size_t x = 0; x < r->how->n_dynamic; x++) {
		if (stride > 0 && x % stride == 0)
			start_window(r, x / stride);
		if (interleave_is_streamed(r->how, x)) {
			const size_t j = x / stride;
			r->main_s = fmax(r->main_s, fetch_end_s(r, j)) + r->cost->hw->stream_subgroup_s; /* E13 */
			enqueue_adam(r, j, r->main_s);
		} else {
			update_on_cpu(r, x);
		}
	}
	end_windows(r);
}

/* ---- hybrid: E14. MAIN and the WORKER wait for nothing, so all pushes are known before the device's work is followed; its
 * copies were created before them. */
static void run_queued(struct run *r)
{
	r->n_created = r->n_streamed * r->n_copies;
	for (size_t x = 0; x < r->how->n_dynamic; x++)
		if (!interleave_is_streamed(r->how, x))
			update_on_cpu(r, x);
	r->n_created = 0;
	for (size_t j = 0; j < r->n_streamed; j++) {
		enqueue_cast(r, j, 0);
		enqueue_fetch(r, j, 0);
		enqueue_adam(r, j, fetch_end_s(r, j)); /* E14 */
		enqueue_write_back(r, j, 0);
	}
	enqueue_resident(r);
	main_wait_all(r);
}

static void run_init(struct run *r, const struct cost *cost, const struct workload *workload, const struct interleave *how)
{
	assert(how->n_dynamic <= workload->n_subgroups);
	*r = (struct run){.cost = cost,
	    .workload = workload,
	    .how = how,
	    .n_copies = interleave_n_copies(how),
	    .n_buffers = interleave_n_buffers(how)};
	const size_t n = how->n_dynamic;
	r->streamed = xmalloc(n, sizeof *r->streamed);
	for (size_t x = 0; x < n; x++)
		if (interleave_is_streamed(how, x))
			r->streamed[r->n_streamed++] = x;
	r->fetches.list = xmalloc(r->n_streamed * r->n_copies, sizeof *r->fetches.list);
	r->pushes.list = xmalloc(n - r->n_streamed, sizeof *r->pushes.list);
	r->back_s = xmalloc(r->n_streamed * r->n_copies, sizeof *r->back_s);
}

static void run_release(struct run *r)
{
	free(r->streamed);
	free(r->fetches.list);
	free(r->pushes.list);
	free(r->back_s);
}

double recurrence_interleave_s(const struct cost *cost, const struct workload *workload, const struct interleave *how)
{
	struct run r;
	run_init(&r, cost, workload, how);
	(how->waits_for_fetch ? run_windows : run_queued)(&r);
	run_release(&r);
	return r.main_s;
}

/* ---- E9: the schedules that are sums */

static double serial_cpu_s(const struct cost *cost, double n_params)
{
	return cost->hw->cpu_subgroup_s + cost_op_s(cost, OP_CPU_UNSCALE, n_params) +
	    cost_op_s(cost, OP_CPU_ADAM, n_params) + cost_op_s(cost, OP_PUSH_PAGEABLE, n_params);
}

double recurrence_twinflow_s(const struct cost *cost, const struct workload *workload, size_t n_cpu, bool is_parallel)
{
	double cpu_s = 0, gpu_s = 0;
	for (size_t x = 0; x < workload->n_subgroups; x++) {
		const double n_params = workload->subgroups[x].n_params;
		if (x < n_cpu)
			cpu_s += serial_cpu_s(cost, n_params);
		else
			gpu_s += cost_op_s(cost, OP_GPU_ADAM, n_params);
	}
	return is_parallel ? fmax(cpu_s, gpu_s) : cpu_s + gpu_s; /* E9 */
}

double recurrence_zero3_s(const struct cost *cost, const struct workload *workload)
{
	return recurrence_twinflow_s(cost, workload, workload->n_subgroups, false); /* E9 */
}

double recurrence_gpu_only_s(const struct cost *cost, const struct workload *workload)
{
	return recurrence_twinflow_s(cost, workload, 0, false); /* E9 */
}
