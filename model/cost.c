/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/cost.h"

#include <math.h>
#include <string.h>

#include "model/split.h"

const char *const res_names[RES_N + 1] = {
#define RES_TEXT(name, text) text,
	RES_LIST(RES_TEXT)
#undef RES_TEXT
	NULL};

const char *const lane_names[LANE_N] = {
#define LANE_TEXT(name, text) text,
	LANE_LIST(LANE_TEXT)
#undef LANE_TEXT
};

const char *const op_names[OP_N] = {
#define OP_TEXT(name, lane, unit, res, text) text,
	OP_LIST(OP_TEXT)
#undef OP_TEXT
};

static const struct op_class op_class_base[OP_N] = {
#define OP_CLASS(name, on_lane, of_unit, by_res, text)                                                                   \
	[OP_##name] = {.lane = LANE_##on_lane, .unit = UNIT_##of_unit, .res = RES_##by_res, .weight = 1, .duplex_frac = 1},
	OP_LIST(OP_CLASS)
#undef OP_CLASS
};

/* DRAM bytes per parameter that a plain fp32 Adam step moves: reads P, M, V, G and writes P, M, V. */
static const double adam_ideal_bytes = 28;

/* A CPU kernel of a team: alone speed from its curve, DRAM traffic at that speed. */
static void set_cpu(struct op_class *class, double params_per_s, double bytes_per_param, double host_threads)
{
	class->s_per_unit = 1 / params_per_s;
	class->dram_Bps = class->dram_load_Bps = bytes_per_param * params_per_s;
	class->latency_frac = 1;
	class->host_threads = host_threads;
}

/* The six variants of CPU Adam. 16-bit gradients read 2 bytes less, a 16-bit output writes 2 more, split masters are as many bytes as
 * whole ones and their own 16-bit output; the profile's effective bytes of the plain step scale with them. */
static void set_adam(struct cost *cost, const struct hwprofile *hw)
{
	const double scale = hw->cpu_adam_bytes_per_param / adam_ideal_bytes;
	const double plain = curve_rate(&hw->cpu_adam, cost->threads);
	const double fused = curve_rate(hw->cpu_adam_fused.n_points ? &hw->cpu_adam_fused : &hw->cpu_adam, cost->threads);
	const double split = hw->cpu_adam_split.n_points ? curve_rate(&hw->cpu_adam_split, cost->threads) : fused * 28 / 26; /* E34 */
	set_cpu(&cost->classes[OP_CPU_ADAM], plain, scale * 28, cost->threads);
	set_cpu(&cost->classes[OP_CPU_ADAM_BF16], plain, scale * 26, cost->threads);
	set_cpu(&cost->classes[OP_CPU_ADAM_FUSED], fused, scale * 30, cost->threads);
	set_cpu(&cost->classes[OP_CPU_ADAM_FUSED_BF16], fused, scale * 28, cost->threads);
	set_cpu(&cost->classes[OP_CPU_ADAM_SPLIT], split, scale * 28, cost->threads);
	set_cpu(&cost->classes[OP_CPU_ADAM_SPLIT_BF16], split, scale * 26, cost->threads);
}

static void set_host(struct cost *cost, const struct hwprofile *hw)
{
	set_adam(cost, hw);
	const double unscale = hw->cpu_unscale.n_points
	    ? curve_rate(&hw->cpu_unscale, cost->threads)
	    : curve_rate(&hw->cpu_adam, cost->threads) * adam_ideal_bytes / 8;
	set_cpu(&cost->classes[OP_CPU_UNSCALE], unscale, hw->cpu_unscale_bytes_per_param, cost->threads);
	set_cpu(&cost->classes[OP_CPU_DOWNSCALE], curve_rate(&hw->cpu_downscale, cost->workers),
	    hw->cpu_downscale_bytes_per_param, cost->workers);
	cost->classes[OP_CPU_DOWNSCALE].latency_frac = hw->downscale_latency_frac;
	set_cpu(&cost->classes[OP_PUSH_PAGEABLE], hw->push_pageable_params_per_s, hw->push_pageable_bytes_per_param,
	    cost->threads);
	set_cpu(&cost->classes[OP_FLUSH_PAGEABLE], hw->flush_pageable_params_per_s, hw->flush_pageable_bytes_per_param, 1);
	cost->classes[OP_HOST].s_per_unit = 1;
	cost->classes[OP_HOST].host_threads = 1;
	cost->classes[OP_LAUNCH] = cost->classes[OP_HOST];
	cost->classes[OP_SYNC].host_threads = hw->spin_wait > 0 ? 1 : 0;
}

static void set_copy(
    struct op_class *class, const struct hwprofile *hw, const struct curve *curve, double duplex_Bps, double weight)
{
	const double peak_Bps = curve_peak(curve);
	class->transfer = curve;
	class->dram_Bps = class->dram_load_Bps = peak_Bps * hw->dram_bytes_per_dma_byte;
	class->hbm_Bps = peak_Bps;
	class->root_Bps = peak_Bps;
	class->weight = weight > 0 ? weight : hw->dma_weight;
	class->duplex_frac = fmin(1, duplex_Bps / peak_Bps); /* E5 */
}

static void set_copy_latency(struct op_class *class, double load, double latency_frac)
{
	class->dram_load_Bps = load * class->dram_Bps;
	class->latency_frac = latency_frac;
}

/* HBM bytes per parameter: Adam reads and writes P, M, V (24), reads a gradient (4 as fp32), writes 16 bit (2). On split masters P is
 * the 16 bit, and the gradient is 2: as fast by the byte. */
static void set_gpu(struct cost *cost, const struct hwprofile *hw)
{
	struct op_class *const adam = &cost->classes[OP_GPU_ADAM], *const cast = &cost->classes[OP_GPU_CAST];
	struct op_class *const norm = &cost->classes[OP_GPU_NORM];
	adam->s_per_unit = 1 / hw->gpu_adam_params_per_s;
	adam->hbm_Bps = fmin(30 * hw->gpu_adam_params_per_s, hw->hbm_Bps);
	cost->classes[OP_GPU_ADAM_SPLIT].s_per_unit = adam->s_per_unit * 26 / 30; /* E34 */
	cost->classes[OP_GPU_ADAM_SPLIT].hbm_Bps = adam->hbm_Bps;
	cast->s_per_unit = 6 / hw->hbm_Bps;
	cast->hbm_Bps = hw->hbm_Bps;
	norm->s_per_unit = 2 / hw->hbm_Bps;
	norm->hbm_Bps = hw->hbm_Bps;
	cost->classes[OP_COMPUTE].s_per_unit = 1;
}

/* A ring through all ranks is as slow as its slowest link, and its latencies add up. Those of one node are in its measured rates. E25 */
static void set_collectives(struct cost *cost, const struct hwprofile *hw, const struct batch *batch)
{
	struct op_class *const gather = &cost->classes[OP_GATHER], *const reduce = &cost->classes[OP_REDUCE];
	const double n_ranks = batch_dp(batch), reduce_bytes_per_param = 2 * (n_ranks - 1) / n_ranks;
	gather->s_per_unit = 1 / hw->all_gather_Bps;
	cost->classes[OP_TP_REDUCE].s_per_unit = 1 / hw->all_gather_Bps; /* within a node */
	reduce->s_per_unit = 1 / hw->reduce_params_per_s;
	cost->ranks_per_node = batch->gpus;
	cost->network_Bps = batch->nodes > 1 ? hw->network_Bps : 0;
	if (batch->nodes <= 1)
		return;
	const double tp = batch_tp(batch), ring_gpus = batch->gpus / tp; /* tp rings, each with so many GPUs of a node */
	gather->s_per_unit = fmax(ring_gpus > 1 ? gather->s_per_unit : 0, tp / hw->network_Bps);
	reduce->s_per_unit = fmax(reduce->s_per_unit, tp * reduce_bytes_per_param / hw->network_Bps);
	gather->network_Bps = tp / gather->s_per_unit / batch->gpus;
	reduce->network_Bps = tp * reduce_bytes_per_param / reduce->s_per_unit / batch->gpus;
	gather->latency_s = reduce->latency_s =
	    (batch->nodes - 1) * (hw->network_latency_s + (ring_gpus - 1) * hw->ring_latency_s);
}

/* One GEMM of m x k by k x n, n_batch of them in one launch. */
static double gemm_s(const struct hwprofile *hw, double m, double n, double k, double n_batch)
{
	const double flop = 2 * m * n * k * n_batch;
	return flop > 0 ? flop / curve_rate(&hw->gemm, cbrt(m * n * k * n_batch)) : 0;
}

/* E6: forward of one layer and one micro-batch on the GPU; backward does every GEMM twice. Tensor parallelism divides what E29 says. */
static void set_layers(struct cost *cost, const struct hwprofile *hw, const struct workload *workload)
{
	const struct shape *const shape = &workload->shape;
	const double tokens = workload->batch.mbs * workload->batch.seq, seq = workload->batch.seq;
	const double tp = batch_tp(&workload->batch), heads = shape->heads / tp, ffn = shape->ffn / tp, vocab = shape->vocab / tp;
	const double q = heads * shape->head_dim, kv = shape->kv_heads / tp * shape->head_dim;
	const double n_up = shape->arch == ARCH_LLAMA ? 2 : 1;
	const double linear_s = gemm_s(hw, tokens, q + 2 * kv, shape->hidden, 1) + gemm_s(hw, tokens, shape->hidden, q, 1) +
	    gemm_s(hw, tokens, n_up * ffn, shape->hidden, 1) + gemm_s(hw, tokens, shape->hidden, ffn, 1);
	const double attention_s = 2 * gemm_s(hw, seq, seq, shape->head_dim, heads * workload->batch.mbs);
	const double scores = workload->batch.mbs * heads * seq * seq;
	const double activation_bytes = 2 * tokens * (2 * shape->hidden + q + 2 * kv + (n_up + 1) * ffn);
	const double memory_s = (hw->softmax_bytes_per_score * scores + hw->elementwise_passes * activation_bytes) / hw->hbm_Bps;
	cost->layer_forward_s = linear_s + attention_s + memory_s;
	cost->layer_backward_s = 2 * cost->layer_forward_s;
	/* head: GEMM, then loss over fp32 logits (about 5 passes of 4 bytes) */
	cost->head_forward_s = gemm_s(hw, tokens, vocab, shape->hidden, 1) + 20 * tokens * vocab / hw->hbm_Bps;
	cost->head_backward_s = 2 * cost->head_forward_s;
}

/* Distance of a measured team size from the one used, in octaves. */
static double team_distance(double measured, double used)
{
	return fabs(log2(measured / used));
}

/* Adam beside the downscale worker: the cell of the contention grid with the nearest teams, if there is one within an octave in
 * all. A measured pair replaces the rule of E4: siblings and cache make both slower than free cores promise. With E32 the constants
 * that were fitted to the grid say so. */
static void set_corun(struct cost *cost, const struct hwprofile *hw)
{
	double best = 1;
	cost->corun_adam_frac = cost->corun_downscale_frac = 0;
	for (size_t i = 0; i < hw->n_corun && hw->dram_latency_Bps <= 0; i++) {
		const struct hw_corun *const cell = &hw->corun[i];
		if (cell->ranks > 1 || strcmp(cell->first, "cpu_adam") != 0 || strcmp(cell->second, "cpu_downscale") != 0)
			continue;
		const double distance =
		    team_distance(cell->first_threads, cost->threads) + team_distance(cell->second_threads, cost->workers);
		if (distance >= best)
			continue;
		best = distance;
		cost->corun_adam_frac = fmin(1, cell->first_together / cell->first_alone);
		cost->corun_downscale_frac = fmin(1, cell->second_together / cell->second_alone);
	}
}

void cost_init(struct cost *cost, const struct hwprofile *hw, const struct workload *workload, double threads, double workers)
{
	memcpy(cost->classes, op_class_base, sizeof cost->classes);
	cost->hw = hw;
	cost->threads = threads > 0 ? threads : hw->threads;
	cost->workers = workers > 0 ? workers : hw->workers;
	set_host(cost, hw);
	set_copy(&cost->classes[OP_H2D], hw, &hw->h2d, hw->h2d_duplex_Bps, hw->h2d_weight);
	set_copy(&cost->classes[OP_D2H], hw, &hw->d2h, hw->d2h_duplex_Bps, hw->d2h_weight);
	if (hw->dram_latency_Bps > 0) {
		set_copy_latency(&cost->classes[OP_H2D], hw->h2d_dram_load, hw->h2d_latency_frac);
		set_copy_latency(&cost->classes[OP_D2H], hw->d2h_dram_load, hw->d2h_latency_frac);
	}
	set_gpu(cost, hw);
	set_collectives(cost, hw, &workload->batch);
	cost->dram_Bps = hw->dram_Bps;
	cost->dram_limit_Bps = hw->dram_latency_Bps > 0 ? hw->dram_latency_Bps : hw->dram_Bps;
	cost->ranks_per_domain = ceil(workload->batch.gpus / hw->numa_domains);
	cost->root_Bps = hw->pcie_root_Bps;
	cost->ranks_per_root = fmin(workload->batch.gpus, hw->gpus_per_pcie_root);
	cost->hw_threads = hw->hw_threads_per_rank;
	set_corun(cost, hw);
	cost->layer_forward_s = cost->layer_backward_s = cost->head_forward_s = cost->head_backward_s = 0;
	if (!workload->is_update_only)
		set_layers(cost, hw, workload);
}

double cost_op_s(const struct cost *cost, enum op_kind kind, double amount)
{
	const struct op_class *const class = &cost->classes[kind];
	if (amount <= 0)
		return 0;
	if (class->transfer)
		return amount / curve_rate(class->transfer, amount); /* E2 */
	return class->s_per_unit * amount + class->latency_s; /* E1, E25 */
}

/* Speed of the slowest of n_runnable threads spread over the rank's cores, relative to one thread alone on a core. E4 */
static double thread_speed(const struct cost *cost, double n_runnable)
{
	const double n_cores = cost->hw_threads / cost->hw->threads_per_core;
	if (n_runnable <= n_cores)
		return 1;
	const double sibling_speed = cost->hw->threads_per_core > 1 ? cost->hw->smt_gain / cost->hw->threads_per_core : 1;
	return sibling_speed / fmax(1, ceil(n_runnable / cost->hw_threads));
}

double cost_core_frac(const struct cost *cost, double n_runnable, double n_threads_op)
{
	return n_runnable > n_threads_op ? thread_speed(cost, n_runnable) / thread_speed(cost, n_threads_op) : 1; /* E4 */
}
