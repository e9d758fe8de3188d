/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan: the alternative that needs the least time per token and fits, by branch and bound: what cannot fit or cannot be faster than
 * the best known of its policy is not simulated (bound.h); what is left is, from the most promising on.
 *
 * Invariant: the best of every policy is that of an exhaustive search of the same space; results and counts do not depend on the
 * number of threads.
 */
#ifndef SIM_STUDY_PLAN_H
#define SIM_STUDY_PLAN_H

#include "sim/study/plan_space.h"

/* One alternative. */
struct plan_choice {
	size_t batch, variant;
	double s_per_token; /* INFINITY: not simulated yet */
	struct metrics metrics; /* reason in the plan's arena */
};

struct plan_policy {
	const struct policy *policy;
	bool has_best, has_misfit;
	struct plan_choice best;
	struct plan_choice misfit; /* the one that is short of least memory, when there is no best */
	double shortage_frac; /* of the misfit: what is missing over the limit, of both memories together */
	const char *refusal; /* when there is neither */
};

struct plan_counts {
	size_t n; /* alternatives: all of these together */
	size_t n_refused; /* by the policy */
	size_t n_unfit; /* by a bound on memory */
	size_t n_slower_batch; /* by what any policy needs with this batch */
	size_t n_slower; /* by a bound on time */
	size_t n_simulated;
};

struct plan {
	struct plan_query query;
	struct plan_space space;
	struct plan_policy *policies; /* [space.n_policies] */
	struct plan_counts counts;
	size_t best; /* index into policies, n_policies when nothing fits */
};

/* STATUS_USAGE; that nothing fits is no error. Everything lives in the arena. */
int plan_search(struct plan *plan, const struct plan_query *query, struct arena *arena, struct err *err) MUST_CHECK;
/* The trial of an alternative, as dos simulate would run it. STATUS_USAGE when the policy refuses. */
int plan_input(struct trial_input *input, const struct plan *plan, size_t batch, size_t variant, struct arena *arena, struct err *err)
    MUST_CHECK;
/* Simulates a choice and fills its metrics and time; nothing else of the trial stays. */
int plan_run(struct plan_choice *choice, const struct plan *plan, struct arena *arena, struct err *err) MUST_CHECK;
/* Bytes that are missing in a pool, 0 none. */
double plan_shortage(const struct metrics *metrics, const struct hwprofile *hw, enum pool pool);
/* Policies by time, what does not fit after them by shortage. Fills order[space.n_policies]. */
void plan_rank(size_t *order, const struct plan *plan);

#endif
