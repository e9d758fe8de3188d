/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/schedule.h"

#include <assert.h>
#include <string.h>

const char *const phase_names[PHASE_N] = {"forward", "backward", "update", "other"};

const char *const mem_names[MEM_N] = {
#define MEM_TEXT(name, text) text,
	MEM_LIST(MEM_TEXT)
#undef MEM_TEXT
};

/* Doubles an arena array; the old copy stays in the arena until the run ends (at most as much again). */
static __attribute__((noinline)) void *doubled(struct arena *arena, void *old, size_t n, size_t *cap, size_t size)
{
	const size_t wanted = *cap ? 2 * *cap : 1024;
	void *const copy = arena_alloc(arena, wanted, size);
	if (n)
		memcpy(copy, old, n * size);
	*cap = wanted;
	return copy;
}

/* Room for one more. */
static void *grow(struct arena *arena, void *old, size_t n, size_t *cap, size_t size)
{
	return n < *cap ? old : doubled(arena, old, n, cap, size);
}

void schedule_init(struct schedule *s, const struct cost *cost, struct arena *arena)
{
	memset(s, 0, sizeof *s);
	s->cost = cost;
	s->arena = arena;
	s->n_ranks = 1;
	s->ops = grow(arena, NULL, 0, &s->cap_ops, sizeof *s->ops);
	s->ops[0].first_dep = 0;
}

static void append_dep(struct schedule *s, op_id dep)
{
	assert(dep + 1 < s->n_ops);
	s->deps = grow(s->arena, s->deps, s->n_deps, &s->cap_deps, sizeof *s->deps);
	s->deps[s->n_deps++] = dep;
}

op_id schedule_op(struct schedule *s, enum op_kind kind, double amount, const op_id *deps, size_t n_deps)
{
	assert(amount >= 0);
	s->ops = grow(s->arena, s->ops, s->n_ops + 1, &s->cap_ops, sizeof *s->ops);
	const op_id id = (op_id)s->n_ops++;
	struct op *const op = &s->ops[id];
	op->alone_s = cost_op_s(s->cost, kind, amount);
	op->amount = amount;
	op->subgroup = -1;
	op->kind = (uint8_t)kind;
	op->lane = (uint8_t)s->cost->classes[kind].lane;
	op->phase = s->phase;
	op->iteration = s->iteration;
	op->rank = s->rank;
	op->stream = STREAM_DEFAULT;
	op->flags = 0;
	for (size_t i = 0; i < n_deps; i++)
		if (deps[i] != NO_OP)
			append_dep(s, deps[i]);
	s->ops[s->n_ops].first_dep = (uint32_t)s->n_deps;
	return id;
}

void schedule_dep(struct schedule *s, op_id dep)
{
	append_dep(s, dep);
	s->ops[s->n_ops].first_dep = (uint32_t)s->n_deps;
}

void schedule_mem(struct schedule *s, op_id op, bool at_end, enum pool pool, enum mem mem, double bytes)
{
	assert(op < s->n_ops);
	s->mem = grow(s->arena, s->mem, s->n_mem, &s->cap_mem, sizeof *s->mem);
	s->mem[s->n_mem++] = (struct mem_event){bytes, op, at_end, (uint8_t)pool, (uint8_t)mem};
}

void schedule_check(const struct schedule *s)
{
	assert(s->n_ops < NO_OP && s->ops[s->n_ops].first_dep == s->n_deps);
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *const op = &s->ops[i];
		assert(op->alone_s >= 0 && op->rank < s->n_ranks && op->lane < LANE_N && op->stream < STREAM_N);
		assert(op[0].first_dep <= op[1].first_dep);
		for (uint32_t d = op[0].first_dep; d < op[1].first_dep; d++)
			assert(s->deps[d] < i);
	}
	for (size_t i = 0; i < s->n_mem; i++)
		assert(s->mem[i].op < s->n_ops && s->mem[i].pool < POOL_N && s->mem[i].mem < MEM_N);
}
