/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/file_text.h"

void csv_init(struct csv *csv, const char *name, const char *text, size_t n_bytes)
{
	static const char mark[] = "\xef\xbb\xbf"; /* byte order mark of some editors */
	const bool has_mark = n_bytes >= 3 && memcmp(text, mark, 3) == 0;

	*csv = (struct csv){.name = name, .next = text + (has_mark ? 3 : 0), .end = text + n_bytes, .next_line = 1};
}

static bool at_line_end(const struct csv *csv)
{
	return csv->next == csv->end || *csv->next == '\n' || (*csv->next == '\r' && csv->next + 1 < csv->end && csv->next[1] == '\n');
}

static void skip_line_end(struct csv *csv)
{
	if (csv->next < csv->end && *csv->next == '\r')
		csv->next++;
	if (csv->next < csv->end)
		csv->next++;
	csv->next_line++;
}

/* Length of the quoted cell at hand with its quotes; 0 when it is not closed. */
static size_t quoted_length(const struct csv *csv)
{
	for (const char *c = csv->next + 1; c < csv->end; c++) {
		if (*c != '"')
			continue;
		if (c + 1 == csv->end || c[1] != '"')
			return (size_t)(c + 1 - csv->next);
		c++;
	}
	return 0;
}

static int read_quoted(const char **text, struct csv *csv, struct arena *arena, struct err *err)
{
	const size_t length = quoted_length(csv);

	if (length == 0)
		return err_set(err, STATUS_INPUT, "%s:%zu: a quote is not closed", csv->name, csv->line);
	char *to = arena_alloc(arena, length, 1);
	*text = to;
	for (const char *c = csv->next + 1; c < csv->next + length - 1; c++) {
		csv->next_line += *c == '\n';
		*to++ = *c;
		c += *c == '"';
	}
	*to = '\0';
	csv->next += length;
	if (!at_line_end(csv) && *csv->next != ',')
		return err_set(err, STATUS_INPUT, "%s:%zu: text after a closing quote", csv->name, csv->line);
	return 0;
}

static int read_cell(const char **text, struct csv *csv, struct arena *arena, struct err *err)
{
	const char *const start = csv->next;

	if (start < csv->end && *start == '"')
		return read_quoted(text, csv, arena, err);
	while (!at_line_end(csv) && *csv->next != ',')
		csv->next++;
	*text = arena_printf(arena, "%.*s", (int)(csv->next - start), start);
	return 0;
}

int csv_read(bool *has_record, struct csv *csv, struct arena *arena, struct err *err)
{
	while (csv->next < csv->end && at_line_end(csv))
		skip_line_end(csv);
	csv->line = csv->next_line;
	csv->n_cells = 0;
	*has_record = csv->next < csv->end;
	while (*has_record) {
		if (csv->n_cells == CSV_CELLS_MAX)
			return err_set(err, STATUS_INPUT, "%s:%zu: more than %d cells", csv->name, csv->line, CSV_CELLS_MAX);
		if (read_cell(&csv->cells[csv->n_cells], csv, arena, err))
			return err->code;
		csv->n_cells++;
		if (at_line_end(csv))
			break;
		csv->next++; /* the comma */
	}
	if (csv->next < csv->end)
		skip_line_end(csv);
	return 0;
}

int csv_read_file(const char **text, size_t *n_bytes, const char *path, struct arena *arena, struct err *err)
{
	char *bytes;

	if (file_text_load(&bytes, n_bytes, path, err))
		return err->code;
	const bool is_binary = memchr(bytes, '\0', *n_bytes) != NULL;
	if (!is_binary)
		*text = arena_strdup(arena, bytes);
	free(bytes);
	return is_binary ? err_set(err, STATUS_INPUT, "%s: is no text", file_text_name(path)) : 0;
}

/* ---- numbers of recorded runs */

int csv_count(double *value, const char *text, struct err *err)
{
	if (units_parse(value, UNIT_NONE, text, err))
		return err->code = STATUS_INPUT;
	if (*value <= 0)
		return err_set(err, STATUS_INPUT, "'%s': a number above 0 would be accepted", text);
	if (*value != floor(*value))
		return err_set(err, STATUS_INPUT, "'%s' is not a whole number", text);
	return 0;
}

int csv_measured(double *value, enum unit unit, const char *text, struct err *err)
{
	const bool is_bytes = unit == UNIT_BYTES;
	const struct units_range *const range = is_bytes ? &units_measured_bytes : &units_measured_s;

	if (units_parse(value, UNIT_NONE, text, err))
		return err->code = STATUS_INPUT;
	if (*value < range->min || *value > range->max)
		return err_set(err, STATUS_INPUT, "'%s': %g to %g %s would be accepted", text, range->min, range->max,
		    is_bytes ? "bytes" : "seconds");
	return 0;
}
