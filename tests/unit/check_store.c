/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/store.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/study/merge.h"
#include "sim/study/query.h"
#include "sim/study/store_open.h"
#include "tests/unit/sweep_rig.h"
#include "tests/unit/test_util.h"

static struct sweep_rig rig;
static char other[RIG_PATH_MAX], third[RIG_PATH_MAX];

static void open_rig(void)
{
	sweep_rig_open(&rig);
	snprintf(other, sizeof(other), "%s/other.db", rig.folder);
	snprintf(third, sizeof(third), "%s/third.db", rig.folder);
}

static void close_rig(void)
{
	sweep_rig_close(&rig);
}

static const struct store_workload workload = {.hash = 22, .shape = {.name = "7b", .layers = 2}, .batch = {.gpus = 2, .mbs = 1,
    .grad_accum = 1, .seq = 2048, .subgroup_params = 1e8}, .n_params = 7e9, .n_subgroups = 35};

static struct store_trial trial_of(unsigned long long key, double update_s)
{
	return (struct store_trial){.key = key, .profile_hash = rig.hw.content_hash, .workload_hash = 22, .policy = "dos:stride=2", .stride = 2,
	    .ratio = NAN, .fraction = NAN, .threads = 8, .contention = "fluid", .sync = "phase", .scale = "", .feasible = STORE_FIT,
	    .forward_s = 1, .backward_s = 2, .update_s = update_s, .other_s = 0, .iteration_s = 3 + update_s, .gpu_peak_bytes = 1e9,
	    .host_peak_bytes = 2e9, .gpu_fraction_frac = 0.5, .bottleneck = "dram"};
}

/* A store of trials with keys first..last. */
static void fill(const char *path, unsigned long long first, unsigned long long last, double update_s)
{
	struct store *store;
	bool is_new;

	ck_assert_msg(store_open(&store, path, &rig.err) == 0, "%s", rig.err.text);
	ck_assert_int_eq(store_begin(store, &rig.err), 0);
	ck_assert_int_eq(store_add_profile(store, &rig.hw, &rig.err), 0);
	for (unsigned long long key = first; key <= last; key++) {
		const struct store_trial trial = trial_of(key, update_s);
		ck_assert_int_eq(store_add_workload(store, &workload, &rig.err), 0);
		ck_assert_msg(store_add_trial(&is_new, store, &trial, &rig.err) == 0, "%s", rig.err.text);
	}
	ck_assert_int_eq(store_commit(store, &rig.err), 0);
	store_close(store);
}

static size_t n_rows(const char *path)
{
	size_t n;

	sweep_rig_contents(&n, path);
	return n;
}

/* ---- writing */

START_TEST(rows_are_added_once)
{
	const struct store_trial trial = trial_of(5, 1);
	struct store *store;
	bool is_new, has, is_empty;

	fill(rig.db, 1, 4, 1);
	ck_assert_int_eq(store_open(&store, rig.db, &rig.err), 0);
	ck_assert_int_eq(store_begin(store, &rig.err), 0);
	ck_assert_int_eq(store_add_trial(&is_new, store, &trial, &rig.err), 0);
	ck_assert(is_new);
	ck_assert_int_eq(store_add_trial(&is_new, store, &trial, &rig.err), 0);
	ck_assert(!is_new);
	ck_assert_int_eq(store_commit(store, &rig.err), 0);
	ck_assert_int_eq(store_has(&has, store, 5, &rig.err), 0);
	ck_assert(has);
	ck_assert_int_eq(store_has(&has, store, 6, &rig.err), 0);
	ck_assert(!has);
	ck_assert_int_eq(store_is_empty(&is_empty, store, &rig.err), 0);
	ck_assert(!is_empty);
	store_close(store);
	ck_assert_uint_eq(n_rows(rig.db), 5);
}
END_TEST

START_TEST(what_is_not_committed_is_dropped)
{
	const struct store_trial trial = trial_of(5, 1);
	struct store *store;
	bool is_new;

	fill(rig.db, 1, 4, 1);
	ck_assert_int_eq(store_open(&store, rig.db, &rig.err), 0);
	ck_assert_int_eq(store_begin(store, &rig.err), 0);
	ck_assert_int_eq(store_add_trial(&is_new, store, &trial, &rig.err), 0);
	store_close(store);
	ck_assert_uint_eq(n_rows(rig.db), 4);
}
END_TEST

START_TEST(the_view_is_the_contract)
{
	static const char columns[] = "key hw model policy stride ratio fraction gpus mbs grad_accum seq subgroup n_subgroups threads "
	                              "contention scale feasible reason forward_s backward_s update_s other_s iteration_s "
	                              "gpu_peak_bytes host_peak_bytes bottleneck ";
	char got[1024] = "";
	sqlite3_stmt *statement;
	sqlite3 *db;

	fill(rig.db, 255, 255, 1);
	ck_assert_int_eq(sqlite3_open(rig.db, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT * FROM v_runs", -1, &statement, NULL), SQLITE_OK);
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		strcat(got, sqlite3_column_name(statement, i));
		strcat(got, " ");
	}
	ck_assert_str_eq(got, columns);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	ck_assert_str_eq((const char *)sqlite3_column_text(statement, 0), "00000000000000ff");
	ck_assert_str_eq((const char *)sqlite3_column_text(statement, 1), "tiny");
	ck_assert_int_eq(sqlite3_column_type(statement, 5), SQLITE_NULL);
	sqlite3_finalize(statement);
	sqlite3_close(db);
}
END_TEST

START_TEST(results_of_older_versions_leave_the_view)
{
	fill(rig.db, 1, 4, 1);
	sweep_rig_sql(rig.db, "UPDATE trials SET results_version = 0 WHERE key < 3; INSERT INTO results_versions VALUES (0)");
	ck_assert_uint_eq(n_rows(rig.db), 2);
}
END_TEST

/* ---- files that are no stores */

static const struct {
	const char *sql, *message;
	int code;
} strange[] = {
    {"PRAGMA user_version = 3", "of version 3, from a newer dos", STATUS_INPUT},
    {"PRAGMA application_id = 7", "another program", STATUS_INPUT},
    {"INSERT INTO results_versions VALUES (1000)", "results of version 1000, from a newer dos", STATUS_INPUT},
};

START_TEST(strange_databases)
{
	struct store *store;

	fill(rig.db, 1, 1, 1);
	sweep_rig_sql(rig.db, strange[_i].sql);
	ck_assert_int_eq(store_open(&store, rig.db, &rig.err), strange[_i].code);
	assert_has(rig.err.text, strange[_i].message);
	assert_has(rig.err.text, rig.db);
}
END_TEST

static void write_file(const char *path, const char *text)
{
	FILE *const file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

START_TEST(files_that_cannot_be)
{
	struct store *store;
	sqlite3 *db;

	write_file(rig.db, "this is a text, long enough to be told from an empty database by SQLite: it looks at the first bytes\n");
	ck_assert_int_eq(store_open(&store, rig.db, &rig.err), STATUS_INPUT);
	assert_has(rig.err.text, "no SQLite database");
	ck_assert_int_eq(store_open_defensive(&db, rig.db, &rig.err), STATUS_INPUT);
	assert_has(rig.err.text, "no SQLite database");
	ck_assert_int_eq(store_open(&store, rig.folder, &rig.err), STATUS_ENV);
	assert_has(rig.err.text, "is a directory");
	ck_assert_int_eq(store_open_defensive(&db, rig.folder, &rig.err), STATUS_INPUT);
	ck_assert_int_eq(store_open(&store, "/nonexistent/x.db", &rig.err), STATUS_ENV);
	ck_assert_int_eq(store_open_defensive(&db, "/nonexistent/x.db", &rig.err), STATUS_INPUT);
	ck_assert_int_eq(store_open(&store, "/dev/null", &rig.err), STATUS_ENV);
	ck_assert_int_eq(store_open(&store, "", &rig.err), STATUS_USAGE);
	write_file(other, "");
	ck_assert_int_eq(store_open_defensive(&db, other, &rig.err), STATUS_INPUT);
	assert_has(rig.err.text, "is empty");
}
END_TEST

START_TEST(a_full_disk)
{
	struct store *store;
	bool is_new;
	int code = 0;

	fill(rig.db, 1, 10, 1);
	ck_assert_int_eq(store_open(&store, rig.db, &rig.err), 0);
	ck_assert_int_eq(sqlite3_exec(store_handle(store), "PRAGMA max_page_count = 1", NULL, NULL, NULL), SQLITE_OK); /* as it is now */
	ck_assert_int_eq(store_begin(store, &rig.err), 0);
	for (unsigned long long key = 11; !code && key < 10000; key++) {
		const struct store_trial trial = trial_of(key, 1);
		code = store_add_trial(&is_new, store, &trial, &rig.err);
	}
	ck_assert_int_eq(code, STATUS_ENV);
	assert_has(rig.err.text, "disk is full");
	store_close(store);
	ck_assert_uint_eq(n_rows(rig.db), 10);
}
END_TEST

/* ---- reading what may be hostile */

static int ask(const char *where)
{
	const struct query query = {.path = rig.db, .where = where, .format = FORMAT_CSV};
	FILE *const out = fopen("/dev/null", "w");
	const int code = query_run(&query, out, &rig.err);

	fclose(out);
	return code;
}

START_TEST(queries_only_read)
{
	static const char *const wheres[] = {"1); DELETE FROM trials; --", "1) UNION SELECT load_extension('x'); --",
	    "(WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r) SELECT count(*) FROM r)", "1) ; ATTACH 'x' AS y; --",
	    "(SELECT 1 FROM pragma_database_list)", "writefile('x', 'y')"};

	fill(rig.db, 1, 4, 1);
	ck_assert_int_eq(ask("update_s = 1"), 0);
	for (size_t i = 0; i < N_ELEMENTS(wheres); i++)
		ck_assert_msg(ask(wheres[i]) == STATUS_USAGE, "%s: %s", wheres[i], rig.err.text);
	ck_assert_uint_eq(n_rows(rig.db), 4);
	ck_assert_int_eq(ask("hw = 'h100'"), STATUS_NO);
	assert_has(rig.err.text, "it has 4: hw tiny; model 7b; policy dos");
}
END_TEST

START_TEST(queries_leave_nothing_behind)
{
	struct stat info;
	char log[RIG_PATH_MAX + 8];

	fill(rig.db, 1, 4, 1);
	ck_assert_int_eq(ask("1"), 0);
	snprintf(log, sizeof(log), "%s-wal", rig.db);
	ck_assert_int_ne(stat(log, &info), 0);
}
END_TEST

START_TEST(hostile_views)
{
	fill(rig.db, 1, 4, 1);
	sweep_rig_sql(rig.db, "DROP VIEW v_runs; CREATE VIEW v_runs AS SELECT load_extension('/tmp/x') AS key FROM trials");
	ck_assert_int_eq(ask(NULL), STATUS_INPUT);
	sweep_rig_sql(rig.db, "DROP VIEW v_runs; CREATE VIEW v_runs AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i FROM r) SELECT i FROM r");
	ck_assert_int_eq(ask(NULL), STATUS_INPUT);
	sweep_rig_sql(rig.db, "DROP VIEW v_runs");
	ck_assert_int_eq(ask(NULL), STATUS_INPUT);
	assert_has(rig.err.text, "v_runs");
}
END_TEST

/* ---- stores that do not know of nodes, stages and tensor parallelism */

/* How many rows have that many nodes, stage 3 and no tensor parallelism. */
static void assert_nodes(const char *path, const char *nodes, const char *n_wanted)
{
	char where[64], text[64] = "";
	const struct query query = {.path = path, .columns = "count(*) AS n", .where = where, .format = FORMAT_CSV};
	FILE *const out = fmemopen(text, sizeof(text), "w");

	snprintf(where, sizeof(where), "nodes = %s AND zero = 3 AND tp = 1", nodes);
	ck_assert_msg(query_run(&query, out, &rig.err) == 0, "%s", rig.err.text);
	fclose(out);
	ck_assert_str_eq(text + 2, n_wanted); /* after the head */
}

START_TEST(a_store_of_version_1)
{
	static const char as_version_1[] =
	    "DROP VIEW v_runs_parallel; ALTER TABLE workloads DROP COLUMN nodes; ALTER TABLE workloads DROP COLUMN zero;"
	    "ALTER TABLE workloads DROP COLUMN tp; PRAGMA user_version = 1";
	const char *const paths[] = {rig.db};
	struct merge_counts counts;
	struct store *store;
	size_t n;

	fill(rig.db, 1, 4, 1);
	const unsigned long long contents = sweep_rig_contents(&n, rig.db);
	sweep_rig_sql(rig.db, as_version_1);
	assert_nodes(rig.db, "1", "4\n"); /* read as it is */
	ck_assert_msg(merge_run(&counts, other, paths, 1, &rig.err) == 0, "%s", rig.err.text);
	assert_nodes(other, "1", "4\n");
	ck_assert(sweep_rig_contents(&n, other) == contents);
	ck_assert_msg(store_open(&store, rig.db, &rig.err) == 0, "%s", rig.err.text); /* and brought up to date */
	store_close(store);
	sweep_rig_sql(rig.db, "SELECT nodes, zero, tp FROM workloads");
	fill(rig.db, 5, 5, 1);
	assert_nodes(rig.db, "1", "5\n");
	sweep_rig_sql(rig.db, "DELETE FROM trials WHERE key = 5");
	ck_assert(sweep_rig_contents(&n, rig.db) == contents);
}
END_TEST

/* ---- merging */

START_TEST(merging_twice_changes_nothing)
{
	const char *const paths[] = {rig.db, other};
	struct merge_counts counts;
	size_t n;

	fill(rig.db, 1, 10, 1);
	fill(other, 8, 20, 1);
	ck_assert_msg(merge_run(&counts, third, paths, 2, &rig.err) == 0, "%s", rig.err.text);
	ck_assert_uint_eq(counts.n_trials, 23);
	ck_assert_uint_eq(counts.n_new, 20);
	const unsigned long long contents = sweep_rig_contents(&n, third);
	ck_assert_uint_eq(n, 20);
	ck_assert_int_eq(merge_run(&counts, third, paths, 2, &rig.err), 0);
	ck_assert_uint_eq(counts.n_new, 0);
	ck_assert(sweep_rig_contents(&n, third) == contents);
	ck_assert_int_eq(merge_run(&counts, rig.db, paths, 2, &rig.err), 0); /* into one of them */
	ck_assert(sweep_rig_contents(&n, rig.db) == contents);
}
END_TEST

START_TEST(conflicts_are_reported)
{
	const char *const paths[] = {rig.db, other};
	struct merge_counts counts;

	fill(rig.db, 1, 10, 1);
	fill(other, 8, 20, 2);
	ck_assert_int_eq(merge_run(&counts, third, paths, 2, &rig.err), STATUS_NO);
	ck_assert_uint_eq(counts.n_conflicts, 3);
	assert_has(rig.err.text, "3 conflicts: key 0000000000000008");
	assert_has(rig.err.text, "differs in update_s");
	ck_assert_uint_eq(n_rows(third), 20);
}
END_TEST

START_TEST(a_bad_file_merges_nothing)
{
	const char *const paths[] = {rig.db, other};
	struct merge_counts counts;

	fill(rig.db, 1, 10, 1);
	fill(third, 1, 1, 1);
	write_file(other, "no database, but a text that is long enough to be seen as one that is not a database at all .........\n");
	ck_assert_int_eq(merge_run(&counts, third, paths, 2, &rig.err), STATUS_INPUT);
	ck_assert_uint_eq(n_rows(third), 1);
}
END_TEST

Suite *store_suite(void);
Suite *store_suite(void)
{
	Suite *const suite = suite_create("store");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_checked_fixture(core, open_rig, close_rig);
	tcase_add_test(core, rows_are_added_once);
	tcase_add_test(core, what_is_not_committed_is_dropped);
	tcase_add_test(core, the_view_is_the_contract);
	tcase_add_test(core, results_of_older_versions_leave_the_view);
	tcase_add_test(core, queries_only_read);
	tcase_add_test(core, queries_leave_nothing_behind);
	tcase_add_test(core, a_store_of_version_1);
	tcase_add_test(core, merging_twice_changes_nothing);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, open_rig, close_rig);
	tcase_add_loop_test(errors, strange_databases, 0, N_ELEMENTS(strange));
	tcase_add_test(errors, files_that_cannot_be);
	tcase_add_test(errors, a_full_disk);
	tcase_add_test(errors, hostile_views);
	tcase_add_test(errors, conflicts_are_reported);
	tcase_add_test(errors, a_bad_file_merges_nothing);
	suite_add_tcase(suite, errors);
	return suite;
}
