/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plot: one figure. A kind turns its source (a database, a file, or trials it runs itself) into variables and data for the gnuplot
 * template of the same name in plots/; gnuplot.h draws it. A new kind is a new plot_KIND.c, its template, and a line in plot_kinds.
 *
 * Variables are gnuplot assignments. Data are blocks of tab-separated lines; block i is gnuplot's `index i`. Texts may hold anything:
 * nothing in them is interpreted.
 */
#ifndef SIM_STUDY_PLOT_H
#define SIM_STUDY_PLOT_H

#include <stdio.h>

#include "model/base/opt.h"
#include "sim/study/trial.h"

struct plot_rows;

struct plot {
	struct arena *arena; /* borrowed; what the kind needs until it is drawn */
	FILE *vars, *data; /* onto the texts below */
	char *vars_text, *data_text;
	size_t vars_size, data_size;
	size_t n_blocks;
};

enum plot_input { PLOT_FROM_DB = 1, PLOT_FROM_RUN = 2, PLOT_FROM_TRIALS = 4, PLOT_FROM_SET = 8 };

/* What a plot is made of: exactly one of them is given. */
struct plot_source {
	enum plot_input input;
	const char *db, *where; /* where: SQL over v_runs, NULL all */
	const char *run; /* a file: trace or validation */
	const struct opt_list *sets; /* recorded runs; hw of trials, when given, replaces their machines */
	const char *hw; /* as given, NULL not */
	/* trials: machine, batch and sharing; shapes and policies to run (specs empty: what suits the kind) */
	struct trial_input trial;
	const char *scale; /* --scale as given, "" none */
	const struct shape *shapes;
	size_t n_shapes;
	const struct opt_list *specs;
	size_t n_samples; /* draws for intervals; 0: none, or the kind's default */
	unsigned long long seed;
	const char *command; /* for the line that says where the plot is from */
	const struct opt_list *machines; /* profiles, beside the shipped ones, that rows of a database may be of; NULL: none */
	const struct plot_rows *rows; /* phases: these, in place of all of the above; NULL */
};

struct plot_kind {
	const char *name, *summary;
	unsigned inputs; /* enum plot_input */
	unsigned intervals; /* those of them with which --uncertainty means something */
	/* STATUS_NO: an empty selection, and what is there. */
	int (*fill)(struct plot *plot, const struct plot_source *source, struct err *err);
};
extern const struct plot_kind plot_kinds[]; /* sorted by name */
extern const size_t n_plot_kinds;
/* STATUS_USAGE names the nearest and lists all. */
int plot_kind_find(const struct plot_kind **kind, const char *name, struct arena *arena, struct err *err) MUST_CHECK;
/* "--db FILE or --hw and --model" */
const char *plot_inputs_text(const struct plot_kind *kind, struct arena *arena);

void plot_init(struct plot *plot, struct arena *arena);
void plot_release(struct plot *plot);

/* ---- for kinds */

void plot_text(struct plot *plot, const char *name, const char *text);
void plot_number(struct plot *plot, const char *name, double value);
void plot_texts(struct plot *plot, const char *name, const char *const *texts, size_t n); /* name[1..n], and n_NAME */
/* Title, a second line (wrapped; at most two), and what the numbers are from. */
void plot_heading(struct plot *plot, const char *title, const char *subtitle, const char *origin, const struct plot_source *source);
/* Legend: how many columns of the longest label fit beside each other at this many pixels: key_columns, key_rows. Returns the rows. */
double plot_legend(struct plot *plot, const char *const *labels, size_t n, size_t n_more, double width_px);
/* One line of numbers, NAN for none. */
void plot_line(struct plot *plot, const double *values, size_t n);
/* A text cell, cleaned of what separates cells. */
void plot_cell(struct plot *plot, const char *text);
void plot_end_block(struct plot *plot);

int plot_calibration(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;
int plot_stride(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;
int plot_phases(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;
int plot_fraction(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;
int plot_heatmap(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;
int plot_validation(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;
int plot_memory(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;
int plot_gantt(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;
int plot_whatif(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;
int plot_pareto(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;
int plot_capacity(struct plot *plot, const struct plot_source *source, struct err *err) MUST_CHECK;

#endif
