/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan_near: what each single change of the best alternative would do: the next value of one option or of the batch.
 */
#ifndef SIM_STUDY_PLAN_NEAR_H
#define SIM_STUDY_PLAN_NEAR_H

#include "sim/study/plan.h"

struct plan_change {
	const char *text; /* "stride=3", "mbs 8 x 2" */
	struct plan_choice choice;
};

struct plan_near {
	struct plan_change *changes; /* by time, what does not fit last */
	size_t n;
};

/* The plan has a best. STATUS_USAGE does not happen to a plan that was found. */
int plan_near_find(struct plan_near *near, const struct plan *plan, struct arena *arena, struct err *err) MUST_CHECK;

#endif
