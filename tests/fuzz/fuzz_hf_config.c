/* SPDX-License-Identifier: GPL-3.0-or-later
 * Hugging Face configurations: whatever is read can be counted or is refused, and the parts sum to the whole. */
#include <stdint.h>
#include <stdlib.h>

#include "model/hf_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check_count(const struct hf_config *config, struct arena *arena)
{
	const struct batch batch = {.gpus = 3};
	struct workload workload;
	struct err err = {0};

	/* the tool can hold more, the fuzzer's memory and time cannot */
	if (config->shape.layers > 1000 || config->shape.n_experts > 100)
		return;
	if (workload_count(&workload, &config->shape, &batch, arena, &err))
		return;
	if (!(workload_active_params(&workload) <= workload.n_params && workload_active_params(&workload) > 0))
		abort();
	double n_params = workload_layer_params(&workload, TENSOR_NO_LAYER);
	for (int layer = 0; layer < (int)config->shape.layers; layer++)
		n_params += workload_layer_params(&workload, layer);
	if (n_params != workload.n_params)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct arena arena = {0};
	struct hf_config config;
	struct err err = {0};

	if (n_bytes <= 4096 && hf_config_parse(&config, "a/config.json", (const char *)data, n_bytes, &arena, &err) == 0)
		check_count(&config, &arena);
	arena_release(&arena);
	return 0;
}
