/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * measured: speed = alone / product of the slowdowns that the profile's contention grid measured for each pair.
 * Pairs that were not measured do not slow each other. Both directions at once use the grid's "duplex" cell where there is one. Ranks
 * are independent: a grid measured on one rank knows nothing of others. E5 for the link itself.
 */
#include <math.h>
#include <string.h>

#include "sim/sharing.h"

static const char *activity_of(enum op_kind kind)
{
	switch (kind) {
	case OP_CPU_UNSCALE:
	case OP_CPU_ADAM:
	case OP_CPU_ADAM_BF16:
	case OP_CPU_ADAM_FUSED:
	case OP_CPU_ADAM_FUSED_BF16:
	case OP_CPU_ADAM_SPLIT:
	case OP_CPU_ADAM_SPLIT_BF16:
		return "cpu_adam";
	case OP_CPU_DOWNSCALE:
		return "cpu_downscale";
	case OP_H2D:
		return "h2d";
	case OP_D2H:
		return "d2h";
	case OP_COMPUTE:
		return "gemm";
	default:
		return NULL;
	}
}

/* How well a cell's team sizes match: 0 is exact. */
static double thread_distance(double measured, double wanted)
{
	return measured > 0 && wanted > 0 ? fabs(log(measured / wanted)) : 0;
}

/* Speed left to `self` while `other` runs, from the cell with the nearest team sizes; 1 when not measured. */
static double pair_speed(const struct hwprofile *hw, const char *self, double self_threads, const char *other, double other_threads)
{
	double best = INFINITY, speed = 1;
	for (size_t i = 0; i < hw->n_corun; i++) {
		const struct hw_corun *const cell = &hw->corun[i];
		const bool is_first = !strcmp(cell->first, self) && !strcmp(cell->second, other);
		const bool is_second = !strcmp(cell->second, self) && !strcmp(cell->first, other);
		if ((!is_first && !is_second) || cell->ranks > 1)
			continue;
		const double distance = thread_distance(is_first ? cell->first_threads : cell->second_threads, self_threads) +
		    thread_distance(is_first ? cell->second_threads : cell->first_threads, other_threads);
		if (distance >= best)
			continue;
		best = distance;
		speed = is_first ? cell->first_together / cell->first_alone : cell->second_together / cell->second_alone;
	}
	return fmin(1, speed);
}

static bool has_duplex_cell(const struct hwprofile *hw, const char *self)
{
	for (size_t i = 0; i < hw->n_corun; i++)
		if ((!strcmp(hw->corun[i].first, self) && !strcmp(hw->corun[i].second, "duplex")) ||
		    (!strcmp(hw->corun[i].second, self) && !strcmp(hw->corun[i].first, "duplex")))
			return true;
	return false;
}

static bool runs(const uint8_t *kinds, size_t n, enum op_kind kind)
{
	for (size_t i = 0; i < n; i++)
		if (kinds[i] == kind)
			return true;
	return false;
}

/* Slowdowns of a host or compute operation. */
static double beside(const uint8_t *kinds, size_t n, size_t self, const struct cost *cost, bool is_duplex)
{
	const char *const name = activity_of(kinds[self]);
	const double threads = cost->classes[kinds[self]].host_threads;
	const bool uses_duplex = is_duplex && has_duplex_cell(cost->hw, name);
	double speed = uses_duplex ? pair_speed(cost->hw, name, threads, "duplex", 0) : 1;
	for (size_t i = 0; i < n; i++) {
		const char *const other = activity_of(kinds[i]);
		const bool is_copy = kinds[i] == OP_H2D || kinds[i] == OP_D2H;
		if (i == self || !other || (is_copy && uses_duplex))
			continue;
		speed *= pair_speed(cost->hw, name, threads, other, cost->classes[kinds[i]].host_threads);
	}
	return speed;
}

/* A copy beside host work; in duplex the grid's duplex cell says how much of the duplex rate is left. */
static double copy_beside(const uint8_t *kinds, size_t n, size_t self, const struct cost *cost, bool is_duplex)
{
	double speed = is_duplex ? cost->classes[kinds[self]].duplex_frac : 1; /* E5 */
	for (size_t i = 0; i < n; i++) {
		const char *const other = activity_of(kinds[i]);
		if (!other || cost->classes[kinds[i]].transfer)
			continue;
		const char *const name = is_duplex && has_duplex_cell(cost->hw, other) ? "duplex" : activity_of(kinds[self]);
		speed *= pair_speed(cost->hw, name, 0, other, cost->classes[kinds[i]].host_threads);
	}
	return speed;
}

static void cap_measured(double *cap, uint8_t *limit, const uint8_t *kinds, size_t n, const struct cost *cost)
{
	const bool is_duplex = runs(kinds, n, OP_H2D) && runs(kinds, n, OP_D2H);
	for (size_t i = 0; i < n; i++) {
		const bool is_copy = cost->classes[kinds[i]].transfer;
		cap[i] = 1;
		if (is_copy)
			cap[i] = copy_beside(kinds, n, i, cost, is_duplex);
		else if (activity_of(kinds[i]))
			cap[i] = beside(kinds, n, i, cost, is_duplex);
		limit[i] = cap[i] >= 1 ? RES_N : is_copy && is_duplex ? RES_DUPLEX : RES_DRAM;
	}
}

const struct sharing sharing_measured = {
    "measured", "alone speed times the pairwise slowdowns of the profile's contention grid", cap_measured, false};
