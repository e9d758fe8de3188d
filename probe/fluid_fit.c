/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/fluid_fit.h"

#include <math.h>
#include <stdlib.h>

#include "model/base/maxmin.h"

bool fluid_speeds(double speeds[FLUID_FLOWS_MAX], const struct fluid_cell *cell, const struct fluid_constants *constants)
{
	struct maxmin_user users[FLUID_FLOWS_MAX];
	for (size_t i = 0; i < cell->n_flows; i++)
		users[i] = (struct maxmin_user){cell->flows[i].demand_Bps, constants->weights[cell->flows[i].kind]};
	return maxmin_speeds(speeds, users, cell->n_flows, constants->capacity_Bps);
}

static double squared_error(const struct fluid_cell cells[], size_t n_cells, const struct fluid_constants *constants)
{
	double sum = 0;
	for (size_t c = 0; c < n_cells; c++) {
		double speeds[FLUID_FLOWS_MAX];
		fluid_speeds(speeds, &cells[c], constants);
		for (size_t i = 0; i < cells[c].n_flows; i++) {
			const double error = log(speeds[i] / fmin(1, cells[c].flows[i].speed_frac));
			sum += error * error;
		}
	}
	return sum;
}

static double measured_traffic(const struct fluid_cell *cell)
{
	double traffic_Bps = 0;
	for (size_t i = 0; i < cell->n_flows; i++)
		traffic_Bps += cell->flows[i].demand_Bps * cell->flows[i].speed_frac;
	return traffic_Bps;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void capacity_range(struct fluid_fit *fit, const struct fluid_cell cells[], size_t n_cells)
{
	double full[FLUID_CELLS_MAX], speeds[FLUID_FLOWS_MAX];
	const double capacity_Bps = fit->shared.capacity_Bps;
	for (size_t c = 0; c < n_cells; c++)
		if (fluid_speeds(speeds, &cells[c], &fit->shared))
			full[fit->n_full++] = measured_traffic(&cells[c]);
	fit->capacity_lo_Bps = fit->capacity_hi_Bps = capacity_Bps;
	if (fit->n_full == 0)
		return;
	qsort(full, fit->n_full, sizeof full[0], compare_doubles);
	fit->capacity_lo_Bps = fmin(capacity_Bps, full[(fit->n_full - 1) / 10]);
	fit->capacity_hi_Bps = fmax(capacity_Bps, full[(fit->n_full - 1) * 9 / 10]);
}

enum { STEPS = 121 };

/* 0.5 to 1.25 times the largest traffic seen. */
static double capacity_step(double largest_Bps, int i)
{
	return largest_Bps * (0.5 + 0.75 * i / (STEPS - 1));
}

/* 0.25 to 16, geometric. */
static double weight_step(int i)
{
	return 0.25 * pow(64, (double)i / (STEPS - 1));
}

static double fit_shared(struct fluid_constants *best, const struct fluid_cell cells[], size_t n_cells, double largest_Bps)
{
	double least = INFINITY;
	for (int i = 0; i < STEPS; i++) {
		for (int j = 0; j < STEPS; j++) {
			const double weight = weight_step(j);
			const struct fluid_constants constants = {capacity_step(largest_Bps, i), {1, weight, weight}};
			const double error = squared_error(cells, n_cells, &constants);
			if (error < least) {
				least = error;
				*best = constants;
			}
		}
	}
	return least;
}

/* From the shared fit, one constant at a time until none improves. */
static double fit_split(
    struct fluid_constants *best, const struct fluid_cell cells[], size_t n_cells, double largest_Bps, double least)
{
	bool improves = true;
	for (int round = 0; round < 20 && improves; round++) {
		improves = false;
		for (int k = 0; k < N_FLUID_KINDS; k++) {
			for (int i = 0; i < STEPS; i++) {
				struct fluid_constants constants = *best;
				if (k == FLUID_CPU)
					constants.capacity_Bps = capacity_step(largest_Bps, i);
				else
					constants.weights[k] = weight_step(i);
				const double error = squared_error(cells, n_cells, &constants);
				if (error < least) {
					least = error;
					*best = constants;
					improves = true;
				}
			}
		}
	}
	return least;
}

static void set_weights(struct fluid_constants *constants, enum fluid_kind first, enum fluid_kind last, double weight)
{
	for (size_t kind = first; kind <= last; kind++)
		constants->weights[kind] = weight;
}

/* The range of a weight, or of that of both directions, about the best one; then the weight of it that is nearest to 1. */
static struct fluid_range settle(struct fluid_constants *best, enum fluid_kind first, enum fluid_kind last,
    const struct fluid_cell cells[], size_t n_cells, double least)
{
	const double as_good = least * (1 + 1e-9) + 1e-15; /* sums of the same numbers differ by rounding */
	struct fluid_constants tried = *best;
	struct fluid_range range = {best->weights[first], best->weights[first]};
	int at = 0;
	while (at < STEPS - 1 && weight_step(at) < best->weights[first])
		at++;
	for (int side = -1; side <= 1; side += 2) {
		for (int i = at + side; i >= 0 && i < STEPS; i += side) {
			set_weights(&tried, first, last, weight_step(i));
			if (squared_error(cells, n_cells, &tried) > as_good)
				break;
			range.lo = fmin(range.lo, weight_step(i));
			range.hi = fmax(range.hi, weight_step(i));
		}
	}
	set_weights(best, first, last, fmin(fmax(1, range.lo), range.hi));
	return range;
}

bool fluid_is_open(const struct fluid_range *range)
{
	return range->lo < range->hi && range->lo <= 1 && range->hi >= 1;
}

bool fluid_fit_of(struct fluid_fit *fit, const struct fluid_cell cells[], size_t n_cells)
{
	double largest_Bps = 0;
	size_t n_flows = 0;
	*fit = (struct fluid_fit){.shared.weights = {1, 1, 1}, .split.weights = {1, 1, 1}};
	for (size_t c = 0; c < n_cells; c++) {
		largest_Bps = fmax(largest_Bps, measured_traffic(&cells[c]));
		n_flows += cells[c].n_flows;
	}
	if (n_cells == 0)
		return false;
	const double shared = fit_shared(&fit->shared, cells, n_cells, largest_Bps);
	fit->split = fit->shared;
	const double split = fit_split(&fit->split, cells, n_cells, largest_Bps, shared);
	fit->shared_weight = settle(&fit->shared, FLUID_H2D, FLUID_D2H, cells, n_cells, shared);
	for (int kind = FLUID_H2D; kind <= FLUID_D2H; kind++)
		fit->split_weights[kind] = settle(&fit->split, (enum fluid_kind)kind, (enum fluid_kind)kind, cells, n_cells, split);
	fit->shared_error_frac = sqrt(shared / (double)n_flows);
	fit->split_error_frac = sqrt(split / (double)n_flows);
	capacity_range(fit, cells, n_cells);
	if (fit->n_full == 0)
		fit->shared.capacity_Bps = fit->capacity_lo_Bps = fit->capacity_hi_Bps = largest_Bps;
	return fit->n_full > 0;
}
