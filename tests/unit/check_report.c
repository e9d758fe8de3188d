/* SPDX-License-Identifier: GPL-3.0-or-later
 * Texts and figures in a page, and what a report recommends. */
#include "sim/study/report_parts.h"

#include <stdlib.h>

#include "sim/study/svg_inline.h"
#include "tests/unit/test_util.h"

static struct arena arena;
static struct err err;

static void teardown(void)
{
	arena_release(&arena);
}

/* ---- texts */

static const struct {
	const char *text, *want;
} texts[] = {
    {"plain", "plain"},
    {"<b a=\"x\" c='y'>&amp;", "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;"},
    {"a\nb\x01\x7f", "a b  "},
    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"\xff\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* no UTF-8; '<' in two bytes */
    {"\xe0\x80\xbc|\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd"},
    {"a\xc2\x85" "b\xe2\x80\xae" "c\xe2\x81\xa6", "a b c "}, /* next line, right-to-left override, isolate */
};

START_TEST(texts_are_escaped)
{
	char *page = NULL;
	size_t n;
	FILE *const out = open_memstream(&page, &n);

	html_text(out, texts[_i].text);
	fclose(out);
	ck_assert_str_eq(page, texts[_i].want);
	free(page);
}
END_TEST

START_TEST(words_are_quoted)
{
	ck_assert_str_eq(report_shell_word("dos:stride=2,chain=duplex", &arena), "dos:stride=2,chain=duplex");
	ck_assert_str_eq(report_shell_word("it's; $(x)", &arena), "'it'\\''s; $(x)'");
	ck_assert_str_eq(report_shell_word("", &arena), "''");
	ck_assert_str_eq(report_sql_text("it's", &arena), "'it''s'");
}
END_TEST

/* ---- figures */

static int inline_svg(char **page, const char *svg)
{
	size_t n;
	FILE *const out = open_memstream(page, &n);
	const int code = svg_inline(out, svg, "f1", "a \"label\"", &arena, &err);

	fclose(out);
	return code;
}

START_TEST(ids_and_colours)
{
	char *page;
	const int code = inline_svg(&page, "<?xml version=\"1.0\"?>\n<svg \n width=\"9\" xmlns=\"http://x\" xmlns:xlink='http://y'>\n"
	    "<title>T &lt;</title><defs><circle id='p0' r='1'/><filter id='t'><feFlood/></filter></defs>\n"
	    "<use xlink:href='#p0' color = 'rgb( 96,  96,  96)'/><text class=\"x\">a &lt; b &#39; c > d</text></svg>\n");

	ck_assert_int_eq(code, 0);
	ck_assert_str_eq(page, "<svg role=\"img\" aria-label=\"a &quot;label&quot;\" width=\"9\">\n<defs><circle id=\"f1-p0\" r=\"1\"/></defs>\n"
	    "<use href=\"#f1-p0\" color=\"rgb(96,96,96)\"/><text>a &lt; b &#39; c &gt; d</text></svg>\n");
	free(page);
}
END_TEST

static const struct {
	const char *svg, *want;
} refused[] = {
    {"<svg><script>1</script></svg>", "element 'script'"},
    {"<svg><image href='#a'/></svg>", "element 'image'"},
    {"<svg><foreignObject/></svg>", "element 'foreignObject'"},
    {"<svg onload='x()'></svg>", "attribute 'onload'"},
    {"<svg style='x'></svg>", "attribute 'style'"},
    {"<svg><use xlink:href='http://a#b'/></svg>", "attribute 'xlink:href'"},
    {"<svg><rect fill='url(#a)'/></svg>", "value 'url(#a)'"},
    {"<svg><rect fill='javascript:1'/></svg>", "value"},
    {"<svg><rect x=\"&quot;\"/></svg>", "value"},
    {"<svg><rect x=1/></svg>", "unquoted"},
    {"<svg><rect x", "without a value"},
    {"<svg><rect x='1'", "in a tag"},
    {"<svg><text>&nbsp;</text></svg>", "entity 'nbsp'"},
    {"<svg><text>&</text></svg>", "entity"},
    {"<svg><title>open", "no end of"},
    {"<svg><!-- x --></svg>", "element ''"},
    {"no figure", "no element"},
};

START_TEST(strange_figures_are_refused)
{
	char *page;

	ck_assert_int_eq(inline_svg(&page, refused[_i].svg), STATUS_ENV);
	assert_has(err.text, refused[_i].want);
	free(page);
}
END_TEST

/* ---- what is recommended */

static struct plot_row row(const char *model, const char *spec, double mbs, double iteration_s)
{
	return (struct plot_row){.hw = "h", .model = model, .spec = spec, .policy = arena_printf(&arena, "%.*s", (int)strcspn(spec, ":"), spec),
	    .scale = "", .contention = "fluid", .reason = "", .bottleneck = "dram", .gpus = 4, .mbs = mbs, .grad_accum = 1, .seq = 2048,
	    .feasible = 1, .forward_s = 0.1, .update_s = iteration_s / 2, .iteration_s = iteration_s, .gpu_peak_bytes = 1e9,
	    .host_peak_bytes = 1e9};
}

static void make(struct report_groups *groups, struct plot_row *rows, size_t n)
{
	report_groups_make(groups, &(struct plot_rows){.rows = rows, .n = n}, &arena);
}

START_TEST(best_is_by_tokens)
{
	struct report_groups groups;
	struct plot_row rows[] = {row("b", "zero3-offload:flush=blocking", 1, 2), row("a", "dos:stride=2", 1, 1), row("b", "dos:stride=2", 1, 1.5),
	    row("b", "dos:stride=3", 4, 2), row("b", "dos:stride=1", 4, 2)};

	make(&groups, rows, N_ELEMENTS(rows));
	ck_assert_uint_eq(groups.n, 2);
	ck_assert_str_eq(groups.groups[0].first->model, "b"); /* in order of appearance */
	ck_assert_ptr_eq(groups.groups[0].best, &rows[3]); /* longer than the third, but of four times the tokens; the first of equals */
	ck_assert_uint_eq(groups.groups[0].n, 4);
	ck_assert_uint_eq(groups.groups[0].n_policies, 2);
	ck_assert_ptr_eq(report_group_baseline(&groups.groups[0])->best, &rows[0]);
	ck_assert_ptr_null(report_group_baseline(&groups.groups[1]));
	assert_rel(report_rate(&rows[3]) / report_rate(&rows[0]), 4, 1e-12);
	ck_assert_str_eq(report_group_name(&groups, &groups.groups[1], &arena), "a on h");
}
END_TEST

START_TEST(what_does_not_fit_is_not_recommended)
{
	struct report_groups groups;
	struct plot_row rows[] = {row("a", "dos:stride=1", 1, 1), row("a", "dos:stride=2", 1, 2), row("a", "gpu-only", 1, 0.1)};

	rows[0].feasible = 0;
	rows[2].host_peak_bytes = 0;
	make(&groups, rows, 3);
	ck_assert_ptr_eq(groups.groups[0].best, &rows[2]);
	ck_assert_ptr_eq(groups.groups[0].offload, &rows[1]);
	ck_assert_uint_eq(groups.groups[0].n_fit, 2);
	rows[1].feasible = rows[2].feasible = 0;
	rows[1].gpu_peak_bytes = 5e8;
	make(&groups, rows, 3);
	ck_assert_ptr_null(groups.groups[0].best);
	ck_assert_ptr_eq(groups.groups[0].smallest, &rows[1]);
}
END_TEST

START_TEST(what_is_given_makes_groups)
{
	struct report_groups groups;
	struct plot_row rows[] = {row("a", "dos:stride=1", 1, 1), row("a", "dos:stride=1", 1, 1), row("a", "dos:stride=1", 1, 1)};

	rows[1].scale = "dram=2";
	rows[2].gpus = 2;
	make(&groups, rows, 3);
	ck_assert_uint_eq(groups.n, 3);
	ck_assert_str_eq(report_group_name(&groups, &groups.groups[1], &arena), "a on h, 4 GPUs, scaled dram=2");
	ck_assert_str_eq(report_group_name(&groups, &groups.groups[2], &arena), "a on h, 2 GPUs, as it is");
}
END_TEST

START_TEST(many_policies_end_in_others)
{
	enum { N = 20 };
	struct report_groups groups;
	struct plot_row rows[N];

	for (size_t i = 0; i < N; i++)
		rows[i] = row("a", arena_printf(&arena, "p%zu", i), 1, 1);
	make(&groups, rows, N);
	ck_assert_uint_eq(groups.groups[0].n_policies, 16);
	ck_assert_str_eq(groups.groups[0].policies[15].name, "others");
	ck_assert_uint_eq(groups.groups[0].policies[15].n, 5);
}
END_TEST

static const struct {
	const char *spec, *want;
} specs[] = {
    {"dos:stride=2,chain=published,downscale=batch,workers=4,grads=fp32,unscale=separate,flush=async,ratio=1", "dos:stride=2"},
    {"dos:stride=2,chain=duplex,buffers=2", "dos:stride=2,chain=duplex,buffers=2"},
    {"zero3-offload:flush=blocking", "zero3-offload"},
    {"strange:a=b", "strange:a=b"},
    {"dos:<", "dos:<"},
};

START_TEST(specs_are_short)
{
	struct plot_row r = row("a", specs[_i].spec, 1, 1);

	ck_assert_str_eq(report_spec(&r, &arena), specs[_i].want);
}
END_TEST

Suite *report_suite(void);
Suite *report_suite(void)
{
	Suite *const suite = suite_create("report");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_loop_test(core, texts_are_escaped, 0, N_ELEMENTS(texts));
	tcase_add_test(core, words_are_quoted);
	tcase_add_test(core, ids_and_colours);
	tcase_add_loop_test(core, strange_figures_are_refused, 0, N_ELEMENTS(refused));
	tcase_add_test(core, best_is_by_tokens);
	tcase_add_test(core, what_does_not_fit_is_not_recommended);
	tcase_add_test(core, what_is_given_makes_groups);
	tcase_add_test(core, what_is_given_makes_groups);
	tcase_add_test(core, many_policies_end_in_others);
	tcase_add_loop_test(core, specs_are_short, 0, N_ELEMENTS(specs));
	suite_add_tcase(suite, core);
	return suite;
}
