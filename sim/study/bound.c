/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/bound.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "sim/shares.h"

enum { MICRO_BATCHES = 3, CUTS_MAX = 2 * MICRO_BATCHES + PHASE_N, NEVER = INT32_MAX };

/* What is known of one operation. A cut is numbered from 1; cut 0 is the start. */
struct node {
	double path_s; /* longest path from the latest cut before it to its end */
	double end_s; /* longest path from the start */
	int32_t after; /* latest cut that it starts after */
	int32_t until; /* first cut that it ends before */
	op_id lane_before; /* runs before it on its lane, NO_OP when that is not certain */
	uint32_t chain; /* operations of a lane with the same number run in order of creation */
};

struct walk {
	const struct schedule *s;
	struct node *nodes;
	double least_s[OP_N]; /* per alone second of each kind; 0: not asked yet */
	const struct sharing *sharing;
	struct shares shares;
	struct arena *arena; /* borrowed */
	op_id cuts[CUTS_MAX + 1]; /* [1..n_cuts] MAIN's last operation of each stretch */
	size_t n_cuts;
};

/* Work between two cuts. */
struct work {
	double lane_s[LANE_N];
	double h2d_s, d2h_s; /* alone */
	double dram_load, hbm_bytes, root_bytes, network_bytes;
};

/* ---- order on a lane */

static bool is_dep(const struct schedule *s, op_id op, op_id dep)
{
	for (uint32_t d = s->ops[op].first_dep; d < s->ops[op + 1].first_dep; d++)
		if (s->deps[d] == dep)
			return true;
	return false;
}

/* Does some dependency of op end no earlier than `other`? */
static bool covers(const struct walk *w, op_id op, op_id other)
{
	const struct schedule *const s = w->s;

	for (uint32_t d = s->ops[op].first_dep; d < s->ops[op + 1].first_dep; d++) {
		const op_id dep = s->deps[d];
		if (dep == other || (dep > other && s->ops[dep].lane == s->ops[other].lane && w->nodes[dep].chain == w->nodes[other].chain))
			return true;
	}
	return false;
}

/* Is `first`, created earlier on the same lane, certainly ready no later? */
static bool is_ready_first(const struct walk *w, op_id first, op_id op)
{
	const struct schedule *const s = w->s;

	if (is_dep(s, op, first))
		return true;
	for (uint32_t d = s->ops[first].first_dep; d < s->ops[first + 1].first_dep; d++)
		if (!covers(w, op, s->deps[d]))
			return false;
	return true;
}

static void order_lanes(struct walk *w)
{
	op_id last[LANE_N];
	uint32_t chain = 0;

	for (size_t lane = 0; lane < LANE_N; lane++)
		last[lane] = NO_OP;
	for (op_id id = 0; id < w->s->n_ops; id++) {
		const op_id before = last[w->s->ops[id].lane];
		const bool is_ordered = before != NO_OP && is_ready_first(w, before, id);
		w->nodes[id].lane_before = is_ordered ? before : NO_OP;
		w->nodes[id].chain = is_ordered ? w->nodes[before].chain : ++chain;
		last[w->s->ops[id].lane] = id;
	}
}

/* ---- cuts */

static void find_cuts(struct walk *w)
{
	const struct schedule *const s = w->s;
	op_id last = NO_OP;

	for (op_id id = 0; id < s->n_ops; id++) {
		if (s->ops[id].lane != LANE_MAIN)
			continue;
		if (last != NO_OP && s->ops[last].phase != s->ops[id].phase)
			w->cuts[++w->n_cuts] = last;
		assert(w->n_cuts < CUTS_MAX);
		last = id;
	}
	w->cuts[++w->n_cuts] = last;
}

/* The duration of an operation that runs alone: sharing slows whoever is beside others at least as much. */
static double least_s(struct walk *w, const struct op *op)
{
	if (w->least_s[op->kind] <= 0) {
		const struct running running = {.kind = op->kind};
		double speed;
		uint8_t limit;
		shares_allocate(&w->shares, &speed, &limit, &running, 1, w->arena);
		w->least_s[op->kind] = 1 / speed;
	}
	return op->alone_s * w->least_s[op->kind];
}

static void follow(struct walk *w, op_id id, op_id dep, const int32_t *cut_of)
{
	struct node *const node = &w->nodes[id], *const before = &w->nodes[dep];
	const int32_t after = cut_of[dep] ? cut_of[dep] : before->after;
	const double path_s = cut_of[dep] ? 0 : before->path_s;

	if (after > node->after)
		node->path_s = path_s;
	else if (after == node->after)
		node->path_s = fmax(node->path_s, path_s);
	node->after = after > node->after ? after : node->after;
	node->end_s = fmax(node->end_s, before->end_s);
}

static void walk_forward(struct walk *w, const int32_t *cut_of)
{
	const struct schedule *const s = w->s;

	for (op_id id = 0; id < s->n_ops; id++) {
		struct node *const node = &w->nodes[id];
		const double op_s = least_s(w, &s->ops[id]);
		node->path_s = node->end_s = 0;
		node->after = 0;
		for (uint32_t d = s->ops[id].first_dep; d < s->ops[id + 1].first_dep; d++)
			follow(w, id, s->deps[d], cut_of);
		if (node->lane_before != NO_OP)
			follow(w, id, node->lane_before, cut_of);
		node->path_s += op_s;
		node->end_s += op_s;
	}
}

static void reach_back(struct walk *w, op_id dep, int32_t until)
{
	if (until < w->nodes[dep].until)
		w->nodes[dep].until = until;
}

static void walk_backward(struct walk *w, const int32_t *cut_of)
{
	const struct schedule *const s = w->s;

	for (size_t id = 0; id < s->n_ops; id++)
		w->nodes[id].until = cut_of[id] ? cut_of[id] : NEVER;
	for (op_id id = (op_id)s->n_ops; id-- > 0;) {
		const struct node *const node = &w->nodes[id];
		for (uint32_t d = s->ops[id].first_dep; d < s->ops[id + 1].first_dep; d++)
			reach_back(w, s->deps[d], node->until);
		if (node->lane_before != NO_OP)
			reach_back(w, node->lane_before, node->until);
	}
}

/* ---- work over capacity */

static void add_work(struct work *work, struct walk *w, const struct op *op)
{
	const struct op_class *const class = &w->s->cost->classes[op->kind];

	work->lane_s[op->lane] += least_s(w, op);
	work->dram_load += class->dram_load_Bps * op->alone_s;
	work->hbm_bytes += class->hbm_Bps * op->alone_s;
	work->root_bytes += class->root_Bps * op->alone_s;
	work->network_bytes += class->network_Bps * op->alone_s;
	work->h2d_s += op->kind == OP_H2D ? op->alone_s : 0;
	work->d2h_s += op->kind == OP_D2H ? op->alone_s : 0;
}

static void add_all(struct work *sum, const struct work *work, double times)
{
	for (size_t lane = 0; lane < LANE_N; lane++)
		sum->lane_s[lane] += times * work->lane_s[lane];
	sum->h2d_s += times * work->h2d_s;
	sum->d2h_s += times * work->d2h_s;
	sum->dram_load += times * work->dram_load;
	sum->hbm_bytes += times * work->hbm_bytes;
	sum->root_bytes += times * work->root_bytes;
	sum->network_bytes += times * work->network_bytes;
}

/* Both directions together: while both run, each keeps its duplex fraction. */
static double link_s(const struct work *work, const struct cost *cost)
{
	const double up_frac = cost->classes[OP_H2D].duplex_frac, down_frac = cost->classes[OP_D2H].duplex_frac;

	if (up_frac + down_frac <= 1)
		return work->h2d_s + work->d2h_s;
	const double both_s = fmin(work->h2d_s / up_frac, work->d2h_s / down_frac);
	return both_s + work->h2d_s - both_s * up_frac + work->d2h_s - both_s * down_frac;
}

static double work_s(const struct work *work, const struct walk *w)
{
	const struct cost *const cost = w->s->cost;
	double most_s = 0;

	for (size_t lane = 0; lane < LANE_N; lane++)
		most_s = fmax(most_s, work->lane_s[lane]);
	if (w->sharing != &sharing_none)
		most_s = fmax(most_s, link_s(work, cost));
	if (w->sharing != &sharing_fluid)
		return most_s;
	most_s = fmax(most_s, work->dram_load * cost->ranks_per_domain / cost->dram_limit_Bps);
	most_s = fmax(most_s, work->root_bytes * cost->ranks_per_root / cost->root_Bps);
	if (cost->network_Bps > 0)
		most_s = fmax(most_s, work->network_bytes * cost->ranks_per_node / cost->network_Bps);
	return fmax(most_s, work->hbm_bytes / cost->hw->hbm_Bps);
}

/* Cuts of the second micro-batch, which stands for n_more like it. */
static double times_of(size_t cut, double n_more)
{
	return cut == 3 || cut == 4 ? 1 + n_more : 1;
}

static double time_s(struct walk *w, double n_more, struct arena *arena)
{
	struct work *const works = arena_zalloc(arena, w->n_cuts + 1, sizeof *works); /* [0]: all together */
	double sum_s = 0;

	for (size_t id = 0; id < w->s->n_ops; id++) {
		const struct node *const node = &w->nodes[id];
		if (node->until == NEVER)
			continue;
		const bool is_within = node->after + 1 == node->until;
		add_work(is_within ? &works[node->until] : &works[0], w, &w->s->ops[id]);
	}
	for (size_t cut = 1; cut <= w->n_cuts; cut++) {
		const double times = times_of(cut, n_more);
		sum_s += times * fmax(w->nodes[w->cuts[cut]].path_s, work_s(&works[cut], w));
		add_all(&works[0], &works[cut], times);
	}
	const double path_s = n_more > 0 ? 0 : w->nodes[w->cuts[w->n_cuts]].end_s;
	return fmax(sum_s, fmax(path_s, work_s(&works[0], w)));
}

/* ---- memory */

/* At a cut: what has certainly been allocated by then, less all that may have been freed. */
static double held_at(const struct walk *w, int32_t cut, enum pool pool)
{
	double bytes = 0;

	for (size_t i = 0; i < w->s->n_mem; i++) {
		const struct mem_event *const event = &w->s->mem[i];
		const struct node *const node = &w->nodes[event->op];
		const bool counts = event->bytes > 0 ? node->until <= cut : node->after < cut;
		bytes += event->pool == pool && counts ? event->bytes : 0;
	}
	return bytes;
}

/* Activations come and go with operations that run in order: their own peak is exact. */
static double activation_peak(const struct walk *w)
{
	double now = 0, peak = 0;
	uint32_t chain = 0;

	for (size_t i = 0; i < w->s->n_mem; i++) {
		const struct mem_event *const event = &w->s->mem[i];
		if (event->mem != MEM_ACTIVATIONS || event->pool != POOL_GPU)
			continue;
		if (chain && w->nodes[event->op].chain != chain)
			return 0;
		chain = w->nodes[event->op].chain;
		now += event->bytes;
		peak = fmax(peak, now);
	}
	return peak;
}

static double resident(const struct schedule *s, enum pool pool)
{
	double bytes = 0;

	for (size_t i = 0; i < MEM_N; i++)
		bytes += s->resident_bytes[pool][i];
	return bytes;
}

static void memory(double peak_bytes[POOL_N], const struct walk *w)
{
	double most[POOL_N] = {[POOL_GPU] = activation_peak(w)};

	for (int32_t cut = 1; cut <= (int32_t)w->n_cuts; cut++)
		for (enum pool pool = 0; pool < POOL_N; pool++)
			most[pool] = fmax(most[pool], held_at(w, cut, pool));
	for (enum pool pool = 0; pool < POOL_N; pool++)
		peak_bytes[pool] = resident(w->s, pool) + most[pool];
}

/* ---- any policy */

static void flush_nothing(struct build *b, const void *params, const struct bucket *bucket)
{
	(void)b, (void)params, (void)bucket;
}

static void do_nothing(struct build *b, const void *params)
{
	(void)b, (void)params;
}

/* Adds nothing to what every iteration has. */
static const struct policy policy_any = {.name = "any", .flush = flush_nothing, .update = do_nothing, .memory = do_nothing};
static const struct policy_use use_any = {.policy = &policy_any};

/* ---- the bound */

void bound_find(struct bound *bound, const struct bound_query *q, struct arena *arena)
{
	struct workload workload = *q->workload;
	const double n_more = workload.is_update_only ? 0 : fmax(0, workload.batch.grad_accum - MICRO_BATCHES);
	struct schedule s;
	struct walk w = {.s = &s, .sharing = q->sharing, .arena = arena};

	workload.batch.grad_accum -= n_more;
	schedule_init(&s, q->cost, arena);
	const struct iteration_plan plan = {.workload = &workload,
	    .use = q->use ? q->use : &use_any,
	    .places = q->places ? q->places : arena_zalloc(arena, workload.n_subgroups, sizeof *q->places),
	    .sync = q->sync,
	    .n_iterations = 1,
	    .n_ranks = 1};
	iteration_build(&s, &plan);
	shares_init(&w.shares, q->sharing, q->cost, 1, arena);
	w.nodes = arena_alloc(arena, s.n_ops, sizeof *w.nodes);
	int32_t *const cut_of = arena_zalloc(arena, s.n_ops, sizeof *cut_of);
	find_cuts(&w);
	for (size_t cut = 1; cut <= w.n_cuts; cut++)
		cut_of[w.cuts[cut]] = (int32_t)cut;
	order_lanes(&w);
	walk_forward(&w, cut_of);
	walk_backward(&w, cut_of);
	bound->iteration_s = time_s(&w, n_more, arena);
	memory(bound->peak_bytes, &w);
	bound->peak_bytes[POOL_HOST] *= workload.batch.gpus;
}

void bound_memory(double peak_bytes[POOL_N], const struct bound *any, const struct bound_query *q, struct arena *arena)
{
	struct schedule s;

	schedule_init(&s, q->cost, arena);
	struct build b = {.schedule = &s, .workload = q->workload, .places = q->places};
	q->use->policy->memory(&b, q->use->params);
	peak_bytes[POOL_GPU] = any->peak_bytes[POOL_GPU] + resident(&s, POOL_GPU);
	peak_bytes[POOL_HOST] = any->peak_bytes[POOL_HOST] + q->workload->batch.gpus * resident(&s, POOL_HOST);
}
