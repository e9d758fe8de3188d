/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bounds against simulation, for every registered policy on random machines, models and options. A failure prints its seed.
 */
#include "sim/study/bound.h"
#include "tests/unit/random_trial.h"
#include "tests/unit/test_util.h"

enum { N_SEEDS = 300 };

static struct random_trial r;
static struct arena arena;

static void setup(void)
{
	random_trial_init(&r);
}

static void teardown(void)
{
	random_trial_release(&r);
	arena_release(&arena);
}

static struct bound_query query(void)
{
	return (struct bound_query){.cost = &r.trial.cost,
	    .workload = &r.trial.workload,
	    .use = &r.trial.use,
	    .places = r.trial.places,
	    .sharing = r.in.sharing,
	    .sync = r.in.sync};
}

static struct bound own_bound(void)
{
	const struct bound_query q = query();
	struct bound bound;

	bound_find(&bound, &q, &arena);
	return bound;
}

static void draw(int policy, unsigned long seed)
{
	random_trial_draw(&r, policy_all[policy], seed);
	if (seed % 3 == 0)
		random_trial_use_latency(&r, seed);
	r.in.is_unfolded = false;
	r.in.batch.grad_accum = (double)(1 + random_below(&r, 6));
	random_trial_run(&r);
	arena_reset(&arena);
}

static void check_below(const struct bound *b, const char *which)
{
	const struct metrics *const m = &r.trial.metrics;

	ck_assert_msg(b->iteration_s <= m->iteration_s * (1 + 1e-9), "%s: %s bound %.17g s, iteration %.17g s", r.what, which,
	    b->iteration_s, m->iteration_s);
	ck_assert_msg(b->peak_bytes[POOL_GPU] <= m->gpu_peak_bytes * (1 + 1e-9), "%s: %s bound %.17g B, GPU peak %.17g B", r.what,
	    which, b->peak_bytes[POOL_GPU], m->gpu_peak_bytes);
	ck_assert_msg(b->peak_bytes[POOL_HOST] <= m->host_peak_bytes * (1 + 1e-9), "%s: %s bound %.17g B, host peak %.17g B", r.what,
	    which, b->peak_bytes[POOL_HOST], m->host_peak_bytes);
}

START_TEST(bound_is_below_simulation)
{
	for (unsigned long seed = 1; seed <= N_SEEDS; seed++) {
		draw(_i, seed);
		const struct bound bound = own_bound();
		check_below(&bound, "its");
	}
}
END_TEST

/* What any policy has bounds this one too, and what this one holds adds to it. */
START_TEST(bound_of_any_policy_is_below)
{
	for (unsigned long seed = 1; seed <= N_SEEDS; seed++) {
		struct bound any;
		draw(_i, seed);
		const struct bound own = own_bound();
		struct bound_query q = query();
		q.use = NULL;
		q.places = NULL;
		bound_find(&any, &q, &arena);
		check_below(&any, "any");
		ck_assert(any.iteration_s <= own.iteration_s * (1 + 1e-12));
		q = query();
		bound_memory(any.peak_bytes, &any, &q, &arena);
		check_below(&any, "memory");
	}
}
END_TEST

/* Nothing overlaps but compute and its launches: without contention the bound of a serial policy is its time, to the last digit
 * that adding in another order leaves. */
START_TEST(bound_of_serial_policies_is_exact)
{
	static const char *const specs[] = {"gpu-only", "zero3-offload", "twinflow:ratio=0.5", "dos:stride=0,downscale=fused"};
	for (unsigned long seed = 1; seed <= 50; seed++) {
		random_trial_draw(&r, policy_find("gpu-only"), seed);
		r.in.is_unfolded = false;
		r.in.sharing = &sharing_none;
		r.in.sync = SYNC_PHASE;
		r.in.policy = specs[seed % (sizeof specs / sizeof *specs)];
		r.in.batch.zero_stage = 3; /* dos is the published chain */
		r.in.batch.n_subgroups = 8;
		random_trial_run(&r);
		const struct bound bound = own_bound();
		assert_rel(bound.iteration_s, r.trial.metrics.iteration_s, 1e-9);
		assert_rel(bound.peak_bytes[POOL_GPU], r.trial.metrics.gpu_peak_bytes, 1e-12);
		assert_rel(bound.peak_bytes[POOL_HOST], r.trial.metrics.host_peak_bytes, 1e-12);
	}
}
END_TEST

Suite *bound_suite(void);
Suite *bound_suite(void)
{
	Suite *const suite = suite_create("bound");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_set_timeout(core, 60);
	tcase_add_loop_test(core, bound_is_below_simulation, 0, n_policies());
	tcase_add_loop_test(core, bound_of_any_policy_is_below, 0, n_policies());
	tcase_add_test(core, bound_of_serial_policies_is_exact);
	suite_add_tcase(suite, core);
	return suite;
}
