/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/sample_latency.h"

#include <math.h>
#include <string.h>

#include "sim/study/profile_latency.h"
#include "sim/study/sample_fit.h"

static const double loose_log_sd = 1; /* before the grid: the interval of a constant is of the grid already */
static const double step = 0.01; /* of a log factor */

/* What moves: a field of the sampler for each constant, n_fields where it has none (0, or no interval). */
struct joint {
	size_t fields[LATENCY_CONSTANTS_N];
	struct latency_constants at;
};

static size_t field_of(const struct sampler *s, const struct hwprofile *hw, const char *name)
{
	size_t i = 0;

	while (i < s->n_fields && (s->fields[i].is_curve || strcmp(hw_value_fields[s->fields[i].index].name, name) != 0))
		i++;
	return i < s->n_fields && !isnan(hw->value_meta[s->fields[i].index].lo) ? i : s->n_fields;
}

/* Slopes of the log speeds of a cell, [errors][n_fields], from zero. */
static void find_slopes(double *slopes, const struct joint *joint, const struct latency_pair *pair, size_t n_fields)
{
	double here[LATENCY_ERRORS_MAX], there[LATENCY_ERRORS_MAX];
	const size_t n = latency_errors(here, pair, &joint->at);

	for (size_t k = 0; k < LATENCY_CONSTANTS_N; k++) {
		struct latency_constants moved = joint->at;
		if (joint->fields[k] == n_fields)
			continue;
		*(double *)(void *)((char *)&moved + latency_members[k].offset) *= exp(step);
		latency_errors(there, pair, &moved);
		for (size_t j = 0; j < n; j++)
			slopes[j * n_fields + joint->fields[k]] = (there[j] - here[j]) / step;
	}
}

/* Root mean square of the errors of the copies' cells, or of the downscale's, over what its constants leave free; at least 1 %. */
static double noise_of(const struct latency_pair *pairs, size_t n_pairs, const struct latency_constants *at, bool of_downscale)
{
	double errors[LATENCY_ERRORS_MAX], sum = 0, n_free = of_downscale ? -1 : 1 - LATENCY_CONSTANTS_N;

	for (size_t i = 0; i < n_pairs; i++) {
		if ((pairs[i].other == LATENCY_DOWNSCALE) != of_downscale)
			continue;
		const size_t n = latency_errors(errors, &pairs[i], at);
		n_free += (double)n;
		for (size_t j = 0; j < n; j++)
			sum += errors[j] * errors[j];
	}
	return fmax(0.01, sqrt(sum / fmax(1, n_free)));
}

void sampler_join_latency(struct sampler *s, const struct hwprofile *hw, struct arena *arena)
{
	struct joint joint = {.at = profile_latency_constants(hw)};
	struct latency_pair *const pairs = arena_alloc(arena, hw->n_corun + 1, sizeof(*pairs));
	const size_t n_pairs = profile_latency_pairs(pairs, hw), n_conditions = s->n_conditions;

	for (size_t k = 0; k < LATENCY_CONSTANTS_N; k++)
		joint.fields[k] = field_of(s, hw, latency_members[k].name);
	if (joint.fields[0] == s->n_fields || n_pairs == 0)
		return;
	for (size_t k = 0; k < LATENCY_CONSTANTS_N; k++)
		if (joint.fields[k] < s->n_fields)
			s->root[joint.fields[k] * (s->n_fields + 1)] = loose_log_sd;
	for (size_t i = 0; i < n_pairs; i++) {
		const double sd = noise_of(pairs, n_pairs, &joint.at, pairs[i].other == LATENCY_DOWNSCALE), sds[] = {sd, sd};
		double *const slopes = arena_zalloc(arena, LATENCY_ERRORS_MAX * s->n_fields, sizeof(*slopes));
		find_slopes(slopes, &joint, &pairs[i], s->n_fields);
		sampler_observe(s, slopes, sds, LATENCY_ERRORS_MAX, arena);
	}
	s->n_conditions = n_conditions; /* which are of recorded runs */
}
