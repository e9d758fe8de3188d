/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/workload.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "model/hash.h"

static const double params_max = 9007199254740992.0; /* 2^53: counts stay exact in a double */

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
	batch->mbs = or_else(batch->mbs, 1);
	batch->grad_accum = or_else(batch->grad_accum, 1);
	batch->seq = or_else(batch->seq, 2048);
	batch->subgroup_params = or_else(batch->subgroup_params, 1e8);
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
	    {"--mbs", batch->mbs, 1, 1e6},
	    {"--grad-accum", batch->grad_accum, 1, 1e6},
	    {"--seq", batch->seq, 1, 1e9},
	    {"--subgroup", batch->subgroup_params, 1, 1e15},
	    {"--n-subgroups", batch->n_subgroups, 0, WORKLOAD_ITEMS_MAX},
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
	};
	const int rc = check_counts(counts, sizeof(counts) / sizeof(counts[0]), err);

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

/* ---- tensors: embedding, equal layers, final norm and head */

enum { PART_TENSORS_MAX = 24 };

/* The tensors of one part of the model, in order. */
struct part {
	struct tensor tensors[PART_TENSORS_MAX];
	size_t n;
	double n_params;
};

static void add(struct part *part, const struct batch *batch, double n_params)
{
	const uint64_t gpus = (uint64_t)batch->gpus;

	assert(part->n < PART_TENSORS_MAX);
	struct tensor *const tensor = &part->tensors[part->n++];
	part->n_params += n_params;
	*tensor = (struct tensor){.n_params = n_params};
	if (n_params <= params_max) /* refused later, with the total in the message */
		tensor->rank_params = (double)(((uint64_t)n_params + gpus - 1) / gpus);
}

static void add_linear(struct part *part, const struct batch *batch, double n_in, double n_out, bool has_bias)
{
	add(part, batch, n_in * n_out);
	if (has_bias)
		add(part, batch, n_out);
}

static void add_norm(struct part *part, const struct batch *batch, const struct shape *shape)
{
	add(part, batch, shape->hidden);
	if (shape->arch == ARCH_GPT)
		add(part, batch, shape->hidden); /* LayerNorm has a bias */
}

static double head_dim(const struct shape *shape)
{
	return shape->head_dim > 0 ? shape->head_dim : shape->hidden / shape->heads;
}

static void add_attention(struct part *part, const struct batch *batch, const struct shape *shape)
{
	const double hidden = shape->hidden, q = shape->heads * head_dim(shape), kv = shape->kv_heads * head_dim(shape);
	const bool has_bias = shape->has_bias || shape->has_qkv_bias;

	if (shape->has_split_tensors) {
		add_linear(part, batch, hidden, q, has_bias);
		add_linear(part, batch, hidden, kv, has_bias);
		add_linear(part, batch, hidden, kv, has_bias);
	} else if (shape->arch == ARCH_GPT) {
		add_linear(part, batch, hidden, q + 2 * kv, has_bias);
	} else {
		add_linear(part, batch, hidden, q, has_bias);
		add_linear(part, batch, hidden, 2 * kv, has_bias);
	}
	add_linear(part, batch, q, hidden, shape->has_bias);
}

static void add_mlp(struct part *part, const struct batch *batch, const struct shape *shape)
{
	if (shape->arch == ARCH_GPT) {
		add_linear(part, batch, shape->hidden, shape->ffn, shape->has_bias);
	} else if (shape->has_split_tensors) {
		add_linear(part, batch, shape->hidden, shape->ffn, shape->has_bias);
		add_linear(part, batch, shape->hidden, shape->ffn, shape->has_bias);
	} else {
		add_linear(part, batch, shape->hidden, 2 * shape->ffn, shape->has_bias);
	}
	add_linear(part, batch, shape->ffn, shape->hidden, shape->has_bias);
}

static void make_start(struct part *part, const struct batch *batch, const struct shape *shape)
{
	add(part, batch, shape->vocab * shape->hidden);
	if (shape->positions > 0)
		add(part, batch, shape->positions * shape->hidden);
}

static void make_layer(struct part *part, const struct batch *batch, const struct shape *shape)
{
	add_norm(part, batch, shape);
	add_attention(part, batch, shape);
	add_norm(part, batch, shape);
	add_mlp(part, batch, shape);
}

static void make_end(struct part *part, const struct batch *batch, const struct shape *shape)
{
	add_norm(part, batch, shape);
	if (!shape->is_tied)
		add(part, batch, shape->vocab * shape->hidden);
}

static struct tensor *append(struct tensor *to, const struct part *part, int layer)
{
	for (size_t i = 0; i < part->n; i++) {
		to[i] = part->tensors[i];
		to[i].layer = layer;
	}
	return to + part->n;
}

static int make_tensors(struct workload *w, struct arena *arena, struct err *err)
{
	struct part start = {.n = 0}, layer = {.n = 0}, end = {.n = 0};
	const double layers = w->shape.layers;

	make_start(&start, &w->batch, &w->shape);
	make_layer(&layer, &w->batch, &w->shape);
	make_end(&end, &w->batch, &w->shape);
	w->n_params = start.n_params + layers * layer.n_params + end.n_params;
	const double n_tensors = (double)(start.n + end.n) + layers * (double)layer.n;
	if (!(w->n_params <= params_max))
		return err_set(err, STATUS_USAGE,
		    "the model has %.4g parameters; up to 9e15 would be accepted (--layers, --hidden, "
		    "--ffn, --vocab)",
		    w->n_params);
	if (n_tensors > WORKLOAD_ITEMS_MAX)
		return err_set(err, STATUS_USAGE, "--layers %.15g makes %.4g tensors; up to %.4g would be accepted", layers,
		    n_tensors, (double)WORKLOAD_ITEMS_MAX);
	w->n_tensors = (size_t)n_tensors;
	w->tensors = arena_alloc(arena, w->n_tensors, sizeof(*w->tensors));
	struct tensor *to = append(w->tensors, &start, TENSOR_NO_LAYER);
	for (int i = 0; i < (int)layers; i++)
		to = append(to, &layer, i);
	to = append(to, &end, TENSOR_NO_LAYER);
	assert(to == w->tensors + w->n_tensors);
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
	w->n_params = w->rank_params * w->batch.gpus;
	if (!(w->n_params <= params_max))
		return err_set(err, STATUS_USAGE,
		    "%.15g subgroups of %.15g on %.15g GPUs are %.4g parameters; up to 9e15 would be "
		    "accepted (--n-subgroups, --subgroup)",
		    n, size, w->batch.gpus, w->n_params);
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
	    s->positions, head_dim(s), s->is_tied, s->has_bias, s->has_qkv_bias, s->has_split_tensors};
	const unsigned long long hash = hash_numbers(HASH_START, batch, sizeof(batch) / sizeof(batch[0]));

	return w->is_update_only ? hash : hash_numbers(hash, shape, sizeof(shape) / sizeof(shape[0]));
}

static void assert_invariant(const struct workload *w)
{
	double sum_params = 0;

	for (size_t i = 0; i < w->n_subgroups; i++)
		sum_params += w->subgroups[i].n_params;
	assert(sum_params == w->rank_params); /* exact: all are integers below 2^53 */
}

int workload_build(
    struct workload *workload, const struct shape *shape, const struct batch *batch, struct arena *arena, struct err *err)
{
	*workload = (struct workload){.shape = *shape, .batch = *batch};
	fill(workload);
	int rc = check_batch(&workload->batch, err);
	if (rc == 0 && workload->batch.n_subgroups > 0) {
		rc = make_equal_subgroups(workload, arena, err);
	} else if (rc == 0) {
		rc = check_shape(&workload->shape, err);
		if (rc == 0)
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

/* ---- FLOPs */

static double tokens(const struct workload *workload)
{
	return workload->batch.mbs * workload->batch.seq;
}

double workload_layer_matrix_params(const struct workload *workload)
{
	const struct shape *const s = &workload->shape;
	const double q = s->heads * head_dim(s), kv = s->kv_heads * head_dim(s);

	if (workload->is_update_only)
		return 0;
	return 2 * s->hidden * q + 2 * s->hidden * kv + (s->arch == ARCH_LLAMA ? 3 : 2) * s->hidden * s->ffn;
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
	return 2 * 2 * s->heads * head_dim(s) * workload->batch.seq * tokens(workload);
}

double workload_head_flop(const struct workload *workload)
{
	return workload->is_update_only ? 0 : 2 * workload->shape.vocab * workload->shape.hidden * tokens(workload);
}

double workload_layer_params(const struct workload *workload, int layer)
{
	struct part part = {.n = 0};

	if (workload->is_update_only)
		return 0;
	if (layer == TENSOR_NO_LAYER) {
		make_start(&part, &workload->batch, &workload->shape);
		make_end(&part, &workload->batch, &workload->shape);
	} else {
		assert(layer >= 0 && layer < workload->shape.layers);
		make_layer(&part, &workload->batch, &workload->shape);
	}
	return part.n_params;
}

double workload_model_flop(const struct workload *workload)
{
	const double layer_flop = workload_layer_gemm_flop(workload) + workload_layer_attention_flop(workload);
	const double forward_flop = workload->shape.layers * layer_flop + workload_head_flop(workload);

	return 3 * forward_flop * workload->batch.grad_accum * workload->batch.gpus; /* backward is twice the forward */
}
