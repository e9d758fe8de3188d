/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/plain_machine.h"

#include <math.h>
#include <string.h>

#include "model/stride_curve.h"

void plain_curve(struct curve *curve, enum curve_kind kind, double rate)
{
	*curve = (struct curve){.kind = kind, .n_points = 1, .x = {1}, .rate = {rate}};
	if (kind == CURVE_TRANSFER) { /* below the first point a copy would take as long as there */
		curve->x[0] = 1e-3;
	}
}

static void set_defaults(struct hwprofile *hw, const struct hw_field *fields, size_t n_fields)
{
	for (size_t i = 0; i < n_fields; i++) {
		const double value = isnan(fields[i].fallback) ? 1 : fields[i].fallback;
		memcpy((char *)hw + fields[i].offset, &value, sizeof value);
	}
}

void plain_machine(struct hwprofile *hw)
{
	memset(hw, 0, sizeof *hw);
	set_defaults(hw, hw_node_fields, hw_n_node_fields);
	set_defaults(hw, hw_value_fields, hw_n_value_fields);
	hw->hw_threads_per_rank = 16;
	hw->threads = 8;
	hw->dram_Bps = 200e9;
	hw->h2d_duplex_Bps = hw->d2h_duplex_Bps = 40e9;
	hw->hbm_Bps = 3000e9;
	hw->gpu_adam_params_per_s = 100e9;
	hw->push_pageable_params_per_s = 5e9;
	hw->flush_pageable_params_per_s = 2e9;
	hw->gpu_flop_per_s = 100e12;
	hw->host_memory_bytes = hw->gpu_memory_bytes = 1e12;
	plain_curve(&hw->h2d, CURVE_TRANSFER, 50e9);
	plain_curve(&hw->d2h, CURVE_TRANSFER, 50e9);
	plain_curve(&hw->cpu_adam, CURVE_THREADS, 2.5e9);
	plain_curve(&hw->cpu_unscale, CURVE_THREADS, 10e9);
	plain_curve(&hw->cpu_downscale, CURVE_THREADS, 5e9);
	plain_curve(&hw->gemm, CURVE_SIZE, 100e12);
}

void plain_subgroups(struct subgroup *subgroups, size_t n_subgroups, double n_params)
{
	for (size_t x = 0; x < n_subgroups; x++)
		subgroups[x].n_params = n_params;
}

void plain_update(struct workload *workload, struct subgroup *subgroups, size_t n_subgroups)
{
	*workload = (struct workload){.subgroups = subgroups, .n_subgroups = n_subgroups, .is_update_only = true};
	workload->batch =
	    (struct batch){.gpus = 1, .mbs = 1, .grad_accum = 1, .seq = 1, .n_subgroups = (double)n_subgroups};
	for (size_t x = 0; x < n_subgroups; x++) {
		workload->rank_params += subgroups[x].n_params;
		workload->max_subgroup_params = fmax(workload->max_subgroup_params, subgroups[x].n_params);
	}
	workload->n_params = workload->tp_params = workload->rank_params;
}

void plain_refresh(struct plain *plain)
{
	const double gpus = plain->workload.batch.gpus;
	plain_update(&plain->workload, plain->subgroups, plain->workload.n_subgroups);
	plain->workload.batch.gpus = fmax(1, gpus);
	cost_init(&plain->cost, &plain->hw, &plain->workload, 0, 0);
}

void plain_set(struct plain *plain, size_t n_subgroups)
{
	plain_subgroups(plain->subgroups, n_subgroups, 100e6);
	plain->workload.n_subgroups = n_subgroups;
	plain_refresh(plain);
}

struct interleave plain_published(size_t n_dynamic, size_t stride)
{
	return (struct interleave){
	    .has_separate_unscale = true, .buffers = 1, .waits_for_fetch = true, .stride = stride, .n_dynamic = n_dynamic};
}

struct interleave plain_hybrid(size_t n_dynamic, size_t buffers, const bool *on_gpu)
{
	return (struct interleave){.chain = CHAIN_DUPLEX,
	    .downscale = DOWNSCALE_FUSED,
	    .has_bf16_grads = true,
	    .buffers = buffers,
	    .on_gpu = on_gpu,
	    .n_dynamic = n_dynamic};
}

double plain_interleave_s(const struct plain *plain, const struct interleave *how)
{
	return recurrence_interleave_s(&plain->cost, &plain->workload, how);
}

double plain_between(gsl_rng *rng, double low, double high)
{
	return low * pow(high / low, gsl_rng_uniform(rng));
}

void plain_latency(struct hwprofile *hw, gsl_rng *rng)
{
	hw->dram_latency_Bps = plain_between(rng, 250e9, 1000e9);
	hw->h2d_dram_load = hw->d2h_dram_load = plain_between(rng, 0.3, 1);
	hw->h2d_latency_frac = hw->d2h_latency_frac = hw->downscale_latency_frac = gsl_rng_uniform(rng);
}

void plain_window(struct lanes *lanes, const struct plain *plain, const struct interleave *how, size_t stride, bool is_contended)
{
	static struct stride_curve curve;
	stride_curve_init(&curve, &plain->cost, &plain->workload, how, is_contended);
	stride_curve_lanes(lanes, &curve, stride);
}
