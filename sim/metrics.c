/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/metrics.h"

#include <math.h>
#include <string.h>

static double mark_s(const struct timeline *t, const struct schedule *s, size_t iteration, enum phase phase)
{
	return t->end_s[s->marks[iteration * PHASE_N + phase]];
}

/* Phase times of the last iteration. With gradient accumulation forward and backward alternate: each is the time in which MAIN
 * was in that phase, found from its operations. */
static void phase_times(struct metrics *m, const struct timeline *t, const struct schedule *s)
{
	const size_t last = s->n_iterations - 1;
	double phase_s[PHASE_N] = {0};
	double at_s = last ? mark_s(t, s, last - 1, PHASE_OTHER) : 0;
	const op_id first = last ? s->marks[(last - 1) * PHASE_N + PHASE_OTHER] : 0;
	const op_id end = s->marks[last * PHASE_N + PHASE_OTHER];
	for (op_id id = first + (last > 0); id <= end; id++) {
		const struct op *const op = &s->ops[id];
		if (op->rank != 0 || op->lane != LANE_MAIN || op->iteration != last)
			continue;
		phase_s[op->phase] += t->end_s[id] - at_s;
		at_s = t->end_s[id];
	}
	m->forward_s = phase_s[PHASE_FORWARD];
	m->backward_s = phase_s[PHASE_BACKWARD];
	m->update_s = phase_s[PHASE_UPDATE];
	m->other_s = phase_s[PHASE_OTHER];
	m->iteration_s = m->forward_s + m->backward_s + m->update_s + m->other_s;
}

/* What is held from start to end, and its sums. */
static void held(struct metrics *m, double sum[POOL_N], const struct schedule *s)
{
	memcpy(m->peak_bytes, s->resident_bytes, sizeof m->peak_bytes);
	for (size_t pool = 0; pool < POOL_N; pool++) {
		sum[pool] = 0;
		for (size_t i = 0; i < MEM_N; i++)
			sum[pool] += s->resident_bytes[pool][i];
	}
	m->gpu_peak_bytes = sum[POOL_GPU];
	m->host_peak_bytes = sum[POOL_HOST];
}

/* Walks the ledger in the order in which the engine ran it and keeps the composition at the peak of each pool. */
static void memory_peaks(struct metrics *m, const struct timeline *t, const struct schedule *s, struct arena *arena)
{
	double now[POOL_N][MEM_N], sum[POOL_N], peak[POOL_N];
	held(m, sum, s);
	memcpy(now, s->resident_bytes, sizeof now);
	memcpy(peak, sum, sizeof peak);
	uint32_t *const first = arena_zalloc(arena, t->n_ops + 1, sizeof *first); /* events of each op, 1-based chain */
	uint32_t *const next = arena_alloc(arena, s->n_mem + 1, sizeof *next);
	for (size_t i = s->n_mem; i-- > 0;) {
		next[i + 1] = first[s->mem[i].op];
		first[s->mem[i].op] = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < 2 * t->n_ops; i++) {
		const op_id id = t->order[i] >> 1;
		if (s->ops[id].rank != 0)
			continue;
		for (uint32_t e = first[id]; e; e = next[e]) {
			const struct mem_event *const event = &s->mem[e - 1];
			if (event->at_end != (t->order[i] & 1))
				continue;
			now[event->pool][event->mem] += event->bytes;
			sum[event->pool] += event->bytes;
			if (sum[event->pool] > peak[event->pool] * (1 + 1e-12)) {
				peak[event->pool] = sum[event->pool];
				memcpy(m->peak_bytes[event->pool], now[event->pool], sizeof now[event->pool]);
			}
		}
	}
	m->gpu_peak_bytes = peak[POOL_GPU];
	m->host_peak_bytes = peak[POOL_HOST];
}

/* Follows causes back from MAIN's last operation to the start of the iteration. */
static void critical_path(struct metrics *m, const struct timeline *t, const struct schedule *s)
{
	const size_t last = s->n_iterations - 1;
	const double begin_s = last ? mark_s(t, s, last - 1, PHASE_OTHER) : 0;
	op_id id = s->marks[last * PHASE_N + PHASE_UPDATE];
	while (id != NO_OP && t->end_s[id] > begin_s) {
		m->path_s[t->limit[id]] += t->end_s[id] - fmax(begin_s, t->start_s[id]);
		id = t->cause[id];
	}
	for (size_t r = 0; r < RES_N; r++)
		if (m->path_s[r] > m->path_s[m->bottleneck])
			m->bottleneck = (enum res)r;
}

static void lanes_and_bytes(struct metrics *m, const struct timeline *t, const struct schedule *s)
{
	const size_t last = s->n_iterations - 1;
	const double begin_s = last ? mark_s(t, s, last - 1, PHASE_OTHER) : 0, end_s = mark_s(t, s, last, PHASE_OTHER);
	for (size_t i = 0; i < t->n_ops; i++) {
		const struct op *const op = &s->ops[i];
		if (op->rank != 0)
			continue;
		const double from_s = fmax(begin_s, t->start_s[i]), to_s = fmin(end_s, t->end_s[i]);
		if (to_s > from_s && end_s > begin_s)
			m->busy_frac[op->lane] += (to_s - from_s) / (end_s - begin_s);
		if (op->iteration != last)
			continue;
		m->h2d_bytes += op->kind == OP_H2D ? op->amount : op->kind == OP_PUSH_PAGEABLE ? 2 * op->amount : 0;
		m->d2h_bytes += op->kind == OP_D2H ? op->amount : op->kind == OP_FLUSH_PAGEABLE ? 2 * op->amount : 0;
	}
}

static void judge_fit(struct metrics *m, const struct hwprofile *hw, struct arena *arena)
{
	char need[UNITS_TEXT_MAX], have[UNITS_TEXT_MAX];
	m->reason = NULL;
	if (m->gpu_peak_bytes > hw->gpu_memory_bytes)
		m->reason = arena_printf(arena, "needs %s of GPU memory, %s has %s", units_print(need, UNIT_BYTES, m->gpu_peak_bytes),
		    hw->name, units_print(have, UNIT_BYTES, hw->gpu_memory_bytes));
	else if (m->host_peak_bytes > hw->host_memory_bytes)
		m->reason = arena_printf(arena, "needs %s of host memory, %s has %s", units_print(need, UNIT_BYTES, m->host_peak_bytes),
		    hw->name, units_print(have, UNIT_BYTES, hw->host_memory_bytes));
	else if (m->host_peak_bytes > hw->pinned_max_bytes)
		m->reason = arena_printf(arena, "needs %s of pinned memory, %s allows %s",
		    units_print(need, UNIT_BYTES, m->host_peak_bytes), hw->name, units_print(have, UNIT_BYTES, hw->pinned_max_bytes));
	m->fits = !m->reason;
}

void metrics_compute(struct metrics *m, const struct timeline *timeline, const struct schedule *schedule,
    const struct workload *workload, const double gpu_params, struct arena *arena)
{
	memset(m, 0, sizeof *m);
	phase_times(m, timeline, schedule);
	memory_peaks(m, timeline, schedule, arena);
	m->host_peak_bytes *= workload->batch.gpus;
	critical_path(m, timeline, schedule);
	lanes_and_bytes(m, timeline, schedule);
	judge_fit(m, schedule->cost->hw, arena);
	m->gpu_fraction_frac = gpu_params / workload->rank_params;
	m->n_ops = schedule->n_ops;
}

void metrics_held(
    struct metrics *m, const struct schedule *schedule, const struct workload *workload, struct arena *arena)
{
	double sum[POOL_N];
	memset(m, 0, sizeof *m);
	held(m, sum, schedule);
	m->host_peak_bytes *= workload->batch.gpus;
	judge_fit(m, schedule->cost->hw, arena);
}
