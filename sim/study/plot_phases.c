/* SPDX-License-Identifier: GPL-3.0-or-later
 * Stacked bars of the phases. Of a policy that was run at many strides, ratios or fractions the fastest that fits stands for all. */
#include <math.h>
#include <string.h>

#include "sim/study/plot_rows.h"
#include "sim/study/specs.h"

enum { BARS_MAX = 48, BAR_PX = 25, HEADING_PX = 27, CHARACTER_PX = 7 };
/* What is optimised over, and what heads a group of bars. */
static const char *const axes[] = {"stride", "ratio", "fraction", "mask", "workers", "buffers", "unscale", "hw", "model", NULL};
static const char fallback[] = "zero3-offload:flush=blocking;async,twinflow:ratio=0.2..0.8:0.2,dos,hybrid";

struct bar {
	const struct plot_row *row; /* the best */
	const char *heading;
};

static bool is_better(const struct plot_row *row, const struct plot_row *than)
{
	if ((row->feasible != 0) != (than->feasible != 0))
		return row->feasible != 0;
	if (row->feasible == 0 && row->gpu_peak_bytes != than->gpu_peak_bytes)
		return row->gpu_peak_bytes < than->gpu_peak_bytes; /* what a report gives the reason of */
	return row->iteration_s < than->iteration_s || isnan(than->iteration_s);
}

/* Machine and model, as far as they differ. */
static const char *heading(const struct plot_row *row, const struct plot_rows *rows, struct arena *arena)
{
	bool has_hw = false;

	for (size_t i = 1; i < rows->n && !has_hw; i++)
		has_hw = strcmp(rows->rows[i].hw, rows->rows[0].hw) != 0;
	return has_hw ? arena_printf(arena, "%s on %s", row->model, row->hw) : row->model;
}

static size_t find_bar(struct bar *bars, size_t n, const struct plot_row *row)
{
	size_t i = 0;

	while (i < n && (strcmp(bars[i].row->label, row->label) != 0 || strcmp(bars[i].row->hw, row->hw) != 0 ||
	    strcmp(bars[i].row->model, row->model) != 0))
		i++;
	return i;
}

/* Bars of one heading stand together, in order of appearance. */
static int collect(struct bar bars[BARS_MAX], size_t *n, const struct plot_rows *rows, struct arena *arena, struct err *err)
{
	*n = 0;
	for (size_t i = 0; i < rows->n; i++) {
		const struct plot_row *const row = &rows->rows[i];
		const size_t at = find_bar(bars, *n, row);
		if (at < *n) {
			if (is_better(row, bars[at].row))
				bars[at].row = row;
			continue;
		}
		if (*n == BARS_MAX)
			return err_set(err, STATUS_USAGE, "plot phases: more than %d bars (%s; ..): narrow --where, --model or --policy", BARS_MAX,
			    row->label);
		const char *const text = heading(row, rows, arena);
		size_t place = *n;
		for (size_t j = 0; j < *n; j++)
			if (strcmp(bars[j].heading, text) == 0)
				place = j + 1;
		memmove(&bars[place + 1], &bars[place], (*n - place) * sizeof(*bars));
		bars[place] = (struct bar){row, text};
		++*n;
	}
	return 0;
}

/* Of the bars alone: the other rows are not seen. Ready-made rows have theirs. */
static int add_intervals(struct plot_rows *shown, struct bar *bars, size_t n, const struct plot_source *source, struct arena *arena,
    struct err *err)
{
	*shown = (struct plot_rows){.rows = arena_alloc(arena, n + 1, sizeof(*shown->rows)), .n = n};
	for (size_t i = 0; i < n; i++) {
		shown->rows[i] = *bars[i].row;
		bars[i].row = &shown->rows[i];
	}
	if (!source->rows)
		return plot_rows_intervals(shown, source, arena, err);
	for (size_t i = 0; i < n; i++)
		shown->n_intervals += shown->rows[i].iteration.hi > shown->rows[i].iteration.lo;
	return 0;
}

/* "dos flush=async, stride 2" */
static const char *bar_label(const struct plot_row *row, struct arena *arena)
{
	const char *text = row->label;

	if (!isnan(row->stride))
		text = arena_printf(arena, "%s, stride %.0f", text, row->stride);
	if (!isnan(row->fraction))
		text = arena_printf(arena, "%s, fraction %.2f", text, row->fraction);
	if (!isnan(row->ratio) && row->ratio != 1)
		text = arena_printf(arena, "%s, ratio %.2f", text, row->ratio);
	return text;
}

static const char *end_label(const struct plot_row *row, struct arena *arena)
{
	char time[UNITS_TEXT_MAX];

	if (row->feasible == 0)
		return arena_printf(arena, "does not fit%s%.64s", *row->reason ? ": " : "", row->reason);
	return arena_strdup(arena, units_print(time, UNIT_SECONDS, row->iteration_s));
}

static void write_bar(struct plot *plot, const struct plot_row *row, double y)
{
	const bool fits = row->feasible != 0;
	const double line[] = {y, fits ? row->forward_s : NAN, fits ? row->backward_s : NAN, fits ? row->update_s : NAN,
	    fits ? row->other_s : NAN, fits ? row->iteration_s : 0,
	    fits ? row->iteration.lo : NAN, fits ? row->iteration.hi : NAN,
	    fits ? fmax(row->iteration_s, row->iteration.hi) : 0}; /* fmax takes no NAN */

	plot_cell(plot, bar_label(row, plot->arena));
	plot_cell(plot, end_label(row, plot->arena));
	plot_line(plot, line, sizeof(line) / sizeof(line[0]));
}

/* Places of bars and headings: y in pixels from the top of the panel. */
static double write_bars(struct plot *plot, const struct bar *bars, size_t n)
{
	const char *headings[BARS_MAX], *heading_y[BARS_MAX];
	size_t n_headings = 0;
	double y = 0;

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(bars[i].heading, bars[i - 1].heading) != 0) {
			headings[n_headings] = bars[i].heading;
			heading_y[n_headings++] = arena_printf(plot->arena, "%g", y + HEADING_PX / 2.0 + 2);
			y += HEADING_PX;
		}
		write_bar(plot, bars[i].row, y + BAR_PX / 2.0);
		y += BAR_PX;
	}
	plot_end_block(plot);
	plot_texts(plot, "heading", headings, n_headings);
	plot_texts(plot, "heading_y", heading_y, n_headings);
	return y;
}

static void set_sizes(struct plot *plot, const struct bar *bars, size_t n, double panel_px)
{
	double max_s = 0;
	size_t longest = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t length = strlen(bar_label(bars[i].row, plot->arena));
		longest = length > longest ? length : longest;
		if (bars[i].row->feasible != 0)
			max_s = fmax(max_s, bars[i].row->iteration_s);
	}
	plot_number(plot, "panel_px", panel_px + 4);
	plot_number(plot, "height", panel_px + 216);
	plot_number(plot, "label_px", fmin(330, fmax(120, 24 + (double)longest * CHARACTER_PX)));
	plot_number(plot, "max_s", max_s > 0 ? max_s : 1);
}

static const char *subtitle(const struct plot_rows *rows, size_t n_bars, struct arena *arena)
{
	const char *const text = plot_rows_common(rows, axes, arena);

	return rows->n > n_bars ? arena_printf(arena, "%s%sof %zu runs the fastest of each kind that fits", text, *text ? "\n" : "", rows->n)
	                        : text;
}

int plot_phases(struct plot *plot, const struct plot_source *source, struct err *err)
{
	struct opt_list specs = {0};
	struct bar bars[BARS_MAX + 1];
	struct plot_rows rows, shown;
	size_t n;
	int code = 0;

	if (source->rows)
		rows = *source->rows;
	else if (source->input == PLOT_FROM_TRIALS)
		code = source->specs->n ? 0 : specs_expand(&specs, fallback, plot->arena, err);
	if (!code && !source->rows)
		code = plot_rows_load(&rows, source, specs.n ? &specs : source->specs, "1", plot->arena, err);
	if (code)
		return code;
	plot_rows_label(&rows, axes, plot->arena);
	code = collect(bars, &n, &rows, plot->arena, err);
	if (!code)
		code = add_intervals(&shown, bars, n, source, plot->arena, err);
	if (code)
		return code;
	plot_number(plot, "has_intervals", shown.n_intervals > 0);
	set_sizes(plot, bars, n, write_bars(plot, bars, n));
	plot_heading(plot, source->n_samples ? "Where the time of an iteration goes, 90 % intervals" : "Where the time of an iteration goes",
	    subtitle(&rows, n, plot->arena), rows.origin, source);
	return 0;
}
