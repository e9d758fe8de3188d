/* SPDX-License-Identifier: GPL-3.0-or-later
 * The tables of a profile, what must hold between its numbers, its hash, and scaling. */
#include "model/hwprofile.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/hash.h"

#define FIELD_NODE(name, min, max, fallback, text) \
	{#name, UNIT_NONE, offsetof(struct hwprofile, name), (min), (max), (fallback), (text)},
const struct hw_field hw_node_fields[] = {HW_NODE(FIELD_NODE)};
const size_t hw_n_node_fields = HW_N_NODE;

#define FIELD_VALUE(name, unit, min, max, fallback, text) \
	{#name, (unit), offsetof(struct hwprofile, name), (min), (max), (fallback), (text)},
const struct hw_field hw_value_fields[] = {HW_VALUES(FIELD_VALUE)};
const size_t hw_n_value_fields = HW_N_VALUES;

#define FIELD_CURVE(name, kind, required, text) {#name, (kind), (required), offsetof(struct hwprofile, name), (text)},
const struct hw_curve_field hw_curve_fields[] = {HW_CURVES(FIELD_CURVE)};
const size_t hw_n_curve_fields = HW_N_CURVES;

const char *const hw_kind_names[] = {"default", "measured", "fitted", "datasheet", "assumed", NULL};

static double number_at(const struct hwprofile *hw, size_t offset)
{
	double value;

	memcpy(&value, (const char *)hw + offset, sizeof(value));
	return value;
}

static const struct curve *curve_at(const struct hwprofile *hw, size_t offset)
{
	return (const struct curve *)(const void *)((const char *)hw + offset);
}

/* ---- checks */

double hw_value_least(const struct hw_field *field)
{
	static const struct {
		size_t offset;
		double least;
	} absent_at_0[] = {{offsetof(struct hwprofile, h2d_weight), 0.01}, {offsetof(struct hwprofile, d2h_weight), 0.01},
	    {offsetof(struct hwprofile, dram_latency_Bps), 1e6}, {offsetof(struct hwprofile, network_Bps), 1},
	    {offsetof(struct hwprofile, adam_downscale_corun_frac), 1e-3}};

	for (size_t i = 0; i < sizeof(absent_at_0) / sizeof(absent_at_0[0]); i++)
		if (field->offset == absent_at_0[i].offset)
			return absent_at_0[i].least;
	return field->min;
}

static int check_fields(const struct hwprofile *hw, const struct hw_field *fields, size_t n, const char *section,
    const char *name, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const double value = number_at(hw, fields[i].offset);
		const bool is_unlimited = value == INFINITY && fields[i].fallback == INFINITY;
		if (!is_unlimited && !(value >= fields[i].min && value <= fields[i].max))
			return err_set(err, STATUS_INPUT, "%s: /%s/%s: %.10g is outside %.10g .. %.10g", name, section,
			    fields[i].name, value, fields[i].min, fields[i].max);
		if (value > 0 && value < hw_value_least(&fields[i]))
			return err_set(err, STATUS_INPUT, "%s: /%s/%s: %.10g; 0, or from %.10g to %.10g, would be accepted", name,
			    section, fields[i].name, value, hw_value_least(&fields[i]), fields[i].max);
	}
	return 0;
}

static int check_curve(const struct hwprofile *hw, const struct hw_curve_field *field, const char *name, struct err *err)
{
	const struct curve *const curve = curve_at(hw, field->offset);
	double below = 0;

	if (curve->n_points == 0 && !field->is_required)
		return 0;
	if (curve->n_points == 0)
		return err_set(err, STATUS_INPUT, "%s: /curves/%s: no points", name, field->name);
	for (size_t i = 0; i < curve->n_points; i++) {
		if (!(curve->x[i] > below) || !isfinite(curve->x[i]))
			return err_set(err, STATUS_INPUT, "%s: /curves/%s/points: x = %.10g after %.10g; x must increase",
			    name, field->name, curve->x[i], below);
		if (!(curve->rate[i] > 0) || !isfinite(curve->rate[i]))
			return err_set(err, STATUS_INPUT, "%s: /curves/%s/points: rate %.10g; it must be positive", name,
			    field->name, curve->rate[i]);
		below = curve->x[i];
	}
	return 0;
}

static int check_duplex(const struct hwprofile *hw, const char *name, struct err *err)
{
	const struct {
		const char *key, *curve;
		double duplex_Bps, peak_Bps;
	} directions[] = {
	    {"h2d_duplex_Bps", "h2d", hw->h2d_duplex_Bps, curve_peak(&hw->h2d)},
	    {"d2h_duplex_Bps", "d2h", hw->d2h_duplex_Bps, curve_peak(&hw->d2h)},
	};
	const double tolerance = 1.02; /* noise of two measurements */

	for (size_t i = 0; i < 2; i++)
		if (directions[i].duplex_Bps > tolerance * directions[i].peak_Bps)
			return err_set(err, STATUS_INPUT,
			    "%s: /values/%s: %.6g is above the one-way peak %.6g of /curves/%s; with "
			    "both directions busy each is at most as fast as alone",
			    name, directions[i].key, directions[i].duplex_Bps, directions[i].peak_Bps, directions[i].curve);
	return 0;
}

/* No more of `what` than of `limit`. */
static int check_at_most(double value, const char *what, double most, const char *limit, const char *name, struct err *err)
{
	if (value <= most)
		return 0;
	return err_set(err, STATUS_INPUT, "%s: /%s: %.6g is more than /%s, %.6g", name, what, value, limit, most);
}

static int check_relations(const struct hwprofile *hw, const char *name, struct err *err)
{
	int rc = check_at_most(hw->threads, "node/threads", hw->hw_threads_per_rank, "node/hw_threads_per_rank", name, err);

	if (rc == 0)
		rc = check_at_most(hw->ranks_per_core_set, "node/ranks_per_core_set", hw->gpus, "node/gpus", name, err);
	if (rc == 0)
		rc = check_at_most(hw->gpus_per_pcie_root, "node/gpus_per_pcie_root", hw->gpus, "node/gpus", name, err);
	if (rc == 0)
		rc = check_at_most(
		    hw->smt_gain, "values/smt_gain", hw->threads_per_core, "node/threads_per_core", name, err);
	return rc ? rc : check_duplex(hw, name, err);
}

int hwprofile_check(const struct hwprofile *hw, const char *name, struct err *err)
{
	int rc = check_fields(hw, hw_node_fields, HW_N_NODE, "node", name, err);

	if (rc == 0)
		rc = check_fields(hw, hw_value_fields, HW_N_VALUES, "values", name, err);
	for (size_t i = 0; rc == 0 && i < HW_N_CURVES; i++)
		rc = check_curve(hw, &hw_curve_fields[i], name, err);
	return rc ? rc : check_relations(hw, name, err);
}

/* ---- hash */

/* Activities are words, but they are contents: "h2d" and "d2h" cells differ. */
static unsigned long long hash_word(unsigned long long hash, const char *word)
{
	for (; *word; word++)
		hash = hash_number(hash, (double)(unsigned char)*word);
	return hash_number(hash, 0);
}

static unsigned long long hash_corun(unsigned long long hash, const struct hw_corun *cell)
{
	const double numbers[] = {cell->first_threads, cell->second_threads, cell->first_alone, cell->first_together,
	    cell->second_alone, cell->second_together};

	hash = hash_word(hash_word(hash, cell->first), cell->second);
	hash = hash_numbers(hash, numbers, sizeof(numbers) / sizeof(numbers[0]));
	return cell->ranks > 1 ? hash_number(hash, cell->ranks) : hash;
}

/* Values that older versions did not know: a profile without them keeps its hash, and a store its keys. */
static bool is_left_out(const struct hwprofile *hw, const struct hw_field *field)
{
	static const size_t later[] = {offsetof(struct hwprofile, network_Bps), offsetof(struct hwprofile, network_latency_s),
	    offsetof(struct hwprofile, ring_latency_s), offsetof(struct hwprofile, dram_latency_Bps),
	    offsetof(struct hwprofile, h2d_dram_load), offsetof(struct hwprofile, d2h_dram_load),
	    offsetof(struct hwprofile, h2d_latency_frac), offsetof(struct hwprofile, d2h_latency_frac),
	    offsetof(struct hwprofile, downscale_latency_frac)};
	bool is_later = false;

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		is_later = is_later || field->offset == later[i];
	return is_later && number_at(hw, field->offset) == field->fallback;
}

void hwprofile_rehash(struct hwprofile *hw)
{
	unsigned long long hash = HASH_START;

	for (size_t i = 0; i < HW_N_NODE; i++)
		hash = hash_number(hash, number_at(hw, hw_node_fields[i].offset));
	for (size_t i = 0; i < HW_N_VALUES; i++)
		if (!is_left_out(hw, &hw_value_fields[i]))
			hash = hash_number(hash, number_at(hw, hw_value_fields[i].offset));
	for (size_t i = 0; i < HW_N_CURVES; i++) {
		const struct curve *const curve = curve_at(hw, hw_curve_fields[i].offset);
		if (curve == &hw->cpu_adam_split && curve->n_points == 0) /* later, as above */
			continue;
		hash = hash_number(hash, (double)curve->n_points);
		hash = hash_numbers(hash, curve->x, curve->n_points);
		hash = hash_numbers(hash, curve->rate, curve->n_points);
	}
	for (size_t i = 0; i < hw->n_corun; i++)
		hash = hash_corun(hash, &hw->corun[i]);
	hw->content_hash = hash;
}

/* ---- scaling */

/* A CPU kernel on cores `cores` times as fast beside a DRAM `dram` times as wide. By E32 its rate alone is u (1 - s l / C), l = rate times
 * bytes: u, that of idle memory, grows with the cores, C with the DRAM. Without E32 it is as fast as its cores. */
static double kernel_rate(const struct hwprofile *hw, double rate, double bytes_per_param, double follows_frac, double cores, double dram)
{
	if (!(hw->dram_latency_Bps > 0))
		return rate * cores;
	const double waits_frac = follows_frac * fmin(1, rate * bytes_per_param / hw->dram_latency_Bps);
	return rate * cores / (1 + (cores / dram - 1) * waits_frac);
}

static void scale_kernel(
    struct curve *curve, const struct hwprofile *hw, double bytes_per_param, double follows_frac, double cores, double dram)
{
	for (size_t i = 0; i < curve->n_points; i++)
		curve->rate[i] = kernel_rate(hw, curve->rate[i], bytes_per_param, follows_frac, cores, dram);
}

/* Adam's bytes are the most that one curve serves (cost.c: those of 16-bit gradients are 2 less), so none asks for more than C. */
static void scale_kernels(struct hwprofile *hw, double cores, double dram)
{
	const double adam_bytes = hw->cpu_adam_bytes_per_param;
	scale_kernel(&hw->cpu_adam, hw, adam_bytes, 1, cores, dram);
	scale_kernel(&hw->cpu_adam_fused, hw, adam_bytes * 30 / 28, 1, cores, dram);
	scale_kernel(&hw->cpu_adam_split, hw, adam_bytes, 1, cores, dram);
	scale_kernel(&hw->cpu_unscale, hw, hw->cpu_unscale_bytes_per_param, 1, cores, dram);
	scale_kernel(&hw->cpu_downscale, hw, hw->cpu_downscale_bytes_per_param, hw->downscale_latency_frac, cores, dram);
	hw->push_pageable_params_per_s =
	    kernel_rate(hw, hw->push_pageable_params_per_s, hw->push_pageable_bytes_per_param, 1, cores, dram);
	hw->flush_pageable_params_per_s =
	    kernel_rate(hw, hw->flush_pageable_params_per_s, hw->flush_pageable_bytes_per_param, 1, cores, dram);
}

static void scale_cpu(struct hwprofile *hw, double factor)
{
	scale_kernels(hw, factor, 1);
}

static void scale_dram(struct hwprofile *hw, double factor)
{
	scale_kernels(hw, 1, factor);
	hw->dram_Bps *= factor;
	hw->dram_latency_Bps *= factor;
}

static void scale_h2d(struct hwprofile *hw, double factor)
{
	curve_scale(&hw->h2d, factor);
	hw->h2d_duplex_Bps *= factor;
}

static void scale_d2h(struct hwprofile *hw, double factor)
{
	curve_scale(&hw->d2h, factor);
	hw->d2h_duplex_Bps *= factor;
}

static void scale_duplex(struct hwprofile *hw, double factor)
{
	hw->h2d_duplex_Bps = fmin(hw->h2d_duplex_Bps * factor, fmax(curve_peak(&hw->h2d), hw->h2d_duplex_Bps));
	hw->d2h_duplex_Bps = fmin(hw->d2h_duplex_Bps * factor, fmax(curve_peak(&hw->d2h), hw->d2h_duplex_Bps));
}

static void scale_gpu(struct hwprofile *hw, double factor)
{
	curve_scale(&hw->gemm, factor);
	hw->gpu_adam_params_per_s *= factor;
	hw->gpu_flop_per_s *= factor;
	hw->layer_forward_launch_s /= factor;
	hw->layer_backward_launch_s /= factor;
	hw->kernel_launch_s /= factor;
}

static void scale_hbm(struct hwprofile *hw, double factor)
{
	hw->hbm_Bps *= factor;
}

static void scale_cores(struct hwprofile *hw, double factor)
{
	hw->hw_threads_per_rank *= factor;
}

static void scale_net(struct hwprofile *hw, double factor)
{
	hw->all_gather_Bps *= factor;
	hw->reduce_params_per_s *= factor;
	hw->network_Bps *= factor;
}

static const struct {
	const char *name;
	void (*scale)(struct hwprofile *hw, double factor);
} scales[] = {
#define SCALE(name) {#name, scale_##name},
    HW_SCALES(SCALE)
#undef SCALE
};

int hwprofile_scale(struct hwprofile *hw, const char *resource, double factor, struct err *err)
{
#define WORD(name) #name,
	static const char *const words[] = {HW_SCALES(WORD) NULL};
#undef WORD
	const double factor_max = 1e6;

	if (!(factor >= 1 / factor_max && factor <= factor_max))
		return err_set(
		    err, STATUS_USAGE, "--scale %s=%.6g: a factor from 1e-6 to 1e6 would be accepted", resource, factor);
	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		if (strcmp(scales[i].name, resource) != 0)
			continue;
		scales[i].scale(hw, factor);
		hwprofile_rehash(hw);
		return 0;
	}
	const char *const nearest = err_nearest(resource, words);
	return err_set(err, STATUS_USAGE,
	    "--scale %s: unknown resource%s%s%s; cpu, dram, h2d, d2h, duplex, gpu, hbm, cores or net "
	    "would be accepted",
	    resource, nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}
