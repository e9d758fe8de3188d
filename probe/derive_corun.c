/* SPDX-License-Identifier: GPL-3.0-or-later
 * The contention grid as rows "alone and together", and as cells for the fluid fit. Cells whose threads exceed the hardware
 * threads are rows but not cells: there cores, not DRAM, are shared. */
#include <string.h>

#include "probe/activities.h"
#include "probe/derive.h"

static double duplex_alone(const struct harness *harness, const char *what)
{
	const struct result *const result =
	    harness_find(harness, "bidirectional_memcpy_ce", what, strcmp(what, "h2d") == 0 ? "d2h" : "h2d", -1, -1);
	return result ? result->stats.median : 0;
}

static double copy_alone(const struct harness *harness, const char *what, bool is_duplex)
{
	const bool is_h2d = strcmp(what, "h2d") == 0;
	if (is_duplex)
		return duplex_alone(harness, what);
	return derive_alone(harness, is_h2d ? "host_to_device_memcpy_ce" : "device_to_host_memcpy_ce", what, 64 << 20);
}

/* From the grid itself where it was measured there, else from the curve. */
static double cpu_alone(const struct harness *harness, const char *key, const char *what, double threads)
{
	const struct result *const near = harness_find(harness, key, what, "", threads, -1);
	return near ? near->stats.median : derive_alone(harness, what, what, threads);
}

static void add_flow(struct fluid_cell *cell, double alone, double together, double bytes, enum fluid_kind kind)
{
	if (alone > 0 && cell->n_flows < FLUID_FLOWS_MAX)
		cell->flows[cell->n_flows++] = (struct fluid_flow){alone * bytes, together / alone, kind};
}

static enum fluid_kind kind_of(const struct result *copy)
{
	return strcmp(copy->what, "h2d") == 0 ? FLUID_H2D : FLUID_D2H;
}

/* The copies recorded right after results[i], under the same label. */
static size_t copies_after(const struct harness *harness, size_t i, const struct result *copies[2])
{
	size_t n = 0;
	for (size_t j = i + 1; j < harness->n_results && n < 2; j++) {
		const struct result *const next = &harness->results[j];
		if (next->key != harness->results[i].key || strcmp(next->label, harness->results[i].label) != 0)
			break;
		if (next->status == RESULT_PASSED && next->unit == UNIT_BYTES_PER_S)
			copies[n++] = next;
	}
	return n;
}

static void add_row(struct derived *derived, const struct derived_corun *row)
{
	if (derived->n_corun < DERIVED_CORUN_MAX && row->first_alone > 0 && row->second_alone > 0)
		derived->corun[derived->n_corun++] = *row;
}

/* `first` beside copies: one row; a cell when `first` is a CPU kernel. */
static size_t with_copies(
    struct derived *derived, struct fluid_cell *cell, const struct harness *harness, size_t i, double alone)
{
	const struct result *const first = &harness->results[i], *copies[2];
	const size_t n_copies = copies_after(harness, i, copies);
	struct derived_corun row = {first->what, first->with, first->x, 0, alone, first->stats.median, 0, 0};
	if (n_copies == 0 || alone <= 0)
		return 0;
	*cell = (struct fluid_cell){0};
	add_flow(cell, alone, first->stats.median, first->bytes_per_unit, FLUID_CPU);
	for (size_t j = 0; j < n_copies; j++) {
		const double copy_alone_Bps = copy_alone(harness, copies[j]->what, n_copies == 2);
		row.second_alone += copy_alone_Bps;
		row.second_together += copies[j]->stats.median;
		add_flow(cell, copy_alone_Bps, copies[j]->stats.median, 1, kind_of(copies[j]));
	}
	add_row(derived, &row);
	return 1;
}

static size_t copies_grid(struct derived *derived, struct fluid_cell cells[], size_t n_cells, const struct harness *harness)
{
	for (size_t i = 0; i < harness->n_results && n_cells < FLUID_CELLS_MAX; i++) {
		const struct result *const result = &harness->results[i];
		const bool is_grid =
		    strcmp(result->key, "contention_copies") == 0 || strcmp(result->key, "contention_fused") == 0;
		if (is_grid && result->status == RESULT_PASSED && result->unit == UNIT_PARAMS_PER_S && result->with[0])
			n_cells += with_copies(
			    derived, &cells[n_cells], harness, i, cpu_alone(harness, result->key, result->what, result->x));
	}
	return n_cells;
}

/* Adam beside the downscale worker, with or without copies. */
static size_t downscale_grid(
    struct derived *derived, struct fluid_cell cells[], size_t n_cells, const struct harness *harness)
{
	for (size_t i = 0; i + 1 < harness->n_results && n_cells < FLUID_CELLS_MAX; i++) {
		const struct result *const adam = &harness->results[i], *const down = adam + 1, *copies[2];
		const bool with_both = strcmp(adam->key, "contention_all") == 0;
		if ((!with_both && strcmp(adam->key, "contention_downscale") != 0) || strcmp(adam->what, "cpu_adam") != 0 ||
		    adam->status != RESULT_PASSED || down->status != RESULT_PASSED)
			continue;
		const double adam_alone = cpu_alone(harness, "contention_copies", "cpu_adam", adam->x);
		const double down_alone = cpu_alone(harness, "cpu_downscale", "cpu_downscale", down->x);
		if (!with_both)
			add_row(derived,
			    &(struct derived_corun){"cpu_adam", "cpu_downscale", adam->x, down->x, adam_alone,
				adam->stats.median, down_alone, down->stats.median});
		if (adam->x + down->x > harness->n_cpus)
			continue;
		struct fluid_cell cell = {0};
		add_flow(&cell, adam_alone, adam->stats.median, adam->bytes_per_unit, FLUID_CPU);
		add_flow(&cell, down_alone, down->stats.median, down->bytes_per_unit, FLUID_CPU);
		const size_t n_copies = with_both ? copies_after(harness, i, copies) : 0;
		for (size_t j = 0; j < n_copies; j++)
			add_flow(&cell, copy_alone(harness, copies[j]->what, true), copies[j]->stats.median, 1,
			    kind_of(copies[j]));
		if (with_both)
			cells[n_cells++] = cell;
	}
	return n_cells;
}

static void gemm_and_spin(struct derived *derived, const struct harness *harness)
{
	for (size_t i = 0; i < harness->n_results; i++) {
		const struct result *const result = &harness->results[i];
		struct fluid_cell unused;
		if (result->status != RESULT_PASSED)
			continue;
		if (strcmp(result->key, "contention_gemm") == 0 && strcmp(result->what, "gemm") == 0) {
			const double alone = derive_alone(harness, "gpu_gemm", "gemm", result->x);
			with_copies(derived, &unused, harness, i, alone);
			if (derived->n_corun && strcmp(derived->corun[derived->n_corun - 1].first, "gemm") == 0)
				derived->corun[derived->n_corun - 1].first_threads = 0;
		} else if (strcmp(result->key, "contention_spin") == 0) {
			add_row(derived,
			    &(struct derived_corun){"cpu_adam", "spin", result->x, 1,
				cpu_alone(harness, "contention_copies", "cpu_adam", result->x), result->stats.median, 1,
				1});
		}
	}
}

size_t derive_corun(struct derived *derived, struct fluid_cell cells[FLUID_CELLS_MAX], const struct harness *harness)
{
	size_t n_cells = copies_grid(derived, cells, 0, harness);
	n_cells = downscale_grid(derived, cells, n_cells, harness);
	gemm_and_spin(derived, harness);
	return n_cells;
}
