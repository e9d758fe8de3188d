/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fit_solve: the constants that explain the runs best, from several starts, with what is not identified held at the start.
 *
 * Order: find the valley from several starts, all constants free and as wide as their class; solve there with what the start says of
 * itself, unless the runs contradict it; judge the constants by the slopes; hold what is not identified, as long as that costs next to nothing; solve again, until
 * nothing more is held. Deterministic.
 */
#ifndef SIM_STUDY_FIT_SOLVE_H
#define SIM_STUDY_FIT_SOLVE_H

#include "sim/study/fit_identify.h"

struct fit_solution {
	double *x; /* [n_params]; 0 where held */
	struct fit_finding *findings; /* [n_params] */
	double *jacobian; /* at x: fit_model_jacobian */
	double *rival; /* [n_params]: the best other explanation that was met, all constants free */
	double rival_excess; /* how much larger its sum is, INFINITY when none was met */
	bool has_converged;
};

/* Everything lives in the arena. The model's is_free is the solution's afterwards. */
void fit_solve(struct fit_solution *solution, struct fit_model *model, struct arena *arena);

#endif
