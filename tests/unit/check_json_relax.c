/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/json_relax.h"

#include "tests/unit/test_util.h"

static const struct {
	const char *text, *want;
	size_t n_comments, n_commas, comment_line, comma_line;
} rows[] = {
    {"{\"a\": 1}", "{\"a\": 1}", 0, 0, 0, 0},
    {"{\"a\": 1,}", "{\"a\": 1 }", 0, 1, 0, 1},
    {"[1, 2,\n]", "[1, 2 \n]", 0, 1, 0, 1},
    {"{\"a\": 1, // x\n}", "{\"a\": 1      \n}", 1, 1, 1, 1},
    {"{\n# x, y\n\"a\": /* b */ 1}", "{\n      \n\"a\":         1}", 2, 0, 2, 0},
    {"{\"a\": \"// no, }\", \"b\": \"#\"}", "{\"a\": \"// no, }\", \"b\": \"#\"}", 0, 0, 0, 0},
    {"{\"a\\\"//\": 1}", "{\"a\\\"//\": 1}", 0, 0, 0, 0},
    {"/* two\r\nlines */{}", "      \r\n        {}", 1, 0, 1, 0},
    {"{\"a\": 1,, }", "{\"a\": 1,, }", 0, 0, 0, 0},
    {"[,]", "[,]", 0, 0, 0, 0},
    {"{\"a\": [1,],\n \"b\": {\"c\": 1, /**/ },}", "{\"a\": [1 ],\n \"b\": {\"c\": 1       } }", 1, 3, 2, 1},
    {"/* open", "/* open", 0, 0, 0, 0},
    {"/", "/", 0, 0, 0, 0},
    {"\"open \\", "\"open \\", 0, 0, 0, 0},
    {"", "", 0, 0, 0, 0},
};

START_TEST(relaxed)
{
	struct json_relaxed found;
	char text[128];

	strcpy(text, rows[_i].text);
	json_relax(&found, text, strlen(text));
	ck_assert_str_eq(text, rows[_i].want);
	ck_assert_uint_eq(found.n_comments, rows[_i].n_comments);
	ck_assert_uint_eq(found.n_commas, rows[_i].n_commas);
	ck_assert_uint_eq(found.comment_line, rows[_i].comment_line);
	ck_assert_uint_eq(found.comma_line, rows[_i].comma_line);
}
END_TEST

Suite *json_relax_suite(void);
Suite *json_relax_suite(void)
{
	Suite *const suite = suite_create("json_relax");
	TCase *const core = tcase_create("core");

	tcase_add_loop_test(core, relaxed, 0, N_ELEMENTS(rows));
	suite_add_tcase(suite, core);
	return suite;
}
