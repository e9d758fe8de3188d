/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nsys_table: tables of an Nsight Systems export, whose columns differ from version to version.
 */
#ifndef TRACES_NSYS_TABLE_H
#define TRACES_NSYS_TABLE_H

#include <sqlite3.h>

#include "traces/input.h"
#include "traces/recording.h"

enum { NSYS_COLUMNS_MAX = 24, NSYS_CACHE_MAX = 8192 };

/* Read only, nothing written beside it, nothing of its schema trusted. STATUS_INPUT. */
int nsys_open(sqlite3 **db, struct input *in, struct err *err) MUST_CHECK;

/* A statement that selects these columns (NULL-terminated) in this order; those that the table lacks are NULL. *statement is NULL when there
 * is no such table (a view is none). */
void nsys_select(sqlite3_stmt **statement, sqlite3 *db, const char *table, const char *const columns[]);

/* Texts of StringIds, looked up once each. */
struct nsys_strings {
	sqlite3_stmt *find;
	struct nsys_string {
		int64_t id;
		uint32_t key; /* hash of the text */
		uint16_t name; /* in the recording */
		uint8_t is_set, is_launch, is_sync;
	} cache[NSYS_CACHE_MAX];
};
void nsys_strings_open(struct nsys_strings *strings, sqlite3 *db);
void nsys_strings_close(struct nsys_strings *strings);
/* Never NULL. Valid until the next call. */
const struct nsys_string *nsys_string(struct nsys_strings *strings, struct recording *rec, int64_t id);

#endif
