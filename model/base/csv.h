/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * csv: records of a CSV text (RFC 4180): quoted cells may hold commas, quotes and line breaks; LF or CRLF. And the numbers that
 * rows of recorded runs hold, by one rule for dos and dos-probe.
 */
#ifndef MODEL_BASE_CSV_H
#define MODEL_BASE_CSV_H

#include <stdbool.h>

#include "model/base/arena.h"
#include "model/base/err.h"
#include "model/base/units.h"

enum { CSV_CELLS_MAX = 64 };

struct csv {
	const char *name; /* of the file, for messages */
	const char *next, *end; /* what is left */
	size_t line; /* of the record at hand, from 1 */
	size_t next_line;
	const char *cells[CSV_CELLS_MAX]; /* of the record at hand, in the arena */
	size_t n_cells;
};

void csv_init(struct csv *csv, const char *name, const char *text, size_t n_bytes);
/* Reads the next record that is not an empty line; *has_record is false at the end. STATUS_INPUT. */
int csv_read(bool *has_record, struct csv *csv, struct arena *arena, struct err *err) MUST_CHECK;
/* The whole of a file of text (file_text.h). STATUS_INPUT for what is binary, too. */
int csv_read_file(const char **text, size_t *n_bytes, const char *path, struct arena *arena, struct err *err) MUST_CHECK;

/* A whole number above 0. STATUS_INPUT says what would be accepted. */
int csv_count(double *value, const char *text, struct err *err) MUST_CHECK;
/* A plain number in the range of measured seconds or bytes (units.h). STATUS_INPUT. */
int csv_measured(double *value, enum unit unit, const char *text, struct err *err) MUST_CHECK;

#endif
