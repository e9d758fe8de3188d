/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bench_simulate: how fast one core simulates complete iterations of the 7B model, and how the time grows.
 */
#ifndef TESTS_BENCH_BENCH_SIMULATE_H
#define TESTS_BENCH_BENCH_SIMULATE_H

#include "model/hwprofile.h"
#include "tests/bench/spread.h"

/* One member of the JSON each: simulations of 1 and 4 ranks, many concurrent operations, time over subgroups. */
void bench_simulate(struct jsonw *w, const struct hwprofile *hw);
void bench_growth(struct jsonw *w, const struct hwprofile *hw);

/* n simulations and nothing else, for counting instructions. */
void bench_only_simulate(const struct hwprofile *hw, size_t n);

#endif
