/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/closed_form.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <math.h>

#include "model/split.h"
#include "model/stride_curve.h"

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

double stride_update_s(const struct cost *cost, const struct workload *workload, const struct interleave *how,
    size_t stride, bool is_contended)
{
	struct stride_curve curve;
	stride_curve_init(&curve, cost, workload, how, is_contended);
	return stride_curve_s(&curve, stride);
}

size_t stride_opt(const struct cost *cost, const struct workload *workload, const struct interleave *how)
{
	struct stride_curve curve;
	stride_curve_init(&curve, cost, workload, how, true);
	return stride_curve_opt(&curve);
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

static double fraction_curve_s(double fraction, void *params)
{
	const struct stride_curve *const curve = params;
	return stride_curve_fraction_s(curve, fraction);
}

double fraction_update_s(const struct cost *cost, const struct workload *workload, const struct interleave *how,
    double fraction, bool is_contended)
{
	struct stride_curve curve;
	stride_curve_init(&curve, cost, workload, how, is_contended);
	return stride_curve_fraction_s(&curve, fraction);
}

struct bracket {
	double low, middle, high; /* T(middle) below both ends */
};

/* Halves [low, high] towards the smaller end until the middle is below both, which convexity allows. False: an end or a plateau is
 * best, and `middle` is on it. */
static bool find_bracket(struct bracket *b, struct stride_curve *curve)
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
static void narrow(struct bracket *b, struct stride_curve *curve)
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
static double vertex(const struct bracket *b, struct stride_curve *curve)
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
static struct bracket first_bracket(struct stride_curve *curve)
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

static void keep_better(double *best, double *best_s, double fraction, struct stride_curve *curve)
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
	struct stride_curve curve;
	stride_curve_init(&curve, cost, workload, how, true);
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
