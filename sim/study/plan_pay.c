/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/plan_pay.h"

#include <math.h>

static const char *const no_offload = "gpu-only";
static const double gpus_max = 1024;

/* One machine, then two, three, .. of them, doubling from 16 on. */
static double more_gpus(double gpus, double per_machine)
{
	if (gpus < per_machine)
		return gpus + 1;
	return gpus < 16 * per_machine ? gpus + per_machine : 2 * gpus;
}

static void enlarge(struct hwprofile *hw, const struct hwprofile *one, double machines)
{
	*hw = *one;
	hw->gpus *= machines;
	hw->numa_domains *= machines;
	hw->host_memory_bytes *= machines;
	hw->pinned_max_bytes *= machines;
}

/* A plan of the policy without offload; false when nothing fits or the batch does not divide. */
static bool try_gpus(struct plan *plan, const struct plan_query *from, double gpus, struct arena *arena)
{
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct opt_list *const specs = arena_zalloc(arena, 1, sizeof(*specs));
	struct plan_query query = *from;
	struct err err = {0};

	query.batch.nodes = from->hw->network_Bps > 0 ? ceil(gpus / from->hw->gpus) : 1;
	query.batch.gpus = gpus / query.batch.nodes;
	enlarge(hw, from->hw, ceil(query.batch.gpus / from->hw->gpus));
	opt_list_add(specs, no_offload, arena);
	query.hw = hw;
	query.specs = specs;
	query.is_exhaustive = false;
	return plan_search(plan, &query, arena, &err) == 0 && plan->best < plan->space.n_policies;
}

static int fill(struct plan_pay *pay, const struct plan *found, struct arena *arena, struct err *err)
{
	const struct plan_choice *const best = &found->policies[found->best].best;

	pay->is_found = true;
	pay->s_per_token = best->s_per_token;
	pay->gpu_s_per_token = pay->gpus * best->s_per_token;
	pay->tokens = found->space.batches[best->batch].tokens;
	pay->metrics = best->metrics;
	return plan_input(&pay->input, found, best->batch, best->variant, arena, err);
}

int plan_pay_find(struct plan_pay *pay, const struct plan *plan, struct arena *arena, struct err *err)
{
	const struct plan_choice *const best = &plan->policies[plan->best].best;
	const double own_gpus = batch_ranks(&plan->space.batches[best->batch].workload.batch), per_machine = plan->query.hw->gpus;
	const double states_bytes = 16 * plan->space.batches[0].workload.n_params; /* what must fit at the least */
	double gpus = fmax(1, floor(states_bytes / plan->query.hw->gpu_memory_bytes));

	*pay = (struct plan_pay){.has_network = plan->query.hw->network_Bps > 0, .offload_gpu_s_per_token = own_gpus * best->s_per_token};
	gpus = gpus > per_machine ? per_machine * ceil(gpus / per_machine) : gpus;
	for (; gpus <= gpus_max; gpus = more_gpus(gpus, per_machine)) {
		struct plan *const found = arena_alloc(arena, 1, sizeof(*found));
		pay->gpus_tried = gpus;
		if (!try_gpus(found, &plan->query, gpus, arena))
			continue;
		pay->gpus = gpus;
		pay->machines = ceil(gpus / per_machine);
		return fill(pay, found, arena, err);
	}
	return 0;
}
