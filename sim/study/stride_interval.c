/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/stride_interval.h"

#include <stdlib.h>

#include "sim/study/parallel.h"

struct draws {
	const struct uncertainty *u;
	const struct stride_source *source;
	const struct strides *strides;
	double *times_s; /* [n_samples][strides->n] */
};

static void run_draw(void *context, size_t draw, size_t worker)
{
	const struct draws *const d = context;
	const struct stride_source *const s = d->source;
	struct hwprofile *const hw = xmalloc(1, sizeof(*hw));
	struct stride_curve *const curve = xmalloc(1, sizeof(*curve));
	const size_t n = d->strides->n;
	struct cost cost;

	(void)worker;
	sampler_draw(hw, &d->u->sampler, s->hw, draw);
	cost_init(&cost, hw, s->workload, s->threads, s->workers);
	stride_curve_init(curve, &cost, s->workload, s->how, true);
	for (size_t i = 0; i < n; i++)
		d->times_s[draw * n + i] = strides_update_s(curve, d->strides->points[i].stride);
	free(curve);
	free(hw);
}

struct stride_outcome *stride_outcomes(const struct uncertainty *u, const struct strides *strides, const struct stride_source *source,
    struct arena *arena)
{
	const size_t n = strides->n, n_samples = u->n_samples;
	struct stride_outcome *const outcomes = arena_zalloc(arena, n + 1, sizeof(*outcomes));
	double *const p_best = arena_alloc(arena, n + 1, sizeof(*p_best));
	double *const draws = arena_alloc(arena, n_samples, sizeof(*draws));
	struct draws d = {.u = u, .source = source, .strides = strides, .times_s = arena_alloc(arena, n * n_samples + 1, sizeof(double))};

	parallel_for(n_samples, u->n_workers, run_draw, &d);
	const struct contest contest = {.times_s = d.times_s, .n = n, .n_draws = n_samples,
	    .own_log_sd = u->discrepancy.own_log_sd[QUANTITY_UPDATE], .seed = u->seed};
	contest_judge(p_best, NULL, &contest);
	for (size_t i = 0; i < n; i++) {
		for (size_t draw = 0; draw < n_samples; draw++)
			draws[draw] = d.times_s[draw * n + i];
		interval_of(&outcomes[i].update, strides->points[i].update_s, draws, n_samples, u->discrepancy.log_sd[QUANTITY_UPDATE]);
		outcomes[i].p_best = p_best[i];
	}
	return outcomes;
}
