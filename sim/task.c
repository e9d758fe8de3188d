/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/task.h"

enum { CACHE_LINE = 64 };
_Static_assert(sizeof(struct task) == CACHE_LINE, "a task is a cache line");

/* Dependents of each operation, by counting sort. Returns where those of each begin, n_ops + 1 entries. */
static const uint32_t *list_dependents(op_id *dependents, const struct schedule *s, struct arena *arena)
{
	uint32_t *const first = arena_zalloc(arena, s->n_ops + 1, sizeof *first);
	for (size_t d = 0; d < s->n_deps; d++)
		first[s->deps[d]]++;
	uint32_t sum = 0;
	for (size_t i = 0; i <= s->n_ops; i++) {
		sum += i < s->n_ops ? first[i] : 0;
		first[i] = sum; /* end of its run; filled backwards below */
	}
	for (size_t i = s->n_ops; i-- > 0;)
		for (uint32_t d = s->ops[i].first_dep; d < s->ops[i + 1].first_dep; d++)
			dependents[--first[s->deps[d]]] = (op_id)i;
	return first;
}

void tasks_init(struct tasks *tasks, const struct schedule *s, size_t n_lanes, struct arena *arena)
{
	char *const memory = arena_alloc(arena, s->n_ops + 1, CACHE_LINE);
	tasks->of = (struct task *)(memory + -(uintptr_t)memory % CACHE_LINE);
	tasks->dependents = arena_alloc(arena, s->n_deps, sizeof *tasks->dependents);
	const uint32_t *const first = list_dependents(tasks->dependents, s, arena);
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *const op = &s->ops[i];
		struct task *const task = &tasks->of[i];
		task->end_s = -1;
		task->alone_s = op->alone_s;
		task->n_open = op[1].first_dep - op->first_dep;
		task->first_dependent = first[i];
		task->n_dependents = first[i + 1] - first[i];
		task->lane = (uint32_t)(op->rank * n_lanes + op->lane);
		task->kind = op->kind;
		task->stream = op->stream;
		task->flags = op->flags;
		task->limit = (uint8_t)s->cost->classes[op->kind].res;
	}
}

void tasks_write(struct timeline *t, const struct tasks *tasks, const struct schedule *s, struct arena *arena)
{
	const size_t n = s->n_ops;
	t->n_ops = n;
	t->ready_s = arena_alloc(arena, n, sizeof *t->ready_s);
	t->start_s = arena_alloc(arena, n, sizeof *t->start_s);
	t->end_s = arena_alloc(arena, n, sizeof *t->end_s);
	t->cause = arena_alloc(arena, n, sizeof *t->cause);
	t->limit = arena_alloc(arena, n, sizeof *t->limit);
	for (size_t i = 0; i < n; i++) {
		const struct task *const task = &tasks->of[i];
		t->ready_s[i] = task->ready_s;
		t->start_s[i] = task->start_s;
		t->end_s[i] = task->end_s;
		t->cause[i] = task->cause;
		t->limit[i] = task->limit;
	}
}
