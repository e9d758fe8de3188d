/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table: rows of cells shown as an aligned text table, CSV (RFC 4180) or a JSON array of objects.
 *
 * Cells are text or numbers; a number knows its unit: people see "1.30 s", CSV and JSON see 1.2981234.
 */
#ifndef MODEL_BASE_TABLE_H
#define MODEL_BASE_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "model/base/arena.h"
#include "model/base/jsonw.h"
#include "model/base/units.h"

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

struct table_column {
	const char *key; /* machine name with unit suffix: update_s */
	const char *title; /* for people: "update"; NULL: the key */
	enum unit unit; /* of number cells */
};

struct table;

/* Columns are borrowed and must outlive the table. */
struct table *table_new(const struct table_column *columns, size_t n_columns);
void table_free(struct table *table);
/* Cells are appended left to right; a row is complete when all columns have a cell (asserted). Text is copied. */
void table_text(struct table *table, const char *text); /* NULL: an empty cell */
void table_number(struct table *table, double value); /* NaN: an empty cell */
void table_integer(struct table *table, long long value);
size_t table_n_rows(const struct table *table);
/* FORMAT_JSON writes a bare array; table_json puts the same array into an open writer. */
void table_print(const struct table *table, enum format format, FILE *out);
void table_json(const struct table *table, struct jsonw *w);

#endif
