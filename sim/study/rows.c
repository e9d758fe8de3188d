/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/rows.h"

#include <math.h>
#include <string.h>

#include "model/base/file_text.h"
#include "model/base/shipped.h"
#include "model/base/csv.h"

static const struct shipped sets = {.folder = "traces/recorded", .suffix = ".csv", .what = "set of recorded runs"};

const char *const quantity_names[QUANTITY_N + 1] = {
#define QUANTITY_NAME(name, key) #key,
    QUANTITY_LIST(QUANTITY_NAME)
#undef QUANTITY_NAME
    NULL};

enum column_kind { COLUMN_TEXT, COLUMN_COUNT, COLUMN_TIME, COLUMN_BYTES, COLUMN_ON_OFF };

/* A column is a member of struct row. */
static const struct column {
	const char *name;
	enum column_kind kind;
	size_t offset;
	bool is_required; /* no cell may be empty */
} columns[] = {
#define AT(member) offsetof(struct row, member)
#define MEASURED(quantity) AT(measured) + QUANTITY_##quantity * sizeof(double)
    {"id", COLUMN_TEXT, AT(id), true},
    {"hw", COLUMN_TEXT, AT(hw), true},
    {"model", COLUMN_TEXT, AT(model), false},
    {"layers", COLUMN_COUNT, AT(layers), false},
    {"hidden", COLUMN_COUNT, AT(hidden), false},
    {"heads", COLUMN_COUNT, AT(heads), false},
    {"kv_heads", COLUMN_COUNT, AT(kv_heads), false},
    {"ffn", COLUMN_COUNT, AT(ffn), false},
    {"vocab", COLUMN_COUNT, AT(vocab), false},
    {"seq", COLUMN_COUNT, AT(batch.seq), false},
    {"gpus", COLUMN_COUNT, AT(batch.gpus), false},
    {"nodes", COLUMN_COUNT, AT(batch.nodes), false},
    {"zero", COLUMN_COUNT, AT(batch.zero_stage), false},
    {"tp", COLUMN_COUNT, AT(batch.tp), false},
    {"mbs", COLUMN_COUNT, AT(batch.mbs), false},
    {"grad_accum", COLUMN_COUNT, AT(batch.grad_accum), false},
    {"checkpointing", COLUMN_ON_OFF, AT(batch.has_checkpointing), false},
    {"policy", COLUMN_TEXT, AT(policy), true},
    {"subgroup", COLUMN_COUNT, AT(batch.subgroup_params), false},
    {"n_subgroups", COLUMN_COUNT, AT(batch.n_subgroups), false},
    {"threads", COLUMN_COUNT, AT(threads), false},
    {"forward_s", COLUMN_TIME, MEASURED(FORWARD), false},
    {"backward_s", COLUMN_TIME, MEASURED(BACKWARD), false},
    {"update_s", COLUMN_TIME, MEASURED(UPDATE), false},
    {"other_s", COLUMN_TIME, AT(other_s), false},
    {"iteration_s", COLUMN_TIME, MEASURED(ITERATION), false},
    {"gpu_peak_bytes", COLUMN_BYTES, MEASURED(GPU_PEAK), false},
    {"host_peak_bytes", COLUMN_BYTES, MEASURED(HOST_PEAK), false},
    {"exclude", COLUMN_TEXT, AT(exclude), false},
    {"source", COLUMN_TEXT, AT(source), false},
#undef MEASURED
#undef AT
};
enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* ---- header */

/* Position of a column in the file -> index of columns[]. */
struct header {
	size_t column[CSV_CELLS_MAX];
	size_t n;
};

static int unknown_column(const struct csv *csv, const char *name, struct err *err)
{
	const char *names[N_COLUMNS + 1] = {NULL};

	for (size_t i = 0; i < N_COLUMNS; i++)
		names[i] = columns[i].name;
	const char *const nearest = err_nearest(name, names);
	return err_set(err, STATUS_INPUT, "%s:%zu: unknown column '%s'%s%s%s", csv->name, csv->line, name,
	    nearest ? "; did you mean '" : "; id, hw, model, policy, update_s .. would be accepted", nearest ? nearest : "",
	    nearest ? "'?" : "");
}

static bool has_column(const struct header *header, size_t column)
{
	for (size_t i = 0; i < header->n; i++)
		if (header->column[i] == column)
			return true;
	return false;
}

static int read_header(struct header *header, struct csv *csv, struct arena *arena, struct err *err)
{
	bool has_record;

	if (csv_read(&has_record, csv, arena, err))
		return err->code;
	if (!has_record)
		return err_set(err, STATUS_INPUT, "%s: is empty; a line of column names would be accepted", csv->name);
	for (header->n = 0; header->n < csv->n_cells;) {
		const char *const name = csv->cells[header->n];
		size_t column = 0;
		while (column < N_COLUMNS && strcmp(columns[column].name, name) != 0)
			column++;
		if (column == N_COLUMNS)
			return unknown_column(csv, name, err);
		if (has_column(header, column))
			return err_set(err, STATUS_INPUT, "%s:%zu: column '%s' stands twice", csv->name, csv->line, name);
		header->column[header->n++] = column;
	}
	for (size_t i = 0; i < N_COLUMNS; i++)
		if (columns[i].is_required && !has_column(header, i))
			return err_set(err, STATUS_INPUT, "%s:%zu: column '%s' is missing", csv->name, csv->line, columns[i].name);
	return 0;
}

/* ---- rows */

/* Nothing else in an iteration than its phases: a time of 0. */
static bool is_no_time(const struct column *column, const char *text)
{
	double value;
	struct err err = {0};

	return column->offset == offsetof(struct row, other_s) && units_parse(&value, UNIT_NONE, text, &err) == 0 && value == 0;
}

static int read_number(double *value, const struct column *column, const char *text, struct err *err)
{
	if (is_no_time(column, text)) {
		*value = 0;
		return 0;
	}
	if (column->kind == COLUMN_COUNT)
		return csv_count(value, text, err);
	return csv_measured(value, column->kind == COLUMN_BYTES ? UNIT_BYTES : UNIT_SECONDS, text, err);
}

static int read_member(struct row *row, const struct column *column, const char *text, struct err *err)
{
	void *const member = (char *)row + column->offset;

	if (*text == '\0')
		return column->is_required ? err_set(err, STATUS_INPUT, "is empty") : 0;
	switch (column->kind) {
	case COLUMN_TEXT: *(const char **)member = text; return 0;
	case COLUMN_ON_OFF:
		if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
			return err_set(err, STATUS_INPUT, "'%s' is not on or off", text);
		*(bool *)member = strcmp(text, "on") == 0;
		return 0;
	case COLUMN_COUNT:
	case COLUMN_TIME:
	case COLUMN_BYTES: break;
	}
	return read_number(member, column, text, err);
}

static int check_row(const struct row *row, const struct rows *rows, struct err *err)
{
	const bool has_shape = row->layers > 0 || row->hidden > 0 || row->heads > 0 || row->ffn > 0 || row->vocab > 0;

	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(rows->rows[i].id, row->id) == 0)
			return err_set(err, STATUS_INPUT, "id: '%s' is that of line %zu too", row->id, rows->rows[i].line);
	if ((*row->model != '\0') + has_shape + (row->batch.n_subgroups > 0) != 1)
		return err_set(err, STATUS_INPUT, "model: one of a model, a shape (layers to vocab) and n_subgroups would be accepted");
	if (has_shape && !(row->layers > 0 && row->hidden > 0 && row->heads > 0 && row->ffn > 0 && row->vocab > 0))
		return err_set(err, STATUS_INPUT, "layers: a shape needs layers, hidden, heads, ffn and vocab");
	return 0;
}

static void start_row(struct row *row, size_t line)
{
	*row = (struct row){.id = "", .hw = "", .model = "", .policy = "", .exclude = "", .source = "", .line = line};
	row->batch.has_checkpointing = true;
	for (size_t i = 0; i < QUANTITY_N; i++)
		row->measured[i] = NAN;
	row->other_s = NAN;
}

static int read_row(struct row *row, const struct header *header, const struct csv *csv, struct err *err)
{
	start_row(row, csv->line);
	if (csv->n_cells != header->n)
		return err_set(err, STATUS_INPUT, "%s:%zu: %zu cells; %zu would be accepted, as in the first line", csv->name, csv->line,
		    csv->n_cells, header->n);
	for (size_t i = 0; i < header->n; i++) {
		const struct column *const column = &columns[header->column[i]];
		if (read_member(row, column, csv->cells[i], err)) {
			err_wrap(err, "%s:%zu: %s", csv->name, csv->line, column->name);
			return err->code = STATUS_INPUT;
		}
	}
	row->measured[QUANTITY_SUM_PHASES] =
	    row->measured[QUANTITY_FORWARD] + row->measured[QUANTITY_BACKWARD] + row->measured[QUANTITY_UPDATE];
	return 0;
}

int rows_parse(struct rows *rows, const char *name, const char *text, size_t n_bytes, struct arena *arena, struct err *err)
{
	struct csv csv;
	struct header header = {0};
	size_t capacity = 0;

	*rows = (struct rows){.name = arena_strdup(arena, name)};
	csv_init(&csv, rows->name, text, n_bytes);
	if (read_header(&header, &csv, arena, err))
		return err->code;
	for (;;) {
		bool has_record;
		if (csv_read(&has_record, &csv, arena, err))
			return err->code;
		if (!has_record)
			return 0;
		if (rows->n == capacity) {
			struct row *const grown = arena_alloc(arena, capacity = capacity ? 2 * capacity : 64, sizeof(*grown));
			if (rows->n)
				memcpy(grown, rows->rows, rows->n * sizeof(*grown));
			rows->rows = grown;
		}
		struct row *const row = &rows->rows[rows->n];
		if (read_row(row, &header, &csv, err))
			return err->code;
		if (check_row(row, rows, err))
			return err_wrap(err, "%s:%zu", csv.name, csv.line);
		rows->n++;
	}
}

int rows_load(struct rows *rows, const char *path, struct arena *arena, struct err *err)
{
	const char *text;
	size_t n_bytes;

	int code = shipped_is_file(&sets, path) ? 0 : shipped_find(&path, &sets, path, arena, err);
	if (!code)
		code = csv_read_file(&text, &n_bytes, path, arena, err);
	return code ? code : rows_parse(rows, file_text_name(path), text, n_bytes, arena, err);
}

size_t rows_list(struct opt_list *names, struct arena *arena)
{
	return shipped_list(names, &sets, arena);
}

int row_shape(struct shape *shape, const struct row *row, struct err *err)
{
	if (*row->model) {
		const struct shape_preset *const preset = shape_preset_find(row->model);
		if (!preset)
			return err_set(err, STATUS_INPUT, "model '%s' is not known; dos list models has them", row->model);
		*shape = preset->shape;
		return 0;
	}
	*shape = (struct shape){.name = row->batch.n_subgroups > 0 ? "update" : "custom",
	    .arch = ARCH_LLAMA,
	    .layers = row->layers,
	    .hidden = row->hidden,
	    .heads = row->heads,
	    .kv_heads = row->kv_heads,
	    .ffn = row->ffn,
	    .vocab = row->vocab};
	return 0;
}
