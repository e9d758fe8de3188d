/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * build: how policies and iterations write a schedule, in the terms of a host program: MAIN does, enqueues and waits.
 *
 * Invariant: what MAIN enqueues depends on MAIN's last operation; MAIN's operations follow each other. What the WORKER
 * enqueues depends on the WORKER's operation alone.
 */
#ifndef SIM_BUILD_H
#define SIM_BUILD_H

#include "sim/schedule.h"

enum place {
	PLACE_CPU, /* state on the host, updated by the CPU */
	PLACE_STREAMED, /* state on the host, updated on the GPU */
	PLACE_GPU, /* state on the GPU, updated there */
};

/* Gradients of one reduction bucket, as parameters of one rank. */
struct bucket {
	double params; /* of all ranks */
	double rank_params; /* this rank's partition */
	double cpu_params, streamed_params, gpu_params; /* rank_params by place */
	op_id compute; /* backward operation that completes it */
	size_t index;
	bool is_last_micro_batch, is_first_micro_batch;
};

struct build {
	struct schedule *schedule; /* borrowed */
	const struct workload *workload;
	const enum place *places; /* [n_subgroups] */
	op_id main_last; /* MAIN's last operation */
	op_id worker_last;
	op_id push_last; /* newest 16-bit push: pushes run in order, so its end is the end of all */
	op_id reduce_last; /* the serial reduce stream */
	op_id compute_last; /* default stream */
	op_id *pending; /* device and worker operations since MAIN last waited for the device */
	size_t n_pending, cap_pending;
	void *policy_state; /* what a policy keeps from backward to update of one iteration, arena-owned; NULL at its start */
};

/* MAIN does `amount` of kind. */
op_id build_main(struct build *b, enum op_kind kind, double amount);
/* MAIN enqueues a device operation that starts after `after1` and `after2` (or NO_OP). */
op_id build_enqueue(struct build *b, enum op_kind kind, double amount, op_id after1, op_id after2);
/* MAIN waits for one operation. */
void build_wait(struct build *b, op_id op);
/* MAIN waits for the pushes already enqueued. */
void build_wait_pushes(struct build *b);
/* MAIN waits for everything enqueued, by the worker too. */
void build_wait_all(struct build *b);
/* The WORKER does `amount` of kind after it is handed over by MAIN, and enqueues nothing. */
op_id build_worker(struct build *b, enum op_kind kind, double amount);
/* A push of a subgroup's 16-bit parameters, enqueued when `after` ends (WORKER) or by MAIN (NO_OP). */
op_id build_push(struct build *b, size_t subgroup, op_id after);
/* Stamps the subject on the newest operation, for traces. */
void build_subject(struct build *b, size_t subgroup);

#endif
