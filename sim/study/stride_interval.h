/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stride_interval: the closed form of an update at the strides listed, on draws of the machine: intervals, and which stride is best.
 */
#ifndef SIM_STUDY_STRIDE_INTERVAL_H
#define SIM_STUDY_STRIDE_INTERVAL_H

#include "sim/study/interval.h"
#include "sim/study/strides.h"

struct stride_outcome {
	struct interval update;
	double p_best;
};

/* What the strides were computed from. */
struct stride_source {
	const struct hwprofile *hw; /* maybe scaled */
	const struct workload *workload;
	const struct interleave *how;
	double threads, workers; /* as for cost_init */
};

/* [strides->n], in the arena. */
struct stride_outcome *stride_outcomes(const struct uncertainty *u, const struct strides *strides, const struct stride_source *source,
    struct arena *arena);

#endif
