/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/replay_workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_bytes = 65536; /* smaller copies are scalars and flags */

enum { TIMED_MAX = 1024 }; /* pushes whose pace is looked at */

struct finder {
	const struct recording *rec;
	const struct rec_segment *segment; /* the update */
	size_t first, end; /* events that start in it */
	struct replay_update *update;
	bool state_streams[REC_STREAMS_MAX], push_streams[REC_STREAMS_MAX];
	double state_bytes; /* size of one write-back copy that is being gathered into a subgroup */
	size_t n_state; /* how many of them are there */
	double per_copy; /* bytes a parameter of one state copy: 4 (three copies a subgroup), 12, or of masters in halves 10 */
};

static bool is_sized_copy(const struct rec_event *event, enum rec_kind kind)
{
	return event->kind == kind && (double)event->bytes >= least_bytes;
}

static bool is_in(const struct rec_event *event, const struct rec_segment *segment)
{
	return event->start_ns >= segment->start_ns && event->start_ns < segment->end_ns;
}

/* The last update with copies to the GPU, and the events in it. */
static bool find_update(struct finder *f)
{
	for (size_t i = f->rec->n_events; i-- > 0 && !f->segment;) {
		const struct rec_segment *const segment = is_sized_copy(&f->rec->events[i], REC_H2D)
		    ? recording_segment(f->rec, f->rec->events[i].start_ns)
		    : NULL;
		if (segment && segment->phase == PHASE_UPDATE)
			f->segment = segment;
		f->end = f->first = i + 1;
	}
	if (!f->segment)
		return false;
	while (f->end < f->rec->n_events && is_in(&f->rec->events[f->end], f->segment))
		f->end++;
	while (f->first > 0 && is_in(&f->rec->events[f->first - 1], f->segment))
		f->first--;
	return true;
}

static void add_subgroup(struct finder *f, double params, bool is_streamed)
{
	struct replay_update *const u = f->update;

	if (u->n == REPLAY_SUBGROUPS_MAX)
		return;
	u->params[u->n] = params;
	u->is_streamed[u->n++] = is_streamed;
	u->n_streamed += is_streamed;
	u->total_params += params;
	u->streamed_params += is_streamed ? params : 0;
}

/* Three copies of one size in a row are the three tensors of a subgroup. */
static double state_bytes_per_param(const struct finder *f)
{
	double last = 0;
	size_t n_equal = 0;

	if (strstr(f->rec->facts.policy, "downscale=split"))
		return 10;
	for (size_t i = f->first; i < f->end; i++) {
		const struct rec_event *const event = &f->rec->events[i];
		if (!is_sized_copy(event, REC_D2H))
			continue;
		n_equal = (double)event->bytes == last ? n_equal + 1 : 1;
		last = (double)event->bytes;
		if (n_equal == 3)
			return 4;
	}
	return 12;
}

static void take_state(struct finder *f, const struct rec_event *event)
{
	f->n_state = (double)event->bytes == f->state_bytes ? f->n_state + 1 : 1;
	f->state_bytes = (double)event->bytes;
	f->state_streams[event->stream] = true;
	if ((double)f->n_state * f->per_copy < 10)
		return;
	add_subgroup(f, f->state_bytes / f->per_copy, true);
	f->n_state = 0;
}

/* A fetch has the size of some write-back; other copies to the GPU are pushes. */
static bool is_push(const struct finder *f, const struct rec_event *event)
{
	for (size_t i = f->first; i < f->end; i++)
		if (f->rec->events[i].kind == REC_D2H && f->rec->events[i].bytes == event->bytes)
			return false;
	return true;
}

static int64_t launch_ns(const struct recording *rec, const struct rec_event *event)
{
	for (size_t i = 0; i < rec->n_calls && event->link; i++)
		if (rec->calls[i].link == event->link)
			return rec->calls[i].start_ns;
	return event->start_ns;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Pushes of an update without any state on the GPU: all of Adam first, then one 16-bit copy after the other? */
static void time_pushes(struct finder *f, const size_t *pushes, size_t n)
{
	struct replay_update *const u = f->update;
	double *const per_param = xmalloc(n + 1, sizeof(*per_param));

	u->first_push_s = u->push_s_per_param = NAN;
	if (n >= 4 && u->n_streamed == 0) {
		int64_t last_ns = launch_ns(f->rec, &f->rec->events[pushes[0]]);
		u->first_push_s = (double)(last_ns - f->segment->start_ns) * 1e-9;
		for (size_t i = 1; i < n; i++) {
			const struct rec_event *const event = &f->rec->events[pushes[i]];
			const int64_t now_ns = launch_ns(f->rec, event);
			per_param[i - 1] = (double)(now_ns - last_ns) * 1e-9 / ((double)event->bytes / 2);
			last_ns = now_ns;
		}
		qsort(per_param, n - 1, sizeof(*per_param), compare);
		u->push_s_per_param = per_param[(n - 1) / 2];
	}
	free(per_param);
}

static void take_copies(struct finder *f)
{
	size_t pushes[TIMED_MAX];
	size_t n_pushes = 0;

	for (size_t i = f->first; i < f->end; i++) {
		const struct rec_event *const event = &f->rec->events[i];
		if (is_sized_copy(event, REC_D2H)) {
			take_state(f, event);
		} else if (is_sized_copy(event, REC_H2D) && is_push(f, event)) {
			add_subgroup(f, (double)event->bytes / 2, false);
			f->update->has_pageable_push |= event->memory == REC_PAGEABLE;
			f->push_streams[event->stream] = true;
			if (n_pushes < TIMED_MAX)
				pushes[n_pushes++] = i;
		} else if (is_sized_copy(event, REC_H2D)) {
			f->state_streams[event->stream] = true;
		}
	}
	time_pushes(f, pushes, n_pushes);
}

static void count_streams(struct finder *f)
{
	struct replay_update *const u = f->update;
	size_t n_both = 0;

	for (size_t s = 0; s < f->rec->n_streams; s++) {
		u->n_state_streams += f->state_streams[s];
		u->n_push_streams += f->push_streams[s];
		n_both += f->state_streams[s] && f->push_streams[s];
	}
	u->is_one_chain = u->n_state_streams <= 1 && n_both == u->n_state_streams;
}

static double backward_bytes(const struct finder *f, enum rec_kind kind)
{
	double bytes = 0;

	for (size_t i = 0; i < f->rec->n_events; i++) {
		const struct rec_event *const event = &f->rec->events[i];
		const struct rec_segment *const segment =
		    event->kind == kind ? recording_segment(f->rec, event->start_ns) : NULL;
		if (segment && segment->phase == PHASE_BACKWARD && segment->iteration == f->segment->iteration)
			bytes += (double)event->bytes;
	}
	return bytes;
}

bool replay_update_find(struct replay_update *update, const struct recording *rec, struct arena *arena)
{
	struct finder f = {.rec = rec, .update = update};

	*update = (struct replay_update){.first_push_s = NAN, .push_s_per_param = NAN};
	if (!find_update(&f))
		return false;
	update->params = arena_alloc(arena, REPLAY_SUBGROUPS_MAX, sizeof(*update->params));
	update->is_streamed = arena_alloc(arena, REPLAY_SUBGROUPS_MAX, sizeof(*update->is_streamed));
	f.per_copy = state_bytes_per_param(&f);
	take_copies(&f);
	count_streams(&f);
	const double cpu_params = update->total_params - update->streamed_params;
	if (cpu_params > 0)
		update->cpu_grad_bytes = backward_bytes(&f, REC_D2H) / cpu_params;
	update->has_round_trip = backward_bytes(&f, REC_H2D) > 0.5 * update->total_params;
	return update->n > 0;
}

const char *replay_update_policy(const struct replay_update *u, struct arena *arena)
{
	const char *const grads = u->cpu_grad_bytes > 0 && u->cpu_grad_bytes < 3 ? "bf16" : "fp32";
	const char *const chain = u->is_one_chain ? "serial" : u->n_state_streams == 2 ? "duplex" : "published";

	if (u->has_pageable_push)
		return arena_strdup(arena, "zero3-offload");
	const double stride = u->n_streamed ? round((double)u->n / (double)u->n_streamed) : 0;
	return arena_printf(arena, "dos:stride=%.0f,chain=%s,grads=%s", stride, chain, grads);
}

void replay_update_workload(
    struct workload *w, const struct replay_update *u, const struct batch *batch, struct arena *arena)
{
	*w = (struct workload){.batch = *batch,
	    .n_params = u->total_params * batch_ranks(batch),
	    .tp_params = u->total_params * batch_dp(batch),
	    .rank_params = u->total_params,
	    .n_subgroups = u->n,
	    .n_tensors = u->n};
	w->shape.name = "recorded";
	w->shape.layers = (double)u->n;
	w->tensors = arena_zalloc(arena, u->n, sizeof(*w->tensors));
	w->subgroups = arena_zalloc(arena, u->n, sizeof(*w->subgroups));
	for (size_t i = 0; i < u->n; i++) {
		w->subgroups[i].n_params = u->params[i];
		w->tensors[i] = (struct tensor){
		    .n_params = u->params[i] * batch_dp(batch), .rank_params = u->params[i], .layer = (int)i, .subgroup = i};
		w->max_subgroup_params = fmax(w->max_subgroup_params, u->params[i]);
	}
	w->batch.subgroup_params = w->max_subgroup_params;
}

bool replay_shape(struct shape *shape, struct batch *batch, const struct rec_facts *facts)
{
	if (!(facts->layers > 0 && facts->hidden > 0 && facts->heads > 0 && facts->vocab > 0))
		return false;
	*shape = (struct shape){.name = "recorded",
	    .arch = facts->is_gpt ? ARCH_GPT : ARCH_LLAMA,
	    .layers = facts->layers,
	    .hidden = facts->hidden,
	    .heads = facts->heads,
	    .kv_heads = facts->kv_heads,
	    .ffn = facts->ffn > 0 ? facts->ffn : 4 * facts->hidden,
	    .vocab = facts->vocab};
	*batch = (struct batch){.gpus = facts->gpus,
	    .mbs = facts->mbs,
	    .grad_accum = facts->grad_accum,
	    .seq = facts->seq,
	    .has_checkpointing = facts->has_checkpointing,
	    .subgroup_params = facts->subgroup_params};
	return true;
}
