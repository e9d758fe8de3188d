/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum cell_kind { CELL_EMPTY, CELL_TEXT, CELL_NUMBER, CELL_INTEGER };

struct cell {
	enum cell_kind kind;
	union {
		const char *text; /* in the table's arena */
		double number;
		long long integer;
	} value;
};

struct table {
	const struct table_column *columns; /* borrowed */
	size_t n_columns;
	struct cell *cells; /* row after row */
	size_t n_cells, capacity;
	struct arena texts;
};

struct table *table_new(const struct table_column *columns, size_t n_columns)
{
	struct table *const table = xmalloc(1, sizeof(*table));

	assert(n_columns > 0);
	*table = (struct table){.columns = columns, .n_columns = n_columns};
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	arena_release(&table->texts);
	free(table->cells);
	free(table);
}

static void add_cell(struct table *table, struct cell cell)
{
	if (table->n_cells == table->capacity) {
		table->capacity = table->capacity ? 2 * table->capacity : 64;
		table->cells = xrealloc(table->cells, table->capacity, sizeof(*table->cells));
	}
	table->cells[table->n_cells++] = cell;
}

void table_text(struct table *table, const char *text)
{
	struct cell cell = {.kind = CELL_EMPTY};

	if (text)
		cell = (struct cell){.kind = CELL_TEXT, .value.text = arena_strdup(&table->texts, text)};
	add_cell(table, cell);
}

void table_number(struct table *table, double value)
{
	struct cell cell = {.kind = CELL_EMPTY};

	if (!isnan(value))
		cell = (struct cell){.kind = CELL_NUMBER, .value.number = value};
	add_cell(table, cell);
}

void table_integer(struct table *table, long long value)
{
	add_cell(table, (struct cell){.kind = CELL_INTEGER, .value.integer = value});
}

size_t table_n_rows(const struct table *table)
{
	assert(table->n_cells % table->n_columns == 0);
	return table->n_cells / table->n_columns;
}

static const struct cell *cell_at(const struct table *table, size_t row, size_t column)
{
	return &table->cells[row * table->n_columns + column];
}

static const char *title_of(const struct table_column *column)
{
	return column->title ? column->title : column->key;
}

/* Columns on a terminal: code points. */
static size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* What people see; `room` is used when the cell is no text. */
static const char *shown_text(const struct cell *cell, enum unit unit, char room[UNITS_TEXT_MAX])
{
	switch (cell->kind) {
	case CELL_TEXT: return cell->value.text;
	case CELL_NUMBER: return units_print(room, unit, cell->value.number);
	case CELL_INTEGER: snprintf(room, UNITS_TEXT_MAX, "%lld", cell->value.integer); return room;
	case CELL_EMPTY: break;
	}
	return "";
}

struct layout {
	size_t width;
	bool right; /* numbers line up on the right */
};

static struct layout column_layout(const struct table *table, size_t column)
{
	const size_t n_rows = table_n_rows(table);
	struct layout layout = {.width = text_width(title_of(&table->columns[column]))};
	char room[UNITS_TEXT_MAX];

	for (size_t row = 0; row < n_rows; row++) {
		const struct cell *const cell = cell_at(table, row, column);
		const size_t width = text_width(shown_text(cell, table->columns[column].unit, room));
		if (width > layout.width)
			layout.width = width;
		layout.right |= cell->kind == CELL_NUMBER || cell->kind == CELL_INTEGER;
	}
	return layout;
}

/* One line that moves no cursor, whatever a file put into it. */
static void print_line(FILE *out, const char *text)
{
	for (; *text; text++)
		putc((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text, out);
}

/* `spaces` wait for the next text, so that lines end without any. */
static void print_padded(FILE *out, size_t *spaces, const char *text, struct layout layout)
{
	const size_t padding = layout.width - text_width(text);

	*spaces += layout.right ? padding : 0;
	if (*text) {
		fprintf(out, "%*s", (int)*spaces, "");
		print_line(out, text);
		*spaces = 0;
	}
	*spaces += (layout.right ? 0 : padding) + 2;
}

static void print_table(const struct table *table, FILE *out)
{
	const size_t n_rows = table_n_rows(table), n_columns = table->n_columns;
	struct layout *const layouts = xmalloc(n_columns, sizeof(*layouts));
	char room[UNITS_TEXT_MAX];
	size_t spaces = 0;

	for (size_t column = 0; column < n_columns; column++) {
		layouts[column] = column_layout(table, column);
		print_padded(out, &spaces, title_of(&table->columns[column]), layouts[column]);
	}
	putc('\n', out);
	for (size_t row = 0; row < n_rows; row++) {
		spaces = 0;
		for (size_t column = 0; column < n_columns; column++) {
			const enum unit unit = table->columns[column].unit;
			print_padded(out, &spaces, shown_text(cell_at(table, row, column), unit, room), layouts[column]);
		}
		putc('\n', out);
	}
	free(layouts);
}

static void print_csv_text(FILE *out, const char *text)
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

static void print_csv_cell(FILE *out, const struct cell *cell)
{
	char text[32];

	switch (cell->kind) {
	case CELL_TEXT: print_csv_text(out, cell->value.text); break;
	case CELL_NUMBER:
		if (isfinite(cell->value.number))
			fputs(jsonw_double_text(text, cell->value.number), out);
		else
			fputs(cell->value.number > 0 ? "inf" : "-inf", out);
		break;
	case CELL_INTEGER: fprintf(out, "%lld", cell->value.integer); break;
	case CELL_EMPTY: break;
	}
}

static void print_csv(const struct table *table, FILE *out)
{
	const size_t n_rows = table_n_rows(table);

	for (size_t column = 0; column < table->n_columns; column++) {
		if (column)
			putc(',', out);
		print_csv_text(out, table->columns[column].key);
	}
	putc('\n', out);
	for (size_t row = 0; row < n_rows; row++) {
		for (size_t column = 0; column < table->n_columns; column++) {
			if (column)
				putc(',', out);
			print_csv_cell(out, cell_at(table, row, column));
		}
		putc('\n', out);
	}
}

static void json_cell(struct jsonw *w, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_TEXT: jsonw_string(w, cell->value.text); break;
	case CELL_NUMBER: jsonw_number(w, cell->value.number); break;
	case CELL_INTEGER: jsonw_integer(w, cell->value.integer); break;
	case CELL_EMPTY: jsonw_null(w); break;
	}
}

void table_json(const struct table *table, struct jsonw *w)
{
	const size_t n_rows = table_n_rows(table);

	jsonw_array(w);
	for (size_t row = 0; row < n_rows; row++) {
		jsonw_inline_object(w);
		for (size_t column = 0; column < table->n_columns; column++) {
			jsonw_key(w, table->columns[column].key);
			json_cell(w, cell_at(table, row, column));
		}
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void print_json(const struct table *table, FILE *out)
{
	struct jsonw w;

	jsonw_init(&w, out, true);
	table_json(table, &w);
	putc('\n', out);
}

void table_print(const struct table *table, enum format format, FILE *out)
{
	switch (format) {
	case FORMAT_TABLE: print_table(table, out); break;
	case FORMAT_JSON: print_json(table, out); break;
	case FORMAT_CSV: print_csv(table, out); break;
	}
}
