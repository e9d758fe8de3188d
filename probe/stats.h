/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats: the summary of a set of samples: median and its interval by order statistics, spread, flags.
 *
 * Invariant: lo <= median <= hi; min <= p10 <= median <= p90 <= max. Every sample is kept by the caller; nothing is dropped.
 */
#ifndef PROBE_STATS_H
#define PROBE_STATS_H

#include <stdbool.h>
#include <stddef.h>

enum { STATS_SAMPLES_MAX = 64 };

struct stats {
	size_t n;
	double median, lo, hi; /* 95 % interval of the median; the range below 6 samples */
	double mad; /* median of |x - median| */
	double min, max, p10, p90, mean;
	double cv_frac; /* standard deviation over mean */
	double drift_frac; /* median of the last third over median of the first third, minus 1 */
	size_t n_outliers; /* modified z-score 0.6745 |x - median| / MAD above 3.5 */
	bool noisy; /* cv above 5 % */
	bool drifting; /* |drift| above 3 % and above 3 MAD */
};

/* Samples in the order in which they were taken; n >= 1, n <= STATS_SAMPLES_MAX. */
void stats_of(struct stats *stats, const double samples[], size_t n);

/* Median of n values (sorted copy inside; n <= STATS_SAMPLES_MAX). */
double stats_median(const double values[], size_t n);

/* Least number r (from 1) such that the r-th smallest and r-th largest of n samples enclose the median with 95 %; 0 when even
 * the extremes do not (n < 6). */
size_t stats_median_rank(size_t n);

#endif
