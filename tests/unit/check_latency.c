/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A memory that is slower the more it is loaded: against worked numbers, against the fixed point itself, and in shares. */
#include "model/base/latency.h"

#include <stdlib.h>

#include "model/lanes.h"
#include "sim/shares.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

/* Alone each has latency 1 / (1 - 0.4); together 1 / (1 - 0.8 x) = x^-1 / 0.6, so x = 1 / 1.4. */
START_TEST(two_kernels_slow_each_other) /* E32 */
{
	const struct latency_user users[] = {{40e9, 1}, {40e9, 1}};
	double speeds[2];
	latency_speeds(speeds, users, 2, 100e9, 1);
	assert_rel(speeds[0], 1 / 1.4, 1e-12);
	assert_rel(speeds[1], 1 / 1.4, 1e-12);
	latency_speeds(speeds, users, 1, 100e9, 2); /* the same, folded */
	assert_rel(speeds[0], 1 / 1.4, 1e-12);
	latency_speeds(speeds, users, 1, 100e9, 1);
	assert_rel(speeds[0], 1, 1e-12);
}
END_TEST

/* Posted writes of 30 keep their speed: L = 1 / (0.7 - 0.4 x) and x = 1 / (0.6 L) give x = 0.7 / (0.6 + 0.4). */
START_TEST(posted_writes_keep_their_speed) /* E32 */
{
	const struct latency_user users[] = {{40e9, 1}, {30e9, 0}};
	double speeds[2];
	latency_speeds(speeds, users, 2, 100e9, 1);
	assert_rel(speeds[0], 0.7, 1e-12);
	ck_assert_double_eq(speeds[1], 1);
}
END_TEST

/* Loads stay below the limit, the latency that follows from them is the one that slows them, and more company never helps. */
START_TEST(a_fixed_point)
{
	unsigned seed = (unsigned)_i + 1; /* of rand_r */
	const double limit_Bps = 100;
	struct latency_user users[6];
	double speeds[6], fewer[6], load_Bps = 0;
	for (size_t i = 0; i < 6; i++)
		users[i] = (struct latency_user){99 * (rand_r(&seed) / (double)RAND_MAX), i % 3 ? (rand_r(&seed) / (double)RAND_MAX) : 1};
	latency_speeds(speeds, users, 6, limit_Bps, 1);
	latency_speeds(fewer, users, 5, limit_Bps, 1);
	for (size_t i = 0; i < 6; i++) {
		ck_assert(speeds[i] > 0 && speeds[i] <= 1);
		ck_assert(i == 5 || speeds[i] <= fewer[i] * (1 + 1e-9));
		load_Bps += users[i].load_Bps * speeds[i];
	}
	if (load_Bps >= limit_Bps)
		return; /* users that do not follow latency alone may ask for more than there is */
	const double latency = 1 / (1 - load_Bps / limit_Bps), own = 1 / (1 - users[0].load_Bps / limit_Bps);
	assert_rel(speeds[0], fmin(1, own / latency), 1e-6);
}
END_TEST

/* ---- in the simulator */

static struct plain plain;

static void setup(void)
{
	plain_machine(&plain.hw);
	plain.workload.batch.gpus = 1;
	plain_set(&plain, 6);
	plain.hw.dram_latency_Bps = 200e9;
	plain.hw.h2d_dram_load = 0.5;
	plain.hw.d2h_dram_load = 0.9;
	plain.hw.h2d_latency_frac = 0.2;
	plain.hw.d2h_latency_frac = 0;
	plain_refresh(&plain);
}

/* Half of 10 subgroups, E21: cpu 200 ms, d2h from 24 to 173 ms, of that to 169 beside h2d. Fetches do not touch DRAM here. */
START_TEST(lanes_race) /* E33 */
{
	plain.hw.h2d_dram_load = plain.hw.h2d_latency_frac = 0;
	plain_set(&plain, 10);
	const struct interleave how = plain_hybrid(10, 3, NULL);
	const struct op_class *const classes = plain.cost.classes;
	const double adam_Bps = classes[interleave_adam_kind(&how)].dram_Bps, down_Bps = 0.9 * classes[OP_D2H].dram_Bps;
	const struct latency_user duplex[] = {{adam_Bps, 1}, {classes[OP_D2H].duplex_frac * down_Bps, 0}};
	const struct latency_user single[] = {{adam_Bps, 1}, {down_Bps, 0}};
	struct lanes lanes;
	double x[2], last[2];
	latency_speeds(x, duplex, 2, 200e9, 1);
	latency_speeds(last, single, 2, 200e9, 1);
	lanes_fraction(&lanes, &plain.cost, &plain.workload, &how, 0.5, true);
	assert_rel(lanes.d2h_s, 0.173, 1e-12); /* posted writes */
	assert_rel(lanes.cpu_s, 0.173 + 0.200 - 0.024 - 0.145 * x[0] - 0.004 * last[0], 1e-12); /* alone before and after them */
	assert_rel(lanes.fetches_s, 0.144, 1e-12);
	assert_rel(lanes.h2d_s, 0.169, 1e-12);
	ck_assert_double_lt(x[0], 0.9);
	ck_assert_double_eq(lanes.dram_s, 0);
}
END_TEST

/* Without subgroups on the CPU copies have only each other; with them, all lanes are longer, and none than by the lowest speeds. */
START_TEST(lanes_race_with_those_there_are) /* E33 */
{
	plain_set(&plain, 10);
	const struct interleave how = plain_hybrid(10, 3, NULL);
	const enum op_kind kinds[] = {interleave_adam_kind(&how), OP_H2D, OP_D2H};
	const double loads[] = {1, 0.5, 0.9}, follows[] = {1, 0.2, 0};
	struct latency_user users[3];
	struct lanes free, loaded, copies;
	double x[3], y[2];
	for (size_t i = 0; i < 3; i++) {
		const struct op_class *const class = &plain.cost.classes[kinds[i]];
		users[i] = (struct latency_user){loads[i] * class->duplex_frac * class->dram_Bps, follows[i]};
	}
	latency_speeds(x, users, 3, 200e9, 1);
	latency_speeds(y, users + 1, 2, 200e9, 1);
	lanes_fraction(&loaded, &plain.cost, &plain.workload, &how, 0.5, true);
	lanes_fraction(&copies, &plain.cost, &plain.workload, &how, 1, true);
	plain.hw.dram_latency_Bps = 0;
	plain_refresh(&plain);
	lanes_fraction(&free, &plain.cost, &plain.workload, &how, 1, true);
	ck_assert_double_eq(copies.cpu_s, 0);
	assert_rel(copies.first_s, 0.024, 1e-12);
	assert_rel(copies.h2d_s, 0.024 + (free.h2d_s - 0.024) / y[0], 1e-9); /* ends before the writes, which do not slow */
	lanes_fraction(&free, &plain.cost, &plain.workload, &how, 0.5, true);
	ck_assert_double_gt(free.dram_s, 0);
	ck_assert_double_gt(loaded.cpu_s, 1.1 * free.cpu_s);
	ck_assert_double_gt(loaded.h2d_s, 1.01 * free.h2d_s);
	ck_assert_double_lt(loaded.cpu_s, free.cpu_s / x[0] * (1 + 1e-12));
	ck_assert_double_lt(loaded.h2d_s, free.h2d_s / x[1] * (1 + 1e-12));
}
END_TEST

/* Adam beside a D2H copy: the shares are those of the law. */
START_TEST(shares_follow_the_law)
{
	struct arena arena = {0};
	struct shares shares;
	const struct op_class *const adam = &plain.cost.classes[OP_CPU_ADAM], *const d2h = &plain.cost.classes[OP_D2H];
	const struct running running[] = {{OP_CPU_ADAM, 0}, {OP_D2H, 0}};
	const struct latency_user users[] = {{adam->dram_Bps, 1}, {0.9 * d2h->dram_Bps, 0}};
	double speeds[2], expected[2];
	uint8_t limits[2];
	shares_init(&shares, &sharing_fluid, &plain.cost, 1, &arena);
	shares_allocate(&shares, speeds, limits, running, 2, &arena);
	latency_speeds(expected, users, 2, 200e9, 1);
	assert_rel(speeds[0], expected[0], 1e-12);
	assert_rel(speeds[1], expected[1], 1e-12);
	ck_assert_double_lt(speeds[0], 1);
	ck_assert_uint_eq(limits[0], RES_DRAM);
	ck_assert_uint_eq(limits[1], RES_N);
	arena_release(&arena);
}
END_TEST

/* Two ranks that only copy. After the first fetch each has 60 of the root's 120 GB/s, which DRAM slowed already to more than that. */
START_TEST(lanes_race_for_a_root) /* E33 */
{
	plain.hw.pcie_root_Bps = 120e9;
	plain.hw.gpus_per_pcie_root = plain.workload.batch.gpus = 2;
	plain.hw.dram_latency_Bps = 300e9;
	plain.hw.h2d_latency_frac = 0.05;
	plain_set(&plain, 10);
	plain_refresh(&plain);
	const struct interleave how = plain_hybrid(10, 3, NULL);
	const struct op_class *const up = &plain.cost.classes[OP_H2D], *const down = &plain.cost.classes[OP_D2H];
	const struct latency_user users[] = {
	    {0.8 * up->dram_load_Bps, up->latency_frac}, {0.8 * down->dram_load_Bps, down->latency_frac}};
	struct lanes lanes;
	double x[2];
	latency_speeds(x, users, 2, 300e9, 2);
	const double h2d_Bps = 40e9 * x[0], d2h_Bps = 40e9 * x[1], share = 60e9 / (h2d_Bps + d2h_Bps);
	lanes_fraction(&lanes, &plain.cost, &plain.workload, &how, 1, true);
	ck_assert_double_lt(x[0], 0.99);
	ck_assert_double_lt(share, 0.99);
	assert_rel(lanes.h2d_s, lanes.first_s + 10.8e9 / (h2d_Bps * share), 1e-12); /* ends first */
	const double left_bytes = 12e9 - d2h_Bps * share * (lanes.h2d_s - lanes.first_s);
	assert_rel(lanes.d2h_s, lanes.h2d_s + left_bytes / 50e9, 1e-12);
	assert_rel(lanes.root_s, 2 * 24e9 / 120e9, 1e-12);
}
END_TEST

/* 120 GB/s for two GPUs that ask 40 each way (E5), weights 1 and 2: t = 0.5, D2H as before, H2D 20 each. The root divides what DRAM
 * leaves, so it is the same with latency, which D2H does not follow. */
START_TEST(a_root_is_shared_by_weight) /* E3 */
{
	struct arena arena = {0};
	struct shares shares;
	const struct running running[] = {{OP_H2D, 0}, {OP_D2H, 0}, {OP_H2D, 1}, {OP_D2H, 1}};
	double speeds[4];
	uint8_t limits[4];
	plain.hw.pcie_root_Bps = 120e9;
	plain.hw.gpus_per_pcie_root = plain.workload.batch.gpus = 2;
	plain.hw.d2h_weight = 2;
	plain.hw.dram_latency_Bps = _i ? 200e9 : 0;
	plain_refresh(&plain);
	shares_init(&shares, &sharing_fluid, &plain.cost, 2, &arena);
	shares_allocate(&shares, speeds, limits, running, 4, &arena);
	for (size_t i = 0; i < 4; i++)
		assert_rel(speeds[i], i % 2 ? 40. / 50 : 20. / 50, 1e-12);
	ck_assert_uint_eq(limits[0], RES_H2D);
	ck_assert_uint_eq(limits[1], RES_DUPLEX);
	arena_release(&arena);
}
END_TEST

/* Adam at 5 G/s moves 140 of 280 GB/s, so an access takes twice what it takes in idle memory: there Adam would run at 10 G/s. Cores twice
 * as fast: 20 / (1 + 20 / 10) = 6.67; a DRAM twice as wide: 10 / (1 + 10 / 20) = 6.67; both: 10, whichever comes first. */
START_TEST(scaled_kernels_ask_for_no_more_than_there_is) /* E32 */
{
	static const struct {
		const char *first, *second;
		double want;
	} cases[] = {{"cpu", NULL, 2e10 / 3}, {"dram", NULL, 2e10 / 3}, {"cpu", "dram", 1e10}, {"dram", "cpu", 1e10}};
	struct err err = {0};
	struct hwprofile *const hw = &plain.hw;
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		setup();
		hw->dram_latency_Bps = 280e9;
		hw->cpu_adam.rate[0] = 5e9;
		ck_assert_int_eq(hwprofile_scale(hw, cases[i].first, 2, &err), 0);
		ck_assert(!cases[i].second || hwprofile_scale(hw, cases[i].second, 2, &err) == 0);
		assert_rel(hw->cpu_adam.rate[0], cases[i].want, 1e-12);
	}
	ck_assert_int_eq(hwprofile_scale(hw, "cpu", 1e6, &err), 0);
	assert_rel(hw->cpu_adam.rate[0] * 28, hw->dram_latency_Bps, 1e-5);
	ck_assert(hw->cpu_adam.rate[0] * 28 < hw->dram_latency_Bps);
}
END_TEST

Suite *latency_suite(void);
Suite *latency_suite(void)
{
	Suite *const s = suite_create("latency");
	TCase *const law = tcase_create("law"), *const simulated = tcase_create("simulated");
	tcase_add_test(law, two_kernels_slow_each_other);
	tcase_add_test(law, posted_writes_keep_their_speed);
	tcase_add_loop_test(law, a_fixed_point, 0, 40);
	tcase_add_checked_fixture(simulated, setup, NULL);
	tcase_add_test(simulated, shares_follow_the_law);
	tcase_add_loop_test(simulated, a_root_is_shared_by_weight, 0, 2);
	tcase_add_test(simulated, lanes_race);
	tcase_add_test(simulated, lanes_race_for_a_root);
	tcase_add_test(simulated, lanes_race_with_those_there_are);
	tcase_add_test(simulated, scaled_kernels_ask_for_no_more_than_there_is);
	suite_add_tcase(s, law);
	suite_add_tcase(s, simulated);
	return s;
}
