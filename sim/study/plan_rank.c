/* SPDX-License-Identifier: GPL-3.0-or-later
 * The order in which the policies of a plan are shown. */
#include <math.h>

#include "sim/study/plan.h"

/* Times of what fits, then shortages, then what is refused. */
static double rank_key(const struct plan_policy *p)
{
	const double beyond_any_time_s = 1e9;

	return p->has_best ? p->best.s_per_token : p->has_misfit ? beyond_any_time_s + p->shortage_frac : INFINITY;
}

void plan_rank(size_t *order, const struct plan *plan)
{
	for (size_t i = 0; i < plan->space.n_policies; i++) {
		size_t at = i;
		for (; at > 0 && rank_key(&plan->policies[order[at - 1]]) > rank_key(&plan->policies[i]); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}
