/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recurrences, lanes and optima: the worked numbers of MODEL.md E8-E22, and edges.
 */
#include "model/closed_form.h"

#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

static const double exact = 1e-12;

static struct plain plain;

static void setup(void)
{
	plain_machine(&plain.hw);
	plain.workload.batch.gpus = 1;
	plain_set(&plain, 10);
}

START_TEST(serial_schedules_are_sums) /* E9 */
{
	plain_set(&plain, 3);
	assert_rel(recurrence_zero3_s(&plain.cost, &plain.workload), 0.210, exact);
	assert_rel(recurrence_twinflow_s(&plain.cost, &plain.workload, 2, false), 0.141, exact);
	assert_rel(recurrence_twinflow_s(&plain.cost, &plain.workload, 2, true), 0.140, exact);
	assert_rel(recurrence_gpu_only_s(&plain.cost, &plain.workload), 0.003, exact);
	plain.hw.cpu_subgroup_s = 0.001;
	assert_rel(recurrence_zero3_s(&plain.cost, &plain.workload), 0.213, exact);
}
END_TEST

START_TEST(cpu_subgroups_and_worker) /* E10 */
{
	plain_set(&plain, 3);
	struct interleave how = plain_published(3, 0);
	how.chain = CHAIN_SERIAL;
	how.downscale = DOWNSCALE_EAGER;
	assert_rel(plain_interleave_s(&plain, &how), 0.174, exact);
	how.downscale = DOWNSCALE_BATCH;
	assert_rel(plain_interleave_s(&plain, &how), 0.214, exact);
	how.downscale = DOWNSCALE_FUSED;
	assert_rel(plain_interleave_s(&plain, &how), 0.154, exact);
}
END_TEST

START_TEST(pushes_overtake_fetch_copies) /* E8, E11 */
{
	plain_curve(&plain.hw.cpu_adam, CURVE_THREADS, 5e9);
	plain_set(&plain, 6);
	struct interleave how = plain_published(6, 2);
	how.has_separate_unscale = false;
	assert_rel(plain_interleave_s(&plain, &how), 0.105, exact);
}
END_TEST

START_TEST(fetches_stay_together) /* E11 */
{
	static const bool on_gpu[] = {false, true, true};
	plain_curve(&plain.hw.cpu_adam, CURVE_THREADS, 5e9);
	plain_set(&plain, 3);
	const struct interleave how = plain_hybrid(3, 3, on_gpu);
	assert_rel(plain_interleave_s(&plain, &how), 0.073, exact);
}
END_TEST

START_TEST(device_work_follows_its_streams) /* E12 */
{
	plain_set(&plain, 3);
	struct interleave how = plain_published(3, 1);
	assert_rel(plain_interleave_s(&plain, &how), 0.091, exact);
	how.chain = CHAIN_SERIAL;
	assert_rel(plain_interleave_s(&plain, &how), 0.147, exact);
	how.chain = CHAIN_DUPLEX;
	how.buffers = 2;
	assert_rel(plain_interleave_s(&plain, &how), 0.098, exact);
}
END_TEST

START_TEST(windows_block_main) /* E13 */
{
	plain_set(&plain, 4);
	const struct interleave how = plain_published(4, 2);
	assert_rel(plain_interleave_s(&plain, &how), 0.124, exact);
	plain.hw.stream_subgroup_s = 0.002; /* the second CPU subgroup ends at 102 ms */
	assert_rel(plain_interleave_s(&plain, &how), 0.126, exact);
}
END_TEST

START_TEST(hybrid_queues_everything) /* E14 */
{
	static const bool on_gpu[] = {true, false, true};
	plain_set(&plain, 3);
	struct interleave how = plain_hybrid(3, 1, on_gpu);
	assert_rel(plain_interleave_s(&plain, &how), 0.098, exact);
	how.buffers = 2;
	assert_rel(plain_interleave_s(&plain, &how), 0.073, exact);
}
END_TEST

START_TEST(lanes_of_a_window) /* E15, E17 */
{
	struct lanes lanes;
	const struct interleave how = plain_published(10, 3);
	plain_window(&lanes, &plain, &how, 3, false);
	assert_rel(lanes.cpu_s, 0.100, exact);
	assert_rel(lanes.cast_s, 0.040, exact);
	assert_rel(lanes.h2d_s, 0.032, exact);
	assert_rel(lanes.d2h_s, 0.024, exact);
	assert_rel(lanes.gpu_s, 0.0014, exact);
	assert_rel(lanes.chain_s, 0.033, exact);
	ck_assert(lanes.dram_s == 0 && lanes.root_s == 0);
	ck_assert_str_eq(lanes_max(&lanes).name, "cpu");
	plain_window(&lanes, &plain, &how, 3, true);
	assert_rel(lanes.dram_s, 0.058, exact);
	ck_assert(lanes.root_s == 0); /* no root in the profile */
	plain.workload.batch.gpus = 4;
	plain_refresh(&plain);
	plain_window(&lanes, &plain, &how, 3, true);
	assert_rel(lanes.dram_s, 0.232, exact);
	ck_assert_int_eq(lanes_max(&lanes).res, RES_DRAM);
}
END_TEST

START_TEST(lanes_of_shared_cores_and_roots) /* E16, E17 */
{
	struct lanes lanes;
	const struct interleave how = plain_published(10, 3);
	plain.hw.threads = 16;
	plain.hw.workers = 4;
	plain.hw.pcie_root_Bps = 100e9;
	plain.hw.gpus_per_pcie_root = plain.workload.batch.gpus = 2;
	plain_refresh(&plain);
	plain_window(&lanes, &plain, &how, 3, true);
	assert_rel(lanes.cpu_s, 0.140, exact); /* half speed during the cast's 80 ms */
	assert_rel(lanes.cast_s, 0.080, exact);
	assert_rel(lanes.root_s, 2 * (2 * 2 + 24) * 1e8 / 100e9, exact);
	plain.hw.adam_downscale_corun_frac = 0.8;
	plain_window(&lanes, &plain, &how, 3, true);
	assert_rel(lanes.cpu_s, 0.110, exact);
	assert_rel(lanes.cast_s, 0.050, exact);
	plain_window(&lanes, &plain, &how, 3, false);
	assert_rel(lanes.cpu_s, 0.100, exact);
}
END_TEST

START_TEST(activities_slow_each_other) /* E16 */
{
	assert_rel(lanes_beside_s(0.024, 0.8, 0.012, 0.8), 0.027, exact);
	assert_rel(lanes_beside_s(0.012, 0.8, 0.024, 0.8), 0.015, exact);
	assert_rel(lanes_beside_s(0.024, 0.8, 0.024, 0.8), 0.030, exact);
	assert_rel(lanes_beside_s(0.024, 1, 0.5, 1), 0.024, exact);
	assert_rel(lanes_beside_s(0.024, 0.8, 0.012, 0.6), 0.028, exact);
	ck_assert(lanes_beside_s(0, 0.5, 1, 0.5) == 0);
	assert_rel(lanes_beside_s(1, 0.5, 0, 0.5), 1, exact);
}
END_TEST

START_TEST(update_time_of_a_stride) /* E18 */
{
	plain_set(&plain, 4);
	const struct interleave how = plain_published(4, 0);
	assert_rel(stride_update_s(&plain.cost, &plain.workload, &how, 2, false), 0.124, exact);
	assert_rel(stride_update_s(&plain.cost, &plain.workload, &how, 0, false), 0.284, exact);
	assert_rel(stride_update_s(&plain.cost, &plain.workload, &how, 5, false), 0.284, exact);
}
END_TEST

/* Without CPU subgroups nothing mixes, so the formula is the recurrence. */
START_TEST(update_time_of_stride_1) /* E18, E21 */
{
	static const bool all[] = {true, true, true};
	plain_set(&plain, 3);
	struct interleave how = plain_published(3, 1);
	assert_rel(stride_update_s(&plain.cost, &plain.workload, &how, 1, false), 0.091, exact);
	how.chain = CHAIN_SERIAL;
	assert_rel(stride_update_s(&plain.cost, &plain.workload, &how, 1, false), 0.147, exact);
	how = plain_hybrid(3, 1, all);
	assert_rel(fraction_update_s(&plain.cost, &plain.workload, &how, 1, false), 0.147, exact);
	assert_rel(plain_interleave_s(&plain, &how), 0.147, exact);
	how.buffers = 3;
	plain_curve(&plain.hw.d2h, CURVE_TRANSFER, 25e9);
	plain_refresh(&plain);
	assert_rel(fraction_update_s(&plain.cost, &plain.workload, &how, 1, false), 0.169, exact);
	assert_rel(plain_interleave_s(&plain, &how), 0.169, exact);
}
END_TEST

START_TEST(balance_of_an_idle_link) /* E20 */
{
	assert_rel(stride_balance(&plain.cost, &plain.workload, false), 2, 0);
	plain_curve(&plain.hw.cpu_adam, CURVE_THREADS, 10e9);
	plain_curve(&plain.hw.cpu_downscale, CURVE_THREADS, 20e9);
	plain_set(&plain, 10);
	assert_rel(stride_balance(&plain.cost, &plain.workload, false), 3, 0);
	assert_rel(stride_balance(&plain.cost, &plain.workload, true), 5, 0); /* 49 / 15 */
}
END_TEST

START_TEST(lanes_of_a_fraction) /* E21 */
{
	struct lanes lanes;
	const struct interleave how = plain_hybrid(10, 3, NULL);
	lanes_fraction(&lanes, &plain.cost, &plain.workload, &how, 0.5, true);
	assert_rel(lanes.cpu_s, 0.200, exact);
	assert_rel(lanes.first_s, 0.024, exact);
	assert_rel(lanes.fetches_s, 0.144, exact);
	assert_rel(lanes.h2d_s, 0.169, exact);
	assert_rel(lanes.d2h_s, 0.173, exact);
	assert_rel(lanes.dram_s, 0.135, exact);
	assert_rel(fraction_update_s(&plain.cost, &plain.workload, &how, 0.5, true), 0.204, exact);
}
END_TEST

START_TEST(optimum_of_a_fraction) /* E22 */
{
	double best_s;
	const struct interleave how = plain_hybrid(10, 3, NULL);
	assert_rel(fraction_opt_frac(&best_s, &plain.cost, &plain.workload, &how), 375.0 / 690, 1e-9);
	assert_rel(best_s, 0.404 - 0.4 * 375 / 690, 1e-9);
}
END_TEST

START_TEST(stride_opt_of_the_plain_machine) /* E19 */
{
	plain.workload.batch.gpus = 4;
	plain_set(&plain, 20);
	const struct interleave how = plain_published(20, 0);
	ck_assert_uint_eq(stride_opt(&plain.cost, &plain.workload, &how), 1);
	plain_curve(&plain.hw.h2d, CURVE_TRANSFER, 12.5e9);
	plain_curve(&plain.hw.d2h, CURVE_TRANSFER, 12.5e9);
	plain_refresh(&plain);
	ck_assert_uint_eq(stride_opt(&plain.cost, &plain.workload, &how), 4);
}
END_TEST

START_TEST(all_on_one_side_when_the_other_is_hopeless) /* E22, E19 */
{
	double best_s;
	struct interleave how = plain_hybrid(10, 3, NULL);
	plain_curve(&plain.hw.cpu_adam, CURVE_THREADS, 1e6);
	plain_set(&plain, 10);
	ck_assert(fraction_opt_frac(&best_s, &plain.cost, &plain.workload, &how) > 0.999);
	how = plain_published(10, 0);
	ck_assert_uint_eq(stride_opt(&plain.cost, &plain.workload, &how), 1);
	setup();
	plain_curve(&plain.hw.h2d, CURVE_TRANSFER, 1e8);
	plain_set(&plain, 10);
	how = plain_hybrid(10, 3, NULL);
	how.downscale = DOWNSCALE_EAGER;
	ck_assert(fraction_opt_frac(&best_s, &plain.cost, &plain.workload, &how) <= 0.01);
	how = plain_published(10, 0);
	ck_assert_uint_eq(stride_opt(&plain.cost, &plain.workload, &how), 0);
}
END_TEST

START_TEST(edges)
{
	bool on_gpu[] = {true, true, true};
	plain_set(&plain, 3);
	struct interleave how = plain_published(3, 4); /* n < k: as all on the CPU */
	const struct interleave none = plain_published(3, 0);
	assert_rel(plain_interleave_s(&plain, &how), plain_interleave_s(&plain, &none), exact);
	how = plain_published(0, 2); /* all resident */
	assert_rel(plain_interleave_s(&plain, &how), 0.003, exact);
	ck_assert_uint_eq(stride_opt(&plain.cost, &plain.workload, &how), 0);
	how = plain_published(2, 2); /* the last resident */
	assert_rel(plain_interleave_s(&plain, &how), 0.074, exact);
	how = plain_hybrid(3, 3, on_gpu); /* f = 1: fetches, last update, last write-back */
	assert_rel(plain_interleave_s(&plain, &how), 0.097, exact);
	assert_rel(fraction_update_s(&plain.cost, &plain.workload, &how, 1, false), 0.097, exact);
	memset(on_gpu, 0, sizeof on_gpu); /* f = 0 */
	assert_rel(plain_interleave_s(&plain, &how), 0.124, exact);
	assert_rel(fraction_update_s(&plain.cost, &plain.workload, &how, 0, false), 0.124, exact);
	how.on_gpu = NULL;
	assert_rel(plain_interleave_s(&plain, &how), 0.124, exact);
	plain_set(&plain, 1);
	how = plain_published(1, 1);
	assert_rel(plain_interleave_s(&plain, &how), 0.025, exact);
}
END_TEST

START_TEST(buffers_count_only_in_duplex)
{
	for (int chain = CHAIN_PUBLISHED; chain <= CHAIN_DUPLEX; chain++) {
		struct interleave how = plain_published(10, 1);
		how.chain = (enum chain)chain;
		const double one_s = plain_interleave_s(&plain, &how);
		how.buffers = 3;
		ck_assert(chain == CHAIN_DUPLEX ? plain_interleave_s(&plain, &how) < one_s
						: plain_interleave_s(&plain, &how) == one_s);
	}
}
END_TEST

START_TEST(words_of_the_options)
{
	ck_assert_str_eq(chain_names[CHAIN_PUBLISHED], "published");
	ck_assert_str_eq(chain_names[CHAIN_SERIAL], "serial");
	ck_assert_str_eq(chain_names[CHAIN_DUPLEX], "duplex");
	ck_assert_ptr_null(chain_names[CHAIN_DUPLEX + 1]);
	ck_assert_str_eq(downscale_names[DOWNSCALE_BATCH], "batch");
	ck_assert_str_eq(downscale_names[DOWNSCALE_EAGER], "eager");
	ck_assert_str_eq(downscale_names[DOWNSCALE_FUSED], "fused");
	ck_assert_str_eq(downscale_names[DOWNSCALE_SPLIT], "split");
	ck_assert_ptr_null(downscale_names[DOWNSCALE_SPLIT + 1]);
}
END_TEST

static void add_worked(Suite *suite)
{
	TCase *const worked = tcase_create("worked");
	tcase_add_checked_fixture(worked, setup, NULL);
	tcase_add_test(worked, serial_schedules_are_sums);
	tcase_add_test(worked, cpu_subgroups_and_worker);
	tcase_add_test(worked, pushes_overtake_fetch_copies);
	tcase_add_test(worked, fetches_stay_together);
	tcase_add_test(worked, device_work_follows_its_streams);
	tcase_add_test(worked, windows_block_main);
	tcase_add_test(worked, hybrid_queues_everything);
	tcase_add_test(worked, lanes_of_a_window);
	tcase_add_test(worked, lanes_of_shared_cores_and_roots);
	tcase_add_test(worked, activities_slow_each_other);
	tcase_add_test(worked, update_time_of_a_stride);
	tcase_add_test(worked, update_time_of_stride_1);
	tcase_add_test(worked, stride_opt_of_the_plain_machine);
	tcase_add_test(worked, balance_of_an_idle_link);
	tcase_add_test(worked, lanes_of_a_fraction);
	tcase_add_test(worked, optimum_of_a_fraction);
	suite_add_tcase(suite, worked);
}

Suite *closed_form_suite(void);
Suite *closed_form_suite(void)
{
	Suite *const suite = suite_create("closed_form");
	add_worked(suite);
	TCase *const limits = tcase_create("edges");
	tcase_add_checked_fixture(limits, setup, NULL);
	tcase_add_test(limits, edges);
	tcase_add_test(limits, all_on_one_side_when_the_other_is_hopeless);
	tcase_add_test(limits, buffers_count_only_in_duplex);
	tcase_add_test(limits, words_of_the_options);
	suite_add_tcase(suite, limits);
	return suite;
}
