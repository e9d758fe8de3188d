/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The engine with contention against timelines drawn by hand: E3 shared memory, E4 cores, E5 both directions of a link.
 * Columns: kind, amount, after, after, start, end, cause, flags, rank. On the plain machine CPU Adam runs at 2.5 G parameters/s with
 * 28 B each (70 GB/s of DRAM), a copy at 50 GB/s, 40 in duplex.
 */
#include "tests/unit/rig.h"
#include "tests/unit/test_util.h"

static struct rig rig;

static void setup(void)
{
	rig_init(&rig);
}

static void teardown(void)
{
	rig_release(&rig);
}

static void assert_limits(const enum res *limits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(rig.timeline.limit[i] == limits[i], "row %zu is limited by %s, want %s", i,
		    res_names[rig.timeline.limit[i]], res_names[limits[i]]);
}

/* ---- E5: an engine runs at its duplex rate while the other direction of its link is busy */

/* Up 100 GB from 0: 1 s at 50, then both at 40: its last 50 GB take 1.25 s, until 2.25. Down from 1: 1.25 s at 40 are 50 GB, the other
 * 50 at 50 GB/s take 1 s. Both are slowed for 1.25 of 2.25 s. */
START_TEST(duplex_copies)
{
	static const enum res limits[] = {RES_MAIN, RES_DUPLEX, RES_DUPLEX, RES_MAIN, RES_H2D};
	const struct drawn rows[] = {
	    {OP_HOST, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_H2D, 100e9, NONE, NONE, 0, 2.25, NONE, 0, 0},
	    {OP_D2H, 100e9, 0, NONE, 1, 3.25, 0, 0, 0},
	    {OP_HOST, 1, 2, NONE, 3.25, 4.25, 2, 0, 0},
	    {OP_H2D, 100e9, 3, NONE, 4.25, 6.25, 3, 0, 0},
	};
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
	assert_limits(limits, N_ELEMENTS(limits));
}
END_TEST

START_TEST(directions_are_independent_without_contention)
{
	const struct drawn rows[] = {
	    {OP_H2D, 100e9, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_D2H, 100e9, NONE, NONE, 0, 2, NONE, 0, 0},
	};
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
}
END_TEST

/* Rates differ by direction: up 25 of 50 GB/s, down 40. Up: 50 GB in 2 s; down: 80 GB by then, 20 more in 0.4 s. */
START_TEST(duplex_rates_differ_by_direction)
{
	const struct drawn rows[] = {
	    {OP_H2D, 50e9, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_D2H, 100e9, NONE, NONE, 0, 2.4, NONE, 0, 0},
	    {OP_D2H, 50e9, NONE, NONE, 0, 1, NONE, 0, 1},
	};
	rig.hw.h2d_duplex_Bps = 25e9;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
}
END_TEST

/* ---- E3: DRAM of 100 GB/s under CPU Adam (70) and a copy up (50) */

/* Equal weights: (70 + 50) t = 100, t = 5/6: both take 2 / (5/6) = 2.4 s. Then alone: Adam of 1 s, 2.4 to 3.4. */
START_TEST(dram_is_shared_evenly)
{
	static const enum res limits[] = {RES_DRAM, RES_DRAM, RES_CPU};
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 5e9, NONE, NONE, 0, 2.4, NONE, 0, 0},
	    {OP_H2D, 100e9, NONE, NONE, 0, 2.4, NONE, 0, 0},
	    {OP_CPU_ADAM, 2.5e9, 0, NONE, 2.4, 3.4, 0, 0, 0},
	};
	rig.hw.dram_Bps = 100e9;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
	assert_limits(limits, N_ELEMENTS(limits));
}
END_TEST

/* Weight 1.2: 70 t + 50 (1.2 t) = 100, t = 10/13, the copy at 12/13 ends at 13/6 s. Adam has done 13/6 * 10/13 = 5/3 s of its 2, the last
 * 1/3 s is alone: 2.5. */
START_TEST(dma_weight_favours_copies)
{
	static const enum res limits[] = {RES_DRAM, RES_DRAM};
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 5e9, NONE, NONE, 0, 2.5, NONE, 0, 0},
	    {OP_H2D, 100e9, NONE, NONE, 0, 13. / 6, NONE, 0, 0},
	};
	rig.hw.dram_Bps = 100e9;
	rig.hw.dma_weight = 1.2;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
	assert_limits(limits, N_ELEMENTS(limits));
}
END_TEST

/* Weight 2: 70 t + 100 t = 100 gives the copy 2 t > 1, so it runs at 1 and Adam takes the rest: t = 50/70. The copy ends at 2; Adam has
 * done 10/7 of 2 s and ends 4/7 s later. */
START_TEST(dma_weight_ends_at_full_speed)
{
	static const enum res limits[] = {RES_DRAM, RES_H2D};
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 5e9, NONE, NONE, 0, 2 + 4. / 7, NONE, 0, 0},
	    {OP_H2D, 100e9, NONE, NONE, 0, 2, NONE, 0, 0},
	};
	rig.hw.dram_Bps = 100e9;
	rig.hw.dma_weight = 2;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
	assert_limits(limits, N_ELEMENTS(limits));
}
END_TEST

/* One engine byte moves 2 of DRAM: (70 + 100) t = 170/1.7 = 100, t = 10/17: 2 s take 3.4 s. */
START_TEST(dma_bytes_count)
{
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 5e9, NONE, NONE, 0, 3.4, NONE, 0, 0},
	    {OP_D2H, 100e9, NONE, NONE, 0, 3.4, NONE, 0, 0},
	};
	rig.hw.dram_Bps = 100e9;
	rig.hw.dram_bytes_per_dma_byte = 2;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
}
END_TEST

/* A copy that starts at 1 and another down at 2 slow Adam in steps, which end again. DRAM 100 GB/s:
 * 0-1   Adam alone: 1 s done (of 4).
 * 1-2   Adam, up: t = 5/6: Adam 11/6, up 5/6 (of 2).
 * 2-    Adam 70, up 40, down 40 (duplex caps 0.8): 150 t = 100, t = 2/3: up and down at 0.8 * 2/3 = 8/15. Down has 1 s of work, 15/8 s;
 *       up 7/6 left, 35/16 s. Down ends at 31/8; Adam 11/6 + 5/4 = 37/12, up 5/6 + 1 = 11/6.
 * 31/8- Adam, up: t = 5/6: up has 1/6 left, 1/5 s; Adam 37/12 + 1/6 = 13/4.
 * 163/40- Adam alone: 3/4 s left. */
START_TEST(speeds_change_while_running)
{
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 10e9, NONE, NONE, 0, 163. / 40 + 0.75, NONE, 0, 0},
	    {OP_COMPUTE, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_COMPUTE, 1, 1, NONE, 1, 2, 1, 0, 0},
	    {OP_H2D, 100e9, 1, NONE, 1, 163. / 40, 1, 0, 0},
	    {OP_D2H, 50e9, 2, NONE, 2, 31. / 8, 2, 0, 0},
	};
	rig.hw.dram_Bps = 100e9;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
}
END_TEST

/* Two ranks on one domain of 100 GB/s: two Adams of 70: t = 5/7, 1 s takes 1.4. On a domain each, 1. A third rank of two domains shares
 * with nobody. */
START_TEST(domains_are_shared_by_their_ranks)
{
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 2.5e9, NONE, NONE, 0, 1.4, NONE, 0, 0},
	    {OP_CPU_ADAM, 2.5e9, NONE, NONE, 0, 1.4, NONE, 0, 1},
	    {OP_CPU_ADAM, 2.5e9, NONE, NONE, 0, 1, NONE, 0, 2},
	};
	rig.hw.dram_Bps = 100e9;
	rig.hw.numa_domains = 2;
	rig.workload.batch.gpus = 3;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
}
END_TEST

/* A root of 60 GB/s for two GPUs: two copies of 50 share it, t = 0.6: 0.6 s take 1; the rest alone. */
START_TEST(roots_are_shared_by_their_gpus)
{
	static const enum res limits[] = {RES_H2D, RES_H2D, RES_D2H};
	const struct drawn rows[] = {
	    {OP_H2D, 30e9, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_H2D, 60e9, NONE, NONE, 0, 1.6, NONE, 0, 1},
	    {OP_D2H, 50e9, NONE, NONE, 0, 1, NONE, 0, 2},
	};
	rig.hw.pcie_root_Bps = 60e9;
	rig.hw.gpus_per_pcie_root = 2;
	rig.workload.batch.gpus = 4;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
	assert_limits(limits, N_ELEMENTS(limits));
}
END_TEST

/* ---- E3: several resources, amounts in seconds */

/* DRAM 10: CPU 8, copy 4. HBM 8: copy 8, GPU 4. HBM is full first: 12 t = 8, copy and GPU freeze at 2/3. DRAM: 10 - 4 * 2/3 = 22/3 are
 * left for the CPU's 8: 11/12. */
START_TEST(one_freezes_first_the_other_takes_the_rest)
{
	static const enum res limits[] = {RES_DRAM, RES_HBM, RES_HBM};
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 11, NONE, NONE, 0, 12, NONE, 0, 0},
	    {OP_H2D, 8, NONE, NONE, 0, 12, NONE, 0, 0},
	    {OP_GPU_ADAM, 8, NONE, NONE, 0, 12, NONE, 0, 0},
	};
	rig.hw.dram_Bps = 10;
	rig.hw.hbm_Bps = 8;
	rig_start(&rig);
	rig_use_seconds(&rig);
	rig.cost.classes[OP_CPU_ADAM].dram_Bps = 8;
	rig.cost.classes[OP_H2D].dram_Bps = 4;
	rig.cost.classes[OP_H2D].hbm_Bps = 8;
	rig.cost.classes[OP_GPU_ADAM].hbm_Bps = 4;
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
	assert_limits(limits, N_ELEMENTS(limits));
}
END_TEST

/* Three levels. Root 6: copies up 6 and down 6, weights 1 and 2: 6 t + 12 t = 6, t = 1/3: up 1/3, down 2/3. DRAM 12: those use 1/3 * 6 +
 * 2/3 * 6 = 6, 6 are left for Adam's 8, downscale's 4: t = 1/2. HBM idle. */
START_TEST(three_levels)
{
	static const enum res limits[] = {RES_DRAM, RES_DRAM, RES_H2D, RES_H2D};
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 3, NONE, NONE, 0, 6, NONE, 0, 0},
	    {OP_CPU_DOWNSCALE, 3, NONE, NONE, 0, 6, NONE, 0, 0},
	    {OP_H2D, 2, NONE, NONE, 0, 6, NONE, 0, 0},
	    {OP_D2H, 4, NONE, NONE, 0, 6, NONE, 0, 0},
	};
	rig.hw.dram_Bps = 12;
	rig.hw.pcie_root_Bps = 6;
	rig_start(&rig);
	rig_use_seconds(&rig);
	rig.cost.classes[OP_CPU_ADAM].dram_Bps = 8;
	rig.cost.classes[OP_CPU_DOWNSCALE].dram_Bps = 4;
	for (enum op_kind kind = OP_H2D; kind <= OP_D2H; kind++)
		rig.cost.classes[kind].dram_Bps = rig.cost.classes[kind].root_Bps = 6;
	rig.cost.classes[OP_D2H].weight = 2;
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
	assert_limits(limits, N_ELEMENTS(limits));
}
END_TEST

/* ---- E4: discrete cores */

/* Adam 1 s (2.5 G) and downscale 1 s (5 G), teams as given; the time that both take beside each other. */
static void check_cores(double hw_threads, double per_core, double gain, double team, double workers, double both_s)
{
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 2.5e9, NONE, NONE, 0, both_s, NONE, 0, 0},
	    {OP_CPU_DOWNSCALE, 5e9, NONE, NONE, 0, both_s, NONE, 0, 0},
	};
	rig_init(&rig);
	rig.hw.hw_threads_per_rank = hw_threads;
	rig.hw.threads_per_core = per_core;
	rig.hw.smt_gain = gain;
	rig.hw.threads = team;
	rig.hw.workers = workers;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
	ck_assert_int_eq(rig.timeline.limit[0], both_s > 1 ? RES_CORES : RES_CPU);
	rig_release(&rig);
}

START_TEST(cores_are_discrete)
{
	check_cores(16, 1, 1, 12, 4, 1); /* 16 threads on 16 cores */
	check_cores(16, 1, 1, 12, 5, 2); /* one too many: some core has two, the team waits for it */
	check_cores(16, 1, 1, 16, 16, 2);
	check_cores(16, 1, 1, 17, 17, 1.5); /* 34 on 16: three on a core; each alone already had two */
}
END_TEST

/* 8 cores of 2 siblings that together do 1.2 of one: a sibling runs at 0.6. */
START_TEST(siblings_share_a_core)
{
	check_cores(16, 2, 1.2, 6, 2, 1); /* a core each */
	check_cores(16, 2, 1.2, 8, 4, 1 / 0.6); /* 12 on 8 cores; both alone had a core for each thread */
	check_cores(16, 2, 1.2, 8, 8, 1 / 0.6);
	check_cores(16, 2, 1.2, 8, 1, 1 / 0.6);
}
END_TEST

/* A team of 12 already runs on siblings when it is alone, so its alone speed has that; 4 workers get the last 4 and slow from 1 to 0.6. */
START_TEST(alone_speed_includes_siblings)
{
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 5e9, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_CPU_DOWNSCALE, 5e9, NONE, NONE, 0, 1 / 0.6, NONE, 0, 0},
	};
	rig.hw.threads_per_core = 2;
	rig.hw.smt_gain = 1.2;
	rig.hw.threads = 12;
	rig.hw.workers = 4;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
}
END_TEST

/* 16 workers on 16 cores. MAIN works 0.5 s until 1 (17 runnable: half speed, both), then waits for the GPU until 3. Sleeping: the last
 * 0.5 s are alone. Spinning: MAIN still takes a core, 1 s; and again after its wait, when it has nothing to do. */
START_TEST(spinning_waits_take_a_core)
{
	const struct drawn sleeping[] = {
	    {OP_HOST, 0.5, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_CPU_DOWNSCALE, 5e9, NONE, NONE, 0, 1.5, NONE, 0, 0},
	    {OP_COMPUTE, 3, NONE, NONE, 0, 3, NONE, 0, 0},
	    {OP_SYNC, 0, 0, 2, 3, 3, 2, 0, 0},
	};
	const struct drawn spinning[] = {
	    {OP_HOST, 0.5, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_CPU_DOWNSCALE, 5e9, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_COMPUTE, 3, NONE, NONE, 0, 3, NONE, 0, 0},
	    {OP_SYNC, 0, 0, 2, 3, 3, 2, 0, 0},
	    {OP_CPU_DOWNSCALE, 5e9, 3, NONE, 3, 5, 3, 0, 0},
	};
	rig.hw.workers = 16;
	rig_start(&rig);
	rig_check(&rig, sleeping, N_ELEMENTS(sleeping), &sharing_fluid);
	rig.hw.spin_wait = 1;
	rig_start(&rig);
	rig_check(&rig, spinning, N_ELEMENTS(spinning), &sharing_fluid);
}
END_TEST

/* The co-run of Adam and downscale on oversubscribed cores as measured replaces the 1/m rule, for that pair only. */
START_TEST(measured_pair_replaces_the_rule)
{
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 2.5e9, NONE, NONE, 0, 1.6, NONE, 0, 0},
	    {OP_CPU_DOWNSCALE, 5e9, NONE, NONE, 0, 1.6, NONE, 0, 0},
	    {OP_HOST, 1, 0, 1, 1.6, 3.6, 1, 0, 0},
	    {OP_CPU_DOWNSCALE, 5e9, 0, 1, 1.6, 3.6, 1, 0, 0},
	};
	rig.hw.workers = rig.hw.threads = 16;
	rig.hw.adam_downscale_corun_frac = 0.625;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
}
END_TEST

/* Cores come before sharing: 20 threads on 16 cores halve both, so Adam asks 35 and downscale 20 GB/s (5 G * 8 B / 2) of DRAM's 44:
 * t = 0.8, speed 0.4, 2.5 s. */
START_TEST(cores_before_dram)
{
	static const enum res limits[] = {RES_DRAM, RES_DRAM};
	const struct drawn rows[] = {
	    {OP_CPU_ADAM, 2.5e9, NONE, NONE, 0, 2.5, NONE, 0, 0},
	    {OP_CPU_DOWNSCALE, 5e9, NONE, NONE, 0, 2.5, NONE, 0, 0},
	};
	rig.hw.threads = 16;
	rig.hw.workers = 4;
	rig.hw.dram_Bps = 44e9;
	rig_start(&rig);
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_fluid);
	assert_limits(limits, N_ELEMENTS(limits));
}
END_TEST

Suite *contention_suite(void);
Suite *contention_suite(void)
{
	Suite *const suite = suite_create("contention");
	TCase *const core = tcase_create("core");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, duplex_copies);
	tcase_add_test(core, directions_are_independent_without_contention);
	tcase_add_test(core, duplex_rates_differ_by_direction);
	tcase_add_test(core, dram_is_shared_evenly);
	tcase_add_test(core, dma_weight_favours_copies);
	tcase_add_test(core, dma_weight_ends_at_full_speed);
	tcase_add_test(core, dma_bytes_count);
	tcase_add_test(core, speeds_change_while_running);
	tcase_add_test(core, domains_are_shared_by_their_ranks);
	tcase_add_test(core, roots_are_shared_by_their_gpus);
	tcase_add_test(core, one_freezes_first_the_other_takes_the_rest);
	tcase_add_test(core, three_levels);
	tcase_add_test(core, cores_are_discrete);
	tcase_add_test(core, siblings_share_a_core);
	tcase_add_test(core, alone_speed_includes_siblings);
	tcase_add_test(core, spinning_waits_take_a_core);
	tcase_add_test(core, measured_pair_replaces_the_rule);
	tcase_add_test(core, cores_before_dram);
	suite_add_tcase(suite, core);
	return suite;
}
