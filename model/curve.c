/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/curve.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Index of the last point with curve->x <= x; the caller knows that x is inside. O(log n). */
static size_t segment_of(const struct curve *curve, double x)
{
	size_t low = 0, high = curve->n_points - 1;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		if (curve->x[middle] <= x)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static double lerp(double x, double x0, double x1, double y0, double y1)
{
	return y0 + (y1 - y0) * ((x - x0) / (x1 - x0));
}

static double rate_below(const struct curve *curve, double x)
{
	return curve->kind == CURVE_SIZE ? curve->rate[0] : curve->rate[0] * (x / curve->x[0]); /* E2 */
}

double curve_rate(const struct curve *curve, double x)
{
	assert(curve->n_points > 0 && x > 0);
	const size_t last = curve->n_points - 1;
	const double *const xs = curve->x, *const rates = curve->rate;

	if (x >= xs[last])
		return rates[last];
	if (x <= xs[0])
		return rate_below(curve, x);
	const size_t i = segment_of(curve, x);
	switch (curve->kind) {
	case CURVE_TRANSFER: /* E2: time is linear in size */
		return x / lerp(x, xs[i], xs[i + 1], xs[i] / rates[i], xs[i + 1] / rates[i + 1]);
	case CURVE_THREADS: return lerp(x, xs[i], xs[i + 1], rates[i], rates[i + 1]); /* E2 */
	case CURVE_SIZE: return lerp(log(x), log(xs[i]), log(xs[i + 1]), rates[i], rates[i + 1]); /* E2 */
	}
	abort(); /* no such kind */
}

double curve_peak(const struct curve *curve)
{
	double peak = 0;

	for (size_t i = 0; i < curve->n_points; i++)
		peak = fmax(peak, curve->rate[i]);
	return peak;
}

void curve_scale(struct curve *curve, double factor)
{
	for (size_t i = 0; i < curve->n_points; i++)
		curve->rate[i] *= factor;
}
