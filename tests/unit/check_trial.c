/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The straight line as a whole: refusals, corner cases of every policy's options, its canonical SPEC, and threads that share nothing.
 */
#include <pthread.h>
#include <stdlib.h>

#include "tests/unit/audit.h"
#include "tests/unit/random_trial.h"
#include "tests/unit/test_util.h"

enum { N_THREADS = 4, N_SEEDS = 60 };

static struct random_trial r, other;

static void setup(void)
{
	random_trial_init(&r);
	random_trial_init(&other);
	random_trial_draw(&r, policy_all[0], 1);
}

static void teardown(void)
{
	random_trial_release(&r);
	random_trial_release(&other);
}

/* ---- refusals */

static const struct {
	const char *policy, *text;
} refusals[] = {
    {"doss", "did you mean 'dos'"},
    {"", "policy"},
    {"dos:strid=2", "strid"},
    {"dos:stride=-1", "stride"},
    {"dos:stride=two", "stride"},
    {"dos:stride=2,stride=3", "stride"},
    {"dos:ratio=1.5", "ratio"},
    {"dos:ratio=nan", "ratio"},
    {"dos:chain=fast", "published"},
    {"dos:buffers=2", "chain=duplex"},
    {"dos:grads=bf16,unscale=separate", "grads=fp32"},
    {"dos:workers=0", "workers"},
    {"hybrid:fraction=1.01", "fraction"},
    {"hybrid:fraction=0.5,mask=01", "not both"},
    {"hybrid:mask=012", "digits 0"},
    {"hybrid:mask=", "mask"},
    {"twinflow:ratio=-0.1", "ratio"},
    {"twinflow:mode=both", "serial"},
    {"zero3-offload:flush=never", "async"},
    {"gpu-only:flush=async", "flush"},
};

START_TEST(bad_policies_are_refused)
{
	struct err err = {0};
	r.in.policy = refusals[_i].policy;
	ck_assert_int_eq(trial_run(&r.trial, &r.in, &r.arena, &err), STATUS_USAGE);
	assert_has(err.text, refusals[_i].text);
}
END_TEST

START_TEST(more_gpus_than_there_are)
{
	struct err err = {0};
	r.in.policy = "gpu-only";
	r.in.batch.gpus = 5;
	ck_assert_int_eq(trial_run(&r.trial, &r.in, &r.arena, &err), STATUS_USAGE);
	assert_has(err.text, "--gpus 5");
}
END_TEST

START_TEST(gpus_are_the_profiles_when_not_given)
{
	r.in.policy = "gpu-only";
	r.in.batch.gpus = 0;
	random_trial_run(&r);
	ck_assert_double_eq(r.trial.workload.batch.gpus, r.hw.gpus);
}
END_TEST

/* ---- corners: they run, are sound, and some are the same as others */

static const char *const corners[] = {"dos:stride=0", "dos:stride=1", "dos:stride=1,chain=serial",
    "dos:stride=1,chain=duplex", "dos:stride=10000000", "dos:stride=2,ratio=0", "dos:stride=2,ratio=0,chain=duplex",
    "dos:stride=1,ratio=0.5", "dos:stride=2,chain=duplex,buffers=64", "dos:stride=2,downscale=fused",
    "dos:stride=2,flush=blocking", "dos", "hybrid", "hybrid:fraction=0", "hybrid:fraction=1", "hybrid:mask=0",
    "hybrid:mask=1", "hybrid:fraction=1,buffers=1,chain=serial", "hybrid:fraction=0.5,prefetch=backward",
    "hybrid:fraction=1,prefetch=backward,chain=published,buffers=1", "hybrid:fraction=1,flush=blocking", "twinflow:ratio=0",
    "twinflow:ratio=1", "twinflow:ratio=0,mode=parallel", "twinflow:ratio=1,mode=parallel", "zero3-offload", "gpu-only"};

START_TEST(corners_are_sound)
{
	static const double counts[] = {1, 2, 3, 7};
	for (size_t i = 0; i < 2 * N_ELEMENTS(counts) * 2; i++) {
		random_trial_draw(&r, policy_all[0], i + 1);
		snprintf(r.what, sizeof r.what, "seed %zu, %s", i + 1, corners[_i]);
		r.in.policy = corners[_i];
		r.in.batch.zero_stage = 3; /* some are the published chain */
		r.in.batch.n_subgroups = i % 2 ? counts[i / 2 % N_ELEMENTS(counts)] : 0;
		r.in.sharing = i < 2 * N_ELEMENTS(counts) ? &sharing_none : &sharing_fluid;
		random_trial_run(&r);
		audit_timeline(&r.trial.schedule, &r.trial.timeline, r.in.sharing == &sharing_none, r.what);
		ck_assert(r.trial.metrics.update_s > 0 && isfinite(r.trial.metrics.iteration_s));
		ck_assert(r.trial.metrics.gpu_fraction_frac >= 0 && r.trial.metrics.gpu_fraction_frac <= 1);
	}
}
END_TEST

static const char *const same[][2] = {
    {"dos:stride=0", "dos:stride=10000000"},
    {"hybrid:fraction=1", "hybrid:mask=1"},
    {"hybrid:fraction=0", "hybrid:mask=0"},
    {"hybrid:fraction=0.5", "hybrid:mask=01"},
    {"zero3-offload", "twinflow:ratio=1"},
    {"zero3-offload:flush=async", "twinflow:ratio=1,mode=parallel,flush=async"},
    {"hybrid:fraction=1,chain=serial,buffers=1", "hybrid:fraction=1,chain=serial,buffers=7"},
    {"hybrid:fraction=0", "hybrid:fraction=0,prefetch=backward"},
};

START_TEST(different_words_same_times)
{
	for (unsigned long seed = 1; seed <= 20; seed++) {
		random_trial_draw(&r, policy_all[0], seed);
		random_trial_draw(&other, policy_all[0], seed);
		r.in.policy = same[_i][0];
		other.in.policy = same[_i][1];
		r.in.batch.zero_stage = other.in.batch.zero_stage = 3;
		random_trial_run(&r);
		random_trial_run(&other);
		must(r.trial.metrics.iteration_s == other.trial.metrics.iteration_s,
		    "seed %lu: %s takes %.17g s, %s %.17g s", seed, same[_i][0], r.trial.metrics.iteration_s, same[_i][1],
		    other.trial.metrics.iteration_s);
	}
}
END_TEST

/* The canonical SPEC says everything: it gives the same result and is its own canonical SPEC. */
START_TEST(canonical_spec_says_all)
{
	for (unsigned long seed = 1; seed <= N_SEEDS; seed++) {
		random_trial_draw(&r, policy_all[_i], seed);
		random_trial_draw(&other, policy_all[_i], seed);
		random_trial_run(&r);
		other.in.policy = r.trial.policy;
		random_trial_run(&other);
		must(!strcmp(r.trial.policy, other.trial.policy), "%s: %s becomes %s", r.what, r.trial.policy,
		    other.trial.policy);
		must(r.trial.metrics.iteration_s == other.trial.metrics.iteration_s, "%s: %.17g s, as %s %.17g s", r.what,
		    r.trial.metrics.iteration_s, r.trial.policy, other.trial.metrics.iteration_s);
	}
}
END_TEST

/* Micro-batches beyond the fourth are extrapolated, which says the same as to simulate them. */
START_TEST(short_trials_say_the_same)
{
	for (unsigned long seed = 1; seed <= N_SEEDS; seed++) {
		struct err err = {0};
		struct metrics m;
		const char *policy;
		random_trial_draw(&r, policy_all[_i], seed);
		r.in.batch.n_subgroups = 0;
		r.in.batch.grad_accum = (double)(1 + seed % 23);
		random_trial_run(&r);
		random_trial_draw(&other, policy_all[_i], seed);
		other.in.batch = r.in.batch;
		ck_assert_int_eq(trial_run_short(&m, &policy, &other.in, &other.arena, &err), 0);
		ck_assert_str_eq(policy, r.trial.policy);
		must(fabs(m.iteration_s - r.trial.metrics.iteration_s) <= 1e-9 * m.iteration_s, "%s, %.0f micro-batches: %.17g s, short %.17g s",
		    r.what, r.in.batch.grad_accum, r.trial.metrics.iteration_s, m.iteration_s);
		must(m.gpu_peak_bytes == r.trial.metrics.gpu_peak_bytes && m.host_peak_bytes == r.trial.metrics.host_peak_bytes &&
		        m.fits == r.trial.metrics.fits,
		    "%s, %.0f micro-batches: other memory", r.what, r.in.batch.grad_accum);
	}
}
END_TEST

/* ---- threads */

struct work {
	unsigned long first;
	double iteration_s[N_SEEDS];
};

static void *run_all(void *data)
{
	struct work *const work = data;
	struct random_trial *const mine = xmalloc(1, sizeof *mine);
	random_trial_init(mine);
	for (unsigned long i = 0; i < N_SEEDS; i++) {
		const unsigned long seed = (work->first + i) % N_SEEDS; /* each thread in another order */
		random_trial_draw(mine, policy_all[seed % (unsigned long)n_policies()], seed);
		random_trial_run(mine);
		work->iteration_s[seed] = mine->trial.metrics.iteration_s;
	}
	random_trial_release(mine);
	free(mine);
	return NULL;
}

START_TEST(threads_share_nothing)
{
	static struct work works[N_THREADS + 1];
	pthread_t threads[N_THREADS];
	for (size_t i = 0; i < N_THREADS; i++) {
		works[i].first = 13 * i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, run_all, &works[i]), 0);
	}
	for (size_t i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	run_all(&works[N_THREADS]);
	for (size_t i = 0; i < N_THREADS; i++)
		ck_assert_mem_eq(works[i].iteration_s, works[N_THREADS].iteration_s, sizeof works[i].iteration_s);
}
END_TEST

Suite *trial_suite(void);
Suite *trial_suite(void)
{
	Suite *const suite = suite_create("trial");
	TCase *const core = tcase_create("core");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, gpus_are_the_profiles_when_not_given);
	tcase_add_loop_test(core, different_words_same_times, 0, (int)N_ELEMENTS(same));
	tcase_add_loop_test(core, canonical_spec_says_all, 0, n_policies());
	tcase_add_loop_test(core, short_trials_say_the_same, 0, n_policies());
	tcase_add_test(core, threads_share_nothing);
	suite_add_tcase(suite, core);
	TCase *const limits = tcase_create("limits");
	tcase_add_checked_fixture(limits, setup, teardown);
	tcase_add_loop_test(limits, corners_are_sound, 0, (int)N_ELEMENTS(corners));
	suite_add_tcase(suite, limits);
	TCase *const errors = tcase_create("errors");
	tcase_add_checked_fixture(errors, setup, teardown);
	tcase_add_loop_test(errors, bad_policies_are_refused, 0, (int)N_ELEMENTS(refusals));
	tcase_add_test(errors, more_gpus_than_there_are);
	suite_add_tcase(suite, errors);
	return suite;
}
