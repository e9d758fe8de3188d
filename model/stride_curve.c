/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/stride_curve.h"

#include <math.h>

#include "model/windows_bound.h"

void stride_curve_init(struct stride_curve *c, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, bool is_contended)
{
	const size_t n = how->n_dynamic;
	const double n_resident = (double)(workload->n_subgroups - n);
	c->cost = cost;
	c->workload = workload;
	c->how = *how;
	c->n = (double)n;
	c->mean_params = lanes_mean_params(workload, how);
	c->params = c->n * c->mean_params;
	c->resident_s = n_resident > 0 ? n_resident * cost_op_s(cost, OP_GPU_ADAM, (workload->rank_params - c->params) / n_resident) : 0;
	c->is_equal = workload->max_subgroup_params * (double)workload->n_subgroups == workload->rank_params;
	c->is_contended = is_contended;
	c->has_each = is_contended && how->waits_for_fetch && !c->is_equal && n <= WINDOWS_LIST_MAX;
	subgroup_times_init(&c->mean, how, cost, c->mean_params);
	for (size_t x = 0; c->has_each && x < n; x++)
		subgroup_times_init(&c->each[x], how, cost, workload->subgroups[x].n_params);
	window_speeds_init(&c->speeds, cost, how);
}

bool stride_curve_is_of(const struct stride_curve *c, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, bool is_contended)
{
	const struct interleave *const of = &c->how;
	return c->cost == cost && c->workload == workload && c->is_contended == is_contended && of->n_dynamic == how->n_dynamic &&
	    of->chain == how->chain && of->downscale == how->downscale && of->buffers == how->buffers &&
	    of->has_bf16_grads == how->has_bf16_grads && of->has_separate_unscale == how->has_separate_unscale &&
	    of->waits_for_fetch == how->waits_for_fetch;
}

/* ---- parts */

/* Kept for the mean size, which all have where they are equal. */
static void times_of(struct subgroup_times *times, const struct stride_curve *c, double n_params)
{
	if (n_params == c->mean_params)
		*times = c->mean;
	else
		subgroup_times_init(times, &c->how, c->cost, n_params);
}

static void count_by_stride(struct lanes_split *split, const struct stride_curve *c, size_t stride)
{
	split->n_gpu = stride > 0 ? (double)(c->how.n_dynamic / stride) : 0;
	split->n_cpu = c->n - split->n_gpu;
	split->is_whole = !c->how.waits_for_fetch;
}

/* The subgroups of either kind that stride k makes, each of the mean size of its kind. */
static void split_by_stride(struct lanes_split *split, const struct stride_curve *c, size_t stride)
{
	count_by_stride(split, c, stride);
	double streamed_params = split->n_gpu * (c->n > 0 ? c->params / c->n : 0);
	if (!c->is_equal) {
		streamed_params = 0;
		for (size_t x = stride - 1; split->n_gpu > 0 && x < c->how.n_dynamic; x += stride)
			streamed_params += c->workload->subgroups[x].n_params;
	}
	times_of(&split->cpu, c, split->n_cpu > 0 ? fmax(0, c->params - streamed_params) / split->n_cpu : 0);
	times_of(&split->gpu, c, split->n_gpu > 0 ? streamed_params / split->n_gpu : 0);
}

static double limit_s(const struct stride_curve *c, const struct lanes_split *split, double n_cpu, double n_gpu)
{
	struct lanes lanes;
	struct lanes_split part = *split;
	part.n_cpu = n_cpu;
	part.n_gpu = n_gpu;
	lanes_of(&lanes, c->cost, &c->how, &part, c->is_contended);
	return lanes_max(&lanes).s;
}

/* Pushes that MAIN waits for at a window's end while they stand behind that window's fetch, which is ready `fetch_ready_s` after its
 * start. With batch they are those of the window before; with eager the last one is still being cast. */
static double n_pushes_behind(
    const struct interleave *how, const struct subgroup_times *cpu, double n_cpu, double window_s, double fetch_ready_s)
{
	double last_ready_s = window_s, spacing_s = cpu->cpu_s;
	if (how->downscale == DOWNSCALE_BATCH) {
		last_ready_s = n_cpu * cpu->downscale_s;
		spacing_s = cpu->downscale_s;
	} else if (how->downscale == DOWNSCALE_EAGER) {
		last_ready_s = cpu->downscale_s + (n_cpu > 1 ? window_s - cpu->cpu_s : 0);
	}
	return last_ready_s > fetch_ready_s ? fmin(n_cpu, 1 + floor((last_ready_s - fetch_ready_s) / spacing_s)) : 0;
}

/* A full window in steady state. Beside the lanes: the push that MAIN enqueues itself at the end of a window is waited for at the
 * start of the next; and where pushes stand behind a fetch, two windows hold a turn, these pushes and a window's CPU work in a row. */
static double full_window_s(const struct stride_curve *c, const struct lanes_split *split, double n_cpu)
{
	const struct subgroup_times *const cpu = &split->cpu, *const gpu = &split->gpu;
	const double main_s = n_cpu * cpu->cpu_s + gpu->stream_s;
	const double fetch_ready_s = gpu->gpu_adam_s + gpu->n_copies * gpu->write_back_s;
	double window_s = limit_s(c, split, n_cpu, 1);
	if (n_cpu <= 0)
		return window_s;
	if (!downscale_is_a_pass(c->how.downscale))
		window_s = fmax(window_s, main_s + cpu->push_s);
	const double n_behind = window_s > fetch_ready_s ? n_pushes_behind(&c->how, cpu, n_cpu, window_s, fetch_ready_s) : 0;
	const double turn_s = lanes_turn_s(c->cost, &c->how, gpu, c->is_contended);
	return n_behind > 0 ? fmax(window_s, (turn_s + n_behind * cpu->push_s + main_s) / 2) : window_s; /* E18 */
}

/* Nothing but n_cpu CPU subgroups, until MAIN has updated them. */
static double cpu_run_s(const struct stride_curve *c, const struct lanes_split *split, double n_cpu)
{
	struct lanes_split adam = *split;
	adam.cpu.downscale_s = adam.cpu.push_s = 0;
	return n_cpu > 0 ? limit_s(c, &adam, n_cpu, 0) : 0;
}

/* n casts and pushes follow each other as in a pipeline. */
static double push_line_s(const struct subgroup_times *cpu, double n)
{
	return cpu->downscale_s + cpu->push_s + (n - 1) * fmax(cpu->downscale_s, cpu->push_s);
}

/* From the start of a run of n_cpu > 0 CPU subgroups to the end of its last push, the casts of n_before earlier ones in front. */
static double pushed_s(const struct stride_curve *c, const struct lanes_split *split, double n_cpu, double n_before)
{
	const struct subgroup_times *const cpu = &split->cpu;
	const double run_s = cpu_run_s(c, split, n_cpu), each_s = run_s / n_cpu;
	if (c->how.downscale == DOWNSCALE_BATCH)
		return fmax(run_s + push_line_s(cpu, n_cpu), push_line_s(cpu, n_cpu + n_before));
	return each_s + cpu->downscale_s + cpu->push_s + (n_cpu - 1) * fmax(each_s, fmax(cpu->downscale_s, cpu->push_s));
}

/* After the last full window, of last_s: the CPU subgroups that are left, and what MAIN waits for at the end. */
static double rest_s(const struct stride_curve *c, const struct lanes_split *split, size_t stride, double last_s)
{
	const double n_windows = split->n_gpu, n_left = c->n - n_windows * (double)stride;
	const double n_before = n_windows > 0 ? (double)stride - 1 : 0; /* in the last window */
	const double adam_s = n_windows > 0 ? split->gpu.gpu_adam_s : 0;
	double end_s = fmax(cpu_run_s(c, split, n_left), adam_s + c->resident_s);
	if (n_left > 0)
		end_s = fmax(end_s, pushed_s(c, split, n_left, n_before));
	else if (n_before > 0)
		end_s = fmax(end_s, pushed_s(c, split, n_before, 0) - last_s);
	if (c->how.chain == CHAIN_PUBLISHED) /* the last write-back spills */
		return end_s;
	return fmax(end_s, adam_s + (n_windows > 0 ? split->gpu.n_copies * split->gpu.write_back_s : 0));
}

/* The first window fetches, and writes nothing back; the pushes that MAIN waits for at its end stand behind the fetch. */
static double first_window_s(const struct stride_curve *c, const struct lanes_split *split, double n_cpu)
{
	const struct subgroup_times *const cpu = &split->cpu, *const gpu = &split->gpu;
	const bool pushes_at_once = !downscale_is_a_pass(c->how.downscale);
	const double n_awaited = pushes_at_once ? n_cpu : c->how.downscale == DOWNSCALE_EAGER ? n_cpu - 1 : 0;
	const double run_s = cpu_run_s(c, split, n_cpu) + (pushes_at_once && n_cpu > 0 ? cpu->push_s : 0);
	return fmax(run_s, gpu->n_copies * gpu->fetch_s + fmax(0, n_awaited) * cpu->push_s);
}

/* MAIN waits for every fetch and every push, so no update is shorter than their lanes. */
static double whole_s(const struct stride_curve *c, const struct lanes_split *split)
{
	struct lanes lanes;
	lanes_of(&lanes, c->cost, &c->how, split, c->is_contended);
	return fmax(lanes.cpu_s, fmax(lanes.cast_s, lanes.h2d_s));
}

/* E18: windows in which MAIN blocks. */
static double blocking_s(const struct stride_curve *c, const struct lanes_split *split, size_t stride)
{
	if (split->n_gpu <= 0)
		return rest_s(c, split, 0, 0);
	const double n_cpu = (double)stride - 1;
	const double full_s = full_window_s(c, split, n_cpu);
	const double first_s = first_window_s(c, split, n_cpu) + split->gpu.stream_s;
	const double last_s = split->n_gpu > 1 ? full_s : first_s;
	const double windows_s = first_s + (split->n_gpu - 1) * full_s;
	return fmax(whole_s(c, split), windows_s + rest_s(c, split, stride, last_s)); /* E18 */
}

/* ---- the whole */

/* E21: everything queued up front. A lane ends after its own work, what must run before its first operation (a fetch, and an
 * update before the first write-back) and after its last (update and write-back after the last fetch; the 16-bit copy). */
static double queued_s(const struct stride_curve *c, const struct lanes_split *split)
{
	struct lanes lanes;
	lanes_of(&lanes, c->cost, &c->how, split, c->is_contended);
	const struct subgroup_times *const gpu = &split->gpu;
	const double up_s = gpu->n_copies * gpu->fetch_s, down_s = gpu->n_copies * gpu->write_back_s;
	const double turn_s = lanes_turn_s(c->cost, &c->how, gpu, c->is_contended);
	const double main_s = lanes.cpu_s;
	const double n_in_row = c->how.downscale == DOWNSCALE_BATCH ? fmax(1, split->n_cpu / (split->n_gpu + 1)) : 1;
	if (split->n_cpu > 0)
		lanes.cpu_s += push_line_s(&split->cpu, n_in_row);
	if (split->n_cpu > 0 && downscale_is_a_pass(c->how.downscale))
		lanes.cast_s += split->cpu.cpu_s + split->cpu.push_s;
	if (split->n_gpu > 0) {
		const double end_s = gpu->gpu_adam_s + down_s;
		const bool is_ahead = end_s <= up_s * (double)(interleave_n_buffers(&c->how) - 1); /* so pushes follow all fetches */
		lanes.h2d_s = is_ahead ? fmax(lanes.h2d_s, lanes.fetches_s + end_s) : lanes.h2d_s + end_s;
		lanes.d2h_s += (c->is_contended ? 0 : up_s) + gpu->gpu_adam_s;
		lanes.gpu_s += up_s;
		lanes.chain_s += up_s + gpu->gpu_adam_s + down_s - turn_s / (double)interleave_n_buffers(&c->how);
	}
	return fmax(lanes_max(&lanes).s, c->resident_s > 0 ? main_s + c->resident_s : 0); /* E21 */
}

/* E35: windows whose lanes slow each other. */
static struct windows windows_of(const struct stride_curve *c, const struct lanes_split *split, size_t stride)
{
	const size_t n = (size_t)split->n_gpu, n_cpu = n > 0 ? stride - 1 : 0;
	return (struct windows){.how = &c->how, .cpu = split->cpu, .gpu = split->gpu, .each = c->has_each ? c->each : NULL, .n = n,
	    .n_cpu = n_cpu, .n_left = (size_t)split->n_cpu - n * n_cpu, .resident_s = c->resident_s};
}

double stride_curve_s(struct stride_curve *c, size_t stride)
{
	struct lanes_split split = {0};
	if (c->has_each)
		count_by_stride(&split, c, stride); /* their own times are known */
	else
		split_by_stride(&split, c, stride);
	if (!c->how.waits_for_fetch)
		return queued_s(c, &split);
	if (!c->is_contended)
		return blocking_s(c, &split, stride);
	const struct windows windows = windows_of(c, &split, stride);
	return windows_update_s(&c->speeds, &windows);
}

struct search {
	struct stride_curve *curve;
	struct windows_bound bound; /* n 0: not for so few subgroups */
	size_t best;
	double best_s;
};

static void try_stride(struct search *search, size_t stride)
{
	struct stride_curve *const c = search->curve;
	const double best_s = search->best_s;
	struct lanes_split split;
	split_by_stride(&split, c, stride);
	const struct windows windows = windows_of(c, &split, stride);
	const double least_s = windows_least_s(&c->speeds, &windows);
	if (least_s > best_s || (least_s == best_s && stride > search->best))
		return;
	if (search->bound.n > 0 && windows.n <= WINDOWS_FOLLOWED && windows_bound_s(&search->bound, &windows) >= best_s)
		return;
	const double stride_s = windows_update_s(&c->speeds, &windows);
	if (stride_s < best_s || (stride_s == best_s && stride < search->best)) { /* E19 */
		search->best_s = stride_s;
		search->best = stride;
	}
}

/* Of many subgroups the strides of few windows last, from the longest: where one of them is the best, T falls towards it. */
size_t stride_curve_opt(struct stride_curve *c)
{
	const bool has_many = c->how.n_dynamic > WINDOWS_LIST_MAX;
	const size_t n = c->how.n_dynamic, n_first = has_many ? n / (WINDOWS_FOLLOWED + 1) : n;
	struct search search = {.curve = c, .best_s = INFINITY};
	if (has_many)
		windows_bound_init(&search.bound, &c->speeds, &c->mean);
	for (size_t stride = 0; stride <= n_first; stride++)
		try_stride(&search, stride);
	for (size_t stride = n; stride > n_first; stride--)
		try_stride(&search, stride);
	return search.best;
}

void stride_curve_lanes(struct lanes *lanes, const struct stride_curve *c, size_t stride)
{
	const bool is_window = stride > 0 && stride <= c->how.n_dynamic;
	const struct lanes_split split = {.n_cpu = is_window ? (double)stride - 1 : c->n, .n_gpu = is_window, .is_whole = !is_window,
	    .cpu = c->mean, .gpu = c->mean};
	lanes_of(lanes, c->cost, &c->how, &split, c->is_contended);
}

double stride_curve_fraction_s(const struct stride_curve *c, double fraction)
{
	const struct lanes_split split = {
	    .n_cpu = (1 - fraction) * c->n, .n_gpu = fraction * c->n, .is_whole = true, .cpu = c->mean, .gpu = c->mean};
	return queued_s(c, &split);
}
