/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/megatron.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/megatron_args.h"
#include "model/split.h"

struct reader {
	struct megatron_args args;
	const char *name;
	struct err *err;
};

/* ---- values */

/* A whole number; *value is kept when it is not given. */
static int count(double *value, const struct reader *r, const char *name, double least)
{
	const struct megatron_arg *const arg = megatron_args_find(&r->args, name);
	const char *const text = arg && arg->value ? arg->value : "";
	char *end;

	if (!arg)
		return 0;
	const double number = strtod(text, &end);
	if (end == text || *end != '\0' || !(number >= least && number <= 1e12) || number != floor(number))
		return err_set(r->err, STATUS_INPUT, "%s:%zu: --%s %s: a whole number from %.15g would be accepted%s",
		    r->name, arg->line, name, text, least, text[0] == '$' ? " (the variable is not assigned here)" : "");
	*value = number;
	return 0;
}

/* Given on a command line, or True in a log. */
static bool has(const struct reader *r, const char *name)
{
	const struct megatron_arg *const arg = megatron_args_find(&r->args, name);

	return arg && (!r->args.is_log || strcmp(arg->value, "True") == 0);
}

/* Logs show what a --no-X or --disable-X stores: False under another name. */
static bool is_off(const struct reader *r, const char *flag, const char *logged)
{
	const struct megatron_arg *const arg = megatron_args_find(&r->args, logged);

	return r->args.is_log ? arg && strcmp(arg->value, "False") == 0 : has(r, flag);
}

static bool is_word(const struct reader *r, const char *name, const char *word)
{
	const struct megatron_arg *const arg = megatron_args_find(&r->args, name);

	return arg && arg->value && strcasecmp(arg->value, word) == 0;
}

/* ---- shape */

static int read_required(struct shape *shape, const struct reader *r)
{
	const struct {
		const char *name;
		double *value;
	} required[] = {
	    {"num-layers", &shape->layers}, {"hidden-size", &shape->hidden}, {"num-attention-heads", &shape->heads}};

	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
		if (count(required[i].value, r, required[i].name, 1))
			return r->err->code;
		if (*required[i].value == 0)
			return err_set(r->err, STATUS_INPUT, "%s: --%s is missing", r->name, required[i].name);
	}
	return 0;
}

static int read_widths(struct shape *shape, const struct reader *r)
{
	double kv_channels = 0, groups = 0;

	if (count(&shape->ffn, r, "ffn-hidden-size", 1) || count(&kv_channels, r, "kv-channels", 1) ||
	    count(&groups, r, "num-query-groups", 1) || count(&shape->kv_heads, r, "num-key-value-heads", 1))
		return r->err->code;
	if (shape->ffn == 0)
		shape->ffn = shape->arch == ARCH_LLAMA ? floor(4 * shape->hidden * 2 / 3 / 64) * 64 : 4 * shape->hidden;
	if (kv_channels > 0 && kv_channels * shape->heads != shape->hidden)
		shape->head_dim = kv_channels;
	if (has(r, "group-query-attention") && groups > 0)
		shape->kv_heads = groups;
	if (shape->kv_heads == 0)
		shape->kv_heads = shape->heads;
	return 0;
}

static int read_vocab(struct megatron *m, const struct reader *r)
{
	double vocab = 0, padded = 0, step = 128;

	if (count(&vocab, r, "vocab-size", 1) || count(&padded, r, "padded-vocab-size", 1) ||
	    count(&step, r, "make-vocab-size-divisible-by", 1))
		return r->err->code;
	step *= m->tensor;
	m->shape.vocab = padded > 0 ? padded : ceil(vocab / step) * step;
	return 0;
}

static int read_experts(struct shape *shape, const struct reader *r)
{
	const struct megatron_arg *const frequency = megatron_args_find(&r->args, "moe-layer-freq");

	if (count(&shape->n_experts, r, "num-experts", 1))
		return r->err->code;
	if (shape->n_experts == 0)
		return 0;
	if (frequency && !is_word(r, "moe-layer-freq", "1"))
		return err_set(r->err, STATUS_INPUT, "%s:%zu: --moe-layer-freq %s: 1 would be accepted", r->name,
		    frequency->line, frequency->value ? frequency->value : "");
	shape->n_active_experts = 2;
	shape->moe_ffn = shape->ffn;
	if (count(&shape->n_active_experts, r, "moe-router-topk", 1) ||
	    count(&shape->moe_ffn, r, "moe-ffn-hidden-size", 1) ||
	    count(&shape->shared_ffn, r, "moe-shared-expert-intermediate-size", 1))
		return r->err->code;
	shape->has_shared_gate = has(r, "moe-shared-expert-gate");
	return 0;
}

static int read_shape(struct megatron *m, const struct reader *r)
{
	struct shape *const shape = &m->shape;
	const bool has_rope = has(r, "use-rotary-position-embeddings") ||
	    is_off(r, "no-position-embedding", "add-position-embedding") ||
	    (megatron_args_find(&r->args, "position-embedding-type") &&
		!is_word(r, "position-embedding-type", "learned_absolute"));

	shape->name = "megatron";
	shape->arch = has(r, "swiglu") ? ARCH_LLAMA : ARCH_GPT;
	shape->norm = is_word(r, "normalization", "rmsnorm") ? NORM_RMS : NORM_LAYER;
	shape->is_tied = !has(r, "untie-embeddings-and-output-weights");
	shape->has_bias = !is_off(r, "disable-bias-linear", "add-bias-linear");
	shape->has_qkv_bias = has(r, "add-qkv-bias");
	shape->has_qk_norm = has(r, "qk-layernorm");
	if (read_required(shape, r) || read_widths(shape, r) || read_vocab(m, r) || read_experts(shape, r))
		return r->err->code;
	if (has_rope)
		return 0;
	shape->positions = m->seq;
	return count(&shape->positions, r, "max-position-embeddings", 1);
}

/* ---- the rest */

static int read_parallel(struct megatron *m, const struct reader *r)
{
	double per_node = 0, nodes = 1;

	m->tensor = m->pipeline = m->context = m->expert = 1;
	if (count(&m->tensor, r, "tensor-model-parallel-size", 1) ||
	    count(&m->pipeline, r, "pipeline-model-parallel-size", 1) ||
	    count(&m->context, r, "context-parallel-size", 1) || count(&m->expert, r, "expert-model-parallel-size", 1) ||
	    count(&per_node, r, "nproc-per-node", 1) || count(&nodes, r, "nnodes", 1))
		return r->err->code;
	m->world = per_node * nodes;
	return count(&m->world, r, "world-size", 1);
}

static void read_flags(struct megatron *m, const struct reader *r)
{
	m->has_precision = has(r, "bf16") || has(r, "fp16");
	m->precision = has(r, "fp16") ? PRECISION_FP16 : PRECISION_BF16;
	m->has_checkpointing = is_word(r, "recompute-granularity", "full") || has(r, "checkpoint-activations") ||
	    has(r, "deepspeed-activation-checkpointing");
	m->has_distributed_optimizer = has(r, "use-distributed-optimizer");
	m->has_sequence_parallel = has(r, "sequence-parallel");
	m->has_deepspeed = has(r, "deepspeed");
	m->has_offload = has(r, "optimizer-cpu-offload");
	m->is_overlapped = has(r, "overlap-cpu-optimizer-d2h-h2d");
	m->is_precision_aware = has(r, "use-precision-aware-optimizer");
	m->is_unpinned = is_off(r, "no-pin-cpu-grads", "pin-cpu-grads") || is_off(r, "no-pin-cpu-params", "pin-cpu-params");
}

static int read_fraction(struct megatron *m, const struct reader *r)
{
	const struct megatron_arg *const arg = megatron_args_find(&r->args, "optimizer-offload-fraction");
	char *end;

	if (!arg)
		return 0;
	m->offload_frac = strtod(arg->value ? arg->value : "", &end);
	if (!arg->value || end == arg->value || *end != '\0' || !(m->offload_frac >= 0 && m->offload_frac <= 1))
		return err_set(r->err, STATUS_INPUT, "%s:%zu: --optimizer-offload-fraction %s: 0 to 1 would be accepted",
		    r->name, arg->line, arg->value ? arg->value : "");
	return 0;
}

bool megatron_is(const char *text, size_t n_bytes)
{
	static const char *const names[] = {"num-layers", "hidden-size", "num-attention-heads", NULL};
	struct megatron_args args;
	struct arena arena = {0};
	bool is = false;

	megatron_args_read(&args, text, n_bytes, &arena);
	for (size_t i = 0; names[i]; i++)
		is |= megatron_args_find(&args, names[i]) != NULL;
	arena_release(&arena);
	return is;
}

int megatron_parse(
    struct megatron *m, const char *name, const char *text, size_t n_bytes, struct arena *arena, struct err *err)
{
	struct reader r = {.name = name, .err = err};

	*m = (struct megatron){0};
	megatron_args_read(&r.args, text, n_bytes, arena);
	m->is_log = r.args.is_log;
	if (count(&m->seq, &r, "seq-length", 1) || count(&m->micro_batch, &r, "micro-batch-size", 1) ||
	    count(&m->global_batch, &r, "global-batch-size", 1) || read_parallel(m, &r) || read_shape(m, &r))
		return err->code;
	read_flags(m, &r);
	return read_fraction(m, &r);
}

/* ---- batch */

int megatron_parallel(struct batch *batch, const struct megatron *m, struct err *err)
{
	const struct {
		const char *flag;
		double size;
	} parallel[] = {{"--pipeline-model-parallel-size", m->pipeline}, {"--context-parallel-size", m->context},
	    {"--expert-model-parallel-size", m->expert}};

	for (size_t i = 0; i < sizeof(parallel) / sizeof(parallel[0]); i++)
		if (parallel[i].size > 1)
			return err_set(err, STATUS_USAGE, "%s %.0f is not modelled; 1 would be accepted", parallel[i].flag,
			    parallel[i].size);
	if (batch->tp == 0)
		batch->tp = m->tensor;
	if (batch->zero_stage == 0 && m->has_distributed_optimizer)
		batch->zero_stage = 1;
	return 0;
}

int megatron_batch(struct batch *batch, const struct megatron *m, struct err *err)
{
	if (megatron_parallel(batch, m, err))
		return err->code;
	if (batch->gpus == 0)
		batch->gpus = m->world / fmax(1, batch->nodes);
	batch->seq = m->seq > 0 ? m->seq : batch->seq;
	batch->mbs = m->micro_batch > 0 ? m->micro_batch : batch->mbs;
	batch->has_checkpointing = m->has_checkpointing;
	if (m->has_precision)
		batch->precision = m->precision;
	if (m->global_batch == 0 || m->micro_batch == 0 || batch->gpus == 0)
		return 0;
	batch->grad_accum = m->global_batch / m->micro_batch / batch_dp(batch);
	if (batch->grad_accum >= 1 && batch->grad_accum == floor(batch->grad_accum))
		return 0;
	return err_set(err, STATUS_USAGE,
	    "--global-batch-size %.15g is no multiple of --micro-batch-size %.15g x %.15g %s", m->global_batch, m->micro_batch,
	    batch_dp(batch), batch_tp(batch) > 1 ? "data-parallel ranks" : "GPUs");
}

/* ---- writing */

struct writer {
	const char *text, *separator;
	struct arena *arena;
};

static void flag(struct writer *w, bool is_wanted, const char *name)
{
	if (is_wanted)
		w->text = arena_printf(w->arena, "%s%s%s", w->text, *w->text ? w->separator : "", name);
}

static void number(struct writer *w, const char *name, double value)
{
	if (value > 0)
		flag(w, true, arena_printf(w->arena, "%s %.15g", name, value));
}

const char *megatron_flags(const struct megatron_recommendation *what, const char *separator, struct arena *arena)
{
	struct writer w = {.text = "", .separator = separator, .arena = arena};
	const bool is_offloaded = what->offload_frac > 0;

	number(&w, "--micro-batch-size", what->micro_batch);
	number(&w, "--global-batch-size", what->global_batch);
	number(&w, "--seq-length", what->seq);
	number(&w, "--tensor-model-parallel-size", what->tensor > 1 ? what->tensor : 0);
	flag(&w, true, what->precision == PRECISION_FP16 ? "--fp16" : "--bf16");
	flag(&w, what->has_checkpointing, "--recompute-granularity full");
	flag(&w, what->has_checkpointing, "--recompute-method uniform");
	flag(&w, what->has_checkpointing, "--recompute-num-layers 1");
	flag(&w, true, "--use-distributed-optimizer");
	flag(&w, is_offloaded, "--use-precision-aware-optimizer"); /* the offload requires it */
	flag(&w, is_offloaded, "--optimizer-cpu-offload");
	number(&w, "--optimizer-offload-fraction", what->offload_frac);
	flag(&w, is_offloaded && what->is_overlapped, "--overlap-cpu-optimizer-d2h-h2d");
	flag(&w, is_offloaded && what->is_unpinned, "--no-pin-cpu-grads");
	flag(&w, is_offloaded && what->is_unpinned, "--no-pin-cpu-params");
	return w.text;
}
