/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fluid_fit: the two constants of the simulator's sharing of DRAM, from co-runs: capacity W and weight w of a copy engine.
 *
 * The model, as in the simulator: flow i alone moves d_i bytes/s; together its speed is x_i = min(1, w_i t), with weight 1 for a
 * CPU kernel and w for a copy, and t raised until the sum of d_i x_i reaches W (or all x_i are 1). W and w minimise the sum of
 * squared log errors of all measured x_i, over a grid: two numbers, some tens of cells, no derivatives to go wrong.
 */
#ifndef PROBE_FLUID_FIT_H
#define PROBE_FLUID_FIT_H

#include <stdbool.h>
#include <stddef.h>

enum { FLUID_FLOWS_MAX = 4, FLUID_CELLS_MAX = 128 };

struct fluid_flow {
	double demand_Bps; /* alone */
	double speed_frac; /* measured together over alone */
	bool is_copy;
};

struct fluid_cell {
	struct fluid_flow flows[FLUID_FLOWS_MAX];
	size_t n_flows;
};

struct fluid_fit {
	double capacity_Bps, capacity_lo_Bps, capacity_hi_Bps; /* range: 10th to 90th percentile of the traffic of full cells */
	double copy_weight;
	double error_frac; /* root mean square error of ln x */
	size_t n_full; /* cells that fill DRAM in the fitted model */
};

/* Speeds of the flows of a cell. Returns whether DRAM is full. */
bool fluid_speeds(double speeds[FLUID_FLOWS_MAX], const struct fluid_cell *cell, double capacity_Bps, double copy_weight);

/* false without cells or when no cell slows down: then DRAM is not seen to be limited, and capacity is the largest traffic. */
bool fluid_fit_of(struct fluid_fit *fit, const struct fluid_cell cells[], size_t n_cells);

#endif
