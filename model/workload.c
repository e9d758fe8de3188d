/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/workload.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "model/hash.h"
#include "model/split.h"
#include "model/tensors.h"

static const double params_max = 9007199254740992.0; /* 2^53: counts stay exact in a double */

/* ---- counts of a batch */

double batch_ranks(const struct batch *batch)
{
	return batch->gpus * fmax(1, batch->nodes);
}

double batch_dp(const struct batch *batch)
{
	return batch_ranks(batch) / batch_tp(batch); /* E26 */
}

double batch_tokens(const struct batch *batch)
{
	return batch_dp(batch) * batch->mbs * batch->grad_accum * batch->seq;
}

const char *batch_gpus_text(const struct batch *batch, struct arena *arena)
{
	const char *const gpus = arena_printf(arena, "%.0f GPU%s", batch->gpus, batch->gpus > 1 ? "s" : "");
	return batch->nodes > 1 ? arena_printf(arena, "%.0f nodes x %s", batch->nodes, gpus) : gpus;
}

/* ---- what is given: filled, then judged */

static double or_else(double value, double fallback)
{
	return value == 0 ? fallback : value;
}

static void fill(struct workload *w)
{
	struct shape *const shape = &w->shape;
	struct batch *const batch = &w->batch;

	shape->kv_heads = or_else(shape->kv_heads, shape->heads);
	shape->ffn = or_else(shape->ffn, shape->arch == ARCH_GPT ? 4 * shape->hidden : 0);
	shape->embed_dim = or_else(shape->embed_dim, shape->hidden);
	shape->moe_every = or_else(shape->moe_every, 1);
	batch->nodes = or_else(batch->nodes, 1);
	batch->mbs = or_else(batch->mbs, 1);
	batch->grad_accum = or_else(batch->grad_accum, 1);
	batch->seq = or_else(batch->seq, 2048);
	batch->subgroup_params = or_else(batch->subgroup_params, 1e8);
	batch->zero_stage = or_else(batch->zero_stage, 3);
	batch->tp = or_else(batch->tp, 1);
}

struct count {
	const char *flag;
	double value, min, max;
};

static int check_counts(const struct count *counts, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct count *const c = &counts[i];
		if (!(c->value >= c->min && c->value <= c->max) || c->value != floor(c->value))
			return err_set(err, STATUS_USAGE, "%s %.15g: a whole number from %.15g to %.15g would be accepted",
			    c->flag, c->value, c->min, c->max);
	}
	return 0;
}

static int check_batch(const struct batch *batch, struct err *err)
{
	const struct count counts[] = {
	    {"--gpus", batch->gpus, 1, 1e6},
	    {"--nodes", batch->nodes, 1, 1e6},
	    {"--mbs", batch->mbs, 1, 1e6},
	    {"--grad-accum", batch->grad_accum, 1, 1e6},
	    {"--seq", batch->seq, 1, 1e9},
	    {"--subgroup", batch->subgroup_params, 1, 1e15},
	    {"--n-subgroups", batch->n_subgroups, 0, WORKLOAD_ITEMS_MAX},
	    {"--zero", batch->zero_stage, 1, 3},
	    {"--tp", batch->tp, 1, 1e6},
	};

	return check_counts(counts, sizeof(counts) / sizeof(counts[0]), err);
}

static int check_experts(const struct shape *shape, struct err *err)
{
	const struct count counts[] = {
	    {"number of experts", shape->n_experts, 1, 1e5},
	    {"active experts", shape->n_active_experts, 1, shape->n_experts},
	    {"width of an expert", shape->moe_ffn, 1, 1e9},
	    {"width of the shared expert", shape->shared_ffn, 0, 1e9},
	    {"first dense layers", shape->dense_layers, 0, shape->layers},
	    {"step of expert layers", shape->moe_every, 1, 1e6},
	};

	return check_counts(counts, sizeof(counts) / sizeof(counts[0]), err);
}

static int check_shape(const struct shape *shape, struct err *err)
{
	const struct count counts[] = {
	    {"--layers", shape->layers, 1, WORKLOAD_ITEMS_MAX},
	    {"--hidden", shape->hidden, 1, 1e8},
	    {"--heads", shape->heads, 1, 1e7},
	    {"--kv-heads", shape->kv_heads, 1, 1e7},
	    {"--ffn", shape->ffn, 1, 1e9},
	    {"--vocab", shape->vocab, 1, 1e10},
	    {"positions", shape->positions, 0, 1e10},
	    {"head_dim", shape->head_dim, 0, 1e7},
	    {"width of the embedding", shape->embed_dim, 1, 1e8},
	};
	int rc = check_counts(counts, sizeof(counts) / sizeof(counts[0]), err);

	if (rc == 0 && shape->n_experts != 0)
		rc = check_experts(shape, err);
	if (rc)
		return rc;
	if (fmod(shape->heads, shape->kv_heads) != 0)
		return err_set(
		    err, STATUS_USAGE, "--kv-heads %.15g does not divide --heads %.15g", shape->kv_heads, shape->heads);
	if (shape->head_dim == 0 && fmod(shape->hidden, shape->heads) != 0)
		return err_set(err, STATUS_USAGE,
		    "--heads %.15g does not divide --hidden %.15g (and the model gives no head_dim)", shape->heads,
		    shape->hidden);
	return 0;
}

/* ---- tensors */

static int check_totals(const struct workload *w, double n_tensors, struct err *err)
{
	if (!(w->n_params <= params_max))
		return err_set(err, STATUS_USAGE,
		    "the model has %.4g parameters; up to 9e15 would be accepted (--layers, --hidden, "
		    "--ffn, --vocab)",
		    w->n_params);
	if (n_tensors > WORKLOAD_ITEMS_MAX)
		return err_set(err, STATUS_USAGE, "--layers %.15g makes %.4g tensors; up to %.4g would be accepted",
		    w->shape.layers, n_tensors, (double)WORKLOAD_ITEMS_MAX);
	return 0;
}

/* Counted first, so that one block holds all of them; then the first layer of each kind is made and the others are copies. */
static int make_tensors(struct workload *w, struct arena *arena, struct err *err)
{
	const double n_moe = tensors_moe_layers(&w->shape), n_dense = w->shape.layers - n_moe;
	struct tensor_list ends = {.dp = batch_dp(&w->batch), .tp = w->batch.tp}, dense = ends, moe = ends;

	tensors_start(&ends, &w->shape);
	tensors_end(&ends, &w->shape);
	tensors_dense_layer(&dense, &w->shape, 0);
	if (n_moe > 0)
		tensors_moe_layer(&moe, &w->shape, 0);
	w->n_params = ends.n_params + n_dense * dense.n_params + n_moe * moe.n_params;
	w->tp_params = ends.tp_params + n_dense * dense.tp_params + n_moe * moe.tp_params;
	const double n_tensors = (double)ends.n + n_dense * (double)dense.n + n_moe * (double)moe.n;
	const int rc = check_totals(w, n_tensors, err);
	if (rc)
		return rc;
	w->n_tensors = (size_t)n_tensors;
	w->tensors = arena_alloc(arena, w->n_tensors, sizeof(*w->tensors));
	struct tensor_list all = {.tensors = w->tensors, .dp = batch_dp(&w->batch), .tp = w->batch.tp};
	tensors_start(&all, &w->shape);
	tensors_layers(&all, &w->shape);
	tensors_end(&all, &w->shape);
	assert(all.n == w->n_tensors);
	return 0;
}

/* ---- subgroups */

/* DeepSpeed's rule: a subgroup closes at the first tensor at which its shares reach the target. */
static void make_subgroups(struct workload *w, struct arena *arena)
{
	double open_params = 0;

	w->subgroups = arena_alloc(arena, w->n_tensors, sizeof(*w->subgroups)); /* at most one a tensor */
	for (size_t i = 0; i < w->n_tensors; i++) {
		struct tensor *const tensor = &w->tensors[i];
		tensor->subgroup = w->n_subgroups;
		open_params += tensor->rank_params;
		w->rank_params += tensor->rank_params;
		if (open_params < w->batch.subgroup_params && i + 1 < w->n_tensors)
			continue;
		w->max_subgroup_params = fmax(w->max_subgroup_params, open_params);
		w->subgroups[w->n_subgroups++].n_params = open_params;
		open_params = 0;
	}
}

static int make_equal_subgroups(struct workload *w, struct arena *arena, struct err *err)
{
	const double n = w->batch.n_subgroups, size = w->batch.subgroup_params;

	w->is_update_only = true;
	w->rank_params = n * size;
	w->n_params = w->rank_params * batch_ranks(&w->batch);
	w->tp_params = w->rank_params * batch_dp(&w->batch);
	if (!(w->n_params <= params_max))
		return err_set(err, STATUS_USAGE,
		    "%.15g subgroups of %.15g on %.15g GPUs are %.4g parameters; up to 9e15 would be "
		    "accepted (--n-subgroups, --subgroup)",
		    n, size, batch_ranks(&w->batch), w->n_params);
	w->max_subgroup_params = size;
	w->n_subgroups = (size_t)n;
	w->subgroups = arena_alloc(arena, w->n_subgroups, sizeof(*w->subgroups));
	for (size_t i = 0; i < w->n_subgroups; i++)
		w->subgroups[i].n_params = size;
	return 0;
}

/* ---- the whole */

static unsigned long long content_hash(const struct workload *w)
{
	const struct shape *const s = &w->shape;
	const struct batch *const b = &w->batch;
	const double batch[] = {b->gpus, b->mbs, b->grad_accum, b->seq, b->has_checkpointing, (double)b->precision,
	    b->subgroup_params, b->n_subgroups};
	const double shape[] = {(double)s->arch, s->layers, s->hidden, s->heads, s->kv_heads, s->ffn, s->vocab,
	    s->positions, tensors_head_dim(s), s->is_tied, s->has_bias, s->has_qkv_bias, s->has_split_tensors,
	    s->has_out_bias, s->has_mlp_bias, s->has_qk_norm, s->has_embed_norm, s->has_no_end_norm, (double)s->norm,
	    (double)s->norm_order, s->embed_dim, s->n_experts, s->n_active_experts, s->moe_ffn, s->shared_ffn,
	    s->has_shared_gate, s->dense_layers, s->moe_every};
	const double parallel[] = {b->zero_stage, b->tp};
	unsigned long long hash = hash_numbers(HASH_START, batch, sizeof(batch) / sizeof(batch[0]));

	if (b->nodes > 1) /* one node keeps the hash it had before there were several */
		hash = hash_number(hash, b->nodes);
	if (!batch_is_plain(b)) /* likewise */
		hash = hash_numbers(hash, parallel, sizeof(parallel) / sizeof(parallel[0]));
	return w->is_update_only ? hash : hash_numbers(hash, shape, sizeof(shape) / sizeof(shape[0]));
}

static void assert_invariant(const struct workload *w)
{
	double sum_params = 0;

	for (size_t i = 0; i < w->n_subgroups; i++)
		sum_params += w->subgroups[i].n_params;
	assert(sum_params == w->rank_params); /* exact: all are integers below 2^53 */
}

int workload_count(
    struct workload *workload, const struct shape *shape, const struct batch *batch, struct arena *arena, struct err *err)
{
	*workload = (struct workload){.shape = *shape, .batch = *batch};
	fill(workload);
	int rc = check_batch(&workload->batch, err);
	if (rc == 0 && !(workload->batch.n_subgroups > 0))
		rc = check_shape(&workload->shape, err);
	if (rc == 0)
		rc = split_check(&workload->shape, &workload->batch, err);
	if (rc == 0 && workload->batch.n_subgroups > 0) {
		rc = make_equal_subgroups(workload, arena, err);
	} else if (rc == 0) {
		workload->shape.head_dim = tensors_head_dim(&workload->shape);
		rc = make_tensors(workload, arena, err);
		if (rc == 0)
			make_subgroups(workload, arena);
	}
	if (rc)
		return rc;
	workload->content_hash = content_hash(workload);
	assert_invariant(workload);
	return 0;
}

int workload_build(
    struct workload *workload, const struct shape *shape, const struct batch *batch, struct arena *arena, struct err *err)
{
	if (shape->n_experts > 0 && !(batch->n_subgroups > 0))
		return err_set(err, STATUS_USAGE,
		    "%s is a mixture of %.0f experts: its times are not modelled, only its parameters counted (dos "
		    "check-config); an update alone (--n-subgroups) or a dense model would be accepted",
		    shape->name ? shape->name : "the model", shape->n_experts);
	return workload_count(workload, shape, batch, arena, err);
}

/* ---- FLOPs */

static double tokens(const struct workload *workload)
{
	return workload->batch.mbs * workload->batch.seq;
}

static double matrix_params(const struct shape *s, bool has_experts)
{
	const double q = s->heads * tensors_head_dim(s), kv = s->kv_heads * tensors_head_dim(s);
	const double n_matrices = s->arch == ARCH_LLAMA ? 3 : 2;
	const double attention = 2 * s->hidden * q + 2 * s->hidden * kv;

	if (!has_experts)
		return attention + n_matrices * s->hidden * s->ffn;
	return attention + n_matrices * s->hidden * (s->n_active_experts * s->moe_ffn + s->shared_ffn) + s->hidden * s->n_experts +
	    (s->has_shared_gate ? s->hidden : 0);
}

double workload_layer_matrix_params(const struct workload *workload)
{
	return workload->is_update_only ? 0 : matrix_params(&workload->shape, false);
}

double workload_active_params(const struct workload *workload)
{
	const struct shape *const s = &workload->shape;
	const double expert_params = (s->arch == ARCH_LLAMA ? 3 : 2) * s->hidden * s->moe_ffn;

	if (workload->is_update_only || s->n_experts == 0)
		return workload->n_params;
	return workload->n_params - tensors_moe_layers(s) * (s->n_experts - s->n_active_experts) * expert_params;
}

double workload_layer_gemm_flop(const struct workload *workload)
{
	return 2 * workload_layer_matrix_params(workload) * tokens(workload);
}

double workload_layer_attention_flop(const struct workload *workload)
{
	const struct shape *const s = &workload->shape;

	if (workload->is_update_only)
		return 0;
	return 2 * 2 * s->heads * tensors_head_dim(s) * workload->batch.seq * tokens(workload);
}

double workload_head_flop(const struct workload *workload)
{
	return workload->is_update_only ? 0 : 2 * workload->shape.vocab * workload->shape.embed_dim * tokens(workload);
}

/* Of a workload that has tensors and no shape: a recorded one. */
static double listed_layer_params(const struct workload *workload, int layer)
{
	double n_params = 0;

	for (size_t i = 0; i < workload->n_tensors; i++)
		n_params += workload->tensors[i].layer == layer ? workload->tensors[i].n_params : 0;
	return n_params;
}

double workload_layer_params(const struct workload *workload, int layer)
{
	struct tensor_list list = {.dp = batch_dp(&workload->batch), .tp = batch_tp(&workload->batch)};

	if (workload->is_update_only)
		return 0;
	assert(layer == TENSOR_NO_LAYER || (layer >= 0 && layer < workload->shape.layers));
	if (workload->shape.hidden <= 0)
		return listed_layer_params(workload, layer);
	if (layer == TENSOR_NO_LAYER) {
		tensors_start(&list, &workload->shape);
		tensors_end(&list, &workload->shape);
	} else if (tensors_is_moe_layer(&workload->shape, layer)) {
		tensors_moe_layer(&list, &workload->shape, layer);
	} else {
		tensors_dense_layer(&list, &workload->shape, layer);
	}
	return list.tp_params;
}

double workload_model_flop(const struct workload *workload)
{
	const struct shape *const s = &workload->shape;
	const double n_moe = workload->is_update_only ? 0 : tensors_moe_layers(s);
	const double layer_flop = workload_layer_gemm_flop(workload) + workload_layer_attention_flop(workload);
	const double moe_more_flop =
	    n_moe > 0 ? 2 * (matrix_params(s, true) - matrix_params(s, false)) * tokens(workload) : 0;
	const double forward_flop = s->layers * layer_flop + n_moe * moe_more_flop + workload_head_flop(workload);

	return 3 * forward_flop * workload->batch.grad_accum * batch_dp(&workload->batch); /* backward is twice the forward */
}
