/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/interleave.h"

const char *const chain_names[] = {"published", "serial", "duplex", NULL};
const char *const downscale_names[] = {"batch", "eager", "fused", "split", NULL};

bool downscale_is_a_pass(enum downscale downscale)
{
	return downscale == DOWNSCALE_BATCH || downscale == DOWNSCALE_EAGER;
}

double downscale_state_bytes(enum downscale downscale)
{
	return downscale == DOWNSCALE_SPLIT ? 10 : 12; /* E34 */
}

bool interleave_is_streamed(const struct interleave *how, size_t x)
{
	if (!how->waits_for_fetch)
		return how->on_gpu && how->on_gpu[x];
	return how->stride > 0 && (x + 1) % how->stride == 0;
}

size_t interleave_n_buffers(const struct interleave *how)
{
	return how->chain == CHAIN_DUPLEX && how->buffers > 1 ? how->buffers : 1;
}

size_t interleave_n_copies(const struct interleave *how)
{
	return how->chain == CHAIN_PUBLISHED ? 3 : 1;
}

double interleave_copy_bytes(const struct interleave *how, double n_params)
{
	return downscale_state_bytes(how->downscale) * n_params / (double)interleave_n_copies(how);
}

enum op_kind interleave_adam_kind(const struct interleave *how)
{
	if (how->downscale == DOWNSCALE_SPLIT)
		return how->has_bf16_grads ? OP_CPU_ADAM_SPLIT_BF16 : OP_CPU_ADAM_SPLIT;
	if (how->downscale == DOWNSCALE_FUSED)
		return how->has_bf16_grads ? OP_CPU_ADAM_FUSED_BF16 : OP_CPU_ADAM_FUSED;
	return how->has_bf16_grads ? OP_CPU_ADAM_BF16 : OP_CPU_ADAM;
}

enum op_kind interleave_gpu_adam_kind(const struct interleave *how)
{
	return how->downscale == DOWNSCALE_SPLIT ? OP_GPU_ADAM_SPLIT : OP_GPU_ADAM;
}

static bool has_unscale(const struct interleave *how)
{
	return how->has_separate_unscale && !how->has_bf16_grads;
}

double interleave_cpu_s(const struct interleave *how, const struct cost *cost, double n_params)
{
	const double unscale_s = has_unscale(how) ? cost_op_s(cost, OP_CPU_UNSCALE, n_params) : 0;
	return cost->hw->cpu_subgroup_s + unscale_s + cost_op_s(cost, interleave_adam_kind(how), n_params);
}

/* DRAM bytes of one operation: what it asks at its alone speed, for as long as it takes alone. */
static double dram_bytes(const struct cost *cost, enum op_kind kind, double amount)
{
	return cost->classes[kind].dram_Bps * cost_op_s(cost, kind, amount);
}

static double root_bytes(const struct cost *cost, enum op_kind kind, double amount)
{
	return cost->classes[kind].root_Bps * cost_op_s(cost, kind, amount);
}

static void set_traffic(
    struct subgroup_times *times, const struct interleave *how, const struct cost *cost, double n_params)
{
	const double copy_bytes = interleave_copy_bytes(how, n_params);
	times->cpu_dram_bytes =
	    dram_bytes(cost, interleave_adam_kind(how), n_params) + dram_bytes(cost, OP_H2D, 2 * n_params);
	if (has_unscale(how))
		times->cpu_dram_bytes += dram_bytes(cost, OP_CPU_UNSCALE, n_params);
	if (downscale_is_a_pass(how->downscale))
		times->cpu_dram_bytes += dram_bytes(cost, OP_CPU_DOWNSCALE, n_params);
	times->gpu_dram_bytes =
	    times->n_copies * (dram_bytes(cost, OP_H2D, copy_bytes) + dram_bytes(cost, OP_D2H, copy_bytes));
	times->cpu_root_bytes = root_bytes(cost, OP_H2D, 2 * n_params);
	times->gpu_root_bytes =
	    times->n_copies * (root_bytes(cost, OP_H2D, copy_bytes) + root_bytes(cost, OP_D2H, copy_bytes));
}

void subgroup_times_init(
    struct subgroup_times *times, const struct interleave *how, const struct cost *cost, double n_params)
{
	const double copy_bytes = interleave_copy_bytes(how, n_params);
	*times = (struct subgroup_times){
	    .cpu_s = interleave_cpu_s(how, cost, n_params),
	    .overhead_s = cost->hw->cpu_subgroup_s,
	    .unscale_s = has_unscale(how) ? cost_op_s(cost, OP_CPU_UNSCALE, n_params) : 0,
	    .stream_s = how->waits_for_fetch ? cost->hw->stream_subgroup_s : 0,
	    .downscale_s = downscale_is_a_pass(how->downscale) ? cost_op_s(cost, OP_CPU_DOWNSCALE, n_params) : 0,
	    .push_s = cost_op_s(cost, OP_H2D, 2 * n_params),
	    .fetch_s = cost_op_s(cost, OP_H2D, copy_bytes),
	    .write_back_s = cost_op_s(cost, OP_D2H, copy_bytes),
	    .n_copies = (double)interleave_n_copies(how),
	    .gpu_adam_s = cost_op_s(cost, interleave_gpu_adam_kind(how), n_params),
	    .gpu_cast_s = how->downscale == DOWNSCALE_SPLIT ? 0 : cost_op_s(cost, OP_GPU_CAST, n_params),
	};
	set_traffic(times, how, cost, n_params);
}
