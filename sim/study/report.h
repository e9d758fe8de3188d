/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * report: stored runs as one HTML page that needs nothing else: what to run first, then figures, all runs, and where the numbers
 * come from.
 *
 * Invariant: the page refers to nothing outside of itself, runs no script but its own (a hash says so), and texts of the database
 * stay texts. The same database, command and SOURCE_DATE_EPOCH give the same bytes.
 */
#ifndef SIM_STUDY_REPORT_H
#define SIM_STUDY_REPORT_H

#include <stdio.h>

#include "model/base/opt.h"
#include "model/hwprofile.h"
#include "model/workload.h"

struct plot_rows;
struct outcome;
struct trial_input;

/* Runs that were made on the spot, in place of a database: the alternatives of a plan. */
struct report_given {
	const struct plot_rows *rows; /* of one machine, model and batch of GPUs */
	const struct outcome *const *sure; /* [rows->n], NULL not known */
	size_t n_bests; /* the first rows: the best of each policy */
	const char *command; /* that runs the best again; NULL: nothing fits */
	const char *remark; /* beside the recommendation */
	const struct hwprofile *hw; /* as it is in its file */
	const struct trial_input *best; /* NULL: nothing fits */
	/* sections after the policies, and their links: "<a href=\"#memory\">Memory</a> " */
	void (*write)(FILE *out, const void *context, struct arena *arena);
	const void *context;
	const char *links;
};

struct report_input {
	const char *db, *where; /* where: SQL over v_runs, NULL all */
	const struct report_given *given; /* NULL: from db */
	/* of runs in a database, beside what is shipped: */
	const struct opt_list *machines; /* profiles; NULL none */
	const struct shape *shapes;
	size_t n_shapes;
	const char *title; /* NULL: from what was run */
	const char *command; /* as it was typed, for the page to say */
	bool has_plots;
	size_t n_samples; /* draws for intervals, 0 none */
	size_t n_samples_least; /* where runs have many subgroups; 0: never fewer */
	unsigned long long seed;
};

/* "dos report --db x.db": a command line as a shell reads it. */
const char *report_command_line(int argc, char **argv, struct arena *arena);
/* notes: what was left out and why; everything lives in the arena. STATUS_NO: no run is selected. STATUS_ENV: no gnuplot, or
 * SOURCE_DATE_EPOCH is no number. */
int report_write(FILE *out, struct opt_list *notes, const struct report_input *input, struct arena *arena, struct err *err) MUST_CHECK;

#endif
