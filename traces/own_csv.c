/* SPDX-License-Identifier: GPL-3.0-or-later
 * Format: timeline of `dos simulate --trace FILE.csv`: one operation a line, columns by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traces/own_lanes.h"
#include "traces/reader.h"
#include "traces/text_lines.h"

static const char head[] = "op,rank,lane,kind,iteration,phase,";

#define COLUMN_LIST(X) X(rank) X(lane) X(kind) X(iteration) X(phase) X(start_s) X(end_s) X(amount) X(unit)
enum column {
#define COLUMN_ENUM(name) COLUMN_##name,
	COLUMN_LIST(COLUMN_ENUM)
#undef COLUMN_ENUM
	    COLUMN_N
};
static const char *const column_names[COLUMN_N] = {
#define COLUMN_TEXT(name) #name,
    COLUMN_LIST(COLUMN_TEXT)
#undef COLUMN_TEXT
};

enum { CELLS_MAX = 32 };

struct csv_reader {
	struct recording *rec;
	struct text_lines lines;
	int column_of[COLUMN_N]; /* place in a line, -1 none */
	char *cells[CELLS_MAX];
	int n_cells;
	/* phases are those of MAIN's operations, as in the Chrome form */
	struct own_phases open;
	char phase[32];
	int64_t iteration, from_ns, to_ns;
	bool has_phase;
};

/* Splits the line at hand in place; quotes are dropped, "" inside them is a quote. */
static void split(struct csv_reader *r)
{
	char *to = r->lines.text, *cell = to;
	bool is_quoted = false;

	r->n_cells = 0;
	for (const char *at = r->lines.text;; at++) {
		if (*at == '"' && is_quoted && at[1] == '"') {
			*to++ = *at++;
		} else if (*at == '"') {
			is_quoted = !is_quoted;
		} else if (*at == '\0' || (*at == ',' && !is_quoted)) {
			const bool is_last = *at == '\0';
			*to++ = '\0';
			if (r->n_cells < CELLS_MAX)
				r->cells[r->n_cells++] = cell;
			cell = to;
			if (is_last)
				return;
		} else {
			*to++ = *at;
		}
	}
}

static void find_columns(struct csv_reader *r)
{
	for (int c = 0; c < COLUMN_N; c++) {
		r->column_of[c] = -1;
		for (int i = 0; i < r->n_cells; i++)
			if (strcmp(r->cells[i], column_names[c]) == 0)
				r->column_of[c] = i;
	}
}

static const char *cell(const struct csv_reader *r, enum column column)
{
	const int i = r->column_of[column];
	return i >= 0 && i < r->n_cells ? r->cells[i] : "";
}

static bool seconds_ns(int64_t *ns, const char *text)
{
	char *end;
	const double seconds = strtod(text, &end);

	if (end == text || !(seconds >= 0 && seconds < 4e9))
		return false;
	*ns = llround(seconds * 1e9);
	return true;
}

static void end_phase(struct csv_reader *r)
{
	if (r->has_phase && r->to_ns > r->from_ns)
		own_phases_add(r->rec, &r->open, r->phase, r->iteration, r->from_ns, r->to_ns - r->from_ns);
	r->from_ns = r->to_ns;
}

/* From one end of MAIN's operations of a phase to the next. */
static void follow_phase(struct csv_reader *r, int64_t iteration, int64_t end_ns)
{
	const char *const phase = cell(r, COLUMN_phase);

	if (!r->has_phase || iteration != r->iteration || strcmp(phase, r->phase) != 0) {
		end_phase(r);
		r->has_phase = true;
		r->iteration = iteration;
		strncpy(r->phase, phase, sizeof(r->phase) - 1);
	}
	r->to_ns = end_ns;
}

static void read_line(struct csv_reader *r)
{
	int64_t start_ns, end_ns;
	char *end;

	split(r);
	r->rec->n_read++;
	if (!seconds_ns(&start_ns, cell(r, COLUMN_start_s)) || !seconds_ns(&end_ns, cell(r, COLUMN_end_s)) ||
	    end_ns < start_ns) {
		recording_note(r->rec, "lines without a start and an end are skipped", r->lines.number, "line");
		return;
	}
	const int64_t rank = strtoll(cell(r, COLUMN_rank), &end, 10),
		      iteration = strtoll(cell(r, COLUMN_iteration), &end, 10);
	if (rank == 0 && strcmp(cell(r, COLUMN_lane), "host main") == 0)
		follow_phase(r, iteration, end_ns);
	if (end_ns > start_ns)
		own_lanes_add(r->rec, cell(r, COLUMN_lane), cell(r, COLUMN_kind), rank < 0 ? 0 : rank, start_ns,
		    end_ns - start_ns, strtod(cell(r, COLUMN_amount), &end), cell(r, COLUMN_unit), r->lines.number, "line");
}

static bool detect(const char *bytes, size_t n)
{
	return n >= sizeof(head) - 1 && memcmp(bytes, head, sizeof(head) - 1) == 0;
}

static int read_all(struct recording *rec, struct input *in, struct err *err)
{
	struct csv_reader *const r = xmalloc(1, sizeof(*r));

	(void)err;
	memset(r, 0, sizeof(*r));
	r->rec = rec;
	rec->is_timeline = true;
	text_lines_init(&r->lines, in);
	if (text_lines_next(&r->lines)) {
		split(r);
		find_columns(r);
	}
	while (text_lines_next(&r->lines))
		if (r->lines.n > 0)
			read_line(r);
	end_phase(r);
	own_phases_end(rec, &r->open);
	free(r);
	return 0;
}

const struct trace_reader trace_reader_own_csv = {.name = "dos timeline CSV", .detect = detect, .read = read_all};
