/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/closed_form.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <math.h>

#include "model/split.h"
#include "model/windows.h"

static const double bucket_params = 5e8; /* DeepSpeed's default reduce_bucket_size */

double backward_limit_s(const struct cost *cost, const struct workload *workload, double compute_s, double cpu_params,
    double host_bytes, bool is_blocking)
{
	const double n_buckets = ceil(workload->tp_params / bucket_params);
	const double rank_params = workload->rank_params, bucket_bytes = 2 * rank_params / n_buckets;
	const double round_trip_s = batch_zero_stage(&workload->batch) < 3 ? 0 :
	    n_buckets * (cost_op_s(cost, OP_D2H, bucket_bytes) + cost_op_s(cost, OP_H2D, bucket_bytes));
	const double reduce_s = cost_op_s(cost, OP_REDUCE, workload->tp_params) +
	    (n_buckets - 1) * cost->classes[OP_REDUCE].latency_s + round_trip_s + cost_op_s(cost, OP_GPU_NORM, rank_params);
	if (is_blocking)
		return compute_s + reduce_s + cost_op_s(cost, OP_FLUSH_PAGEABLE, cpu_params); /* E7 */
	const double flush_s = n_buckets * cost_op_s(cost, OP_D2H, host_bytes * cpu_params / n_buckets);
	const double stream_s = reduce_s + flush_s;
	return fmax(compute_s, stream_s) + fmin(compute_s, stream_s) / n_buckets; /* E7 */
}

/* ---- stride */

/* The dynamic subgroups, counted once for all strides. */
struct dynamic {
	const struct cost *cost;
	const struct workload *workload;
	const struct interleave *how;
	double n, params; /* subgroups, and their parameters */
	double resident_s; /* gpu adams of the subgroups that follow */
	bool is_equal; /* all subgroups are of one size */
	bool is_contended;
	bool has_each; /* windows are followed by the list of subgroups, not by their mean */
	struct subgroup_times each[WINDOWS_LIST_MAX];
	struct window_speeds speeds;
};

static void dynamic_init(struct dynamic *d, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, bool is_contended)
{
	const size_t n = how->n_dynamic;
	const double n_resident = (double)(workload->n_subgroups - n);
	d->cost = cost;
	d->workload = workload;
	d->how = how;
	d->n = (double)n;
	d->params = d->n * lanes_mean_params(workload, how);
	d->resident_s = n_resident > 0 ? n_resident * cost_op_s(cost, OP_GPU_ADAM, (workload->rank_params - d->params) / n_resident) : 0;
	d->is_equal = workload->max_subgroup_params * (double)workload->n_subgroups == workload->rank_params;
	d->is_contended = is_contended;
	d->has_each = is_contended && how->waits_for_fetch && !d->is_equal && n <= WINDOWS_LIST_MAX;
	for (size_t x = 0; d->has_each && x < n; x++)
		subgroup_times_init(&d->each[x], how, cost, workload->subgroups[x].n_params);
	window_speeds_init(&d->speeds, cost, how);
}

/* The subgroups of either kind that stride k makes, each of the mean size of its kind. */
static void split_by_stride(struct lanes_split *split, const struct dynamic *d, size_t stride)
{
	const size_t n_streamed = stride > 0 ? d->how->n_dynamic / stride : 0;
	double streamed_params = (double)n_streamed * (d->n > 0 ? d->params / d->n : 0);
	if (!d->is_equal) {
		streamed_params = 0;
		for (size_t x = stride - 1; n_streamed > 0 && x < d->how->n_dynamic; x += stride)
			streamed_params += d->workload->subgroups[x].n_params;
	}
	const double n_cpu = d->n - (double)n_streamed;
	split->n_cpu = n_cpu;
	split->n_gpu = (double)n_streamed;
	split->is_whole = !d->how->waits_for_fetch;
	subgroup_times_init(&split->cpu, d->how, d->cost, n_cpu > 0 ? fmax(0, d->params - streamed_params) / n_cpu : 0);
	subgroup_times_init(&split->gpu, d->how, d->cost, n_streamed > 0 ? streamed_params / (double)n_streamed : 0);
}

static double limit_s(const struct dynamic *d, const struct lanes_split *split, double n_cpu, double n_gpu)
{
	struct lanes lanes;
	struct lanes_split part = *split;
	part.n_cpu = n_cpu;
	part.n_gpu = n_gpu;
	lanes_of(&lanes, d->cost, d->how, &part, d->is_contended);
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
static double full_window_s(const struct dynamic *d, const struct lanes_split *split, double n_cpu)
{
	const struct subgroup_times *const cpu = &split->cpu, *const gpu = &split->gpu;
	const double main_s = n_cpu * cpu->cpu_s + gpu->stream_s;
	const double fetch_ready_s = gpu->gpu_adam_s + gpu->n_copies * gpu->write_back_s;
	double window_s = limit_s(d, split, n_cpu, 1);
	if (n_cpu <= 0)
		return window_s;
	if (!downscale_is_a_pass(d->how->downscale))
		window_s = fmax(window_s, main_s + cpu->push_s);
	const double n_behind = window_s > fetch_ready_s ? n_pushes_behind(d->how, cpu, n_cpu, window_s, fetch_ready_s) : 0;
	const double turn_s = lanes_turn_s(d->cost, d->how, gpu, d->is_contended);
	return n_behind > 0 ? fmax(window_s, (turn_s + n_behind * cpu->push_s + main_s) / 2) : window_s; /* E18 */
}

/* Nothing but n_cpu CPU subgroups, until MAIN has updated them. */
static double cpu_run_s(const struct dynamic *d, const struct lanes_split *split, double n_cpu)
{
	struct lanes_split adam = *split;
	adam.cpu.downscale_s = adam.cpu.push_s = 0;
	return n_cpu > 0 ? limit_s(d, &adam, n_cpu, 0) : 0;
}

/* n casts and pushes follow each other as in a pipeline. */
static double push_line_s(const struct subgroup_times *cpu, double n)
{
	return cpu->downscale_s + cpu->push_s + (n - 1) * fmax(cpu->downscale_s, cpu->push_s);
}

/* From the start of a run of n_cpu > 0 CPU subgroups to the end of its last push, the casts of n_before earlier ones in front. */
static double pushed_s(const struct dynamic *d, const struct lanes_split *split, double n_cpu, double n_before)
{
	const struct subgroup_times *const cpu = &split->cpu;
	const double run_s = cpu_run_s(d, split, n_cpu), each_s = run_s / n_cpu;
	if (d->how->downscale == DOWNSCALE_BATCH)
		return fmax(run_s + push_line_s(cpu, n_cpu), push_line_s(cpu, n_cpu + n_before));
	return each_s + cpu->downscale_s + cpu->push_s + (n_cpu - 1) * fmax(each_s, fmax(cpu->downscale_s, cpu->push_s));
}

/* After the last full window, of last_s: the CPU subgroups that are left, and what MAIN waits for at the end. */
static double rest_s(const struct dynamic *d, const struct lanes_split *split, size_t stride, double last_s)
{
	const double n_windows = split->n_gpu, n_left = d->n - n_windows * (double)stride;
	const double n_before = n_windows > 0 ? (double)stride - 1 : 0; /* in the last window */
	const double adam_s = n_windows > 0 ? split->gpu.gpu_adam_s : 0;
	double end_s = fmax(cpu_run_s(d, split, n_left), adam_s + d->resident_s);
	if (n_left > 0)
		end_s = fmax(end_s, pushed_s(d, split, n_left, n_before));
	else if (n_before > 0)
		end_s = fmax(end_s, pushed_s(d, split, n_before, 0) - last_s);
	if (d->how->chain == CHAIN_PUBLISHED) /* the last write-back spills */
		return end_s;
	return fmax(end_s, adam_s + (n_windows > 0 ? split->gpu.n_copies * split->gpu.write_back_s : 0));
}

/* The first window fetches, and writes nothing back; the pushes that MAIN waits for at its end stand behind the fetch. */
static double first_window_s(const struct dynamic *d, const struct lanes_split *split, double n_cpu)
{
	const struct subgroup_times *const cpu = &split->cpu, *const gpu = &split->gpu;
	const bool pushes_at_once = !downscale_is_a_pass(d->how->downscale);
	const double n_awaited = pushes_at_once ? n_cpu : d->how->downscale == DOWNSCALE_EAGER ? n_cpu - 1 : 0;
	const double run_s = cpu_run_s(d, split, n_cpu) + (pushes_at_once && n_cpu > 0 ? cpu->push_s : 0);
	return fmax(run_s, gpu->n_copies * gpu->fetch_s + fmax(0, n_awaited) * cpu->push_s);
}

/* MAIN waits for every fetch and every push, so no update is shorter than their lanes. */
static double whole_s(const struct dynamic *d, const struct lanes_split *split)
{
	struct lanes lanes;
	lanes_of(&lanes, d->cost, d->how, split, d->is_contended);
	return fmax(lanes.cpu_s, fmax(lanes.cast_s, lanes.h2d_s));
}

/* E18: windows in which MAIN blocks. */
static double blocking_s(const struct dynamic *d, const struct lanes_split *split, size_t stride)
{
	if (split->n_gpu <= 0)
		return rest_s(d, split, 0, 0);
	const double n_cpu = (double)stride - 1;
	const double full_s = full_window_s(d, split, n_cpu);
	const double first_s = first_window_s(d, split, n_cpu) + split->gpu.stream_s;
	const double last_s = split->n_gpu > 1 ? full_s : first_s;
	const double windows_s = first_s + (split->n_gpu - 1) * full_s;
	return fmax(whole_s(d, split), windows_s + rest_s(d, split, stride, last_s)); /* E18 */
}

/* E21: everything queued up front. A lane ends after its own work, what must run before its first operation (a fetch, and an
 * update before the first write-back) and after its last (update and write-back after the last fetch; the 16-bit copy). */
static double queued_s(const struct dynamic *d, const struct lanes_split *split)
{
	struct lanes lanes;
	lanes_of(&lanes, d->cost, d->how, split, d->is_contended);
	const struct subgroup_times *const gpu = &split->gpu;
	const double up_s = gpu->n_copies * gpu->fetch_s, down_s = gpu->n_copies * gpu->write_back_s;
	const double turn_s = lanes_turn_s(d->cost, d->how, gpu, d->is_contended);
	const double main_s = lanes.cpu_s;
	const double n_in_row = d->how->downscale == DOWNSCALE_BATCH ? fmax(1, split->n_cpu / (split->n_gpu + 1)) : 1;
	if (split->n_cpu > 0)
		lanes.cpu_s += push_line_s(&split->cpu, n_in_row);
	if (split->n_cpu > 0 && downscale_is_a_pass(d->how->downscale))
		lanes.cast_s += split->cpu.cpu_s + split->cpu.push_s;
	if (split->n_gpu > 0) {
		const double end_s = gpu->gpu_adam_s + down_s;
		const bool is_ahead = end_s <= up_s * (double)(interleave_n_buffers(d->how) - 1); /* so pushes follow all fetches */
		lanes.h2d_s = is_ahead ? fmax(lanes.h2d_s, lanes.fetches_s + end_s) : lanes.h2d_s + end_s;
		lanes.d2h_s += (d->is_contended ? 0 : up_s) + gpu->gpu_adam_s;
		lanes.gpu_s += up_s;
		lanes.chain_s += up_s + gpu->gpu_adam_s + down_s - turn_s / (double)interleave_n_buffers(d->how);
	}
	return fmax(lanes_max(&lanes).s, d->resident_s > 0 ? main_s + d->resident_s : 0); /* E21 */
}

/* E35: windows whose lanes slow each other. */
static struct windows windows_of(const struct dynamic *d, const struct lanes_split *split, size_t stride)
{
	const size_t n = (size_t)split->n_gpu, n_cpu = n > 0 ? stride - 1 : 0;
	return (struct windows){.how = d->how, .cpu = split->cpu, .gpu = split->gpu, .each = d->has_each ? d->each : NULL, .n = n,
	    .n_cpu = n_cpu, .n_left = (size_t)split->n_cpu - n * n_cpu, .resident_s = d->resident_s};
}

double stride_update_s(const struct cost *cost, const struct workload *workload, const struct interleave *how,
    size_t stride, bool is_contended)
{
	struct dynamic d;
	struct lanes_split split;
	dynamic_init(&d, cost, workload, how, is_contended);
	split_by_stride(&split, &d, stride);
	if (!how->waits_for_fetch)
		return queued_s(&d, &split);
	if (!is_contended)
		return blocking_s(&d, &split, stride);
	const struct windows windows = windows_of(&d, &split, stride);
	return windows_update_s(&d.speeds, &windows);
}

size_t stride_opt(const struct cost *cost, const struct workload *workload, const struct interleave *how)
{
	struct dynamic d;
	struct lanes_split split;
	size_t best = 0;
	double best_s = INFINITY;
	dynamic_init(&d, cost, workload, how, true);
	for (size_t stride = 0; stride <= how->n_dynamic; stride++) {
		split_by_stride(&split, &d, stride);
		const struct windows windows = windows_of(&d, &split, stride);
		if (windows_least_s(&d.speeds, &windows) >= best_s)
			continue;
		const double stride_s = windows_update_s(&d.speeds, &windows);
		if (stride_s < best_s) { /* E19 */
			best_s = stride_s;
			best = stride;
		}
	}
	return best;
}

double stride_balance(const struct cost *cost, const struct workload *workload, bool is_half_duplex)
{
	const double n_params = workload->rank_params / (double)workload->n_subgroups;
	const double down_s = is_half_duplex ? cost_op_s(cost, OP_D2H, 12 * n_params) : 0;
	const double gpu_s = cost_op_s(cost, OP_H2D, 12 * n_params) + down_s + cost_op_s(cost, OP_GPU_ADAM, n_params);
	const double cpu_s = cost_op_s(cost, OP_CPU_ADAM, n_params) + cost_op_s(cost, OP_CPU_DOWNSCALE, n_params);
	return 1 + ceil(gpu_s / cpu_s); /* E20 */
}

/* ---- fraction */

/* T(f) for GSL; subgroups have the mean size, so their times are looked up once. */
struct fraction_curve {
	struct dynamic d;
	struct subgroup_times times;
};

static void fraction_curve_init(struct fraction_curve *curve, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, bool is_contended)
{
	dynamic_init(&curve->d, cost, workload, how, is_contended);
	subgroup_times_init(&curve->times, how, cost, lanes_mean_params(workload, how));
}

static double fraction_curve_s(double fraction, void *params)
{
	const struct fraction_curve *const curve = params;
	const struct lanes_split split = {
	    .n_cpu = (1 - fraction) * curve->d.n, .n_gpu = fraction * curve->d.n, .is_whole = true,
	    .cpu = curve->times, .gpu = curve->times};
	return queued_s(&curve->d, &split);
}

double fraction_update_s(const struct cost *cost, const struct workload *workload, const struct interleave *how,
    double fraction, bool is_contended)
{
	struct fraction_curve curve;
	fraction_curve_init(&curve, cost, workload, how, is_contended);
	return fraction_curve_s(fraction, &curve);
}

struct bracket {
	double low, middle, high; /* T(middle) below both ends */
};

/* Halves [low, high] towards the smaller end until the middle is below both, which convexity allows. False: an end or a plateau is
 * best, and `middle` is on it. */
static bool find_bracket(struct bracket *b, struct fraction_curve *curve)
{
	enum { N_HALVINGS = 40 };
	for (size_t i = 0; i < N_HALVINGS; i++) {
		b->middle = (b->low + b->high) / 2;
		const double low_s = fraction_curve_s(b->low, curve), high_s = fraction_curve_s(b->high, curve);
		const double middle_s = fraction_curve_s(b->middle, curve);
		if (middle_s < low_s && middle_s < high_s)
			return true;
		*(low_s <= middle_s ? &b->high : &b->low) = b->middle;
	}
	return false;
}

/* Golden section until both ends are within 1e-7; then at most one vertex of the piecewise-linear T is between them. */
static void narrow(struct bracket *b, struct fraction_curve *curve)
{
	enum { N_ITERATIONS = 100 };
	gsl_function function = {.function = fraction_curve_s, .params = curve};
	gsl_min_fminimizer *const minimizer = gsl_min_fminimizer_alloc(gsl_min_fminimizer_goldensection);
	int status = gsl_min_fminimizer_set(minimizer, &function, b->middle, b->low, b->high);
	for (size_t i = 0; status == GSL_SUCCESS && i < N_ITERATIONS; i++) {
		status = gsl_min_fminimizer_iterate(minimizer);
		b->middle = gsl_min_fminimizer_x_minimum(minimizer);
		b->low = gsl_min_fminimizer_x_lower(minimizer);
		b->high = gsl_min_fminimizer_x_upper(minimizer);
		if (gsl_min_test_interval(b->low, b->high, 1e-7, 0) == GSL_SUCCESS)
			break;
	}
	gsl_min_fminimizer_free(minimizer);
}

/* Where the line through two points left of the bracket meets the one through two points right of it. */
static double vertex(const struct bracket *b, struct fraction_curve *curve)
{
	const double step = 1e-4;
	const double low_s = fraction_curve_s(b->low, curve), high_s = fraction_curve_s(b->high, curve);
	const double fall = (low_s - fraction_curve_s(b->low - step, curve)) / step;
	const double rise = (fraction_curve_s(b->high + step, curve) - high_s) / step;
	if (b->low - step <= 0 || b->high + step >= 1 || !(rise > fall))
		return b->middle;
	return b->low + (high_s - low_s - rise * (b->high - b->low)) / (fall - rise); /* E22 */
}

/* The best of a grid of the inner points decides where to look, so that a T that is not convex (a link slower in duplex than in turns)
 * gives a good fraction too. */
static struct bracket first_bracket(struct fraction_curve *curve)
{
	enum { N_GRID = 16 };
	const double inside = 1e-9;
	double at[N_GRID + 1];
	size_t best = 0;
	for (size_t i = 0; i <= N_GRID; i++) {
		at[i] = fmin(fmax((double)i / N_GRID, inside), 1 - inside);
		best = fraction_curve_s(at[i], curve) < fraction_curve_s(at[best], curve) ? i : best;
	}
	return (struct bracket){at[best > 0 ? best - 1 : 0], at[best], at[best < N_GRID ? best + 1 : N_GRID]};
}

static void keep_better(double *best, double *best_s, double fraction, struct fraction_curve *curve)
{
	const double fraction_s = fraction_curve_s(fraction, curve);
	if (fraction_s < *best_s) {
		*best = fraction;
		*best_s = fraction_s;
	}
}

double fraction_opt_frac(
    double *best_s, const struct cost *cost, const struct workload *workload, const struct interleave *how)
{
	struct fraction_curve curve;
	fraction_curve_init(&curve, cost, workload, how, true);
	double best = 0;
	*best_s = fraction_curve_s(0, &curve);
	keep_better(&best, best_s, 1, &curve);
	struct bracket bracket = first_bracket(&curve);
	if (find_bracket(&bracket, &curve)) {
		narrow(&bracket, &curve);
		keep_better(&best, best_s, vertex(&bracket, &curve), &curve);
	}
	keep_better(&best, best_s, bracket.middle, &curve); /* E22 */
	return best;
}
