/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/build.h"

#include <string.h>

static op_id add(struct build *b, enum op_kind kind, double amount, op_id first, op_id second, op_id third)
{
	const op_id deps[3] = {first, second, third};
	return schedule_op(b->schedule, kind, amount, deps, 3);
}

static void remember(struct build *b, op_id op)
{
	if (b->n_pending == b->cap_pending) {
		const size_t cap = b->cap_pending ? 2 * b->cap_pending : 256;
		op_id *const copy = arena_alloc(b->schedule->arena, cap, sizeof *copy);
		if (b->n_pending)
			memcpy(copy, b->pending, b->n_pending * sizeof *copy);
		b->pending = copy;
		b->cap_pending = cap;
	}
	b->pending[b->n_pending++] = op;
}

op_id build_main(struct build *b, enum op_kind kind, double amount)
{
	return b->main_last = add(b, kind, amount, b->main_last, NO_OP, NO_OP);
}

op_id build_enqueue(struct build *b, enum op_kind kind, double amount, op_id after1, op_id after2)
{
	const op_id op = add(b, kind, amount, b->main_last, after1, after2);
	remember(b, op);
	return op;
}

void build_wait(struct build *b, op_id op)
{
	if (op != NO_OP)
		b->main_last = add(b, OP_SYNC, 0, b->main_last, op, NO_OP);
}

void build_wait_pushes(struct build *b)
{
	b->main_last = add(b, OP_SYNC, 0, b->main_last, NO_OP, NO_OP);
	b->schedule->ops[b->main_last].flags = OP_WAITS_PUSHES;
}

void build_wait_all(struct build *b)
{
	b->main_last = add(b, OP_SYNC, 0, b->main_last, NO_OP, NO_OP);
	for (size_t i = 0; i < b->n_pending; i++)
		schedule_dep(b->schedule, b->pending[i]);
	b->n_pending = 0;
}

op_id build_worker(struct build *b, enum op_kind kind, double amount)
{
	b->worker_last = add(b, kind, amount, b->main_last, b->worker_last, NO_OP);
	remember(b, b->worker_last);
	return b->worker_last;
}

op_id build_push(struct build *b, size_t subgroup, op_id after)
{
	const double bytes = 2 * b->workload->subgroups[subgroup].n_params;
	const op_id op = add(b, OP_H2D, bytes, after == NO_OP ? b->main_last : after, NO_OP, NO_OP);
	b->schedule->ops[op].flags = OP_IS_PUSH;
	b->schedule->ops[op].stream = STREAM_PUSH;
	b->push_last = op;
	build_subject(b, subgroup);
	remember(b, op);
	return op;
}

void build_subject(struct build *b, size_t subgroup)
{
	b->schedule->ops[b->schedule->n_ops - 1].subgroup = (int32_t)subgroup;
}
