/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fit_model: measured and predicted quantities as residuals of the unknown constants, and their least-squares solution (GSL's
 * nonlinear least squares). Predictions are complete simulations.
 *
 * Unknown x_j: logarithm of the constant over its start. Minimised over the free ones, with s the relative noise of a measurement,
 *     sum_i rho( log(predicted_i / measured_i) / s ) + sum_j prior_j(x_j)^2
 * prior_j: fit_prior_root. rho(r) = r^2, or for l1 the smooth 2 c^2 (sqrt(1 + (r/c)^2) - 1), which grows like |r| where a run
 * is an outlier. Outside its bounds a constant stays at the bound and a steep term brings x back.
 *
 * Ownership: borrows start and cases; scratch memory is its own until fit_model_release.
 */
#ifndef SIM_STUDY_FIT_MODEL_H
#define SIM_STUDY_FIT_MODEL_H

#include "sim/study/fit_cases.h"
#include "sim/study/fit_prior.h"

struct fit_value {
	size_t case_idx;
	enum quantity quantity;
	double log_measured;
};

struct fit_model {
	const struct hwprofile *start;
	const struct fit_param *const *params; /* [n_params] */
	size_t n_params;
	struct fit_prior *priors; /* [n_params] */
	double *prior_sd; /* [n_params], where the last fit_model_jacobian was */
	const struct fit_case *cases;
	size_t n_cases;
	struct fit_value *values; /* [n_values] */
	size_t n_values;
	const struct sharing *sharing;
	enum sync sync;
	double noise_frac;
	bool is_l1;
	bool *is_free; /* [n_params] */
	bool *is_left_out; /* [n_cases]: its values do not count */
	struct arena scratch;
	size_t n_trials; /* simulations so far */
};

/* Fills the lists of values (those that the constants can change) and frees all constants. is_memory: peaks of memory count. */
void fit_model_init(struct fit_model *model, bool has_memory, struct arena *arena);
void fit_model_release(struct fit_model *model);

/* The profile at x; a start that is a copy, its hash and metadata those of the start. */
void fit_model_profile(struct hwprofile *hw, const struct fit_model *model, const double *x);
/* predicted[case * QUANTITY_N + quantity]. The error names the run. */
int fit_model_predict(double *predicted, struct fit_model *model, const double *x, struct err *err) MUST_CHECK;
/* jacobian[value * n_params + param] = d log(predicted) / dx / noise, weighted as the loss does at x; 0 for values left out. All constants,
 * held ones too. */
void fit_model_jacobian(double *jacobian, struct fit_model *model, const double *x);
/* Sum of rho over the values that count, and of the whole with all priors. */
double fit_model_misfit(struct fit_model *model, const double *x);
double fit_model_cost(struct fit_model *model, const double *x);

/* Improves x (free ones only). Returns false when the limit of iterations ended it. */
bool fit_model_solve(double *x, struct fit_model *model);

#endif
