/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan_space: the alternatives of a plan: every batch (micro-batch, accumulation, subgroup size, checkpointing) with every variant of
 * every policy. An alternative is a pair of indices; the order of batches and variants is fixed, and decides ties.
 */
#ifndef SIM_STUDY_PLAN_SPACE_H
#define SIM_STUDY_PLAN_SPACE_H

#include "sim/study/bound.h"
#include "sim/study/trial.h"

/* What to plan. 0 and NULL: not given, so it is searched, or has its default. */
struct plan_query {
	const struct hwprofile *hw; /* borrowed; the limits of memory are its own */
	struct shape shape;
	struct batch batch; /* gpus, nodes, seq: the profile's, 1 and 2048 */
	bool has_checkpointing; /* batch.has_checkpointing is given */
	double tokens_per_batch; /* of all ranks; 0: free, and without accumulation unless that is given */
	const struct opt_list *specs; /* what a SPEC leaves open is searched; NULL or none: all policies */
	bool keeps_words; /* options of words keep their defaults */
	double threads;
	const struct sharing *sharing;
	enum sync sync;
	size_t n_workers; /* threads of the search, at least 1 */
	bool is_exhaustive; /* simulate all that is not refused */
};

struct plan_batch {
	struct workload workload;
	double tokens; /* of an iteration of all ranks */
	struct bound any; /* of whatever policy */
	bool fits_none; /* by memory that any policy needs */
};

struct plan_variant {
	struct policy_use use; /* not resolved */
	size_t policy; /* index into policies */
};

struct plan_space {
	struct plan_batch *batches; /* in order of the bound on time per token, what fits none last */
	size_t n_batches;
	struct plan_variant *variants;
	size_t n_variants;
	const struct policy **policies; /* distinct, in order of appearance */
	size_t n_policies;
};

/* STATUS_USAGE: what cannot be planned. Everything lives in the arena. */
int plan_space_init(struct plan_space *space, const struct plan_query *query, struct arena *arena, struct err *err) MUST_CHECK;

#endif
