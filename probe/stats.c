/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void sort_copy(double sorted[], const double values[], size_t n)
{
	assert(n >= 1 && n <= STATS_SAMPLES_MAX);
	memcpy(sorted, values, n * sizeof values[0]);
	qsort(sorted, n, sizeof sorted[0], compare_doubles);
}

/* Linear between order statistics. */
static double quantile_sorted(const double sorted[], size_t n, double quantile_frac)
{
	const double at = quantile_frac * (double)(n - 1);
	const size_t below = (size_t)at;
	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double stats_median(const double values[], size_t n)
{
	double sorted[STATS_SAMPLES_MAX];
	sort_copy(sorted, values, n);
	return quantile_sorted(sorted, n, 0.5);
}

size_t stats_median_rank(size_t n)
{
	/* P(fewer than r of n samples lie below the median) = sum of binomial(n, i) / 2^n for i < r; both tails <= 5 %. */
	double term = pow(0.5, (double)n), tail = 0;
	size_t rank = 0;
	while (rank < n / 2 && tail + term <= 0.025) {
		tail += term;
		term = term * (double)(n - rank) / (double)(rank + 1);
		rank++;
	}
	return rank;
}

static double median_absolute_deviation(const double samples[], size_t n, double median)
{
	double deviations[STATS_SAMPLES_MAX];
	for (size_t i = 0; i < n; i++)
		deviations[i] = fabs(samples[i] - median);
	return stats_median(deviations, n);
}

static void moments(struct stats *stats, const double samples[], size_t n)
{
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		sum += samples[i];
	stats->mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (samples[i] - stats->mean) * (samples[i] - stats->mean);
	const double deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	stats->cv_frac = stats->mean != 0 ? deviation / fabs(stats->mean) : 0;
}

static void flags(struct stats *stats, const double samples[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		stats->n_outliers += stats->mad > 0 && 0.6745 * fabs(samples[i] - stats->median) / stats->mad > 3.5;
	stats->noisy = stats->cv_frac > 0.05;
	const size_t third = n / 3;
	if (third == 0)
		return;
	const double first = stats_median(samples, third), last = stats_median(samples + n - third, third);
	stats->drift_frac = first != 0 ? last / first - 1 : 0;
	stats->drifting = fabs(stats->drift_frac) > 0.03 && fabs(last - first) > 3 * stats->mad;
}

void stats_of(struct stats *stats, const double samples[], size_t n)
{
	double sorted[STATS_SAMPLES_MAX];
	sort_copy(sorted, samples, n);
	const size_t rank = stats_median_rank(n);
	*stats = (struct stats){.n = n,
	    .median = quantile_sorted(sorted, n, 0.5),
	    .centre = quantile_sorted(sorted, n, 0.5),
	    .lo = sorted[rank > 0 ? rank - 1 : 0],
	    .hi = sorted[rank > 0 ? n - rank : n - 1],
	    .min = sorted[0],
	    .max = sorted[n - 1],
	    .p10 = quantile_sorted(sorted, n, 0.1),
	    .p90 = quantile_sorted(sorted, n, 0.9)};
	stats->mad = median_absolute_deviation(samples, n, stats->median);
	moments(stats, samples, n);
	flags(stats, samples, n);
}

/* Student's t for 95 % on both sides, by degrees of freedom from 1. */
static double student_t(size_t n_free)
{
	static const double table[STATS_ROUNDS_MAX - 1] = {
	    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131};
	return table[n_free - 1];
}

void stats_centre(struct stats *stats, const double medians[], size_t n_rounds)
{
	assert(n_rounds >= 1 && n_rounds <= STATS_ROUNDS_MAX);
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n_rounds; i++)
		sum += medians[i];
	stats->centre = sum / (double)n_rounds;
	if (n_rounds < 3) {
		stats->lo = fmin(stats->lo, stats->centre);
		stats->hi = fmax(stats->hi, stats->centre);
		return;
	}
	for (size_t i = 0; i < n_rounds; i++)
		squares += (medians[i] - stats->centre) * (medians[i] - stats->centre);
	const double error = sqrt(squares / (double)(n_rounds - 1) / (double)n_rounds);
	stats->lo = stats->centre - student_t(n_rounds - 1) * error;
	stats->hi = stats->centre + student_t(n_rounds - 1) * error;
}

void stats_of_rounds(struct stats *stats, const double samples[], const size_t sizes[], size_t n_rounds)
{
	double medians[STATS_ROUNDS_MAX];
	size_t n = 0;
	for (size_t i = 0; i < n_rounds; i++) {
		medians[i] = stats_median(samples + n, sizes[i]);
		n += sizes[i];
	}
	stats_of(stats, samples, n);
	if (n_rounds > 1)
		stats_centre(stats, medians, n_rounds);
}
