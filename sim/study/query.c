/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/query.h"

#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/study/store_open.h"

/* What fits a screen; nodes, stage and tp between the two, where some are not usual. */
static const char people_columns[] = "hw, model, substr(policy, 1, instr(policy || ':', ':') - 1) AS policy, stride, ratio, fraction, gpus";
static const char more_people_columns[] = "mbs, forward_s, backward_s, update_s, iteration_s, gpu_peak_bytes, feasible, bottleneck";

struct reading {
	const struct query *query;
	sqlite3 *db;
	sqlite3_stmt *statement;
	struct arena *arena;
	FILE *out;
	size_t n_rows;
};

/* ---- SQL */

static bool has_any(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	const bool has = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW;

	sqlite3_finalize(statement);
	return has;
}

/* all: the columns of v_runs. */
static const char *sql_of(const struct reading *r, const char *all, struct arena *arena)
{
	const struct query *const q = r->query;
	const bool has_nodes = has_any(r->db, "SELECT 1 FROM workloads WHERE nodes > 1 LIMIT 1");
	const bool has_parallel = has_any(r->db, "SELECT 1 FROM workloads WHERE zero < 3 OR tp > 1 LIMIT 1");
	const char *const people = arena_printf(arena, "%s, %s%s%s", people_columns, has_nodes ? "nodes, " : "",
	    has_parallel ? "zero, tp, " : "", more_people_columns);
	const char *const columns = q->columns ? q->columns : q->format == FORMAT_TABLE ? people : all;
	const char *sql = arena_printf(arena, "SELECT %s\nFROM %s", columns, store_runs_sql(r->db));

	if (q->where) /* the line break ends a comment */
		sql = arena_printf(arena, "%s WHERE (%s\n)", sql, q->where);
	if (q->group)
		sql = arena_printf(arena, "%s GROUP BY %s\n", sql, q->group);
	if (q->order)
		sql = arena_printf(arena, "%s ORDER BY %s\n", sql, q->order);
	if (q->limit)
		sql = arena_printf(arena, "%s LIMIT %lld", sql, q->limit);
	return sql;
}

static int wrong_sql(const struct reading *r, const char *columns, struct err *err)
{
	const char *const message = sqlite3_errmsg(r->db);
	const bool is_column = strncmp(message, "no such column", 14) == 0;

	return err_set(err, STATUS_USAGE, "db query: %s; SQL over the columns of v_runs would be accepted%s%s%s", message, is_column ? ": " : "",
	    is_column ? columns : "", is_column ? ", nodes, zero, tp" : "");
}

static const char *columns_of(sqlite3_stmt *statement, struct arena *arena)
{
	const char *list = "";

	for (int i = 0; i < sqlite3_column_count(statement); i++)
		list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", sqlite3_column_name(statement, i));
	return list;
}

/* The view first, so that what is wrong with the file is told apart from what is wrong with the SQL. */
static int prepare(struct reading *r, struct err *err)
{
	const char *tail = "";

	if (sqlite3_prepare_v2(r->db, "SELECT * FROM v_runs", -1, &r->statement, NULL) != SQLITE_OK)
		return err_set(err, STATUS_INPUT, "%s: %s; a database that dos sweep wrote would be accepted", r->query->path,
		    sqlite3_errmsg(r->db));
	const char *const columns = columns_of(r->statement, r->arena);
	sqlite3_finalize(r->statement);
	r->statement = NULL;
	const int rc = sqlite3_prepare_v2(r->db, sql_of(r, columns, r->arena), -1, &r->statement, &tail);
	if (rc == SQLITE_AUTH)
		return err_set(err, STATUS_USAGE, "db query: only reading is possible (%s)", sqlite3_errmsg(r->db));
	if (rc != SQLITE_OK)
		return wrong_sql(r, columns, err);
	if (!r->statement || *tail)
		return err_set(err, STATUS_USAGE, "db query: more than one statement");
	return 0;
}

/* ---- rows */

static void json_row(struct jsonw *w, sqlite3_stmt *statement)
{
	jsonw_inline_object(w);
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		jsonw_key(w, sqlite3_column_name(statement, i));
		switch (sqlite3_column_type(statement, i)) {
		case SQLITE_INTEGER: jsonw_integer(w, sqlite3_column_int64(statement, i)); break;
		case SQLITE_FLOAT: jsonw_number(w, sqlite3_column_double(statement, i)); break;
		case SQLITE_NULL: jsonw_null(w); break;
		default: jsonw_string(w, (const char *)sqlite3_column_text(statement, i)); break;
		}
	}
	jsonw_end_object(w);
}

static void csv_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void csv_header(FILE *out, sqlite3_stmt *statement)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		if (i)
			putc(',', out);
		csv_text(out, sqlite3_column_name(statement, i));
	}
	putc('\n', out);
}

static void csv_row(FILE *out, sqlite3_stmt *statement)
{
	char number[32];

	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		if (i)
			putc(',', out);
		switch (sqlite3_column_type(statement, i)) {
		case SQLITE_FLOAT: fputs(jsonw_double_text(number, sqlite3_column_double(statement, i)), out); break;
		case SQLITE_NULL: break;
		default: csv_text(out, (const char *)sqlite3_column_text(statement, i)); break;
		}
	}
	putc('\n', out);
}

static bool ends_with(const char *text, const char *suffix)
{
	const size_t n = strlen(text), n_suffix = strlen(suffix);
	return n >= n_suffix && strcmp(text + n - n_suffix, suffix) == 0;
}

static struct table *table_of(sqlite3_stmt *statement, struct arena *arena)
{
	const int n = sqlite3_column_count(statement);
	struct table_column *const columns = arena_zalloc(arena, (size_t)n, sizeof(*columns));

	for (int i = 0; i < n; i++) {
		const char *const name = arena_strdup(arena, sqlite3_column_name(statement, i));
		columns[i] = (struct table_column){.key = name,
		    .unit = ends_with(name, "_s") ? UNIT_SECONDS : ends_with(name, "_bytes") ? UNIT_BYTES : UNIT_NONE};
	}
	return table_new(columns, (size_t)n);
}

static void table_row(struct table *table, sqlite3_stmt *statement)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		switch (sqlite3_column_type(statement, i)) {
		case SQLITE_INTEGER: table_integer(table, sqlite3_column_int64(statement, i)); break;
		case SQLITE_FLOAT: table_number(table, sqlite3_column_double(statement, i)); break;
		default: table_text(table, (const char *)sqlite3_column_text(statement, i)); break;
		}
	}
}

/* ---- printing: SQLite's last answer is returned */

static int print_json(struct reading *r)
{
	struct jsonw w;
	int rc;

	jsonw_init(&w, r->out, true);
	jsonw_object(&w);
	jsonw_member_string(&w, "schema", "dos-query/1");
	jsonw_key(&w, "rows");
	jsonw_array(&w);
	for (; (rc = sqlite3_step(r->statement)) == SQLITE_ROW; r->n_rows++)
		json_row(&w, r->statement);
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	putc('\n', r->out);
	return rc;
}

static int print_csv(struct reading *r)
{
	int rc;

	csv_header(r->out, r->statement);
	for (; (rc = sqlite3_step(r->statement)) == SQLITE_ROW; r->n_rows++)
		csv_row(r->out, r->statement);
	return rc;
}

static int print_table(struct reading *r)
{
	struct table *const table = table_of(r->statement, r->arena);
	int rc;

	for (; (rc = sqlite3_step(r->statement)) == SQLITE_ROW; r->n_rows++)
		table_row(table, r->statement);
	if (r->n_rows > 0)
		table_print(table, FORMAT_TABLE, r->out);
	table_free(table);
	return rc;
}

/* ---- nothing selected */

/* "h100-4x, a100-4x and 3 more" */
static const char *distinct(struct reading *r, const char *expression)
{
	enum { N_SHOWN = 6 };
	const char *const sql = arena_printf(r->arena, "SELECT DISTINCT %s FROM v_runs ORDER BY 1", expression);
	sqlite3_stmt *statement;
	const char *list = "";
	size_t n = 0;

	if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return "?";
	for (; sqlite3_step(statement) == SQLITE_ROW; n++)
		if (n < N_SHOWN)
			list = arena_printf(r->arena, "%s%s%s", list, n ? ", " : "", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return n > N_SHOWN ? arena_printf(r->arena, "%s and %zu more", list, n - N_SHOWN) : list;
}

static int nothing_selected(struct reading *r, struct err *err)
{
	return err_set(err, STATUS_NO, "%s: no row is selected; it has %s: hw %s; model %s; policy %s; contention %s", r->query->path,
	    distinct(r, "count(*)"), distinct(r, "hw"), distinct(r, "model"),
	    distinct(r, "substr(policy, 1, instr(policy || ':', ':') - 1)"), distinct(r, "contention"));
}

/* ---- the whole */

static int print_rows(struct reading *r, struct err *err)
{
	static int (*const prints[])(struct reading *) = {
	    [FORMAT_TABLE] = print_table, [FORMAT_JSON] = print_json, [FORMAT_CSV] = print_csv};
	const int code = prepare(r, err);

	if (code)
		return code;
	const int rc = prints[r->query->format](r) & 0xff;
	if (rc == SQLITE_ERROR || rc == SQLITE_TOOBIG) /* not the file: a value that the SQL asks for */
		return err_set(err, STATUS_USAGE, "db query: %s; SQL over the columns of v_runs would be accepted", sqlite3_errmsg(r->db));
	if (rc != SQLITE_DONE)
		return store_sqlite_error(r->db, r->query->path, err);
	return r->n_rows > 0 ? 0 : nothing_selected(r, err);
}

/* Read without a lock (see store_open_defensive), so a change meanwhile must not go unnoticed. */
static bool is_changed(const struct stat *before, const char *path)
{
	struct stat after;

	return stat(path, &after) != 0 || after.st_size != before->st_size || after.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	    after.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

int query_run(const struct query *query, FILE *out, struct err *err)
{
	struct arena arena = {0};
	struct reading r = {.query = query, .arena = &arena, .out = out};
	struct stat before = {0};

	stat(query->path, &before);
	int code = store_open_defensive(&r.db, query->path, err);
	if (!code) {
		const bool has_lock = sqlite3_db_filename(r.db, "main") && !sqlite3_uri_boolean(sqlite3_db_filename(r.db, "main"), "immutable", 0);
		code = print_rows(&r, err);
		if (!has_lock && is_changed(&before, query->path))
			code = err_set(err, STATUS_INPUT, "%s: was written while it was read; try again", query->path);
	}
	sqlite3_finalize(r.statement);
	sqlite3_close(r.db);
	arena_release(&arena);
	return code;
}
