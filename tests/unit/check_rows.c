/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/rows.h"

#include <math.h>

#include "model/base/csv.h"
#include "tests/unit/test_util.h"

Suite *rows_suite(void);

static struct arena arena;
static struct rows rows;
static struct err err;

static int parse(const char *text)
{
	return rows_parse(&rows, "t.csv", text, strlen(text), &arena, &err);
}

static void teardown(void)
{
	arena_release(&arena);
}

START_TEST(members)
{
	const int code = parse("source,id,hw,model,policy,gpus,seq,checkpointing,forward_s,backward_s,update_s,other_s,threads,nodes\r\n"
	                       "\"a, \"\"b\"\"\r\nc\",one,m,7b,\"dos:stride=2,ratio=0.8\",4,2048,off,1,2,0.5,0,,16\r\n"
	                       "\r\n"
	                       ",two,m,7b,dos,,,,,,3,,8,");

	ck_assert_msg(code == 0, "%s", err.text);
	ck_assert_uint_eq(rows.n, 2);
	const struct row *const one = &rows.rows[0], *const two = &rows.rows[1];
	ck_assert_str_eq(one->source, "a, \"b\"\r\nc");
	ck_assert_str_eq(one->policy, "dos:stride=2,ratio=0.8");
	ck_assert_str_eq(one->exclude, "");
	ck_assert(one->batch.gpus == 4 && one->batch.seq == 2048 && !one->batch.has_checkpointing && one->threads == 0);
	assert_rel(one->measured[QUANTITY_SUM_PHASES], 3.5, 0);
	ck_assert(one->other_s == 0 && isnan(one->measured[QUANTITY_ITERATION]));
	ck_assert(one->batch.nodes == 16 && two->batch.nodes == 0);
	ck_assert(two->batch.has_checkpointing && two->batch.gpus == 0 && two->threads == 8);
	ck_assert(one->batch.zero_stage == 0 && one->batch.tp == 0); /* not given */
	ck_assert(isnan(two->measured[QUANTITY_SUM_PHASES]) && isnan(two->other_s));
	ck_assert_uint_eq(one->line, 2);
	ck_assert_uint_eq(two->line, 5);
}
END_TEST

START_TEST(stage_and_tensor_parallelism)
{
	ck_assert_msg(parse("id,hw,model,policy,zero,tp\na,m,7b,gpu-only,2,4\nb,m,7b,gpu-only,,\n") == 0, "%s", err.text);
	ck_assert(rows.rows[0].batch.zero_stage == 2 && rows.rows[0].batch.tp == 4);
	ck_assert(rows.rows[1].batch.zero_stage == 0 && rows.rows[1].batch.tp == 0); /* as without the columns */
}
END_TEST

START_TEST(shapes)
{
	struct shape shape;

	ck_assert_msg(parse("id,hw,model,layers,hidden,heads,kv_heads,ffn,vocab,policy,n_subgroups,subgroup\n"
	                    "p,m,7b,,,,,,,dos,,\ns,m,,2,64,4,,256,1000,dos,,\nu,m,,,,,,,,dos,24,50M\nx,m,9999b,,,,,,,dos,,") == 0, "%s", err.text);
	ck_assert_int_eq(row_shape(&shape, &rows.rows[0], &err), 0);
	ck_assert(shape.layers == 32);
	ck_assert_int_eq(row_shape(&shape, &rows.rows[1], &err), 0);
	ck_assert_str_eq(shape.name, "custom");
	ck_assert(shape.layers == 2 && shape.ffn == 256 && shape.kv_heads == 0);
	ck_assert_int_eq(row_shape(&shape, &rows.rows[2], &err), 0);
	ck_assert_str_eq(shape.name, "update");
	ck_assert(rows.rows[2].batch.n_subgroups == 24 && rows.rows[2].batch.subgroup_params == 50e6);
	ck_assert_int_eq(row_shape(&shape, &rows.rows[3], &err), STATUS_INPUT);
	assert_has(err.text, "9999b");
}
END_TEST

static const struct bad {
	const char *text, *message;
} bad_rows[] = {
    {"", "t.csv: is empty"},
    {"\n\n", "t.csv: is empty"},
    {"id,\"hw\n", "t.csv:1: a quote is not closed"},
    {"id,hw,policy,updte_s\n", "t.csv:1: unknown column 'updte_s'; did you mean 'update_s'?"},
    {"id,hw,policy,id\n", "t.csv:1: column 'id' stands twice"},
    {"id,policy\n", "t.csv:1: column 'hw' is missing"},
    {"id,hw,model,policy\na,m,7b,dos,1\n", "t.csv:2: 5 cells; 4 would be accepted"},
    {"id,hw,model,policy\n\na,m,7b\n", "t.csv:3: 3 cells"},
    {"id,hw,model,policy\na,m,7b,\n", "t.csv:2: policy: is empty"},
    {"id,hw,policy\na,m,dos\n", "t.csv:2: model: one of a model, a shape"},
    {"id,hw,model,policy,layers\na,m,7b,dos,3\n", "t.csv:2: model: one of a model, a shape"},
    {"id,hw,policy,layers\na,m,dos,3\n", "t.csv:2: layers: a shape needs"},
    {"id,hw,model,policy,gpus\na,m,7b,dos,x\n", "t.csv:2: gpus: 'x' is not a number"},
    {"id,hw,model,policy,gpus\na,m,7b,dos,1.5\n", "t.csv:2: gpus: '1.5' is not a whole number"},
    {"id,hw,model,policy,update_s\na,m,7b,dos,0\n", "t.csv:2: update_s: '0': 1e-09 to 1e+09 seconds would be accepted"},
    {"id,hw,model,policy,forward_s\na,m,7b,dos,1e-300\n", "t.csv:2: forward_s: '1e-300': 1e-09 to 1e+09 seconds"},
    {"id,hw,model,policy,iteration_s\na,m,7b,dos,1e300\n", "t.csv:2: iteration_s: '1e300': 1e-09 to 1e+09 seconds"},
    {"id,hw,model,policy,other_s\na,m,7b,dos,1e-300\n", "t.csv:2: other_s: '1e-300': 1e-09 to 1e+09 seconds"},
    {"id,hw,model,policy,gpu_peak_bytes\na,m,7b,dos,1e300\n", "t.csv:2: gpu_peak_bytes: '1e300': 1 to 1e+18 bytes"},
    {"id,hw,model,policy,gpus\na,m,7b,dos,0\n", "t.csv:2: gpus: '0': a number above 0"},
    {"id,hw,model,policy,update_s\na,m,7b,dos,nan\n", "t.csv:2: update_s: 'nan' is not a number"},
    {"id,hw,model,policy,checkpointing\na,m,7b,dos,yes\n", "t.csv:2: checkpointing: 'yes' is not on or off"},
    {"id,hw,model,policy\na,m,7b,dos\nb,m,7b,dos\na,m,7b,dos\n", "t.csv:4: id: 'a' is that of line 2 too"},
    {"id,hw,model,policy\na,m,7b,\"dos\n", "t.csv:2: a quote is not closed"},
    {"id,hw,model,policy\na,m,\"7b\"x,dos\n", "t.csv:2: text after a closing quote"},
};

START_TEST(errors)
{
	const struct bad *const bad = &bad_rows[_i];

	ck_assert_int_eq(parse(bad->text), STATUS_INPUT);
	assert_has(err.text, bad->message);
}
END_TEST

START_TEST(shipped_sets)
{
	struct opt_list names;

	ck_assert_uint_ge(rows_list(&names, &arena), 3);
	for (size_t i = 0; i < names.n; i++) {
		ck_assert_msg(rows_load(&rows, names.items[i], &arena, &err) == 0, "%s", err.text);
		ck_assert_uint_gt(rows.n, 0);
	}
	ck_assert_int_eq(rows_load(&rows, "publishd", &arena, &err), STATUS_INPUT);
	assert_has(err.text, "did you mean \"published\"?");
	ck_assert_int_eq(rows_load(&rows, "/nonexistent.csv", &arena, &err), STATUS_INPUT);
	ck_assert_int_eq(rows_load(&rows, "tests/unit", &arena, &err), STATUS_INPUT);
}
END_TEST

START_TEST(csv_limits)
{
	struct csv csv;
	bool has_record;
	const char text[] = "\xef\xbb\xbfx\r\n,\n\"\"\n";

	csv_init(&csv, "t", text, sizeof(text) - 1);
	ck_assert_int_eq(csv_read(&has_record, &csv, &arena, &err), 0);
	ck_assert(has_record && csv.n_cells == 1);
	ck_assert_str_eq(csv.cells[0], "x");
	ck_assert_int_eq(csv_read(&has_record, &csv, &arena, &err), 0);
	ck_assert(has_record && csv.n_cells == 2 && *csv.cells[0] == '\0' && *csv.cells[1] == '\0');
	ck_assert_int_eq(csv_read(&has_record, &csv, &arena, &err), 0);
	ck_assert(has_record && csv.n_cells == 1 && csv.line == 3);
	ck_assert_int_eq(csv_read(&has_record, &csv, &arena, &err), 0);
	ck_assert(!has_record);
	char wide[CSV_CELLS_MAX + 2];
	memset(wide, ',', sizeof(wide));
	csv_init(&csv, "t", wide, sizeof(wide));
	ck_assert_int_eq(csv_read(&has_record, &csv, &arena, &err), STATUS_INPUT);
	assert_has(err.text, "t:1: more than 64 cells");
}
END_TEST

Suite *rows_suite(void)
{
	Suite *const suite = suite_create("rows");
	TCase *const core = tcase_create("core");
	TCase *const wrong = tcase_create("errors");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_test(core, members);
	tcase_add_test(core, stage_and_tensor_parallelism);
	tcase_add_test(core, shapes);
	tcase_add_test(core, shipped_sets);
	tcase_add_test(core, csv_limits);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(wrong, NULL, teardown);
	tcase_add_loop_test(wrong, errors, 0, (int)N_ELEMENTS(bad_rows));
	suite_add_tcase(suite, wrong);
	return suite;
}
