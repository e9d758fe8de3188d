/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the probe derives from things that ran at once: slowdowns of one moment, cells and rows of all GPUs, what they share. */
#include <stdlib.h>

#include "probe/cases.h"
#include "probe/cuda_fake.h"
#include "probe/derive.h"
#include "probe/kernels.h"
#include "tests/unit/bare_harness.h"
#include "tests/unit/test_util.h"

Suite *probe_corun_suite(void);

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

static const struct derived_value *value_of(const struct derived *derived, const char *name)
{
	for (size_t i = 0; i < derived->n_values; i++)
		if (strcmp(derived->values[i].name, name) == 0)
			return &derived->values[i];
	return NULL;
}

/* 31 + 49 and 32 + 48 GB/s both ways, whatever goes one way; a copy that failed on one GPU leaves the root unknown. */
START_TEST(all_gpus_have_a_root)
{
	static const char key[] = "all_gpus_bidirectional_memcpy_ce";
	const double rates[2][2] = {{31e9, 49e9}, {32e9, 48e9}}, alone = 55e9;
	struct harness *const harness = harness_new();
	struct derived *const derived = calloc(1, sizeof *derived);
	harness->n_gpus = 2;
	for (int i = 0; i < 4; i++) {
		struct measured measured = {.what = i % 2 ? "d2h" : "h2d", .with = "all", .with_x = i / 2, .bytes_per_unit = 1,
		    .unit = UNIT_BYTES_PER_S};
		harness_record(harness, &(struct probe_case){.key = key}, "both ways", &measured, &rates[i / 2][i % 2], 1);
		measured.with = "all, one way";
		harness_record(harness, &(struct probe_case){.key = key}, "one way", &measured, &alone, 1);
	}
	derive(derived, harness);
	const struct derived_value *const root = value_of(derived, "pcie_root_Bps");
	ck_assert_ptr_nonnull(root);
	assert_rel(root->value, 160e9, 1e-12);
	ck_assert_str_eq(root->kind, "measured");
	ck_assert_double_eq(derived->gpus_per_pcie_root, 2);
	ck_assert_double_eq(derived->pcie_root_Bps, root->value);
	for (int i = 0; i < 2; i++) { /* one of them alone gets 2 * 159, then 2 * 161 GB/s */
		const double duplex[] = {159e9 + 2e9 * i};
		for (int j = 0; j < 2; j++) {
			const struct measured measured = {.what = j ? "d2h" : "h2d", .with = j ? "h2d" : "d2h", .unit = UNIT_BYTES_PER_S};
			const struct probe_case one = {.key = "bidirectional_memcpy_ce"};
			harness_record(harness, &one, "64 MiB", &measured, duplex, 1)->stats.centre = duplex[0];
		}
		derive(derived, harness);
		ck_assert(!value_of(derived, "pcie_root_Bps") == (i == 1));
	}
	harness->n_results -= 2; /* without that of one */
	harness->results[0].status = RESULT_ERROR;
	derive(derived, harness);
	ck_assert_ptr_null(value_of(derived, "pcie_root_Bps"));
	ck_assert_double_eq(derived->gpus_per_pcie_root, 0);
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
		harness->kernels = &kernels_scalar;
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
		struct derived *const derived = calloc(1, sizeof *derived);
		derive(derived, harness);
		ck_assert_double_eq(derived->gpus_per_pcie_root, all_cases[i] == &case_link_all_gpus ? 2 : 0);
		free(derived);
		const struct gpu *const *const gpus = (const struct gpu *const *)harness->gpus;
		assert_apart(fake_written(gpus[0]), fake_written(gpus[1]));
		assert_apart(fake_read(gpus[0]), fake_read(gpus[1]));
		assert_apart(fake_read(gpus[0]), fake_written(gpus[1]));
		harness_close(harness);
		free(harness);
	}
}
END_TEST

Suite *probe_corun_suite(void)
{
	Suite *const suite = suite_create("probe_corun");
	TCase *const slowdown = tcase_create("slowdown"), *const gpus = tcase_create("gpus");
	tcase_add_test(slowdown, slowdown_is_of_one_moment);
	tcase_add_test(gpus, all_gpus_are_one_cell);
	tcase_add_test(gpus, all_gpus_are_one_row);
	tcase_add_test(gpus, all_gpus_have_a_root);
	tcase_add_test(gpus, gpus_copy_through_memory_of_their_own);
	suite_add_tcase(suite, slowdown);
	suite_add_tcase(suite, gpus);
	return suite;
}
