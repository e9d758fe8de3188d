/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * workload: a model, its batch and its partition, from a preset, a shape or equal subgroups.
 *
 * Tensors and their order are part of it, because a subgroup is a run of whole tensors: a rank's share is 1/dp of what its
 * tensor-parallel group keeps of each, rounded up (dp: the data-parallel degree), and a subgroup closes at the first tensor at which the
 * rank's shares reach the target size (DeepSpeed ZeRO-3). Source of the order: published logs (num_elems and subgroup counts).
 *
 * Invariant (asserted by workload_build): subgroup parameters sum to rank_params; layers are in order.
 */
#ifndef MODEL_WORKLOAD_H
#define MODEL_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "model/base/arena.h"
#include "model/base/err.h"

enum arch { ARCH_LLAMA, ARCH_GPT }; /* SwiGLU + RMSNorm, untied / GELU + LayerNorm */
enum norm { NORM_OF_ARCH, NORM_RMS, NORM_LAYER }; /* LayerNorm has a bias */
/* Where a layer's two norms stand in its list: each before what it feeds (Megatron, GPT-2, BLOOM), both first (GPT-NeoX), each
 * after (OPT), both last (Llama and its kin). */
enum norm_order { NORMS_BEFORE, NORMS_FIRST, NORMS_AFTER, NORMS_LAST };
enum precision { PRECISION_BF16, PRECISION_FP16 };

/* What the user says. 0 means "not given": workload_build fills kv_heads (heads), ffn of ARCH_GPT (4 hidden), mbs and
 * nodes, grad_accum (1), seq (2048), subgroup_params (1e8), zero_stage (3) and tp (1); the caller gives the rest. */
struct shape {
	const char *name; /* preset, or "custom" */
	enum arch arch;
	double layers, hidden, heads, kv_heads, ffn, vocab, positions; /* positions: learned position embeddings, 0 none */
	double head_dim; /* 0: hidden / heads; workload_count fills it in */
	bool is_tied; /* output head shares the embedding */
	bool has_bias; /* biases on every linear layer (gpt) */
	bool has_qkv_bias; /* biases on q, k, v only (Qwen2) */
	bool has_out_bias, has_mlp_bias; /* biases of the attention's output, of the feed-forward layer */
	bool has_qk_norm; /* norms of one head's width on q and k (Qwen3) */
	bool has_embed_norm; /* a norm after the embedding (BLOOM) */
	bool has_no_end_norm; /* no norm before the output head (OPT-350m) */
	enum norm norm;
	enum norm_order norm_order;
	double embed_dim; /* width of the embedding; 0: hidden, else projections to and from hidden (OPT-350m) */
	bool has_split_tensors; /* q, k, v, gate and up are tensors of their own, as in Hugging Face checkpoints; else fused as in
	                         * Megatron: llama query | key_value | gate_up, gpt qkv */
	/* mixture of experts, n_experts 0: none. An expert is a feed-forward layer of its own tensors. */
	double n_experts, n_active_experts; /* in a layer; that a token passes */
	double moe_ffn; /* width of an expert */
	double shared_ffn; /* width of the expert that every token passes, 0 none */
	bool has_shared_gate; /* that has a gate (Qwen2-MoE) */
	double dense_layers; /* the first ones have no experts, but ffn */
	double moe_every; /* then layer i has experts iff (i + 1) mod moe_every == 0; 0: every layer */
};

struct batch {
	double gpus; /* of one node, one rank each */
	double nodes; /* identical ones; 0: 1 */
	double mbs, grad_accum, seq;
	bool has_checkpointing;
	enum precision precision;
	double subgroup_params; /* target size S of a rank's subgroup */
	double n_subgroups; /* > 0: that many equal subgroups of S, no tensors: an update alone */
	double zero_stage; /* 1, 2, 3; 0: 3 */
	double tp; /* tensor-parallel degree; 0: 1. The data-parallel one: batch_dp */
};

enum { TENSOR_NO_LAYER = -1, WORKLOAD_ITEMS_MAX = 20000000 }; /* most tensors, most subgroups */

struct tensor {
	double n_params; /* what one tensor-parallel rank has of it: all of it without tensor parallelism */
	double rank_params; /* a rank's share, padded */
	int layer; /* 0..layers-1, TENSOR_NO_LAYER for embedding, final norm and head */
	size_t subgroup; /* index of the subgroup that holds the rank's share */
};

struct subgroup {
	double n_params; /* of one rank */
};

struct workload {
	struct shape shape;
	struct batch batch;
	bool is_update_only; /* equal subgroups, no tensors: forward and backward take no time */
	struct tensor *tensors;
	size_t n_tensors;
	struct subgroup *subgroups;
	size_t n_subgroups;
	double n_params; /* all parameters of the model */
	double tp_params; /* of one tensor-parallel rank, which its data-parallel ranks partition: n_params without tensor parallelism */
	double rank_params; /* padded share of one rank */
	double max_subgroup_params;
	unsigned long long content_hash;
};

struct shape_preset {
	struct shape shape;
	const char *source;
};
extern const struct shape_preset shape_presets[];
extern const size_t n_shape_presets;
/* NULL when unknown. */
const struct shape_preset *shape_preset_find(const char *name);

/* Builds tensors and subgroups. Refuses (STATUS_USAGE) shapes that are not positive integers, heads that do not divide,
 * kv_heads that do not divide heads, what tensor parallelism does not divide, and counts beyond what the tool can hold, saying which
 * flag. Refuses mixtures of experts (an update alone apart): their times are not modelled. */
int workload_build(struct workload *workload, const struct shape *shape, const struct batch *batch, struct arena *arena,
    struct err *err) MUST_CHECK;
/* The same for whoever counts and asks no times: mixtures of experts too. */
int workload_count(struct workload *workload, const struct shape *shape, const struct batch *batch, struct arena *arena,
    struct err *err) MUST_CHECK;

/* Ranks of all nodes, a GPU each. */
double batch_ranks(const struct batch *batch);
/* Degree of data parallelism: ranks that share out states and gradients, and each take micro-batches of their own: all over tp. E26 */
double batch_dp(const struct batch *batch);
/* Tokens of an iteration of all ranks. */
double batch_tokens(const struct batch *batch);
/* "8 GPUs", "4 nodes x 8 GPUs" */
const char *batch_gpus_text(const struct batch *batch, struct arena *arena);

/* Parameters that one token passes: all but the experts that it does not choose. */
double workload_active_params(const struct workload *workload);

/* Parameters of one layer's matrices (no norms, no biases), for FLOPs. Here and below: of a layer without experts. */
double workload_layer_matrix_params(const struct workload *workload);
/* Matmul FLOPs of one layer's forward for one micro-batch, attention apart (2 FLOPs a parameter and token). */
double workload_layer_gemm_flop(const struct workload *workload);
/* FLOPs of the two attention products of one layer's forward (all scores computed, as unfused kernels do). */
double workload_layer_attention_flop(const struct workload *workload);
/* FLOPs of the output head's forward. */
double workload_head_flop(const struct workload *workload);
/* Parameters of layer (with norms) that one tensor-parallel rank has, TENSOR_NO_LAYER: embedding, final norm and head together. */
double workload_layer_params(const struct workload *workload, int layer);
/* Model FLOPs of an iteration of all ranks by the 6 P T rule with attention, without recomputation (for utilisation). P: the
 * layers' matrices, of experts the active ones, and the head; looking up an embedding is no FLOP. Like all FLOPs here 0 for an update alone. */
double workload_model_flop(const struct workload *workload);

#endif
