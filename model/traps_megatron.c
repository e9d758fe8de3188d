/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rules for Megatron arguments. Source: core/optimizer/optimizer_config.py, training/arguments.py. */
#include "model/traps.h"

static void warn(struct traps *traps, const struct config_file *file, const char *id, const char *key, const char *finding,
    const char *better)
{
	traps_add(traps, (struct trap){true, id, file->name, key, finding, better});
}

static void check_offload(struct traps *traps, const struct config_file *file)
{
	const struct megatron *const m = &file->megatron;

	if (!m->has_offload) {
		if (m->offload_frac > 0)
			warn(traps, file, "offload-is-off", "--optimizer-offload-fraction",
			    "a fraction without --optimizer-cpu-offload does nothing", "add --optimizer-cpu-offload");
		return;
	}
	if (m->offload_frac == 0)
		warn(traps, file, "nothing-offloaded", "--optimizer-offload-fraction",
		    "the fraction is 0, its default: nothing is offloaded", "a fraction above 0");
	if (!m->is_precision_aware)
		warn(traps, file, "not-precision-aware", "--optimizer-cpu-offload",
		    "requires --use-precision-aware-optimizer", "add --use-precision-aware-optimizer");
	if (!m->is_overlapped)
		warn(traps, file, "no-overlap", "--overlap-cpu-optimizer-d2h-h2d",
		    "absent: the copies wait for the CPU's update and it for them", "add --overlap-cpu-optimizer-d2h-h2d");
	if (m->is_unpinned)
		warn(traps, file, "pageable-memory", "--no-pin-cpu-grads",
		    "host memory is pageable: copies run at a fraction of the link's rate",
		    "leave out --no-pin-cpu-grads and --no-pin-cpu-params");
}

void traps_find_megatron(struct traps *traps, const struct config_file *file, const struct traps_context *context)
{
	const struct megatron *const m = &file->megatron;
	struct batch batch = {.gpus = context->gpus};
	struct err err = {0};

	if (m->shape.vocab == 0)
		traps_add(traps,
		    (struct trap){false, "vocabulary-unknown", file->name, "--vocab-size",
			"not given: it comes from the tokenizer", "--vocab-size, or --padded-vocab-size"});
	if (m->shape.n_experts > 0)
		traps_add(traps,
		    (struct trap){false, "mixture-of-experts", file->name, "--num-experts",
			"parameters are counted, times are not modelled", NULL});
	if (megatron_batch(&batch, m, &err)) {
		const char *const parallel = m->pipeline > 1 ? "--pipeline-model-parallel-size"
		    : m->context > 1                       ? "--context-parallel-size"
		    : m->expert > 1                        ? "--expert-model-parallel-size"
							   : NULL;
		traps_add(traps,
		    (struct trap){!parallel, parallel ? "not-modelled" : "batch-sizes", file->name,
			parallel ? parallel : "--global-batch-size", traps_text(traps, "%s", err.text), NULL});
	}
	if (m->tensor > 1 && m->has_sequence_parallel)
		traps_add(traps,
		    (struct trap){false, "sequence-parallel", file->name, "--sequence-parallel",
			"activations are counted as without it: it takes less memory than is said", NULL});
	check_offload(traps, file);
}
