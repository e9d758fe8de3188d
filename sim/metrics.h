/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * metrics: what a person wants to know of a timeline: phase times of the last iteration, memory, what limited it.
 *
 * Invariant: forward_s + backward_s + update_s + other_s = iteration_s exactly (the sum is how iteration_s is made).
 */
#ifndef SIM_METRICS_H
#define SIM_METRICS_H

#include "sim/timeline.h"

struct metrics {
	double forward_s, backward_s, update_s, other_s, iteration_s;
	double gpu_peak_bytes; /* of one rank: allocator peak */
	double host_peak_bytes; /* of the node: sum of ranks, without the operating system */
	double peak_bytes[POOL_N][MEM_N]; /* what the peaks consist of (host: of one rank) */
	bool fits;
	const char *reason; /* why it does not fit, NULL if it does; arena */
	double gpu_fraction_frac; /* parameters updated on the GPU over all, of a rank */
	enum res bottleneck; /* what constrained the critical path of the last iteration longest */
	double path_s[RES_N]; /* time of the critical path under each */
	double busy_frac[LANE_N]; /* share of the last iteration in which the lane runs */
	double h2d_bytes, d2h_bytes; /* moved by a rank's copy engines in the last iteration */
	size_t n_ops;
};

/* places: of the policy, for gpu_fraction_frac. */
void metrics_compute(struct metrics *m, const struct timeline *timeline, const struct schedule *schedule,
    const struct workload *workload, const double gpu_params, struct arena *arena);
/* Memory alone, of a schedule without operations: what is held from start to end, and whether it fits. */
void metrics_held(struct metrics *m, const struct schedule *schedule, const struct workload *workload, struct arena *arena);

#endif
