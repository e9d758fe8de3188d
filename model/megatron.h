/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * megatron: the shape and batch that Megatron arguments describe: a command line, a script or a file of arguments
 * ("--num-layers 32 .."), or the list that a run logs ("  num_layers ........ 32").
 *
 * Shell variables that the text assigns plainly (NAME=value) are put in; whatever else a shell would do is not done. Arguments
 * that shape and batch do not depend on are not looked at. What is absent has Megatron's default. Failures are STATUS_INPUT
 * and name file and line.
 * Source: NVIDIA/Megatron-LM megatron/training/arguments.py and core/optimizer/optimizer_config.py; Megatron-DeepSpeed.
 */
#ifndef MODEL_MEGATRON_H
#define MODEL_MEGATRON_H

#include "model/workload.h"

struct megatron {
	struct shape shape; /* vocab padded; 0: not given */
	double seq, micro_batch, global_batch; /* 0: not given */
	double world; /* GPUs, 0: not given */
	double tensor, pipeline, context, expert; /* parallel sizes */
	bool has_precision;
	enum precision precision;
	bool has_checkpointing;
	bool has_distributed_optimizer; /* ZeRO-1 */
	bool has_sequence_parallel;
	bool has_deepspeed; /* Megatron-DeepSpeed: the optimizer is in its ds_config */
	bool has_offload, is_overlapped, is_precision_aware, is_unpinned;
	double offload_frac; /* share of the states on the host */
	bool is_log;
};

/* True when the text has arguments or a log of them. */
bool megatron_is(const char *text, size_t n_bytes);
int megatron_parse(struct megatron *megatron, const char *name, const char *text, size_t n_bytes, struct arena *arena,
    struct err *err) MUST_CHECK;

/* Pipeline, context and expert parallelism are not modelled: refused by name (STATUS_USAGE). Into a batch: the tensor-parallel degree,
 * and stage 1 of the distributed optimizer, where they are 0 there. */
int megatron_parallel(struct batch *batch, const struct megatron *megatron, struct err *err) MUST_CHECK;
/* Into a batch besides: mbs, grad_accum, seq, precision, checkpointing, and gpus where they are 0 there. STATUS_USAGE also for a global
 * batch that is no multiple. */
int megatron_batch(struct batch *batch, const struct megatron *megatron, struct err *err) MUST_CHECK;

struct megatron_recommendation {
	double micro_batch, global_batch, seq; /* 0: not said */
	double tensor; /* parallel size; 1 is not said */
	bool has_checkpointing;
	enum precision precision;
	double offload_frac; /* of the states, on the host; 0: none */
	bool is_overlapped; /* copies beside the CPU's update */
	bool is_unpinned;
};
/* Its flags, each with its value, with `separator` between flags. */
const char *megatron_flags(const struct megatron_recommendation *what, const char *separator, struct arena *arena);

#endif
