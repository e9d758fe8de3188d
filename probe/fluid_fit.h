/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fluid_fit: the constants of the simulator's sharing of DRAM, from co-runs: capacity W and weight w of a copy engine.
 *
 * The model, as in the simulator (model/base/maxmin.h): flow i alone moves d_i bytes/s; together its speed is x_i,
 * its share of W by weights, 1 for a CPU kernel and w for a copy. W and w minimise the sum of squared log errors of
 * all measured x_i, over a grid: some tens of cells, no derivatives to go wrong. A second fit gives each direction
 * its own weight: a copy to the device waits for loaded DRAM, one from it posts its writes.
 *
 * Where cells leave a weight open (none has such copies; or those there are run at full speed from some weight on), the sum is
 * the same over a range of weights, and the one nearest to 1, to no preference, is taken.
 */
#ifndef PROBE_FLUID_FIT_H
#define PROBE_FLUID_FIT_H

#include <stdbool.h>
#include <stddef.h>

enum { FLUID_FLOWS_MAX = 4, FLUID_CELLS_MAX = 128 };

enum fluid_kind { FLUID_CPU, FLUID_H2D, FLUID_D2H, N_FLUID_KINDS };

struct fluid_flow {
	double demand_Bps; /* alone */
	double speed_frac; /* measured together over alone */
	enum fluid_kind kind;
};

struct fluid_constants {
	double capacity_Bps;
	double weights[N_FLUID_KINDS]; /* that of FLUID_CPU is 1 */
};

/* Weights that fit as well as the best; lo = hi: no others. From 0.25 to 16 at most. */
struct fluid_range {
	double lo, hi;
};

struct fluid_cell {
	struct fluid_flow flows[FLUID_FLOWS_MAX];
	size_t n_flows;
};

struct fluid_fit {
	struct fluid_constants shared; /* one weight for both directions */
	struct fluid_constants split; /* a weight per direction */
	struct fluid_range shared_weight, split_weights[N_FLUID_KINDS];
	double shared_error_frac, split_error_frac; /* root mean square of ln x */
	double capacity_lo_Bps, capacity_hi_Bps; /* 10th to 90th percentile of the traffic of full cells */
	size_t n_full; /* cells that fill DRAM in the shared fit */
};

/* Speeds of the flows of a cell. Returns whether DRAM is full. */
bool fluid_speeds(double speeds[FLUID_FLOWS_MAX], const struct fluid_cell *cell, const struct fluid_constants *constants);

/* Whether the fit cannot tell a weight from 1. */
bool fluid_is_open(const struct fluid_range *range);

/* false without cells or when no cell slows down: then DRAM is not seen to be limited, and capacity is the largest traffic. */
bool fluid_fit_of(struct fluid_fit *fit, const struct fluid_cell cells[], size_t n_cells);

#endif
