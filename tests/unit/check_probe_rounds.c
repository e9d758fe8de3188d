/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rounds of the probe: the centre over rounds, order and seed, drift, slowdowns of one moment. */
#include <stdlib.h>

#include "probe/cases.h"
#include "probe/clock.h"
#include "probe/cuda_fake.h"
#include "probe/derive.h"
#include "probe/rounds.h"
#include "tests/unit/test_util.h"

Suite *probe_rounds_suite(void);

enum { ORDER_MAX = 64 };

static struct harness *harness_new(void)
{
	struct harness *const harness = calloc(1, sizeof *harness);
	harness->results = calloc(HARNESS_RESULTS_MAX, sizeof harness->results[0]);
	harness->kernels = &kernels_scalar;
	harness->n_cpus = 16;
	return harness;
}

static void harness_free(struct harness *harness)
{
	free(harness->results);
	free(harness);
}

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

/* ---- slowdowns */

struct one {
	const char *key, *label, *what, *with;
	double x, bytes, at_s[2], rates[2];
	size_t n_rounds;
};

static void add(struct harness *harness, const struct one *one)
{
	const struct probe_case probe_case = {.key = one->key};
	const struct measured measured = {.what = one->what,
	    .with = one->with,
	    .x = one->x,
	    .bytes_per_unit = one->bytes,
	    .unit = one->bytes > 1 ? UNIT_PARAMS_PER_S : UNIT_BYTES_PER_S};
	for (size_t i = 0; i < one->n_rounds; i++) {
		struct result *const result =
		    harness_record(harness, &probe_case, one->label, &measured, &one->rates[i], 1);
		result->at_s[i] = one->at_s[i];
	}
}

/* A machine that is half as fast in the second round, and was three times as fast when the curve was taken. Together over alone is
 * 0.8 and 0.6 where they were measured side by side; any other pairing gives another number. */
START_TEST(slowdown_is_of_one_moment)
{
	static const struct one all[] = {
	    {"cpu_adam", "t=4", "cpu_adam", "", 4, 28, {500}, {300}, 1},
	    {"host_to_device_memcpy_ce", "64 MiB", "h2d", "", 64 << 20, 1, {3}, {50e9}, 1},
	    {"contention_copies", "t=4 alone", "cpu_adam", "", 4, 28, {10, 100}, {100, 50}, 2},
	    {"contention_copies", "t=4 with h2d", "cpu_adam", "h2d", 4, 28, {11, 101}, {80, 30}, 2},
	    {"contention_copies", "t=4 with h2d", "h2d", "cpu_adam", 1, 1, {11, 101}, {45e9, 35e9}, 2},
	};
	struct harness *const harness = harness_new();
	struct derived *const derived = calloc(1, sizeof *derived);
	for (size_t i = 0; i < N_ELEMENTS(all); i++)
		add(harness, &all[i]);
	derive(derived, harness);
	ck_assert_uint_eq(derived->n_corun, 1);
	const struct derived_corun *const row = &derived->corun[0];
	assert_rel(row->first_alone, (300 + 75) / 2.0, 1e-12);
	assert_rel(row->first_together / row->first_alone, 0.7, 1e-12);
	assert_rel(row->second_together / row->second_alone, 0.8, 1e-12);
	/* the curve too is of all that was measured alone */
	size_t n_found = 0;
	for (size_t i = 0; i < derived->n_curves; i++) {
		if (strcmp(derived->curves[i].name, "cpu_adam") == 0) {
			assert_rel(derived->curves[i].rate[0], (300 + 75) / 2.0, 1e-12);
			n_found++;
		}
	}
	ck_assert_uint_eq(n_found, 1);
	harness_free(harness);
	free(derived);
}
END_TEST

/* Two ranks' Adam against one rank's alone: a cell of the fit with both demands and the mean slowdown. */
START_TEST(all_gpus_are_one_cell)
{
	static const struct one alone[] = {
	    {"cpu_adam", "t=8", "cpu_adam", "", 8, 28, {1}, {4e9}, 1},
	    {"host_to_device_memcpy_ce", "64 MiB", "h2d", "", 64 << 20, 1, {2}, {50e9}, 1},
	};
	struct harness *const harness = harness_new();
	struct derived *const derived = calloc(1, sizeof *derived);
	struct fluid_cell *const cells = calloc(FLUID_CELLS_MAX, sizeof *cells);
	for (size_t i = 0; i < N_ELEMENTS(alone); i++)
		add(harness, &alone[i]);
	for (int rank = 0; rank < 2; rank++) {
		const struct probe_case probe_case = {.key = "contention_gpus"};
		const double cpu = rank ? 2.2e9 : 1.8e9, copy = rank ? 30e9 : 20e9;
		harness_record(harness, &probe_case, "both",
		    &(struct measured){.what = "cpu_adam",
			.with = "all+h2d",
			.x = 8,
			.with_x = rank,
			.bytes_per_unit = 28,
			.unit = UNIT_PARAMS_PER_S},
		    &cpu, 1);
		harness_record(harness, &probe_case, "both",
		    &(struct measured){
			.what = "h2d", .with = "all+h2d", .with_x = rank, .bytes_per_unit = 1, .unit = UNIT_BYTES_PER_S},
		    &copy, 1);
	}
	for (size_t i = 2; i < harness->n_results; i++) /* one key, as that of a case is */
		harness->results[i].key = harness->results[2].key;
	ck_assert_uint_eq(derive_corun(derived, cells, harness), 1);
	ck_assert_uint_eq(cells[0].n_flows, 2);
	assert_rel(cells[0].flows[0].demand_Bps, 2 * 28 * 4e9, 1e-12);
	assert_rel(cells[0].flows[0].speed_frac, 0.5, 1e-12);
	assert_rel(cells[0].flows[1].demand_Bps, 100e9, 1e-12);
	assert_rel(cells[0].flows[1].speed_frac, 0.5, 1e-12);
	ck_assert_double_gt(derived->gpus_fit.shared.capacity_Bps, 0);
	harness_free(harness);
	free(derived);
	free(cells);
}
END_TEST

/* What every rank runs at once is a row too, of one rank in the mean, with the number of ranks. */
START_TEST(all_gpus_are_one_row)
{
	static const struct one alone[] = {
	    {"cpu_adam", "t=8", "cpu_adam", "", 8, 28, {1}, {4e9}, 1},
	    {"bidirectional_memcpy_ce", "64 MiB", "h2d", "d2h", 64 << 20, 1, {2}, {40e9}, 1},
	    {"bidirectional_memcpy_ce", "64 MiB", "d2h", "h2d", 64 << 20, 1, {2}, {50e9}, 1},
	};
	static const struct one together[] = {
	    {"contention_gpus", "t=8, all", "cpu_adam", "all", 8, 28, {3}, {3e9}, 1},
	    {"contention_gpus", "t=8, all+duplex", "cpu_adam", "all+duplex", 8, 28, {4}, {2e9}, 1},
	    {"contention_gpus", "t=8, all+duplex", "h2d", "all+duplex", 64 << 20, 1, {4}, {20e9}, 1},
	    {"contention_gpus", "t=8, all+duplex", "d2h", "all+duplex", 64 << 20, 1, {4}, {30e9}, 1},
	};
	struct harness *const harness = harness_new();
	struct derived *const derived = calloc(1, sizeof *derived);
	for (size_t i = 0; i < N_ELEMENTS(alone); i++)
		add(harness, &alone[i]);
	for (size_t i = 0; i < N_ELEMENTS(together); i++) {
		for (int rank = 0; rank < 2; rank++) { /* the second rank's Adam 20 % faster, its copies 10 % slower */
			const struct one *const one = &together[i];
			const bool is_cpu = one->bytes > 1;
			const double rate = one->rates[0] * (rank == 0 ? 1 : is_cpu ? 1.2 : 0.9);
			harness_record(harness, &(struct probe_case){.key = together[0].key}, one->label,
			    &(struct measured){.what = one->what,
				.with = one->with,
				.x = one->x,
				.with_x = rank,
				.bytes_per_unit = one->bytes,
				.unit = is_cpu ? UNIT_PARAMS_PER_S : UNIT_BYTES_PER_S},
			    &rate, 1);
		}
	}
	derive(derived, harness);
	ck_assert_uint_eq(derived->n_corun, 2);
	const struct derived_corun *const adam = &derived->corun[0], *const duplex = &derived->corun[1];
	ck_assert_str_eq(adam->second, "cpu_adam");
	ck_assert_double_eq(adam->ranks, 2);
	ck_assert_double_eq(adam->second_threads, 8);
	assert_rel(adam->first_alone, 4e9, 1e-12);
	assert_rel(adam->first_together, 3.3e9, 1e-12);
	assert_rel(adam->second_together, 3.3e9, 1e-12);
	ck_assert_str_eq(duplex->second, "duplex");
	ck_assert_double_eq(duplex->ranks, 2);
	ck_assert_double_eq(duplex->second_threads, 0);
	assert_rel(duplex->first_together, 2.2e9, 1e-12);
	assert_rel(duplex->second_alone, 90e9, 1e-12);
	assert_rel(duplex->second_together, 0.95 * (20e9 + 30e9), 1e-12);
	harness_free(harness);
	free(derived);
}
END_TEST

static void assert_apart(struct fake_range a, struct fake_range b)
{
	ck_assert_ptr_nonnull(a.begin);
	ck_assert_ptr_nonnull(b.begin);
	ck_assert(a.end <= b.begin || b.end <= a.begin);
}

/* Copies on all GPUs at once go through memory of their own: engines that write the same lines are not what is measured. */
START_TEST(gpus_copy_through_memory_of_their_own)
{
	const struct probe_case *const all_cases[] = {&case_link_all_gpus, &case_contention_gpus};
	for (size_t i = 0; i < N_ELEMENTS(all_cases); i++) {
		struct harness *const harness = harness_new();
		topology_read(&harness->topology);
		harness->quick = true;
		harness->n_rounds = 1;
		harness->n_gpus = 2;
		harness->pool.copy_bytes = 4 << 20;
		harness->device_bytes = 4 << 20;
		for (int rank = 0; rank < 2; rank++)
			harness->gpus[rank] = gpu_open(rank, 0);
		all_cases[i]->run(harness, all_cases[i]);
		for (size_t j = 0; j < harness->n_results; j++)
			ck_assert_int_eq(harness->results[j].status, RESULT_PASSED);
		ck_assert_uint_ge(harness->n_results, 4);
		const struct gpu *const *const gpus = (const struct gpu *const *)harness->gpus;
		assert_apart(fake_written(gpus[0]), fake_written(gpus[1]));
		assert_apart(fake_read(gpus[0]), fake_read(gpus[1]));
		assert_apart(fake_read(gpus[0]), fake_written(gpus[1]));
		harness_close(harness);
		free(harness);
	}
}
END_TEST

Suite *probe_rounds_suite(void)
{
	Suite *const suite = suite_create("probe_rounds");
	TCase *const core = tcase_create("core"), *const slowdown = tcase_create("slowdown");
	tcase_add_test(core, centre_is_the_mean_of_medians);
	tcase_add_test(core, a_late_round_is_left_out);
	tcase_add_test(core, every_case_in_every_round_and_steady_ones_once);
	tcase_add_test(core, without_a_gpu_its_cases_are_waived_once);
	tcase_add_test(core, seed_decides_the_order);
	tcase_add_test(core, points_are_shuffled_after_the_first_round);
	tcase_add_test(core, drift_is_seen);
	tcase_add_test(slowdown, slowdown_is_of_one_moment);
	tcase_add_test(slowdown, all_gpus_are_one_cell);
	tcase_add_test(slowdown, all_gpus_are_one_row);
	tcase_add_test(slowdown, gpus_copy_through_memory_of_their_own);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, slowdown);
	return suite;
}
