/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/rig.h"

#include "tests/unit/audit.h"
#include "tests/unit/test_util.h"

void rig_init(struct rig *rig)
{
	memset(rig, 0, sizeof *rig);
	plain_machine(&rig->hw);
	plain_subgroups(&rig->subgroup, 1, 1e8);
	plain_update(&rig->workload, &rig->subgroup, 1);
}

void rig_start(struct rig *rig)
{
	cost_init(&rig->cost, &rig->hw, &rig->workload, 0, 0);
	schedule_init(&rig->schedule, &rig->cost, &rig->arena);
}

void rig_use_seconds(struct rig *rig)
{
	for (size_t kind = 0; kind < OP_N; kind++) {
		const struct op_class old = rig->cost.classes[kind];
		rig->cost.classes[kind] = (struct op_class){
		    .lane = old.lane, .unit = old.unit, .res = old.res, .s_per_unit = 1, .weight = 1, .duplex_frac = 1};
	}
}

void rig_release(struct rig *rig)
{
	arena_release(&rig->arena);
}

static void append(struct rig *rig, const struct drawn *row)
{
	struct schedule *const s = &rig->schedule;
	const op_id deps[] = {
	    row->after == NONE ? NO_OP : (op_id)row->after, row->after2 == NONE ? NO_OP : (op_id)row->after2};
	s->rank = row->rank;
	s->n_ranks = row->rank >= s->n_ranks ? row->rank + 1u : s->n_ranks;
	const op_id id = schedule_op(s, row->kind, row->amount, deps, 2);
	s->ops[id].flags = (uint8_t)(row->flags & 0xff);
	s->ops[id].stream = (uint8_t)(row->flags >> 8);
}

void rig_check(struct rig *rig, const struct drawn *rows, size_t n_rows, const struct sharing *sharing)
{
	const struct timeline *const t = &rig->timeline;
	for (size_t i = 0; i < n_rows; i++)
		append(rig, &rows[i]);
	schedule_check(&rig->schedule);
	engine_run(&rig->timeline, &rig->schedule, sharing, &rig->arena);
	for (size_t i = 0; i < n_rows; i++) {
		const op_id cause = rows[i].cause == NONE ? NO_OP : (op_id)rows[i].cause;
		ck_assert_msg(fabs(t->start_s[i] - rows[i].start_s) <= 1e-12 * rows[i].start_s &&
			fabs(t->end_s[i] - rows[i].end_s) <= 1e-12 * rows[i].end_s,
		    "row %zu (%s): runs %.17g to %.17g, drawn %.17g to %.17g", i, op_names[rows[i].kind], t->start_s[i],
		    t->end_s[i], rows[i].start_s, rows[i].end_s);
		ck_assert_msg(t->cause[i] == cause, "row %zu (%s): caused by %d, drawn %d", i, op_names[rows[i].kind],
		    (int)t->cause[i], rows[i].cause);
	}
	audit_timeline(&rig->schedule, t, sharing == &sharing_none, "drawn");
	if (sharing == &sharing_fluid)
		audit_sharing(&rig->schedule, t, "drawn");
}
