/* SPDX-License-Identifier: GPL-3.0-or-later
 * Workloads that are refused, and extremes that are not. */
#include "model/workload.h"

#include "tests/unit/test_util.h"

static struct arena arena;

static void teardown(void)
{
	arena_release(&arena);
}

static struct workload build(const struct shape *shape, const struct batch *batch)
{
	struct workload workload;
	struct err err = {0};

	ck_assert_msg(workload_build(&workload, shape, batch, &arena, &err) == 0, "%s", err.text);
	return workload;
}

/* ---- what is refused */

struct refusal {
	const char *message;
	struct shape shape;
	struct batch batch;
};
#define SMALL .arch = ARCH_LLAMA, .layers = 2, .hidden = 64, .heads = 4, .ffn = 128, .vocab = 100
/* overriding a member of SMALL is what these rows are for */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct refusal refusals[] = {
    {"--gpus", {SMALL}, {.gpus = 0}},
    {"--gpus", {SMALL}, {.gpus = 1.5}},
    {"--gpus", {SMALL}, {.gpus = 1e9}},
    {"--gpus", {SMALL}, {.gpus = NAN}},
    {"--mbs", {SMALL}, {.gpus = 1, .mbs = -1}},
    {"--mbs", {SMALL}, {.gpus = 1, .mbs = INFINITY}},
    {"--grad-accum", {SMALL}, {.gpus = 1, .grad_accum = 0.5}},
    {"--seq", {SMALL}, {.gpus = 1, .seq = 1e12}},
    {"--subgroup", {SMALL}, {.gpus = 1, .subgroup_params = 0.1}},
    {"--subgroup", {SMALL}, {.gpus = 1, .subgroup_params = 1e16}},
    {"--n-subgroups", {SMALL}, {.gpus = 1, .n_subgroups = -3}},
    {"--n-subgroups", {SMALL}, {.gpus = 1, .n_subgroups = 2e7 + 1}},
    {"--n-subgroups", {SMALL}, {.gpus = 1, .n_subgroups = 1e7, .subgroup_params = 1e15}},
    {"--layers", {SMALL, .layers = 0}, {.gpus = 1}},
    {"--layers", {SMALL, .layers = 2.5}, {.gpus = 1}},
    {"--layers", {SMALL, .layers = 1e9}, {.gpus = 1}},
    {"--layers", {SMALL, .layers = 1e7}, {.gpus = 1}}, /* 7e7 tensors */
    {"--hidden", {SMALL, .hidden = 0}, {.gpus = 1}},
    {"--hidden", {SMALL, .hidden = -64}, {.gpus = 1}},
    {"--heads", {SMALL, .heads = 0, .kv_heads = 1}, {.gpus = 1}},
    {"--heads 5", {SMALL, .heads = 5}, {.gpus = 1}},
    {"--kv-heads 3", {SMALL, .kv_heads = 3}, {.gpus = 1}},
    {"--kv-heads 8", {SMALL, .kv_heads = 8}, {.gpus = 1}},
    {"--ffn", {SMALL, .ffn = 0}, {.gpus = 1}},
    {"--vocab", {SMALL, .vocab = 0}, {.gpus = 1}},
    {"positions", {SMALL, .positions = -1}, {.gpus = 1}},
    {"head_dim", {SMALL, .head_dim = 0.5}, {.gpus = 1}},
    {"parameters", {SMALL, .hidden = 1e8, .ffn = 1e9, .layers = 1000}, {.gpus = 1}},
};
#pragma GCC diagnostic pop

START_TEST(refused)
{
	struct workload workload;
	struct err err = {0};

	ck_assert_int_eq(workload_build(&workload, &refusals[_i].shape, &refusals[_i].batch, &arena, &err), STATUS_USAGE);
	assert_has(err.text, refusals[_i].message);
}
END_TEST

/* ---- extremes that work */

START_TEST(a_quadrillion_parameters)
{
	const struct shape shape = {.arch = ARCH_LLAMA,
	    .layers = 500,
	    .hidden = 524288,
	    .heads = 4096,
	    .kv_heads = 64,
	    .ffn = 900000,
	    .vocab = 1000000};
	const struct batch batch = {.gpus = 1000, .subgroup_params = 1e8};
	const struct workload workload = build(&shape, &batch);

	ck_assert_double_gt(workload.n_params, 0.9e15);
	ck_assert_uint_gt(workload.n_subgroups, 1000);
}
END_TEST

START_TEST(ten_million_subgroups)
{
	const struct shape shape = {.name = "custom"};
	const struct batch batch = {.gpus = 1, .n_subgroups = 1e7, .subgroup_params = 1e8};
	const struct workload workload = build(&shape, &batch);

	ck_assert_uint_eq(workload.n_subgroups, 10000000);
	ck_assert_double_eq(workload.rank_params, 1e15);
}
END_TEST

START_TEST(a_million_layers)
{
	const struct shape shape = {.arch = ARCH_LLAMA, .layers = 1e6, .hidden = 4, .heads = 2, .ffn = 4, .vocab = 4};
	const struct batch batch = {.gpus = 8, .subgroup_params = 1};
	const struct workload workload = build(&shape, &batch);

	ck_assert_uint_eq(workload.n_tensors, 7000003);
	ck_assert_uint_eq(workload.n_subgroups, 7000003); /* S = 1: every tensor closes one */
}
END_TEST

Suite *workload_limits_suite(void);
Suite *workload_limits_suite(void)
{
	Suite *const suite = suite_create("workload_limits");
	TCase *const limits = tcase_create("limits");
	TCase *const errors = tcase_create("errors");

	tcase_add_checked_fixture(limits, NULL, teardown);
	tcase_add_test(limits, a_quadrillion_parameters);
	tcase_add_test(limits, ten_million_subgroups);
	tcase_add_test(limits, a_million_layers);
	suite_add_tcase(suite, limits);
	tcase_add_checked_fixture(errors, NULL, teardown);
	tcase_add_loop_test(errors, refused, 0, N_ELEMENTS(refusals));
	suite_add_tcase(suite, errors);
	return suite;
}
