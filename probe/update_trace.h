/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * update_trace: what really happened in one traced update: host operations by the clock, device operations by events.
 *
 * Invariant: after update_trace_resolve all times are host seconds from the start of the update, and the operations of one lane
 * are disjoint (an engine runs one copy at a time: a copy that was ready earlier started when the one before it ended).
 */
#ifndef PROBE_UPDATE_TRACE_H
#define PROBE_UPDATE_TRACE_H

#include <pthread.h>
#include <stddef.h>

#include "model/base/jsonw.h"
#include "probe/cuda/cuda_cases.h"

#define LANE_LIST(X) X(MAIN, "main") X(WORKER, "worker") X(GPU, "gpu") X(H2D, "h2d") X(D2H, "d2h")
enum lane {
#define LANE_ENUM(name, text) LANE_##name,
	LANE_LIST(LANE_ENUM)
#undef LANE_ENUM
	    N_LANES
};

struct traced_op {
	const char *name;
	enum lane lane;
	int rank;
	size_t subgroup;
	double start_s, end_s;
	struct gpu_event *start, *end; /* device operations; owned */
};

struct update_trace {
	struct traced_op *ops; /* heap */
	size_t n, capacity;
	pthread_mutex_t mutex;
	double origin_s; /* host clock of time 0 */
};

void update_trace_init(struct update_trace *trace);
void update_trace_release(struct update_trace *trace);
/* A host operation with its clock readings. Does nothing on NULL, as all below. */
void update_trace_host(
    struct update_trace *trace, int rank, enum lane lane, const char *name, size_t subgroup, double start_s, double end_s);
/* Around the enqueuing of a device operation; returns an index for the end. */
size_t update_trace_begin(struct update_trace *trace, int rank, struct gpu *gpu, struct gpu_stream *stream, enum lane lane,
    const char *name, size_t subgroup);
void update_trace_end(struct update_trace *trace, size_t op, struct gpu *gpu, struct gpu_stream *stream);
/* Device times to host times: `base` was recorded and waited for, the host read base_s right after. */
void update_trace_resolve(struct update_trace *trace, int rank, struct gpu *gpu, struct gpu_event *base, double base_s);
void update_trace_finish(struct update_trace *trace); /* makes lanes disjoint; call after resolving all ranks */

/* Events of one process in an open Chrome trace array; pid and its name are the caller's. */
void update_trace_write(const struct update_trace *trace, struct jsonw *w, int pid, const char *process_name);

#endif
