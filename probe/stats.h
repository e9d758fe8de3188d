/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats: the summary of a set of samples: their centre and its interval, spread, flags.
 *
 * The centre of one round is its median. That of several is the mean of their medians: a round is a moment of a machine whose
 * speed changes over tens of seconds, and of such moments the mean repeats better than the median (on 68 updates measured at
 * twelve moments, six against six others: 2.5 % and 2.9 %; as a forecast of the others' median 2.8 % and 2.9 %).
 *
 * Invariant: lo <= centre <= hi; min <= p10 <= median <= p90 <= max. Every sample is kept by the caller; nothing is dropped.
 */
#ifndef PROBE_STATS_H
#define PROBE_STATS_H

#include <stdbool.h>
#include <stddef.h>

enum { STATS_SAMPLES_MAX = 64, STATS_ROUNDS_MAX = 16 };

struct stats {
	size_t n;
	double median; /* of all samples */
	double centre, lo,
	    hi; /* 95 % interval of the centre: by order statistics, the range below 6 samples; from 3 rounds on
				* by Student's t over their medians */
	double mad; /* median of |x - median| */
	double min, max, p10, p90, mean;
	double cv_frac; /* standard deviation over mean */
	double drift_frac; /* median of the last third over median of the first third, minus 1 */
	size_t n_outliers; /* modified z-score 0.6745 |x - median| / MAD above 3.5 */
	bool noisy; /* cv above 5 % */
	bool drifting; /* |drift| above 3 % and above 3 MAD */
};

/* Samples in the order in which they were taken; n >= 1, n <= STATS_SAMPLES_MAX. One round. */
void stats_of(struct stats *stats, const double samples[], size_t n);
/* The same of n_rounds rounds (<= STATS_ROUNDS_MAX), the r-th of sizes[r] >= 1 samples. */
void stats_of_rounds(struct stats *stats, const double samples[], const size_t sizes[], size_t n_rounds);
/* Centre and interval of the medians of rounds alone. */
void stats_centre(struct stats *stats, const double medians[], size_t n_rounds);

/* Median of n values (sorted copy inside; n <= STATS_SAMPLES_MAX). */
double stats_median(const double values[], size_t n);

/* Least number r (from 1) such that the r-th smallest and r-th largest of n samples enclose the median with 95 %; 0 when even
 * the extremes do not (n < 6). */
size_t stats_median_rank(size_t n);

#endif
