/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit_prior.h"

#include <math.h>
#include <stdint.h>

#include "sim/study/sample.h"

static const double interval_sds = 3.92; /* a 95 % interval of a normal is this many standard deviations wide */
static const double least_sd = 0.01; /* the model is no better than that */

struct fit_prior fit_prior_of(const struct hwprofile *start, const struct fit_param *param)
{
	const size_t value = fit_value_index(param->name);
	const struct hw_meta *const metas = value != SIZE_MAX ? start->value_meta : start->curve_meta;
	const struct hw_meta *const meta = metas ? &metas[value != SIZE_MAX ? value : fit_curve_index(param->name)] : NULL;
	struct fit_prior prior = {0, param->prior_sd, param->prior_sd};

	if (!meta || meta->kind == HW_KIND_DEFAULT)
		return prior;
	prior.own_sd = sample_log_sd(meta, param->name);
	if (meta->lo > 0 && meta->hi > meta->lo) {
		const double at = value != SIZE_MAX ? fit_param_value(start, param) : 1; /* of a curve: intervals are factors */
		prior.median = 0.5 * (log(meta->lo / at) + log(meta->hi / at));
		prior.own_sd = log(meta->hi / meta->lo) / interval_sds;
	}
	prior.own_sd = fmax(prior.own_sd, least_sd);
	prior.class_sd = fmax(prior.class_sd, prior.own_sd);
	return prior;
}

struct fit_prior fit_prior_wide(const struct fit_prior *p)
{
	return (struct fit_prior){p->median, p->class_sd, p->class_sd};
}

/* Density at a distance from the median, times a constant, and its derivative over the distance. */
static double density(double *slope, const struct fit_prior *p, double distance)
{
	const double own = exp(-0.5 * pow(distance / p->own_sd, 2)) / p->own_sd;
	const double class = exp(-0.5 * pow(distance / p->class_sd, 2)) / p->class_sd;

	*slope = -distance * (own / (p->own_sd * p->own_sd) + class / (p->class_sd * p->class_sd));
	return own + class;
}

double fit_prior_root(const struct fit_prior *p, double x)
{
	const double distance = x - p->median;
	double unused;

	return copysign(sqrt(fmax(0, -2 * log(density(&unused, p, distance) / density(&unused, p, 0)))), distance);
}

double fit_prior_slope(const struct fit_prior *p, double x)
{
	const double distance = x - p->median, root = fit_prior_root(p, x);
	double slope;
	const double at = density(&slope, p, distance);

	if (fabs(root) > 1e-4)
		return -slope / at / root;
	const double own = 1 / p->own_sd, class = 1 / p->class_sd; /* the limit */
	return sqrt((own * own * own + class * class * class) / (own + class));
}

double fit_prior_sd(const struct fit_prior *p, double x)
{
	return fmin(1 / fit_prior_slope(p, x), p->class_sd);
}
