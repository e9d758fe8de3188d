/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * task: an operation while the engine runs it. All that the engine reads and writes of one lies in one cache line:
 * operations end in another order than that of creation, so each line is a wait for memory.
 *
 * Ownership: tasks and their dependents live in the run's arena.
 */
#ifndef SIM_TASK_H
#define SIM_TASK_H

#include "sim/schedule.h"
#include "sim/timeline.h"

struct task {
	/* as in the timeline; end_s is negative until it has ended */
	double ready_s, start_s, end_s;
	double alone_s;
	op_id cause;
	op_id next; /* in its queue */
	uint32_t n_open; /* dependencies not yet ended */
	uint32_t first_dependent, n_dependents; /* into those of all */
	uint32_t lane; /* of all ranks, n_lanes a rank */
	uint8_t kind, stream, flags, limit;
};

struct tasks {
	struct task *of; /* [n_ops] by operation, at the start of a cache line */
	op_id *dependents; /* [n_deps] */
};

void tasks_init(struct tasks *tasks, const struct schedule *s, size_t n_lanes, struct arena *arena);
/* Fills the timeline's arrays of operations, allocated here. */
void tasks_write(struct timeline *t, const struct tasks *tasks, const struct schedule *s, struct arena *arena);

#endif
