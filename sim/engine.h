/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * engine: runs a schedule into a timeline.
 *
 * Fluid discrete events: speeds change only when an operation starts or ends, so the next end is exact. Totally ordered:
 * (time, lane, creation). Same schedule, same bytes. Cost: O(lanes in use) per event, O(ops + deps) memory in the arena.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim/schedule.h"
#include "sim/sharing.h"
#include "sim/timeline.h"

/* Every operation of a schedule is reached, because dependencies point backwards (asserted). */
void engine_run(struct timeline *timeline, const struct schedule *schedule, const struct sharing *sharing,
    struct arena *arena);

#endif
