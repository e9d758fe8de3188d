/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/store_open.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "model/base/arena.h"
#include "sim/study/results.h"
#include "sim/study/store.h"
#include "sim/study/store_schema.h"

enum { BUSY_MS = 60000, RETRY_MS = 20, CACHE_KIB = 8192, WAL_PAGES = 16000 };

int store_sqlite_error(sqlite3 *db, const char *path, struct err *err)
{
	const char *const text = db ? sqlite3_errmsg(db) : "out of memory";

	switch (db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM) {
	case SQLITE_NOTADB: return err_set(err, STATUS_INPUT, "%s: is no SQLite database", path);
	case SQLITE_CORRUPT: return err_set(err, STATUS_INPUT, "%s: is damaged: %s", path, text);
	case SQLITE_FULL: return err_set(err, STATUS_ENV, "%s: the disk is full; what was finished before is kept", path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return err_set(err, STATUS_ENV, "%s: another program keeps it locked", path);
	case SQLITE_READONLY:
	case SQLITE_PERM: return err_set(err, STATUS_ENV, "%s: cannot be written: it is read-only", path);
	case SQLITE_CANTOPEN: return err_set(err, STATUS_ENV, "%s: cannot be opened: %s", path, strerror(sqlite3_system_errno(db)));
	case SQLITE_IOERR:
		return err_set(err, STATUS_ENV, "%s: %s: %s; what was finished before is kept", path, text,
		    strerror(sqlite3_system_errno(db)));
	default: return err_set(err, STATUS_INPUT, "%s: %s", path, text);
	}
}

/* Closes after an error. */
static int fail(sqlite3 **db, const char *path, struct err *err)
{
	const int code = store_sqlite_error(*db, path, err);

	sqlite3_close(*db);
	*db = NULL;
	return code;
}

static int refuse(sqlite3 **db, int code)
{
	sqlite3_close(*db);
	*db = NULL;
	return code;
}

static int pragma(long long *value, sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_step(statement);
	*value = rc == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- is it a store of ours? */

/* *is_new: nothing has been written yet. Within a transaction: another sweep may be making the tables. */
static int judge(bool *is_new, sqlite3 *db, const char *path, struct err *err)
{
	long long application, version, n_objects;

	if (pragma(&application, db, "PRAGMA application_id") || pragma(&version, db, "PRAGMA user_version") ||
	    pragma(&n_objects, db, "SELECT count(*) FROM sqlite_schema"))
		return store_sqlite_error(db, path, err);
	*is_new = application == 0 && version == 0 && n_objects == 0;
	if (*is_new)
		return 0;
	if (application != STORE_APPLICATION_ID)
		return err_set(err, STATUS_INPUT, "%s: is a SQLite database of another program; a new file, or one that dos sweep "
		    "wrote, would be accepted", path);
	if (version > STORE_VERSION)
		return err_set(err, STATUS_INPUT, "%s: is of version %lld, from a newer dos; up to version %d would be accepted", path,
		    version, STORE_VERSION);
	return 0;
}

static int judge_snapshot(bool *is_new, sqlite3 *db, const char *path, struct err *err)
{
	if (sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return store_sqlite_error(db, path, err);
	const int code = judge(is_new, db, path, err);
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return code;
}

const char *store_runs_sql(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	const bool has_all = sqlite3_prepare_v2(db, "SELECT nodes, zero, tp FROM v_runs_parallel", -1, &statement, NULL) == SQLITE_OK;

	sqlite3_finalize(statement);
	return has_all ? "v_runs_parallel" : "(SELECT *, 1 AS nodes, 3 AS zero, 1 AS tp FROM v_runs)";
}

int store_check_results(sqlite3 *db, const char *path, struct err *err)
{
	long long version;

	if (pragma(&version, db, "SELECT max(results_version) FROM results_versions"))
		return store_sqlite_error(db, path, err);
	if (version > RESULTS_VERSION)
		return err_set(err, STATUS_INPUT, "%s: has results of version %lld, from a newer dos; up to version %d would be accepted",
		    path, version, RESULTS_VERSION);
	return 0;
}

/* ---- writer */

static int check_file(const char *path, struct err *err)
{
	struct stat info;

	if (*path == '\0')
		return err_set(err, STATUS_USAGE, "the name of the database is empty");
	if (stat(path, &info) != 0)
		return 0;
	if (S_ISDIR(info.st_mode))
		return err_set(err, STATUS_ENV, "%s: cannot be written: it is a directory", path);
	if (!S_ISREG(info.st_mode))
		return err_set(err, STATUS_ENV, "%s: cannot be written: it is no regular file", path);
	if (info.st_size == 1) /* which SQLite takes for an empty file */
		return err_set(err, STATUS_INPUT, "%s: is no SQLite database", path);
	return 0;
}

/* ":memory:" and "file:x" are names of files like any other. */
static int open_file(sqlite3 **db, const char *path, int flags)
{
	struct arena arena = {0};
	const char *const name = path[0] == '/' ? path : arena_printf(&arena, "./%s", path);
	const int rc = sqlite3_open_v2(name, db, flags | SQLITE_OPEN_NOMUTEX, NULL);

	arena_release(&arena);
	if (*db) {
		sqlite3_busy_timeout(*db, BUSY_MS);
		sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL); /* we make none: a foreign one could delete rows */
	}
	return rc;
}

/* Makes the tables, or brings those of an older version up to date. */
static int make_schema(sqlite3 *db, const char *schema_sql)
{
	struct arena arena = {0};
	const char *const sql = arena_printf(&arena, "%sPRAGMA application_id = %d; PRAGMA user_version = %d;", schema_sql,
	    STORE_APPLICATION_ID, STORE_VERSION);
	const int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	arena_release(&arena);
	return rc;
}

/* Under the write lock, because another sweep may be doing the same. */
static int prepare_tables(sqlite3 *db, const char *path, struct err *err)
{
	char sql[128];
	long long version = 0;
	bool is_new;

	if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return store_sqlite_error(db, path, err);
	int code = judge(&is_new, db, path, err);
	if (!code && pragma(&version, db, "PRAGMA user_version"))
		code = store_sqlite_error(db, path, err);
	if (!code && version < STORE_VERSION && make_schema(db, is_new ? store_schema_sql : store_upgrade_sql) != SQLITE_OK)
		code = store_sqlite_error(db, path, err);
	if (!code)
		code = store_check_results(db, path, err);
	snprintf(sql, sizeof(sql), "INSERT OR IGNORE INTO results_versions VALUES (%d)", RESULTS_VERSION);
	if (!code && (sqlite3_exec(db, sql, NULL, NULL, NULL) || sqlite3_exec(db, "COMMIT", NULL, NULL, NULL)))
		code = store_sqlite_error(db, path, err);
	return code;
}

/* Another process that does the same makes SQLite answer "busy" at once here, whatever the timeout. */
static int set_wal(sqlite3 *db)
{
	int rc = SQLITE_BUSY;

	for (int waited_ms = 0; rc == SQLITE_BUSY && waited_ms < BUSY_MS; waited_ms += RETRY_MS) {
		rc = sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
		if (rc == SQLITE_BUSY)
			sqlite3_sleep(RETRY_MS);
	}
	return rc;
}

static int set_up_writer(sqlite3 *db)
{
	char sql[160];
	const int rc = set_wal(db);

	snprintf(sql, sizeof(sql), "PRAGMA synchronous = FULL; PRAGMA cache_size = -%d; PRAGMA wal_autocheckpoint = %d;", CACHE_KIB,
	    WAL_PAGES);
	return rc == SQLITE_OK ? sqlite3_exec(db, sql, NULL, NULL, NULL) : rc;
}

int store_open_writer(sqlite3 **db, const char *path, struct err *err)
{
	bool is_new;

	*db = NULL;
	if (check_file(path, err))
		return err->code;
	if (open_file(db, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) != SQLITE_OK)
		return fail(db, path, err);
	if (judge_snapshot(&is_new, *db, path, err)) /* before anything is changed */
		return refuse(db, err->code);
	if (sqlite3_db_readonly(*db, "main") == 1)
		return refuse(db, err_set(err, STATUS_ENV, "%s: cannot be written: it is read-only", path));
	if (set_up_writer(*db) != SQLITE_OK)
		return fail(db, path, err);
	return prepare_tables(*db, path, err) ? refuse(db, err->code) : 0;
}

/* ---- readers */

/* Reading and SQLite's own functions; a view of a stranger's file can do no more. */
static int authorize(void *context, int action, const char *first, const char *second, const char *database, const char *trigger)
{
	(void)context, (void)first, (void)database, (void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_TRANSACTION: return SQLITE_OK;
	case SQLITE_FUNCTION: return strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	default: return SQLITE_DENY;
	}
}

static int defend(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	return sqlite3_exec(db, "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
}

/* A path as the text of a URI. */
static const char *uri_of(const char *path, struct arena *arena)
{
	char *const uri = arena_alloc(arena, 3 * strlen(path) + 32, 1);
	char *to = uri + sprintf(uri, "file:%s", path[0] == '/' ? "" : "./");

	for (const char *c = path; *c; c++)
		to += sprintf(to, strchr("%?# ", *c) ? "%%%02X" : "%c", (unsigned char)*c);
	strcpy(to, "?immutable=1");
	return uri;
}

/* Without a log nobody writes, and SQLite need not make one to read. */
static int open_to_read(sqlite3 **db, const char *path)
{
	struct arena arena = {0};
	struct stat info;
	int rc;

	if (stat(arena_printf(&arena, "%s-wal", path), &info) == 0) {
		rc = open_file(db, path, SQLITE_OPEN_READONLY);
	} else {
		const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
		rc = sqlite3_open_v2(uri_of(path, &arena), db, flags, NULL);
	}
	arena_release(&arena);
	return rc;
}

int store_open_defensive(sqlite3 **db, const char *path, struct err *err)
{
	struct stat info;
	bool is_new;

	*db = NULL;
	if (stat(path, &info) != 0)
		return err_set(err, STATUS_INPUT, "%s: cannot be read: %s", path, strerror(errno));
	if (!S_ISREG(info.st_mode))
		return err_set(err, STATUS_INPUT, "%s: cannot be read: it is %s", path,
		    S_ISDIR(info.st_mode) ? "a directory" : "no regular file");
	if (open_to_read(db, path) != SQLITE_OK || defend(*db) != SQLITE_OK) {
		fail(db, path, err);
		return err->code = STATUS_INPUT;
	}
	if (judge_snapshot(&is_new, *db, path, err))
		return refuse(db, err->code = STATUS_INPUT);
	if (is_new)
		return refuse(db, err_set(err, STATUS_INPUT, "%s: is empty; a database that dos sweep wrote would be accepted", path));
	sqlite3_set_authorizer(*db, authorize, NULL);
	return 0;
}
