/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/runner.h"

#include <math.h>
#include <string.h>

#include "model/hash.h"
#include "model/split.h"
#include "sim/study/estimate.h"
#include "sim/study/results.h"
#include "sim/study/trial.h"

void runner_init(struct runner *r, const struct grid *grid, bool is_closed_form)
{
	memset(r, 0, sizeof(*r));
	r->grid = grid;
	r->is_closed_form = is_closed_form;
	r->hw_of = r->workload_of = r->cost_of.hw_of = SIZE_MAX;
}

void runner_release(struct runner *r)
{
	arena_release(&r->arena);
	arena_release(&r->scale_arena);
	arena_release(&r->workload_arena);
}

/* ---- hashes */

static unsigned long long hash_byte(unsigned long long hash, unsigned char byte)
{
	return (hash ^ byte) * 1099511628211ull;
}

static unsigned long long hash_text(unsigned long long hash, const char *text)
{
	for (; *text; text++)
		hash = hash_byte(hash, (unsigned char)*text);
	return hash_byte(hash, 0);
}

static unsigned long long hash_integer(unsigned long long hash, unsigned long long value)
{
	for (int i = 0; i < 8; i++, value >>= 8)
		hash = hash_byte(hash, value & 0xff);
	return hash;
}

/* What identifies a workload that cannot be built. */
static unsigned long long hash_refused(const struct shape *s, const struct batch *b)
{
	const double numbers[] = {s->layers, s->hidden, s->heads, s->kv_heads, s->ffn, s->vocab, s->positions, s->head_dim, b->gpus,
	    b->mbs, b->grad_accum, b->seq, b->has_checkpointing, (double)b->precision, b->subgroup_params, b->n_subgroups};

	const double parallel[] = {b->zero_stage, b->tp};
	unsigned long long hash = hash_numbers(hash_text(HASH_START, "refused"), numbers, sizeof(numbers) / sizeof(numbers[0]));

	if (b->nodes > 1)
		hash = hash_number(hash, b->nodes);
	return batch_is_plain(b) ? hash : hash_numbers(hash, parallel, sizeof(parallel) / sizeof(parallel[0]));
}

/* Where in a sweep of one workload a policy stands, coarsely: 16 steps of a share. */
static unsigned long long place_of(const struct store_trial *t)
{
	const double fraction = isnan(t->fraction) ? 0 : t->fraction, ratio = isnan(t->ratio) ? 0 : t->ratio;
	const double stride = isnan(t->stride) ? 0 : t->stride;

	return (unsigned long long)(16 * fraction) + (unsigned long long)(16 * ratio) + (unsigned long long)(stride / 1024);
}

/* The highest bits come from everything but the policy, and roughly from the policy: rows that a sweep makes one after the other lie
 * together in the index over keys, and a burst of them changes few of its pages. The other 52 are a hash of everything. */
static unsigned long long key_of(const struct store_trial *t, unsigned long long policy_hash)
{
	const int n_low_bits = 52;
	unsigned long long hash = hash_integer(HASH_START, RESULTS_VERSION);

	hash = hash_integer(hash, t->profile_hash);
	hash = hash_integer(hash, t->workload_hash);
	hash = hash_text(hash, t->contention);
	hash = hash_text(hash, t->sync);
	hash = hash_text(hash, t->scale);
	hash = hash_number(hash, t->threads);
	hash = hash_integer(hash, (unsigned long long)t->sample);
	const unsigned long long all = hash_integer(hash, policy_hash);
	const unsigned long long high = (hash >> n_low_bits) + place_of(t);
	return high << n_low_bits | ((all ^ all >> n_low_bits) & ((1ull << n_low_bits) - 1));
}

/* ---- machine and workload, kept while they stay the same */

static void take_hw(struct runner *r)
{
	const size_t hw_of = r->point.hw * r->grid->n_settings + r->point.setting;

	if (hw_of == r->hw_of)
		return;
	r->hw_of = hw_of;
	r->hw = r->grid->hws[r->point.hw];
	r->scale = "";
	if (r->grid->n_scales == 0)
		return;
	arena_reset(&r->scale_arena);
	r->scaled = *r->hw;
	r->hw = &r->scaled;
	grid_scale(&r->scaled, &r->scale, r->grid, r->point.setting, &r->scale_arena);
}

static void take_workload(struct runner *r)
{
	struct batch batch = r->point.batch;
	struct err err;

	if (r->point.workload_id == r->workload_of)
		return;
	r->workload_of = r->point.workload_id;
	r->workload_err.code = 0;
	arena_reset(&r->workload_arena);
	if (trial_workload(&r->workload, r->hw, &r->point.shape, &batch, &r->workload_arena, &r->workload_err) == 0) {
		r->workload_hash = r->workload.content_hash;
		return;
	}
	batch.gpus = batch.gpus > 0 ? batch.gpus : r->hw->gpus;
	if (workload_build(&r->workload, &r->point.shape, &batch, &r->workload_arena, &err) == 0) {
		r->workload_hash = r->workload.content_hash; /* fine in itself, but not on this machine */
		return;
	}
	r->workload.n_params = NAN;
	r->workload.n_subgroups = 0;
	r->workload_hash = hash_refused(&r->workload.shape, &r->workload.batch);
}

static void take_cost(struct runner *r)
{
	const struct policy_use *const use = &r->point.use;
	const struct runner_cost of = {.hw_of = r->hw_of, .workload_of = r->workload_of, .threads = r->point.threads,
	    .workers = use->policy->workers ? use->policy->workers(use->params) : 0};

	if (of.hw_of == r->cost_of.hw_of && of.workload_of == r->cost_of.workload_of && of.threads == r->cost_of.threads &&
	    of.workers == r->cost_of.workers)
		return;
	r->cost_of = of;
	r->curve.cost = NULL;
	cost_init(&r->cost, r->hw, &r->workload, of.threads, of.workers);
}

/* ---- policy */

static bool is_cached(const struct runner_text *slot, const struct policy_use *use)
{
	return slot->policy == use->policy && memcmp(slot->params, use->params, use->policy->params_size) == 0;
}

static const char *canonical(unsigned long long *hash, struct runner *r, struct arena *texts)
{
	const struct policy_use *const use = &r->point.use;
	const size_t size = use->policy->params_size;
	unsigned long long params_hash = HASH_START;

	for (size_t i = 0; i < size; i++)
		params_hash = hash_byte(params_hash, ((const unsigned char *)use->params)[i]);
	struct runner_text *const slot = &r->texts[(params_hash ^ params_hash >> 32) % RUNNER_TEXTS];
	if (size <= RUNNER_PARAMS_MAX && is_cached(slot, use)) {
		*hash = slot->hash;
		return arena_strdup(texts, slot->text);
	}
	const char *const text = policy_use_canonical(use, texts);
	*hash = hash_text(HASH_START, text);
	if (size <= RUNNER_PARAMS_MAX && strlen(text) < RUNNER_TEXT_MAX) {
		slot->policy = use->policy;
		if (size)
			memcpy(slot->params, use->params, size);
		strcpy(slot->text, text);
		slot->hash = *hash;
	}
	return text;
}

/* The value of an option that the policy has and that was given or resolved; else NAN. */
static double option_value(const struct policy_use *use, const char *name)
{
	const struct opt *const opt = opt_find(use->policy->opts, use->policy->n_opts, name, strlen(name));
	const char *const params = use->params;

	if (!opt || (opt->given_offset && !*(const bool *)(params + opt->given_offset)))
		return NAN;
	if (opt->kind == OPT_INT)
		return (double)*(const long long *)(params + opt->offset);
	return opt->kind == OPT_NUMBER ? *(const double *)(params + opt->offset) : NAN;
}

/* ---- a row */

static void refuse(struct row_done *row, const char *reason, struct arena *texts)
{
	row->is_refused = true;
	row->trial.feasible = STORE_UNFIT;
	row->trial.reason = arena_strdup(texts, reason);
}

/* Judges the point, and fills the options that were left open. */
static void resolve(struct row_done *row, struct runner *r, struct arena *texts)
{
	const struct policy_use *const use = &r->point.use;
	struct err err = {0};

	r->is_resolved = false;
	if (r->workload_err.code)
		return refuse(row, r->workload_err.text, texts);
	if (policy_check(use->policy, use->params, &err) || policy_check_batch(use->policy, use->params, &r->workload.batch, &err))
		return refuse(row, err.text, texts);
	if (use->policy->resolve)
		use->policy->resolve(use->params, r->hw, &r->workload, r->point.threads);
	r->is_resolved = true;
}

static void start_trial(struct store_trial *t, const struct runner *r, struct arena *texts)
{
	static const char *const closed_names[] = {"closed-form", "closed-form-none"};
	const char *const contention = r->point.sharing->name;

	*t = (struct store_trial){.profile_hash = r->grid->hws[r->point.hw]->content_hash,
	    .workload_hash = r->workload_hash,
	    .threads = r->point.threads > 0 ? r->point.threads : r->hw->threads,
	    .contention = r->is_closed_form ? closed_names[r->point.sharing == &sharing_none] : contention,
	    .sync = sync_names[r->point.sync],
	    .scale = *r->scale ? arena_strdup(texts, r->scale) : "",
	    .feasible = STORE_UNKNOWN,
	    .forward_s = NAN, .backward_s = NAN, .update_s = NAN, .other_s = NAN, .iteration_s = NAN,
	    .gpu_peak_bytes = NAN, .host_peak_bytes = NAN, .gpu_fraction_frac = NAN};
}

void runner_prepare(struct row_done *row, struct runner *r, size_t index, struct arena *texts)
{
	unsigned long long policy_hash;

	arena_reset(&r->arena);
	grid_at(&r->point, r->grid, index, &r->arena);
	take_hw(r);
	take_workload(r);
	row->is_refused = false;
	row->workload = (struct store_workload){.hash = r->workload_hash, .shape = r->workload.shape, .batch = r->workload.batch,
	    .n_params = r->workload.n_params, .n_subgroups = r->workload.n_subgroups ? (double)r->workload.n_subgroups : (double)NAN};
	row->workload.shape.name =
	    r->grid->has_shape_axes ? arena_strdup(texts, r->point.shape.name) : r->point.shape.name;
	start_trial(&row->trial, r, texts);
	resolve(row, r, texts);
	row->trial.policy = canonical(&policy_hash, r, texts);
	row->trial.stride = option_value(&r->point.use, "stride");
	row->trial.ratio = option_value(&r->point.use, "ratio");
	row->trial.fraction = option_value(&r->point.use, "fraction");
	row->trial.key = key_of(&row->trial, policy_hash);
}

static void simulate(struct row_done *row, struct runner *r, struct arena *texts)
{
	const struct trial_input input = {.hw = r->hw,
	    .shape = r->point.shape,
	    .batch = r->point.batch,
	    .policy = row->trial.policy,
	    .threads = r->point.threads,
	    .sharing = r->point.sharing,
	    .sync = r->point.sync};
	struct store_trial *const t = &row->trial;
	struct trial trial;
	struct err err = {0};

	if (trial_run(&trial, &input, &r->arena, &err))
		return refuse(row, err.text, texts);
	const struct metrics *const m = &trial.metrics;
	t->feasible = m->fits ? STORE_FIT : STORE_UNFIT;
	t->reason = m->reason ? arena_strdup(texts, m->reason) : NULL;
	t->forward_s = m->forward_s;
	t->backward_s = m->backward_s;
	t->update_s = m->update_s;
	t->other_s = m->other_s;
	t->iteration_s = m->iteration_s;
	t->gpu_peak_bytes = m->gpu_peak_bytes;
	t->host_peak_bytes = m->host_peak_bytes;
	t->gpu_fraction_frac = m->gpu_fraction_frac;
	t->bottleneck = res_names[m->bottleneck];
}

static void estimate(struct row_done *row, struct runner *r, struct arena *texts)
{
	const struct policy_use *const use = &r->point.use;
	const bool is_contended = r->point.sharing != &sharing_none;
	struct estimate e;
	struct err err = {0};

	if (is_contended && r->point.sharing != &sharing_fluid)
		return refuse(row, "the closed form knows contention fluid and none", texts);
	take_cost(r);
	if (estimate_update(&e, &r->curve, use, &r->cost, &r->workload, is_contended, &err))
		return refuse(row, err.text, texts);
	row->trial.update_s = e.update_s;
	row->trial.bottleneck = res_names[e.bottleneck];
}

void runner_run(struct row_done *row, struct runner *r, struct arena *texts)
{
	if (!r->is_resolved)
		return;
	if (r->is_closed_form)
		estimate(row, r, texts);
	else
		simulate(row, r, texts);
}
