/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/spread.h"

#include <stdlib.h>
#include <time.h>

static double now_s(bool is_wall)
{
	struct timespec t;

	clock_gettime(is_wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double one_rate(double (*work)(void *context), void *context, double budget_s, bool is_wall)
{
	const double start_s = now_s(is_wall);
	double n = 0, elapsed_s;

	do {
		n += work(context);
		elapsed_s = now_s(is_wall) - start_s;
	} while (elapsed_s < budget_s);
	return n / elapsed_s;
}

struct spread spread_rate(double (*work)(void *context), void *context, double budget_s, bool is_wall)
{
	double rates[SPREAD_REPEATS];

	one_rate(work, context, budget_s, is_wall); /* caches, clocks and arenas settle */
	for (size_t i = 0; i < SPREAD_REPEATS; i++)
		rates[i] = one_rate(work, context, budget_s, is_wall);
	qsort(rates, SPREAD_REPEATS, sizeof(rates[0]), by_value);
	return (struct spread){.median = rates[SPREAD_REPEATS / 2], .min = rates[0], .max = rates[SPREAD_REPEATS - 1]};
}

void spread_json(struct jsonw *w, const char *key, const struct spread *spread)
{
	jsonw_key(w, key);
	jsonw_inline_object(w);
	jsonw_member_number(w, "median", spread->median);
	jsonw_member_number(w, "min", spread->min);
	jsonw_member_number(w, "max", spread->max);
	jsonw_end_object(w);
}
