/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/cluster.h"

#include <string.h>

#include "sim/engine.h"

struct writing {
	struct cluster *c;
	const struct schedule *one;
	const double *slowdown;
	size_t ranks_per_node;
};

static op_id *ids_of(const struct writing *w, op_id folded)
{
	return &w->c->ids[folded * w->c->n_ranks];
}

static bool is_collective(const struct op *op)
{
	return op->kind == OP_GATHER || op->kind == OP_REDUCE;
}

/* An operation of a rank without dependencies, stamped as the folded one. */
static op_id add(const struct writing *w, const struct op *op, size_t rank, double amount)
{
	struct schedule *const s = &w->c->schedule;
	s->rank = (uint16_t)rank;
	s->iteration = op->iteration;
	s->phase = op->phase;
	const op_id id = schedule_op(s, (enum op_kind)op->kind, amount, NULL, 0);
	s->ops[id].stream = op->stream;
	s->ops[id].flags = op->flags;
	s->ops[id].subgroup = op->subgroup;
	if (w->slowdown && s->cost->classes[op->kind].res == RES_CPU)
		s->ops[id].alone_s *= w->slowdown[rank / w->ranks_per_node];
	return id;
}

static void follow(const struct writing *w, op_id folded, size_t rank)
{
	const struct schedule *const one = w->one;
	for (uint32_t d = one->ops[folded].first_dep; d < one->ops[folded + 1].first_dep; d++)
		schedule_dep(&w->c->schedule, ids_of(w, one->deps[d])[rank]);
}

/* Starts when all ranks have what it waits for. */
static void write_collective(const struct writing *w, op_id folded)
{
	for (size_t rank = 0; rank < w->c->n_ranks; rank++) {
		ids_of(w, folded)[rank] = add(w, &w->one->ops[folded], rank, w->one->ops[folded].amount);
		for (size_t other = 0; other < w->c->n_ranks; other++)
			follow(w, folded, other);
	}
}

static void write_op(const struct writing *w, op_id folded)
{
	for (size_t rank = 0; rank < w->c->n_ranks; rank++) {
		ids_of(w, folded)[rank] = add(w, &w->one->ops[folded], rank, w->one->ops[folded].amount);
		follow(w, folded, rank);
	}
}

/* The ledger and the marks are of rank 0. */
static void write_rank_0(const struct writing *w, struct arena *arena)
{
	struct schedule *const s = &w->c->schedule;
	const struct schedule *const one = w->one;
	for (size_t i = 0; i < one->n_mem; i++)
		schedule_mem(s, ids_of(w, one->mem[i].op)[0], one->mem[i].at_end, (enum pool)one->mem[i].pool,
		    (enum mem)one->mem[i].mem, one->mem[i].bytes);
	memcpy(s->resident_bytes, one->resident_bytes, sizeof s->resident_bytes);
	s->n_iterations = one->n_iterations;
	s->marks = arena_alloc(arena, one->n_iterations * PHASE_N, sizeof *s->marks);
	for (size_t i = 0; i < one->n_iterations * PHASE_N; i++)
		s->marks[i] = ids_of(w, one->marks[i])[0];
}

void cluster_run(struct cluster *c, const struct trial *one, const struct sharing *sharing, const double *slowdown, struct arena *arena)
{
	const struct schedule *const s = &one->schedule;
	const struct writing w = {c, s, slowdown, (size_t)one->workload.batch.gpus};
	*c = (struct cluster){.n_ranks = (size_t)batch_ranks(&one->workload.batch)};
	schedule_init(&c->schedule, &one->cost, arena);
	c->schedule.n_ranks = c->n_ranks;
	c->ids = arena_alloc(arena, s->n_ops * c->n_ranks, sizeof *c->ids);
	for (op_id id = 0; id < s->n_ops; id++) {
		if (is_collective(&s->ops[id]))
			write_collective(&w, id);
		else
			write_op(&w, id);
	}
	write_rank_0(&w, arena);
	schedule_check(&c->schedule);
	engine_run(&c->timeline, &c->schedule, sharing, arena);
	metrics_compute(&c->metrics, &c->timeline, &c->schedule, &one->workload,
	    one->metrics.gpu_fraction_frac * one->workload.rank_params, arena);
}
