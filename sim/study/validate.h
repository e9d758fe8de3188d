/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * validate: predictions beside recorded runs, and how far off they are.
 *
 * A row is counted when it has no `exclude` and its id is not in the profile's fitted_on; rows of the fit are reported apart,
 * excluded ones are predicted and listed only. A row that is refused, or that does not fit by the prediction although it ran,
 * has error 1 in every measured quantity. The predicted iteration is forward + backward + update + the recorded other_s.
 * Errors are |predicted / measured - 1|.
 */
#ifndef SIM_STUDY_VALIDATE_H
#define SIM_STUDY_VALIDATE_H

#include "sim/sharing.h"
#include "sim/study/rows.h"
#include "sim/study/trial.h"

struct prediction {
	const struct row *row;
	const struct hwprofile *hw; /* that it is predicted with */
	const char *set; /* name of its file */
	const char *model; /* label: preset, "L32-h4096" or "24x50M" */
	const char *policy; /* canonical; the row's own when refused */
	double predicted[QUANTITY_N]; /* NAN when refused */
	const char *reason; /* why it is refused or does not fit; NULL: neither */
	bool is_in_fit, is_excluded;
};

struct validation {
	struct prediction *predictions;
	size_t n;
};

struct validate_options {
	const char *hw; /* for all rows; NULL: each row's own */
	const struct opt_list *ids; /* shell patterns; empty: all rows */
	const struct sharing *sharing;
	enum sync sync;
};

/* Appends the predictions of a set. STATUS_INPUT when a profile cannot be loaded. Everything lives in the arena. */
int validate_rows(struct validation *validation, const struct rows *rows, const struct validate_options *options,
    struct arena *arena, struct err *err) MUST_CHECK;

/* Predicts the row on another machine (or another draw of its own), with its canonical policy. STATUS_USAGE when it is refused. What the
 * trial needs is in the arena. */
int prediction_run(double predicted[QUANTITY_N], const struct prediction *prediction, const struct hwprofile *hw,
    const struct validate_options *options, struct arena *arena, struct err *err) MUST_CHECK;

/* |predicted / measured - 1|, 1 when refused or not fitting, NAN when not measured. */
double prediction_error_frac(const struct prediction *prediction, enum quantity quantity);

/* ---- summaries */

struct errors {
	size_t n;
	double mean_frac, median_frac, p90_frac, max_frac; /* NAN without cases; 90th percentile: nearest rank */
	double bias_frac; /* mean of the signed errors of what was predicted */
	const char *worst; /* id of the largest error, NULL without cases */
};
/* One case of a summary. */
struct error_case {
	double error_frac, signed_frac; /* signed: NAN when refused */
	const char *id;
};
void errors_of(struct errors *errors, const struct error_case *cases, size_t n, struct arena *arena);

/* Rows that count (is_in_fit false) or those of the fit. hw and model NULL: all. */
void validate_errors(struct errors *errors, const struct validation *validation, enum quantity quantity, bool is_in_fit,
    const char *hw, const char *model, struct arena *arena);

/* ---- what users decide by: ratios and the best stride */

/* Speed-up of a `dos` row over zero3-offload (flush=blocking) in the same setting. */
struct speedup {
	const struct prediction *base, *prediction;
	enum quantity quantity; /* QUANTITY_SUM_PHASES or QUANTITY_UPDATE */
	double measured, predicted; /* predicted NAN when either is refused */
	double error_frac;
};
size_t validate_speedups(struct speedup **speedups, const struct validation *validation, enum quantity quantity, struct arena *arena);

/* Rows that differ in their stride (or fraction) alone: is the predicted best the measured best, in update_s? */
struct sweep {
	const char *hw, *model, *family; /* family: the SPEC without the option that varies */
	const char *key; /* "stride" or "fraction" */
	size_t n, n_in_fit;
	double gpus;
	double best_measured, best_predicted; /* values of the option */
	double loss_frac; /* measured time of the predicted best over the best measured time, less 1 */
	bool is_right; /* loss_frac <= 0.02 */
};
size_t validate_sweeps(struct sweep **sweeps, const struct validation *validation, struct arena *arena);

/* True when two rows differ in policy and measurements alone. */
bool prediction_same_setting(const struct prediction *a, const struct prediction *b);

#endif
