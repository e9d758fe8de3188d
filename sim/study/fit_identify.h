/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fit_identify: what a set of runs says of each constant, from the slopes of all predictions (fit_model_jacobian).
 *
 * With S = diag(prior_sd), the widths of the priors about the solution, and J the slopes over noise, the information of the runs in
 * units of the prior is A = S J'J S; the posterior covariance of the logarithms is S (A + I)^-1 S. Eigenvalues of
 * A are squares of singular values of J S: above 1 a combination of constants is known better from the runs than before them.
 */
#ifndef SIM_STUDY_FIT_IDENTIFY_H
#define SIM_STUDY_FIT_IDENTIFY_H

#include "sim/study/fit_model.h"

enum fit_state {
	FIT_ESTIMATED,
	FIT_WEAK, /* estimated, but the prior counts as much as the runs */
	FIT_AT_BOUND, /* estimated, and stopped by a bound */
	FIT_HELD, /* the runs hardly narrow it */
	FIT_HELD_PAIR, /* only together with a partner, which is estimated */
	FIT_NO_EFFECT, /* no run's prediction depends on it */
};
extern const char *const fit_state_names[]; /* "yes", "weakly", "at a bound", "no", "with another", "no effect" */

struct fit_finding {
	enum fit_state state;
	double sd; /* posterior, of the logarithm, with all that is uncertain; held: what it would be if it were free */
	size_t partner; /* strongest correlation; SIZE_MAX none */
	double correlation;
};

/* findings[n_params]; of the free ones holds (is_free) what the slopes do not identify, but none of is_needed[n_params]. Findings of
 * those held before stay. */
void fit_identify(struct fit_finding *findings, struct fit_model *model, const double *jacobian, const bool *is_needed,
    struct arena *arena);
/* Errors and correlations again, with is_free as it is. */
void fit_covariance(struct fit_finding *findings, const struct fit_model *model, const double *jacobian, struct arena *arena);
/* Singular values of J S of the free constants, falling; returns how many. n_used: constants that the runs pay for. */
size_t fit_singular_values(
    double *values, double *n_used, const struct fit_model *model, const double *jacobian, struct arena *arena);

#endif
