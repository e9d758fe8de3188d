/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/jsonw.h"

#include <stdlib.h>

#include "tests/unit/test_util.h"

Suite *jsonw_suite(void);

/* A writer onto memory. */
struct sink {
	char *text;
	size_t n_bytes;
	struct jsonw w;
};

static void sink_open(struct sink *sink, bool pretty)
{
	jsonw_init(&sink->w, open_memstream(&sink->text, &sink->n_bytes), pretty);
}

static void sink_expect(struct sink *sink, const char *want)
{
	fclose(sink->w.out);
	ck_assert_str_eq(sink->text, want);
	free(sink->text);
}

static void write_sample(struct jsonw *w)
{
	jsonw_object(w);
	jsonw_member_string(w, "name", "a");
	jsonw_key(w, "rows");
	jsonw_array(w);
	for (int i = 0; i < 2; i++) {
		jsonw_inline_array(w);
		jsonw_integer(w, i);
		jsonw_number(w, 0.5);
		jsonw_end_array(w);
	}
	jsonw_end_array(w);
	jsonw_key(w, "empty");
	jsonw_object(w);
	jsonw_end_object(w);
	jsonw_key(w, "row");
	jsonw_inline_object(w);
	jsonw_member_bool(w, "yes", true);
	jsonw_key(w, "inside");
	jsonw_array(w);
	jsonw_null(w);
	jsonw_null(w);
	jsonw_end_array(w);
	jsonw_end_object(w);
	jsonw_member_integer(w, "n", -9007199254740993LL);
	jsonw_member_number(w, "x", 1.25);
	jsonw_end_object(w);
}

START_TEST(compact)
{
	struct sink sink;

	sink_open(&sink, false);
	write_sample(&sink.w);
	sink_expect(&sink, "{\"name\":\"a\",\"rows\":[[0,0.5],[1,0.5]],\"empty\":{},\"row\":{\"yes\":true,\"inside\":[null,null]},"
			   "\"n\":-9007199254740993,\"x\":1.25}");
}
END_TEST

START_TEST(pretty)
{
	struct sink sink;

	sink_open(&sink, true);
	write_sample(&sink.w);
	sink_expect(&sink, "{\n  \"name\": \"a\",\n  \"rows\": [\n    [0, 0.5],\n    [1, 0.5]\n  ],\n  \"empty\": {},\n"
			   "  \"row\": {\"yes\": true, \"inside\": [null, null]},\n  \"n\": -9007199254740993,\n  \"x\": 1.25\n}");
}
END_TEST

static const struct {
	double value;
	const char *want;
} doubles[] = {
    {0, "0"}, {0.1, "0.1"}, {0.1 + 0.2, "0.30000000000000004"}, {1e8, "100000000"}, {13e9, "13000000000"}, {1e300, "1e+300"},
    {1.0 / 3, "0.3333333333333333"}, {0x1p53, "9007199254740992"}, {-2.5, "-2.5"}, {5e-324, "4.94065645841247e-324"},
    {NAN, "null"}, {INFINITY, "null"}, {-INFINITY, "null"},
};

START_TEST(double_text)
{
	char text[32];

	ck_assert_str_eq(jsonw_double_text(text, doubles[_i].value), doubles[_i].want);
	if (isfinite(doubles[_i].value))
		ck_assert(strtod(text, NULL) == doubles[_i].value);
}
END_TEST

static const struct {
	const char *text, *want;
} strings[] = {
    {"", "\"\""},
    {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
    {"\n\t\r\x01\x7f", "\"\\n\\t\\r\\u0001\\u007f\""},
    {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
    {"\xff" "a\xc3", "\"\xef\xbf\xbd" "a\xef\xbf\xbd\""}, /* not UTF-8 */
    {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""}, /* overlong */
    {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
    {NULL, "null"},
};

START_TEST(string)
{
	struct sink sink;

	sink_open(&sink, false);
	jsonw_string(&sink.w, strings[_i].text);
	sink_expect(&sink, strings[_i].want);
}
END_TEST

START_TEST(deepest_nesting)
{
	struct sink sink;
	char want[2 * JSONW_DEPTH_MAX + 1] = "";

	sink_open(&sink, false);
	for (int i = 0; i < JSONW_DEPTH_MAX; i++) {
		jsonw_array(&sink.w);
		want[i] = '[';
		want[2 * JSONW_DEPTH_MAX - 1 - i] = ']';
	}
	for (int i = 0; i < JSONW_DEPTH_MAX; i++)
		jsonw_end_array(&sink.w);
	sink_expect(&sink, want);
}
END_TEST

Suite *jsonw_suite(void)
{
	Suite *const suite = suite_create("jsonw");
	TCase *const core = tcase_create("core"), *const limits = tcase_create("limits");

	tcase_add_test(core, compact);
	tcase_add_test(core, pretty);
	tcase_add_loop_test(core, double_text, 0, (int)N_ELEMENTS(doubles));
	tcase_add_loop_test(core, string, 0, (int)N_ELEMENTS(strings));
	tcase_add_test(limits, deepest_nesting);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, limits);
	return suite;
}
