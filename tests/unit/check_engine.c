/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The engine against timelines drawn by hand: order on lanes, dependencies, waits. Amounts are seconds.
 * Columns: kind, amount, after, after, start, end, cause, flags, rank.
 */
#include "tests/unit/rig.h"
#include "tests/unit/test_util.h"

static struct rig rig;

static void setup(void)
{
	rig_init(&rig);
	rig_start(&rig);
	rig_use_seconds(&rig);
}

static void teardown(void)
{
	rig_release(&rig);
}

/* ---- lanes and dependencies */

/* Row 3 was created first but is ready at 3; row 4 is ready at 2 and has the lane until 6. */
START_TEST(lane_serves_by_readiness)
{
	const struct drawn rows[] = {
	    {OP_HOST, 2, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_HOST, 1, 0, NONE, 2, 3, 0, 0, 0},
	    {OP_COMPUTE, 2, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_COMPUTE, 1, 1, NONE, 6, 7, 4, 0, 0},
	    {OP_COMPUTE, 4, 0, NONE, 2, 6, 0, 0, 0},
	    {OP_D2H, 1, 3, NONE, 7, 8, 3, 0, 0},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
	ck_assert_double_eq(rig.timeline.makespan_s, 8);
}
END_TEST

/* Rows 2 and 3 are ready at 1; MAIN's end is handled first and releases row 3, yet row 2 is older. Row 6 is older than row 7, both
 * ready at 2 behind row 3. */
START_TEST(ties_go_by_creation)
{
	const struct drawn rows[] = {
	    {OP_HOST, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_D2H, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_COMPUTE, 1, 1, NONE, 1, 2, 1, 0, 0},
	    {OP_COMPUTE, 4, 0, NONE, 2, 6, 2, 0, 0},
	    {OP_HOST, 1, 0, NONE, 1, 2, 0, 0, 0},
	    {OP_D2H, 1, 1, NONE, 1, 2, 1, 0, 0},
	    {OP_COMPUTE, 1, 5, NONE, 6, 7, 3, 0, 0},
	    {OP_COMPUTE, 1, 4, NONE, 7, 8, 6, 0, 0},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
}
END_TEST

/* Two streams over two engines: 0-1-2 up, down, up; 3 and 4 up. Engines run one copy at a time. */
START_TEST(streams_are_dependencies)
{
	const struct drawn rows[] = {
	    {OP_H2D, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_D2H, 1, 0, NONE, 1, 2, 0, 0, 0},
	    {OP_H2D, 1, 1, NONE, 4, 5, 4, 0, 0},
	    {OP_H2D, 1, NONE, NONE, 1, 2, 0, 0, 0},
	    {OP_H2D, 2, NONE, NONE, 2, 4, 3, 0, 0},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
}
END_TEST

/* Row 3 goes before row 5, which has been ready since 1, because row 2 had its stream; so does row 7 (ready at 4.8) before row 6 (4.5).
 * The lane is idle from 7 to 9: then the older of rows 9 and 10 goes first, though row 6 ran last on the stream of row 10. */
START_TEST(a_lane_stays_on_a_stream)
{
	const struct drawn rows[] = {
	    {OP_HOST, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_HOST, 3.8, 0, NONE, 1, 4.8, 0, 0, 0},
	    {OP_H2D, 2, NONE, NONE, 0, 2, NONE, ON(1), 0},
	    {OP_H2D, 2, 2, NONE, 2, 4, 2, ON(1), 0},
	    {OP_D2H, 0.5, 3, NONE, 4, 4.5, 3, ON(1), 0},
	    {OP_H2D, 1, 0, NONE, 4, 5, 3, ON(2), 0},
	    {OP_H2D, 1, 4, NONE, 6, 7, 7, ON(1), 0},
	    {OP_H2D, 1, 1, NONE, 5, 6, 5, ON(2), 0},
	    {OP_HOST, 4.2, 1, NONE, 4.8, 9, 1, 0, 0},
	    {OP_H2D, 1, 8, NONE, 9, 10, 8, ON(2), 0},
	    {OP_H2D, 1, 8, NONE, 10, 11, 9, ON(1), 0},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
}
END_TEST

/* Every lane and rank is its own; an operation with two dependencies starts after the later one. */
START_TEST(lanes_and_ranks_run_beside_each_other)
{
	const struct drawn rows[] = {
	    {OP_HOST, 3, NONE, NONE, 0, 3, NONE, 0, 0},
	    {OP_CPU_DOWNSCALE, 4, NONE, NONE, 0, 4, NONE, 0, 0},
	    {OP_COMPUTE, 5, NONE, NONE, 0, 5, NONE, 0, 0},
	    {OP_H2D, 6, NONE, NONE, 0, 6, NONE, 0, 0},
	    {OP_D2H, 7, NONE, NONE, 0, 7, NONE, 0, 0},
	    {OP_GATHER, 8, NONE, NONE, 0, 8, NONE, 0, 0},
	    {OP_REDUCE, 9, NONE, NONE, 0, 9, NONE, 0, 0},
	    {OP_HOST, 1, NONE, NONE, 0, 1, NONE, 0, 1},
	    {OP_HOST, 1, 7, 1, 4, 5, 1, 0, 1},
	    {OP_GPU_NORM, 1, 2, NONE, 9, 10, 6, 0, 0},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
	assert_rel(rig.timeline.concurrency, 45. / 10, 1e-12);
}
END_TEST

/* ---- no duration */

/* Chains of waits pass in one instant and release what follows; row 6 needs nothing and passes at 0. */
START_TEST(waits_take_no_time)
{
	const struct drawn rows[] = {
	    {OP_HOST, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_SYNC, 0, 0, NONE, 1, 1, 0, 0, 0},
	    {OP_COMPUTE, 3, 1, NONE, 1, 4, 1, 0, 0},
	    {OP_SYNC, 0, 1, 2, 4, 4, 2, 0, 0},
	    {OP_SYNC, 0, 3, NONE, 4, 4, 3, 0, 0},
	    {OP_HOST, 1, 4, NONE, 4, 5, 4, 0, 0},
	    {OP_SYNC, 0, NONE, NONE, 0, 0, NONE, 0, 1},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
	ck_assert_uint_eq(rig.timeline.n_rate_changes, 4); /* row 0; 2; 5; nothing runs */
}
END_TEST

/* Without a duration an operation still waits for its lane, and the lane's last is its cause. */
START_TEST(no_duration_on_a_busy_lane)
{
	const struct drawn rows[] = {
	    {OP_COMPUTE, 5, NONE, NONE, 0, 5, NONE, 0, 0},
	    {OP_HOST, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_GPU_CAST, 0, 1, NONE, 5, 5, 0, 0, 0},
	    {OP_HOST, 1, 2, NONE, 5, 6, 2, 0, 0},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
}
END_TEST

START_TEST(nothing_at_all)
{
	rig_check(&rig, NULL, 0, &sharing_none);
	ck_assert_double_eq(rig.timeline.makespan_s, 0);
	ck_assert_double_eq(rig.timeline.concurrency, 0);
}
END_TEST

/* ---- waits for the pushes already enqueued */

/* Running (row 1) and, behind a fetch, queued (row 6): both were enqueued before the wait was reached. */
START_TEST(waits_for_earlier_pushes)
{
	const struct drawn rows[] = {
	    {OP_HOST, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_H2D, 3, 0, NONE, 1, 4, 0, PUSH, 0},
	    {OP_HOST, 1, 0, NONE, 1, 2, 0, 0, 0},
	    {OP_SYNC, 0, 2, NONE, 4, 4, 1, WAITS, 0},
	    {OP_HOST, 1, 3, NONE, 4, 5, 3, 0, 0},
	    {OP_H2D, 9, 3, NONE, 4, 13, 3, 0, 0},
	    {OP_H2D, 1, 4, NONE, 13, 14, 5, PUSH, 0},
	    {OP_SYNC, 0, 4, NONE, 14, 14, 6, WAITS, 0},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
}
END_TEST

/* MAIN reaches its wait at 2, when the WORKER's end enqueues a push. */
START_TEST(waits_for_a_push_of_the_same_instant)
{
	const struct drawn rows[] = {
	    {OP_HOST, 2, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_CPU_DOWNSCALE, 2, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_H2D, 3, 1, NONE, 2, 5, 1, PUSH, 0},
	    {OP_SYNC, 0, 0, NONE, 5, 5, 2, WAITS, 0},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
}
END_TEST

/* Two pushes of one instant, the younger released first: the wait is for both. */
START_TEST(waits_for_both_pushes_of_an_instant)
{
	const struct drawn rows[] = {
	    {OP_HOST, 2, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_CPU_DOWNSCALE, 2, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_H2D, 3, 1, NONE, 2, 5, 1, PUSH, 0},
	    {OP_H2D, 1, 0, NONE, 5, 6, 2, PUSH, 0},
	    {OP_SYNC, 0, 0, 1, 6, 6, 3, WAITS, 0},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
}
END_TEST

/* The wait is reached at 1: it waits for the push of 0 until 4, not for the one enqueued at 2, which ends at 8. The wait of another
 * rank, and one that nothing was pushed before, pass at once; so does one whose pushes have ended. */
START_TEST(ignores_later_pushes_and_other_ranks)
{
	const struct drawn rows[] = {
	    {OP_HOST, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_H2D, 4, NONE, NONE, 0, 4, NONE, PUSH, 0},
	    {OP_CPU_DOWNSCALE, 2, NONE, NONE, 0, 2, NONE, 0, 0},
	    {OP_H2D, 4, 2, NONE, 4, 8, 1, PUSH, 0},
	    {OP_SYNC, 0, 0, NONE, 4, 4, 1, WAITS, 0},
	    {OP_HOST, 1, NONE, NONE, 0, 1, NONE, 0, 1},
	    {OP_SYNC, 0, 5, NONE, 1, 1, 5, WAITS, 1},
	    {OP_HOST, 5, 4, NONE, 4, 9, 4, 0, 0},
	    {OP_SYNC, 0, 7, NONE, 9, 9, 7, WAITS, 0},
	    {OP_H2D, 1, 6, NONE, 1, 2, 6, PUSH, 1},
	};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
}
END_TEST

/* ---- what limited an operation without contention: its kind */

START_TEST(limit_alone_is_the_kinds)
{
	const struct drawn rows[] = {
	    {OP_HOST, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_CPU_ADAM, 1, 0, NONE, 1, 2, 0, 0, 0},
	    {OP_GPU_ADAM, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	    {OP_D2H, 1, NONE, NONE, 0, 1, NONE, 0, 0},
	};
	static const enum res limits[] = {RES_MAIN, RES_CPU, RES_HBM, RES_D2H};
	rig_check(&rig, rows, N_ELEMENTS(rows), &sharing_none);
	for (size_t i = 0; i < N_ELEMENTS(limits); i++)
		ck_assert_int_eq(rig.timeline.limit[i], limits[i]);
}
END_TEST

/* 0.1 + 0.2 added up one after the other, as the engine's clock does: exact, not merely near. */
START_TEST(clock_adds_durations_exactly)
{
	struct drawn rows[100];
	double at_s = 0;
	for (int i = 0; i < 100; i++) {
		const double amount = 0.1 * (i + 1);
		rows[i] = (struct drawn){OP_HOST, amount, i - 1, NONE, at_s, at_s + amount, i - 1, 0, 0};
		at_s += amount;
	}
	rig_check(&rig, rows, 100, &sharing_none);
	ck_assert_double_eq(rig.timeline.makespan_s, at_s);
}
END_TEST

Suite *engine_suite(void);
Suite *engine_suite(void)
{
	Suite *const suite = suite_create("engine");
	TCase *const core = tcase_create("core");
	TCase *const limits = tcase_create("limits");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, lane_serves_by_readiness);
	tcase_add_test(core, ties_go_by_creation);
	tcase_add_test(core, streams_are_dependencies);
	tcase_add_test(core, a_lane_stays_on_a_stream);
	tcase_add_test(core, lanes_and_ranks_run_beside_each_other);
	tcase_add_test(core, waits_for_earlier_pushes);
	tcase_add_test(core, limit_alone_is_the_kinds);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(limits, setup, teardown);
	tcase_add_test(limits, waits_take_no_time);
	tcase_add_test(limits, no_duration_on_a_busy_lane);
	tcase_add_test(limits, nothing_at_all);
	tcase_add_test(limits, waits_for_a_push_of_the_same_instant);
	tcase_add_test(limits, waits_for_both_pushes_of_an_instant);
	tcase_add_test(limits, ignores_later_pushes_and_other_ranks);
	tcase_add_test(limits, clock_adds_durations_exactly);
	suite_add_tcase(suite, limits);
	return suite;
}
