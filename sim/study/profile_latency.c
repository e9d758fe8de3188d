/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/profile_latency.h"

#include <math.h>
#include <string.h>

#include "model/base/latency.h"

static void set_value(struct hwprofile *hw, struct hw_meta *metas, const char *name, double value, const char *source)
{
	size_t i = 0;

	while (strcmp(hw_value_fields[i].name, name) != 0)
		i++;
	metas[i] = (struct hw_meta){.kind = HW_KIND_MEASURED, .lo = NAN, .hi = NAN, .source = source};
	*(double *)(void *)((char *)hw + hw_value_fields[i].offset) = value;
}

void profile_fit_latency(struct hwprofile *hw, struct arena *arena)
{
	struct latency_pair *const pairs = arena_alloc(arena, hw->n_corun + 1, sizeof(*pairs));
	struct latency_constants c;
	double error_frac;
	size_t n = 0;

	for (size_t i = 0; i < hw->n_corun; i++) {
		const struct hw_corun *const cell = &hw->corun[i];
		const struct latency_cell row = {cell->first, cell->second, cell->first_threads, cell->second_threads, cell->first_alone,
		    cell->first_together, cell->second_alone, cell->second_together, cell->ranks};
		n += latency_pair_of(&pairs[n], &row, hw->hw_threads_per_rank, hw->cpu_adam_bytes_per_param,
		    hw->cpu_downscale_bytes_per_param);
	}
	if (!latency_fit(&c, &error_frac, pairs, n))
		return;
	struct hw_meta *const metas = arena_alloc(arena, hw_n_value_fields, sizeof(*metas));
	memcpy(metas, hw->value_meta, hw_n_value_fields * sizeof(*metas));
	hw->value_meta = metas;
	const char *const source = arena_printf(arena, LATENCY_SOURCE, n, 100 * error_frac);
	for (size_t i = 0; i < LATENCY_CONSTANTS_N; i++)
		set_value(hw, metas, latency_members[i].name, latency_constant(&c, i), source);
}
