/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rounds: runs cases several times over, in an order shuffled by the seed, so that the samples of every point come from all of the
 * probe's time and not from one good or bad moment of the machine.
 */
#ifndef PROBE_ROUNDS_H
#define PROBE_ROUNDS_H

#include "probe/harness.h"

/* harness->n_rounds rounds, fewer when the time or the user ends them: harness->round then counts those begun. Results are left in
 * the order of the cases. */
void rounds_run(struct harness *harness, const struct probe_case *const cases[], size_t n_cases);

/* The speed of every round over that of all, as the mean over the results that were measured in each; n = 0 with one round. */
size_t rounds_speed(double speed_frac[STATS_ROUNDS_MAX], const struct harness *harness);

#endif
