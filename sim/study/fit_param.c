/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit_param.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Prior widths: a rate of an unknown machine of a known kind is known to a factor of two (0.7); effective bytes, whose ideal is
 * known, to half of that; links and HBM to a generation (0.5); times of software to a factor of three. */
const struct fit_param fit_params[] = {
    {.name = "dram_Bps", .followers = {"dram_latency_Bps"}, .prior_sd = 0.7},
    {.name = "dma_weight", .followers = {"h2d_weight", "d2h_weight"}, .prior_sd = 0.15},
    {.name = "cpu_adam_bytes_per_param", .followers = {"cpu_unscale_bytes_per_param"}, .prior_sd = 0.35},
    {.name = "cpu_downscale_bytes_per_param", .prior_sd = 0.35},
    {.name = "push_pageable_bytes_per_param", .prior_sd = 0.35},
    {.name = "flush_pageable_bytes_per_param", .prior_sd = 0.35},
    {.name = "cpu_adam", .followers = {"cpu_adam_fused", "cpu_adam_split", "cpu_unscale"}, .prior_sd = 0.7},
    {.name = "cpu_downscale", .prior_sd = 0.7},
    {.name = "push_pageable_params_per_s", .prior_sd = 0.7},
    {.name = "flush_pageable_params_per_s", .prior_sd = 0.7},
    {.name = "h2d", .prior_sd = 0.5},
    {.name = "d2h", .prior_sd = 0.5},
    {.name = "h2d_duplex_Bps", .prior_sd = 0.5},
    {.name = "d2h_duplex_Bps", .prior_sd = 0.5},
    {.name = "pcie_root_Bps", .prior_sd = 0.35},
    {.name = "hbm_Bps", .prior_sd = 0.5},
    {.name = "gpu_adam_params_per_s", .prior_sd = 0.35},
    {.name = "gemm", .prior_sd = 0.35},
    {.name = "softmax_bytes_per_score", .prior_sd = 0.5, .typical = 11},
    {.name = "elementwise_passes", .prior_sd = 0.5, .typical = 5},
    {.name = "layer_forward_launch_s", .prior_sd = 1, .typical = 3e-3},
    {.name = "layer_backward_launch_s", .prior_sd = 1, .typical = 3e-3},
    {.name = "all_gather_Bps", .prior_sd = 0.5, .typical = 1e11},
    {.name = "reduce_params_per_s", .prior_sd = 0.7, .typical = 3e10},
    {.name = "step_fixed_s", .prior_sd = 1, .typical = 2e-3},
    {.name = "step_subgroup_s", .prior_sd = 1, .typical = 5e-4},
    {.name = "cpu_subgroup_s", .prior_sd = 1, .typical = 5e-4},
    {.name = "stream_subgroup_s", .prior_sd = 1, .typical = 5e-3},
    {.name = "gpu_reserved_bytes", .prior_sd = 0.7, .typical = 2.5e9, .is_memory = true},
    {.name = "live_params", .prior_sd = 0.5, .typical = 1e9, .is_memory = true},
    {.name = "host_overhead_bytes_per_param", .prior_sd = 0.5, .typical = 4.5, .is_memory = true},
    {.name = "host_reserved_bytes", .prior_sd = 0.7, .typical = 1e10, .is_memory = true},
};
const size_t fit_n_params = sizeof(fit_params) / sizeof(fit_params[0]);

const struct fit_param *fit_param_find(const char *name)
{
	for (size_t i = 0; i < fit_n_params; i++)
		if (strcmp(fit_params[i].name, name) == 0)
			return &fit_params[i];
	return NULL;
}

/* ---- members of a profile by name */

size_t fit_value_index(const char *name)
{
	for (size_t i = 0; i < hw_n_value_fields; i++)
		if (strcmp(hw_value_fields[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

size_t fit_curve_index(const char *name)
{
	for (size_t i = 0; i < hw_n_curve_fields; i++)
		if (strcmp(hw_curve_fields[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

static double *value_at(struct hwprofile *hw, size_t index)
{
	return (double *)(void *)((char *)hw + hw_value_fields[index].offset);
}

static struct curve *curve_at(struct hwprofile *hw, size_t index)
{
	return (struct curve *)(void *)((char *)hw + hw_curve_fields[index].offset);
}

static double value_of(const struct hwprofile *hw, size_t index)
{
	return *(const double *)(const void *)((const char *)hw + hw_value_fields[index].offset);
}

static const struct curve *curve_of(const struct hwprofile *hw, size_t index)
{
	return (const struct curve *)(const void *)((const char *)hw + hw_curve_fields[index].offset);
}

static void scale_member(struct hwprofile *hw, const char *name, double factor)
{
	const size_t value = fit_value_index(name), curve = fit_curve_index(name);

	if (value != SIZE_MAX)
		*value_at(hw, value) *= factor;
	else if (curve != SIZE_MAX && curve_at(hw, curve)->n_points > 0)
		curve_scale(curve_at(hw, curve), factor);
}

/* ---- constants */

double fit_param_value(const struct hwprofile *hw, const struct fit_param *param)
{
	const size_t value = fit_value_index(param->name);

	return value != SIZE_MAX ? value_of(hw, value) : curve_peak(curve_of(hw, fit_curve_index(param->name)));
}

bool fit_param_is_there(const struct hwprofile *hw, const struct fit_param *param)
{
	const double value = fit_param_value(hw, param);

	return value > 0 && isfinite(value);
}

void fit_param_start_typical(struct hwprofile *hw, const struct fit_param *param)
{
	*value_at(hw, fit_value_index(param->name)) = param->typical;
}

void fit_param_scale(struct hwprofile *hw, const struct fit_param *param, double factor)
{
	scale_member(hw, param->name, factor);
	for (size_t i = 0; i < FIT_FOLLOWERS_MAX && param->followers[i]; i++)
		scale_member(hw, param->followers[i], factor);
}

enum unit fit_param_unit(const struct fit_param *param)
{
	const size_t value = fit_value_index(param->name);

	if (value != SIZE_MAX)
		return hw_value_fields[value].unit;
	switch (hw_curve_fields[fit_curve_index(param->name)].kind) {
	case CURVE_TRANSFER: return UNIT_BYTES_PER_S;
	case CURVE_THREADS: return UNIT_PARAMS_PER_S;
	case CURVE_SIZE: return UNIT_FLOP_PER_S;
	}
	return UNIT_NONE;
}

/* ---- bounds */

/* Largest value that the machine can have whatever runs say; INFINITY when nothing is known. */
static double physical_max(const struct hwprofile *start, const struct hwprofile *hw, const char *name, size_t value)
{
	const bool is_rate = value != SIZE_MAX && hw_value_fields[value].unit == UNIT_BYTES_PER_S;

	if (strcmp(name, "gemm") == 0)
		return start->value_meta && start->value_meta[fit_value_index("gpu_flop_per_s")].kind == HW_KIND_DATASHEET
		    ? start->gpu_flop_per_s
		    : INFINITY;
	if (strcmp(name, "h2d_duplex_Bps") == 0)
		return curve_peak(&hw->h2d);
	if (strcmp(name, "d2h_duplex_Bps") == 0)
		return curve_peak(&hw->d2h);
	if (is_rate && start->value_meta && start->value_meta[value].kind == HW_KIND_DATASHEET)
		return value_of(start, value);
	if (value == SIZE_MAX && start->curve_meta && start->curve_meta[fit_curve_index(name)].kind == HW_KIND_DATASHEET)
		return curve_peak(curve_of(start, fit_curve_index(name)));
	return INFINITY;
}

/* A busy link shares like copies that take turns, or better: neither direction keeps less than 0.4 of its own rate (0.44 was seen, of A100
 * hosts), both together no less than 0.9. What the directions lose together is borne by the second. 0: no limit. */
static double physical_min(const struct hwprofile *hw, const char *name)
{
	const double least_frac = 0.4, turns_frac = 0.9;

	if (strcmp(name, "h2d_duplex_Bps") == 0)
		return least_frac * curve_peak(&hw->h2d);
	if (strcmp(name, "d2h_duplex_Bps") == 0)
		return fmax(least_frac, turns_frac - hw->h2d_duplex_Bps / curve_peak(&hw->h2d)) * curve_peak(&hw->d2h);
	return 0;
}

static void narrow(double *lo, double *hi, const struct hwprofile *start, const char *name)
{
	const size_t value = fit_value_index(name);
	const double at = value != SIZE_MAX ? value_of(start, value) : 0;

	if (!(at > 0))
		return;
	*lo = fmax(*lo, log(hw_value_least(&hw_value_fields[value]) / at));
	*hi = fmin(*hi, log(hw_value_fields[value].max / at));
}

void fit_param_bounds(
    double *lo, double *hi, const struct hwprofile *start, const struct hwprofile *hw, const struct fit_param *param)
{
	const double wide = log(100); /* beyond it a start says nothing: another one would be chosen */
	const double at = fit_param_value(start, param);

	*lo = -wide;
	*hi = wide;
	narrow(lo, hi, start, param->name);
	for (size_t i = 0; i < FIT_FOLLOWERS_MAX && param->followers[i]; i++)
		narrow(lo, hi, start, param->followers[i]);
	*hi = fmin(*hi, log(physical_max(start, hw, param->name, fit_value_index(param->name)) / at));
	*lo = fmax(*lo, log(physical_min(hw, param->name) / at));
	*lo = fmin(*lo, *hi);
}
