/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/strides.h"

#include <assert.h>
#include <math.h>

/* Beyond STRIDES_ALL_MAX subgroups the strides to FEW are listed, and then each by 1/THINNED more than the one before. */
enum { SHOWN_FIRST = 12, FEW = 1024, THINNED = 256 };
static const double recurrence_steps_max = 3e7; /* strides x subgroups: under a second */

struct source {
	const struct cost *cost;
	const struct workload *workload;
	struct interleave how;
	bool *on_gpu; /* [n_dynamic] */
	struct stride_curve curve, idle;
};

double strides_update_s(struct stride_curve *curve, size_t stride)
{
	if (curve->how.waits_for_fetch)
		return stride_curve_s(curve, stride);
	return stride_curve_fraction_s(curve, stride > 0 && stride <= curve->how.n_dynamic ? 1 / (double)stride : 0);
}

/* ---- a point */

static enum res limit_at(const struct stride_curve *curve, size_t stride)
{
	struct lanes lanes;

	stride_curve_lanes(&lanes, curve, stride);
	return lanes_max(&lanes).res;
}

/* The share of the rank's parameters that every stride-th dynamic subgroup is. */
static double streamed_frac(const struct source *s, size_t stride)
{
	double params = 0;

	for (size_t x = stride; stride > 0 && x <= s->how.n_dynamic; x += stride)
		params += s->workload->subgroups[x - 1].n_params;
	return params / s->workload->rank_params;
}

static double recurrence_s(struct source *s, size_t stride)
{
	for (size_t x = 0; x < s->how.n_dynamic; x++)
		s->on_gpu[x] = stride > 0 && (x + 1) % stride == 0;
	s->how.stride = stride;
	return recurrence_interleave_s(s->cost, s->workload, &s->how);
}

static void fill(struct stride_point *p, struct source *s, bool has_recurrence)
{
	const size_t stride = p->stride;

	p->update_s = strides_update_s(&s->curve, stride);
	p->idle_update_s = strides_update_s(&s->idle, stride);
	p->limit = limit_at(&s->curve, stride);
	p->idle_limit = limit_at(&s->idle, stride);
	p->gpu_fraction_frac = streamed_frac(s, stride);
	p->recurrence_s = has_recurrence ? recurrence_s(s, stride) : (double)NAN;
}

/* ---- which are listed */

static bool is_complete(size_t last, enum strides_listed listed)
{
	return last <= (listed == STRIDES_SHOWN ? (size_t)SHOWN_FIRST : (size_t)STRIDES_ALL_MAX);
}

static size_t next_stride(size_t stride, size_t last, enum strides_listed listed)
{
	size_t step = 1;

	if (listed == STRIDES_SHOWN && stride >= SHOWN_FIRST)
		step = last - stride;
	else if (!is_complete(last, listed) && stride >= FEW)
		step = stride / THINNED;
	return last - stride < step ? last : stride + step;
}

static void list(struct strides *t, size_t last, enum strides_listed listed)
{
	const size_t balance = (size_t)fmin(t->stride_balance, (double)last);
	const size_t named[] = {balance < t->stride_opt ? balance : t->stride_opt, balance < t->stride_opt ? t->stride_opt : balance};

	t->points[t->n++].stride = 0;
	for (size_t stride = 0; stride < last;) {
		const size_t next = next_stride(stride, last, listed);
		for (size_t i = 0; i < 2; i++)
			if (named[i] > t->points[t->n - 1].stride && named[i] < next)
				t->points[t->n++].stride = named[i];
		t->points[t->n++].stride = stride = next;
	}
	assert(t->n <= STRIDES_POINTS_MAX);
}

/* ---- the best */

/* Of fractions 1/k. No update is shorter than MAIN's work alone, which grows with k. */
static size_t fraction_stride_opt(struct stride_curve *c)
{
	const double cpu_s = c->n * c->mean.cpu_s * (1 - 1e-9); /* rounding */
	double best_s = strides_update_s(c, 0);
	size_t best = 0;

	for (size_t k = 1; k <= c->how.n_dynamic && (1 - 1 / (double)k) * cpu_s < best_s; k++) {
		const double stride_s = strides_update_s(c, k);
		if (stride_s < best_s) {
			best_s = stride_s;
			best = k;
		}
	}
	return best;
}

/* The index of the best point: by the points where all strides are. */
static size_t best_of(const struct strides *t, bool has_all)
{
	size_t best = 0;

	for (size_t i = 0; i < t->n; i++)
		if (has_all ? t->points[i].update_s < t->points[best].update_s : t->points[i].stride == t->stride_opt)
			best = i;
	return best;
}

void strides_init(struct strides *t, const struct strides_query *q, struct arena *arena)
{
	const size_t last = q->how->n_dynamic;
	const bool has_all = is_complete(last, q->listed);
	struct source *const s = arena_zalloc(arena, 1, sizeof(*s));

	*s = (struct source){.cost = q->cost, .workload = q->workload, .how = *q->how, .on_gpu = arena_zalloc(arena, last + 1, sizeof(bool))};
	s->how.on_gpu = s->on_gpu;
	stride_curve_init(&s->curve, q->cost, q->workload, q->how, true);
	stride_curve_init(&s->idle, q->cost, q->workload, q->how, false);
	*t = (struct strides){.points = arena_zalloc(arena, has_all ? last + 1 : STRIDES_POINTS_MAX, sizeof(*t->points)), .n_all = last + 1};
	t->stride_balance = stride_balance(q->cost, q->workload, q->how->chain == CHAIN_SERIAL);
	if (q->is_best)
		t->stride_opt = q->how->stride;
	else if (!has_all)
		t->stride_opt = q->how->waits_for_fetch ? stride_curve_opt(&s->curve) : fraction_stride_opt(&s->curve);
	list(t, last, q->listed);
	for (size_t i = 0; i < t->n; i++)
		fill(&t->points[i], s, (double)t->n * (double)last <= recurrence_steps_max);
	t->opt = best_of(t, has_all);
	t->stride_opt = t->points[t->opt].stride;
	t->fraction_opt_frac = fraction_opt_frac(&t->fraction_opt_s, q->cost, q->workload, q->how);
	t->stride_balance_s = strides_update_s(&s->curve, (size_t)fmin(t->stride_balance, (double)last + 1));
	t->stride_balance_loss_frac = t->stride_balance_s / t->points[t->opt].update_s - 1;
	stride_curve_lanes(&t->lanes, &s->curve, t->stride_opt);
	stride_curve_lanes(&t->idle_lanes, &s->idle, t->stride_opt);
}
