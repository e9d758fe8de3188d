/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit_solve.h"

#include <math.h>
#include <string.h>

/* Where valleys are separate: the start, a DRAM of half and twice its rate, a link that is never the limit or always, and
 * layers that the host is slow to launch: where one thing hides another, slopes cannot find it. */
static const struct lever {
	const char *name, *also;
	double x;
} levers[] = {
    {NULL, NULL, 0},
    {"dram_Bps", NULL, -0.7},
    {"dram_Bps", NULL, 0.7},
    {"h2d_duplex_Bps", "d2h_duplex_Bps", 0.7},
    {"h2d_duplex_Bps", "d2h_duplex_Bps", -0.7},
    {"layer_forward_launch_s", "layer_backward_launch_s", 1},
};
enum { N_LEVERS = sizeof(levers) / sizeof(levers[0]) };

/* False when the fit has no such constant. */
static bool pull(double *x, const struct fit_model *m, const struct lever *lever)
{
	bool has_any = !lever->name;

	for (size_t p = 0; p < m->n_params; p++) {
		const char *const name = m->params[p]->name;
		const bool is_pulled = lever->name && (strcmp(name, lever->name) == 0 || (lever->also && strcmp(name, lever->also) == 0));
		x[p] = is_pulled ? lever->x : 0;
		has_any |= is_pulled;
	}
	return has_any;
}

/* Another valley: some constant is off by more than slopes and tolerances explain. */
static const double other_valley = 0.15;

static bool is_another(const double *a, const double *b, size_t n)
{
	for (size_t p = 0; p < n; p++)
		if (fabs(a[p] - b[p]) > other_valley)
			return true;
	return false;
}

/* The best of their ends. rival: the next best that explains the runs otherwise, *rival_cost INFINITY when there is none. */
static bool solve_from_all(double *x, double *rival, double *rival_cost, struct fit_model *m, struct arena *arena)
{
	double *const ends = arena_alloc(arena, N_LEVERS * m->n_params + 1, sizeof(*ends));
	double costs[N_LEVERS];
	bool has_converged = true;
	size_t best = 0;

	for (size_t l = 0; l < N_LEVERS; l++) {
		double *const end = &ends[l * m->n_params];
		const bool is_pulled = pull(end, m, &levers[l]);
		const bool is_end = is_pulled && fit_model_solve(end, m);
		costs[l] = is_pulled ? fit_model_cost(m, end) : INFINITY;
		if (l == 0 || costs[l] < costs[best] * (1 - 1e-6)) {
			best = l;
			has_converged = is_end;
		}
	}
	memcpy(x, &ends[best * m->n_params], m->n_params * sizeof(*x));
	*rival_cost = INFINITY;
	for (size_t l = 0; l < N_LEVERS; l++)
		if (costs[l] < *rival_cost && is_another(&ends[l * m->n_params], x, m->n_params)) {
			*rival_cost = costs[l];
			memcpy(rival, &ends[l * m->n_params], m->n_params * sizeof(*rival));
		}
	return has_converged;
}

/* Held at the start, the others at `x`; solved again from there. */
static double solve_held(double *held, struct fit_model *m, const double *x)
{
	for (size_t p = 0; p < m->n_params; p++)
		held[p] = m->is_free[p] ? x[p] : 0;
	fit_model_solve(held, m);
	return fit_model_cost(m, held);
}

/* Of the held ones that which moved most, in units of its prior; false: none moved. */
static bool moved_most(size_t *most, const struct fit_model *m, const double *x)
{
	double largest = 0.05; /* less is as good as the start */

	for (size_t p = 0; p < m->n_params; p++) {
		const double moved = fabs(x[p]) / m->params[p]->prior_sd;
		if (m->is_free[p] || moved <= largest)
			continue;
		largest = moved;
		*most = p;
	}
	return largest > 0.05;
}

/* Slopes at one point may say nothing of a constant that had to move to reach it: what is held must not cost more than this in the
 * sum that is minimised, else those that moved most are free again. */
static const double cost_of_holding_max = 3;

static void start_solution(struct fit_solution *s, const struct fit_model *m, struct arena *arena)
{
	s->x = arena_zalloc(arena, m->n_params + 1, sizeof(*s->x));
	s->rival = arena_zalloc(arena, m->n_params + 1, sizeof(*s->rival));
	s->jacobian = arena_alloc(arena, m->n_values * m->n_params + 1, sizeof(*s->jacobian));
	s->findings = arena_zalloc(arena, m->n_params + 1, sizeof(*s->findings));
}

/* Solves with all, judges, holds, solves again, until nothing is held any more. jacobian is that of the end. */
void fit_solve(struct fit_solution *s, struct fit_model *m, struct arena *arena)
{
	start_solution(s, m, arena);
	double *const x = s->x, *const jacobian = s->jacobian;
	struct fit_finding *const findings = s->findings;
	bool *const is_needed = arena_zalloc(arena, m->n_params + 1, sizeof(*is_needed));
	double *const held = arena_alloc(arena, m->n_params + 1, sizeof(*held));
	double rival_cost;
	s->has_converged = solve_from_all(x, s->rival, &rival_cost, m, arena);
	const double best = fit_model_cost(m, x);
	s->rival_excess = rival_cost - best;
	size_t n_free = 0, n_before, most;

	do {
		n_before = n_free;
		fit_model_jacobian(jacobian, m, x);
		fit_identify(findings, m, jacobian, is_needed, arena);
		while (solve_held(held, m, x) > best + cost_of_holding_max && moved_most(&most, m, x))
			m->is_free[most] = is_needed[most] = true;
		memcpy(x, held, m->n_params * sizeof(*x));
		n_free = 0;
		for (size_t p = 0; p < m->n_params; p++)
			n_free += m->is_free[p];
	} while (n_free != n_before);
	fit_model_jacobian(jacobian, m, x);
	fit_covariance(findings, m, jacobian, arena);
}
