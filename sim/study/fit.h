/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fit: a machine's constants from a few recorded runs, by least squares over complete simulations; what the runs cannot tell is
 * held at the start and said. Left-out errors: each run (or group of runs of one model) predicted by a fit of the others.
 *
 * Deterministic. Everything lives in the arena.
 */
#ifndef SIM_STUDY_FIT_H
#define SIM_STUDY_FIT_H

#include "sim/study/fit_solve.h"

enum fit_leave { FIT_LEAVE_RUN, FIT_LEAVE_GROUP, FIT_LEAVE_NONE };

struct fit_options {
	const struct opt_list *params; /* names; empty: all that the profile has; +name: that too */
	double noise_frac; /* of a measured value, relative; > 0 */
	bool is_l1;
	bool has_jackknife; /* standard errors from the fits that leave one out */
	enum fit_leave leave;
	const struct sharing *sharing;
	enum sync sync;
};

struct fit_constant {
	const struct fit_param *param;
	double start, estimate; /* of the profile's value, or the largest rate of its curve */
	double lo, hi; /* 95 %; held: that of the start */
	double log_sd; /* standard error of the estimate's logarithm, 0 when held */
	double prior_log_sd; /* what it would be from the start alone */
	struct fit_finding finding;
};

/* A measured value beside its predictions. */
struct fit_residual {
	const struct fit_case *run;
	enum quantity quantity;
	double measured, start, fitted; /* predicted by the start, by the fit */
	double left_out; /* by a fit without this run (or its group); NAN: none */
};

struct fit_result {
	struct fit_constant *constants; /* [n_constants] in the order of the table */
	size_t n_constants;
	struct fit_residual *residuals; /* [n_residuals], those that count in the fit */
	size_t n_residuals;
	double *singular_values; /* [n_singular], of the estimated constants in units of noise and prior, falling */
	size_t n_singular;
	double n_used; /* constants' worth that the values pay for */
	double noise_frac; /* scatter of the residuals: root mean square over degrees of freedom; NAN when none are left */
	double inflation; /* of standard errors: scatter over noise, at least 1 */
	struct hwprofile *start; /* with typical values where asked for */
	struct hwprofile *hw; /* fitted numbers; metadata still the start's (fit_profile) */
	const double *x, *rival_x; /* [n_constants] logarithms over the start: of this, and of another explanation of the runs */
	double rival_excess; /* how much larger the other's sum of squares is; INFINITY: none was met */
	size_t n_misfits; /* runs that ran, but need more memory than the profile has */
	bool has_converged;
	size_t n_left_out; /* fits that leave one out */
	size_t n_trials;
};

/* STATUS_USAGE for unknown names of constants (with the accepted ones) and refused runs. */
int fit_run(struct fit_result *result, const struct hwprofile *hw, const struct fit_cases *cases, const struct fit_options *options,
    struct arena *arena, struct err *err) MUST_CHECK;

#endif
