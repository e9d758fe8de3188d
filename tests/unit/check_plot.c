/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a plot writes for gnuplot. */
#include "sim/study/plot.h"

#include "sim/study/gnuplot.h"
#include "tests/unit/test_util.h"

static struct arena arena;
static struct plot plot;
static struct err err;

static void setup(void)
{
	plot_init(&plot, &arena);
}

static void teardown(void)
{
	plot_release(&plot);
	arena_release(&arena);
}

static const char *vars(void)
{
	fflush(plot.vars);
	return plot.vars_text;
}

static const char *data(void)
{
	fflush(plot.data);
	return plot.data_text;
}

/* ---- kinds */

START_TEST(kinds_are_sorted)
{
	for (size_t i = 1; i < n_plot_kinds; i++)
		ck_assert_str_lt(plot_kinds[i - 1].name, plot_kinds[i].name);
}
END_TEST

START_TEST(unknown_kind)
{
	const struct plot_kind *kind;

	ck_assert_int_eq(plot_kind_find(&kind, "strides", &arena, &err), STATUS_USAGE);
	assert_has(err.text, "did you mean 'stride'?");
	assert_has(err.text, "accepted: calibration, capacity, fraction, gantt");
	ck_assert_int_eq(plot_kind_find(&kind, "memory", &arena, &err), 0);
	ck_assert_str_eq(plot_inputs_text(kind, &arena), "--run FILE, or --hw and --model");
}
END_TEST

/* ---- suffixes */

static const struct {
	const char *output, *suffix; /* NULL: refused */
} outputs[] = {
    {"a.svg", "svg"},
    {"out.d/b.png", "png"},
    {"c.svg.pdf", "pdf"},
    {"a.jpg", NULL},
    {"a", NULL},
    {"-", NULL},
    {".svg", NULL},
    {"out/.svg", NULL},
    {"a.svg.tmp", NULL},
    {"a.SVG", NULL},
};

START_TEST(suffixes)
{
	const char *suffix = NULL;
	const int code = gnuplot_suffix(&suffix, outputs[_i].output, &err);

	ck_assert_int_eq(code, outputs[_i].suffix ? 0 : STATUS_USAGE);
	if (outputs[_i].suffix)
		ck_assert_str_eq(suffix, outputs[_i].suffix);
	else
		assert_has(err.text, ".svg, .png or .pdf would be accepted");
}
END_TEST

/* ---- variables */

static const struct {
	const char *text, *want;
} quoted[] = {
    {"plain_name^2 {a} @b", "v = 'plain_name^2 {a} @b'\n"},
    {"", "v = ''\n"},
    {"it's", "v = 'it' . \"'\" . 's'\n"},
    {"''", "v = '' . \"'\" . '' . \"'\" . ''\n"},
    {"`id` $(id) \"x\" \\n", "v = '`id` $(id) \"x\" \\n'\n"},
    {"two\nlines\tand tab", "v = 'two lines and tab'\n"},
};

START_TEST(texts_are_quoted)
{
	plot_text(&plot, "v", quoted[_i].text);
	ck_assert_str_eq(vars(), quoted[_i].want);
}
END_TEST

START_TEST(numbers_and_arrays)
{
	plot_number(&plot, "a", 1.5);
	plot_number(&plot, "b", NAN);
	plot_number(&plot, "c", INFINITY);
	plot_texts(&plot, "t", (const char *const[]){"x", "y"}, 2);
	plot_texts(&plot, "none", NULL, 0);
	ck_assert_str_eq(vars(), "a = 1.5\nb = NaN\nc = NaN\nn_t = 2\narray t[2]\nt[1] = 'x'\nt[2] = 'y'\nn_none = 0\narray none[1]\n");
}
END_TEST

/* ---- data */

START_TEST(blocks)
{
	plot_cell(&plot, "a \"b\"\tc\n");
	plot_line(&plot, (const double[]){1, NAN, 2.5e-7}, 3);
	plot_end_block(&plot);
	plot_line(&plot, (const double[]){3}, 1);
	plot_end_block(&plot);
	ck_assert_str_eq(data(), "a 'b' c \t1\tNaN\t2.5e-07\n\n\n3\n\n\n");
	ck_assert_uint_eq(plot.n_blocks, 2);
}
END_TEST

/* ---- heading */

START_TEST(long_lines_are_wrapped)
{
	const struct plot_source source = {.command = "dos plot stride"};
	char text[400];

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = i % 10 == 9 ? ' ' : 'x';
	text[sizeof(text) - 1] = '\0';
	plot_heading(&plot, "T", text, text, &source);
	assert_has(vars(), "n_subtitle = 2\n");
	assert_has(vars(), "xx...'\n"); /* a third line would be needed */
	assert_has(vars(), "n_command = 1\n");
	assert_has(vars(), "dos plot stride'\n");
}
END_TEST

START_TEST(line_feeds_break_the_subtitle)
{
	const struct plot_source source = {.command = "c"};

	plot_heading(&plot, "T", "one\ntwo", "o", &source);
	assert_has(vars(), "subtitle[1] = 'one'\nsubtitle[2] = 'two'\n");
}
END_TEST

START_TEST(legend_columns)
{
	plot_legend(&plot, (const char *const[]){"a", "b", "c"}, 3, 2, 860);
	assert_has(vars(), "key_columns = 5\nkey_rows = 1\n");
	plot_legend(&plot, (const char *const[]){"a rather long label of one series among several others"}, 1, 3, 860);
	assert_has(vars(), "key_columns = 1\nkey_rows = 4\n");
	plot_legend(&plot, (const char *const[]){"zero3-offload (does not fit)"}, 1, 4, 860); /* three do not fit in SVG */
	assert_has(vars(), "key_columns = 2\nkey_rows = 3\n");
}
END_TEST

Suite *plot_suite(void);
Suite *plot_suite(void)
{
	Suite *const suite = suite_create("plot");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, kinds_are_sorted);
	tcase_add_test(core, unknown_kind);
	tcase_add_loop_test(core, suffixes, 0, N_ELEMENTS(outputs));
	tcase_add_loop_test(core, texts_are_quoted, 0, N_ELEMENTS(quoted));
	tcase_add_test(core, numbers_and_arrays);
	tcase_add_test(core, blocks);
	tcase_add_test(core, long_lines_are_wrapped);
	tcase_add_test(core, line_feeds_break_the_subtitle);
	tcase_add_test(core, legend_columns);
	suite_add_tcase(suite, core);
	return suite;
}
