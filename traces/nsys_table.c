/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/nsys_table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char magic[16] = "SQLite format 3";

enum { MEMORY_MAX = 256 * 1024 * 1024 };

/* "file:PATH?immutable=1" with what a URI may not have written as %XX. */
static char *uri_of(const char *path, struct arena *arena)
{
	char *const uri = arena_alloc(arena, strlen(path) * 3 + 64, 1);
	char *to = uri + sprintf(uri, "file:");

	for (; *path; path++)
		if (isalnum((unsigned char)*path) || strchr("/._-~", *path))
			*to++ = *path;
		else
			to += sprintf(to, "%%%02X", (unsigned char)*path);
	sprintf(to, "?immutable=1");
	return uri;
}

/* Bounds for a hostile file: no long values, no deep or endless programs, no code of its schema. */
static void restrict_database(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 4 * 1024 * 1024);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 65536);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 50);
	sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 4);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
}

static int open_file(sqlite3 **db, const struct input *in, struct err *err)
{
	struct arena arena = {0};
	char start[sizeof(magic)] = "";
	FILE *const file = fopen(in->name, "rb");
	const bool is_plain =
	    file && fread(start, 1, sizeof(start), file) == sizeof(start) && memcmp(start, magic, 16) == 0;

	if (file)
		fclose(file);
	if (!is_plain)
		return err_set(err, STATUS_INPUT,
		    "%s: an Nsight Systems export must be a plain file: neither gzip nor a pipe", in->name);
	const int rc = sqlite3_open_v2(uri_of(in->name, &arena), db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	arena_release(&arena);
	return rc == SQLITE_OK ? 0 : err_set(err, STATUS_INPUT, "%s: %s", in->name, sqlite3_errmsg(*db));
}

/* Memory that was given in place of a file (tests); the window holds its start. */
static int open_memory(sqlite3 **db, struct input *in, struct err *err)
{
	size_t n = input_fill(in, 1), before = 0;

	while (n > before && n < MEMORY_MAX) {
		before = n;
		n = input_fill(in, n + 1);
	}
	unsigned char *const copy = sqlite3_malloc64(n);
	if (sqlite3_open(":memory:", db) != SQLITE_OK || !copy) {
		sqlite3_free(copy);
		return err_set(err, STATUS_INPUT, "%s: too large", in->name);
	}
	memcpy(copy, input_text(in), n);
	const int rc = sqlite3_deserialize(*db, "main", copy, (sqlite3_int64)n, (sqlite3_int64)n,
	    SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
	return rc == SQLITE_OK ? 0 : err_set(err, STATUS_INPUT, "%s: %s", in->name, sqlite3_errmsg(*db));
}

int nsys_open(sqlite3 **db, struct input *in, struct err *err)
{
	*db = NULL;
	const int code = in->file ? open_file(db, in, err) : open_memory(db, in, err);
	if (*db)
		restrict_database(*db);
	return code;
}

static bool is_table(sqlite3 *db, const char *table)
{
	sqlite3_stmt *statement = NULL;
	bool found = false;

	if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE name=? AND type='table' AND sql LIKE 'CREATE TABLE%'",
		-1, &statement, NULL) == SQLITE_OK) {
		sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
		found = sqlite3_step(statement) == SQLITE_ROW;
	}
	sqlite3_finalize(statement);
	return found;
}

static void find_columns(bool *found, sqlite3 *db, const char *table, const char *const columns[])
{
	sqlite3_stmt *statement = NULL;
	char sql[160];

	snprintf(sql, sizeof(sql), "PRAGMA table_info(%s)", table);
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK)
		while (sqlite3_step(statement) == SQLITE_ROW) {
			const char *const name = (const char *)sqlite3_column_text(statement, 1);
			for (size_t i = 0; name && columns[i]; i++)
				found[i] |= strcmp(name, columns[i]) == 0;
		}
	sqlite3_finalize(statement);
}

void nsys_select(sqlite3_stmt **statement, sqlite3 *db, const char *table, const char *const columns[])
{
	bool found[NSYS_COLUMNS_MAX] = {false};
	char sql[2048];
	size_t n = (size_t)snprintf(sql, sizeof(sql), "SELECT ");

	*statement = NULL;
	if (!is_table(db, table))
		return;
	find_columns(found, db, table, columns);
	for (size_t i = 0; columns[i]; i++)
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, found[i] ? "%s\"%s\"" : "%sNULL", i ? "," : "", columns[i]);
	snprintf(sql + n, sizeof(sql) - n, " FROM %s", table);
	(void)sqlite3_prepare_v2(db, sql, -1, statement, NULL); /* NULL when it fails */
}

/* ---- strings */

void nsys_strings_open(struct nsys_strings *strings, sqlite3 *db)
{
	strings->find = NULL;
	memset(strings->cache, 0, sizeof(strings->cache));
	if (is_table(db, "StringIds"))
		(void)sqlite3_prepare_v2(db, "SELECT value FROM StringIds WHERE id=?", -1, &strings->find, NULL);
}

void nsys_strings_close(struct nsys_strings *strings)
{
	sqlite3_finalize(strings->find);
	strings->find = NULL;
}

static void look_up(struct nsys_strings *strings, struct recording *rec, struct nsys_string *to, int64_t id)
{
	const char *text = NULL;

	if (strings->find) {
		sqlite3_reset(strings->find);
		sqlite3_bind_int64(strings->find, 1, id);
		if (sqlite3_step(strings->find) == SQLITE_ROW)
			text = (const char *)sqlite3_column_text(strings->find, 0);
	}
	text = text ? text : "(unnamed)";
	*to = (struct nsys_string){.id = id,
	    .is_set = true,
	    .key = recording_hash(0, text, strlen(text)),
	    .name = recording_name(rec, text, strlen(text)),
	    .is_sync = strstr(text, "Synchronize") != NULL};
	to->is_launch = !to->is_sync && (strstr(text, "Launch") || strstr(text, "Memcpy") || strstr(text, "Memset"));
}

const struct nsys_string *nsys_string(struct nsys_strings *strings, struct recording *rec, int64_t id)
{
	struct nsys_string *const entry = &strings->cache[(uint64_t)id % NSYS_CACHE_MAX];

	if (!entry->is_set || entry->id != id)
		look_up(strings, rec, entry, id);
	return entry;
}
