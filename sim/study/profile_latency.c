/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/profile_latency.h"

#include <math.h>
#include <string.h>

#include "model/base/latency.h"

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

static void set_value(struct hwprofile *hw, struct hw_meta *metas, size_t i, double value, enum hw_kind kind, const char *source)
{
	metas[i] = (struct hw_meta){.kind = kind, .lo = NAN, .hi = NAN, .source = source};
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
		    cell->first_together, cell->second_alone, cell->second_together, cell->ranks, hw->pcie_root_Bps,
		    hw->gpus_per_pcie_root};
		n += latency_pair_of(&pairs[n], &row, hw->hw_threads_per_rank, hw->cpu_adam_bytes_per_param,
		    hw->cpu_downscale_bytes_per_param);
	}
	if (!latency_fit(&c, &error_frac, pairs, n))
		return;
	struct hw_meta *const metas = own_metas(hw, arena);
	const char *const source = arena_printf(arena, LATENCY_SOURCE, n, 100 * error_frac);
	for (size_t i = 0; i < LATENCY_CONSTANTS_N; i++)
		set_value(hw, metas, index_of(latency_members[i].name), latency_constant(&c, i), HW_KIND_MEASURED, source);
}

void profile_forget_latency(struct hwprofile *hw, struct arena *arena)
{
	struct hw_meta *const metas = own_metas(hw, arena);

	for (size_t i = 0; i < LATENCY_CONSTANTS_N; i++) {
		const size_t value = index_of(latency_members[i].name);
		set_value(hw, metas, value, hw_value_fields[value].fallback, HW_KIND_DEFAULT, NULL);
	}
	hw->n_corun = 0;
}
