/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/audit.h"

#include "tests/unit/test_util.h"

struct audit {
	const struct schedule *s;
	const struct timeline *t;
	const char *what;
	size_t *started, *ended; /* [n_ops] positions in order[] */
	op_id *before; /* [n_ops] what ran before it on its lane, NO_OP: nothing */
	op_id *next; /* [n_ops] what runs next of its lane and stream, NO_OP: nothing */
	struct arena arena;
};

#define audit_msg(a, id, condition, fmt, ...) \
	must(condition, "%s: op %zu (%s): " fmt, (a)->what, (size_t)(id), op_names[(a)->s->ops[id].kind], __VA_ARGS__)

/* order[] holds every start and every end once, in time. */
static void read_order(struct audit *a)
{
	const size_t n = a->s->n_ops;
	a->started = arena_alloc(&a->arena, n, sizeof *a->started);
	a->ended = arena_alloc(&a->arena, n, sizeof *a->ended);
	for (size_t i = 0; i < n; i++)
		a->started[i] = a->ended[i] = SIZE_MAX;
	double last_s = 0;
	for (size_t i = 0; i < 2 * n; i++) {
		const op_id id = a->t->order[i] >> 1;
		const bool is_end = a->t->order[i] & 1;
		must(id < n, "%s: order[%zu] names op %zu of %zu", a->what, i, (size_t)id, n);
		size_t *const seen = is_end ? &a->ended[id] : &a->started[id];
		const double at_s = is_end ? a->t->end_s[id] : a->t->start_s[id];
		audit_msg(a, id, *seen == SIZE_MAX, "twice in order[%zu]", i);
		audit_msg(a, id, at_s >= last_s, "at %.17g s after %.17g s in order[]", at_s, last_s);
		*seen = i;
		last_s = at_s;
	}
	for (size_t i = 0; i < n; i++)
		audit_msg(
		    a, i, a->started[i] < a->ended[i], "ends at %zu before it starts at %zu", a->ended[i], a->started[i]);
}

static void check_op(const struct audit *a, size_t i, bool is_alone)
{
	const struct op *const op = &a->s->ops[i];
	const double start_s = a->t->start_s[i], end_s = a->t->end_s[i];
	double ready_s = 0;
	for (uint32_t d = op[0].first_dep; d < op[1].first_dep; d++) {
		const op_id dep = a->s->deps[d];
		audit_msg(a, i, a->ended[dep] < a->started[i], "starts before op %zu has ended", (size_t)dep);
		ready_s = fmax(ready_s, a->t->end_s[dep]);
	}
	audit_msg(
	    a, i, a->t->ready_s[i] == ready_s, "ready at %.17g s, dependencies end at %.17g s", a->t->ready_s[i], ready_s);
	audit_msg(a, i, start_s >= ready_s && end_s >= start_s, "runs %.17g to %.17g s", start_s, end_s);
	if (op->alone_s == 0 || is_alone)
		audit_msg(
		    a, i, end_s == start_s + op->alone_s, "takes %.17g s, alone %.17g s", end_s - start_s, op->alone_s);
	else
		audit_msg(a, i, end_s - start_s >= op->alone_s * (1 - 1e-9) - 1e-15 * end_s, "takes %.17g s, alone %.17g s",
		    end_s - start_s, op->alone_s);
	audit_msg(a, i, a->t->limit[i] < RES_N, "limit %d", a->t->limit[i]);
	const op_id cause = a->t->cause[i];
	if (cause == NO_OP)
		audit_msg(a, i, start_s == 0, "starts at %.17g s without a cause", start_s);
	else
		audit_msg(a, i, start_s == a->t->end_s[cause] && a->ended[cause] < a->started[i],
		    "starts at %.17g s, its cause %zu ended at %.17g s", start_s, (size_t)cause, a->t->end_s[cause]);
}

/* Latest end of the pushes of a rank that were ready before at_s, or (with ties) at it. */
static double pushes_end_s(const struct audit *a, uint16_t rank, double at_s, bool with_ties)
{
	double end_s = 0;
	for (size_t i = 0; i < a->s->n_ops; i++)
		if (a->s->ops[i].flags & OP_IS_PUSH && a->s->ops[i].rank == rank &&
		    (a->t->ready_s[i] < at_s || (with_ties && a->t->ready_s[i] == at_s)))
			end_s = fmax(end_s, a->t->end_s[i]);
	return end_s;
}

/* What is reached at reached_s waits for the pushes enqueued by then; those of the same instant may or may not be. */
static void check_wait(const struct audit *a, size_t i, double reached_s)
{
	const uint16_t rank = a->s->ops[i].rank;
	const double least_s = fmax(reached_s, pushes_end_s(a, rank, reached_s, false));
	const double most_s = fmax(reached_s, pushes_end_s(a, rank, reached_s, true));
	const double start_s = a->t->start_s[i];
	audit_msg(a, i, start_s == least_s || start_s == most_s, "waits until %.17g s, pushes end at %.17g or %.17g s",
	    start_s, least_s, most_s);
}

/* Did this operation start because its stream had the lane until then? */
static bool is_kept(const struct audit *a, op_id id)
{
	const op_id before = a->before[id];
	return before != NO_OP && a->s->ops[before].stream == a->s->ops[id].stream && a->t->end_s[before] == a->t->start_s[id];
}

/* A lane does not turn from a stream that has a ready operation. */
static void check_stream(const struct audit *a, size_t i)
{
	const op_id before = a->before[i];
	if (before == NO_OP || is_kept(a, (op_id)i) || a->t->start_s[i] > a->t->end_s[before] || a->s->ops[i].alone_s == 0)
		return;
	const op_id kept = a->next[before];
	audit_msg(a, i, kept == NO_OP || a->t->ready_s[kept] > a->t->start_s[i],
	    "takes the lane from the stream of op %zu, whose op %zu is ready", (size_t)before, (size_t)kept);
}

/* An operation starts once it is ready and the one before it on its lane has ended; those that were ready first go first, but
 * those of the stream that has the lane. */
static void check_lane(const struct audit *a, size_t i)
{
	const op_id before = a->before[i];
	const double *const ready_s = a->t->ready_s;
	const double free_s = before == NO_OP ? 0 : a->t->end_s[before];
	const double reached_s = fmax(ready_s[i], free_s);
	if (before != NO_OP) {
		audit_msg(a, i, a->t->start_s[i] >= free_s, "starts while op %zu has its lane", (size_t)before);
		audit_msg(a, i,
		    ready_s[before] < ready_s[i] || (ready_s[before] == ready_s[i] && before < i) ||
			a->t->end_s[before] <= ready_s[i] || is_kept(a, before),
		    "was ready before op %zu, which ran first", (size_t)before);
	}
	check_stream(a, i);
	if (a->s->ops[i].flags & OP_WAITS_PUSHES)
		check_wait(a, i, reached_s);
	else
		audit_msg(a, i, a->t->start_s[i] == reached_s, "starts at %.17g s, could at %.17g s", a->t->start_s[i],
		    reached_s);
}

/* Neighbours on lanes, and on the streams of lanes, in the order of starts. */
static void read_lanes(struct audit *a)
{
	const size_t n_lanes = a->s->n_ranks * LANE_N;
	op_id *const last = arena_alloc(&a->arena, n_lanes * (1 + STREAM_N), sizeof *last), *const on_stream = last + n_lanes;
	a->before = arena_alloc(&a->arena, a->s->n_ops, sizeof *a->before);
	a->next = arena_alloc(&a->arena, a->s->n_ops, sizeof *a->next);
	for (size_t i = 0; i < n_lanes * (1 + STREAM_N); i++)
		last[i] = NO_OP;
	for (size_t i = 0; i < 2 * a->s->n_ops; i++) {
		if (a->t->order[i] & 1)
			continue;
		const op_id id = a->t->order[i] >> 1;
		const size_t lane = (size_t)a->s->ops[id].rank * LANE_N + a->s->ops[id].lane;
		op_id *const previous = &on_stream[lane * STREAM_N + a->s->ops[id].stream];
		a->before[id] = last[lane];
		a->next[id] = NO_OP;
		if (*previous != NO_OP)
			a->next[*previous] = id;
		last[lane] = *previous = id;
	}
}

void audit_timeline(const struct schedule *s, const struct timeline *t, bool is_alone, const char *what)
{
	struct audit a = {.s = s, .t = t, .what = what};
	ck_assert_uint_eq(t->n_ops, s->n_ops);
	read_order(&a);
	double end_s = 0;
	for (size_t i = 0; i < s->n_ops; i++) {
		check_op(&a, i, is_alone);
		end_s = fmax(end_s, t->end_s[i]);
	}
	ck_assert_double_eq(t->makespan_s, end_s);
	read_lanes(&a);
	for (size_t i = 0; i < s->n_ops; i++)
		check_lane(&a, i);
	arena_release(&a.arena);
}

double audit_critical_path_s(const struct schedule *s, struct arena *arena)
{
	double *const end_s = arena_alloc(arena, s->n_ops + 1, sizeof *end_s);
	double longest_s = 0;
	for (size_t i = 0; i < s->n_ops; i++) {
		double from_s = 0;
		for (uint32_t d = s->ops[i].first_dep; d < s->ops[i + 1].first_dep; d++)
			from_s = fmax(from_s, end_s[s->deps[d]]);
		end_s[i] = from_s + s->ops[i].alone_s;
		longest_s = fmax(longest_s, end_s[i]);
	}
	return longest_s;
}
