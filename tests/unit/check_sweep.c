/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/sweep.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/study/runner.h"
#include "sim/study/trial.h"
#include "tests/unit/sweep_rig.h"
#include "tests/unit/test_util.h"

static struct sweep_rig rig;
static char other[RIG_PATH_MAX];

/* 252 points, some of them refused (2 GPUs is what the machine has) or given twice. */
static void open_rig(void)
{
	sweep_rig_open(&rig);
	snprintf(other, sizeof(other), "%s/other.db", rig.folder);
	sweep_rig_flag(&rig, GRID_GPUS, "1,2,4");
	sweep_rig_flag(&rig, GRID_MBS, "1..4");
	sweep_rig_flag(&rig, GRID_SYNC, "phase,all");
	ck_assert_int_eq(grid_add_scale(&rig.grid, "dram=1,2", &rig.err), 0);
	sweep_rig_policies(&rig, "zero3-offload,dos:stride=2..4,dos:buffers=1;2,dos,twinflow:ratio=0.5,hybrid,gpu-only");
	sweep_rig_finish(&rig);
}

static void close_rig(void)
{
	sweep_rig_close(&rig);
}

static unsigned long long contents(const char *db)
{
	size_t n;

	return sweep_rig_contents(&n, db);
}

/* ---- the same at any number of workers */

START_TEST(any_number_of_workers)
{
	static const size_t n_workers[] = {2, 3, 4, 9};
	struct sweep_counts first, counts;

	ck_assert_msg(sweep_rig_run(&first, &rig, rig.db, 1) == 0, "%s", rig.err.text);
	ck_assert_uint_eq(first.n_points, rig.grid.n_points);
	ck_assert_uint_eq(first.n_done, first.n_points);
	ck_assert_uint_gt(first.n_refused, 0);
	assert_has(first.refusal, "needs chain=duplex");
	for (size_t i = 0; i < N_ELEMENTS(n_workers); i++) {
		unlink(other);
		ck_assert_msg(sweep_rig_run(&counts, &rig, other, n_workers[i]) == 0, "%s", rig.err.text);
		ck_assert(contents(other) == contents(rig.db));
		ck_assert_uint_eq(counts.n_new, first.n_new);
		ck_assert_uint_eq(counts.n_refused, first.n_refused);
	}
}
END_TEST

START_TEST(what_is_there_is_not_run_again)
{
	struct sweep_counts counts;

	ck_assert_int_eq(sweep_rig_run(&counts, &rig, rig.db, 2), 0);
	const unsigned long long before = contents(rig.db);
	ck_assert_int_eq(sweep_rig_run(&counts, &rig, rig.db, 2), 0);
	ck_assert_uint_eq(counts.n_new, 0);
	ck_assert_uint_eq(counts.n_present, counts.n_points);
	ck_assert(contents(rig.db) == before);
}
END_TEST

START_TEST(shards_make_the_whole)
{
	enum { N_SHARDS = 5 };
	struct sweep_counts counts;
	size_t n_points = 0;

	for (size_t shard = 0; shard < N_SHARDS; shard++) {
		const struct sweep sweep = {
		    .grid = &rig.grid, .db = other, .n_workers = 2, .shard = shard, .n_shards = N_SHARDS};
		ck_assert_int_eq(sweep_run(&counts, &sweep, &rig.err), 0);
		n_points += counts.n_points;
	}
	ck_assert_uint_eq(n_points, rig.grid.n_points);
	ck_assert_int_eq(sweep_rig_run(&counts, &rig, rig.db, 1), 0);
	ck_assert(contents(other) == contents(rig.db));
}
END_TEST

START_TEST(a_limit)
{
	const struct sweep sweep = {.grid = &rig.grid, .db = rig.db, .n_workers = 2, .n_shards = 1, .limit = 10};
	struct sweep_counts counts;

	ck_assert_int_eq(sweep_run(&counts, &sweep, &rig.err), 0);
	ck_assert_uint_eq(counts.n_done, 10);
}
END_TEST

/* ---- interrupted */

static atomic_int stop;

static void stop_after_one(void *context, const struct sweep_counts *counts)
{
	(void)context;
	if (counts->n_done > 0)
		atomic_store(&stop, 1);
}

START_TEST(stopped_in_good_order)
{
	struct sweep sweep = {.grid = &rig.grid, .db = rig.db, .n_workers = 2, .n_shards = 1, .stop = &stop, .progress = stop_after_one};
	struct sweep_counts counts;
	size_t n_rows;

	atomic_store(&stop, 1); /* before anything is done */
	ck_assert_int_eq(sweep_run(&counts, &sweep, &rig.err), STATUS_INTERRUPTED);
	ck_assert_uint_eq(counts.n_done, 0);
	for (int code = STATUS_INTERRUPTED; code == STATUS_INTERRUPTED;) {
		atomic_store(&stop, 0);
		code = sweep_run(&counts, &sweep, &rig.err);
		sweep_rig_contents(&n_rows, rig.db);
		ck_assert_uint_le(counts.n_new, n_rows);
	}
	sweep.stop = NULL;
	sweep.db = other;
	ck_assert_int_eq(sweep_run(&counts, &sweep, &rig.err), 0);
	ck_assert(contents(rig.db) == contents(other));
}
END_TEST

/* A child that sweeps is killed after a while, again and again, each time a little later. */
START_TEST(killed_ten_times)
{
	struct sweep_counts counts;
	size_t n_before = 0, n_after;

	ck_assert_int_eq(sweep_rig_run(&counts, &rig, other, 1), 0);
	for (useconds_t i = 1; i <= 10; i++) {
		const pid_t child = fork();
		if (child == 0)
			_exit(sweep_rig_run(&counts, &rig, rig.db, 2));
		usleep(i * 3000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		if (access(rig.db, F_OK) != 0)
			continue;
		struct store *store;
		ck_assert_msg(store_open(&store, rig.db, &rig.err) == 0, "%s", rig.err.text);
		store_close(store);
		sweep_rig_contents(&n_after, rig.db);
		ck_assert_uint_ge(n_after, n_before);
		n_before = n_after;
	}
	ck_assert_int_eq(sweep_rig_run(&counts, &rig, rig.db, 2), 0);
	ck_assert(contents(rig.db) == contents(other));
}
END_TEST

START_TEST(two_at_once)
{
	struct sweep_counts counts;
	int status;

	const pid_t child = fork();
	if (child == 0)
		_exit(sweep_rig_run(&counts, &rig, rig.db, 1));
	ck_assert_msg(sweep_rig_run(&counts, &rig, rig.db, 1) == 0, "%s", rig.err.text);
	waitpid(child, &status, 0);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ck_assert_int_eq(sweep_rig_run(&counts, &rig, other, 1), 0);
	ck_assert(contents(rig.db) == contents(other));
}
END_TEST

START_TEST(a_store_that_cannot_be)
{
	struct sweep_counts counts;

	ck_assert_int_eq(sweep_rig_run(&counts, &rig, rig.folder, 2), STATUS_ENV);
	ck_assert_int_eq(sweep_rig_run(&counts, &rig, "/nonexistent/x.db", 2), STATUS_ENV);
}
END_TEST

/* ---- rows */

START_TEST(a_row_is_what_a_trial_gives)
{
	struct arena arena = {0};
	struct runner *const runner = arena_alloc(&arena, 1, sizeof(*runner));
	struct row_done row;
	struct trial trial;

	runner_init(runner, &rig.grid, false);
	for (size_t index = 0; index < rig.grid.n_points; index += 7) {
		runner_prepare(&row, runner, index, &arena);
		runner_run(&row, runner, &arena);
		if (row.is_refused)
			continue;
		const struct trial_input input = {.hw = runner->hw, .shape = runner->point.shape, .batch = runner->point.batch,
		    .policy = row.trial.policy, .sharing = runner->point.sharing, .sync = runner->point.sync};
		ck_assert_int_eq(trial_run(&trial, &input, &arena, &rig.err), 0);
		ck_assert_str_eq(trial.policy, row.trial.policy);
		ck_assert(trial.metrics.iteration_s == row.trial.iteration_s);
		ck_assert(trial.metrics.host_peak_bytes == row.trial.host_peak_bytes);
	}
	runner_release(runner);
	arena_release(&arena);
}
END_TEST

START_TEST(keys_tell_points_apart)
{
	struct arena arena = {0};
	struct runner *const runner = arena_alloc(&arena, 1, sizeof(*runner));
	unsigned long long *const keys = arena_alloc(&arena, rig.grid.n_points, sizeof(*keys));
	struct row_done row;
	size_t n_equal = 0;

	runner_init(runner, &rig.grid, false);
	for (size_t i = 0; i < rig.grid.n_points; i++) {
		runner_prepare(&row, runner, i, &arena);
		keys[i] = row.trial.key;
		for (size_t j = 0; j < i; j++)
			n_equal += keys[j] == keys[i];
	}
	/* dos takes a stride of its own, and dos:buffers=1 is dos: for each workload the grid has at most these twice */
	ck_assert_uint_gt(n_equal, 0);
	ck_assert_uint_le(n_equal, 4 * rig.grid.n_points / rig.grid.n_variants);
	runner_release(runner);
	arena_release(&arena);
}
END_TEST

/* Where MAIN alone works and nothing is in full use, the closed form is the simulation. */
START_TEST(closed_form_rows)
{
	static const char *const exact[] = {"zero3-offload", "twinflow:ratio=0.5", "gpu-only"};
	struct arena arena = {0};
	struct runner *const estimate = arena_alloc(&arena, 1, sizeof(*estimate)), *const simulate = arena_alloc(&arena, 1, sizeof(*simulate));
	struct row_done closed, simulated;

	rig.grid.n_policies = rig.grid.n_variants = 0;
	for (size_t i = 0; i < N_ELEMENTS(exact); i++)
		sweep_rig_policies(&rig, exact[i]);
	sweep_rig_finish(&rig);
	runner_init(estimate, &rig.grid, true);
	runner_init(simulate, &rig.grid, false);
	for (size_t i = 0; i < rig.grid.n_points; i++) {
		runner_prepare(&closed, estimate, i, &arena);
		runner_prepare(&simulated, simulate, i, &arena);
		runner_run(&closed, estimate, &arena);
		runner_run(&simulated, simulate, &arena);
		ck_assert(closed.is_refused == simulated.is_refused);
		ck_assert(closed.trial.key != simulated.trial.key);
		if (closed.is_refused)
			continue;
		ck_assert_str_eq(closed.trial.contention, "closed-form");
		ck_assert(isnan(closed.trial.iteration_s) && closed.trial.feasible == STORE_UNKNOWN);
		assert_rel(closed.trial.update_s, simulated.trial.update_s, 0.05);
	}
	runner_release(estimate);
	runner_release(simulate);
	arena_release(&arena);
}
END_TEST

Suite *sweep_suite(void);
Suite *sweep_suite(void)
{
	Suite *const suite = suite_create("sweep");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_checked_fixture(core, open_rig, close_rig);
	tcase_add_test(core, any_number_of_workers);
	tcase_add_test(core, what_is_there_is_not_run_again);
	tcase_add_test(core, shards_make_the_whole);
	tcase_add_test(core, a_limit);
	tcase_add_test(core, a_row_is_what_a_trial_gives);
	tcase_add_test(core, keys_tell_points_apart);
	tcase_add_test(core, closed_form_rows);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, open_rig, close_rig);
	tcase_add_test(errors, stopped_in_good_order);
	tcase_add_test(errors, killed_ten_times);
	tcase_add_test(errors, two_at_once);
	tcase_add_test(errors, a_store_that_cannot_be);
	suite_add_tcase(suite, errors);
	return suite;
}
