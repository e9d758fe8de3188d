/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the calibration curve and error bars are drawn from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/study/interval.h"
#include "sim/study/plot_rows.h"
#include "tests/unit/test_util.h"

static const char tiny[] = "tests/data/tiny.json";
static struct arena arena;
static struct plot plot;
static struct err err;
static char path[] = "/tmp/dos-plot-XXXXXX";

static void setup(void)
{
	plot_init(&plot, &arena);
	const int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void teardown(void)
{
	unlink(path);
	plot_release(&plot);
	arena_release(&arena);
}

/* Numbers of line `line` of block `block`; returns how many. */
static size_t read_line(double *values, size_t most, size_t block, size_t line)
{
	fflush(plot.data);
	const char *at = plot.data_text;
	size_t n = 0;

	for (size_t i = 0; i < block; i++) {
		at = strstr(at, "\n\n\n");
		ck_assert_ptr_nonnull(at);
		at += 3;
	}
	for (size_t i = 0; i < line; i++)
		at = strchr(at, '\n') + 1;
	while (*at && *at != '\n' && n < most) {
		char *end;
		values[n++] = strtod(at, &end);
		ck_assert_ptr_ne(end, at);
		at = end + (*end == '\t');
	}
	return n;
}

static const char *vars(void)
{
	fflush(plot.vars);
	return plot.vars_text;
}

/* ---- calibration */

static void write_rows(const char *measured, const char *exclude)
{
	FILE *const out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	fputs("id,hw,model,gpus,policy,subgroup,n_subgroups,threads,update_s,exclude\n", out);
	fprintf(out, "a,%s,,1,\"dos:stride=2,chain=duplex\",10000000,8,8,%s,%s\n", tiny, measured, exclude);
	fprintf(out, "b,%s,,1,\"dos:stride=3,chain=duplex\",10000000,8,8,100,%s\n", tiny, exclude);
	fclose(out);
}

static double predicted_s(void)
{
	const char *const policy = "dos:stride=2,chain=duplex";
	struct hwprofile *const hw = arena_alloc(&arena, 1, sizeof(*hw));
	struct trial trial;

	ck_assert_int_eq(hwprofile_load(hw, tiny, &arena, &err), 0);
	const struct trial_input input = {.hw = hw,
	    .batch = {.gpus = 1, .subgroup_params = 10e6, .n_subgroups = 8},
	    .policy = policy,
	    .threads = 8,
	    .sharing = &sharing_fluid};
	ck_assert_msg(trial_run(&trial, &input, &arena, &err) == 0, "%s", err.text);
	return trial.metrics.update_s;
}

static int draw_calibration(void)
{
	struct opt_list sets = {0};
	const struct plot_source source = {.input = PLOT_FROM_SET,
	    .sets = &sets,
	    .trial = {.sharing = &sharing_fluid},
	    .scale = "",
	    .n_samples = 50,
	    .seed = 1,
	    .command = "test"};

	opt_list_add(&sets, path, &arena);
	return plot_calibration(&plot, &source, &err);
}

/* One measurement in the middle of what was predicted, one far off: half are inside every interval that is not tiny. */
START_TEST(one_of_two_inside)
{
	enum { ALL, UPDATE, WIDTHS, LEVELS = 49 };
	double values[4];

	write_rows(arena_printf(&arena, "%.17g", predicted_s()), "");
	ck_assert_msg(draw_calibration() == 0, "%s", err.text);
	for (size_t block = ALL; block <= UPDATE; block++)
		for (size_t i = 0; i < LEVELS; i++) {
			ck_assert_uint_eq(read_line(values, 4, block, i), 2);
			assert_rel(values[0], 2 * (double)(i + 1), 1e-9);
			ck_assert(values[0] < 30 ? values[1] == 0 || values[1] == 50 : values[1] == 50);
		}
	ck_assert_uint_eq(read_line(values, 4, WIDTHS, 0), 4);
	ck_assert(
	    values[0] == 1 && values[1] > values[2] && values[1] > 0.95 * values[3] && values[2] > 0 && values[3] > 0);
	assert_has(vars(), "label[1] = 'all: 2, 50 % in 90 %'");
	assert_has(vars(), "label[2] = 'update: 2, 50 % in 90 %'");
	assert_has(vars(), "n_label = 2");
}
END_TEST

START_TEST(nothing_to_compare)
{
	write_rows("1", "older run");
	ck_assert_int_eq(draw_calibration(), STATUS_NO);
	assert_has(err.text, "no row of");
	assert_has(err.text, "outside the fits has a measured value");
}
END_TEST

/* ---- error bars */

enum { UPDATE_LO = 6, UPDATE_HI, ITERATION_LO, ITERATION_HI, N_STRIDE_COLUMNS };

static void draw_strides(size_t n_samples)
{
	struct hwprofile *const hw = arena_alloc(&arena, 1, sizeof(*hw));
	struct opt_list *const specs = arena_zalloc(&arena, 1, sizeof(*specs));
	struct shape *const shape = arena_alloc(&arena, 1, sizeof(*shape));

	*shape = (struct shape){.name = "t", .layers = 4, .hidden = 1024, .heads = 16, .ffn = 4096, .vocab = 32000};
	ck_assert_int_eq(hwprofile_load(hw, tiny, &arena, &err), 0);
	opt_list_add(specs, "dos:chain=duplex", &arena);
	const struct plot_source source = {.input = PLOT_FROM_TRIALS,
	    .hw = tiny,
	    .scale = "",
	    .shapes = shape,
	    .n_shapes = 1,
	    .specs = specs,
	    .n_samples = n_samples,
	    .seed = 1,
	    .command = "test",
	    .trial = {.hw = hw,
		.batch =
		    {.gpus = 2, .mbs = 1, .grad_accum = 1, .seq = 2048, .subgroup_params = 10e6, .has_checkpointing = true},
		.sharing = &sharing_fluid}};
	ck_assert_msg(plot_stride(&plot, &source, &err) == 0, "%s", err.text);
}

START_TEST(bars_hold_their_points)
{
	double v[N_STRIDE_COLUMNS];

	draw_strides(40);
	assert_has(vars(), "has_intervals = 1");
	for (size_t i = 0; i <= 4; i++) {
		ck_assert_uint_eq(read_line(v, N_STRIDE_COLUMNS, 0, i), N_STRIDE_COLUMNS);
		ck_assert(v[0] == (double)i);
		ck_assert_msg(v[UPDATE_LO] < v[1] && v[1] < v[UPDATE_HI], "stride %zu: %g in %g .. %g", i, v[1],
		    v[UPDATE_LO], v[UPDATE_HI]);
		ck_assert(v[ITERATION_LO] < v[2] && v[2] < v[ITERATION_HI]);
	}
}
END_TEST

START_TEST(no_bars_unasked)
{
	double v[N_STRIDE_COLUMNS];

	draw_strides(0);
	assert_has(vars(), "has_intervals = 0");
	ck_assert_uint_eq(read_line(v, N_STRIDE_COLUMNS, 0, 2), N_STRIDE_COLUMNS);
	ck_assert(isnan(v[UPDATE_LO]) && isnan(v[ITERATION_HI]) && v[1] > 0);
}
END_TEST

/* ---- stored rows */

static struct plot_row stored(const char *hw, double update_s, double iteration_s)
{
	return (struct plot_row){.hw = hw,
	    .model = "gpt-1.3b-untied",
	    .spec = "dos:stride=2,chain=duplex",
	    .scale = "",
	    .contention = "fluid",
	    .gpus = 1,
	    .mbs = 1,
	    .grad_accum = 1,
	    .seq = 512,
	    .subgroup = 50e6,
	    .threads = 8,
	    .feasible = 1,
	    .update_s = update_s,
	    .iteration_s = iteration_s};
}

/* Times of the stored row with the checkpointing that rows do not hold. */
static struct metrics run_stored(bool has_checkpointing)
{
	const struct plot_row row = stored(tiny, 1, 1);
	const struct plot_source source = {.input = PLOT_FROM_DB};
	struct hwprofile *const hw = arena_alloc(&arena, 1, sizeof(*hw));
	struct trial_input input;
	struct trial trial;

	ck_assert_msg(plot_row_trial(&input, hw, &row, &source, &arena, &err) == 0, "%s", err.text);
	input.batch.has_checkpointing = has_checkpointing;
	ck_assert_msg(trial_run(&trial, &input, &arena, &err) == 0, "%s", err.text);
	return trial.metrics;
}

START_TEST(only_what_runs_again)
{
	const struct metrics on = run_stored(true), off = run_stored(false);
	struct plot_row all[] = {stored(tiny, on.update_s, on.iteration_s),
	    stored(tiny, 1.01 * on.update_s, on.iteration_s), stored(tiny, on.update_s, off.iteration_s),
	    stored("absent", on.update_s, on.iteration_s)};
	struct plot_rows rows = {.rows = all, .n = N_ELEMENTS(all)};
	struct plot_source source = {.input = PLOT_FROM_DB, .n_samples = 30, .seed = 1};

	ck_assert(on.iteration_s > off.iteration_s);
	ck_assert_msg(plot_rows_intervals(&rows, &source, &arena, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rows.n_intervals, 2);
	ck_assert(all[0].iteration.lo < on.iteration_s && on.iteration_s < all[0].iteration.hi);
	ck_assert(isnan(all[1].iteration.lo) && isnan(all[3].update.lo));
	ck_assert(all[2].iteration.lo < off.iteration_s && all[2].iteration.hi < all[0].iteration.hi);
	rows = (struct plot_rows){.rows = &all[3], .n = 1};
	ck_assert_int_eq(plot_rows_intervals(&rows, &source, &arena, &err), STATUS_NO);
	assert_has(err.text, "none of the 1 runs can be run again");
}
END_TEST

START_TEST(too_many_rows)
{
	struct plot_rows rows = {.n = PLOT_INTERVALS_MAX + 1};
	const struct plot_source source = {.input = PLOT_FROM_DB, .n_samples = 30};

	rows.rows = arena_zalloc(&arena, rows.n, sizeof(*rows.rows));
	ck_assert_int_eq(plot_rows_intervals(&rows, &source, &arena, &err), STATUS_USAGE);
	assert_has(err.text, "--where");
}
END_TEST

Suite *plot_intervals_suite(void);
Suite *plot_intervals_suite(void)
{
	Suite *const suite = suite_create("plot_intervals");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_set_timeout(core, 60);
	tcase_add_test(core, one_of_two_inside);
	tcase_add_test(core, nothing_to_compare);
	tcase_add_test(core, bars_hold_their_points);
	tcase_add_test(core, no_bars_unasked);
	tcase_add_test(core, only_what_runs_again);
	tcase_add_test(core, too_many_rows);
	suite_add_tcase(suite, core);
	return suite;
}
