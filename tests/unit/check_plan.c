/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plans against the simulation of every alternative, on small spaces; the same at any number of threads.
 */
#include "sim/study/plan.h"

#include <sys/resource.h>

#include "sim/study/plan_near.h"
#include "sim/study/plan_options.h"
#include "sim/study/plan_pay.h"
#include "sim/study/plan_sure.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

static struct hwprofile hw;
static struct plan_query query;
static struct opt_list specs;
static struct arena arena, scratch;
static struct err err;

static void setup(void)
{
	plain_machine(&hw);
	hw.gpus = 2;
	hw.gpu_memory_bytes = 6e9;
	hw.host_memory_bytes = 12e9;
	hw.pinned_max_bytes = INFINITY;
	hw.layer_forward_launch_s = 1e-3;
	hw.layer_backward_launch_s = 1e-3;
	specs = (struct opt_list){0};
	query = (struct plan_query){.hw = &hw, .sharing = &sharing_fluid, .n_workers = 1, .specs = &specs,
	    .shape = {.name = "small", .arch = ARCH_LLAMA, .layers = 3, .hidden = 1024, .heads = 8, .kv_heads = 8, .ffn = 4096,
		.vocab = 32000},
	    .batch = {.seq = 512, .subgroup_params = 1e7}};
}

static void teardown(void)
{
	arena_release(&arena);
	arena_release(&scratch);
}

static void search(struct plan *plan)
{
	const int code = plan_search(plan, &query, &arena, &err);
	ck_assert_msg(code == 0, "%s", err.text);
}

static void add(const char *spec)
{
	opt_list_add(&specs, spec, &arena);
}

/* Simulates an alternative as it is; INFINITY when it does not fit or is refused. */
static double s_per_token(const struct plan *plan, size_t batch, size_t variant)
{
	struct trial_input input;
	struct trial trial;

	arena_reset(&scratch);
	if (plan_input(&input, plan, batch, variant, &scratch, &err) || trial_run(&trial, &input, &scratch, &err))
		return INFINITY;
	return trial.metrics.fits ? trial.metrics.iteration_s / plan->space.batches[batch].tokens : INFINITY;
}

/* The best of every policy is that of all its alternatives. */
static void check_exhaustively(const struct plan *plan)
{
	double least[16];

	ck_assert_uint_le(plan->space.n_policies, 16);
	for (size_t i = 0; i < plan->space.n_policies; i++)
		least[i] = INFINITY;
	for (size_t batch = 0; batch < plan->space.n_batches; batch++)
		for (size_t v = 0; v < plan->space.n_variants; v++) {
			const size_t policy = plan->space.variants[v].policy;
			least[policy] = fmin(least[policy], s_per_token(plan, batch, v));
		}
	for (size_t i = 0; i < plan->space.n_policies; i++) {
		const struct plan_policy *const p = &plan->policies[i];
		ck_assert_msg(p->has_best == isfinite(least[i]), "%s", p->policy->name);
		if (p->has_best)
			assert_rel(p->best.s_per_token, least[i], 1e-9);
	}
}

static void check_counts(const struct plan *plan)
{
	const struct plan_counts *const c = &plan->counts;

	ck_assert_uint_eq(c->n, plan->space.n_batches * plan->space.n_variants);
	ck_assert_uint_eq(c->n, c->n_refused + c->n_unfit + c->n_slower_batch + c->n_slower + c->n_simulated);
}

START_TEST(best_is_that_of_exhaustive_search)
{
	static const char *const lists[] = {"dos", "hybrid:buffers=1;3", "twinflow", "zero3-offload", "gpu-only"};
	struct plan plan;

	hw.gpu_memory_bytes = _i == 0 ? 6e9 : _i == 1 ? 3e9 : 2e9;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		add(lists[i]);
	query.batch.mbs = _i == 2 ? 2 : 0;
	query.keeps_words = true;
	search(&plan);
	check_counts(&plan);
	check_exhaustively(&plan);
	ck_assert_uint_lt(plan.counts.n_simulated, plan.counts.n);
}
END_TEST

/* All on the GPU under another name is planned only where gpu-only is not: no alternative is lost, none stands there twice. */
START_TEST(gpu_only_under_its_own_name)
{
	static const char *const disguises[] = {"dos:ratio=0", "twinflow:ratio=0", "dos:stride=0,chain=duplex,ratio=0;1"};
	struct trial_input input;
	struct plan plan;

	hw.gpu_memory_bytes = 20e9;
	query.batch.mbs = 1;
	query.keeps_words = true;
	add(disguises[_i]);
	search(&plan);
	ck_assert(plan.best == 0 && plan.counts.n_refused == 0);
	ck_assert(plan.policies[0].best.metrics.host_peak_bytes == 0); /* it is */
	specs = (struct opt_list){0};
	add(disguises[_i]);
	add("gpu-only");
	search(&plan);
	check_counts(&plan);
	ck_assert_str_eq(plan.policies[plan.best].policy->name, "gpu-only");
	const size_t n_disguises = (plan.space.n_variants - 1) / (_i == 2 ? 2 : 1); /* with ratio=1 it is something else */
	ck_assert_uint_eq(plan.counts.n_refused, plan.space.n_batches * n_disguises);
	ck_assert(plan.policies[0].has_best == (_i == 2));
	if (_i == 2) {
		ck_assert_int_eq(plan_input(&input, &plan, plan.policies[0].best.batch, plan.policies[0].best.variant, &arena, &err), 0);
		assert_has(input.policy, "ratio=1");
	} else {
		ck_assert_str_eq(plan.policies[0].refusal, "every subgroup is on the GPU, as with gpu-only");
	}
}
END_TEST

/* Accumulation: what is extrapolated while searching is what a simulation of all micro-batches gives. */
START_TEST(accumulation_is_searched_exactly)
{
	struct plan plan;

	add("dos:stride=0;2;3,ratio=1,buffers=1");
	add("hybrid:fraction=0.5,buffers=2,prefetch=step;backward");
	add("zero3-offload");
	query.tokens_per_batch = 2 * 512 * 12;
	search(&plan);
	check_counts(&plan);
	check_exhaustively(&plan);
	for (size_t i = 0; i < plan.space.n_batches; i++)
		ck_assert_double_eq(plan.space.batches[i].tokens, query.tokens_per_batch);
}
END_TEST

START_TEST(threads_change_nothing)
{
	struct plan one, many;

	query.keeps_words = true;
	search(&one);
	query.n_workers = 5;
	search(&many);
	ck_assert_mem_eq(&one.counts, &many.counts, sizeof(one.counts));
	ck_assert_uint_eq(one.best, many.best);
	for (size_t i = 0; i < one.space.n_policies; i++) {
		const struct plan_policy *const a = &one.policies[i], *const b = &many.policies[i];
		ck_assert_uint_eq(a->has_best, b->has_best);
		ck_assert(!a->has_best || (a->best.batch == b->best.batch && a->best.variant == b->best.variant));
		ck_assert(!a->has_best || a->best.s_per_token == b->best.s_per_token);
	}
}
END_TEST

START_TEST(nothing_fits)
{
	struct plan plan;

	hw.gpu_memory_bytes = 1e8;
	query.batch.mbs = 1;
	query.keeps_words = true;
	search(&plan);
	ck_assert_uint_eq(plan.best, plan.space.n_policies);
	for (size_t i = 0; i < plan.space.n_policies; i++) {
		ck_assert(plan.policies[i].has_misfit && !plan.policies[i].misfit.metrics.fits);
		ck_assert_double_gt(plan_shortage(&plan.policies[i].misfit.metrics, &hw, POOL_GPU), 0);
	}
}
END_TEST

/* What is missing over the limits, of an alternative as it is. */
static double short_frac(const struct plan *plan, size_t batch, size_t variant)
{
	struct trial_input input;
	struct trial trial;

	arena_reset(&scratch);
	if (plan_input(&input, plan, batch, variant, &scratch, &err) || trial_run(&trial, &input, &scratch, &err))
		return INFINITY;
	return plan_shortage(&trial.metrics, &hw, POOL_GPU) / hw.gpu_memory_bytes +
	    plan_shortage(&trial.metrics, &hw, POOL_HOST) / hw.host_memory_bytes;
}

static const struct {
	double gpu_bytes, host_bytes;
} limits[] = {{4e8, 1e9}, {3e8, 12e9}, {7e8, 12e9}, {1e9, 5e8}, {6e8, 2e9}, {2e9, 1e8}};

/* The misfit that is shown is short of the least of all. */
START_TEST(misfit_is_the_nearest)
{
	struct plan plan;

	hw.gpu_memory_bytes = limits[_i].gpu_bytes;
	hw.host_memory_bytes = limits[_i].host_bytes;
	query.keeps_words = true;
	query.batch.subgroup_params = 0;
	search(&plan);
	for (size_t b = 0; b < plan.space.n_batches; b++)
		for (size_t v = 0; v < plan.space.n_variants; v++)
			if (!plan.policies[plan.space.variants[v].policy].has_best)
				ck_assert_double_ge(short_frac(&plan, b, v), plan.policies[plan.space.variants[v].policy].shortage_frac - 1e-9);
	for (size_t i = 0; i < plan.space.n_policies; i++)
		if (!plan.policies[i].has_best)
			assert_rel(plan.policies[i].shortage_frac, short_frac(&plan, plan.policies[i].misfit.batch,
			    plan.policies[i].misfit.variant), 1e-9);
}
END_TEST

/* However many are tried and however long their accumulation is. */
START_TEST(misfits_leave_no_memory)
{
	const double most_kB = 700e3; /* one at a time takes 0.25 GB, all of them took 1 */
	struct plan plan;
	struct rusage before, after;

	hw.gpu_memory_bytes = 1e8;
	query.batch.mbs = 1;
	query.tokens_per_batch = 4096 * 3072;
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
	search(&plan);
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
	ck_assert_uint_eq(plan.best, plan.space.n_policies);
	ck_assert_double_le((double)(after.ru_maxrss - before.ru_maxrss), most_kB);
}
END_TEST

START_TEST(batch_must_divide)
{
	struct plan plan;

	query.tokens_per_batch = 1000;
	ck_assert_int_eq(plan_search(&plan, &query, &arena, &err), STATUS_USAGE);
	assert_has(err.text, "a multiple of 1024");
	query.tokens_per_batch = 4096;
	query.batch.mbs = 3;
	ck_assert_int_eq(plan_search(&plan, &query, &arena, &err), STATUS_USAGE);
	query.tokens_per_batch = 0;
	query.batch.n_subgroups = 4;
	ck_assert_int_eq(plan_search(&plan, &query, &arena, &err), STATUS_USAGE);
}
END_TEST

/* ---- around the best */

START_TEST(single_changes_are_no_faster)
{
	struct plan_near near;
	struct plan plan;

	query.keeps_words = true;
	search(&plan);
	ck_assert_int_eq(plan_near_find(&near, &plan, &arena, &err), 0);
	ck_assert_uint_gt(near.n, 2);
	for (size_t i = 0; i < near.n; i++)
		if (near.changes[i].choice.metrics.fits)
			ck_assert_double_ge(near.changes[i].choice.s_per_token, plan.policies[plan.best].best.s_per_token);
}
END_TEST

START_TEST(no_offload_needs_more_gpus)
{
	struct plan_pay pay, nodes;
	struct plan plan;

	hw.gpus = 1;
	hw.gpu_memory_bytes = 1.5e9;
	query.keeps_words = true;
	query.batch.mbs = 1;
	hw.host_memory_bytes = 40e9;
	search(&plan);
	ck_assert_uint_lt(plan.best, plan.space.n_policies);
	ck_assert_int_eq(plan_pay_find(&pay, &plan, &arena, &err), 0);
	ck_assert(pay.is_found && pay.metrics.fits);
	ck_assert_double_gt(pay.gpus, 1);
	assert_rel(pay.gpu_s_per_token, pay.gpus * pay.s_per_token, 1e-12);
	assert_rel(pay.tokens, pay.gpus * 512, 1e-12);
	hw.network_Bps = 1e9; /* then the others are nodes, and the network is what it is */
	search(&plan);
	ck_assert_int_eq(plan_pay_find(&nodes, &plan, &arena, &err), 0);
	ck_assert(nodes.has_network && nodes.input.batch.nodes == nodes.machines && nodes.gpus == pay.gpus && nodes.tokens == pay.tokens);
	ck_assert_double_gt(nodes.s_per_token, 2 * pay.s_per_token);
}
END_TEST

/* A machine of which all is known, and a model that is off by so much. */
static void be_sure(struct plan_sure *sure, struct plan *plan, struct plan_near *near, double log_sd, double own_log_sd)
{
	struct uncertainty *const u = arena_zalloc(&arena, 1, sizeof(*u));
	const struct plan_pay none = {.is_found = false};

	search(plan);
	ck_assert_uint_lt(plan->best, plan->space.n_policies);
	ck_assert_int_eq(plan_near_find(near, plan, &arena, &err), 0);
	u->n_samples = 400;
	u->n_workers = 2;
	u->discrepancy.log_sd[QUANTITY_ITERATION] = log_sd;
	u->discrepancy.own_log_sd[QUANTITY_ITERATION] = own_log_sd;
	ck_assert_msg(plan_sure_find(sure, plan, near, &none, u, &arena, &err) == 0, "%s", err.text);
}

START_TEST(all_is_known)
{
	struct plan_sure sure;
	struct plan plan;
	struct plan_near near;

	query.batch.mbs = 2;
	be_sure(&sure, &plan, &near, 0, 0);
	for (size_t i = 0; i < plan.space.n_policies; i++) {
		ck_assert(sure.policies[i].p_best == (i == plan.best ? 1 : 0));
		ck_assert(sure.policies[i].p_faster == 0);
	}
	ck_assert(sure.p_best_unchanged == 1 && isnan(sure.p_pays));
	const struct interval *const v = &sure.policies[plan.best].of[QUANTITY_ITERATION];
	ck_assert(v->lo == v->hi && v->lo == plan.policies[plan.best].best.metrics.iteration_s);
}
END_TEST

/* What is as fast is as probable; what is far slower is not; and what a draw is the best of adds up. */
START_TEST(near_ones_are_open)
{
	const double log_sd = 0.01, alike = 1e-9, far = 0.05; /* 3.5 standard deviations of a difference */
	struct plan_sure sure;
	struct plan plan;
	struct plan_near near;
	size_t n_alike = 0, n_far = 0;

	query.batch.mbs = 2;
	add("dos");
	be_sure(&sure, &plan, &near, log_sd, log_sd);
	double sum = sure.p_best_unchanged;
	for (size_t i = 0; i < near.n; i++) {
		const struct plan_choice *const choice = &near.changes[i].choice;
		const double slower_frac = choice->s_per_token / plan.policies[plan.best].best.s_per_token - 1;
		const double p = sure.changes[i].p_faster;
		sum += sure.changes[i].p_best;
		n_alike += choice->metrics.fits && slower_frac < alike;
		n_far += choice->metrics.fits && slower_frac > far;
		if (!choice->metrics.fits)
			ck_assert(p == 0 && sure.changes[i].p_fits == 0);
		else if (slower_frac < alike)
			ck_assert_msg(fabs(p - 0.5) < 0.13, "%s: %g", near.changes[i].text, p); /* 5 standard errors */
		else if (slower_frac > far)
			ck_assert_msg(p < 0.01 && !outcome_is_open(&sure.changes[i]), "%s: %g", near.changes[i].text, p);
	}
	ck_assert_uint_gt(n_alike, 0);
	ck_assert_uint_gt(n_far, 0);
	assert_rel(sum, 1, 1e-12);
	ck_assert(outcome_is_open(&(struct outcome){.p_faster = 0.5}) && !outcome_is_open(&(struct outcome){.p_faster = 0}));
}
END_TEST

/* ---- options */

static struct opt_list options(const char *spec, bool has_words)
{
	struct opt_list list = {0};
	const int code = plan_options(&list, spec, 4, has_words, &arena, &err);

	ck_assert_msg(code == 0, "%s", err.text);
	return list;
}

START_TEST(open_options_are_searched)
{
	ck_assert_uint_eq(options("gpu-only", true).n, 1);
	ck_assert_uint_eq(options("zero3-offload", true).n, 2);
	ck_assert_uint_eq(options("twinflow", true).n, 4);
	ck_assert_uint_eq(options("twinflow:mode=serial", true).n, 2);
	ck_assert_uint_eq(options("twinflow", false).n, 1);
	ck_assert_str_eq(options("twinflow:ratio=0.5", false).items[0], "twinflow:ratio=0.5");
	ck_assert_str_eq(options("dos", false).items[0], "dos:stride=0;1;2;3;4,buffers=1,ratio=0;0.1;0.2;0.3;0.4;0.5;0.6;0.7;0.8;0.9;1");
	ck_assert_str_eq(options("dos:chain=duplex,ratio=1,stride=2", false).items[0],
	    "dos:chain=duplex,ratio=1,stride=2,buffers=1;2;3;4");
	ck_assert_int_eq(plan_options(&specs, "nothing", 4, true, &arena, &err), STATUS_USAGE);
}
END_TEST

/* Every SPEC of every policy is one that the policy accepts, without its lists. */
START_TEST(options_of_all_policies_are_accepted)
{
	for (size_t i = 0; policy_all[i]; i++) {
		struct plan plan;
		specs = (struct opt_list){0};
		add(policy_all[i]->name);
		query.batch.mbs = 1;
		search(&plan);
		ck_assert_uint_eq(plan.counts.n_refused, 0);
	}
}
END_TEST

Suite *plan_suite(void);
Suite *plan_suite(void)
{
	Suite *const suite = suite_create("plan");
	TCase *const core = tcase_create("core"), *const around = tcase_create("around"), *const space = tcase_create("options");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_set_timeout(core, 120);
	tcase_add_loop_test(core, best_is_that_of_exhaustive_search, 0, 3);
	tcase_add_test(core, accumulation_is_searched_exactly);
	tcase_add_loop_test(core, gpu_only_under_its_own_name, 0, 3);
	tcase_add_test(core, threads_change_nothing);
	tcase_add_test(core, nothing_fits);
	tcase_add_loop_test(core, misfit_is_the_nearest, 0, N_ELEMENTS(limits));
	tcase_add_test(core, misfits_leave_no_memory);
	tcase_add_test(core, batch_must_divide);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(around, setup, teardown);
	tcase_set_timeout(around, 60);
	tcase_add_test(around, single_changes_are_no_faster);
	tcase_add_test(around, no_offload_needs_more_gpus);
	tcase_add_test(around, all_is_known);
	tcase_add_test(around, near_ones_are_open);
	suite_add_tcase(suite, around);
	tcase_add_checked_fixture(space, setup, teardown);
	tcase_set_timeout(space, 60);
	tcase_add_test(space, open_options_are_searched);
	tcase_add_test(space, options_of_all_policies_are_accepted);
	suite_add_tcase(suite, space);
	return suite;
}
