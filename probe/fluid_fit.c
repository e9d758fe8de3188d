/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/fluid_fit.h"

#include <math.h>
#include <stdlib.h>

static double traffic_at(const struct fluid_cell *cell, double t, double copy_weight)
{
	double traffic_Bps = 0;
	for (size_t i = 0; i < cell->n_flows; i++)
		traffic_Bps += cell->flows[i].demand_Bps * fmin(1, (cell->flows[i].is_copy ? copy_weight : 1) * t);
	return traffic_Bps;
}

bool fluid_speeds(double speeds[FLUID_FLOWS_MAX], const struct fluid_cell *cell, double capacity_Bps, double copy_weight)
{
	double low = 0, high = fmax(1, 1 / copy_weight);
	const bool is_full = traffic_at(cell, high, copy_weight) > capacity_Bps;
	for (int i = 0; i < 60 && is_full; i++) {
		const double middle = 0.5 * (low + high);
		if (traffic_at(cell, middle, copy_weight) > capacity_Bps)
			high = middle;
		else
			low = middle;
	}
	for (size_t i = 0; i < cell->n_flows; i++)
		speeds[i] = fmin(1, (cell->flows[i].is_copy ? copy_weight : 1) * high);
	return is_full;
}

static double squared_error(const struct fluid_cell cells[], size_t n_cells, double capacity_Bps, double copy_weight)
{
	double sum = 0;
	for (size_t c = 0; c < n_cells; c++) {
		double speeds[FLUID_FLOWS_MAX];
		fluid_speeds(speeds, &cells[c], capacity_Bps, copy_weight);
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
	for (size_t c = 0; c < n_cells; c++)
		if (fluid_speeds(speeds, &cells[c], fit->capacity_Bps, fit->copy_weight))
			full[fit->n_full++] = measured_traffic(&cells[c]);
	fit->capacity_lo_Bps = fit->capacity_hi_Bps = fit->capacity_Bps;
	if (fit->n_full == 0)
		return;
	qsort(full, fit->n_full, sizeof full[0], compare_doubles);
	fit->capacity_lo_Bps = fmin(fit->capacity_Bps, full[(fit->n_full - 1) / 10]);
	fit->capacity_hi_Bps = fmax(fit->capacity_Bps, full[(fit->n_full - 1) * 9 / 10]);
}

bool fluid_fit_of(struct fluid_fit *fit, const struct fluid_cell cells[], size_t n_cells)
{
	enum { CAPACITIES = 241, WEIGHTS = 61 };
	double largest_Bps = 0, best = INFINITY;
	size_t n_flows = 0;
	*fit = (struct fluid_fit){.copy_weight = 1};
	for (size_t c = 0; c < n_cells; c++) {
		largest_Bps = fmax(largest_Bps, measured_traffic(&cells[c]));
		n_flows += cells[c].n_flows;
	}
	if (n_cells == 0)
		return false;
	for (int i = 0; i < CAPACITIES; i++) { /* 0.5 to 1.25 times the largest traffic seen */
		const double capacity_Bps = largest_Bps * (0.5 + 0.75 * i / (CAPACITIES - 1));
		for (int j = 0; j < WEIGHTS; j++) { /* 0.5 to 8 */
			const double weight = 0.5 * pow(16, (double)j / (WEIGHTS - 1));
			const double error = squared_error(cells, n_cells, capacity_Bps, weight);
			if (error < best) {
				best = error;
				fit->capacity_Bps = capacity_Bps;
				fit->copy_weight = weight;
			}
		}
	}
	fit->error_frac = sqrt(best / (double)n_flows);
	capacity_range(fit, cells, n_cells);
	if (fit->n_full == 0)
		fit->capacity_Bps = fit->capacity_lo_Bps = fit->capacity_hi_Bps = largest_Bps;
	return fit->n_full > 0;
}
