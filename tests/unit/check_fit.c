/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit.h"

#include "sim/sharing.h"
#include "sim/study/fit_say.h"
#include "tests/unit/test_util.h"

Suite *fit_suite(void);

static struct arena arena;
static struct err err;
static struct hwprofile truth;
static struct rows rows;
static struct fit_cases cases;
static struct fit_result result;

static const struct opt_list none = {0};

/* Runs of three phases and memory, an update at two sizes; what was measured is filled in by the truth. */
#define HEAD "id,hw,model,gpus,policy,subgroup,n_subgroups,threads,forward_s,backward_s,update_s,other_s,iteration_s,gpu_peak_bytes,exclude\n"
static const char runs[] = HEAD "zero3,m,7b,4,zero3-offload:flush=blocking,100M,,14,1,1,1,,,1,\n"
                                "flush,m,7b,4,zero3-offload:flush=async,100M,,14,1,1,1,,,1,\n"
                                "k2,m,7b,4,dos:stride=2,100M,,14,1,1,1,,,1,\n"
                                "k3,m,7b,4,dos:stride=3,100M,,14,1,1,1,,,1,\n"
                                "k6,m,7b,4,dos:stride=6,100M,,14,1,1,1,,,1,\n"
                                "one,m,7b,1,zero3-offload:flush=blocking,100M,,14,1,1,1,,,1,\n"
                                "one-k2,m,7b,1,dos:stride=2,100M,,14,1,1,1,,,1,\n";

static void add(const char *text)
{
	cases = (struct fit_cases){0};
	ck_assert_msg(rows_parse(&rows, "t.csv", text, strlen(text), &arena, &err) == 0, "%s", err.text);
	ck_assert_msg(fit_cases_add_rows(&cases, &rows, &none, &arena, &err) == 0, "%s", err.text);
}

static void setup(void)
{
	err = (struct err){0};
	ck_assert_msg(hwprofile_load(&truth, "hwprofiles/a100-4x.json", &arena, &err) == 0, "%s", err.text);
}

static void teardown(void)
{
	arena_release(&arena);
}

/* Measures the cases on the truth: exactly, times 1 + noise of a fixed pattern. */
static void measure(double noise_frac)
{
	static const double pattern[] = {1, -1, 0.5, -0.5, 0, 1, 0.5, -1, -0.5};
	struct fit_model m = {.start = &truth, .cases = cases.cases, .n_cases = cases.n, .sharing = &sharing_fluid};
	double *const predicted = arena_alloc(&arena, cases.n * QUANTITY_N, sizeof(*predicted));

	ck_assert_msg(fit_model_predict(predicted, &m, NULL, &err) == 0, "%s", err.text);
	for (size_t i = 0; i < cases.n * QUANTITY_N; i++) {
		double *const measured = &cases.cases[i / QUANTITY_N].measured[i % QUANTITY_N];
		if (!isnan(*measured))
			*measured = predicted[i] * (1 + noise_frac * pattern[i % N_ELEMENTS(pattern)]);
	}
	fit_model_release(&m);
}

static struct fit_options options_of(const struct opt_list *params)
{
	return (struct fit_options){.params = params, .noise_frac = 0.02, .leave = FIT_LEAVE_NONE, .sharing = &sharing_fluid};
}

static void run(const struct hwprofile *start, const struct fit_options *options)
{
	ck_assert_msg(fit_run(&result, start, &cases, options, &arena, &err) == 0, "%s", err.text);
}

static const struct fit_constant *constant(const char *name)
{
	for (size_t i = 0; i < result.n_constants; i++)
		if (strcmp(result.constants[i].param->name, name) == 0)
			return &result.constants[i];
	ck_abort_msg("%s is not among the constants", name);
}

/* A start whose constants are off by factors. */
struct off {
	const char *name;
	double factor;
};

static void perturb(struct hwprofile *start, const struct off *offs, size_t n)
{
	*start = truth;
	for (size_t i = 0; i < n; i++)
		fit_param_scale(start, fit_param_find(offs[i].name), offs[i].factor);
}

static const struct off offs[] = {{"dram_Bps", 1.5}, {"push_pageable_params_per_s", 0.6}, {"flush_pageable_params_per_s", 1.8},
    {"layer_forward_launch_s", 0.5}, {"reduce_params_per_s", 1.5}, {"gpu_reserved_bytes", 0.6}};
enum { N_OFFS = sizeof(offs) / sizeof(offs[0]) };

static struct opt_list names_of_offs(void)
{
	struct opt_list names = {0};

	for (size_t i = 0; i < N_OFFS; i++)
		opt_list_add(&names, offs[i].name, &arena);
	return names;
}

/* ---- recovery */

START_TEST(recovers_exactly)
{
	const struct opt_list names = names_of_offs();
	struct fit_options options = options_of(&names);
	struct hwprofile *const start = arena_alloc(&arena, 1, sizeof(*start));

	options.noise_frac = 1e-3; /* far below the prior */
	add(runs);
	measure(0);
	perturb(start, offs, N_OFFS);
	run(start, &options);
	ck_assert(result.has_converged);
	ck_assert_uint_eq(result.n_constants, N_OFFS);
	for (size_t i = 0; i < N_OFFS; i++) {
		const struct fit_constant *const k = constant(offs[i].name);
		ck_assert_int_eq(k->finding.state, FIT_ESTIMATED);
		assert_rel(k->start, fit_param_value(start, k->param), 0);
		assert_rel(k->estimate, fit_param_value(&truth, k->param), 2e-3);
	}
}
END_TEST

/* With noise on every value: constants that are identified lie within three standard errors of the truth. */
static void recover_with_noise(bool is_l1, const struct opt_list *names)
{
	struct fit_options options = options_of(names);
	struct hwprofile *const start = arena_alloc(&arena, 1, sizeof(*start));
	size_t n_estimated = 0;

	options.is_l1 = is_l1;
	add(runs);
	measure(0.01);
	perturb(start, offs, N_OFFS);
	run(start, &options);
	for (size_t i = 0; i < result.n_constants; i++) {
		const struct fit_constant *const k = &result.constants[i];
		const double off = log(k->estimate / fit_param_value(&truth, k->param));
		if (k->finding.state != FIT_ESTIMATED)
			continue;
		n_estimated++;
		ck_assert_msg(fabs(off) <= 3 * k->log_sd, "%s: off by %.3g, standard error %.3g", k->param->name, off, k->log_sd);
	}
	ck_assert_uint_ge(n_estimated, 5);
	for (size_t i = 0; i < result.n_residuals; i++)
		assert_rel(result.residuals[i].fitted, result.residuals[i].measured, 0.05);
}

START_TEST(recovers_within_errors)
{
	const struct opt_list names = names_of_offs();

	recover_with_noise(false, &none);
	recover_with_noise(true, &names);
}
END_TEST

/* One update measured half as long again: absolute errors follow it less than squares. */
START_TEST(l1_resists_an_outlier)
{
	struct opt_list names = {0};
	double off[2];

	opt_list_add(&names, "dram_Bps", &arena);
	struct fit_options options = options_of(&names);
	for (int is_l1 = 0; is_l1 < 2; is_l1++) {
		add(runs);
		measure(0);
		cases.cases[2].measured[QUANTITY_UPDATE] *= 1.5;
		options.is_l1 = is_l1;
		run(&truth, &options);
		off[is_l1] = fabs(log(constant("dram_Bps")->estimate / truth.dram_Bps));
	}
	ck_assert_msg(off[1] < 0.5 * off[0] && off[1] < 0.02, "l1 off by %.3g, l2 by %.3g", off[1], off[0]);
}
END_TEST

START_TEST(same_twice)
{
	const struct opt_list names = names_of_offs();
	const struct fit_options options = options_of(&names);
	struct hwprofile *const start = arena_alloc(&arena, 1, sizeof(*start));
	unsigned long long hashes[2];

	perturb(start, offs, N_OFFS);
	for (size_t i = 0; i < 2; i++) {
		add(runs);
		measure(0.01);
		run(start, &options);
		hashes[i] = result.hw->content_hash;
	}
	ck_assert(hashes[0] == hashes[1] && hashes[0] != start->content_hash);
}
END_TEST

/* ---- what runs cannot tell */

static const char updates[] = HEAD "a,m,,4,zero3-offload,10M,8,14,,,1,,,,\n"
                                   "b,m,,4,zero3-offload,20M,8,14,,,1,,,,\n";

START_TEST(says_what_is_not_identified)
{
	const struct fit_options options = options_of(&none);
	struct hwprofile *const start = arena_alloc(&arena, 1, sizeof(*start));
	const char **statements, *all = "";

	add(updates);
	measure(0);
	perturb(start, offs, 1);
	run(start, &options);
	const struct fit_constant *const dram = constant("dram_Bps"), *const bytes = constant("cpu_adam_bytes_per_param");
	ck_assert_int_eq(constant("gemm")->finding.state, FIT_NO_EFFECT);
	ck_assert_int_eq(constant("softmax_bytes_per_score")->finding.state, FIT_NO_EFFECT);
	ck_assert(dram->log_sd == 0 || bytes->log_sd == 0); /* one of the two stays: only their ratio shows */
	ck_assert(constant("gemm")->estimate == constant("gemm")->start && constant("gemm")->log_sd == 0);
	const size_t n = fit_statements(&statements, &result, &arena);
	for (size_t i = 0; i < n; i++)
		all = arena_printf(&arena, "%s%s\n", all, statements[i]);
	assert_has(all, "No prediction of these runs changes with, left at the start:");
	assert_has(all, "gemm");
	assert_has(all, dram->log_sd == 0 ? " dram_Bps" : " cpu_adam_bytes_per_param");
}
END_TEST

START_TEST(constants_of_memory_need_memory)
{
	const struct fit_options options = options_of(&none);

	add(updates);
	measure(0);
	run(&truth, &options);
	for (size_t i = 0; i < result.n_constants; i++)
		ck_assert(!result.constants[i].param->is_memory);
}
END_TEST

/* ---- bounds */

START_TEST(stays_within_bounds)
{
	struct opt_list names = {0};
	struct hwprofile *const start = arena_alloc(&arena, 1, sizeof(*start));

	opt_list_add(&names, "h2d_duplex_Bps", &arena);
	opt_list_add(&names, "d2h_duplex_Bps", &arena);
	opt_list_add(&names, "gemm", &arena);
	const struct fit_options options = options_of(&names);
	add(runs);
	measure(0);
	for (size_t c = 0; c < cases.n; c++)
		for (size_t q = 0; q <= QUANTITY_UPDATE; q++)
			cases.cases[c].measured[q] *= 0.2; /* faster than the machine can be */
	*start = truth;
	run(start, &options);
	ck_assert(result.hw->h2d_duplex_Bps <= curve_peak(&result.hw->h2d) * (1 + 1e-12));
	ck_assert(result.hw->d2h_duplex_Bps <= curve_peak(&result.hw->d2h) * (1 + 1e-12));
	ck_assert(curve_peak(&result.hw->gemm) <= truth.gpu_flop_per_s * (1 + 1e-12));
	ck_assert_int_eq(constant("gemm")->finding.state, FIT_AT_BOUND);
	ck_assert_msg(hwprofile_check(result.hw, "fitted", &err) == 0, "%s", err.text);
}
END_TEST

/* ---- left out */

START_TEST(leaves_out_runs_and_groups)
{
	const struct opt_list names = names_of_offs();
	struct fit_options options = options_of(&names);
	struct hwprofile *const start = arena_alloc(&arena, 1, sizeof(*start));

	perturb(start, offs, N_OFFS);
	for (int leave = FIT_LEAVE_RUN; leave <= FIT_LEAVE_NONE; leave++) {
		add(runs);
		measure(0.01);
		options.leave = (enum fit_leave)leave;
		run(start, &options);
		ck_assert_uint_eq(result.n_left_out, leave == FIT_LEAVE_RUN ? cases.n : leave == FIT_LEAVE_GROUP ? 2 : 0);
		for (size_t i = 0; i < result.n_residuals; i++)
			ck_assert(isnan(result.residuals[i].left_out) == (leave == FIT_LEAVE_NONE));
	}
	options.leave = FIT_LEAVE_RUN;
	options.has_jackknife = true;
	add(runs);
	measure(0.01);
	run(start, &options);
	ck_assert(constant("dram_Bps")->log_sd > 0 && constant("dram_Bps")->log_sd < 0.2);
}
END_TEST

/* ---- options */

START_TEST(wrong_options_and_runs)
{
	struct opt_list names = {0};
	const struct fit_options options = options_of(&names), all = options_of(&none);

	add(runs);
	opt_list_add(&names, "dram", &arena);
	ck_assert_int_eq(fit_run(&result, &truth, &cases, &options, &arena, &err), STATUS_USAGE);
	assert_has(err.text, "dram_Bps");
	assert_has(err.text, "stream_subgroup_s");
	cases.cases[1].input.policy = "dos:strid=2";
	ck_assert_int_eq(fit_run(&result, &truth, &cases, &all, &arena, &err), STATUS_USAGE);
	assert_has(err.text, "run 'flush'");
}
END_TEST

/* A start without softmax traffic has none to fit; asked for by name it starts at what is typical. */
START_TEST(typical_start)
{
	struct hwprofile *const start = arena_alloc(&arena, 1, sizeof(*start));
	struct opt_list names = {0};

	*start = truth;
	start->softmax_bytes_per_score = 0;
	add(updates);
	measure(0);
	struct fit_options options = options_of(&none);
	run(start, &options);
	for (size_t i = 0; i < result.n_constants; i++)
		ck_assert_str_ne(result.constants[i].param->name, "softmax_bytes_per_score");
	opt_list_add(&names, "+softmax_bytes_per_score", &arena);
	options.params = &names;
	run(start, &options);
	ck_assert_uint_gt(result.n_constants, 20);
	ck_assert(constant("softmax_bytes_per_score")->start == 11);
}
END_TEST

Suite *fit_suite(void)
{
	Suite *const suite = suite_create("fit");
	TCase *const core = tcase_create("core"), *const limits = tcase_create("limits");

	tcase_set_timeout(core, 300);
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, recovers_exactly);
	tcase_add_test(core, recovers_within_errors);
	tcase_add_test(core, l1_resists_an_outlier);
	tcase_add_test(core, same_twice);
	tcase_add_test(core, says_what_is_not_identified);
	tcase_add_test(core, leaves_out_runs_and_groups);
	suite_add_tcase(suite, core);
	tcase_set_timeout(limits, 300);
	tcase_add_checked_fixture(limits, setup, teardown);
	tcase_add_test(limits, constants_of_memory_need_memory);
	tcase_add_test(limits, stays_within_bounds);
	tcase_add_test(limits, wrong_options_and_runs);
	tcase_add_test(limits, typical_start);
	suite_add_tcase(suite, limits);
	return suite;
}
