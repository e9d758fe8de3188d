/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan_pay: does offload pay? The same model and limits without offload, on as many GPUs of the same machine as it needs.
 *
 * More GPUs than a machine has are more such machines: nodes where the profile knows their network, else one machine as large, with
 * the network as fast as inside one, a comparison that favours the GPUs.
 */
#ifndef SIM_STUDY_PLAN_PAY_H
#define SIM_STUDY_PLAN_PAY_H

#include "sim/study/plan.h"

struct plan_pay {
	bool is_found; /* false: it does not fit on gpus_tried */
	double gpus, machines, gpus_tried; /* of all machines */
	bool has_network; /* the one between machines is known */
	double s_per_token, gpu_s_per_token; /* of all GPUs together; of GPU time */
	double tokens; /* of an iteration */
	double offload_gpu_s_per_token; /* of the plan's best */
	struct trial_input input; /* of the best without offload, in the arena */
	struct metrics metrics;
};

/* The plan has a best. */
int plan_pay_find(struct plan_pay *pay, const struct plan *plan, struct arena *arena, struct err *err) MUST_CHECK;

#endif
