/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The constants of loaded DRAM from grids made by the law, with noise and without, their intervals, and draws of them. */
#include "model/base/latency_fit.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <string.h>

#include "model/base/latency.h"
#include "sim/study/profile_latency.h"
#include "sim/study/sample_latency.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

static const struct latency_constants truth = {150e9, 0.5, 0.9, 0.2, 0.05, 0.4};

/* What the law gives for Adam of t threads beside each company. root_Bps > 0: copies both ways are of two ranks, no more each. */
static size_t pairs_of(struct latency_pair *pairs, const struct latency_constants *c, double root_Bps)
{
	size_t n = 0;
	for (double cpu_Bps = 50e9; cpu_Bps < 130e9; cpu_Bps += 20e9)
		for (int other = LATENCY_H2D; other <= LATENCY_NONE; other++) {
			const double Bps[] = {50e9, 50e9, 90e9, 20e9, 0}, each = other == LATENCY_DUPLEX ? 45e9 : Bps[other];
			struct latency_user users[3] = {{cpu_Bps, 1}};
			double speeds[3];
			size_t k = 1;
			if (other == LATENCY_H2D || other == LATENCY_DUPLEX)
				users[k++] = (struct latency_user){c->h2d_load * each, c->h2d_follows_frac};
			if (other == LATENCY_D2H || other == LATENCY_DUPLEX)
				users[k++] = (struct latency_user){c->d2h_load * each, c->d2h_follows_frac};
			if (other == LATENCY_DOWNSCALE)
				users[k++] = (struct latency_user){each, c->downscale_follows_frac};
			const bool has_root = root_Bps > 0 && other == LATENCY_DUPLEX;
			const double ranks = other == LATENCY_NONE || has_root ? 2 : 1;
			latency_speeds(speeds, users, k, c->limit_Bps, ranks);
			const double other_frac = k == 3 ? (speeds[1] + speeds[2]) / 2 : speeds[k - 1];
			pairs[n++] = (struct latency_pair){(enum latency_other)other, cpu_Bps, Bps[other], speeds[0],
			    has_root ? fmin(other_frac, root_Bps / Bps[other]) : other_frac, ranks, has_root ? root_Bps : 0};
		}
	return n;
}

START_TEST(the_fit_finds_the_constants)
{
	struct latency_pair pairs[32];
	struct latency_constants c;
	double error_frac;
	const size_t n = pairs_of(pairs, &truth, 0);
	ck_assert(latency_fit(&c, &error_frac, pairs, n));
	ck_assert_double_lt(error_frac, 1e-3);
	assert_rel(c.limit_Bps, truth.limit_Bps, 0.01);
	assert_rel(c.h2d_load, truth.h2d_load, 0.02);
	assert_rel(c.d2h_load, truth.d2h_load, 0.02);
	ck_assert_double_eq_tol(c.h2d_follows_frac, truth.h2d_follows_frac, 0.01);
	ck_assert_double_eq_tol(c.d2h_follows_frac, truth.d2h_follows_frac, 0.01);
	ck_assert_double_eq_tol(c.downscale_follows_frac, truth.downscale_follows_frac, 0.01);
	ck_assert(!latency_fit(&c, &error_frac, pairs, 4)); /* one cell of each */
	ck_assert_double_eq(c.limit_Bps, 0);
}
END_TEST

/* Who knows of the root finds the constants, who does not takes DRAM for it. */
START_TEST(a_root_is_not_taken_for_dram)
{
	struct latency_pair pairs[32];
	struct latency_constants c;
	double error_frac;
	const size_t n = pairs_of(pairs, &truth, 30e9);
	ck_assert(latency_fit(&c, &error_frac, pairs, n));
	ck_assert_double_lt(error_frac, 1e-3);
	assert_rel(c.limit_Bps, truth.limit_Bps, 0.01);
	ck_assert_double_eq_tol(c.h2d_follows_frac, truth.h2d_follows_frac, 0.01);
	for (size_t i = 0; i < n; i++)
		pairs[i].root_Bps = 0;
	ck_assert(latency_fit(&c, &error_frac, pairs, n));
	ck_assert_double_gt(error_frac, 0.05);
}
END_TEST

/* A profile with these pairs as its grid, 10 bytes a parameter, two GPUs behind 60 GB/s. */
static struct hwprofile *profile_with(const struct latency_pair *pairs, size_t n, struct arena *arena)
{
	static const char *const seconds[] = {"h2d", "d2h", "duplex", "cpu_downscale", "cpu_adam"};
	struct hwprofile *const hw = arena_zalloc(arena, 1, sizeof *hw);
	plain_machine(hw);
	hw->value_meta = arena_zalloc(arena, hw_n_value_fields, sizeof *hw->value_meta);
	hw->curve_meta = arena_zalloc(arena, hw_n_curve_fields, sizeof *hw->curve_meta);
	hw->pcie_root_Bps = 60e9;
	hw->gpus_per_pcie_root = 2;
	hw->cpu_adam_bytes_per_param = hw->cpu_downscale_bytes_per_param = 10;
	hw->n_corun = n;
	for (size_t i = 0; i < n; i++) {
		struct hw_corun *const cell = &hw->corun[i];
		const struct latency_pair *const pair = &pairs[i];
		const double bytes = pair->other == LATENCY_DOWNSCALE ? 10 : 1;
		strcpy(cell->first, "cpu_adam");
		strcpy(cell->second, seconds[pair->other]);
		cell->first_alone = pair->cpu_Bps / 10;
		cell->first_together = cell->first_alone * pair->cpu_frac;
		cell->second_alone = fmax(1, pair->other_Bps / bytes);
		cell->second_together = cell->second_alone * pair->other_frac;
		cell->ranks = pair->ranks;
	}
	return hw;
}

/* Its root goes into the fit. */
START_TEST(a_profile_fit_knows_its_root)
{
	struct latency_pair pairs[32];
	struct arena arena = {0};
	struct hwprofile *const hw = profile_with(pairs, pairs_of(pairs, &truth, 30e9), &arena);
	profile_fit_latency(hw, &arena);
	assert_rel(hw->dram_latency_Bps, truth.limit_Bps, 0.01);
	ck_assert_double_eq_tol(hw->h2d_latency_frac, truth.h2d_follows_frac, 0.01);
	ck_assert_double_eq_tol(hw->downscale_latency_frac, truth.downscale_follows_frac, 0.01);
	arena_release(&arena);
}
END_TEST

START_TEST(without_slowdown_there_is_no_limit)
{
	struct latency_pair pairs[32];
	struct latency_constants c;
	double error_frac;
	const size_t n = pairs_of(pairs, &truth, 0);
	for (size_t i = 0; i < n; i++)
		pairs[i].cpu_frac = pairs[i].other_frac = 1;
	ck_assert(!latency_fit(&c, &error_frac, pairs, n));
}
END_TEST

START_TEST(cells_that_say_something)
{
	const struct latency_cell cell = {"cpu_adam", "duplex", 4, 0, 2e9, 1e9, 80e9, 60e9, 0, 70e9, 0};
	struct latency_cell other = cell;
	struct latency_pair pair;
	ck_assert(latency_pair_of(&pair, &cell, 8, 28, 6));
	ck_assert(pair.other == LATENCY_DUPLEX);
	assert_rel(pair.cpu_Bps, 56e9, 1e-12);
	assert_rel(pair.cpu_frac, 0.5, 1e-12);
	assert_rel(pair.other_frac, 0.75, 1e-12);
	ck_assert_double_eq(pair.ranks, 1);
	ck_assert_double_eq(pair.root_Bps, 70e9);
	other.ranks = 8;
	other.gpus_per_root = 2;
	ck_assert(latency_pair_of(&pair, &other, 8, 28, 6));
	ck_assert_double_eq(pair.root_Bps, 35e9); /* of eight ranks, two behind each root */
	other = cell;
	other.second = "cpu_downscale";
	other.second_threads = 5;
	ck_assert(!latency_pair_of(&pair, &other, 8, 28, 6)); /* 9 threads on 8 */
	ck_assert(latency_pair_of(&pair, &other, 9, 28, 6));
	ck_assert_double_eq(pair.root_Bps, 0); /* a downscale copies nothing */
	other.second = "spin";
	ck_assert(!latency_pair_of(&pair, &other, 9, 28, 6));
	other.second = "cpu_adam";
	ck_assert(!latency_pair_of(&pair, &other, 9, 28, 6)); /* of no other rank */
	other.ranks = 2;
	ck_assert(latency_pair_of(&pair, &other, 9, 28, 6));
}
END_TEST

/* ---- noise and intervals */

/* Every speed off by a log-normal factor, the same of a seed. */
static void add_noise(struct latency_pair *pairs, size_t n, double log_sd, unsigned long seed)
{
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(rng, seed);
	for (size_t i = 0; i < n; i++) {
		pairs[i].cpu_frac *= exp(gsl_ran_gaussian_ziggurat(rng, log_sd));
		pairs[i].other_frac *= exp(gsl_ran_gaussian_ziggurat(rng, log_sd));
	}
	gsl_rng_free(rng);
}

static double squares(const struct latency_pair *pairs, size_t n, const struct latency_constants *c)
{
	double errors[LATENCY_ERRORS_MAX], sum = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = pairs[i].other == LATENCY_DOWNSCALE ? 0 : latency_errors(errors, &pairs[i], c); j-- > 0;)
			sum += errors[j] * errors[j];
	return sum;
}

/* No step of a tenth of a per cent or more in any direction of the copies' five is better, nor one along the valley in which limit and
 * loads grow together. */
static void assert_bottom(const struct latency_pair *pairs, size_t n, const struct latency_constants *c)
{
	const double least = squares(pairs, n, c);
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(rng, 7);
	for (int i = 0; i < 2000; i++) {
		struct latency_constants near = *c;
		const double size = pow(10, -3 + i % 20 * 0.1), valley = i % 2 ? gsl_ran_gaussian_ziggurat(rng, size) : 0;
		near.limit_Bps *= exp(valley + gsl_ran_gaussian_ziggurat(rng, size) * (i % 4 < 2));
		near.h2d_load *= exp(valley + gsl_ran_gaussian_ziggurat(rng, size) * (i % 4 < 2));
		near.d2h_load *= exp(valley + gsl_ran_gaussian_ziggurat(rng, size) * (i % 4 < 2));
		near.h2d_follows_frac = fmin(1, near.h2d_follows_frac * exp(gsl_ran_gaussian_ziggurat(rng, size) + 2 * valley));
		near.d2h_follows_frac = fmin(1, near.d2h_follows_frac * exp(gsl_ran_gaussian_ziggurat(rng, size)));
		ck_assert_double_ge(squares(pairs, n, &near), least * (1 - 1e-9));
	}
	gsl_rng_free(rng);
}

START_TEST(the_fit_reaches_the_bottom)
{
	struct latency_pair pairs[32];
	struct latency_constants c;
	double error_frac;
	const size_t n = pairs_of(pairs, &truth, 0);
	add_noise(pairs, n, 0.04, (unsigned long)_i + 1);
	ck_assert(latency_fit(&c, &error_frac, pairs, n));
	ck_assert_double_le(squares(pairs, n, &c), squares(pairs, n, &truth));
	assert_bottom(pairs, n, &c);
}
END_TEST

/* A recorded grid, in whose valley a search along one constant at a time stops with a limit 22 % too high. */
START_TEST(the_fit_reaches_the_bottom_of_a_valley)
{
	struct arena arena = {0};
	struct err err;
	struct hwprofile *const hw = arena_zalloc(&arena, 1, sizeof *hw);
	struct latency_constants c;
	double error_frac;
	ck_assert_msg(hwprofile_load(hw, "traces/recorded/samples/h200_probe1.json", &arena, &err) == 0, "%s", err.text);
	struct latency_pair *const pairs = arena_alloc(&arena, hw->n_corun, sizeof *pairs);
	const size_t n = profile_latency_pairs(pairs, hw);
	ck_assert_uint_eq(n, 25);
	ck_assert(latency_fit(&c, &error_frac, pairs, n));
	assert_bottom(pairs, n, &c);
	assert_rel(hw->dram_latency_Bps / c.limit_Bps, 1.22, 0.01); /* by that search, in the file */
	arena_release(&arena);
}
END_TEST

/* Of 100 grids, 95 % of the intervals of each constant hold the truth; of 100 and 95 %, fewer than 89 or all have a chance below 1 %. */
START_TEST(intervals_hold_the_truth)
{
	enum { N_GRIDS = 100 };
	size_t n_inside[LATENCY_CONSTANTS_N] = {0};
	for (unsigned long seed = 1; seed <= N_GRIDS; seed++) {
		struct latency_pair pairs[32];
		struct latency_constants c, lo, hi;
		double error_frac;
		const size_t n = pairs_of(pairs, &truth, 0);
		add_noise(pairs, n, 0.02, seed);
		ck_assert(latency_fit(&c, &error_frac, pairs, n));
		latency_intervals(&lo, &hi, &c, pairs, n);
		for (size_t k = 0; k < LATENCY_CONSTANTS_N; k++) {
			const double low = latency_constant(&lo, k), value = latency_constant(&c, k), high = latency_constant(&hi, k);
			ck_assert_msg(low <= value && value <= high, "%s: %g in %g to %g", latency_members[k].name, value, low, high);
			n_inside[k] += low <= latency_constant(&truth, k) && latency_constant(&truth, k) <= high;
		}
	}
	for (size_t k = 0; k < LATENCY_CONSTANTS_N; k++)
		ck_assert_msg(n_inside[k] >= 89 && n_inside[k] < N_GRIDS, "%s: %zu", latency_members[k].name, n_inside[k]);
}
END_TEST

/* Twice the noise, twice the width; what no cell tells may be anything; what lies at the end of its range has an interval to one side. */
START_TEST(intervals_are_as_wide_as_what_is_not_known)
{
	const struct latency_constants posted = {150e9, 0.5, 0.9, 0.2, 0, 0.4};
	struct latency_pair pairs[32];
	struct latency_constants c, lo, hi;
	double error_frac, widths[2];
	size_t n = 0;
	for (size_t i = 0; i < 2; i++) {
		n = pairs_of(pairs, &posted, 0);
		add_noise(pairs, n, i ? 0.02 : 0.01, 4);
		ck_assert(latency_fit(&c, &error_frac, pairs, n));
		latency_intervals(&lo, &hi, &c, pairs, n);
		widths[i] = log(hi.limit_Bps / lo.limit_Bps);
	}
	ck_assert_double_gt(widths[1] / widths[0], 1.7);
	ck_assert_double_lt(widths[1] / widths[0], 2.5);
	ck_assert_double_eq(c.d2h_follows_frac, 0); /* with this seed */
	ck_assert_double_eq(lo.d2h_follows_frac, 0);
	ck_assert(hi.d2h_follows_frac > 0.001 && hi.d2h_follows_frac < 0.1);
	size_t n_copies = 0;
	for (size_t i = 0; i < n; i++)
		if (pairs[i].other != LATENCY_DOWNSCALE)
			pairs[n_copies++] = pairs[i];
	ck_assert(latency_fit(&c, &error_frac, pairs, n_copies));
	latency_intervals(&lo, &hi, &c, pairs, n_copies);
	ck_assert_double_eq(lo.downscale_follows_frac, 0);
	ck_assert_double_eq(hi.downscale_follows_frac, 1);
}
END_TEST

/* Root mean square of what 400 draws of the constants change in the log speeds of the grid. */
static double spread_of(const struct sampler *sampler, const struct hwprofile *hw)
{
	struct latency_pair pairs[32];
	const size_t n = profile_latency_pairs(pairs, hw);
	const struct latency_constants nominal = profile_latency_constants(hw);
	struct hwprofile drawn;
	double sum = 0, n_errors = 0, here[LATENCY_ERRORS_MAX], there[LATENCY_ERRORS_MAX];
	for (size_t draw = 0; draw < 400; draw++) {
		sampler_draw(&drawn, sampler, hw, draw);
		const struct latency_constants c = profile_latency_constants(&drawn);
		for (size_t i = 0; i < n; i++) {
			latency_errors(here, &pairs[i], &nominal);
			for (size_t j = latency_errors(there, &pairs[i], &c); j-- > 0; n_errors++)
				sum += (there[j] - here[j]) * (there[j] - here[j]);
		}
	}
	return sqrt(sum / n_errors);
}

/* Draws stay within what the cells themselves are off by; drawn one by one, from the same intervals, they would not. Six constants of 36
 * speeds: about sqrt(6 / 36) of the noise. */
START_TEST(draws_agree_with_the_grid)
{
	struct latency_pair pairs[32];
	struct arena arena = {0};
	struct sampler sampler;
	const double noise = 0.03;
	const size_t n = pairs_of(pairs, &truth, 0);
	add_noise(pairs, n, noise, 3);
	struct hwprofile *const hw = profile_with(pairs, n, &arena);
	hw->pcie_root_Bps = INFINITY;
	profile_fit_latency(hw, &arena);
	sampler_init(&sampler, hw, 1, &arena);
	ck_assert_uint_eq(sampler.n_fields, LATENCY_CONSTANTS_N);
	ck_assert_double_gt(spread_of(&sampler, hw), noise);
	sampler_join_latency(&sampler, hw, &arena);
	ck_assert_double_gt(spread_of(&sampler, hw), 0.25 * noise);
	ck_assert_double_lt(spread_of(&sampler, hw), 0.75 * noise);
	ck_assert_uint_eq(sampler.n_conditions, 0);
	arena_release(&arena);
}
END_TEST

Suite *latency_fit_suite(void);
Suite *latency_fit_suite(void)
{
	Suite *const s = suite_create("latency_fit");
	TCase *const fit = tcase_create("fit"), *const noise = tcase_create("noise");
	tcase_add_test(fit, the_fit_finds_the_constants);
	tcase_add_test(fit, a_root_is_not_taken_for_dram);
	tcase_add_test(fit, a_profile_fit_knows_its_root);
	tcase_add_test(fit, without_slowdown_there_is_no_limit);
	tcase_add_test(fit, cells_that_say_something);
	tcase_add_loop_test(noise, the_fit_reaches_the_bottom, 0, 8);
	tcase_add_test(noise, the_fit_reaches_the_bottom_of_a_valley);
	tcase_add_test(noise, intervals_hold_the_truth);
	tcase_add_test(noise, intervals_are_as_wide_as_what_is_not_known);
	tcase_add_test(noise, draws_agree_with_the_grid);
	suite_add_tcase(s, fit);
	suite_add_tcase(s, noise);
	return s;
}
