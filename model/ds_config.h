/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ds_config: a DeepSpeed configuration, as far as time and memory depend on it.
 *
 * Every value knows whether it is given, absent (it then has DeepSpeed's default) or "auto" (then unknown, and its default
 * stands in). Comments and commas too many are accepted and reported. Keys that DeepSpeed does not know are listed, not refused.
 * Source: DeepSpeed 0.19.6, runtime/zero/config.py, offload_config.py, zenflow_config.py, runtime/constants.py; the last three
 * of offload_optimizer are of the published fork of Deep Optimizer States.
 */
#ifndef MODEL_DS_CONFIG_H
#define MODEL_DS_CONFIG_H

#include "model/base/json.h"
#include "model/base/json_relax.h"
#include "model/workload.h"

enum ds_kind { DS_FLAG, DS_COUNT, DS_NUMBER };

#define DS_ZERO "zero_optimization/"
#define DS_OPT DS_ZERO "offload_optimizer/"
#define DS_PARAM DS_ZERO "offload_param/"
#define DS_ZEN DS_ZERO "zenflow/"

/* member, path, kind, least, most, default (0 of the batch sizes: follows from the others) */
#define DS_VALUES(X) \
	X(train_batch_size, "train_batch_size", DS_COUNT, 1, 1e9, 0) \
	X(micro_batch, "train_micro_batch_size_per_gpu", DS_COUNT, 1, 1e6, 0) \
	X(grad_accum, "gradient_accumulation_steps", DS_COUNT, 1, 1e6, 0) \
	X(gradient_clipping, "gradient_clipping", DS_NUMBER, 0, 1e9, 0) \
	X(wall_clock_breakdown, "wall_clock_breakdown", DS_FLAG, 0, 1, 0) \
	X(memory_breakdown, "memory_breakdown", DS_FLAG, 0, 1, 0) \
	X(bf16, "bf16/enabled", DS_FLAG, 0, 1, 0) \
	X(fp16, "fp16/enabled", DS_FLAG, 0, 1, 0) \
	X(cpu_checkpointing, "activation_checkpointing/cpu_checkpointing", DS_FLAG, 0, 1, 0) \
	X(stage, DS_ZERO "stage", DS_COUNT, 0, 3, 0) \
	X(contiguous_gradients, DS_ZERO "contiguous_gradients", DS_FLAG, 0, 1, 1) \
	X(overlap_comm, DS_ZERO "overlap_comm", DS_FLAG, 0, 1, 0) \
	X(reduce_scatter, DS_ZERO "reduce_scatter", DS_FLAG, 0, 1, 1) \
	X(reduce_bucket, DS_ZERO "reduce_bucket_size", DS_COUNT, 0, 1e15, 5e8) \
	X(allgather_bucket, DS_ZERO "allgather_bucket_size", DS_COUNT, 0, 1e15, 5e8) \
	X(sub_group, DS_ZERO "sub_group_size", DS_COUNT, 0, 1e15, 1e9) \
	X(prefetch_bucket, DS_ZERO "stage3_prefetch_bucket_size", DS_COUNT, 0, 1e15, 5e7) \
	X(persistence_threshold, DS_ZERO "stage3_param_persistence_threshold", DS_COUNT, 0, 1e15, 1e5) \
	X(max_live, DS_ZERO "stage3_max_live_parameters", DS_COUNT, 0, 1e15, 1e9) \
	X(max_reuse, DS_ZERO "stage3_max_reuse_distance", DS_COUNT, 0, 1e15, 1e9) \
	X(round_robin, DS_ZERO "round_robin_gradients", DS_FLAG, 0, 1, 0) \
	X(legacy_optimizer, DS_ZERO "cpu_offload", DS_FLAG, 0, 1, 0) \
	X(legacy_param, DS_ZERO "cpu_offload_param", DS_FLAG, 0, 1, 0) \
	X(legacy_params, DS_ZERO "cpu_offload_params", DS_FLAG, 0, 1, 0) \
	X(legacy_pin, DS_ZERO "cpu_offload_use_pin_memory", DS_FLAG, 0, 1, 0) \
	X(param_buffer_count, DS_PARAM "buffer_count", DS_COUNT, 0, 1e9, 5) \
	X(param_buffer, DS_PARAM "buffer_size", DS_COUNT, 0, 1e15, 1e8) \
	X(param_max_in_cpu, DS_PARAM "max_in_cpu", DS_COUNT, 0, 1e15, 1e9) \
	X(param_pin, DS_PARAM "pin_memory", DS_FLAG, 0, 1, 0) \
	X(buffer_count, DS_OPT "buffer_count", DS_COUNT, 0, 1e9, 4) \
	X(pin, DS_OPT "pin_memory", DS_FLAG, 0, 1, 0) \
	X(pipeline_read, DS_OPT "pipeline_read", DS_FLAG, 0, 1, 0) \
	X(pipeline_write, DS_OPT "pipeline_write", DS_FLAG, 0, 1, 0) \
	X(fast_init, DS_OPT "fast_init", DS_FLAG, 0, 1, 0) \
	X(ratio, DS_OPT "ratio", DS_NUMBER, 0, 1, 1) \
	X(super_offload, DS_OPT "super_offload", DS_FLAG, 0, 1, 0) \
	X(cpuadam_cores, DS_OPT "cpuadam_cores_perc", DS_NUMBER, 0, 1, 0.8) \
	X(fork_prefetch, DS_OPT "prefetch_optimizer", DS_FLAG, 0, 1, 0) \
	X(fork_async, DS_OPT "part_grads_async", DS_FLAG, 0, 1, 0) \
	X(fork_stride, DS_OPT "prefetch_optimizer_gap", DS_COUNT, 0, 1e7, 0) \
	X(zenflow_topk, DS_ZEN "topk_ratio", DS_NUMBER, 0, 1, 0.1) \
	X(zenflow_update_interval, DS_ZEN "update_interval", DS_COUNT, 1, 1e9, 1) \
	X(zenflow_overlap_step, DS_ZEN "overlap_step", DS_FLAG, 0, 1, 0)

struct ds_value {
	double value; /* flags: 0 or 1 */
	bool is_given; /* in the file, and not "auto" */
	bool is_auto;
};

enum ds_device { DS_DEVICE_NONE, DS_DEVICE_CPU, DS_DEVICE_NVME };

struct ds_unknown {
	const char *path; /* "/zero_optimization/sub_group_sise" */
	const char *nearest; /* NULL: none is near */
};

struct ds_config {
#define DS_MEMBER(member, path, kind, least, most, fallback) struct ds_value member;
	DS_VALUES(DS_MEMBER)
#undef DS_MEMBER
	enum ds_device optimizer_device, param_device; /* legacy keys included */
	bool has_optimizer_object, has_zenflow;
	bool is_oldest; /* "zero_optimization": true */
	struct ds_unknown *unknown;
	size_t n_unknown;
	struct json_relaxed relaxed; /* what had to be overlooked */
};

bool ds_config_is(const json_node *root);
int ds_config_read(struct ds_config *config, const struct json_doc *doc, struct arena *arena, struct err *err) MUST_CHECK;
/* Relaxes a copy of the text first. */
int ds_config_parse(struct ds_config *config, const char *name, const char *text, size_t n_bytes, struct arena *arena,
    struct err *err) MUST_CHECK;
int ds_config_load(struct ds_config *config, const char *path, struct arena *arena, struct err *err) MUST_CHECK;

/* The partition of stages 1 and 2 is one group. */
#define DS_ONE_GROUP_PARAMS 1e15
/* Stage 1 or 2, which have neither sub_group_size nor ratio. */
bool ds_config_is_early_stage(const struct ds_config *config);
/* micro_batch x grad_accum x dp = train_batch_size: fills what follows. False when the given ones contradict that or a
 * quotient is no whole number. What stays unknown is 0. */
bool ds_config_batch_sizes(double *train, double *micro, double *accum, const struct ds_config *config, double dp);
/* Into a batch: mbs, grad_accum, subgroup, precision and stage; the rest is kept. The optimizer of stages 1 and 2 updates its whole
 * partition at once, so the subgroup is then above any partition (sub_group_size acts with stage 3). STATUS_USAGE when the sizes
 * contradict each other. */
int ds_config_batch(struct batch *batch, const struct ds_config *config, struct err *err) MUST_CHECK;
/* SPEC of the policy that this configuration asks for. What is not modelled is refused by name (STATUS_USAGE). */
int ds_config_policy(const char **spec, const struct ds_config *config, struct arena *arena, struct err *err) MUST_CHECK;

#endif
