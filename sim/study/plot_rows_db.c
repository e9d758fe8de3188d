/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rows of view v_runs (DESIGN "Files") with nodes, ZeRO stage and tensor parallelism, read only. */
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "sim/study/plot_rows.h"
#include "sim/study/store_open.h"

/* Column and member are of the same name but for the policy, which the view holds in full. */
#define TEXTS(X) X(hw, hw) X(model, model) X(policy, spec) X(scale, scale) X(contention, contention) X(reason, reason) X(bottleneck, bottleneck)
#define NUMBERS(X)                                                                                                                  \
	X(stride) X(ratio) X(fraction) X(gpus) X(nodes) X(zero) X(tp) X(mbs) X(grad_accum) X(seq) X(subgroup) X(n_subgroups) X(threads) X(feasible)        \
	X(forward_s) X(backward_s) X(update_s) X(other_s) X(iteration_s) X(gpu_peak_bytes) X(host_peak_bytes)

#define TEXT_COLUMN(column, member) #column ", "
#define NUMBER_COLUMN(column) ", " #column
static const char select_runs[] = "select " TEXTS(TEXT_COLUMN) "0" NUMBERS(NUMBER_COLUMN) " from ";

static const size_t texts[] = {
#define TEXT_OFFSET(column, member) offsetof(struct plot_row, member),
    TEXTS(TEXT_OFFSET)
#undef TEXT_OFFSET
};
static const size_t numbers[] = {
#define NUMBER_OFFSET(column) offsetof(struct plot_row, column),
    NUMBERS(NUMBER_OFFSET)
#undef NUMBER_OFFSET
};
enum { N_TEXTS = sizeof(texts) / sizeof(texts[0]), N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static const char *column_text(sqlite3_stmt *statement, int column, struct arena *arena)
{
	const unsigned char *const text = sqlite3_column_text(statement, column);

	return text ? arena_strdup(arena, (const char *)text) : "";
}

static void read_row(struct plot_row *row, sqlite3_stmt *statement, struct arena *arena)
{
	for (int i = 0; i < N_TEXTS; i++)
		*(const char **)((char *)row + texts[i]) = column_text(statement, i, arena);
	for (int i = 0; i < N_NUMBERS; i++) {
		const int column = N_TEXTS + 1 + i;
		*(double *)((char *)row + numbers[i]) =
		    sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
	}
}

static int step_all(struct plot_rows *rows, sqlite3_stmt *statement, const char *path, const char *where, struct arena *arena,
    struct err *err)
{
	int code;

	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (rows->n == PLOT_ROWS_MAX)
			return err_set(err, STATUS_USAGE, "%s: more than %d runs are selected; --where SQL narrows it", path, PLOT_ROWS_MAX);
		read_row(plot_rows_add(rows, arena), statement, arena);
	}
	if (code == SQLITE_DONE)
		return 0;
	sqlite3 *const db = sqlite3_db_handle(statement);
	if (where && ((code & 0xff) == SQLITE_ERROR || (code & 0xff) == SQLITE_TOOBIG)) /* a value that the SQL asks for */
		return err_set(err, STATUS_USAGE, "--where %s: %s; an SQL expression over the columns of v_runs would be accepted", where,
		    sqlite3_errmsg(db));
	return store_sqlite_error(db, path, err);
}

/* "h100-4x, a100-4x and 3 more" */
static const char *distinct(sqlite3 *db, const char *expression, struct arena *arena)
{
	enum { N_SHOWN = 5 };
	sqlite3_stmt *statement;
	const char *list = "";
	size_t n = 0;

	if (sqlite3_prepare_v2(db, arena_printf(arena, "select distinct %s from v_runs order by 1", expression), -1, &statement, NULL))
		return "?";
	for (; sqlite3_step(statement) == SQLITE_ROW; n++)
		if (n < N_SHOWN)
			list = arena_printf(arena, "%s%s%s", list, n ? ", " : "", column_text(statement, 0, arena));
	sqlite3_finalize(statement);
	return n > N_SHOWN ? arena_printf(arena, "%s and %zu more", list, n - N_SHOWN) : list;
}

static int nothing_selected(sqlite3 *db, const char *path, const char *where, const char *needs, struct arena *arena, struct err *err)
{
	const bool has_needs = strcmp(needs, "1") != 0;
	const char *const what = arena_printf(arena, "%s%s%s%s", has_needs ? needs : "", has_needs && where ? ", " : "", where ? "--where " : "",
	    where ? where : "");

	return err_set(err, STATUS_NO, "%s: no run is selected%s%s%s; it holds %s runs: hw %s; model %s; policy %s", path,
	    *what ? " (" : "", what, *what ? ")" : "", distinct(db, "count(*)", arena), distinct(db, "hw", arena), distinct(db, "model", arena),
	    distinct(db, "substr(policy, 1, instr(policy || ':', ':') - 1)", arena));
}

/* The view itself first, so that what is wrong with --where is told apart from what is wrong with the file. */
static int prepare(sqlite3_stmt **statement, sqlite3 *db, const char *path, const char *where, const char *needs,
    struct arena *arena, struct err *err)
{
	const char *const all = arena_printf(arena, "%s%s", select_runs, store_runs_sql(db)), *tail;

	if (sqlite3_prepare_v2(db, all, -1, statement, NULL))
		return err_set(err, STATUS_INPUT, "%s: %s; a database that dos sweep wrote would be accepted", path, sqlite3_errmsg(db));
	sqlite3_finalize(*statement);
	const char *const sql = arena_printf(arena, "%s where (%s) and (%s\n)", all, needs, where ? where : "1");
	if (sqlite3_prepare_v2(db, sql, -1, statement, &tail) || *tail) {
		const int code = err_set(err, STATUS_USAGE, "--where %s: %s; an SQL expression over the columns of v_runs would be accepted",
		    where, *tail ? "more than one statement" : sqlite3_errmsg(db));
		sqlite3_finalize(*statement);
		*statement = NULL;
		return code;
	}
	return 0;
}

int plot_rows_from_db(struct plot_rows *rows, const char *path, const char *where, const char *needs, struct arena *arena,
    struct err *err)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *db;

	*rows = (struct plot_rows){.origin = arena_printf(arena, "%s%s%s", path, where ? ", where " : "", where ? where : "")};
	int code = store_open_defensive(&db, path, err);
	if (!code)
		code = prepare(&statement, db, path, where, needs, arena, err);
	if (!code)
		code = step_all(rows, statement, path, where, arena, err);
	sqlite3_finalize(statement);
	if (!code && rows->n == 0)
		code = nothing_selected(db, path, where, needs, arena, err);
	sqlite3_close(db);
	return code;
}
