/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fit_param: the constants of a machine that a fit may change, each a factor on a value or curve of the profile it starts from.
 *
 * Invariant: a constant's name is that of its value or curve; what follows it is scaled alike, so that ratios which no run tells
 * apart (Adam and its unscale) stay those of the start. Factors are natural logarithms: 0 is the start. prior_sd is what is
 * believed of a machine of a known kind before any run is seen: the standard deviation of that logarithm (fit_prior.h has the rest).
 */
#ifndef SIM_STUDY_FIT_PARAM_H
#define SIM_STUDY_FIT_PARAM_H

#include "model/hwprofile.h"

enum { FIT_FOLLOWERS_MAX = 3 };

struct fit_param {
	const char *name;
	const char *followers[FIT_FOLLOWERS_MAX]; /* NULL: none */
	double prior_sd;
	double typical; /* where to start when the profile has 0 or no limit and the constant is asked for by name; 0: no such case */
	bool is_memory; /* changes peaks of memory alone */
};

extern const struct fit_param fit_params[];
extern const size_t fit_n_params;

/* NULL when unknown. */
const struct fit_param *fit_param_find(const char *name);
/* Value, or largest rate of a curve. */
double fit_param_value(const struct hwprofile *hw, const struct fit_param *param);
/* False for 0 and infinity, which no factor changes. */
bool fit_param_is_there(const struct hwprofile *hw, const struct fit_param *param);
/* Gives a constant that is not there its typical value. */
void fit_param_start_typical(struct hwprofile *hw, const struct fit_param *param);
/* Multiplies it and what follows it. */
void fit_param_scale(struct hwprofile *hw, const struct fit_param *param, double factor);
/* Least and largest logarithm: the range of the field, a data sheet's value or peak, a copy that runs alone. duplex rates:
 * as *hw has the one-way rates now. */
void fit_param_bounds(
    double *lo, double *hi, const struct hwprofile *start, const struct hwprofile *hw, const struct fit_param *param);

enum unit fit_param_unit(const struct fit_param *param);
/* Index in hw_value_fields or hw_curve_fields; SIZE_MAX when the name is not one. */
size_t fit_value_index(const char *name);
size_t fit_curve_index(const char *name);

#endif
