/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store_open: opens the SQLite file of a store, for the one who writes and for those who only read, and says what is wrong
 * with a file that is no store.
 */
#ifndef SIM_STUDY_STORE_OPEN_H
#define SIM_STUDY_STORE_OPEN_H

#include "model/base/err.h"

struct sqlite3;

/* Makes the file and its tables when there are none; write-ahead log. The caller closes it with sqlite3_close. */
int store_open_writer(struct sqlite3 **db, const char *path, struct err *err) MUST_CHECK;

/* Reads only, and expects malice: no writes, no attached files, no functions but SQLite's harmless ones, no recursion. Follows
 * a writer that is at work; where there is none the file alone is read and nothing is left beside it. */
int store_open_defensive(struct sqlite3 **db, const char *path, struct err *err) MUST_CHECK;

/* What to select runs from: v_runs with the columns nodes, zero and tp, whatever the version of the store. */
const char *store_runs_sql(struct sqlite3 *db);

/* STATUS_INPUT for results of a newer version than this program computes. */
int store_check_results(struct sqlite3 *db, const char *path, struct err *err) MUST_CHECK;

/* Turns SQLite's last error into ours: "path: ..". */
int store_sqlite_error(struct sqlite3 *db, const char *path, struct err *err);

#endif
