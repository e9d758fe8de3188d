/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/update_trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/base/arena.h"

static const char *const lane_names[] = {
#define LANE_NAME(name, text) text,
    LANE_LIST(LANE_NAME)
#undef LANE_NAME
};

void update_trace_init(struct update_trace *trace)
{
	*trace = (struct update_trace){0};
	pthread_mutex_init(&trace->mutex, NULL);
}

void update_trace_release(struct update_trace *trace)
{
	free(trace->ops);
	pthread_mutex_destroy(&trace->mutex);
	*trace = (struct update_trace){0};
}

static size_t append(struct update_trace *trace, const struct traced_op *op)
{
	pthread_mutex_lock(&trace->mutex);
	if (trace->n == trace->capacity) {
		trace->capacity = trace->capacity ? 2 * trace->capacity : 256;
		trace->ops = xrealloc(trace->ops, trace->capacity, sizeof trace->ops[0]);
	}
	const size_t index = trace->n++;
	trace->ops[index] = *op;
	pthread_mutex_unlock(&trace->mutex);
	return index;
}

void update_trace_host(
    struct update_trace *trace, int rank, enum lane lane, const char *name, size_t subgroup, double start_s, double end_s)
{
	if (trace)
		append(trace, &(struct traced_op){name, lane, rank, subgroup, start_s, end_s, NULL, NULL});
}

size_t update_trace_begin(struct update_trace *trace, int rank, struct gpu *gpu, struct gpu_stream *stream, enum lane lane,
    const char *name, size_t subgroup)
{
	if (!trace)
		return 0;
	struct gpu_event *const start = gpu_event_new(gpu, 1), *const end = gpu_event_new(gpu, 1);
	gpu_record(gpu, start, stream);
	return append(trace, &(struct traced_op){name, lane, rank, subgroup, 0, 0, start, end});
}

void update_trace_end(struct update_trace *trace, size_t op, struct gpu *gpu, struct gpu_stream *stream)
{
	if (!trace)
		return;
	pthread_mutex_lock(&trace->mutex);
	struct gpu_event *const end = trace->ops[op].end;
	pthread_mutex_unlock(&trace->mutex);
	gpu_record(gpu, end, stream);
}

void update_trace_resolve(struct update_trace *trace, int rank, struct gpu *gpu, struct gpu_event *base, double base_s)
{
	for (size_t i = 0; trace && i < trace->n; i++) {
		struct traced_op *const op = &trace->ops[i];
		if (!op->start || op->rank != rank)
			continue;
		op->start_s = base_s + gpu_elapsed_s(gpu, base, op->start);
		op->end_s = base_s + gpu_elapsed_s(gpu, base, op->end);
		gpu_event_free(gpu, op->start);
		gpu_event_free(gpu, op->end);
		op->start = op->end = NULL;
	}
}

/* By rank, lane and end: copies end in the order in which their engine ran them. */
static int compare_ops(const void *a, const void *b)
{
	const struct traced_op *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank - y->rank;
	if (x->lane != y->lane)
		return (int)x->lane - (int)y->lane;
	return (x->end_s > y->end_s) - (x->end_s < y->end_s);
}

void update_trace_finish(struct update_trace *trace)
{
	if (trace->n == 0)
		return;
	qsort(trace->ops, trace->n, sizeof trace->ops[0], compare_ops);
	for (size_t i = 0; i < trace->n; i++) {
		struct traced_op *const op = &trace->ops[i];
		const struct traced_op *const last = i > 0 ? &trace->ops[i - 1] : NULL;
		op->start_s -= trace->origin_s;
		op->end_s -= trace->origin_s;
		if (op->start_s < 0)
			op->start_s = 0; /* enqueued ahead of the step */
		if (last && last->rank == op->rank && last->lane == op->lane && op->start_s < last->end_s)
			op->start_s = last->end_s;
		if (op->end_s < op->start_s)
			op->end_s = op->start_s;
	}
}

static void write_name(struct jsonw *w, const char *what, int pid, int tid, const char *name)
{
	jsonw_inline_object(w);
	jsonw_member_string(w, "ph", "M");
	jsonw_member_string(w, "name", what);
	jsonw_member_integer(w, "pid", pid);
	if (tid >= 0)
		jsonw_member_integer(w, "tid", tid);
	jsonw_key(w, "args");
	jsonw_inline_object(w);
	jsonw_member_string(w, "name", name);
	jsonw_end_object(w);
	jsonw_end_object(w);
}

static void write_op(struct jsonw *w, int pid, const struct traced_op *op)
{
	jsonw_inline_object(w);
	jsonw_member_string(w, "ph", "X");
	jsonw_member_string(w, "cat", lane_names[op->lane]);
	jsonw_member_string(w, "name", op->name);
	jsonw_member_integer(w, "pid", pid);
	jsonw_member_integer(w, "tid", op->rank * N_LANES + (int)op->lane);
	jsonw_member_number(w, "ts", op->start_s * 1e6);
	jsonw_member_number(w, "dur", (op->end_s - op->start_s) * 1e6);
	jsonw_key(w, "args");
	jsonw_inline_object(w);
	jsonw_member_integer(w, "subgroup", (long long)op->subgroup);
	jsonw_end_object(w);
	jsonw_end_object(w);
}

void update_trace_write(const struct update_trace *trace, struct jsonw *w, int pid, const char *process_name)
{
	write_name(w, "process_name", pid, -1, process_name);
	for (size_t i = 0; i < trace->n; i++) {
		const struct traced_op *const op = &trace->ops[i], *const last = i > 0 ? op - 1 : NULL;
		char name[64];
		snprintf(name, sizeof name, "rank %d %s", op->rank, lane_names[op->lane]);
		if (!last || last->lane != op->lane || last->rank != op->rank)
			write_name(w, "thread_name", pid, op->rank * N_LANES + (int)op->lane, name);
		write_op(w, pid, op);
	}
}
