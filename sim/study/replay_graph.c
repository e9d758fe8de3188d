/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/replay_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/study/replay_items.h"
#include "sim/study/replay_rates.h"

static const int64_t near_ns = 5000; /* operations of a stream that follow each other belong together */
static const int64_t cause_ns = 20000; /* how long before its start what released an operation may have ended */

enum key_kind { KEY_GPU = 1, KEY_GPU_NAME, KEY_CALL, KEY_GAP, KEY_GAP_END, KEY_WORKER, KEY_WORK, KEY_AFTER_WAIT };

struct replay {
	const struct recording *rec;
	struct replay_items items;
	struct replay_rates rates;
	struct schedule *schedule;
	/* ops of events and items made so far */
	op_id *of_event;
	op_id *reached, *done; /* of items: when it begins, and when it is over */
	op_id stream_last[REC_STREAMS_MAX];
	op_id main_last, worker_last;
	uint16_t compute_stream; /* with most kernels: has the compute lane */
	op_id *launched; /* operations in order of launch */
	size_t n_launched;
};

/* ---- classes of durations */

static double amount_of(const struct rec_event *event)
{
	const bool is_copy = event->kind == REC_H2D || event->kind == REC_D2H || event->kind == REC_DEVICE;
	return is_copy && event->bytes > 0 ? (double)event->bytes : 1;
}

/* Copies of about one size, to a factor of two, are a class. */
static uint64_t gpu_key(const struct rec_event *event)
{
	const bool is_sized = amount_of(event) > 1;
	return replay_key(
	    KEY_GPU + 16u * event->kind, event->key, is_sized ? (uint32_t)ilogb((double)event->bytes) + 1 : 0);
}

static uint64_t gpu_name_key(const struct rec_event *event)
{
	return replay_key(KEY_GPU_NAME + 16u * event->kind, event->name, event->memory);
}

/* Its time, with the pause after the operation before it on its stream when that is short. */
static int64_t gpu_ns(const struct rec_event *event, int64_t stream_end_ns)
{
	const int64_t pause_ns = event->start_ns - stream_end_ns;
	return event->duration_ns + (pause_ns > 0 && pause_ns < near_ns ? pause_ns : 0);
}

static int64_t worker_bytes(const struct replay *r, const struct replay_item *item)
{
	int64_t bytes = 0;

	for (int32_t i = 0; i < item->n_events && item->kind == ITEM_LAUNCH; i++)
		bytes += (int64_t)r->rec->events[r->items.by_link[item->first_event + i]].bytes;
	return bytes > 0 ? bytes : 1;
}

static uint64_t gap_key(const struct replay_item *item)
{
	if (item->is_worker)
		return replay_key(KEY_WORKER, item->key, item->awaited_item != REPLAY_NONE);
	return replay_key(KEY_GAP + (item->awaited_item != REPLAY_NONE ? 32u : 0u), item->previous_key, item->key);
}

/* Time of a call without what it waited for. */
static int64_t call_ns(const struct replay *r, const struct replay_item *item)
{
	if (item->awaited_event == REPLAY_NONE)
		return item->end_ns - item->start_ns;
	const int64_t ended_ns = rec_end_ns(&r->rec->events[item->awaited_event]);
	const int64_t from_ns = ended_ns > item->start_ns ? ended_ns : item->start_ns;
	return item->end_ns > from_ns ? item->end_ns - from_ns : 0;
}

static unsigned call_kind(const struct replay_item *item)
{
	return item->awaited_event == REPLAY_NONE ? KEY_CALL : KEY_AFTER_WAIT;
}

/* ---- fit */

static void fit(struct replay *r)
{
	int64_t stream_end_ns[REC_STREAMS_MAX] = {0};
	int32_t iteration = 0;

	for (size_t i = 0; i < r->rec->n_events; i++) {
		const struct rec_event *const event = &r->rec->events[i];
		while ((size_t)iteration + 1 < r->rec->n_iterations &&
		    event->start_ns >= r->rec->iterations[iteration + 1].start_ns)
			iteration++;
		const int64_t ns = gpu_ns(event, stream_end_ns[event->stream]);
		replay_rates_add(&r->rates, gpu_key(event), amount_of(event), ns, (size_t)iteration);
		replay_rates_add(&r->rates, gpu_name_key(event), amount_of(event), ns, (size_t)iteration);
		if (rec_end_ns(event) > stream_end_ns[event->stream])
			stream_end_ns[event->stream] = rec_end_ns(event);
	}
	for (size_t i = 0; i < r->items.n; i++) {
		const struct replay_item *const item = &r->items.items[i];
		if (item->kind == ITEM_DEVICE)
			continue;
		replay_rates_add(&r->rates, gap_key(item), item->is_worker ? (double)worker_bytes(r, item) : 1,
		    item->gap_ns, (size_t)item->iteration);
		replay_rates_add(
		    &r->rates, replay_key(KEY_GAP_END, item->key, 0), 1, item->gap_ns, (size_t)item->iteration);
		if (!item->is_blocked && item->kind != ITEM_BOUNDARY)
			replay_rates_add(&r->rates, replay_key(call_kind(item), item->key, 0), 1, call_ns(r, item),
			    (size_t)item->iteration);
	}
}

/* ---- schedule */

static void depend(struct replay *r, op_id on)
{
	if (on != NO_OP)
		schedule_dep(r->schedule, on);
}

static op_id host_op(struct replay *r, bool is_worker, double ns)
{
	op_id *const last = is_worker ? &r->worker_last : &r->main_last;
	*last = schedule_op(r->schedule, is_worker ? OP_CPU_DOWNSCALE : OP_HOST, ns * 1e-9, last, 1);
	return *last;
}

static enum op_kind lane_kind(const struct replay *r, const struct rec_event *event)
{
	if (event->kind == REC_H2D)
		return OP_H2D;
	if (event->kind == REC_D2H)
		return OP_D2H;
	return event->stream == r->compute_stream || event->kind != REC_KERNEL ? OP_COMPUTE
	    : event->stream % 2                                                ? OP_GATHER
									       : OP_REDUCE;
}

/* What released an operation that began later than its launch and its stream explain. */
static op_id released_by(const struct replay *r, const struct rec_event *event)
{
	const int32_t cause = replay_items_last_end(&r->items, event->start_ns - cause_ns, event->start_ns, event->stream);
	return cause == REPLAY_NONE ? NO_OP : r->of_event[cause];
}

static void add_gpu_op(struct replay *r, size_t index, op_id launch, int64_t launch_ns)
{
	const struct rec_event *const event = &r->rec->events[index];
	op_id *const stream = &r->stream_last[event->stream];
	const op_id deps[3] = {launch, *stream, event->start_ns > launch_ns + cause_ns ? released_by(r, event) : NO_OP};
	const double ns =
	    replay_rates_predict_ns(&r->rates, gpu_key(event), gpu_name_key(event), amount_of(event), event->duration_ns);

	if (r->of_event[index] != NO_OP)
		return;
	*stream = r->of_event[index] =
	    schedule_op(r->schedule, lane_kind(r, event), ns * 1e-9, deps, deps[2] == *stream ? 2 : 3);
	r->launched[r->n_launched++] = *stream;
}

/* The gap before an item; it is reached then. */
static void reach(struct replay *r, size_t i)
{
	const struct replay_item *const item = &r->items.items[i];
	const double amount = item->is_worker ? (double)worker_bytes(r, item) : 1;
	const uint64_t coarse = item->is_worker || !r->rates.by_iteration ? 0 : replay_key(KEY_GAP_END, item->key, 0);
	const double ns = replay_rates_predict_ns(&r->rates, gap_key(item), coarse, amount, item->gap_ns);

	r->reached[i] = host_op(r, item->is_worker, ns);
	if (item->awaited_item != REPLAY_NONE)
		depend(r, item->is_worker ? r->reached[item->awaited_item] : r->done[item->awaited_item]);
	if (item->kind == ITEM_LAUNCH && r->items.queue_depth && r->n_launched >= r->items.queue_depth) {
		r->reached[i] = host_op(r, item->is_worker, 0);
		depend(r, r->launched[r->n_launched - r->items.queue_depth]);
	}
}

/* The call itself, after what it waits for. */
static void finish(struct replay *r, size_t i)
{
	const struct replay_item *const item = &r->items.items[i];

	if (item->awaited_event != REPLAY_NONE) {
		host_op(r, item->is_worker, 0);
		depend(r, r->of_event[item->awaited_event]);
		for (size_t s = 0; item->is_device_wide && s < r->rec->n_streams; s++)
			depend(r, r->stream_last[s]);
	}
	r->done[i] = host_op(r, item->is_worker,
	    replay_rates_predict_ns(
		&r->rates, replay_key(call_kind(item), item->key, 0), 0, 1, item->is_blocked ? 0 : call_ns(r, item)));
}

static void add_item(struct replay *r, size_t i)
{
	const struct replay_item *const item = &r->items.items[i];

	if (item->kind == ITEM_DEVICE) {
		add_gpu_op(r, (size_t)item->first_event, r->main_last, item->start_ns - cause_ns - 1);
		return;
	}
	reach(r, i);
	r->done[i] = r->reached[i];
	for (int32_t j = 0; item->kind == ITEM_LAUNCH && j < item->n_events; j++)
		add_gpu_op(r, r->items.by_link[item->first_event + j], r->reached[i], item->end_ns);
	if (item->kind != ITEM_BOUNDARY)
		finish(r, i);
}

/* ---- the whole */

static uint16_t busiest_stream(const struct recording *rec)
{
	int64_t busy_ns[REC_STREAMS_MAX] = {0};
	uint16_t best = 0;

	for (size_t i = 0; i < rec->n_events; i++)
		if (rec->events[i].kind == REC_KERNEL)
			busy_ns[rec->events[i].stream] += rec->events[i].duration_ns / 1000;
	for (uint16_t i = 1; i < rec->n_streams; i++)
		if (busy_ns[i] > busy_ns[best])
			best = i;
	return best;
}

static op_id *no_ops(size_t n)
{
	op_id *const ops = xmalloc(n + 1, sizeof(*ops));
	memset(ops, 0xff, (n + 1) * sizeof(*ops));
	return ops;
}

/* Every amount is a time already. */
static void plain_cost(struct cost *cost, struct hwprofile *hw, struct workload *workload)
{
	*hw =
	    (struct hwprofile){.hw_threads_per_rank = 1, .threads_per_core = 1, .numa_domains = 1, .gpus_per_pcie_root = 1};
	*workload = (struct workload){.is_update_only = true, .batch = {.gpus = 1}};
	memset(cost, 0, sizeof(*cost));
	cost->hw = hw;
	cost->hw_threads = cost->ranks_per_domain = cost->ranks_per_root = 1;
	const struct {
		enum op_kind kind;
		enum lane lane;
	} kinds[] = {{OP_HOST, LANE_MAIN}, {OP_CPU_DOWNSCALE, LANE_WORKER}, {OP_COMPUTE, LANE_GPU}, {OP_GATHER, LANE_NET},
	    {OP_REDUCE, LANE_REDUCE}, {OP_H2D, LANE_H2D}, {OP_D2H, LANE_D2H}};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		cost->classes[kinds[i].kind] = (struct op_class){.lane = kinds[i].lane,
		    .unit = UNIT_SECONDS,
		    .res = RES_MAIN,
		    .s_per_unit = 1,
		    .weight = 1,
		    .duplex_frac = 1};
}

/* Times between boundaries, booked to phases. */
static void book(struct replay_graph *graph, const struct replay *r, const struct timeline *timeline)
{
	double last_s = 0;

	for (size_t i = 0; i < r->items.n; i++) {
		const struct replay_item *const item = &r->items.items[i];
		if (item->kind != ITEM_BOUNDARY)
			continue;
		const double now_s = timeline->end_s[r->reached[i]];
		if (item->segment != REPLAY_NONE) {
			const struct rec_segment *const segment = &r->rec->segments[item->segment];
			graph->phase_s[segment->iteration][segment->phase] += now_s - last_s;
			graph->iteration_s[segment->iteration] += now_s - last_s;
		}
		last_s = now_s;
	}
}

/* A borrowed view of the first iterations: what a replay needs of a long recording. */
static struct recording *first_iterations(const struct recording *rec)
{
	struct recording *const view = xmalloc(1, sizeof(*view));

	*view = *rec;
	view->n_iterations = replay_items_fitting(rec);
	const int64_t end_ns = rec->iterations[view->n_iterations - 1].end_ns;
	while (view->n_events > 0 && view->events[view->n_events - 1].start_ns >= end_ns)
		view->n_events--;
	while (view->n_calls > 0 && view->calls[view->n_calls - 1].start_ns >= end_ns)
		view->n_calls--;
	return view;
}

static void open_replay(struct replay *r, const struct recording *view, struct schedule *schedule, bool by_iteration)
{
	*r = (struct replay){.rec = view, .schedule = schedule, .main_last = NO_OP, .worker_last = NO_OP};
	replay_items_list(&r->items, view);
	replay_rates_init(&r->rates, by_iteration);
	memset(r->stream_last, 0xff, sizeof(r->stream_last));
	r->of_event = no_ops(view->n_events);
	r->launched = no_ops(view->n_events);
	r->reached = no_ops(r->items.n);
	r->done = no_ops(r->items.n);
	r->compute_stream = busiest_stream(view);
}

static void close_replay(struct replay *r)
{
	replay_rates_release(&r->rates);
	replay_items_release(&r->items);
	free(r->of_event);
	free(r->launched);
	free(r->reached);
	free(r->done);
}

void replay_graph_run(struct replay_graph *graph, const struct recording *rec, struct arena *arena)
{
	struct recording *const view = first_iterations(rec);
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct replay r;
	struct schedule schedule;
	struct timeline timeline;
	struct cost cost;
	struct workload workload;

	*graph = (struct replay_graph){.n_iterations = view->n_iterations, .by_iteration = view->n_iterations > 1};
	graph->phase_s = arena_zalloc(arena, graph->n_iterations, sizeof(*graph->phase_s));
	graph->iteration_s = arena_zalloc(arena, graph->n_iterations, sizeof(*graph->iteration_s));
	plain_cost(&cost, hw, &workload);
	schedule_init(&schedule, &cost, arena);
	open_replay(&r, view, &schedule, graph->by_iteration);
	fit(&r);
	for (size_t i = 0; i < r.items.n; i++)
		add_item(&r, i);
	engine_run(&timeline, &schedule, &sharing_none, arena);
	book(graph, &r, &timeline);
	graph->n_ops = schedule.n_ops;
	graph->single_frac = r.rates.predicted_ns > 0 ? r.rates.single_ns / r.rates.predicted_ns : 0;
	close_replay(&r);
	free(view);
}
