/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/plan_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/split.h"
#include "sim/study/grid.h"
#include "sim/study/plan_options.h"

enum { MICRO_MAX = 64, VARIANTS_MAX = 100000, CHOICES_MAX = 64 };
static const double subgroup_choices[] = {1e8, 5e7, 2e8, 5e8, 1e9}; /* the default first: it stays where others equal it */

/* Micro-batch and accumulation of a batch. */
struct micro {
	double mbs, grad_accum;
};

struct choices {
	struct micro micros[CHOICES_MAX];
	size_t n_micros;
	double subgroups[sizeof(subgroup_choices) / sizeof(subgroup_choices[0])];
	size_t n_subgroups;
	size_t most_subgroups; /* of a workload */
};

/* ---- batches */

static void add_micro(struct choices *c, const struct batch *given, double mbs, double grad_accum)
{
	const bool is_wanted = (given->mbs <= 0 || given->mbs == mbs) && (given->grad_accum <= 0 || given->grad_accum == grad_accum);

	if (is_wanted && c->n_micros < CHOICES_MAX)
		c->micros[c->n_micros++] = (struct micro){mbs, grad_accum};
}

/* Every split of a rank's sequences of one batch. */
static int split_tokens(struct choices *c, const struct plan_query *q, const struct batch *b, struct err *err)
{
	const double dp = batch_dp(b), n_sequences = q->tokens_per_batch / (dp * b->seq);
	const double most = b->mbs > 0 ? b->mbs : MICRO_MAX;

	if (n_sequences < 1 || n_sequences != floor(n_sequences))
		return err_set(err, STATUS_USAGE, "--tokens-per-batch %.15g: a multiple of %.0f would be accepted: %.0f %s x %.0f tokens a "
		    "sequence", q->tokens_per_batch, dp * b->seq, dp, batch_tp(b) > 1 ? "data-parallel ranks" : "GPUs", b->seq);
	for (double mbs = 1; mbs <= most && mbs <= n_sequences; mbs++)
		if (fmod(n_sequences, mbs) == 0)
			add_micro(c, b, mbs, n_sequences / mbs);
	if (c->n_micros == 0)
		return err_set(err, STATUS_USAGE, "--tokens-per-batch %.15g is %.0f sequences a GPU: --mbs %.0f x --grad-accum %.0f does not give "
		    "that (0: not given)", q->tokens_per_batch, n_sequences, b->mbs, b->grad_accum);
	return 0;
}

static int choose_micros(struct choices *c, const struct plan_query *q, const struct batch *b, struct err *err)
{
	const double grad_accum = b->grad_accum > 0 ? b->grad_accum : 1;

	if (q->tokens_per_batch > 0)
		return split_tokens(c, q, b, err);
	if (b->mbs > 0)
		add_micro(c, b, b->mbs, grad_accum);
	for (double mbs = 1; b->mbs <= 0 && mbs <= MICRO_MAX; mbs *= 2)
		add_micro(c, b, mbs, grad_accum);
	return 0;
}

static bool is_same_partition(const struct workload *a, const struct workload *b)
{
	if (a->n_subgroups != b->n_subgroups)
		return false;
	for (size_t x = 0; x < a->n_subgroups; x++)
		if (a->subgroups[x].n_params != b->subgroups[x].n_params)
			return false;
	return true;
}

/* Sizes that part the model differently, in increasing order. */
static int choose_subgroups(struct choices *c, const struct plan_query *q, const struct batch *b, struct arena *arena, struct err *err)
{
	const size_t n = b->subgroup_params > 0 ? 1 : sizeof(subgroup_choices) / sizeof(subgroup_choices[0]);
	struct workload *const kept = arena_alloc(arena, n, sizeof(*kept));

	for (size_t i = 0; i < n; i++) {
		struct batch batch = *b;
		bool is_new = true;
		batch.subgroup_params = b->subgroup_params > 0 ? b->subgroup_params : subgroup_choices[i];
		if (trial_workload(&kept[c->n_subgroups], q->hw, &q->shape, &batch, arena, err))
			return err->code;
		for (size_t j = 0; j < c->n_subgroups; j++)
			is_new = is_new && !is_same_partition(&kept[j], &kept[c->n_subgroups]);
		if (!is_new)
			continue;
		const size_t n_parts = kept[c->n_subgroups].n_subgroups;
		c->most_subgroups = n_parts > c->most_subgroups ? n_parts : c->most_subgroups;
		size_t at = c->n_subgroups++;
		for (; at > 0 && c->subgroups[at - 1] > batch.subgroup_params; at--)
			c->subgroups[at] = c->subgroups[at - 1];
		c->subgroups[at] = batch.subgroup_params;
	}
	return 0;
}

static int fill_batch(struct plan_batch *batch, const struct plan_query *q, const struct batch *b, struct arena *arena, struct err *err)
{
	struct cost cost;

	if (trial_workload(&batch->workload, q->hw, &q->shape, b, arena, err))
		return err->code;
	cost_init(&cost, q->hw, &batch->workload, q->threads, 0);
	const struct bound_query query = {.cost = &cost, .workload = &batch->workload, .sharing = q->sharing, .sync = q->sync};
	bound_find(&batch->any, &query, arena);
	batch->tokens = batch_tokens(b);
	batch->fits_none = batch->any.peak_bytes[POOL_GPU] > q->hw->gpu_memory_bytes ||
	    batch->any.peak_bytes[POOL_HOST] > fmin(q->hw->host_memory_bytes, q->hw->pinned_max_bytes);
	return 0;
}

static int fill_batches(struct plan_space *space, const struct choices *c, const struct plan_query *q, const struct batch *given,
    struct arena *arena, struct err *err)
{
	const size_t n_most = 2 * c->n_micros * c->n_subgroups;

	space->batches = arena_alloc(arena, n_most, sizeof(*space->batches));
	for (size_t i = 0; i < n_most; i++) {
		struct batch b = *given;
		b.has_checkpointing = i % 2 == 0;
		b.subgroup_params = c->subgroups[i / 2 % c->n_subgroups];
		const struct micro *const micro = &c->micros[i / 2 / c->n_subgroups];
		b.mbs = micro->mbs;
		b.grad_accum = micro->grad_accum;
		if (q->has_checkpointing && b.has_checkpointing != q->batch.has_checkpointing)
			continue;
		if (fill_batch(&space->batches[space->n_batches++], q, &b, arena, err))
			return err->code;
	}
	return 0;
}

static int by_floor(const void *a, const void *b)
{
	const struct plan_batch *const x = a, *const y = b;
	const double x_s = x->any.iteration_s / x->tokens, y_s = y->any.iteration_s / y->tokens;

	if (x->fits_none != y->fits_none)
		return x->fits_none ? 1 : -1;
	if (x_s != y_s)
		return x_s < y_s ? -1 : 1;
	if (x->workload.batch.subgroup_params != y->workload.batch.subgroup_params)
		return x->workload.batch.subgroup_params < y->workload.batch.subgroup_params ? -1 : 1;
	if (x->workload.batch.mbs != y->workload.batch.mbs)
		return x->workload.batch.mbs < y->workload.batch.mbs ? -1 : 1;
	return (int)y->workload.batch.has_checkpointing - (int)x->workload.batch.has_checkpointing;
}

/* ---- variants */

static size_t policy_index(struct plan_space *space, const struct policy *policy)
{
	size_t i = 0;

	while (i < space->n_policies && space->policies[i] != policy)
		i++;
	if (i == space->n_policies)
		space->policies[space->n_policies++] = policy;
	return i;
}

static int fill_variants(struct plan_space *space, const struct opt_list *specs, struct arena *arena, struct err *err)
{
	struct grid grid;

	grid_init(&grid, arena);
	for (size_t i = 0; i < specs->n; i++)
		if (grid_add_policies(&grid, specs->items[i], err))
			return err->code;
	if (grid_finish_policies(&grid, err))
		return err->code;
	if (grid.n_variants > VARIANTS_MAX)
		return err_set(err, STATUS_USAGE, "--policy: %zu variants; up to %d would be accepted", grid.n_variants, VARIANTS_MAX);
	space->variants = arena_alloc(arena, grid.n_variants, sizeof(*space->variants));
	space->policies = arena_alloc(arena, specs->n, sizeof(const struct policy *));
	for (; space->n_variants < grid.n_variants; space->n_variants++) {
		struct plan_variant *const v = &space->variants[space->n_variants];
		grid_policy_at(&v->use, &grid, space->n_variants, arena);
		v->policy = policy_index(space, v->use.policy);
	}
	return 0;
}

static int make_specs(struct opt_list *specs, const struct plan_query *q, const struct choices *c, struct arena *arena, struct err *err)
{
	struct opt_list given = {0};

	for (size_t i = 0; (!q->specs || q->specs->n == 0) && policy_all[i]; i++)
		opt_list_add(&given, policy_all[i]->name, arena);
	for (size_t i = 0; q->specs && i < q->specs->n; i++)
		if (spec_split(&given, q->specs->items[i], arena, err))
			return err->code;
	for (size_t i = 0; i < given.n; i++)
		if (plan_options(specs, given.items[i], c->most_subgroups, !q->keeps_words, arena, err))
			return err->code;
	return 0;
}

int plan_space_init(struct plan_space *space, const struct plan_query *q, struct arena *arena, struct err *err)
{
	struct choices *const c = arena_zalloc(arena, 1, sizeof(*c));
	struct opt_list specs = {0};
	struct batch batch = q->batch;

	*space = (struct plan_space){0};
	if (batch.n_subgroups > 0)
		return err_set(err, STATUS_USAGE, "plan: --n-subgroups is an update alone; a plan needs a model");
	if (q->sharing == &sharing_measured && q->hw->n_corun == 0)
		return err_set(err, STATUS_USAGE, "--contention measured: %s has no contention grid (corun); accepted are fluid, none",
		    q->hw->name);
	batch.gpus = batch.gpus > 0 ? batch.gpus : q->hw->gpus;
	batch.seq = batch.seq > 0 ? batch.seq : 2048;
	int code = choose_micros(c, q, &batch, err);
	if (!code)
		code = choose_subgroups(c, q, &batch, arena, err);
	if (!code)
		code = make_specs(&specs, q, c, arena, err);
	if (!code)
		code = fill_variants(space, &specs, arena, err);
	if (!code)
		code = fill_batches(space, c, q, &batch, arena, err);
	if (!code)
		qsort(space->batches, space->n_batches, sizeof(*space->batches), by_floor);
	return code;
}
