/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/strides.h"

#include <math.h>

static const double recurrence_steps_max = 1e8; /* strides x subgroups: about a second */

struct source {
	const struct cost *cost;
	const struct workload *workload;
	struct interleave how;
	bool *on_gpu; /* [n_dynamic] */
};

static double update_s(const struct source *s, size_t stride, bool is_contended)
{
	if (s->how.waits_for_fetch)
		return stride_update_s(s->cost, s->workload, &s->how, stride, is_contended);
	const bool is_any = stride > 0 && stride <= s->how.n_dynamic;
	return fraction_update_s(s->cost, s->workload, &s->how, is_any ? 1 / (double)stride : 0, is_contended);
}

double strides_update_s(const struct cost *cost, const struct workload *workload, const struct interleave *how, size_t stride)
{
	const struct source source = {cost, workload, *how, NULL};
	return update_s(&source, stride, true);
}

static void lanes_at(struct lanes *lanes, const struct source *s, size_t stride, bool is_contended)
{
	if (stride > 0 && stride <= s->how.n_dynamic)
		lanes_window(lanes, s->cost, s->workload, &s->how, (double)stride, is_contended);
	else
		lanes_fraction(lanes, s->cost, s->workload, &s->how, 0, is_contended);
}

static enum res limit_at(const struct source *s, size_t stride, bool is_contended)
{
	struct lanes lanes;

	lanes_at(&lanes, s, stride, is_contended);
	return lanes_max(&lanes).res;
}

/* Marks every stride-th dynamic subgroup; returns the share of the rank's parameters that they are. */
static double mark(struct source *s, size_t stride)
{
	double params = 0;

	for (size_t x = 0; x < s->how.n_dynamic; x++) {
		s->on_gpu[x] = stride > 0 && (x + 1) % stride == 0;
		params += s->on_gpu[x] ? s->workload->subgroups[x].n_params : 0;
	}
	s->how.stride = stride;
	return params / s->workload->rank_params;
}

static void fill(struct stride_point *p, struct source *s, size_t stride)
{
	const bool has_recurrence = (double)s->how.n_dynamic * (double)s->how.n_dynamic <= recurrence_steps_max;

	p->stride = stride;
	p->update_s = update_s(s, stride, true);
	p->idle_update_s = update_s(s, stride, false);
	p->limit = limit_at(s, stride, true);
	p->idle_limit = limit_at(s, stride, false);
	p->gpu_fraction_frac = stride ? 1 / (double)stride : 0;
	p->recurrence_s = NAN;
	if (has_recurrence) {
		p->gpu_fraction_frac = mark(s, stride);
		p->recurrence_s = recurrence_interleave_s(s->cost, s->workload, &s->how);
	}
}

void strides_init(struct strides *t, const struct cost *cost, const struct workload *workload, const struct interleave *how,
    struct arena *arena)
{
	struct source s = {cost, workload, *how, arena_zalloc(arena, how->n_dynamic + 1, sizeof(bool))};

	s.how.on_gpu = s.on_gpu;
	*t = (struct strides){.points = arena_alloc(arena, how->n_dynamic + 1, sizeof(*t->points))};
	for (size_t k = 0; k <= how->n_dynamic; k++)
		fill(&t->points[t->n++], &s, k);
	for (size_t k = 1; k < t->n; k++)
		if (t->points[k].update_s < t->points[t->stride_opt].update_s)
			t->stride_opt = k;
	if (how->waits_for_fetch)
		t->stride_opt = stride_opt(cost, workload, how);
	t->fraction_opt_frac = fraction_opt_frac(&t->fraction_opt_s, cost, workload, how);
	t->stride_balance = stride_balance(cost, workload, how->chain == CHAIN_SERIAL);
	const double balance = fmin(t->stride_balance, (double)how->n_dynamic + 1);
	t->stride_balance_s = update_s(&s, (size_t)balance, true);
	t->stride_balance_loss_frac = t->stride_balance_s / t->points[t->stride_opt].update_s - 1;
	lanes_at(&t->lanes, &s, t->stride_opt, true);
	lanes_at(&t->idle_lanes, &s, t->stride_opt, false);
}
