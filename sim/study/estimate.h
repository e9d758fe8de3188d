/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * estimate: the update phase of a policy in closed form, for sweeps of very many points. What the closed form does not give
 * (forward, backward, memory) is left to the simulation.
 */
#ifndef SIM_STUDY_ESTIMATE_H
#define SIM_STUDY_ESTIMATE_H

#include "model/closed_form.h"
#include "model/stride_curve.h"
#include "sim/policy.h"

struct estimate {
	double update_s; /* start of the step included, and the all-gather of stages 1 and 2 */
	enum res bottleneck; /* of the largest lane; RES_MAIN where everything runs in a row */
};

/* curve: of an earlier point, used again where it is of this one (stride_curve_is_of), else made anew. use: resolved. Interleaved updates (dos, hybrid) by stride or fraction; zero3-offload, twinflow and gpu-only by the exact
 * recurrence, slowed by a full DRAM when is_contended. STATUS_USAGE for a policy without a closed form. */
int estimate_update(struct estimate *estimate, struct stride_curve *curve, const struct policy_use *use, const struct cost *cost,
    const struct workload *workload, bool is_contended, struct err *err) MUST_CHECK;

/* What MAIN does at the start of the step of a whole iteration, before the first update, the same for every policy: overflow check (fp16),
 * step_fixed_s, step_subgroup_s of every subgroup. 0 for an update alone. */
double estimate_start_s(const struct cost *cost, const struct workload *workload);

#endif
