/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit_solve.h"

#include <math.h>
#include <string.h>

/* Where valleys are separate: the start, a DRAM of half and twice its rate, a link that is the limit in both directions at once or never,
 * one of the next PCIe generation or the one before, and layers that the host is slow to launch: where one thing hides another, slopes
 * cannot find it. */
enum { PULLED_MAX = 4 };
static const struct lever {
	double x;
	const char *names[PULLED_MAX]; /* NULL: no more */
} levers[] = {
    {0, {NULL}},
    {-0.7, {"dram_Bps"}},
    {0.7, {"dram_Bps"}},
    {0.7, {"h2d_duplex_Bps", "d2h_duplex_Bps"}},
    {-0.7, {"h2d_duplex_Bps", "d2h_duplex_Bps"}},
    {0.7, {"h2d", "d2h", "h2d_duplex_Bps", "d2h_duplex_Bps"}},
    {-0.7, {"h2d", "d2h", "h2d_duplex_Bps", "d2h_duplex_Bps"}},
    {1, {"layer_forward_launch_s", "layer_backward_launch_s"}},
};
enum { N_LEVERS = sizeof(levers) / sizeof(levers[0]) };

static bool is_pulled(const struct lever *lever, const char *name)
{
	for (size_t i = 0; i < PULLED_MAX && lever->names[i]; i++)
		if (strcmp(name, lever->names[i]) == 0)
			return true;
	return false;
}

/* False when the fit has no such constant. */
static bool pull(double *x, const struct fit_model *m, const struct lever *lever)
{
	bool has_any = !lever->names[0];

	for (size_t p = 0; p < m->n_params; p++) {
		const bool is_moved = is_pulled(lever, m->params[p]->name);
		x[p] = is_moved ? lever->x : 0;
		has_any |= is_moved;
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

/* Kinks of the schedule shrink the solver's trust region before the valley ends: started again from there, it goes on. */
static bool settle(double *x, struct fit_model *m)
{
	const double least_gain = 0.3;
	const size_t rounds_max = 4;
	double before, cost = INFINITY;
	bool has_converged = false;

	for (size_t i = 0; i < rounds_max; i++) {
		has_converged |= fit_model_solve(x, m);
		before = cost;
		cost = fit_model_cost(m, x);
		if (!(cost < before - least_gain))
			return true;
	}
	return has_converged;
}

/* Where the machine is another one than the start says, own widths have false valleys, in which a few constants bear what many would.
 * So the valley is looked for with the widths of the class. */
static struct fit_prior *widen(struct fit_model *m, struct arena *arena)
{
	struct fit_prior *const own = m->priors;

	m->priors = arena_alloc(arena, m->n_params + 1, sizeof(*m->priors));
	for (size_t p = 0; p < m->n_params; p++)
		m->priors[p] = fit_prior_wide(&own[p]);
	return own;
}

/* Solves again with what the start says of itself, unless the runs contradict it: then the start is of another machine, and the class
 * stays. x: the best with the class. */
static bool claim(double *x, struct fit_model *m, struct fit_prior *own, struct arena *arena)
{
	const double contradiction = 1; /* in the sum over the values */
	struct fit_prior *const wide = m->priors;
	double *const claimed = arena_alloc(arena, m->n_params + 1, sizeof(*claimed));

	memcpy(claimed, x, m->n_params * sizeof(*x));
	m->priors = own;
	const bool has_converged = settle(claimed, m);
	if (fit_model_misfit(m, claimed) <= fit_model_misfit(m, x) + contradiction) {
		memcpy(x, claimed, m->n_params * sizeof(*x));
		return has_converged;
	}
	m->priors = wide;
	return true; /* x has settled */
}

/* The best of their ends, then solved with own widths. rival: the next best that explains the runs otherwise, *rival_excess INFINITY
 * when there is none. */
static bool solve_from_all(double *x, double *rival, double *rival_excess, struct fit_model *m, struct arena *arena)
{
	double *const ends = arena_alloc(arena, N_LEVERS * m->n_params + 1, sizeof(*ends));
	struct fit_prior *const own = widen(m, arena);
	double costs[N_LEVERS] = {0};
	size_t best = 0;

	for (size_t l = 0; l < N_LEVERS; l++) {
		double *const end = &ends[l * m->n_params];
		const bool is_start = pull(end, m, &levers[l]);
		if (is_start)
			settle(end, m);
		costs[l] = is_start ? fit_model_cost(m, end) : INFINITY;
		if (costs[l] < costs[best] * (1 - 1e-6))
			best = l;
	}
	memcpy(x, &ends[best * m->n_params], m->n_params * sizeof(*x));
	*rival_excess = INFINITY;
	for (size_t l = 0; l < N_LEVERS; l++)
		if (costs[l] - costs[best] < *rival_excess && is_another(&ends[l * m->n_params], x, m->n_params)) {
			*rival_excess = costs[l] - costs[best];
			memcpy(rival, &ends[l * m->n_params], m->n_params * sizeof(*rival));
		}
	return claim(x, m, own, arena);
}

/* Held at the start, the others at `x`; solved again from there. */
static double solve_held(double *held, struct fit_model *m, const double *x)
{
	for (size_t p = 0; p < m->n_params; p++)
		held[p] = m->is_free[p] ? x[p] : 0;
	fit_model_solve(held, m);
	return fit_model_cost(m, held);
}

/* Of the held ones that which the runs moved most, in units of its prior, where all were free; false: they moved none. */
static bool moved_most(size_t *most, const struct fit_model *m, const double *x)
{
	const double least = 0.05; /* less is as good as the start */
	double largest = least;

	for (size_t p = 0; p < m->n_params; p++) {
		const double moved = fabs(x[p] - m->priors[p].median) / m->prior_sd[p];
		if (m->is_free[p] || moved <= largest)
			continue;
		largest = moved;
		*most = p;
	}
	return largest > least;
}

/* Slopes at one point may say nothing of a constant that had to move to reach it: what is held must not cost more than this
 * in the sum that is minimised, else those that moved most are free again. */
static const double cost_of_holding_max = 0.5;

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
	double *const all_free = arena_alloc(arena, m->n_params + 1, sizeof(*all_free));
	s->has_converged = solve_from_all(x, s->rival, &s->rival_excess, m, arena);
	memcpy(all_free, x, m->n_params * sizeof(*x));
	size_t n_free = 0, n_before, most;

	do {
		n_before = n_free;
		fit_model_jacobian(jacobian, m, x);
		fit_identify(findings, m, jacobian, is_needed, arena);
		for (size_t p = 0; p < m->n_params; p++) /* what the runs do not touch stays, whatever its interval says */
			if (!m->is_free[p] && findings[p].partner == SIZE_MAX)
				all_free[p] = m->priors[p].median = 0;
		while (solve_held(x, m, all_free) > fit_model_cost(m, all_free) + cost_of_holding_max && moved_most(&most, m, all_free))
			m->is_free[most] = is_needed[most] = true;
		n_free = 0;
		for (size_t p = 0; p < m->n_params; p++)
			n_free += m->is_free[p];
	} while (n_free != n_before);
	fit_model_jacobian(jacobian, m, x);
	fit_covariance(findings, m, jacobian, arena);
}
