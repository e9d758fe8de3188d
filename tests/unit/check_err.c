/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/err.h"

#include "tests/unit/test_util.h"

Suite *err_suite(void);

START_TEST(set_fills_and_returns_code)
{
	struct err err = {0};

	ck_assert_int_eq(err_set(&err, STATUS_INPUT, "%s: %d", "a.json", 7), STATUS_INPUT);
	ck_assert_int_eq(err.code, 3);
	ck_assert_str_eq(err.text, "a.json: 7");
}
END_TEST

START_TEST(codes_are_the_exit_codes)
{
	ck_assert_int_eq(STATUS_OK, 0);
	ck_assert_int_eq(STATUS_NO, 1);
	ck_assert_int_eq(STATUS_USAGE, 2);
	ck_assert_int_eq(STATUS_INPUT, 3);
	ck_assert_int_eq(STATUS_ENV, 4);
	ck_assert_int_eq(STATUS_INTERRUPTED, 130);
}
END_TEST

START_TEST(wrap_puts_context_first)
{
	struct err err = {0};

	err_set(&err, STATUS_USAGE, "bad");
	ck_assert_int_eq(err_wrap(&err, "policy %s", "dos"), STATUS_USAGE);
	ck_assert_str_eq(err.text, "policy dos: bad");
}
END_TEST

START_TEST(arguments_may_alias_the_text)
{
	struct err err = {0};

	err_set(&err, STATUS_USAGE, "inner");
	err_set(&err, STATUS_INPUT, "outer: %s", err.text);
	ck_assert_str_eq(err.text, "outer: inner");
	err_wrap(&err, "again %s", err.text);
	ck_assert_str_eq(err.text, "again outer: inner: outer: inner");
}
END_TEST

static const struct {
	const char *word, *want;
} nearest_words[] = {
    {"strid", "stride"},
    {"STRIDE", NULL},
    {"ratoi", "ratio"},
    {"fraction", "fraction"},
    {"xyzzy", NULL},
    {"", NULL},
};

START_TEST(nearest)
{
	static const char *const words[] = {"stride", "ratio", "fraction", NULL};
	const char *const got = err_nearest(nearest_words[_i].word, words);

	ck_assert_pstr_eq(got, nearest_words[_i].want);
}
END_TEST

START_TEST(long_text_ends_in_dots)
{
	struct err err = {0};
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&err, STATUS_INPUT, "%s", text);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ck_assert_str_eq(err.text + sizeof(err.text) - 5, "x...");
	err_wrap(&err, "file");
	ck_assert_int_eq(strncmp(err.text, "file: xxx", 9), 0);
	ck_assert_str_eq(err.text + sizeof(err.text) - 5, "x...");
}
END_TEST

START_TEST(text_is_one_line)
{
	struct err err = {0};

	err_set(&err, STATUS_INPUT, "a\nb\x1b[31mc");
	ck_assert_str_eq(err.text, "a b [31mc");
}
END_TEST

START_TEST(nearest_of_long_or_no_words)
{
	static const char *const none[] = {NULL};
	static const char *const words[] = {"stride", NULL};
	char text[300];

	memset(text, 's', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_ptr_null(err_nearest("stride", none));
	ck_assert_ptr_null(err_nearest(text, words));
}
END_TEST

Suite *err_suite(void)
{
	Suite *const suite = suite_create("err");
	TCase *const core = tcase_create("core"), *const limits = tcase_create("limits");

	tcase_add_test(core, set_fills_and_returns_code);
	tcase_add_test(core, codes_are_the_exit_codes);
	tcase_add_test(core, wrap_puts_context_first);
	tcase_add_test(core, arguments_may_alias_the_text);
	tcase_add_loop_test(core, nearest, 0, (int)N_ELEMENTS(nearest_words));
	tcase_add_test(limits, long_text_ends_in_dots);
	tcase_add_test(limits, text_is_one_line);
	tcase_add_test(limits, nearest_of_long_or_no_words);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, limits);
	return suite;
}
