/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Identical ranks may be folded into one: all ranks written out give the same. Also what must not change a result: running it again;
 * and what may not lengthen one: a faster resource, where every resource's order is fixed.
 */
#include "tests/unit/audit.h"
#include "tests/unit/random_trial.h"
#include "tests/unit/test_util.h"

enum { N_FOLDS = 100, N_REPEATS = 100, N_MONOTONE = 200 };

static struct random_trial r, other;

static void setup(void)
{
	random_trial_init(&r);
	random_trial_init(&other);
}

static void teardown(void)
{
	random_trial_release(&r);
	random_trial_release(&other);
}

/* The same trial twice, ready to be varied. */
static void draw_both(int policy, unsigned long seed)
{
	random_trial_draw(&r, policy_all[policy], seed);
	random_trial_draw(&other, policy_all[policy], seed);
	if (seed % 3 == 0) {
		random_trial_use_latency(&r, seed);
		random_trial_use_latency(&other, seed);
	}
}

static void assert_near(double got, double want, const char *name)
{
	must(fabs(got - want) <= 1e-12 * fabs(want), "%s: %s %.17g, folded %.17g", r.what, name, got, want);
}

static void compare_metrics(const struct metrics *all, const struct metrics *one)
{
	assert_near(all->forward_s, one->forward_s, "forward_s");
	assert_near(all->backward_s, one->backward_s, "backward_s");
	assert_near(all->update_s, one->update_s, "update_s");
	assert_near(all->other_s, one->other_s, "other_s");
	assert_near(all->iteration_s, one->iteration_s, "iteration_s");
	assert_near(all->gpu_peak_bytes, one->gpu_peak_bytes, "gpu_peak_bytes");
	assert_near(all->host_peak_bytes, one->host_peak_bytes, "host_peak_bytes");
	assert_near(all->h2d_bytes, one->h2d_bytes, "h2d_bytes");
	assert_near(all->d2h_bytes, one->d2h_bytes, "d2h_bytes");
	assert_near(all->gpu_fraction_frac, one->gpu_fraction_frac, "gpu_fraction_frac");
	for (size_t lane = 0; lane < LANE_N; lane++)
		assert_near(all->busy_frac[lane], one->busy_frac[lane], lane_names[lane]);
}

/* Every rank's operations are those of the folded run, at the same times. */
static void compare_ranks(size_t n_ranks)
{
	const struct timeline *const all = &r.trial.timeline, *const one = &other.trial.timeline;
	ck_assert_uint_eq(all->n_ops, n_ranks * one->n_ops);
	for (size_t i = 0; i < all->n_ops; i++) {
		const size_t id = i % one->n_ops;
		must(fabs(all->end_s[i] - one->end_s[id]) <= 1e-12 * one->makespan_s,
		    "%s: operation %zu of rank %zu ends at %.17g s, folded %.17g", r.what, id, i / one->n_ops,
		    all->end_s[i], one->end_s[id]);
	}
}

START_TEST(folded_is_unfolded)
{
	static const double n_ranks[] = {2, 4, 8};
	for (unsigned long seed = 1; seed <= N_FOLDS * N_ELEMENTS(n_ranks); seed++) {
		draw_both(_i, seed);
		r.hw.gpus = other.hw.gpus = 8;
		r.in.batch.gpus = other.in.batch.gpus = n_ranks[seed % N_ELEMENTS(n_ranks)];
		r.in.is_unfolded = true;
		other.in.is_unfolded = false;
		random_trial_run(&r);
		random_trial_run(&other);
		compare_metrics(&r.trial.metrics, &other.trial.metrics);
		compare_ranks((size_t)r.in.batch.gpus);
	}
}
END_TEST

/* ---- determinism */

START_TEST(same_inputs_same_bytes)
{
	for (unsigned long seed = 1; seed <= N_REPEATS; seed++) {
		draw_both(_i, seed);
		random_trial_run(&r);
		random_trial_run(&other); /* a first run into fresh memory, then one into what the last left */
		random_trial_run(&other);
		const struct timeline *const a = &r.trial.timeline, *const b = &other.trial.timeline;
		must(a->n_ops == b->n_ops && !memcmp(a->start_s, b->start_s, a->n_ops * sizeof *a->start_s) &&
			!memcmp(a->end_s, b->end_s, a->n_ops * sizeof *a->end_s) &&
			!memcmp(a->order, b->order, 2 * a->n_ops * sizeof *a->order) &&
			!memcmp(a->cause, b->cause, a->n_ops * sizeof *a->cause) && !memcmp(a->limit, b->limit, a->n_ops),
		    "%s: another run differs", r.what);
		ck_assert_double_eq(r.trial.metrics.iteration_s, other.trial.metrics.iteration_s);
		ck_assert_str_eq(r.trial.policy, other.trial.policy);
	}
}
END_TEST

/* ---- monotony: not a theorem for greedy lists, so only where everything is one chain a lane in a fixed order */

static const char *const chains[] = {
    "gpu-only", "zero3-offload", "zero3-offload:flush=async", "twinflow:ratio=0.5", "twinflow:ratio=0.6,mode=parallel"};

START_TEST(faster_is_never_longer)
{
	static const char *const resources[] = {"cpu", "dram", "h2d", "d2h", "duplex", "gpu", "hbm", "cores", "net"};
	for (unsigned long seed = 1; seed <= N_MONOTONE; seed++) {
		draw_both(0, seed);
		struct err err = {0};
		const char *const resource = resources[random_below(&r, N_ELEMENTS(resources))];
		const double factor = random_between(&r, 1, 4);
		r.in.policy = other.in.policy = chains[_i];
		r.in.sharing = other.in.sharing = &sharing_none;
		ck_assert_int_eq(hwprofile_scale(&r.hw, resource, factor, &err), 0);
		random_trial_run(&r);
		random_trial_run(&other);
		must(r.trial.metrics.iteration_s <= other.trial.metrics.iteration_s * (1 + 1e-12),
		    "seed %lu, %s: %s %.3g times as fast takes %.17g instead of %.17g s", seed, chains[_i], resource,
		    factor, r.trial.metrics.iteration_s, other.trial.metrics.iteration_s);
	}
}
END_TEST

Suite *fold_suite(void);
Suite *fold_suite(void)
{
	Suite *const suite = suite_create("fold");
	TCase *const core = tcase_create("policies");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_loop_test(core, folded_is_unfolded, 0, n_policies());
	tcase_add_loop_test(core, same_inputs_same_bytes, 0, n_policies());
	tcase_add_loop_test(core, faster_is_never_longer, 0, (int)N_ELEMENTS(chains));
	suite_add_tcase(suite, core);
	return suite;
}
