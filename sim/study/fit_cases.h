/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fit_cases: recorded runs as a fit sees them: what to simulate, and what was measured. From rows of a CSV file, or one from
 * the log or trace of a run (medians of its phases).
 *
 * Invariant: ids are unique; every case has a measured quantity; input.hw is left to the fit. Everything lives in the arena.
 */
#ifndef SIM_STUDY_FIT_CASES_H
#define SIM_STUDY_FIT_CASES_H

#include "sim/study/rows.h"
#include "sim/study/trial.h"
#include "traces/recording.h"

struct fit_case {
	const char *id;
	const char *group; /* model and GPUs: what a leave-out by groups leaves out together */
	struct trial_input input;
	double measured[QUANTITY_N]; /* NAN: not measured */
};

struct fit_cases {
	struct fit_case *cases;
	size_t n;
	const char *hw; /* machine that the rows name, NULL before the first */
	size_t n_excluded, n_unmeasured; /* rows left out: marked so; nothing measured that a fit uses */
};

/* What a log leaves open, from the command line; shape.layers 0 and policy NULL: as the log says. */
struct fit_log_options {
	struct shape shape;
	struct batch batch; /* zeros: as the log says */
	bool has_checkpointing; /* of batch: given */
	double threads;
	const char *policy;
};

/* Rows whose id matches a pattern of ids (empty: all). STATUS_USAGE when they are of more than one machine; STATUS_INPUT for an id
 * that is there. */
int fit_cases_add_rows(struct fit_cases *cases, const struct rows *rows, const struct opt_list *ids, struct arena *arena,
    struct err *err) MUST_CHECK;

/* One case from a finished recording; id: the file's name without folders. STATUS_USAGE says what the recording lacks. */
int fit_cases_add_recording(struct fit_cases *cases, const struct recording *rec, const struct fit_log_options *options,
    struct arena *arena, struct err *err) MUST_CHECK;

#endif
