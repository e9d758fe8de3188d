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
};
const size_t n_shape_presets = sizeof(shape_presets) / sizeof(shape_presets[0]);

const struct shape_preset *shape_preset_find(const char *name)
{
	for (size_t i = 0; i < n_shape_presets; i++)
		if (strcmp(shape_presets[i].shape.name, name) == 0)
			return &shape_presets[i];
	return NULL;
}
