/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trial: the straight line, once. Profile, workload and policy in; metrics out. Everything that runs many trials calls it.
 */
#ifndef SIM_STUDY_TRIAL_H
#define SIM_STUDY_TRIAL_H

#include "sim/iteration.h"
#include "sim/metrics.h"

enum { TRIAL_PARTS_MAX = 1000000 }; /* layers x micro-batches + subgroups */

struct trial_input {
	const struct hwprofile *hw;
	struct shape shape;
	struct batch batch; /* gpus 0: the profile's */
	const struct workload *workload; /* ready-made, in place of shape and batch; NULL: from those */
	const struct recorded_passes *recorded; /* forward and backward; NULL: from cost */
	const char *policy; /* SPEC */
	double threads; /* 0: the profile's */
	const struct sharing *sharing;
	enum sync sync;
	size_t n_iterations; /* 0: ITERATIONS */
	bool is_unfolded; /* simulate every rank; false folds identical ranks, which a test proves equal */
};

struct trial {
	struct workload workload;
	struct policy_use use;
	const char *policy; /* canonical SPEC */
	enum place *places;
	double gpu_params; /* of a rank, updated on the GPU */
	struct cost cost;
	struct schedule schedule;
	struct timeline timeline;
	struct metrics metrics;
};

/* Runs one trial; everything lives in the arena. STATUS_USAGE for bad shapes and policies, and for more than TRIAL_PARTS_MAX. A trial that does not fit runs all the same: see
 * metrics.fits. */
int trial_run(struct trial *trial, const struct trial_input *input, struct arena *arena, struct err *err) MUST_CHECK;
/* The memory of a trial alone, of its metrics. Of an update alone nothing is run, so it may be of any size. */
int trial_memory(struct metrics *metrics, const struct trial_input *input, struct arena *arena, struct err *err) MUST_CHECK;
/* Its metrics with accumulation beyond four micro-batches extrapolated: each more is like the fourth, since what a phase leaves running
 * ends long before the next. policy: its canonical SPEC in the arena, or NULL. */
int trial_run_short(struct metrics *metrics, const char **policy, const struct trial_input *input, struct arena *arena, struct err *err)
    MUST_CHECK;
/* The workload of a trial: gpus 0 is the profile's. STATUS_USAGE for more GPUs than it has. */
int trial_workload(struct workload *workload, const struct hwprofile *hw, const struct shape *shape, const struct batch *batch,
    struct arena *arena, struct err *err) MUST_CHECK;

#endif
