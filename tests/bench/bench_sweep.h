/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bench_sweep: how fast trials and closed-form points get into a database, and what memory a sweep takes.
 */
#ifndef TESTS_BENCH_BENCH_SWEEP_H
#define TESTS_BENCH_BENCH_SWEEP_H

#include "model/hwprofile.h"
#include "tests/bench/spread.h"

void bench_points(struct jsonw *w, const struct hwprofile *hw); /* not stored */
void bench_stored(struct jsonw *w, const struct hwprofile *hw);
/* Call it first: a child's memory starts with what its parent has. */
void bench_memory(struct jsonw *w, const struct hwprofile *hw);

#endif
