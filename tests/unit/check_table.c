/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/table.h"

#include <stdlib.h>

#include "tests/unit/test_util.h"

Suite *table_suite(void);

static const struct table_column columns[] = {
    {"policy", NULL, UNIT_NONE},
    {"update_s", "update", UNIT_SECONDS},
    {"n", "ops", UNIT_NONE},
    {"note", "note", UNIT_NONE},
};

static void expect(const struct table *table, enum format format, const char *want)
{
	char *text;
	size_t n_bytes;
	FILE *const out = open_memstream(&text, &n_bytes);

	table_print(table, format, out);
	fclose(out);
	ck_assert_str_eq(text, want);
	free(text);
}

static struct table *sample(void)
{
	struct table *const table = table_new(columns, N_ELEMENTS(columns));

	table_text(table, "dos:stride=2,buffers=1");
	table_number(table, 1.2981234);
	table_integer(table, 1200);
	table_text(table, "fits");
	table_text(table, "gpu-only \xc3\xa9");
	table_number(table, NAN);
	table_integer(table, 7);
	table_text(table, NULL);
	return table;
}

START_TEST(text)
{
	struct table *const table = sample();

	expect(table, FORMAT_TABLE,
	    "policy                  update   ops  note\n"
	    "dos:stride=2,buffers=1  1.30 s  1200  fits\n"
	    "gpu-only \xc3\xa9                         7\n");
	table_free(table);
}
END_TEST

START_TEST(csv)
{
	struct table *const table = sample();

	ck_assert_uint_eq(table_n_rows(table), 2);
	expect(table, FORMAT_CSV,
	    "policy,update_s,n,note\n"
	    "\"dos:stride=2,buffers=1\",1.2981234,1200,fits\n"
	    "gpu-only \xc3\xa9,,7,\n");
	table_free(table);
}
END_TEST

START_TEST(json)
{
	struct table *const table = sample();

	expect(table, FORMAT_JSON,
	    "[\n  {\"policy\": \"dos:stride=2,buffers=1\", \"update_s\": 1.2981234, \"n\": 1200, \"note\": \"fits\"},\n"
	    "  {\"policy\": \"gpu-only \xc3\xa9\", \"update_s\": null, \"n\": 7, \"note\": null}\n]\n");
	table_free(table);
}
END_TEST

START_TEST(quotes_in_csv)
{
	static const struct table_column column = {"a,b", NULL, UNIT_NONE};
	struct table *const table = table_new(&column, 1);

	table_text(table, "say \"x\"");
	table_text(table, "two\nlines");
	table_text(table, "");
	table_number(table, INFINITY);
	expect(table, FORMAT_CSV, "\"a,b\"\n\"say \"\"x\"\"\"\n\"two\nlines\"\n\ninf\n");
	table_free(table);
}
END_TEST

START_TEST(no_rows)
{
	struct table *const table = table_new(columns, 2);

	ck_assert_uint_eq(table_n_rows(table), 0);
	expect(table, FORMAT_TABLE, "policy  update\n");
	expect(table, FORMAT_CSV, "policy,update_s\n");
	expect(table, FORMAT_JSON, "[]\n");
	table_free(table);
	table_free(NULL);
}
END_TEST

START_TEST(many_rows)
{
	struct table *const table = table_new(columns, 1);

	for (int i = 0; i < 100000; i++)
		table_text(table, "x");
	ck_assert_uint_eq(table_n_rows(table), 100000);
	table_free(table);
}
END_TEST

Suite *table_suite(void)
{
	Suite *const suite = suite_create("table");
	TCase *const core = tcase_create("core"), *const limits = tcase_create("limits");

	tcase_add_test(core, text);
	tcase_add_test(core, csv);
	tcase_add_test(core, json);
	tcase_add_test(limits, quotes_in_csv);
	tcase_add_test(limits, no_rows);
	tcase_add_test(limits, many_rows);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, limits);
	return suite;
}
