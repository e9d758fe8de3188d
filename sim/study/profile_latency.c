/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/profile_latency.h"

#include <math.h>
#include <string.h>

static struct hw_meta *own_metas(struct hwprofile *hw, struct arena *arena)
{
	struct hw_meta *const metas = arena_alloc(arena, hw_n_value_fields, sizeof(*metas));

	memcpy(metas, hw->value_meta, hw_n_value_fields * sizeof(*metas));
	hw->value_meta = metas;
	return metas;
}

static size_t index_of(const char *name)
{
	size_t i = 0;

	while (strcmp(hw_value_fields[i].name, name) != 0)
		i++;
	return i;
}

static void set_value(struct hwprofile *hw, struct hw_meta *metas, size_t i, double value, const struct hw_meta *meta)
{
	metas[i] = *meta;
	*(double *)(void *)((char *)hw + hw_value_fields[i].offset) = value;
}

size_t profile_latency_pairs(struct latency_pair *pairs, const struct hwprofile *hw)
{
	struct latency_pair pair;
	size_t n = 0;

	for (size_t i = 0; i < hw->n_corun; i++) {
		const struct hw_corun *const cell = &hw->corun[i];
		const struct latency_cell row = {cell->first, cell->second, cell->first_threads, cell->second_threads, cell->first_alone,
		    cell->first_together, cell->second_alone, cell->second_together, cell->ranks, hw->pcie_root_Bps,
		    hw->gpus_per_pcie_root};
		if (latency_pair_of(&pair, &row, hw->hw_threads_per_rank, hw->cpu_adam_bytes_per_param, hw->cpu_downscale_bytes_per_param))
			pairs[n++] = pair;
	}
	return n;
}

struct latency_constants profile_latency_constants(const struct hwprofile *hw)
{
	return (struct latency_constants){hw->dram_latency_Bps, hw->h2d_dram_load, hw->d2h_dram_load, hw->h2d_latency_frac,
	    hw->d2h_latency_frac, hw->downscale_latency_frac};
}

void profile_fit_latency(struct hwprofile *hw, struct arena *arena)
{
	struct latency_pair *const pairs = arena_alloc(arena, hw->n_corun + 1, sizeof(*pairs));
	const size_t n = profile_latency_pairs(pairs, hw);
	struct latency_constants c, lo, hi;
	double error_frac;

	if (!latency_fit(&c, &error_frac, pairs, n))
		return;
	struct hw_meta *const metas = own_metas(hw, arena);
	const char *const source = arena_printf(arena, LATENCY_SOURCE, n, 100 * error_frac);
	latency_intervals(&lo, &hi, &c, pairs, n);
	for (size_t i = 0; i < LATENCY_CONSTANTS_N; i++) {
		const struct hw_meta meta = {
		    .kind = HW_KIND_MEASURED, .lo = latency_constant(&lo, i), .hi = latency_constant(&hi, i), .source = source};
		set_value(hw, metas, index_of(latency_members[i].name), latency_constant(&c, i), &meta);
	}
}

void profile_forget_latency(struct hwprofile *hw, struct arena *arena)
{
	struct hw_meta *const metas = own_metas(hw, arena);

	for (size_t i = 0; i < LATENCY_CONSTANTS_N; i++) {
		const size_t value = index_of(latency_members[i].name);
		set_value(hw, metas, value, hw_value_fields[value].fallback, &(struct hw_meta){.kind = HW_KIND_DEFAULT, .lo = NAN, .hi = NAN});
	}
	hw->n_corun = 0;
}
