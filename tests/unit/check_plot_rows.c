/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs of a hand-made database with the stable view v_runs, and the words that tell them apart. */
#include "sim/study/plot_rows.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/test_util.h"

static struct arena arena;
static struct plot_rows rows;
static struct err err;
static char path[] = "/tmp/check_plot_rows_XXXXXX";

static const char schema[] =
    "pragma application_id = 0x444f5331; pragma user_version = 1;"
    "create table v_runs (hw, model, policy, stride, ratio, fraction, gpus, mbs, grad_accum, seq, subgroup, n_subgroups, threads,"
    " contention, scale, feasible, reason, forward_s, backward_s, update_s, other_s, iteration_s, gpu_peak_bytes, host_peak_bytes,"
    " bottleneck);";
#define RUN(hw, model, policy, stride, mbs, update)                                                                                \
	"insert into v_runs values ('" hw "', '" model "', '" policy "', " stride ", null, null, 4, " mbs ", 1, 2048, 1e8, 14, 46, "  \
	"'fluid', '', 1, '', 0.1, 0.5, " update ", 0, 2, 1e10, 1e11, 'dram');"

static void run_sql(const char *sql)
{
	sqlite3 *db;
	char *message = NULL;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
	sqlite3_close(db);
}

static void setup(void)
{
	strcpy(path + strlen(path) - 6, "XXXXXX");
	const int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	run_sql(schema);
}

static void teardown(void)
{
	unlink(path);
	arena_release(&arena);
}

static int load(const char *where)
{
	return plot_rows_from_db(&rows, path, where, "stride is not null", &arena, &err);
}

static const char *const axes[] = {"stride", NULL};

static void load_fine(const char *where)
{
	ck_assert_msg(load(where) == 0, "%s", err.text);
	plot_rows_label(&rows, axes, &arena);
}

/* ---- reading */

START_TEST(all_columns_are_read)
{
	run_sql(RUN("h100-4x", "7b", "dos:stride=2,chain=published", "2", "1", "0.6")
	    RUN("h100-4x", "7b", "zero3-offload:flush=async", "null", "1", "0.9"));
	load_fine(NULL);
	ck_assert_uint_eq(rows.n, 1); /* the other has no stride */
	const struct plot_row *const r = &rows.rows[0];
	ck_assert_str_eq(r->hw, "h100-4x");
	ck_assert_str_eq(r->policy, "dos");
	ck_assert_str_eq(r->bottleneck, "dram");
	ck_assert_double_eq(r->stride, 2);
	ck_assert(isnan(r->ratio) && isnan(r->fraction));
	ck_assert_double_eq(r->update_s, 0.6);
	ck_assert_double_eq(r->iteration_s, 2);
	ck_assert_double_eq(r->host_peak_bytes, 1e11);
	ck_assert_double_eq(r->feasible, 1);
}
END_TEST

START_TEST(nothing_selected)
{
	run_sql(RUN("h100-4x", "7b", "dos:stride=2", "2", "1", "0.6") RUN("a100-4x", "20b", "hybrid:fraction=0.5", "null", "1", "0.6"));
	ck_assert_int_eq(load("hw = 'x'"), STATUS_NO);
	assert_has(err.text, "--where hw = 'x'");
	assert_has(err.text, "it holds 2 runs: hw a100-4x, h100-4x; model 20b, 7b; policy dos, hybrid");
}
END_TEST

static const struct {
	const char *where, *message;
} refused[] = {
    {"hw = nope", "no such column: nope"},
    {"", "--where "},
    {"1; drop table v_runs", "more than one statement"},
    {"select", "syntax error"},
};

START_TEST(bad_where)
{
	run_sql(RUN("h100-4x", "7b", "dos:stride=2", "2", "1", "0.6"));
	ck_assert_int_eq(load(refused[_i].where), STATUS_USAGE);
	assert_has(err.text, refused[_i].message);
	ck_assert_int_eq(load(NULL), 0); /* nothing was dropped */
}
END_TEST

START_TEST(not_a_database)
{
	run_sql("drop table v_runs;");
	ck_assert_int_eq(load(NULL), STATUS_INPUT);
	assert_has(err.text, "no such table: v_runs; a database that dos sweep wrote would be accepted");
	unlink(path);
	ck_assert_int_eq(load(NULL), STATUS_INPUT);
	assert_has(err.text, "cannot be read: No such file");
	ck_assert_int_eq(access(path, F_OK), -1); /* not made */
}
END_TEST

/* ---- labels */

static void assert_labels(const char *const want[], size_t n_want)
{
	const char **labels;

	ck_assert_uint_eq(plot_rows_groups(&labels, &rows, &arena), n_want);
	for (size_t i = 0; i < n_want; i++)
		ck_assert_str_eq(labels[i], want[i]);
}

START_TEST(one_setting)
{
	run_sql(RUN("h100-4x", "7b", "dos:stride=2,chain=published,buffers=1", "2", "1", "0.6")
	    RUN("h100-4x", "7b", "dos:stride=3,chain=published,buffers=1", "3", "1", "0.7"));
	load_fine(NULL);
	assert_labels((const char *const[]){"dos"}, 1);
	ck_assert_str_eq(plot_rows_common(&rows, axes, &arena),
	    "7b on h100-4x, dos, 4 GPUs, micro-batch 1, 2048 tokens, subgroups of 100 M, 46 threads, contention fluid");
}
END_TEST

START_TEST(what_varies_is_named)
{
	run_sql(RUN("h100-4x", "7b", "dos:stride=2,chain=published", "2", "1", "0.6")
	    RUN("h100-4x", "7b", "dos:stride=2,chain=duplex", "2", "1", "0.7")
	    RUN("h100-4x", "13b", "dos:stride=2,chain=published", "2", "4", "0.7"));
	load_fine(NULL);
	/* the micro-batch goes with the model, so the model says it */
	assert_labels((const char *const[]){"7b chain=published", "7b chain=duplex", "13b chain=published"}, 3);
	assert_has(plot_rows_common(&rows, axes, &arena), "h100-4x, dos, 4 GPUs, 2048 tokens");
}
END_TEST

START_TEST(options_off_their_default_are_named)
{
	run_sql(RUN("h100-4x", "7b", "dos:stride=2,chain=duplex,flush=async", "2", "1", "0.6"));
	load_fine(NULL);
	assert_labels((const char *const[]){"chain=duplex"}, 1);
}
END_TEST

/* ---- order */

START_TEST(what_fits_is_better)
{
	const struct plot_row fast = {.update_s = 1, .feasible = 0}, slow = {.update_s = 2, .feasible = 1}, none = {.update_s = NAN};

	ck_assert(plot_row_is_better(&slow, &fast) && !plot_row_is_better(&fast, &slow));
	ck_assert(plot_row_is_better(&fast, &none) && plot_row_is_better(&fast, NULL));
}
END_TEST

Suite *plot_rows_suite(void);
Suite *plot_rows_suite(void)
{
	Suite *const suite = suite_create("plot_rows");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, all_columns_are_read);
	tcase_add_test(core, nothing_selected);
	tcase_add_loop_test(core, bad_where, 0, N_ELEMENTS(refused));
	tcase_add_test(core, not_a_database);
	tcase_add_test(core, one_setting);
	tcase_add_test(core, what_varies_is_named);
	tcase_add_test(core, options_off_their_default_are_named);
	tcase_add_test(core, what_fits_is_better);
	suite_add_tcase(suite, core);
	return suite;
}
