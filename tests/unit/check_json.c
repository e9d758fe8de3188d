/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/json.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/base/arena.h"
#include "model/base/file_text.h"
#include "tests/unit/test_util.h"

Suite *json_suite(void);

static struct json_doc *parse(const char *text)
{
	struct json_doc *doc;
	struct err err = {0};

	ck_assert_msg(json_parse(&doc, "t.json", text, strlen(text), &err) == 0, "%s", err.text);
	return doc;
}

START_TEST(values)
{
	struct json_doc *const doc =
	    parse("{\"n\": 13000000000, \"s\": \"x\\u00e9\", \"b\": true, \"a\": [1, 2.5], \"o\": {\"in\": -1e-3}}\n");
	const json_node *const root = json_root(doc), *node;
	struct err err = {0};
	const char *text;
	double number;
	bool flag;

	ck_assert_int_eq(json_number(&number, doc, root, "n", 0, INFINITY, &err), 0);
	ck_assert_double_eq(number, 13e9); /* cJSON's valueint saturates here */
	ck_assert_int_eq(json_text(&text, doc, root, "s", &err), 0);
	ck_assert_str_eq(text, "x\xc3\xa9");
	ck_assert_int_eq(json_flag(&flag, doc, root, "b", &err), 0);
	ck_assert(flag);
	ck_assert_int_eq(json_array(&node, doc, root, "a", &err), 0);
	ck_assert_uint_eq(json_count(node), 2);
	ck_assert_int_eq(json_number_of(&number, doc, json_at(node, 1), 0, 10, &err), 0);
	ck_assert_double_eq(number, 2.5);
	ck_assert_int_eq(json_object(&node, doc, root, "o", &err), 0);
	ck_assert_int_eq(json_number(&number, doc, node, "in", -1, 1, &err), 0);
	ck_assert_double_eq(number, -1e-3);
	json_close(doc);
}
END_TEST

START_TEST(walking)
{
	struct json_doc *const doc = parse("{\"a\": 1, \"b\": [true, \"x\", null]}");
	const json_node *const first = json_first(json_root(doc)), *const second = json_next(first);

	ck_assert_str_eq(json_name(doc), "t.json");
	ck_assert_str_eq(json_key(first), "a");
	ck_assert(json_is_number(first) && !json_is_string(first));
	ck_assert(json_is_array(second) && !json_is_object(second));
	ck_assert(json_is_bool(json_at(second, 0)) && json_is_string(json_at(second, 1)));
	ck_assert_ptr_null(json_key(json_at(second, 0)));
	ck_assert_ptr_null(json_at(second, 3));
	ck_assert_ptr_null(json_at(json_root(doc), 0)); /* not an array */
	ck_assert_ptr_null(json_get(second, "a"));
	ck_assert_ptr_null(json_get(NULL, "a"));
	ck_assert_ptr_null(json_next(second));
	ck_assert_uint_eq(json_count(first) + json_count(NULL), 0);
	json_close(doc);
}
END_TEST

START_TEST(keys_differ_by_case)
{
	struct json_doc *const doc = parse("{\"A\": 1}");

	ck_assert_ptr_null(json_get(json_root(doc), "a"));
	ck_assert_ptr_nonnull(json_get(json_root(doc), "A"));
	json_close(doc);
}
END_TEST

static const struct {
	const char *text, *want;
} refused[] = {
    {"", "t.json:1:1: empty"},
    {"{} x", "t.json:1:4: "}, /* text after the end */
    {"{}{}", "t.json:1:3: "},
    {"{\"a\": 01}", "t.json:1:7: "},
    {"{\"a\": NaN}", "t.json:1:7: /a: JSON has no NaN; a finite number would be accepted"},
    {"{\"b\": [{}, 1],\n\"a\": {\"c,:\": [[1, 2], [3,\n-Infinity]]}}", "t.json:3:1: /a/c,:/1/1: JSON has no -Infinity"},
    {"[true, null, false, +inf]", "t.json:1:21: /3: JSON has no +inf"},
    {"NaN", "t.json:1:1: /: JSON has no NaN"},
    {"{\"a\\\"b\": [NaN]}", "t.json:1:11: /a\\\"b/0: JSON has no NaN"},
    {"{\"a\": 1, NaN: 2}", "t.json:1:10: /1: JSON has no NaN"},
    {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[NaN", "/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/..: JSON has no NaN"},
    {"{\"a\": nano}", "t.json:1:7: JSON syntax error"},
    {"{\"a\": -01}", "t.json:1:7: "},
    {"{\"a\": 1.}", "t.json:1:7: "},
    {"{\"a\": -.5}", "t.json:1:7: "},
    {"{\"a\": 1e}", "t.json:1:7: "},
    {"{\"a\": +1}", "t.json:1:7: "},
    {"{\n \"a\": 1e999}", "t.json:2:7: this number is too large"},
    {"{\"a\": -1e999}", "too large"},
    {"{\"a\": NaN}", "t.json:1:7: "},
    {"{\"a\": Infinity}", "t.json:1:7: "},
    {"{\"a\": 1, \"b\": 2, \"a\": 3}", "t.json: /a: this key stands twice"},
    {"{\"x\": [{}, {\"b\": 1, \"b\": 1}]}", "t.json: /x/1/b: this key stands twice"},
    {"{\"a\": 1,}", "t.json:1:10: "}, /* the library points one past a missing quote */
    {"[1, 2", "t.json:1:"},
    {"{\"a\" 1}", "t.json:1:6: "},
    {"{a: 1}", "t.json:1:3: "},
    {"{\"a\": \"x\ny\"}", "t.json:1:9: control characters"},
    {"{\"a\": \"x\\u0000y\"}", "\\u0000"},
    {"\"abc", "does not end"},
    {"\"abc\\", "does not end"},
    {"{\"a\": \x01 1}", "control character"},
    {"{\"a\":\v1}", "control character"},
    {"{\"a\": 1\f}", "control character"},
    {"{\"a\": 1} // note", "t.json:1:10: "},
};

START_TEST(refuse)
{
	struct json_doc *doc = (struct json_doc *)&doc;
	struct err err = {0};
	const char *const text = refused[_i].text;

	ck_assert_int_eq(json_parse(&doc, "t.json", text, strlen(text), &err), STATUS_INPUT);
	ck_assert_ptr_null(doc);
	assert_has(err.text, refused[_i].want);
}
END_TEST

START_TEST(refuse_a_nul_byte)
{
	struct json_doc *doc;
	struct err err = {0};

	ck_assert_int_eq(json_parse(&doc, "t.json", "{}\0{}", 5, &err), STATUS_INPUT);
	assert_has(err.text, "t.json:1:3: a NUL byte");
}
END_TEST

START_TEST(numbers_inside_strings_are_text)
{
	json_close(parse("{\"01\": \"1e999 01 .5 NaN -Infinity\"}"));
}
END_TEST

START_TEST(wrong_types_and_ranges)
{
	struct json_doc *const doc = parse("{\"node\": {\"gpus\": \"4\", \"f\": 1.5, \"list\": [1, null]}}");
	const json_node *const node = json_get(json_root(doc), "node");
	const json_node *array;
	struct err err = {0};
	const char *text;
	double number;
	bool flag;

	ck_assert_int_eq(json_number(&number, doc, node, "gpus", 1, 64, &err), STATUS_INPUT);
	ck_assert_str_eq(err.text, "t.json: /node/gpus: a number is expected, this is a string");
	ck_assert_int_eq(json_number(&number, doc, node, "missing", 1, 64, &err), STATUS_INPUT);
	ck_assert_str_eq(err.text, "t.json: /node: \"missing\" is missing; a number is expected");
	ck_assert_int_eq(json_number(&number, doc, node, "f", 0, 1, &err), STATUS_INPUT);
	ck_assert_str_eq(err.text, "t.json: /node/f: 1.5 is outside 0 .. 1");
	ck_assert_int_eq(json_number(&number, doc, node, "f", 2, INFINITY, &err), STATUS_INPUT);
	ck_assert_str_eq(err.text, "t.json: /node/f: 1.5 is too small; at least 2 would be accepted");
	ck_assert_int_eq(json_number(&number, doc, node, "f", -INFINITY, 1, &err), STATUS_INPUT);
	ck_assert_str_eq(err.text, "t.json: /node/f: 1.5 is too large; at most 1 would be accepted");
	ck_assert_int_eq(json_text(&text, doc, node, "f", &err), STATUS_INPUT);
	ck_assert_int_eq(json_flag(&flag, doc, node, "f", &err), STATUS_INPUT);
	ck_assert_int_eq(json_object(&array, doc, node, "list", &err), STATUS_INPUT);
	ck_assert_int_eq(json_array(&array, doc, json_root(doc), "node", &err), STATUS_INPUT);
	ck_assert_int_eq(json_array(&array, doc, node, "list", &err), 0);
	ck_assert_int_eq(json_number_of(&number, doc, json_at(array, 1), 0, 1, &err), STATUS_INPUT);
	ck_assert_str_eq(err.text, "t.json: /node/list/1: a number is expected, this is null");
	ck_assert_int_eq(json_number_of(&number, doc, NULL, 0, 1, &err), STATUS_INPUT);
	json_close(doc);
	json_close(NULL);
}
END_TEST

START_TEST(unknown_keys)
{
	static const char *const keys[] = {"h2d_Bps", "threads", NULL};
	struct json_doc *doc = parse("{\"h2d_bps\": 1, \"extra\": {\"anything\": 1}}");
	struct err err = {0};

	ck_assert_int_eq(json_only_keys(doc, json_root(doc), keys, &err), STATUS_INPUT);
	ck_assert_str_eq(err.text, "t.json: /h2d_bps: unknown key; did you mean \"h2d_Bps\"?");
	json_close(doc);
	doc = parse("{\"zzzzzz\": 1}");
	ck_assert_int_eq(json_only_keys(doc, json_root(doc), keys, &err), STATUS_INPUT);
	ck_assert_str_eq(err.text, "t.json: /zzzzzz: unknown key; accepted: h2d_Bps, threads");
	json_close(doc);
	doc = parse("{\"threads\": 1, \"extra\": {\"anything\": 1}}");
	ck_assert_int_eq(json_only_keys(doc, json_root(doc), keys, &err), 0);
	ck_assert_int_eq(json_only_keys(doc, json_get(json_root(doc), "threads"), keys, &err), STATUS_INPUT);
	json_close(doc);
}
END_TEST

START_TEST(files)
{
	char name[] = "/tmp/check_json_XXXXXX";
	const int fd = mkstemp(name);
	struct json_doc *doc;
	struct err err = {0};

	ck_assert_int_eq(write(fd, "{\"a\": 1}\n", 9), 9);
	ck_assert_int_eq(json_open(&doc, name, &err), 0);
	ck_assert_ptr_nonnull(json_get(json_root(doc), "a"));
	json_close(doc);
	ck_assert_int_eq(ftruncate(fd, FILE_TEXT_MAX_BYTES + 1), 0);
	ck_assert_int_eq(json_open(&doc, name, &err), STATUS_INPUT);
	assert_has(err.text, "larger than 64 MiB");
	close(fd);
	unlink(name);
	ck_assert_int_eq(json_open(&doc, name, &err), STATUS_INPUT);
	assert_has(err.text, "No such file");
	ck_assert_int_eq(json_open(&doc, "/tmp", &err), STATUS_INPUT);
	ck_assert_str_eq(err.text, "/tmp: is a directory, a file expected");
	ck_assert_int_eq(json_open(&doc, "/dev/zero", &err), STATUS_INPUT); /* without an end */
	assert_has(err.text, "larger than 64 MiB");
}
END_TEST

START_TEST(standard_input)
{
	char name[] = "/tmp/check_json_XXXXXX";
	const int fd = mkstemp(name);
	struct json_doc *doc;
	struct err err = {0};

	ck_assert_int_eq(write(fd, "[1, x]", 6), 6);
	close(fd);
	ck_assert_ptr_nonnull(freopen(name, "r", stdin));
	ck_assert_int_eq(json_open(&doc, "-", &err), STATUS_INPUT);
	assert_has(err.text, "standard input:1:5: ");
	unlink(name);
}
END_TEST

START_TEST(deep_nesting)
{
	enum { DEPTH = 100000 };
	char *const text = xmalloc(DEPTH, 1);
	struct json_doc *doc;
	struct err err = {0};

	memset(text, '[', DEPTH);
	ck_assert_int_eq(json_parse(&doc, "t.json", text, DEPTH, &err), STATUS_INPUT);
	free(text);
}
END_TEST

START_TEST(many_keys)
{
	enum { KEYS = 100000 };
	struct json_doc *doc;
	struct err err = {0};
	char *text;
	size_t n_bytes;
	FILE *const out = open_memstream(&text, &n_bytes);

	for (int i = 0; i < KEYS; i++)
		fprintf(out, "%s\"k%d\": %d", i ? ", " : "{", i, i);
	fputs("}", out);
	fclose(out);
	ck_assert_int_eq(json_parse(&doc, "t.json", text, n_bytes, &err), 0);
	ck_assert_uint_eq(json_count(json_root(doc)), KEYS);
	json_close(doc);
	free(text);
}
END_TEST

START_TEST(long_paths_are_cut)
{
	struct arena arena = {0};
	char key[600];
	struct err err = {0};
	double number;

	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	struct json_doc *const doc = parse(arena_printf(&arena, "{\"%s\": {\"%s\": {\"a\": true}}}", key, key));
	const json_node *const node = json_first(json_first(json_root(doc)));
	ck_assert_int_eq(json_number(&number, doc, node, "a", 0, 1, &err), STATUS_INPUT);
	assert_has(err.text, "t.json: /kkk");
	json_close(doc);
	arena_release(&arena);
}
END_TEST

static char wrong_place[] = "the place of an error is that of another thread";

/* Parses text i of many with an error at its own place; the global error pointer of the library would mix them up. */
static void *parse_wrong_text(void *argument)
{
	const int column = 3 + (int)(size_t)argument;
	char text[64], want[64];

	snprintf(text, sizeof(text), "[%*sx]", column - 2, "");
	snprintf(want, sizeof(want), "t.json:1:%d: ", column);
	for (int i = 0; i < 2000; i++) {
		struct json_doc *doc;
		struct err err = {0};
		if (json_parse(&doc, "t.json", text, strlen(text), &err) != STATUS_INPUT || !strstr(err.text, want))
			return wrong_place;
	}
	return NULL;
}

/* A file whose reading fails: memory of this process where there is none. */
START_TEST(read_error)
{
	struct json_doc *doc;
	struct err err = {0};

	ck_assert_int_eq(json_open(&doc, "/proc/self/mem", &err), STATUS_INPUT);
	assert_has(err.text, "/proc/self/mem: cannot read: ");
}
END_TEST

START_TEST(threads_have_their_own_errors)
{
	pthread_t threads[4];

	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, parse_wrong_text, (void *)(5 * i)), 0);
	for (size_t i = 0; i < 4; i++) {
		void *message;
		pthread_join(threads[i], &message);
		ck_assert_msg(!message, "%s", (const char *)message);
	}
}
END_TEST

Suite *json_suite(void)
{
	Suite *const suite = suite_create("json");
	TCase *const core = tcase_create("core"), *const limits = tcase_create("limits"), *const errors = tcase_create("errors");

	tcase_add_test(core, values);
	tcase_add_test(core, walking);
	tcase_add_test(core, keys_differ_by_case);
	tcase_add_test(core, numbers_inside_strings_are_text);
	tcase_add_test(core, files);
	tcase_add_test(core, standard_input);
	tcase_add_test(core, read_error);
	tcase_add_test(core, threads_have_their_own_errors);
	tcase_add_test(limits, deep_nesting);
	tcase_add_test(limits, many_keys);
	tcase_add_test(limits, long_paths_are_cut);
	tcase_add_loop_test(errors, refuse, 0, (int)N_ELEMENTS(refused));
	tcase_add_test(errors, refuse_a_nul_byte);
	tcase_add_test(errors, wrong_types_and_ranges);
	tcase_add_test(errors, unknown_keys);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, limits);
	suite_add_tcase(suite, errors);
	return suite;
}
