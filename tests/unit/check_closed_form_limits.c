/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recurrences, lanes and optima: limits, brute force, and what must hold for any input.
 */
#include "model/closed_form.h"

#include <gsl/gsl_rng.h>

#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

enum { N_MANY = PLAIN_SUBGROUPS_MAX };
static const double exact = 1e-12;

static struct plain plain;

static void setup(void)
{
	plain_machine(&plain.hw);
	plain.workload.batch.gpus = 1;
	plain_set(&plain, 10);
}

/* Recurrence over the window formula for many windows. */
static double ratio_to_windows(const struct interleave *how)
{
	struct lanes lanes;
	plain_set(&plain, N_MANY);
	plain_window(&lanes, &plain, how, how->stride, false);
	const double n_windows = (double)N_MANY / (double)how->stride;
	return plain_interleave_s(&plain, how) / (n_windows * lanes_max(&lanes).s);
}

START_TEST(recurrence_tends_to_the_dominant_lane)
{
	for (int chain = CHAIN_PUBLISHED; chain <= CHAIN_DUPLEX; chain++) {
		setup();
		struct interleave how = plain_published(N_MANY, 3);
		how.chain = (enum chain)chain;
		how.buffers = chain == CHAIN_DUPLEX ? 2 : 1;
		assert_rel(ratio_to_windows(&how), 1, 0.01); /* cpu */
		how.stride = 1;
		assert_rel(ratio_to_windows(&how), 1, 0.01); /* chain, or the engines with two sets */
		how.stride = 4;
		plain_curve(&plain.hw.h2d, CURVE_TRANSFER, 5e9);
		plain_curve(&plain.hw.d2h, CURVE_TRANSFER, 5e9);
		plain.hw.h2d_duplex_Bps = plain.hw.d2h_duplex_Bps = 5e9;
		plain_curve(&plain.hw.cpu_adam, CURVE_THREADS, 25e9);
		how.has_separate_unscale = false;
		const double slack = chain == CHAIN_DUPLEX ? 0.01 : 0.25; /* pushes between the fetch copies of a chain */
		const double ratio = ratio_to_windows(&how);
		ck_assert_msg(ratio > 0.99 && ratio < 1 + slack, "chain %s: %g", chain_names[chain], ratio);
	}
}
END_TEST

START_TEST(error_falls_with_the_number_of_windows)
{
	double last = INFINITY;
	for (size_t n = 10; n <= N_MANY; n *= 10) {
		plain_set(&plain, n);
		const struct interleave how = plain_published(n, 2);
		struct lanes lanes;
		plain_window(&lanes, &plain, &how, 2, false);
		const double error = plain_interleave_s(&plain, &how) / ((double)n / 2 * lanes_max(&lanes).s) - 1;
		ck_assert(error >= 0 && error < last);
		last = error;
	}
	ck_assert(last < 0.01);
}
END_TEST

START_TEST(hybrid_tends_to_the_fraction_formula)
{
	static bool on_gpu[N_MANY];
	for (size_t tenth = 0; tenth <= 10; tenth++) {
		for (size_t x = 0; x < N_MANY; x++)
			on_gpu[x] = (x + 1) * tenth / 10 > x * tenth / 10;
		plain_set(&plain, N_MANY);
		const struct interleave how = plain_hybrid(N_MANY, 3, on_gpu);
		assert_rel(fraction_update_s(&plain.cost, &plain.workload, &how, (double)tenth / 10, false),
		    plain_interleave_s(&plain, &how), 0.01);
	}
}
END_TEST

/* A push behind the fetch for a later window: (49 + 4 + 40) / 2 ms a window, where the largest lane and its push take 44. */
START_TEST(pushes_behind_a_fetch_lengthen_the_window) /* E18 */
{
	plain_set(&plain, N_MANY);
	struct interleave how = plain_published(N_MANY, 2);
	how.chain = CHAIN_DUPLEX;
	how.buffers = 2;
	how.downscale = DOWNSCALE_FUSED;
	how.has_separate_unscale = false;
	assert_rel(plain_interleave_s(&plain, &how), N_MANY / 2 * 0.0465, 0.01);
	assert_rel(stride_update_s(&plain.cost, &plain.workload, &how, 2, false), N_MANY / 2 * 0.0465, 0.01);
}
END_TEST

/* Every second subgroup is three times as large: the stride decides how much is streamed. */
START_TEST(strides_count_what_they_stream) /* E18 */
{
	for (size_t x = 0; x < N_MANY; x++)
		plain.subgroups[x].n_params = x % 2 == 1 ? 150e6 : 50e6;
	plain.workload.n_subgroups = N_MANY;
	plain_refresh(&plain);
	struct interleave how = plain_published(N_MANY, 2);
	/* the chain of 150 M; a push of 2 ms goes between its copies */
	assert_rel(stride_update_s(&plain.cost, &plain.workload, &how, 2, false), N_MANY / 2 * 0.0495, 0.01);
	assert_rel(plain_interleave_s(&plain, &how), N_MANY / 2 * 0.0515, 0.01);
}
END_TEST

/* ---- optima */

static void random_plain(gsl_rng *rng, unsigned long seed)
{
	gsl_rng_set(rng, seed);
	plain_machine(&plain.hw);
	plain_curve(&plain.hw.h2d, CURVE_TRANSFER, plain_between(rng, 10e9, 100e9));
	plain_curve(&plain.hw.d2h, CURVE_TRANSFER, plain.hw.h2d.rate[0] * plain_between(rng, 0.8, 1.25));
	plain.hw.h2d_duplex_Bps = plain.hw.h2d.rate[0] * plain_between(rng, 0.5, 1);
	plain.hw.d2h_duplex_Bps = plain.hw.d2h.rate[0] * plain_between(rng, 0.5, 1);
	plain_curve(&plain.hw.cpu_adam, CURVE_THREADS, plain_between(rng, 3e8, 20e9));
	plain_curve(&plain.hw.cpu_downscale, CURVE_THREADS, plain_between(rng, 1e9, 20e9));
	plain.hw.dram_Bps = plain_between(rng, 20e9, 500e9);
	plain.hw.gpu_adam_params_per_s = plain_between(rng, 10e9, 200e9);
	plain.hw.workers = 1 + (double)gsl_rng_uniform_int(rng, 16);
	plain_set(&plain, 1 + gsl_rng_uniform_int(rng, 200));
	for (size_t x = 0; x < plain.workload.n_subgroups; x++)
		plain.subgroups[x].n_params = floor(plain_between(rng, 1e7, 2e8));
	plain_refresh(&plain);
}

static struct interleave random_how(gsl_rng *rng)
{
	const enum downscale downscale = (enum downscale)gsl_rng_uniform_int(rng, 4);
	const enum chain chain = downscale == DOWNSCALE_SPLIT ? (enum chain)(1 + gsl_rng_uniform_int(rng, 2))
							      : (enum chain)gsl_rng_uniform_int(rng, 3);
	return (struct interleave){.chain = chain,
	    .downscale = downscale,
	    .buffers = chain == CHAIN_DUPLEX ? 1 + gsl_rng_uniform_int(rng, 3) : 1,
	    .has_bf16_grads = gsl_rng_uniform_int(rng, 2) == 1,
	    .waits_for_fetch = true,
	    .n_dynamic = plain.workload.n_subgroups};
}

START_TEST(stride_opt_is_the_argmin) /* E19 */
{
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	for (unsigned long seed = 1; seed <= 200; seed++) {
		random_plain(rng, seed);
		const struct interleave how = random_how(rng);
		size_t best = 0;
		double best_s = stride_update_s(&plain.cost, &plain.workload, &how, 0, true);
		for (size_t k = 1; k <= how.n_dynamic; k++) {
			const double stride_s = stride_update_s(&plain.cost, &plain.workload, &how, k, true);
			ck_assert_msg(isfinite(stride_s) && stride_s > 0, "seed %lu stride %zu", seed, k);
			best = stride_s < best_s ? k : best;
			best_s = fmin(stride_s, best_s);
		}
		ck_assert_msg(stride_opt(&plain.cost, &plain.workload, &how) == best, "seed %lu", seed);
	}
	gsl_rng_free(rng);
}
END_TEST

START_TEST(fraction_opt_is_the_best_of_a_grid) /* E22 */
{
	enum { N_GRID = 20000 };
	size_t n_missed = 0;
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	for (unsigned long seed = 1; seed <= 100; seed++) {
		random_plain(rng, seed);
		struct interleave how = random_how(rng);
		how.waits_for_fetch = false;
		double best_s, grid_s = INFINITY;
		const double fraction = fraction_opt_frac(&best_s, &plain.cost, &plain.workload, &how);
		for (size_t i = 0; i <= N_GRID; i++)
			grid_s =
			    fmin(grid_s, fraction_update_s(&plain.cost, &plain.workload, &how, (double)i / N_GRID, true));
		n_missed += best_s > grid_s * (1 + 1e-9);
		ck_assert_msg(fraction >= 0 && fraction <= 1 && best_s <= grid_s * (1 + 1e-3),
		    "seed %lu: %.12g at %g, grid %.12g", seed, best_s, fraction, grid_s);
		assert_rel(fraction_update_s(&plain.cost, &plain.workload, &how, fraction, true), best_s, exact);
	}
	ck_assert_uint_le(n_missed, 1); /* T is not always convex: seed 1, 0.06 % */
	gsl_rng_free(rng);
}
END_TEST

/* ---- what must hold for any input */

/* No lane's work fits in less time than its sum; MAIN's blocking path: fetches and turns. */
static void check_bounds(const struct interleave *how, unsigned long seed)
{
	const double update_s = plain_interleave_s(&plain, how);
	double cpu_s = 0, gpu_s = 0, sum_s = 0;
	for (size_t x = 0; x < how->n_dynamic; x++) {
		const double n_params = plain.subgroups[x].n_params;
		struct subgroup_times times;
		subgroup_times_init(&times, how, &plain.cost, n_params);
		if (interleave_is_streamed(how, x)) {
			gpu_s += times.gpu_adam_s;
			sum_s +=
			    times.n_copies * (times.fetch_s + times.write_back_s) + times.gpu_adam_s + 2 * times.gpu_cast_s;
		} else {
			cpu_s += times.cpu_s;
			sum_s += times.cpu_s + times.downscale_s + times.push_s;
		}
	}
	ck_assert_msg(update_s >= fmax(cpu_s, gpu_s) * (1 - exact), "seed %lu: below its lanes", seed);
	ck_assert_msg(update_s <= sum_s * (1 + exact), "seed %lu: above the sum of its operations", seed);
}

START_TEST(recurrence_is_between_lanes_and_sum)
{
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	static bool on_gpu[200];
	for (unsigned long seed = 1; seed <= 300; seed++) {
		random_plain(rng, seed);
		struct interleave how = random_how(rng);
		how.stride = gsl_rng_uniform_int(rng, how.n_dynamic + 3);
		check_bounds(&how, seed);
		how.waits_for_fetch = false;
		how.on_gpu = on_gpu;
		for (size_t x = 0; x < how.n_dynamic; x++)
			on_gpu[x] = gsl_rng_uniform_int(rng, 2) == 1;
		check_bounds(&how, seed);
	}
	gsl_rng_free(rng);
}
END_TEST

/* With stride 0 and 1, and in the serial schedules, the order on every lane is fixed: then a faster machine is never slower.
 * Elsewhere pushes and fetches may change places, and it is no theorem. */
START_TEST(faster_is_not_slower_where_the_order_is_fixed)
{
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	for (unsigned long seed = 1; seed <= 200; seed++) {
		random_plain(rng, seed);
		struct interleave how = random_how(rng);
		how.stride = gsl_rng_uniform_int(rng, 2);
		const double before_s = plain_interleave_s(&plain, &how),
			     zero3_s = recurrence_zero3_s(&plain.cost, &plain.workload);
		struct curve *const curves[] = {&plain.hw.h2d, &plain.hw.d2h, &plain.hw.cpu_adam, &plain.hw.cpu_downscale};
		curve_scale(curves[gsl_rng_uniform_int(rng, 4)], plain_between(rng, 1, 10));
		plain_refresh(&plain);
		ck_assert_msg(plain_interleave_s(&plain, &how) <= before_s * (1 + exact), "seed %lu", seed);
		ck_assert_msg(recurrence_zero3_s(&plain.cost, &plain.workload) <= zero3_s * (1 + exact), "seed %lu", seed);
	}
	gsl_rng_free(rng);
}
END_TEST

Suite *closed_form_limits_suite(void);
Suite *closed_form_limits_suite(void)
{
	Suite *const suite = suite_create("closed_form_limits");
	TCase *const limits = tcase_create("limits");
	tcase_add_checked_fixture(limits, setup, NULL);
	tcase_add_test(limits, recurrence_tends_to_the_dominant_lane);
	tcase_add_test(limits, error_falls_with_the_number_of_windows);
	tcase_add_test(limits, hybrid_tends_to_the_fraction_formula);
	tcase_add_test(limits, pushes_behind_a_fetch_lengthen_the_window);
	tcase_add_test(limits, strides_count_what_they_stream);
	tcase_add_test(limits, stride_opt_is_the_argmin);
	tcase_add_test(limits, fraction_opt_is_the_best_of_a_grid);
	tcase_add_test(limits, recurrence_is_between_lanes_and_sum);
	tcase_add_test(limits, faster_is_not_slower_where_the_order_is_fixed);
	suite_add_tcase(suite, limits);
	return suite;
}
