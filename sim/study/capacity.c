/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/capacity.h"

#include <math.h>
#include <stdlib.h>

#include "sim/study/bound.h"
#include "sim/study/plan_options.h"
#include "sim/study/specs.h"

enum { TRIALS_MAX = 4 }; /* of the options that need least, by the bound */
static const double layers_max = 8192;

struct candidate {
	const char *spec;
	double need_frac; /* of the memory that is there, at least; above 1: does not fit */
};

struct finder {
	const struct trial_input *in;
	struct candidate *candidates;
	size_t n;
	struct arena scratch;
};

/* By the bound on memory: nothing is simulated. */
static int weigh(struct candidate *c, const struct trial_input *in, const struct workload *w, const struct bound *any,
    struct arena *arena, struct err *err)
{
	const double host_bytes = fmin(in->hw->host_memory_bytes, in->hw->pinned_max_bytes);
	struct policy_use use;
	struct cost cost;
	double peak_bytes[POOL_N];

	if (policy_use_parse(&use, c->spec, arena, err))
		return err->code;
	if (use.policy->resolve)
		use.policy->resolve(use.params, in->hw, w, in->threads);
	enum place *const places = arena_alloc(arena, w->n_subgroups, sizeof(*places));
	use.policy->place(places, use.params, w);
	cost_init(&cost, in->hw, w, in->threads, use.policy->workers ? use.policy->workers(use.params) : 0);
	const struct bound_query query = {.cost = &cost, .workload = w, .use = &use, .places = places, .sharing = in->sharing, .sync = in->sync};
	bound_memory(peak_bytes, any, &query, arena);
	c->need_frac = fmax(peak_bytes[POOL_GPU] / in->hw->gpu_memory_bytes, peak_bytes[POOL_HOST] / host_bytes);
	return 0;
}

static int by_need(const void *a, const void *b)
{
	const struct candidate *const x = a, *const y = b;

	return (x->need_frac > y->need_frac) - (x->need_frac < y->need_frac);
}

static int try_trials(bool *fits, struct finder *f, const struct trial_input *in, struct err *err)
{
	struct trial_input input = *in;

	*fits = false;
	input.n_iterations = 2; /* what an update leaves running is there in the second */
	for (size_t i = 0; i < f->n && i < TRIALS_MAX && f->candidates[i].need_frac <= 1 && !*fits; i++) {
		struct trial trial;
		input.policy = f->candidates[i].spec;
		if (trial_run(&trial, &input, &f->scratch, err))
			return err->code;
		*fits = trial.metrics.fits;
	}
	return 0;
}

static int try_layers(bool *fits, double *n_params, struct finder *f, double layers, struct err *err)
{
	struct trial_input input = *f->in;
	struct workload w;
	struct cost cost;
	struct bound any;

	arena_reset(&f->scratch);
	input.shape.layers = layers;
	if (trial_workload(&w, input.hw, &input.shape, &input.batch, &f->scratch, err))
		return err->code;
	*n_params = w.n_params;
	cost_init(&cost, input.hw, &w, input.threads, 0);
	const struct bound_query query = {.cost = &cost, .workload = &w, .sharing = input.sharing, .sync = input.sync};
	bound_find(&any, &query, &f->scratch);
	for (size_t i = 0; i < f->n; i++)
		if (weigh(&f->candidates[i], &input, &w, &any, &f->scratch, err))
			return err->code;
	qsort(f->candidates, f->n, sizeof(*f->candidates), by_need);
	return try_trials(fits, f, &input, err);
}

/* Doubles until it does not fit, then halves the gap. */
static int search(struct capacity *capacity, struct finder *f, struct err *err)
{
	double low = 0, high = 1, n_params;
	bool fits = true;

	*capacity = (struct capacity){0};
	while (fits && high <= layers_max) {
		if (try_layers(&fits, &n_params, f, high, err))
			return err->code;
		if (fits) {
			*capacity = (struct capacity){high, n_params};
			low = high;
			high *= 2;
		}
	}
	while (high - low > 1 && !fits) {
		const double middle = floor((low + high) / 2);
		bool middle_fits;
		if (try_layers(&middle_fits, &n_params, f, middle, err))
			return err->code;
		if (middle_fits)
			*capacity = (struct capacity){middle, n_params};
		low = middle_fits ? middle : low;
		high = middle_fits ? high : middle;
	}
	return 0;
}

int capacity_find(struct capacity *capacity, const struct trial_input *in, struct arena *arena, struct err *err)
{
	const size_t strides_tried = 16;
	struct opt_list open = {0}, specs = {0};
	struct finder f = {.in = in};

	if (plan_options(&open, in->policy, strides_tried, false, arena, err))
		return err->code;
	for (size_t i = 0; i < open.n; i++)
		if (specs_expand(&specs, open.items[i], arena, err))
			return err->code;
	f.candidates = arena_alloc(arena, specs.n, sizeof(*f.candidates));
	for (size_t i = 0; i < specs.n; i++) {
		struct policy_use use;
		if (policy_use_parse(&use, specs.items[i], arena, err))
			return err->code;
		if (policy_check_batch(use.policy, use.params, &in->batch, err) == 0)
			f.candidates[f.n++] = (struct candidate){.spec = specs.items[i]};
	}
	if (specs.n > 0 && f.n == 0)
		return err->code;
	const int code = search(capacity, &f, err);
	arena_release(&f.scratch);
	return code;
}
