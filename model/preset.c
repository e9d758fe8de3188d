/* SPDX-License-Identifier: GPL-3.0-or-later
 * Models that are known by name. A new one is a new row: its shape, and where that shape is from. */
#include "model/workload.h"

#include <string.h>

#define DOS_PAPER "arXiv 2410.21316, logs of the authors' artifact (DataStates/artifacts)"

/* The authors' models: Megatron-DeepSpeed llama, SwiGLU, RMSNorm, no biases, untied, vocabulary 50257 padded to 50304. */
#define PAPER_LLAMA(label, n_layers, n_hidden, n_heads, n_kv_heads, n_ffn, from) \
	{ \
		.shape = {.name = (label), \
		    .arch = ARCH_LLAMA, \
		    .layers = (n_layers), \
		    .hidden = (n_hidden), \
		    .heads = (n_heads), \
		    .kv_heads = (n_kv_heads), \
		    .ffn = (n_ffn), \
		    .vocab = 50304}, \
		.source = (from) \
	}

/* Dense decoders as published, with the tensors of the Hugging Face checkpoint: SwiGLU, RMSNorm, untied, no biases, q, k, v, gate
 * and up apart. */
#define HF_LLAMA(label, n_layers, n_hidden, n_heads, n_kv_heads, n_ffn, n_vocab, from) \
	{ \
		.shape = {.name = (label), \
		    .arch = ARCH_LLAMA, \
		    .layers = (n_layers), \
		    .hidden = (n_hidden), \
		    .heads = (n_heads), \
		    .kv_heads = (n_kv_heads), \
		    .ffn = (n_ffn), \
		    .vocab = (n_vocab), \
		    .has_split_tensors = true}, \
		.source = (from) \
	}
/* The same with biases on q, k and v. The sizes from 7B on are untied. */
#define HF_QWEN(label, n_layers, n_hidden, n_heads, n_kv_heads, n_ffn, from) \
	{ \
		.shape = {.name = (label), \
		    .arch = ARCH_LLAMA, \
		    .layers = (n_layers), \
		    .hidden = (n_hidden), \
		    .heads = (n_heads), \
		    .kv_heads = (n_kv_heads), \
		    .ffn = (n_ffn), \
		    .vocab = 152064, \
		    .has_qkv_bias = true, \
		    .has_split_tensors = true}, \
		.source = (from) \
	}
/* Learned positions, biases everywhere, tied head, ffn 4 h. GPT-3: q, k, v fused. */
#define GPT3(label, n_layers, n_hidden, n_heads, from) \
	{ \
		.shape = {.name = (label), \
		    .arch = ARCH_GPT, \
		    .layers = (n_layers), \
		    .hidden = (n_hidden), \
		    .heads = (n_heads), \
		    .kv_heads = (n_heads), \
		    .ffn = 4.0 * (n_hidden), \
		    .vocab = 50257, \
		    .positions = 2048, \
		    .is_tied = true, \
		    .has_bias = true}, \
		.source = (from) \
	}
/* OPT: q, k, v apart; the position table has two rows more. */
#define HF_OPT(label, n_layers, n_hidden, n_heads) \
	{ \
		.shape = {.name = (label), \
		    .arch = ARCH_GPT, \
		    .layers = (n_layers), \
		    .hidden = (n_hidden), \
		    .heads = (n_heads), \
		    .kv_heads = (n_heads), \
		    .ffn = 4.0 * (n_hidden), \
		    .vocab = 50272, \
		    .positions = 2050, \
		    .is_tied = true, \
		    .has_bias = true, \
		    .has_split_tensors = true}, \
		.source = "arXiv 2205.01068 table 1; config.json of facebook/" label \
	}

const struct shape_preset shape_presets[] = {
    PAPER_LLAMA("7b", 32, 4096, 32, 4, 11008, DOS_PAPER),
    PAPER_LLAMA("8.3b", 72, 3072, 32, 4, 11008, DOS_PAPER),
    PAPER_LLAMA("10b", 50, 4096, 32, 4, 12400, DOS_PAPER),
    PAPER_LLAMA("13b", 40, 5120, 40, 4, 13824, DOS_PAPER),
    PAPER_LLAMA("20b", 40, 5120, 64, 4, 20480, DOS_PAPER),
    PAPER_LLAMA("20b-a100", 64, 4096, 256, 16, 16384, DOS_PAPER ", A100 node"),
    PAPER_LLAMA("30b", 60, 6656, 52, 4, 17920, DOS_PAPER),
    PAPER_LLAMA("70b", 80, 8192, 64, 4, 21824, DOS_PAPER),
    {.shape = {.name = "gpt-1.3b-untied",
	 .arch = ARCH_GPT,
	 .layers = 24,
	 .hidden = 2048,
	 .heads = 32,
	 .kv_heads = 32,
	 .ffn = 8192,
	 .vocab = 32000},
	.source = "model of our own training runs on an H200 (traces/recorded)"},
    GPT3("gpt3-1.3b", 24, 2048, 16, "arXiv 2005.14165 table 2.1, XL; 16 heads of 128, since its 24 do not give 2048 nor 1.3 G"),
    GPT3("gpt3-2.7b", 32, 2560, 32, "arXiv 2005.14165 table 2.1"),
    GPT3("gpt3-6.7b", 32, 4096, 32, "arXiv 2005.14165 table 2.1"),
    HF_OPT("opt-1.3b", 24, 2048, 32),
    HF_OPT("opt-6.7b", 32, 4096, 32),
    HF_OPT("opt-13b", 40, 5120, 40),
    HF_OPT("opt-30b", 48, 7168, 56),
    HF_LLAMA("llama2-7b", 32, 4096, 32, 32, 11008, 32000, "arXiv 2307.09288; config.json of meta-llama/Llama-2-7b-hf"),
    HF_LLAMA("llama2-13b", 40, 5120, 40, 40, 13824, 32000, "arXiv 2307.09288; config.json of meta-llama/Llama-2-13b-hf"),
    HF_LLAMA("llama2-70b", 80, 8192, 64, 8, 28672, 32000, "arXiv 2307.09288; config.json of meta-llama/Llama-2-70b-hf"),
    HF_LLAMA("llama3-8b", 32, 4096, 32, 8, 14336, 128256, "arXiv 2407.21783 table 3; config.json of meta-llama/Meta-Llama-3-8B"),
    HF_LLAMA("llama3-70b", 80, 8192, 64, 8, 28672, 128256, "arXiv 2407.21783 table 3; config.json of meta-llama/Meta-Llama-3-70B"),
    HF_QWEN("qwen2.5-7b", 28, 3584, 28, 4, 18944, "arXiv 2412.15115; config.json of Qwen/Qwen2.5-7B"),
    HF_QWEN("qwen2.5-14b", 48, 5120, 40, 8, 13824, "arXiv 2412.15115; config.json of Qwen/Qwen2.5-14B"),
    HF_QWEN("qwen2.5-32b", 64, 5120, 40, 8, 27648, "arXiv 2412.15115; config.json of Qwen/Qwen2.5-32B"),
    HF_QWEN("qwen2.5-72b", 80, 8192, 64, 8, 29568, "arXiv 2412.15115; config.json of Qwen/Qwen2.5-72B"),
};
const size_t n_shape_presets = sizeof(shape_presets) / sizeof(shape_presets[0]);

const struct shape_preset *shape_preset_find(const char *name)
{
	for (size_t i = 0; i < n_shape_presets; i++)
		if (strcmp(shape_presets[i].shape.name, name) == 0)
			return &shape_presets[i];
	return NULL;
}
