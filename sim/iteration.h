/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * iteration: forward and backward of training iterations, once, from cost or from a recorded timeline; the policy adds its flush and
 * update.
 *
 * A phase ends when MAIN passes its timer: SYNC_PHASE, as DeepSpeed's timers, MAIN first waits for the default stream (and
 * in backward for the reduce stream); SYNC_ALL, for the whole device. Marks in the schedule name MAIN's last operation of each phase.
 */
#ifndef SIM_ITERATION_H
#define SIM_ITERATION_H

#include "sim/policy.h"

enum sync { SYNC_PHASE, SYNC_ALL };
extern const char *const sync_names[]; /* NULL-terminated */

enum { ITERATIONS = 3 }; /* simulated; the last is reported */

/* Forward and backward of one micro-batch as they were recorded: GPU compute (with recomputation), and MAIN's time to launch it. Both
 * are spread evenly over the layers. */
struct recorded_passes {
	double forward_s, backward_s;
	double forward_launch_s, backward_launch_s;
};

struct iteration_plan {
	const struct workload *workload;
	const struct policy_use *use;
	const enum place *places; /* [n_subgroups] */
	const struct recorded_passes *recorded; /* NULL: from cost */
	enum sync sync;
	size_t n_iterations;
	size_t n_ranks; /* ranks written out: 1 folds identical ranks */
};

/* Fills an initialised schedule. */
void iteration_build(struct schedule *schedule, const struct iteration_plan *plan);
/* Only what a rank holds from start to end: no operation. Of an update alone that is all that it holds. */
void iteration_hold(struct schedule *schedule, const struct workload *workload, const struct policy_use *use, const enum place *places);

#endif
