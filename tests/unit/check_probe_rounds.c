/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rounds of the probe: the centre over rounds, order and seed, drift. */
#include <stdlib.h>

#include "probe/cases.h"
#include "probe/clock.h"
#include "probe/cuda_fake.h"
#include "probe/rounds.h"
#include "tests/unit/bare_harness.h"
#include "tests/unit/test_util.h"

Suite *probe_rounds_suite(void);

enum { ORDER_MAX = 64 };

START_TEST(centre_is_the_mean_of_medians)
{
	/* medians 10, 20, 33; mean 21; standard error sqrt(((11^2 + 1 + 12^2) / 2) / 3), times t of 2 degrees of freedom */
	const double samples[] = {9, 10, 99, 20, 20, 20, 33, 1, 34};
	const size_t sizes[] = {3, 3, 3};
	struct stats stats;
	stats_of_rounds(&stats, samples, sizes, 3);
	ck_assert_uint_eq(stats.n, 9);
	ck_assert_double_eq(stats.median, 20);
	ck_assert_double_eq(stats.centre, 21);
	assert_rel(stats.hi - stats.centre, 4.303 * sqrt(266.0 / 6), 1e-12);
	assert_rel(stats.centre - stats.lo, stats.hi - stats.centre, 1e-12);
	stats_of_rounds(&stats, samples, sizes, 1);
	ck_assert_double_eq(stats.centre, 10); /* one round: its median */
	stats_of_rounds(&stats, samples, sizes, 2);
	ck_assert_double_eq(stats.centre, 15);
	ck_assert(stats.lo <= 15 && stats.hi >= 15);
}
END_TEST

/* ---- order */

static const char *order[ORDER_MAX];
static size_t n_order;

/* A machine that halves its speed with every round; a second point under the same key. */
static void run_one(struct harness *harness, const struct probe_case *probe_case)
{
	const double rate = 64 / (double)(1 << harness->round), samples[] = {rate, rate, rate};
	order[n_order++] = probe_case->key;
	harness_record(harness, probe_case, "a", &(struct measured){.what = "x"}, samples, 3);
	harness_record(harness, probe_case, "b", &(struct measured){.what = "x"}, samples, 2);
}

static void run_waived(struct harness *harness, const struct probe_case *probe_case)
{
	harness_waive(harness, probe_case, "not here");
}

static const struct probe_case cases[] = {{"c1", "", CASE_HOST, run_one}, {"c2", "", CASE_STEADY, run_one},
    {"c3", "", CASE_GPU, run_one}, {"c4", "", CASE_HOST, run_waived}, {"c5", "", CASE_HOST, run_one},
    {"c6", "", CASE_HOST, run_one}};

/* The probe began age_s ago. */
static struct harness *run_aged(size_t n_rounds, uint64_t seed, bool has_gpu, double age_s)
{
	struct harness *const harness = harness_new();
	const struct probe_case *list[N_ELEMENTS(cases)];
	for (size_t i = 0; i < N_ELEMENTS(cases); i++)
		list[i] = &cases[i];
	harness->n_rounds = n_rounds;
	harness->seed = seed;
	harness->start_s = clock_now_s() - age_s;
	harness->n_gpus = has_gpu;
	harness->gpus[0] = has_gpu ? gpu_open(0, 0) : NULL;
	n_order = 0;
	rounds_run(harness, list, N_ELEMENTS(cases));
	gpu_close(harness->gpus[0]);
	return harness;
}

static struct harness *run_rounds(size_t n_rounds, uint64_t seed, bool has_gpu)
{
	return run_aged(n_rounds, seed, has_gpu, 0);
}

START_TEST(a_late_round_is_left_out)
{
	struct harness *const harness = run_aged(3, 1, false, 290);
	ck_assert_uint_eq(harness->round, 1); /* the first is always made */
	ck_assert_uint_eq(harness->n_rounds, 3);
	harness_free(harness);
}
END_TEST

START_TEST(every_case_in_every_round_and_steady_ones_once)
{
	static const struct {
		const char *key;
		size_t n_rounds;
	} want[] = {{"c1", 3}, {"c1", 3}, {"c2", 1}, {"c2", 1}, {"c3", 3}, {"c3", 3}, {"c4", 0}, {"c5", 3}, {"c5", 3},
	    {"c6", 3}, {"c6", 3}};
	struct harness *const harness = run_rounds(3, 1, true);
	ck_assert_uint_eq(harness->round, 3);
	ck_assert_uint_eq(n_order, 4 * 3 + 1);
	ck_assert_uint_eq(harness->n_results, N_ELEMENTS(want));
	for (size_t i = 0; i < N_ELEMENTS(want); i++) { /* in the order of the list, whatever order they ran in */
		const struct result *const result = &harness->results[i];
		ck_assert_str_eq(result->key, want[i].key);
		ck_assert_uint_eq(result->n_rounds, want[i].n_rounds);
		for (size_t round = 1; round < result->n_rounds; round++)
			ck_assert(result->at_s[round] >= result->at_s[round - 1]);
	}
	ck_assert_uint_eq(harness->results[0].stats.n, 9);
	ck_assert_uint_eq(harness->results[1].sizes[2], 2);
	ck_assert_double_eq(harness_round_median(&harness->results[1], 2), 16);
	ck_assert_int_eq(harness->results[6].status, RESULT_WAIVED);
	harness_free(harness);
}
END_TEST

START_TEST(without_a_gpu_its_cases_are_waived_once)
{
	struct harness *const harness = run_rounds(3, 1, false);
	size_t n_waived = 0;
	for (size_t i = 0; i < harness->n_results; i++)
		n_waived += harness->results[i].status == RESULT_WAIVED;
	ck_assert_uint_eq(n_waived, 3);
	harness_free(harness);
}
END_TEST

START_TEST(seed_decides_the_order)
{
	const char *first[ORDER_MAX];
	size_t n_moved = 0;
	harness_free(run_rounds(5, 7, false));
	memcpy(first, order, sizeof first);
	harness_free(run_rounds(5, 7, false));
	ck_assert_int_eq(memcmp(first, order, n_order * sizeof order[0]), 0);
	for (size_t i = 3; i < n_order; i++) /* three cases a round */
		n_moved += first[i] != first[i - 3];
	ck_assert_uint_gt(n_moved, 0);
	harness_free(run_rounds(5, 8, false));
	ck_assert_int_ne(memcmp(first, order, n_order * sizeof order[0]), 0);
}
END_TEST

START_TEST(points_are_shuffled_after_the_first_round)
{
	struct harness *const harness = harness_new();
	size_t n_moved = 0;
	harness->seed = 3;
	for (harness->round = 0; harness->round < 4; harness->round++) {
		int counts[] = {1, 2, 3, 4, 5, 6, 7, 8};
		int sum = 0;
		harness_order(harness, counts, N_ELEMENTS(counts));
		for (size_t i = 0; i < N_ELEMENTS(counts); i++) {
			sum |= 1 << counts[i];
			n_moved += harness->round > 0 && counts[i] != (int)i + 1;
			ck_assert(harness->round > 0 || counts[i] == (int)i + 1);
		}
		ck_assert_int_eq(sum, 0x1fe);
	}
	ck_assert_uint_gt(n_moved, 8);
	harness_free(harness);
}
END_TEST

START_TEST(drift_is_seen)
{
	struct harness *const harness = run_rounds(3, 1, false);
	double speed_frac[STATS_ROUNDS_MAX];
	ck_assert_uint_eq(rounds_speed(speed_frac, harness), 3); /* 64, 32, 16; mean 37.33 */
	assert_rel(speed_frac[0], 64 * 3 / 112.0, 1e-12);
	assert_rel(speed_frac[2], 16 * 3 / 112.0, 1e-12);
	harness->round = 1;
	ck_assert_uint_eq(rounds_speed(speed_frac, harness), 0);
	harness_free(harness);
}
END_TEST

Suite *probe_rounds_suite(void)
{
	Suite *const suite = suite_create("probe_rounds");
	TCase *const core = tcase_create("core");
	tcase_add_test(core, centre_is_the_mean_of_medians);
	tcase_add_test(core, a_late_round_is_left_out);
	tcase_add_test(core, every_case_in_every_round_and_steady_ones_once);
	tcase_add_test(core, without_a_gpu_its_cases_are_waived_once);
	tcase_add_test(core, seed_decides_the_order);
	tcase_add_test(core, points_are_shuffled_after_the_first_round);
	tcase_add_test(core, drift_is_seen);
	suite_add_tcase(suite, core);
	return suite;
}
