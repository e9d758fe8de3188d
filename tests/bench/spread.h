/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * spread: something is measured several times; the median and the extremes are told.
 */
#ifndef TESTS_BENCH_SPREAD_H
#define TESTS_BENCH_SPREAD_H

#include "model/base/jsonw.h"

enum { SPREAD_REPEATS = 9 };

struct spread {
	double median, min, max;
};

/* Runs `work` until budget_s is over, SPREAD_REPEATS times after one run that does not count; units per second of CPU time of
 * this thread (is_wall: of wall time). work returns how many units it did. */
struct spread spread_rate(double (*work)(void *context), void *context, double budget_s, bool is_wall);
void spread_json(struct jsonw *w, const char *key, const struct spread *spread);

#endif
