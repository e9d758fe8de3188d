/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan_sure: how sure a plan is: intervals of its best, of the best of every policy and of every change of the best, all on the same
 * draws of the machine (interval.h), and how probably each of them is the best.
 */
#ifndef SIM_STUDY_PLAN_SURE_H
#define SIM_STUDY_PLAN_SURE_H

#include "sim/study/interval.h"
#include "sim/study/plan_near.h"
#include "sim/study/plan_pay.h"

struct plan_sure {
	const struct uncertainty *uncertainty;
	const struct outcome
	    *policies; /* [space.n_policies] of what fits: p_best among them, p_faster than the plan's best */
	const struct outcome *changes; /* [near->n]: p_best among them and the plan's best */
	double p_best_unchanged; /* that no change is better */
	double p_pays; /* that the plan takes less GPU time than without offload; NAN: nothing to compare */
};

/* u: of the profile that the plan's is a copy of. The plan has a best. STATUS_USAGE does not happen to a plan that was found. */
int plan_sure_find(struct plan_sure *sure, const struct plan *plan, const struct plan_near *near,
    const struct plan_pay *pay, const struct uncertainty *u, struct arena *arena, struct err *err) MUST_CHECK;

#endif
