/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The engine without contention against the recurrences of MODEL.md, on random machines and random unequal subgroups, for every
 * policy and every option that its time depends on. E8-E14
 */
#include <gsl/gsl_rng.h>

#include "model/closed_form.h"
#include "sim/engine.h"
#include "sim/iteration.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

enum { N_SUBGROUPS_MAX = 40, SPEC_MAX = 256 };

struct trial_case {
	unsigned long seed;
	gsl_rng *rng;
	struct hwprofile hw;
	struct subgroup subgroups[N_SUBGROUPS_MAX];
	struct workload workload;
	char spec[SPEC_MAX];
};

/* Log-uniform in [low, high). */
static double random_between(struct trial_case *t, double low, double high)
{
	return low * pow(high / low, gsl_rng_uniform(t->rng));
}

static size_t random_below(struct trial_case *t, size_t n)
{
	return gsl_rng_uniform_int(t->rng, n);
}

static bool random_bool(struct trial_case *t)
{
	return random_below(t, 2) == 1;
}

/* A curve with latency, so that three copies of a third take longer than one. */
static void random_transfer(struct trial_case *t, struct curve *curve)
{
	const double latency_s = random_bool(t) ? 0 : random_between(t, 1e-6, 1e-2), Bps = random_between(t, 2e9, 200e9);
	*curve = (struct curve){.kind = CURVE_TRANSFER, .n_points = 3, .x = {1e3, 1e6, 1e11}};
	for (size_t i = 0; i < curve->n_points; i++)
		curve->rate[i] = curve->x[i] / (latency_s + curve->x[i] / Bps);
}

/* Rates over two decades, so that every lane is the slowest at times, the GPU included. */
static void random_machine(struct trial_case *t)
{
	plain_machine(&t->hw);
	random_transfer(t, &t->hw.h2d);
	random_transfer(t, &t->hw.d2h);
	plain_curve(&t->hw.cpu_adam, CURVE_THREADS, random_between(t, 1e8, 2e10));
	plain_curve(&t->hw.cpu_unscale, CURVE_THREADS, random_between(t, 1e9, 1e11));
	plain_curve(&t->hw.cpu_downscale, CURVE_THREADS, random_between(t, 2e8, 1e11));
	t->hw.gpu_adam_params_per_s = random_between(t, 1e9, 2e11);
	t->hw.hbm_Bps = random_between(t, 1e10, 5e12);
	t->hw.push_pageable_params_per_s = random_between(t, 1e8, 1e10);
	t->hw.cpu_subgroup_s = random_bool(t) ? 0 : random_between(t, 1e-5, 1e-2);
	t->hw.stream_subgroup_s = random_bool(t) ? 0 : random_between(t, 1e-5, 1e-2);
	t->hw.h2d_duplex_Bps = t->hw.d2h_duplex_Bps = random_between(t, 1e9, 1e11);
}

static double power_of_two(struct trial_case *t)
{
	return ldexp(1, -(int)random_below(t, 5));
}

/* Times that are powers of two, exact in floating point: many operations are ready at one instant. */
static void random_ties(struct trial_case *t)
{
	const double n_params = 0x1p27, copy_bytes = (random_bool(t) ? 4 : 12) * n_params;
	plain_curve(&t->hw.h2d, CURVE_TRANSFER, copy_bytes / power_of_two(t));
	plain_curve(&t->hw.d2h, CURVE_TRANSFER, copy_bytes / power_of_two(t));
	plain_curve(&t->hw.cpu_adam, CURVE_THREADS, n_params / power_of_two(t));
	plain_curve(&t->hw.cpu_unscale, CURVE_THREADS, n_params / power_of_two(t));
	plain_curve(&t->hw.cpu_downscale, CURVE_THREADS, n_params / power_of_two(t));
	t->hw.gpu_adam_params_per_s = n_params / power_of_two(t);
	t->hw.hbm_Bps = 6 * n_params / power_of_two(t);
	t->hw.cpu_subgroup_s = t->hw.stream_subgroup_s = 0;
	plain_subgroups(t->subgroups, t->workload.n_subgroups, n_params);
	plain_update(&t->workload, t->subgroups, t->workload.n_subgroups);
}

static void random_update(struct trial_case *t)
{
	const size_t n = 1 + random_below(t, N_SUBGROUPS_MAX);
	const double spread = random_below(t, 3) == 0 ? 1 : random_between(t, 1.1, 100);
	for (size_t x = 0; x < n; x++)
		t->subgroups[x].n_params = floor(random_between(t, 1e7, 1e7 * spread * 1.0001));
	plain_update(&t->workload, t->subgroups, n);
	if (random_below(t, 4) == 0)
		random_ties(t);
}

/* The update phase of the policy by the engine. */
static double engine_update_s(const struct trial_case *t, struct arena *arena)
{
	struct policy_use use;
	struct cost cost;
	struct schedule schedule;
	struct timeline timeline;
	struct err err = {0};
	ck_assert_msg(policy_use_parse(&use, t->spec, arena, &err) == 0, "%s: %s", t->spec, err.text);
	if (use.policy->resolve)
		use.policy->resolve(use.params, &t->hw, &t->workload, 0);
	enum place *const places = arena_alloc(arena, t->workload.n_subgroups, sizeof *places);
	use.policy->place(places, use.params, &t->workload);
	cost_init(&cost, &t->hw, &t->workload, 0, 0);
	schedule_init(&schedule, &cost, arena);
	const struct iteration_plan plan = {
	    .workload = &t->workload, .use = &use, .places = places, .sync = SYNC_PHASE, .n_iterations = 1, .n_ranks = 1};
	iteration_build(&schedule, &plan);
	schedule_check(&schedule);
	engine_run(&timeline, &schedule, &sharing_none, arena);
	return timeline.end_s[schedule.marks[PHASE_UPDATE]] - timeline.end_s[schedule.marks[PHASE_BACKWARD]];
}

static void compare(const struct trial_case *t, double want_s)
{
	struct arena arena = {0};
	const double got_s = engine_update_s(t, &arena);
	arena_release(&arena);
	ck_assert_msg(fabs(got_s - want_s) <= 1e-9 * want_s,
	    "seed %lu, %zu subgroups, %s: engine %.12g s, recurrence %.12g s", t->seed, t->workload.n_subgroups, t->spec,
	    got_s, want_s);
}

/* Options that dos and hybrid share; appends them to the spec. */
static void random_options(struct trial_case *t, struct interleave *how)
{
	const size_t at = strlen(t->spec);
	how->chain = (enum chain)random_below(t, 3);
	how->downscale = (enum downscale)random_below(t, 4);
	if (how->downscale == DOWNSCALE_SPLIT && how->chain == CHAIN_PUBLISHED)
		how->chain = random_bool(t) ? CHAIN_SERIAL : CHAIN_DUPLEX;
	how->has_bf16_grads = random_bool(t);
	how->has_separate_unscale = !how->has_bf16_grads && random_bool(t);
	how->buffers = how->chain == CHAIN_DUPLEX ? 1 + random_below(t, 4) : 1;
	snprintf(t->spec + at, SPEC_MAX - at, ",chain=%s,downscale=%s,grads=%s,unscale=%s,buffers=%zu",
	    chain_names[how->chain], downscale_names[how->downscale], how->has_bf16_grads ? "bf16" : "fp32",
	    how->has_separate_unscale ? "separate" : "fused", how->buffers);
}

static void case_dos(struct trial_case *t, const struct cost *cost)
{
	const size_t n = t->workload.n_subgroups;
	struct interleave how = {.waits_for_fetch = true, .stride = random_below(t, random_bool(t) ? 5 : n + 3)};
	const double ratio = random_bool(t) ? 1 : floor(20 * gsl_rng_uniform(t->rng)) / 20;
	how.n_dynamic = (size_t)(ratio * (double)n + 1e-9);
	snprintf(t->spec, SPEC_MAX, "dos:stride=%zu,ratio=%g", how.stride, ratio);
	random_options(t, &how);
	compare(t, recurrence_interleave_s(cost, &t->workload, &how)); /* E10-E13 */
}

static void case_hybrid(struct trial_case *t, const struct cost *cost)
{
	const size_t n = t->workload.n_subgroups;
	bool on_gpu[N_SUBGROUPS_MAX];
	struct interleave how = {.on_gpu = on_gpu, .n_dynamic = n};
	const double share = gsl_rng_uniform(t->rng);
	size_t at = (size_t)snprintf(t->spec, SPEC_MAX, "hybrid:mask=");
	for (size_t x = 0; x < n; x++) {
		on_gpu[x] = gsl_rng_uniform(t->rng) < share;
		t->spec[at++] = on_gpu[x] ? '1' : '0';
	}
	t->spec[at] = '\0';
	random_options(t, &how);
	compare(t, recurrence_interleave_s(cost, &t->workload, &how)); /* E14 */
}

static void case_fraction(struct trial_case *t, const struct cost *cost)
{
	const size_t n = t->workload.n_subgroups;
	bool on_gpu[N_SUBGROUPS_MAX];
	struct interleave how = {.on_gpu = on_gpu, .n_dynamic = n};
	const double fraction = floor(100 * gsl_rng_uniform(t->rng)) / 100;
	for (size_t x = 0; x < n; x++)
		on_gpu[x] = floor((double)(x + 1) * fraction + 1e-6) > floor((double)x * fraction + 1e-6);
	snprintf(t->spec, SPEC_MAX, "hybrid:fraction=%g", fraction);
	random_options(t, &how);
	compare(t, recurrence_interleave_s(cost, &t->workload, &how)); /* E14 */
}

static void case_sums(struct trial_case *t, const struct cost *cost)
{
	const size_t n = t->workload.n_subgroups, tenths = random_below(t, 11);
	const size_t n_cpu = (size_t)((double)tenths / 10 * (double)n + 1e-9);
	strcpy(t->spec, "zero3-offload");
	compare(t, recurrence_zero3_s(cost, &t->workload)); /* E9 */
	strcpy(t->spec, "gpu-only");
	compare(t, recurrence_gpu_only_s(cost, &t->workload)); /* E9 */
	snprintf(t->spec, SPEC_MAX, "twinflow:ratio=%g,mode=serial", (double)tenths / 10);
	compare(t, recurrence_twinflow_s(cost, &t->workload, n_cpu, false)); /* E9 */
	snprintf(t->spec, SPEC_MAX, "twinflow:ratio=%g,mode=parallel", (double)tenths / 10);
	compare(t, recurrence_twinflow_s(cost, &t->workload, n_cpu, true)); /* E9 */
}

static void check_cases(void (*run_case)(struct trial_case *, const struct cost *), size_t n_cases)
{
	struct trial_case t;
	t.rng = gsl_rng_alloc(gsl_rng_taus2);
	for (t.seed = 1; t.seed <= n_cases; t.seed++) {
		gsl_rng_set(t.rng, t.seed);
		random_machine(&t);
		random_update(&t);
		struct cost cost;
		cost_init(&cost, &t.hw, &t.workload, 0, 0);
		run_case(&t, &cost);
	}
	gsl_rng_free(t.rng);
}

START_TEST(engine_is_the_recurrence_of_dos)
{
	check_cases(case_dos, 4000);
}
END_TEST

START_TEST(engine_is_the_recurrence_of_hybrid)
{
	check_cases(case_hybrid, 3000);
	check_cases(case_fraction, 1000);
}
END_TEST

START_TEST(engine_is_the_sum_of_serial_schedules)
{
	check_cases(case_sums, 300);
}
END_TEST

Suite *equation_suite(void);
Suite *equation_suite(void)
{
	Suite *const suite = suite_create("equation");
	TCase *const property = tcase_create("property");
	tcase_add_test(property, engine_is_the_recurrence_of_dos);
	tcase_add_test(property, engine_is_the_recurrence_of_hybrid);
	tcase_add_test(property, engine_is_the_sum_of_serial_schedules);
	suite_add_tcase(suite, property);
	return suite;
}
