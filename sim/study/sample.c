/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/sample.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

static const double interval_sds = 3.92; /* a 95 % interval of a normal is this many standard deviations wide */
static const double kind_log_sd[] = {
    [HW_KIND_DEFAULT] = 0, [HW_KIND_MEASURED] = 0.02, [HW_KIND_FITTED] = 0.05, [HW_KIND_DATASHEET] = 0.10, [HW_KIND_ASSUMED] = 0.25};
/* Limits and labels, no rates. */
static const char *const fixed_values[] = {"host_memory_bytes", "gpu_memory_bytes", "pinned_max_bytes", "gpu_flop_per_s", "power_W",
    "price_per_hour"};

static double *value_at(struct hwprofile *hw, size_t value)
{
	return (double *)(void *)((char *)hw + hw_value_fields[value].offset);
}

static double value_of(const struct hwprofile *hw, size_t value)
{
	return *(const double *)(const void *)((const char *)hw + hw_value_fields[value].offset);
}

static struct curve *curve_at(struct hwprofile *hw, size_t curve)
{
	return (struct curve *)(void *)((char *)hw + hw_curve_fields[curve].offset);
}

/* ---- widths */

static bool is_fixed(const char *name)
{
	for (size_t i = 0; i < sizeof(fixed_values) / sizeof(fixed_values[0]); i++)
		if (strcmp(name, fixed_values[i]) == 0)
			return true;
	return false;
}

/* DRAM bytes of a kernel: per parameter, or per byte copied. */
static bool is_byte_count(const char *name)
{
	const size_t length = strlen(name);
	static const char suffix[] = "_bytes_per_param";
	const size_t tail = sizeof(suffix) - 1;

	return strcmp(name, "dram_bytes_per_dma_byte") == 0 || (length > tail && strcmp(name + length - tail, suffix) == 0);
}

double sample_log_sd(const struct hw_meta *meta, const char *name)
{
	if (meta->lo > 0 && meta->hi >= meta->lo)
		return log(meta->hi / meta->lo) / interval_sds;
	return kind_log_sd[meta->kind == HW_KIND_ASSUMED && is_byte_count(name) ? HW_KIND_FITTED : meta->kind];
}

static bool has_raw(const struct hw_meta *meta, double value)
{
	bool is_positive = value > 0;

	for (size_t i = 0; i < meta->n_samples; i++)
		is_positive = is_positive && meta->samples[i] > 0;
	return is_positive && meta->n_samples >= SAMPLE_RAW_MIN;
}

static void add_value(struct sampler *s, const struct hwprofile *hw, size_t index)
{
	const struct hw_meta *const meta = &hw->value_meta[index];
	const double value = value_of(hw, index);
	struct sample_field field = {.index = index, .log_sd = sample_log_sd(meta, hw_value_fields[index].name), .value = value};

	if (meta->kind == HW_KIND_DEFAULT || is_fixed(hw_value_fields[index].name) || !(value > 0) || !isfinite(value))
		return;
	if (has_raw(meta, value)) {
		field.raw = meta->samples;
		field.n_raw = meta->n_samples;
	}
	if (field.log_sd > 0 || field.raw)
		s->fields[s->n_fields++] = field;
}

void sampler_init(struct sampler *s, const struct hwprofile *hw, unsigned long long seed, struct arena *arena)
{
	*s = (struct sampler){.seed = seed};
	for (size_t i = 0; i < HW_N_VALUES; i++)
		add_value(s, hw, i);
	for (size_t i = 0; i < HW_N_CURVES; i++) {
		const double sd = sample_log_sd(&hw->curve_meta[i], hw_curve_fields[i].name);
		if (hw->curve_meta[i].kind != HW_KIND_DEFAULT && sd > 0)
			s->fields[s->n_fields++] = (struct sample_field){.is_curve = true, .index = i, .log_sd = sd};
	}
	s->root = arena_zalloc(arena, s->n_fields * s->n_fields + 1, sizeof(*s->root));
	for (size_t i = 0; i < s->n_fields; i++)
		s->root[i * s->n_fields + i] = s->fields[i].log_sd;
}

/* ---- draws */

unsigned long sample_seed(unsigned long long master, size_t index)
{
	/* splitmix64: neighbouring indices give unrelated seeds */
	unsigned long long x = master + 0x9e3779b97f4a7c15ull * (index + 1);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return (unsigned long)((x ^ (x >> 31)) & 0xffffffffull); /* what every GSL generator takes */
}

static void multiply_curve(struct hwprofile *hw, size_t index, double factor)
{
	struct curve *const curve = curve_at(hw, index);

	curve_scale(curve, factor);
	if (curve != &hw->cpu_adam)
		return;
	for (size_t i = 0; i < HW_N_CURVES; i++)
		if (hw->curve_meta[i].kind == HW_KIND_DEFAULT && curve_at(hw, i)->n_points > 0)
			curve_scale(curve_at(hw, i), factor);
}

void sample_multiply(struct hwprofile *hw, const struct sample_field *field, double factor)
{
	if (field->is_curve) {
		multiply_curve(hw, field->index, factor);
		return;
	}
	const struct hw_field *const about = &hw_value_fields[field->index];
	double *const value = value_at(hw, field->index);
	*value = fmin(fmax(*value * factor, hw_value_least(about)), about->max);
}

/* What holds between numbers (hwprofile_check). */
static void keep_relations(struct hwprofile *hw)
{
	hw->smt_gain = fmin(hw->smt_gain, hw->threads_per_core);
	hw->h2d_duplex_Bps = fmin(hw->h2d_duplex_Bps, curve_peak(&hw->h2d));
	hw->d2h_duplex_Bps = fmin(hw->d2h_duplex_Bps, curve_peak(&hw->d2h));
}

void sampler_draw(struct hwprofile *out, const struct sampler *s, const struct hwprofile *hw, size_t index)
{
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	double normals[SAMPLE_FIELDS_MAX];

	gsl_rng_set(rng, sample_seed(s->seed, index));
	for (size_t i = 0; i < s->n_fields; i++)
		normals[i] = gsl_ran_gaussian_ziggurat(rng, 1);
	*out = *hw;
	for (size_t i = 0; i < s->n_fields; i++) {
		const struct sample_field *const field = &s->fields[i];
		double log_factor = 0;
		for (size_t j = 0; j <= i; j++)
			log_factor += s->root[i * s->n_fields + j] * normals[j];
		const double factor = field->raw ? field->raw[gsl_rng_uniform_int(rng, field->n_raw)] / field->value : exp(log_factor);
		sample_multiply(out, field, factor);
	}
	keep_relations(out);
	hwprofile_rehash(out);
	gsl_rng_free(rng);
}
