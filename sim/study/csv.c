/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/csv.h"

#include <string.h>

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

/* The opening quote is at hand. */
static int read_quoted(char *cell, struct csv *csv, struct err *err)
{
	csv->next++;
	while (csv->next < csv->end) {
		const bool is_quote = *csv->next == '"';
		const bool is_doubled = is_quote && csv->next + 1 < csv->end && csv->next[1] == '"';
		if (is_quote && !is_doubled) {
			csv->next++;
			*cell = '\0';
			if (at_line_end(csv) || *csv->next == ',')
				return 0;
			return err_set(err, STATUS_INPUT, "%s:%zu: text after a closing quote", csv->name, csv->line);
		}
		if (*csv->next == '\n')
			csv->next_line++;
		*cell++ = *csv->next;
		csv->next += is_doubled ? 2 : 1;
	}
	return err_set(err, STATUS_INPUT, "%s:%zu: a quote is not closed", csv->name, csv->line);
}

static int read_cell(const char **text, struct csv *csv, struct arena *arena, struct err *err)
{
	char *cell = arena_alloc(arena, (size_t)(csv->end - csv->next) + 1, 1);
	const char *const start = csv->next;

	*text = cell;
	if (csv->next < csv->end && *csv->next == '"')
		return read_quoted(cell, csv, err);
	while (!at_line_end(csv) && *csv->next != ',')
		csv->next++;
	memcpy(cell, start, (size_t)(csv->next - start));
	cell[csv->next - start] = '\0';
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
