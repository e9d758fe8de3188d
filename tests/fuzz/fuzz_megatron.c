/* SPDX-License-Identifier: GPL-3.0-or-later
 * Megatron arguments: whatever is read can be counted or is refused, and has a batch or a refusal. */
#include <stdint.h>
#include <stdlib.h>

#include "model/megatron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct arena arena = {0};
	struct megatron m;
	struct workload workload;
	struct batch batch = {.gpus = 0};
	struct err err = {0};

	if (n_bytes <= 4096 && megatron_parse(&m, "fuzz", (const char *)data, n_bytes, &arena, &err) == 0) {
		if (!megatron_is((const char *)data, n_bytes))
			abort();
		if (megatron_batch(&batch, &m, &err) == 0 && !(batch.mbs >= 0 && batch.grad_accum >= 0))
			abort();
		batch = (struct batch){.gpus = 1};
		if (m.shape.layers <= 1000 && m.shape.n_experts <= 100 &&
		    workload_count(&workload, &m.shape, &batch, &arena, &err) == 0 && !(workload.n_params > 0))
			abort();
	}
	arena_release(&arena);
	return 0;
}
