/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * query: rows of v_runs of a store, as a table, JSON or CSV. The file and the SQL may come from anywhere: nothing but reading
 * is possible.
 *
 * Rows stream, so JSON and CSV take the same memory whatever their number.
 */
#ifndef SIM_STUDY_QUERY_H
#define SIM_STUDY_QUERY_H

#include <stdio.h>

#include "model/base/table.h"

struct query {
	const char *path;
	const char *where, *columns, *group, *order; /* SQL over the columns of v_runs; NULL: all rows, all columns, as stored */
	long long limit; /* 0: none */
	enum format format;
};

/* STATUS_NO when nothing is selected: says what there is. STATUS_USAGE for SQL that is wrong or would do more than read. */
int query_run(const struct query *query, FILE *out, struct err *err) MUST_CHECK;

#endif
