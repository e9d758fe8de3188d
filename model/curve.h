/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * curve: a measured rate as a function of size: [x, rate] points with strictly increasing x > 0 and rate > 0.
 *
 * Rule between and outside the points, by kind:
 *   CURVE_TRANSFER  x bytes, rate bytes/s. The time x/rate is linear in x between points (exact for latency + size /
 *                   bandwidth); below the first point the first point's time, above the last its rate.
 *   CURVE_THREADS   x threads, rate per second of the whole team. Linear in x; below the first point proportional to x,
 *                   above the last its rate.
 *   CURVE_SIZE      x a size, rate per second. Linear in log x; flat outside.
 */
#ifndef MODEL_CURVE_H
#define MODEL_CURVE_H

#include <stddef.h>

enum curve_kind { CURVE_TRANSFER, CURVE_THREADS, CURVE_SIZE };

enum { CURVE_POINTS_MAX = 64 };

struct curve {
	enum curve_kind kind;
	size_t n_points;
	double x[CURVE_POINTS_MAX];
	double rate[CURVE_POINTS_MAX];
};

/* Rate at x > 0; 0 points is a bug (asserted). */
double curve_rate(const struct curve *curve, double x);
/* Largest rate of the curve. */
double curve_peak(const struct curve *curve);
/* All rates times factor. */
void curve_scale(struct curve *curve, double factor);

#endif
