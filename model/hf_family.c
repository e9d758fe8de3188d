/* SPDX-License-Identifier: GPL-3.0-or-later
 * Source: huggingface/transformers, src/transformers/models/TYPE/configuration_TYPE.py and modeling_TYPE.py (deepseek and Yi: the
 * code that their authors ship with the checkpoints). */
#include "model/hf_family.h"

/* ---- own keys */

static int finish_llama(struct hf_reader *r, struct shape *shape)
{
	bool has_attention_bias = false;

	if (hf_flag(&has_attention_bias, r, "attention_bias") || hf_flag(&shape->has_mlp_bias, r, "mlp_bias"))
		return r->err->code;
	shape->has_qkv_bias = shape->has_out_bias = has_attention_bias;
	return 0;
}

/* qwen3, gemma: no bias in the feed-forward layer */
static int finish_attention_bias(struct hf_reader *r, struct shape *shape)
{
	if (hf_flag(&shape->has_qkv_bias, r, "attention_bias"))
		return r->err->code;
	shape->has_out_bias = shape->has_qkv_bias;
	return 0;
}

static int finish_mixtral(struct hf_reader *r, struct shape *shape)
{
	shape->moe_ffn = shape->ffn;
	if (hf_count(&shape->n_experts, NULL, r, "num_local_experts", 1))
		return r->err->code;
	return hf_count(&shape->n_active_experts, NULL, r, "num_experts_per_tok", 1);
}

/* mlp_only_layers names layers without experts: accepted where they are the first ones. */
static int read_dense_layers(struct hf_reader *r, struct shape *shape)
{
	const json_node *const list = json_get(r->node, "mlp_only_layers");

	if (list && !json_is_null(list) && !json_is_array(list))
		return json_fail(r->doc, list, r->err, "a list of layers is expected");
	for (const json_node *item = json_first(list); item; item = json_next(item)) {
		double layer;
		if (json_number_of(&layer, r->doc, item, 0, 1e9, r->err))
			return r->err->code;
		if (layer != shape->dense_layers)
			return json_fail(r->doc, item, r->err,
			    "layer %.15g without experts: only the first layers, in order, would be accepted", layer);
		shape->dense_layers++;
	}
	return 0;
}

static int finish_qwen_moe(struct hf_reader *r, struct shape *shape)
{
	const char *const n_experts_key = json_get(r->node, "num_experts") ? "num_experts" : "num_local_experts";

	if (hf_count(&shape->n_experts, NULL, r, n_experts_key, 0) ||
	    hf_count(&shape->n_active_experts, NULL, r, "num_experts_per_tok", 1) ||
	    hf_count(&shape->moe_ffn, NULL, r, "moe_intermediate_size", 1) ||
	    hf_count(&shape->moe_every, NULL, r, "decoder_sparse_step", 1) || read_dense_layers(r, shape))
		return r->err->code;
	return 0;
}

static int finish_qwen2_moe(struct hf_reader *r, struct shape *shape)
{
	if (hf_flag(&shape->has_qkv_bias, r, "qkv_bias") ||
	    hf_count(&shape->shared_ffn, NULL, r, "shared_expert_intermediate_size", 1))
		return r->err->code;
	return finish_qwen_moe(r, shape);
}

static int finish_qwen3_moe(struct hf_reader *r, struct shape *shape)
{
	const int rc = finish_attention_bias(r, shape);

	return rc ? rc : finish_qwen_moe(r, shape);
}

static int finish_deepseek(struct hf_reader *r, struct shape *shape)
{
	double n_shared = 0, every = 1;

	if (finish_attention_bias(r, shape) || hf_count(&shape->n_experts, NULL, r, "n_routed_experts", 1) ||
	    hf_count(&shape->n_active_experts, NULL, r, "num_experts_per_tok", 1) ||
	    hf_count(&shape->moe_ffn, NULL, r, "moe_intermediate_size", 1) ||
	    hf_count(&n_shared, NULL, r, "n_shared_experts", 0) ||
	    hf_count(&shape->dense_layers, NULL, r, "first_k_dense_replace", 0) ||
	    hf_count(&every, NULL, r, "moe_layer_freq", 1))
		return r->err->code;
	if (every != 1)
		return json_fail(r->doc, json_get(r->node, "moe_layer_freq"), r->err, "1 would be accepted");
	shape->shared_ffn = n_shared * shape->moe_ffn;
	return 0;
}

static int finish_gpt2(struct hf_reader *r, struct shape *shape)
{
	bool has_cross_attention = false;

	(void)shape;
	if (hf_flag(&has_cross_attention, r, "add_cross_attention"))
		return r->err->code;
	if (has_cross_attention)
		return json_fail(
		    r->doc, json_get(r->node, "add_cross_attention"), r->err, "only decoders would be accepted");
	return 0;
}

static int finish_opt(struct hf_reader *r, struct shape *shape)
{
	bool norm_first = true, has_affine = true;

	if (hf_flag(&shape->has_bias, r, "enable_bias") || hf_flag(&norm_first, r, "do_layer_norm_before") ||
	    hf_flag(&shape->has_no_end_norm, r, "_remove_final_layer_norm") ||
	    hf_flag(&has_affine, r, "layer_norm_elementwise_affine") ||
	    hf_count(&shape->embed_dim, NULL, r, "word_embed_proj_dim", 1))
		return r->err->code;
	if (!has_affine)
		return json_fail(
		    r->doc, json_get(r->node, "layer_norm_elementwise_affine"), r->err, "true would be accepted");
	shape->has_no_end_norm |= !norm_first;
	shape->positions += 2; /* its embedding is offset by two */
	return 0;
}

/* The code builds four times hidden, whatever n_inner says. */
static int finish_bloom(struct hf_reader *r, struct shape *shape)
{
	(void)r;
	shape->ffn = 4 * shape->hidden;
	return 0;
}

static int finish_gpt_neox(struct hf_reader *r, struct shape *shape)
{
	bool has_attention_bias = true;

	if (hf_flag(&has_attention_bias, r, "attention_bias"))
		return r->err->code;
	shape->has_qkv_bias = shape->has_out_bias = has_attention_bias;
	return 0;
}

/* ---- the table */

#define LLAMA_KIN .arch = ARCH_LLAMA, .norm_order = NORMS_LAST, .has_split_tensors = true

const struct hf_family hf_families[] = {
    {"Yi", {LLAMA_KIN, .vocab = 64000, .hidden = 4096, .ffn = 11008, .layers = 32, .heads = 32, .kv_heads = 4},
	"intermediate_size", NULL},
    {"bloom",
	{.arch = ARCH_GPT,
	    .vocab = 250880,
	    .hidden = 64,
	    .layers = 2,
	    .heads = 8,
	    .is_tied = true,
	    .has_bias = true,
	    .has_embed_norm = true},
	"n_inner", finish_bloom},
    {"deepseek", {LLAMA_KIN, .vocab = 102400, .hidden = 4096, .ffn = 11008, .layers = 30, .heads = 32, .moe_ffn = 1407},
	"intermediate_size", finish_deepseek},
    {"gemma",
	{LLAMA_KIN, .vocab = 256000, .hidden = 3072, .ffn = 24576, .layers = 28, .heads = 16, .kv_heads = 16,
	    .head_dim = 256, .is_tied = true},
	"intermediate_size", finish_attention_bias},
    {"gpt2",
	{.arch = ARCH_GPT,
	    .vocab = 50257,
	    .hidden = 768,
	    .layers = 12,
	    .heads = 12,
	    .positions = 1024,
	    .is_tied = true,
	    .has_bias = true},
	"n_inner", finish_gpt2},
    {"gpt_neox",
	{.arch = ARCH_GPT,
	    .norm_order = NORMS_FIRST,
	    .vocab = 50432,
	    .hidden = 6144,
	    .ffn = 24576,
	    .layers = 44,
	    .heads = 64,
	    .has_mlp_bias = true},
	"intermediate_size", finish_gpt_neox},
    {"llama", {LLAMA_KIN, .vocab = 32000, .hidden = 4096, .ffn = 11008, .layers = 32, .heads = 32}, "intermediate_size",
	finish_llama},
    {"mistral", {LLAMA_KIN, .vocab = 32000, .hidden = 4096, .ffn = 14336, .layers = 32, .heads = 32, .kv_heads = 8},
	"intermediate_size", NULL},
    {"mixtral",
	{LLAMA_KIN, .vocab = 32000, .hidden = 4096, .ffn = 14336, .layers = 32, .heads = 32, .kv_heads = 8, .n_experts = 8,
	    .n_active_experts = 2},
	"intermediate_size", finish_mixtral},
    {"opt",
	{.arch = ARCH_GPT,
	    .norm_order = NORMS_AFTER,
	    .has_split_tensors = true,
	    .vocab = 50272,
	    .hidden = 768,
	    .ffn = 3072,
	    .layers = 12,
	    .heads = 12,
	    .positions = 2048,
	    .is_tied = true,
	    .has_bias = true},
	"ffn_dim", finish_opt},
    {"qwen2",
	{LLAMA_KIN, .vocab = 151936, .hidden = 4096, .ffn = 22016, .layers = 32, .heads = 32, .kv_heads = 32,
	    .has_qkv_bias = true},
	"intermediate_size", NULL},
    {"qwen2_moe",
	{LLAMA_KIN, .vocab = 151936, .hidden = 2048, .ffn = 5632, .layers = 24, .heads = 16, .kv_heads = 16,
	    .has_qkv_bias = true, .n_experts = 60, .n_active_experts = 4, .moe_ffn = 1408, .shared_ffn = 5632,
	    .has_shared_gate = true},
	"intermediate_size", finish_qwen2_moe},
    {"qwen3",
	{LLAMA_KIN, .vocab = 151936, .hidden = 4096, .ffn = 22016, .layers = 32, .heads = 32, .kv_heads = 32,
	    .head_dim = 128, .has_qk_norm = true},
	"intermediate_size", finish_attention_bias},
    {"qwen3_moe",
	{LLAMA_KIN, .vocab = 151936, .hidden = 2048, .ffn = 6144, .layers = 24, .heads = 32, .kv_heads = 4,
	    .has_qk_norm = true, .n_experts = 128, .n_active_experts = 8, .moe_ffn = 768},
	"intermediate_size", finish_qwen3_moe},
};
const size_t hf_n_families = sizeof(hf_families) / sizeof(hf_families[0]);
