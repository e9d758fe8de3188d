/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/merge.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/base/arena.h"
#include "sim/study/store_open.h"
#include "sim/study/store_schema.h"

struct table_copy {
	const char *name, *columns; /* the first column is the key */
	const char *columns_1; /* the same from a store of version 1; NULL: as now */
	bool is_compared; /* equal keys must have equal rows */
};

static const struct table_copy copies[] = {
    {"results_versions", "results_version", NULL, false},
    {"profiles", STORE_PROFILE_COLUMNS, NULL, false}, /* another name for the same contents is no conflict */
    {"workloads", STORE_WORKLOAD_COLUMNS, STORE_WORKLOAD_COLUMNS_1 ", 1, 3, 1", false},
    {"trials", STORE_TRIAL_COLUMNS, NULL, true},
};
enum { N_COPIES = sizeof(copies) / sizeof(copies[0]), FIRST_CONFLICT_MAX = 256 };

struct merging {
	sqlite3 *out, *in;
	const char *out_path, *in_path;
	sqlite3_stmt *read, *insert, *find; /* of the table at hand */
	struct merge_counts *counts;
	char first_conflict[FIRST_CONFLICT_MAX];
};

static int fail_in(const struct merging *m, struct err *err)
{
	store_sqlite_error(m->in, m->in_path, err);
	return err->code = STATUS_INPUT;
}

static int fail_out(const struct merging *m, struct err *err)
{
	return store_sqlite_error(m->out, m->out_path, err);
}

/* ---- statements of one table */

static const char *marks(int n, struct arena *arena)
{
	char *const text = arena_alloc(arena, 2 * (size_t)n, 1);

	for (int i = 0; i < n; i++) {
		text[2 * i] = '?';
		text[2 * i + 1] = i + 1 < n ? ',' : '\0';
	}
	return text;
}

static int prepare(struct merging *m, const struct table_copy *table, struct arena *arena, struct err *err)
{
	const char *const select = arena_printf(arena, "SELECT %s FROM %s", table->columns, table->name);
	const int key_length = (int)strcspn(table->columns, ",");

	int rc = sqlite3_prepare_v2(m->in, select, -1, &m->read, NULL);
	if (rc != SQLITE_OK && table->columns_1)
		rc = sqlite3_prepare_v2(
		    m->in, arena_printf(arena, "SELECT %s FROM %s", table->columns_1, table->name), -1, &m->read, NULL);
	if (rc != SQLITE_OK)
		return fail_in(m, err);
	const char *const insert = arena_printf(arena, "INSERT OR IGNORE INTO %s (%s) VALUES (%s)", table->name, table->columns,
	    marks(sqlite3_column_count(m->read), arena));
	const char *const find = arena_printf(arena, "%s WHERE %.*s = ?", select, key_length, table->columns);
	if (sqlite3_prepare_v2(m->out, insert, -1, &m->insert, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(m->out, find, -1, &m->find, NULL) != SQLITE_OK)
		return fail_out(m, err);
	return 0;
}

static void finish(struct merging *m)
{
	sqlite3_finalize(m->read);
	sqlite3_finalize(m->insert);
	sqlite3_finalize(m->find);
	m->read = m->insert = m->find = NULL;
}

/* ---- rows */

static bool are_equal(sqlite3_value *a, sqlite3_value *b)
{
	if (sqlite3_value_type(a) != sqlite3_value_type(b))
		return false;
	switch (sqlite3_value_type(a)) {
	case SQLITE_NULL: return true;
	case SQLITE_INTEGER: return sqlite3_value_int64(a) == sqlite3_value_int64(b);
	case SQLITE_FLOAT: return sqlite3_value_double(a) == sqlite3_value_double(b);
	}
	const int n_bytes = sqlite3_value_bytes(a);
	if (n_bytes != sqlite3_value_bytes(b))
		return false;
	return n_bytes == 0 || memcmp(sqlite3_value_blob(a), sqlite3_value_blob(b), (size_t)n_bytes) == 0;
}

/* The row that is there is compared with the one at hand. */
static int compare(struct merging *m, struct err *err)
{
	sqlite3_bind_value(m->find, 1, sqlite3_column_value(m->read, 0));
	if (sqlite3_step(m->find) != SQLITE_ROW)
		return fail_out(m, err);
	for (int i = 0; i < sqlite3_column_count(m->read); i++) {
		if (are_equal(sqlite3_column_value(m->read, i), sqlite3_column_value(m->find, i)))
			continue;
		if (m->counts->n_conflicts++ == 0)
			snprintf(m->first_conflict, sizeof(m->first_conflict), "key %016llx of %s differs in %s",
			    (unsigned long long)sqlite3_column_int64(m->read, 0), m->in_path, sqlite3_column_name(m->read, i));
		break;
	}
	sqlite3_reset(m->find);
	return 0;
}

static int copy_row(struct merging *m, const struct table_copy *table, struct err *err)
{
	for (int i = 0; i < sqlite3_column_count(m->read); i++)
		sqlite3_bind_value(m->insert, i + 1, sqlite3_column_value(m->read, i));
	const int rc = sqlite3_step(m->insert);
	const bool is_new = sqlite3_changes(m->out) > 0;
	sqlite3_reset(m->insert);
	if (rc != SQLITE_DONE)
		return fail_out(m, err);
	if (!table->is_compared)
		return 0;
	m->counts->n_trials++;
	m->counts->n_new += is_new;
	return is_new ? 0 : compare(m, err);
}

static int copy_table(struct merging *m, const struct table_copy *table, struct err *err)
{
	struct arena arena = {0};
	int rc = SQLITE_DONE, code = prepare(m, table, &arena, err);

	while (!code && (rc = sqlite3_step(m->read)) == SQLITE_ROW)
		code = copy_row(m, table, err);
	if (!code && rc != SQLITE_DONE)
		code = fail_in(m, err);
	finish(m);
	arena_release(&arena);
	return code;
}

static int add_store(struct merging *m, const char *path, struct err *err)
{
	m->in_path = path;
	int code = store_open_defensive(&m->in, path, err);
	if (!code)
		code = store_check_results(m->in, path, err);
	for (size_t i = 0; !code && i < N_COPIES; i++)
		code = copy_table(m, &copies[i], err);
	sqlite3_close(m->in);
	m->in = NULL;
	return code;
}

int merge_run(struct merge_counts *counts, const char *out, const char *const *paths, size_t n_paths, struct err *err)
{
	struct merging m = {.out_path = out, .counts = counts};

	*counts = (struct merge_counts){0};
	if (store_open_writer(&m.out, out, err))
		return err->code;
	int code = sqlite3_exec(m.out, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK ? 0 : fail_out(&m, err);
	for (size_t i = 0; !code && i < n_paths; i++)
		code = add_store(&m, paths[i], err);
	if (!code && sqlite3_exec(m.out, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		code = fail_out(&m, err);
	sqlite3_close(m.out);
	if (!code && counts->n_conflicts > 0)
		code = err_set(err, STATUS_NO, "%s: %zu conflicts: %s; the results that came first are kept", out, counts->n_conflicts,
		    m.first_conflict);
	return code;
}
