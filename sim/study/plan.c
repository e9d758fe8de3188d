/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/parallel.h"

enum { MISFITS_MAX = 64, ROUND = 16 }; /* trials between two looks at the best: fixed, so that the threads decide nothing */

enum state { CELL_REFUSED, CELL_UNFIT, CELL_SLOWER_BATCH, CELL_SLOWER, CELL_OPEN, CELL_SIMULATED };

/* One variant with the batch at hand. */
struct cell {
	size_t variant;
	enum state state;
	double bound_s; /* of the iteration */
	double shortage_frac; /* at least; 0: may fit */
	struct metrics metrics; /* simulated */
};

/* Alternatives of a policy that do not fit, by what they are short of at the least. */
struct misfits {
	struct misfit {
		size_t batch, variant;
		double shortage_frac;
	} list[MISFITS_MAX];
	size_t n;
};

struct search {
	struct plan *plan;
	struct misfits *misfits; /* [n_policies] */
	size_t batch;
	struct cell *cells; /* [n_variants] */
	struct cell **open; /* sorted by bound */
	size_t n_open, next_open;
	struct cell *round[ROUND];
	struct arena *scratch; /* [n_workers] */
};

static double limit_of(const struct hwprofile *hw, enum pool pool)
{
	return pool == POOL_GPU ? hw->gpu_memory_bytes : fmin(hw->host_memory_bytes, hw->pinned_max_bytes);
}

double plan_shortage(const struct metrics *m, const struct hwprofile *hw, enum pool pool)
{
	return fmax(0, (pool == POOL_GPU ? m->gpu_peak_bytes : m->host_peak_bytes) - limit_of(hw, pool));
}

static double shortage_frac(double gpu_bytes, double host_bytes, const struct hwprofile *hw)
{
	return fmax(0, gpu_bytes / limit_of(hw, POOL_GPU) - 1) + fmax(0, host_bytes / limit_of(hw, POOL_HOST) - 1);
}

/* ---- bounds */

/* All on the GPU is gpu-only under whatever name, so nothing else is where that is planned too. All on the CPU schedules differ. */
static int check_offloads(const struct policy_use *use, const struct plan *plan, size_t batch, struct arena *arena, struct err *err)
{
	const struct workload *const workload = &plan->space.batches[batch].workload;
	const struct policy *const gpu_only = policy_find("gpu-only");
	enum place *const places = arena_alloc(arena, workload->n_subgroups, sizeof(*places));
	bool has_gpu_only = false;

	for (size_t i = 0; i < plan->space.n_policies; i++)
		has_gpu_only = has_gpu_only || plan->space.policies[i] == gpu_only;
	if (!has_gpu_only || use->policy == gpu_only)
		return 0;
	use->policy->place(places, use->params, workload);
	for (size_t x = 0; x < workload->n_subgroups; x++)
		if (places[x] != PLACE_GPU)
			return 0;
	return err_set(err, STATUS_USAGE, "every subgroup is on the GPU, as with gpu-only");
}

/* A variant's options with what was left open filled in. STATUS_USAGE when the policy refuses, or is gpu-only in disguise. */
static int resolve(struct policy_use *use, const struct plan *plan, size_t batch, size_t variant, struct arena *arena, struct err *err)
{
	const struct policy_use *const from = &plan->space.variants[variant].use;
	const struct plan_query *const q = &plan->query;

	*use = (struct policy_use){.policy = from->policy, .params = arena_zalloc(arena, 1, from->policy->params_size + 1)};
	if (from->policy->params_size)
		memcpy(use->params, from->params, from->policy->params_size);
	if (policy_check(from->policy, use->params, err) ||
	    policy_check_batch(from->policy, use->params, &plan->space.batches[batch].workload.batch, err))
		return err->code;
	if (from->policy->resolve)
		from->policy->resolve(use->params, q->hw, &plan->space.batches[batch].workload, q->threads);
	return check_offloads(use, plan, batch, arena, err);
}

static bool is_beaten(const struct plan_policy *p, double s_per_token)
{
	return p->has_best && s_per_token >= p->best.s_per_token;
}

static void judge(struct cell *cell, const struct search *s, struct arena *arena)
{
	const struct plan *const plan = s->plan;
	const struct plan_query *const q = &plan->query;
	const struct plan_batch *const batch = &plan->space.batches[s->batch];
	struct policy_use use;
	struct bound bound;
	struct cost cost;
	struct err err = {0};

	cell->state = CELL_REFUSED;
	if (resolve(&use, plan, s->batch, cell->variant, arena, &err))
		return;
	enum place *const places = arena_alloc(arena, batch->workload.n_subgroups, sizeof(*places));
	use.policy->place(places, use.params, &batch->workload);
	cost_init(&cost, q->hw, &batch->workload, q->threads, use.policy->workers ? use.policy->workers(use.params) : 0);
	const struct bound_query query = {.cost = &cost, .workload = &batch->workload, .use = &use, .places = places,
	    .sharing = q->sharing, .sync = q->sync};
	cell->state = CELL_UNFIT;
	bound_memory(bound.peak_bytes, &batch->any, &query, arena);
	cell->shortage_frac = shortage_frac(bound.peak_bytes[POOL_GPU], bound.peak_bytes[POOL_HOST], q->hw);
	if (cell->shortage_frac > 0 && !q->is_exhaustive)
		return;
	bound_find(&bound, &query, arena);
	cell->shortage_frac = shortage_frac(bound.peak_bytes[POOL_GPU], bound.peak_bytes[POOL_HOST], q->hw);
	cell->bound_s = bound.iteration_s;
	cell->state = cell->shortage_frac > 0 && !q->is_exhaustive ? CELL_UNFIT : CELL_OPEN;
}

static void judge_item(void *context, size_t item, size_t worker)
{
	struct search *const s = context;
	struct cell *const cell = &s->cells[item];
	const struct plan_batch *const batch = &s->plan->space.batches[s->batch];
	const struct plan_policy *const p = &s->plan->policies[s->plan->space.variants[item].policy];

	*cell = (struct cell){.variant = item, .state = CELL_SLOWER_BATCH};
	if (!s->plan->query.is_exhaustive && is_beaten(p, batch->any.iteration_s / batch->tokens))
		return;
	cell->state = CELL_UNFIT;
	cell->shortage_frac = INFINITY;
	if (!s->plan->query.is_exhaustive && batch->fits_none && p->has_best)
		return;
	arena_reset(&s->scratch[worker]);
	judge(cell, s, &s->scratch[worker]);
}

/* ---- trials */

int plan_input(struct trial_input *input, const struct plan *plan, size_t batch, size_t variant, struct arena *arena, struct err *err)
{
	const struct plan_query *const q = &plan->query;
	struct policy_use use;

	if (resolve(&use, plan, batch, variant, arena, err))
		return err->code;
	*input = (struct trial_input){.hw = q->hw,
	    .shape = q->shape,
	    .batch = plan->space.batches[batch].workload.batch,
	    .policy = policy_use_canonical(&use, arena),
	    .threads = q->threads,
	    .sharing = q->sharing,
	    .sync = q->sync};
	return 0;
}

/* A cell that was judged is no error of the user's any more: a trial that is refused all the same counts as refused. */
static void simulate_item(void *context, size_t item, size_t worker)
{
	struct search *const s = context;
	struct cell *const cell = s->round[item];
	struct arena *const arena = &s->scratch[worker];
	struct trial_input input;
	struct err err = {0};

	arena_reset(arena);
	cell->state = CELL_REFUSED;
	if (plan_input(&input, s->plan, s->batch, cell->variant, arena, &err) || trial_run_short(&cell->metrics, NULL, &input, arena, &err))
		return;
	cell->state = CELL_SIMULATED;
}

/* ---- what was found */

static struct plan_choice choice_of(const struct search *s, const struct cell *cell)
{
	struct plan_choice choice = {.batch = s->batch, .variant = cell->variant, .s_per_token = INFINITY};

	if (cell->state != CELL_SIMULATED)
		return choice;
	choice.metrics = cell->metrics;
	choice.s_per_token = cell->metrics.iteration_s / s->plan->space.batches[s->batch].tokens;
	return choice;
}

/* The first of equal ones stays. */
static void note_misfit(struct search *s, const struct cell *cell)
{
	struct misfits *const m = &s->misfits[s->plan->space.variants[cell->variant].policy];
	size_t at = m->n < MISFITS_MAX ? m->n++ : MISFITS_MAX;

	for (; at > 0 && m->list[at - 1].shortage_frac > cell->shortage_frac; at--)
		if (at < MISFITS_MAX)
			m->list[at] = m->list[at - 1];
	if (at < MISFITS_MAX)
		m->list[at] = (struct misfit){s->batch, cell->variant, cell->shortage_frac};
}

/* Times are the same to the last digit where alternatives are: the first in order stays. */
static void note_simulated(struct search *s, struct cell *cell)
{
	struct plan_policy *const p = &s->plan->policies[s->plan->space.variants[cell->variant].policy];
	const struct metrics *const m = &cell->metrics;

	if (cell->state != CELL_SIMULATED)
		return;
	if (!m->fits) {
		cell->shortage_frac = shortage_frac(m->gpu_peak_bytes, m->host_peak_bytes, s->plan->query.hw);
		note_misfit(s, cell);
		return;
	}
	const struct plan_choice choice = choice_of(s, cell);
	if (is_beaten(p, choice.s_per_token))
		return;
	p->has_best = true;
	p->best = choice;
}

static void count(struct plan_counts *counts, const struct cell *cells, size_t n)
{
	size_t *const of[] = {[CELL_REFUSED] = &counts->n_refused, [CELL_UNFIT] = &counts->n_unfit,
	    [CELL_SLOWER_BATCH] = &counts->n_slower_batch, [CELL_SLOWER] = &counts->n_slower, [CELL_OPEN] = &counts->n_slower,
	    [CELL_SIMULATED] = &counts->n_simulated};

	counts->n += n;
	for (size_t i = 0; i < n; i++)
		++*of[cells[i].state];
}

/* ---- the search */

static int by_bound(const void *a, const void *b)
{
	const struct cell *const x = *(struct cell *const *)a, *const y = *(struct cell *const *)b;

	if (x->bound_s != y->bound_s)
		return x->bound_s < y->bound_s ? -1 : 1;
	return x->variant < y->variant ? -1 : x->variant > y->variant;
}

static void list_open(struct search *s)
{
	s->n_open = s->next_open = 0;
	for (size_t i = 0; i < s->plan->space.n_variants; i++) {
		struct plan_policy *const p = &s->plan->policies[s->plan->space.variants[i].policy];
		if (s->cells[i].state == CELL_OPEN)
			s->open[s->n_open++] = &s->cells[i];
		else if (s->cells[i].state == CELL_UNFIT && isfinite(s->cells[i].shortage_frac) && !p->has_best)
			note_misfit(s, &s->cells[i]);
	}
	qsort(s->open, s->n_open, sizeof(*s->open), by_bound);
}

/* Takes the next cells that may still win. */
static size_t next_round(struct search *s)
{
	const double tokens = s->plan->space.batches[s->batch].tokens;
	size_t n = 0;

	while (s->next_open < s->n_open && n < ROUND) {
		struct cell *const cell = s->open[s->next_open++];
		const struct plan_policy *const p = &s->plan->policies[s->plan->space.variants[cell->variant].policy];
		if (s->plan->query.is_exhaustive || !is_beaten(p, cell->bound_s / tokens))
			s->round[n++] = cell;
		else
			cell->state = CELL_SLOWER;
	}
	return n;
}

static void search_batch(struct search *s)
{
	const size_t n_workers = s->plan->query.n_workers;
	size_t n;

	parallel_for(s->plan->space.n_variants, n_workers, judge_item, s);
	list_open(s);
	while ((n = next_round(s)) > 0) {
		parallel_for(n, n_workers, simulate_item, s);
		for (size_t i = 0; i < n; i++)
			note_simulated(s, s->round[i]);
	}
	count(&s->plan->counts, s->cells, s->plan->space.n_variants);
}

/* ---- the end: what falls shortest, simulated */

int plan_run(struct plan_choice *choice, const struct plan *plan, struct arena *arena, struct err *err)
{
	struct trial_input input;
	struct metrics m;
	struct arena scratch = {0};

	int code = plan_input(&input, plan, choice->batch, choice->variant, &scratch, err);
	if (!code)
		code = trial_run_short(&m, NULL, &input, &scratch, err);
	if (!code) {
		choice->metrics = m;
		choice->metrics.reason = m.reason ? arena_strdup(arena, m.reason) : NULL;
		choice->s_per_token = m.iteration_s / plan->space.batches[choice->batch].tokens;
	}
	arena_release(&scratch);
	return code;
}

/* The search has only bounds of what does not fit: simulates from the least on, until no bound is below what is known. */
static int run_misfits(struct plan *plan, struct plan_policy *p, const struct misfits *misfits, struct arena *arena, struct err *err)
{
	for (size_t i = 0; i < misfits->n && (!p->has_misfit || misfits->list[i].shortage_frac < p->shortage_frac); i++) {
		struct plan_choice choice = {.batch = misfits->list[i].batch, .variant = misfits->list[i].variant};
		if (plan_run(&choice, plan, arena, err))
			return err->code;
		const double short_frac = shortage_frac(choice.metrics.gpu_peak_bytes, choice.metrics.host_peak_bytes, plan->query.hw);
		if (p->has_misfit && short_frac >= p->shortage_frac)
			continue;
		p->has_misfit = true;
		p->misfit = choice;
		p->shortage_frac = short_frac;
	}
	return 0;
}

static void explain_refusal(struct plan *plan, size_t policy, struct arena *arena)
{
	struct trial_input input;
	struct err err = {0};
	size_t v = 0;

	while (plan->space.variants[v].policy != policy)
		v++;
	plan->policies[policy].refusal = plan_input(&input, plan, 0, v, arena, &err) ? arena_strdup(arena, err.text) : "";
}

static int finish(struct plan *plan, const struct misfits *misfits, struct arena *arena, struct err *err)
{
	plan->best = plan->space.n_policies;
	for (size_t i = 0; i < plan->space.n_policies; i++) {
		struct plan_policy *const p = &plan->policies[i];
		if (!p->has_best && run_misfits(plan, p, &misfits[i], arena, err))
			return err->code;
		if (!p->has_best && !p->has_misfit)
			explain_refusal(plan, i, arena);
		if (p->has_best && (plan->best == plan->space.n_policies || !is_beaten(&plan->policies[plan->best], p->best.s_per_token)))
			plan->best = i;
	}
	return 0;
}

static struct misfits *search_all(struct plan *plan, struct arena *arena)
{
	const size_t n = plan->space.n_variants, n_workers = plan->query.n_workers;
	struct search s = {.plan = plan, .cells = arena_alloc(arena, n, sizeof(*s.cells)),
	    .open = arena_alloc(arena, n, sizeof(*s.open)), .misfits = arena_zalloc(arena, plan->space.n_policies, sizeof(*s.misfits)),
	    .scratch = arena_zalloc(arena, n_workers, sizeof(*s.scratch))};

	for (; s.batch < plan->space.n_batches; s.batch++)
		search_batch(&s);
	for (size_t i = 0; i < n_workers; i++)
		arena_release(&s.scratch[i]);
	return s.misfits;
}

int plan_search(struct plan *plan, const struct plan_query *query, struct arena *arena, struct err *err)
{
	*plan = (struct plan){.query = *query};
	if (plan_space_init(&plan->space, query, arena, err))
		return err->code;
	plan->policies = arena_zalloc(arena, plan->space.n_policies, sizeof(*plan->policies));
	for (size_t i = 0; i < plan->space.n_policies; i++)
		plan->policies[i].policy = plan->space.policies[i];
	return finish(plan, search_all(plan, arena), arena, err);
}
