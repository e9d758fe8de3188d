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
