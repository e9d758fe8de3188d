/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/grid.h"

#include "tests/unit/sweep_rig.h"
#include "tests/unit/test_util.h"

static struct sweep_rig rig;

static void open_rig(void)
{
	sweep_rig_open(&rig);
}

static void close_rig(void)
{
	sweep_rig_close(&rig);
}

/* ---- axes */

static const struct opt whole = {.name = "count", .kind = OPT_INT, .min = 0, .max = 1e15};
static const struct opt number = {.name = "share", .kind = OPT_NUMBER, .unit = UNIT_FRAC, .min = 0, .max = 1};
static const struct opt bytes = {.name = "memory", .kind = OPT_NUMBER, .unit = UNIT_BYTES, .min = 0, .max = 1e15};
static const char *const colours[] = {"red", "green", NULL};
static const struct opt word = {.name = "colour", .kind = OPT_WORD, .words = colours};

static const struct {
	const struct opt *opt;
	const char *text;
	size_t n, at; /* value [at] is .. */
	double value;
} axes[] = {
    {&whole, "7", 1, 0, 7},
    {&whole, "1,5,3", 3, 2, 3},
    {&whole, "1..4", 4, 3, 4},
    {&whole, "1..10:4", 3, 2, 9},
    {&whole, "9,1..3,100", 5, 4, 100},
    {&whole, "9,1..3,100", 5, 2, 2},
    {&whole, "1M..4M", 4, 1, 2e6},
    {&whole, "500k..2M:500k", 4, 3, 2e6},
    {&whole, "1..1000000000", 1000000000, 999999999, 1e9},
    {&number, "0..1:0.1", 11, 3, 0.3},
    {&number, "0..1:1e-6", 1000001, 123456, 0.123456},
    {&number, "10%..50%:20%", 3, 1, 0.3},
    {&bytes, "16GiB..64GiB:16GiB", 4, 3, 64.0 * 1024 * 1024 * 1024},
    {&word, "red,green", 2, 1, 1},
};

START_TEST(axis_values)
{
	struct arena arena = {0};
	struct err err;
	struct axis axis;

	ck_assert_msg(axis_parse(&axis, axes[_i].opt, axes[_i].text, ',', &arena, &err) == 0, "%s: %s", axes[_i].text, err.text);
	ck_assert_uint_eq(axis.n, axes[_i].n);
	ck_assert_msg(axis_value(&axis, axes[_i].at) == axes[_i].value, "%s[%zu] is %.17g", axes[_i].text, axes[_i].at,
	    axis_value(&axis, axes[_i].at));
	arena_release(&arena);
}
END_TEST

static const struct {
	const struct opt *opt;
	const char *text, *message;
} bad_axes[] = {
    {&whole, "", "count: a value is empty"},
    {&whole, "1,,2", "count: a value is empty"},
    {&whole, "1,2,", "count: a value is empty"},
    {&whole, "4..1", "upwards"},
    {&whole, "1..4:0", "above 0"},
    {&whole, "1..4:0.5", "step is not a whole number"},
    {&whole, "1..", "count"},
    {&whole, "x..4", "count"},
    {&whole, "1..2e9", "more than 1000000000 values"},
    {&whole, "1..1e9,5", "more than 1000000000 values"},
    {&number, "0..2:0.5", "share"},
    {&word, "red,blue", "colour: 'blue' is not red or green"},
};

START_TEST(axis_refusals)
{
	struct arena arena = {0};
	struct err err;
	struct axis axis;

	ck_assert_int_eq(axis_parse(&axis, bad_axes[_i].opt, bad_axes[_i].text, ',', &arena, &err), STATUS_USAGE);
	assert_has(err.text, bad_axes[_i].message);
	arena_release(&arena);
}
END_TEST

/* ---- grids */

static const char *policy_at(size_t index)
{
	struct grid_point point;

	grid_at(&point, &rig.grid, index, &rig.arena);
	return policy_use_canonical(&point.use, &rig.arena);
}

START_TEST(counts_and_order)
{
	struct grid_point point;

	sweep_rig_flag(&rig, GRID_MBS, "1,2,4");
	sweep_rig_flag(&rig, GRID_SEQ, "128..512:128");
	sweep_rig_policies(&rig, "zero3-offload,dos:chain=serial;duplex,stride=2..4");
	sweep_rig_finish(&rig);
	ck_assert_uint_eq(rig.grid.n_points, 3 * 4 * (1 + 2 * 3));
	grid_at(&point, &rig.grid, 0, &rig.arena);
	ck_assert_str_eq(point.use.policy->name, "zero3-offload");
	ck_assert(point.batch.mbs == 1 && point.batch.seq == 128);
	grid_at(&point, &rig.grid, rig.grid.n_points - 1, &rig.arena);
	ck_assert(point.batch.mbs == 4 && point.batch.seq == 512);
	assert_has(policy_at(1), "stride=2,chain=serial");
	assert_has(policy_at(2), "stride=3,chain=serial");
	assert_has(policy_at(4), "stride=2,chain=duplex");
}
END_TEST

START_TEST(an_axis_applies_to_policies_that_have_it)
{
	grid_add_option(&rig.grid, "stride", "2..6");
	sweep_rig_policies(&rig, "gpu-only,dos,dos:stride=9,hybrid");
	sweep_rig_finish(&rig);
	ck_assert_uint_eq(rig.grid.n_points, 1 + 5 + 1 + 1);
	assert_has(policy_at(1), "stride=2");
	assert_has(policy_at(5), "stride=6");
	assert_has(policy_at(6), "stride=9"); /* the SPEC stands */
	assert_has(policy_at(7), "hybrid");
}
END_TEST

START_TEST(an_axis_of_no_policy)
{
	grid_add_option(&rig.grid, "fraction", "0.5");
	sweep_rig_policies(&rig, "gpu-only,dos");
	ck_assert_int_eq(grid_finish(&rig.grid, &rig.err), STATUS_USAGE);
	assert_has(rig.err.text, "--fraction: none of the policies has fraction");
}
END_TEST

START_TEST(points_share_a_workload)
{
	struct grid_point first, second, third;

	sweep_rig_flag(&rig, GRID_MBS, "1,2");
	sweep_rig_flag(&rig, GRID_THREADS, "1,2");
	sweep_rig_policies(&rig, "gpu-only");
	sweep_rig_finish(&rig);
	grid_at(&first, &rig.grid, 0, &rig.arena);
	grid_at(&second, &rig.grid, 1, &rig.arena);
	grid_at(&third, &rig.grid, 2, &rig.arena);
	ck_assert_uint_eq(first.workload_id, second.workload_id);
	ck_assert_uint_ne(first.workload_id, third.workload_id);
}
END_TEST

START_TEST(names_say_what_differs)
{
	struct grid_point point;

	sweep_rig_flag(&rig, GRID_LAYERS, "2,4");
	sweep_rig_flag(&rig, GRID_FFN, "512");
	sweep_rig_policies(&rig, "gpu-only");
	sweep_rig_finish(&rig);
	grid_at(&point, &rig.grid, 1, &rig.arena);
	ck_assert_str_eq(point.shape.name, "small:layers=4,ffn=512");
	ck_assert(point.shape.layers == 4 && point.shape.hidden == 256);
}
END_TEST

START_TEST(very_large_grids)
{
	sweep_rig_flag(&rig, GRID_SEQ, "1..1000000");
	sweep_rig_flag(&rig, GRID_MBS, "1..1000000");
	sweep_rig_policies(&rig, "dos:stride=1..1000");
	sweep_rig_finish(&rig);
	ck_assert_uint_eq(rig.grid.n_points, 1000000000000000);
	assert_has(policy_at(rig.grid.n_points - 1), "stride=1000,");
	sweep_rig_policies(&rig, "gpu-only");
	rig.grid.n_variants = 0;
	ck_assert_int_eq(grid_finish(&rig.grid, &rig.err), STATUS_USAGE);
	assert_has(rig.err.text, "points");
}
END_TEST

/* ---- scalings */

static const struct {
	const char *texts[2];
	size_t n;
	const char *settings[4];
} scales[] = {
    {{"dram=1.5"}, 1, {"dram=1.5"}},
    {{"dram=1.5,cpu=2"}, 1, {"dram=1.5,cpu=2"}}, /* one setting, as in simulate */
    {{"dram=1,1.5"}, 2, {"dram=1", "dram=1.5"}},
    {{"dram=1;1.5"}, 2, {"dram=1", "dram=1.5"}},
    {{"dram=1..2:0.5"}, 3, {"dram=1", "dram=1.5", "dram=2"}},
    {{"dram=1,2,cpu=3,4"}, 4, {"dram=1,cpu=3", "dram=1,cpu=4", "dram=2,cpu=3", "dram=2,cpu=4"}},
    {{"dram=1.5", "cpu=2"}, 2, {"dram=1.5", "cpu=2"}},
};

START_TEST(scale_settings)
{
	for (size_t i = 0; i < 2 && scales[_i].texts[i]; i++)
		ck_assert_msg(grid_add_scale(&rig.grid, scales[_i].texts[i], &rig.err) == 0, "%s", rig.err.text);
	sweep_rig_policies(&rig, "gpu-only");
	sweep_rig_finish(&rig);
	ck_assert_uint_eq(rig.grid.n_points, scales[_i].n);
	for (size_t i = 0; i < scales[_i].n; i++) {
		struct hwprofile hw = rig.hw;
		struct grid_point point;
		const char *text;
		grid_at(&point, &rig.grid, i, &rig.arena);
		grid_scale(&hw, &text, &rig.grid, point.setting, &rig.arena);
		ck_assert_str_eq(text, scales[_i].settings[i]);
	}
}
END_TEST

START_TEST(scale_refusals)
{
	static const char *const texts[] = {"dram", "=2", "", "dram=", "dram=x", "ram=2", "dram=0", "dram=2,", "dram=2,cpu=", "1.5"};

	for (size_t i = 0; i < N_ELEMENTS(texts); i++) {
		ck_assert_msg(grid_add_scale(&rig.grid, texts[i], &rig.err) == STATUS_USAGE, "'%s' is accepted", texts[i]);
		assert_has(rig.err.text, "--scale");
	}
}
END_TEST

/* ---- policies */

START_TEST(policy_refusals)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
	    {"doss", "did you mean 'dos'"},
	    {"dos:strid=2", "did you mean 'stride'"},
	    {"dos:stride=2,stride=3", "stride: given twice"},
	    {"dos:stride=x", "policy dos: stride"},
	    {"dos:stride=2;x", "policy dos: stride"},
	    {"dos:buffers=2", "needs chain=duplex"},
	    {"dos:chain=serial;fast", "policy dos: chain"},
	};

	for (size_t i = 0; i < N_ELEMENTS(bad); i++) {
		ck_assert_int_eq(grid_add_policies(&rig.grid, bad[i].text, &rig.err), STATUS_USAGE);
		assert_has(rig.err.text, bad[i].message);
	}
}
END_TEST

Suite *grid_suite(void);
Suite *grid_suite(void)
{
	Suite *const suite = suite_create("grid");
	TCase *const axis = tcase_create("axis"), *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_loop_test(axis, axis_values, 0, N_ELEMENTS(axes));
	tcase_add_loop_test(axis, axis_refusals, 0, N_ELEMENTS(bad_axes));
	suite_add_tcase(suite, axis);
	tcase_add_checked_fixture(core, open_rig, close_rig);
	tcase_add_test(core, counts_and_order);
	tcase_add_test(core, an_axis_applies_to_policies_that_have_it);
	tcase_add_test(core, points_share_a_workload);
	tcase_add_test(core, names_say_what_differs);
	tcase_add_test(core, very_large_grids);
	tcase_add_loop_test(core, scale_settings, 0, N_ELEMENTS(scales));
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, open_rig, close_rig);
	tcase_add_test(errors, an_axis_of_no_policy);
	tcase_add_test(errors, scale_refusals);
	tcase_add_test(errors, policy_refusals);
	suite_add_tcase(suite, errors);
	return suite;
}
