/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fit_prior: what is believed of a constant before any run is seen, as a density of the logarithm x of its factor on the start.
 *
 * Nobody says whether the start is the machine of the runs or one of another kind, so the density is an even mixture of both:
 *   own    what the start says of itself: a log-normal with its 95 % interval lo .. hi, whose median need not be the value itself;
 *          without an interval the value and a width by kind (sample.h)
 *   class  any machine of a known kind: about the same median, with the width of the table (fit_param.h)
 * A start that is right holds a constant as closely as it claims; one that is not lets it go for a fixed price, after which only the
 * class counts. The cost -2 log(density / density at the median) rises with the distance; its signed root is what least squares
 * sees.
 */
#ifndef SIM_STUDY_FIT_PRIOR_H
#define SIM_STUDY_FIT_PRIOR_H

#include "sim/study/fit_param.h"

struct fit_prior {
	double median; /* of the logarithm */
	double own_sd;
	double class_sd; /* at least own_sd */
};

struct fit_prior fit_prior_of(const struct hwprofile *start, const struct fit_param *param);
/* Of the class alone: wide, with one valley. */
struct fit_prior fit_prior_wide(const struct fit_prior *prior);
double fit_prior_root(const struct fit_prior *prior, double x);
double fit_prior_slope(const struct fit_prior *prior, double x); /* of the root; > 0 */
/* Standard deviation that stands for the density about x: 1 / slope, at most that of the class. */
double fit_prior_sd(const struct fit_prior *prior, double x);

#endif
