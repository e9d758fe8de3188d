/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * update_run: executes one update of one rank: the schedules of model/MODEL.md on the GPU and the CPU.
 *
 * Invariant: the timed region begins at update_run_step and ends when MAIN has waited for what the schedule says;
 * update_run_drain then finishes the rest (the published code leaves work behind), so that the result can be verified.
 */
#ifndef PROBE_UPDATE_RUN_H
#define PROBE_UPDATE_RUN_H

#include "probe/team.h"
#include "probe/update_rank.h"
#include "probe/update_trace.h"
#include "probe/update_worker.h"

struct update_run {
	struct update_rank *rank;
	const struct update_layout *layout;
	const struct update_policy *policy;
	struct update_trace *trace; /* NULL: not traced */
	int threads; /* team of MAIN */
	float scale; /* of the gradients */
	struct adam_step step; /* with the scale, unless unscale is separate */

	struct team *team;
	struct update_worker *worker; /* NULL where Adam leaves the 16-bit parameters itself */
	int worker_cpus[TOPOLOGY_CPUS_MAX], team_cpus[TOPOLOGY_CPUS_MAX];
	size_t *gpu_subgroups, n_gpu; /* y_0, y_1, .. */
	size_t n_written; /* write-backs enqueued so far: always y_0 .. y_(n_written-1) */
	size_t *finished, n_finished; /* CPU subgroups not yet handed to the worker (batch) */
	size_t n_prefetched; /* with prefetch=backward */
};

/* Makes teams and lists; t is the step number of Adam (from 1). Call in the rank's thread, which becomes MAIN. */
void update_run_open(struct update_run *run, int t);
void update_run_prefetch(struct update_run *run); /* before the timed region */
void update_run_step(struct update_run *run);
void update_run_drain(struct update_run *run);
void update_run_close(struct update_run *run);

/* Used by update_chain.c: j counts GPU-scheduled subgroups. */
void update_chain_fetch(struct update_run *run, size_t j);
void update_chain_adam(struct update_run *run, size_t j);
void update_chain_write(struct update_run *run, size_t j);
void update_chain_wait_fetch(struct update_run *run, size_t j);
void update_chain_wait_written(struct update_run *run); /* all enqueued ones */
void update_chain_resident(struct update_run *run, size_t x);

#endif
