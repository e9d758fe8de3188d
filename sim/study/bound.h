/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bound: what an iteration takes and needs at least, from its schedule, without running it. Nothing here knows a policy.
 *
 * Time is cut where the main thread ends a phase. Between two cuts the operations that must start after the first and end before
 * the second take at least the longest path through them, the busiest lane's sum, and the work over the capacity of each shared
 * resource; no operation is faster than it is alone. Operations of a lane of which one is ready no later than the next run in
 * that order, so a lane is part of the path.
 *
 * Invariant (tested for all policies): iteration_s and peak_bytes are at most those of the metrics of the same trial.
 */
#ifndef SIM_STUDY_BOUND_H
#define SIM_STUDY_BOUND_H

#include "sim/iteration.h"
#include "sim/sharing.h"

struct bound {
	double iteration_s;
	double peak_bytes[POOL_N]; /* GPU: of a rank; host: of the node */
};

/* What a bound is asked for: a workload on a machine, and a policy with where it puts the subgroups. */
struct bound_query {
	const struct cost *cost;
	const struct workload *workload;
	const struct policy_use *use; /* resolved; NULL: what any policy has, which bounds all of them */
	const enum place *places; /* NULL without use */
	const struct sharing *sharing;
	enum sync sync;
};

/* Writes one iteration and bounds it; of more than three micro-batches the middle ones count as the second. */
void bound_find(struct bound *bound, const struct bound_query *query, struct arena *arena);
/* Peaks alone, from what any policy needs (a bound without use) and what this one holds from start to end: no schedule is written. */
void bound_memory(double peak_bytes[POOL_N], const struct bound *any, const struct bound_query *query, struct arena *arena);

#endif
