/* SPDX-License-Identifier: GPL-3.0-or-later
 * What every lane does when: the whole iteration, and its update phase enlarged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/plot_trace.h"

enum { LANE_PX = 25, PIXELS = 800 };

/* Colours are of classes; an operation that has none waits. */
static const char *const classes[] = {"CPU Adam", "host casts, unscale", "GPU compute", "GPU Adam, casts", "copy to the GPU",
    "copy from the GPU", "collectives, norms", "waiting, launches"};
enum { N_CLASSES = sizeof(classes) / sizeof(classes[0]), CLASS_WAIT = 8 };

static const int class_of_kind[OP_N] = {[OP_CPU_ADAM] = 1, [OP_CPU_ADAM_BF16] = 1, [OP_CPU_ADAM_FUSED] = 1,
    [OP_CPU_ADAM_FUSED_BF16] = 1, [OP_CPU_ADAM_SPLIT] = 1, [OP_CPU_ADAM_SPLIT_BF16] = 1, [OP_CPU_UNSCALE] = 2,
    [OP_CPU_DOWNSCALE] = 2, [OP_PUSH_PAGEABLE] = 2, [OP_FLUSH_PAGEABLE] = 2, [OP_COMPUTE] = 3, [OP_GPU_ADAM] = 4,
    [OP_GPU_ADAM_SPLIT] = 4, [OP_GPU_CAST] = 4, [OP_H2D] = 5, [OP_D2H] = 6, [OP_GPU_NORM] = 7, [OP_GATHER] = 7,
    [OP_REDUCE] = 7};

static int class_of(const char *name)
{
	for (size_t i = 0; i < OP_N; i++)
		if (strcmp(op_names[i], name) == 0)
			return class_of_kind[i] ? class_of_kind[i] : CLASS_WAIT;
	return CLASS_WAIT;
}

/* ---- boxes: neighbours of one class that are less than half a pixel apart become one */

static int by_lane_and_start(const void *a, const void *b)
{
	const struct plot_span *const x = a, *const y = b;

	if (x->lane != y->lane)
		return x->lane - y->lane;
	return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

static void write_box(struct plot *plot, const struct plot_span *span, const int rows[LANE_N], int class)
{
	plot_line(plot, (const double[]){span->start_s, span->end_s, rows[span->lane], class}, 4);
}

/* The operations between two instants. */
static void write_boxes(struct plot *plot, const struct plot_trace *t, const int rows[LANE_N], bool is_used[N_CLASSES + 1], double from_s,
    double to_s)
{
	const double gap_s = (to_s - from_s) / (2 * PIXELS);
	struct plot_span open = {.lane = -1};
	int open_class = 0;

	for (size_t i = 0; i < t->n_ops; i++) {
		struct plot_span span = t->ops[i];
		const int class = class_of(span.name);
		span.start_s = fmax(span.start_s, from_s);
		span.end_s = fmin(span.end_s, to_s);
		if (span.end_s <= span.start_s)
			continue;
		is_used[class] = true;
		if (span.lane == open.lane && class == open_class && span.start_s - open.end_s < gap_s) {
			open.end_s = span.end_s;
			continue;
		}
		if (open.lane >= 0)
			write_box(plot, &open, rows, open_class);
		open = span;
		open_class = class;
	}
	if (open.lane >= 0)
		write_box(plot, &open, rows, open_class);
	else
		plot_line(plot, (const double[]){NAN, NAN, NAN, 8}, 4);
	plot_end_block(plot);
}

/* ---- rows and phases */

/* Lanes that ran anything, top to bottom. */
static void write_lanes(struct plot *plot, const struct plot_trace *t, int rows[LANE_N])
{
	const char *names[LANE_N];
	size_t n = 0;
	bool has_ops[LANE_N] = {false};

	for (size_t i = 0; i < t->n_ops; i++)
		has_ops[t->ops[i].lane] = true;
	for (size_t lane = 0; lane < LANE_N; lane++)
		if (has_ops[lane]) {
			names[n++] = lane_names[lane];
			rows[lane] = (int)n;
		}
	plot_texts(plot, "lane", names, n);
	plot_number(plot, "panel_px", (double)n * LANE_PX);
	plot_number(plot, "height", 2 * (double)n * LANE_PX + 324);
}

static const struct plot_span *find_phase(const struct plot_trace *t, const char *name)
{
	for (size_t i = 0; i < t->n_phases; i++)
		if (strcmp(t->phases[i].name, name) == 0)
			return &t->phases[i];
	return &t->phases[t->n_phases - 1];
}

static void write_phases(struct plot *plot, const struct plot_trace *t)
{
	for (size_t i = 0; i < t->n_phases; i++) {
		plot_cell(plot, t->phases[i].name);
		plot_line(plot, (const double[]){t->phases[i].start_s, t->phases[i].end_s, (double)(i % 2)}, 3);
	}
	plot_end_block(plot);
}

static void write_legend(struct plot *plot, const bool is_used[N_CLASSES + 1])
{
	const char *names[N_CLASSES], *numbers[N_CLASSES];
	size_t n = 0;

	for (size_t i = 0; i < N_CLASSES; i++)
		if (is_used[i + 1]) {
			names[n] = classes[i];
			numbers[n++] = arena_printf(plot->arena, "%zu", i + 1);
		}
	plot_texts(plot, "class", names, n);
	plot_texts(plot, "class_number", numbers, n);
	plot_legend(plot, names, n, 0, 860);
}

int plot_gantt(struct plot *plot, const struct plot_source *source, struct err *err)
{
	char length[UNITS_TEXT_MAX];
	bool is_used[N_CLASSES + 1] = {false};
	int rows[LANE_N] = {0};
	struct plot_trace t;
	const int code = plot_trace_load(&t, source, plot->arena, err);

	if (code)
		return code;
	const struct plot_span *const update = find_phase(&t, phase_names[PHASE_UPDATE]);
	qsort(t.ops, t.n_ops, sizeof(*t.ops), by_lane_and_start);
	write_lanes(plot, &t, rows);
	write_phases(plot, &t);
	write_boxes(plot, &t, rows, is_used, 0, t.length_s);
	write_boxes(plot, &t, rows, is_used, update->start_s, update->end_s);
	write_legend(plot, is_used);
	plot_number(plot, "length_s", t.length_s);
	plot_number(plot, "zoom_from_s", update->start_s);
	plot_number(plot, "zoom_to_s", update->end_s);
	plot_text(plot, "zoom", update->name);
	plot_heading(plot, "One iteration, lane by lane",
	    arena_printf(plot->arena, "%s%srank 0, %s\n%s", t.about, *t.about ? ", " : "", units_print(length, UNIT_SECONDS, t.length_s),
	        t.policy),
	    t.origin, source);
	return 0;
}
