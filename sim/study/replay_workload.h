/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay_workload: what a recording says of the model and the policy that ran: subgroups and their places from the copies of the update,
 * a shape from a log.
 */
#ifndef SIM_STUDY_REPLAY_WORKLOAD_H
#define SIM_STUDY_REPLAY_WORKLOAD_H

#include "model/workload.h"
#include "traces/recording.h"

enum { REPLAY_SUBGROUPS_MAX = 65536 };

/* The update of one iteration as its copies show it: 16-bit pushes of CPU-updated subgroups (2 bytes a parameter), fp32 state written back
 * from GPU-updated ones (12 bytes). */
struct replay_update {
	double *params; /* [n], in order of time; arena */
	bool *is_streamed; /* [n] */
	size_t n, n_streamed;
	double total_params, streamed_params;
	double cpu_grad_bytes; /* D2H bytes of backward per CPU-updated parameter: 2 or 4 */
	size_t n_state_streams, n_push_streams; /* streams that state and pushes used */
	bool is_one_chain; /* state in, out and pushes on one stream */
	bool has_pageable_push;
	bool has_round_trip; /* backward copies to the GPU too, as DeepSpeed's reduction does */
	/* when the push of the first subgroup was issued, from the start of the update, and the median time from one push to the next per
	 * parameter; NAN: not so */
	double first_push_s, push_s_per_param;
};

/* Of the last iteration whose update has copies; false: no update that is offloaded. */
bool replay_update_find(struct replay_update *update, const struct recording *rec, struct arena *arena);
/* SPEC of the policy that moves data so. */
const char *replay_update_policy(const struct replay_update *update, struct arena *arena);
/* One tensor a subgroup, in as many layers. */
void replay_update_workload(
    struct workload *workload, const struct replay_update *update, const struct batch *batch, struct arena *arena);
/* Shape and batch of a log; false: it has none. */
bool replay_shape(struct shape *shape, struct batch *batch, const struct rec_facts *facts);

#endif
