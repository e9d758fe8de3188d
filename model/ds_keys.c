/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/ds_keys.h"

#include <stddef.h>

static const char *const root_keys[] = {"activation_checkpointing", "aio", "amp", "autotuning", "bf16", "bfloat16",
    "checkpoint", "comms_logger", "communication_data_type", "compile", "compression_training", "csv_monitor",
    "curriculum_learning", "data_efficiency", "data_types", "dataloader_drop_last", "disable_allgather", "dump_state",
    "eigenvalue", "elasticity", "flops_profiler", "fp16", "fp32_allreduce", "gradient_accumulation_steps",
    "gradient_clipping", "gradient_predivide_factor", "graph_harvesting", "hybrid_engine", "load_universal",
    "memory_breakdown", "nebula", "optimizer", "pipeline", "prescale_gradients", "progressive_layer_drop",
    "quantize_training", "scheduler", "seq_parallel_communication_data_type", "seq_parallel_comm_data_type",
    "sequence_parallel_size", "sparse_attention", "sparse_gradients", "steps_per_print", "tensor_parallel", "tensorboard",
    "timers", "torch_autocast", "train_batch_size", "train_micro_batch_size_per_gpu", "use_data_before_expert_parallelism",
    "vocabulary_size", "wall_clock_breakdown", "wandb", "comet", "weight_quantization", "zero_allow_untested_optimizer",
    "zero_force_ds_cpu_optimizer", "zero_optimization", "allgather_size", "checkpoint_engine", "communicator", NULL};

static const char *const zero_keys[] = {"stage", "allgather_bucket_size", "allgather_partitions", "contiguous_gradients",
    "cpu_offload", "cpu_offload_param", "cpu_offload_params", "cpu_offload_use_pin_memory", "elastic_checkpoint",
    "enable_sanity_checks", "gather_16bit_weights_on_model_save", "ignore_unused_parameters", "leaf_module",
    "legacy_stage1", "load_from_fp32_weights", "log_trace_cache_warnings", "max_live_parameters", "max_reuse_distance",
    "memory_efficient_linear", "mics_hierarchical_params_gather", "mics_shard_size", "model_persistence_threshold",
    "module_granularity_threshold", "offload_optimizer", "offload_param", "overlap_comm", "override_module_apply",
    "param_persistence_threshold", "pipeline_loading_checkpoint", "prefetch_bucket_size", "reduce_bucket_size",
    "reduce_scatter", "round_robin_gradients", "save_muon_momentum_buffer_in_memory", "stage3_allgather_sequential",
    "stage3_gather_16bit_weights_on_model_save", "stage3_gather_fp16_weights_on_model_save", "stage3_max_live_parameters",
    "stage3_max_reuse_distance", "stage3_model_persistence_threshold", "stage3_module_granularity_threshold",
    "stage3_param_persistence_threshold", "stage3_partition_stream_chunk_size", "stage3_prefetch_bucket_size",
    "stage3_use_all_reduce_for_fetch_params", "sub_group_size", "use_all_reduce_for_fetch_params",
    "use_multi_rank_bucket_allreduce", "zenflow", "zero_hpz_partition_size", "zero_quantized_gradients",
    "zero_quantized_nontrainable_weights", "zero_quantized_weights", "zeropp_loco_param", NULL};

static const char *const param_keys[] = {
    "device", "nvme_path", "buffer_count", "buffer_size", "max_in_cpu", "pin_memory", NULL};

static const char *const optimizer_keys[] = {"device", "nvme_path", "buffer_count", "pin_memory", "pipeline",
    "pipeline_read", "pipeline_write", "fast_init", "ratio", "super_offload", "convert_grad_on_cpu", "cpuadam_cores_perc",
    "prefetch_optimizer", "part_grads_async", "prefetch_optimizer_gap", NULL};

static const char *const zenflow_keys[] = {"topk_ratio", "select_strategy", "select_interval", "update_interval",
    "overlap_step", "offload", "auto_ratio", "full_warm_up_rounds", "pt_reserved_cores_perc", "steps_per_epoch", NULL};

static const char *const bf16_keys[] = {"enabled", "immediate_grad_update", "check_grad_overflow",
    "bf16_master_weights_and_grads", "bf16_optimizer_states", "auto_cast", "loss_scale", "initial_scale_power",
    "loss_scale_window", "hysteresis", "min_loss_scale", NULL};

static const char *const fp16_keys[] = {"enabled", "auto_cast", "loss_scale", "initial_scale_power", "loss_scale_window",
    "hysteresis", "consecutive_hysteresis", "min_loss_scale", "fused_mode", "fp16_master_weights_and_grads", "opt_level",
    NULL};

const struct ds_object ds_objects[] = {
    {"", root_keys},
    {"zero_optimization", zero_keys},
    {"zero_optimization/offload_param", param_keys},
    {"zero_optimization/offload_optimizer", optimizer_keys},
    {"zero_optimization/zenflow", zenflow_keys},
    {"bf16", bf16_keys},
    {"fp16", fp16_keys},
    {NULL, NULL},
};
