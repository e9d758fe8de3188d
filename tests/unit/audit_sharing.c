/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/audit.h"

#include <float.h>

#include "tests/unit/oracle.h"
#include "tests/unit/test_util.h"

enum { NOTHING = 0xff };

/* Speeds of a set of running operations by lane, remembered. */
struct answer {
	uint8_t *kinds;
	double *speed; /* [n_lanes] */
	struct answer *next;
};

struct integral {
	const struct schedule *s;
	size_t n_lanes;
	struct arena arena;
	struct answer *answers;
	uint8_t *kinds; /* what runs on each lane now */
	op_id *ops;
	double *done_s; /* [n_ops] */
};

static const struct answer *answer(struct integral *g)
{
	struct running running[ORACLE_RUNNING_MAX] = {0};
	size_t lanes[ORACLE_RUNNING_MAX] = {0}, n = 0;
	double speed[ORACLE_RUNNING_MAX] = {0};
	for (const struct answer *known = g->answers; known; known = known->next)
		if (!memcmp(known->kinds, g->kinds, g->n_lanes))
			return known;
	for (size_t lane = 0; lane < g->n_lanes; lane++) {
		const bool is_idle_main = g->kinds[lane] == NOTHING && lane % LANE_N == LANE_MAIN;
		if (g->kinds[lane] == NOTHING && !is_idle_main)
			continue;
		running[n] = (struct running){is_idle_main ? OP_SYNC : g->kinds[lane], (uint16_t)(lane / LANE_N)};
		lanes[n++] = lane;
	}
	oracle_speeds(speed, running, n, g->s->cost, g->s->n_ranks);
	struct answer *const made = arena_zalloc(&g->arena, 1, sizeof *made);
	made->kinds = arena_alloc(&g->arena, g->n_lanes, 1);
	memcpy(made->kinds, g->kinds, g->n_lanes);
	made->speed = arena_zalloc(&g->arena, g->n_lanes, sizeof *made->speed);
	for (size_t i = 0; i < n; i++)
		made->speed[lanes[i]] = speed[i];
	made->next = g->answers;
	return g->answers = made;
}

static void advance(struct integral *g, double span_s)
{
	if (span_s <= 0)
		return;
	const struct answer *const now = answer(g);
	for (size_t lane = 0; lane < g->n_lanes; lane++)
		if (g->kinds[lane] != NOTHING)
			g->done_s[g->ops[lane]] += now->speed[lane] * span_s;
}

static void integrate(struct integral *g, const struct timeline *t)
{
	double now_s = 0;
	memset(g->kinds, NOTHING, g->n_lanes);
	for (size_t i = 0; i < 2 * g->s->n_ops; i++) {
		const op_id id = t->order[i] >> 1;
		const struct op *const op = &g->s->ops[id];
		const bool is_end = t->order[i] & 1;
		const double at_s = is_end ? t->end_s[id] : t->start_s[id];
		advance(g, at_s - now_s);
		now_s = at_s;
		if (op->alone_s <= 0)
			continue;
		const size_t lane = (size_t)op->rank * LANE_N + op->lane;
		g->kinds[lane] = is_end ? NOTHING : op->kind;
		g->ops[lane] = id;
	}
}

/* Work that operations within [from_s, to_s] put on a pool is no more than it can carry in that time, whose ends are rounded. */
static void check_span(const struct schedule *s, const struct timeline *t, const struct oracle_pool *pool, double from_s,
    double to_s, const char *what)
{
	double amount = 0;
	for (size_t i = 0; i < s->n_ops; i++)
		if (t->start_s[i] >= from_s && t->end_s[i] <= to_s)
			amount += s->ops[i].alone_s *
			    oracle_demand(pool, &(struct running){s->ops[i].kind, s->ops[i].rank}, s->cost);
	must(amount <= pool->capacity * ((to_s - from_s) * (1 + 1e-9) + DBL_EPSILON * to_s) + 1e-6,
	    "%s: %s carries %.17g between %.17g and %.17g s, can %.17g", what, res_names[pool->res], amount, from_s, to_s,
	    pool->capacity * (to_s - from_s));
}

static void check_spans(const struct schedule *s, const struct timeline *t, const char *what)
{
	struct oracle_pool pools[ORACLE_POOLS_MAX];
	const size_t n_pools = oracle_pools(pools, s->cost, s->n_ranks), stride = s->n_ops / 12 + 1;
	for (size_t p = 0; p < n_pools; p++)
		for (size_t from = 0; from < s->n_ops; from += stride)
			for (size_t to = from; to < s->n_ops; to += stride)
				if (t->end_s[to] > t->start_s[from])
					check_span(s, t, &pools[p], t->start_s[from], t->end_s[to], what);
}

void audit_sharing(const struct schedule *s, const struct timeline *t, const char *what)
{
	struct integral g = {.s = s, .n_lanes = s->n_ranks * LANE_N};
	g.kinds = arena_alloc(&g.arena, g.n_lanes, 1);
	g.ops = arena_alloc(&g.arena, g.n_lanes, sizeof *g.ops);
	g.done_s = arena_zalloc(&g.arena, s->n_ops, sizeof *g.done_s);
	integrate(&g, t);
	for (size_t i = 0; i < s->n_ops; i++)
		must(fabs(g.done_s[i] - s->ops[i].alone_s) <= 1e-9 * s->ops[i].alone_s + 1e-12 * t->makespan_s,
		    "%s: op %zu (%s) did %.17g s of its work, has %.17g s", what, i, op_names[s->ops[i].kind], g.done_s[i],
		    s->ops[i].alone_s);
	check_spans(s, t, what);
	arena_release(&g.arena);
}
