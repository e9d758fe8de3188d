/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/tensors.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

double tensors_head_dim(const struct shape *shape)
{
	return shape->head_dim > 0 ? shape->head_dim : shape->hidden / shape->heads;
}

bool tensors_is_moe_layer(const struct shape *shape, int layer)
{
	return shape->n_experts > 0 && layer >= shape->dense_layers && fmod(layer + 1, shape->moe_every) == 0;
}

double tensors_moe_layers(const struct shape *shape)
{
	if (shape->n_experts == 0)
		return 0;
	return floor(shape->layers / shape->moe_every) - floor(shape->dense_layers / shape->moe_every);
}

/* ---- one tensor, one linear layer, one norm */

/* What tensor parallelism does with it. */
enum split { REPLICATED, DIVIDED };

static void add(struct tensor_list *list, double n_params, enum split split, int layer)
{
	const double tp_params = split == DIVIDED ? n_params / list->tp : n_params; /* E27 */

	if (list->tensors) {
		const uint64_t dp = (uint64_t)list->dp;
		list->tensors[list->n] = (struct tensor){
		    .n_params = tp_params, .rank_params = (double)(((uint64_t)tp_params + dp - 1) / dp), .layer = layer};
	}
	list->n++;
	list->n_params += n_params;
	list->tp_params += tp_params;
}

/* bias: DIVIDED where the outputs are, as each rank has some of them; REPLICATED where the inputs are and the outputs are summed. */
static void add_linear(struct tensor_list *list, double n_in, double n_out, bool has_bias, enum split bias, int layer)
{
	add(list, n_in * n_out, DIVIDED, layer);
	if (has_bias)
		add(list, n_out, bias, layer);
}

static void add_norm(struct tensor_list *list, const struct shape *shape, double width, int layer)
{
	add(list, width, REPLICATED, layer);
	if (shape->norm == NORM_LAYER || (shape->norm == NORM_OF_ARCH && shape->arch == ARCH_GPT))
		add(list, width, REPLICATED, layer); /* LayerNorm has a bias */
}

/* ---- parts of a layer */

static void add_attention(struct tensor_list *list, const struct shape *shape, int layer)
{
	const double hidden = shape->hidden, head_dim = tensors_head_dim(shape);
	const double q = shape->heads * head_dim, kv = shape->kv_heads * head_dim;
	const bool has_bias = shape->has_bias || shape->has_qkv_bias;

	if (shape->has_split_tensors) {
		add_linear(list, hidden, q, has_bias, DIVIDED, layer);
		add_linear(list, hidden, kv, has_bias, DIVIDED, layer);
		add_linear(list, hidden, kv, has_bias, DIVIDED, layer);
	} else if (shape->arch == ARCH_GPT) {
		add_linear(list, hidden, q + 2 * kv, has_bias, DIVIDED, layer);
	} else {
		add_linear(list, hidden, q, has_bias, DIVIDED, layer);
		add_linear(list, hidden, 2 * kv, has_bias, DIVIDED, layer);
	}
	add_linear(list, q, hidden, shape->has_bias || shape->has_out_bias, REPLICATED, layer);
	if (shape->has_qk_norm) {
		add_norm(list, shape, head_dim, layer);
		add_norm(list, shape, head_dim, layer);
	}
}

static void add_mlp(struct tensor_list *list, const struct shape *shape, double ffn, int layer)
{
	const double hidden = shape->hidden;
	const bool has_bias = shape->has_bias || shape->has_mlp_bias;

	if (shape->arch == ARCH_GPT) {
		add_linear(list, hidden, ffn, has_bias, DIVIDED, layer);
	} else if (shape->has_split_tensors) {
		add_linear(list, hidden, ffn, has_bias, DIVIDED, layer);
		add_linear(list, hidden, ffn, has_bias, DIVIDED, layer);
	} else {
		add_linear(list, hidden, 2 * ffn, has_bias, DIVIDED, layer);
	}
	add_linear(list, ffn, hidden, has_bias, REPLICATED, layer);
}

/* Router, experts, shared expert and its gate. */
static void add_experts(struct tensor_list *list, const struct shape *shape, int layer)
{
	add(list, shape->hidden * shape->n_experts, REPLICATED, layer);
	for (size_t i = 0; i < (size_t)shape->n_experts; i++)
		add_mlp(list, shape, shape->moe_ffn, layer);
	if (shape->shared_ffn > 0)
		add_mlp(list, shape, shape->shared_ffn, layer);
	if (shape->shared_ffn > 0 && shape->has_shared_gate)
		add(list, shape->hidden, REPLICATED, layer);
}

/* ---- the model in order */

void tensors_start(struct tensor_list *list, const struct shape *shape)
{
	add(list, shape->vocab * shape->embed_dim, DIVIDED, TENSOR_NO_LAYER);
	if (shape->positions > 0)
		add(list, shape->positions * shape->hidden, REPLICATED, TENSOR_NO_LAYER);
	if (shape->embed_dim != shape->hidden) {
		add(list, shape->hidden * shape->embed_dim, REPLICATED, TENSOR_NO_LAYER);
		add(list, shape->embed_dim * shape->hidden, REPLICATED, TENSOR_NO_LAYER);
	}
	if (shape->has_embed_norm)
		add_norm(list, shape, shape->hidden, TENSOR_NO_LAYER);
}

static void add_layer(struct tensor_list *list, const struct shape *shape, bool has_experts, int layer)
{
	const enum norm_order order = shape->norm_order;

	if (order == NORMS_FIRST || order == NORMS_BEFORE)
		add_norm(list, shape, shape->hidden, layer);
	if (order == NORMS_FIRST)
		add_norm(list, shape, shape->hidden, layer);
	add_attention(list, shape, layer);
	if (order == NORMS_AFTER || order == NORMS_BEFORE)
		add_norm(list, shape, shape->hidden, layer);
	if (has_experts)
		add_experts(list, shape, layer);
	else
		add_mlp(list, shape, shape->ffn, layer);
	if (order == NORMS_LAST || order == NORMS_AFTER)
		add_norm(list, shape, shape->hidden, layer);
	if (order == NORMS_LAST)
		add_norm(list, shape, shape->hidden, layer);
}

void tensors_dense_layer(struct tensor_list *list, const struct shape *shape, int layer)
{
	add_layer(list, shape, false, layer);
}

void tensors_moe_layer(struct tensor_list *list, const struct shape *shape, int layer)
{
	add_layer(list, shape, true, layer);
}

void tensors_end(struct tensor_list *list, const struct shape *shape)
{
	if (!shape->has_no_end_norm)
		add_norm(list, shape, shape->hidden, TENSOR_NO_LAYER);
	if (!shape->is_tied)
		add(list, shape->vocab * shape->embed_dim, DIVIDED, TENSOR_NO_LAYER);
}

/* A run of tensors that is repeated for the layers of one kind. */
struct run {
	const struct tensor *tensors; /* NULL: not made yet */
	size_t n;
	double n_params, tp_params;
};

static void repeat(struct tensor_list *list, const struct run *run, int layer)
{
	struct tensor *const to = list->tensors + list->n;

	for (size_t i = 0; i < run->n; i++) {
		to[i] = run->tensors[i];
		to[i].layer = layer;
	}
	list->n += run->n;
	list->n_params += run->n_params;
	list->tp_params += run->tp_params;
}

void tensors_layers(struct tensor_list *list, const struct shape *shape)
{
	struct run runs[2] = {{.tensors = NULL}, {.tensors = NULL}};

	assert(list->tensors);
	for (int layer = 0; layer < (int)shape->layers; layer++) {
		const bool has_experts = tensors_is_moe_layer(shape, layer);
		struct run *const run = &runs[has_experts];
		if (run->tensors) {
			repeat(list, run, layer);
			continue;
		}
		const struct tensor_list before = *list;
		add_layer(list, shape, has_experts, layer);
		*run = (struct run){.tensors = list->tensors + before.n,
		    .n = list->n - before.n,
		    .n_params = list->n_params - before.n_params,
		    .tp_params = list->tp_params - before.tp_params};
	}
}
