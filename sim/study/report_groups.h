/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * report_groups: runs put together by what is given (machine, model, GPUs, nodes, ZeRO stage, tensor parallelism, sequence length, scale, contention), so that the best
 * of what can be chosen (policy, its options, micro-batch, accumulation, subgroup, threads) can be named for each.
 *
 * Invariant: every row is in exactly one group; groups and policies are in order of appearance; the best of several equal ones is
 * the first. A row whose fit is unknown counts as one that fits.
 */
#ifndef SIM_STUDY_REPORT_GROUPS_H
#define SIM_STUDY_REPORT_GROUPS_H

#include "sim/study/interval.h"
#include "sim/study/plot_rows.h"

/* One policy within a group. */
struct report_policy {
	const char *name;
	const struct plot_row *best; /* the fastest that fits, NULL none */
	const struct plot_row *smallest; /* least GPU memory */
	size_t n, n_fit;
	const struct outcome *sure; /* of the best among the policies; NULL: not known (report_sure) */
};

struct report_group {
	const struct plot_row *first;
	const struct plot_row *best, *smallest; /* as of a policy */
	const struct plot_row *offload; /* the fastest that fits and has state on the host */
	struct report_policy *policies;
	size_t n_policies, cap;
	size_t n, n_fit;
	size_t n_samples; /* draws behind the policies' `sure` */
};

struct report_groups {
	struct report_group *groups;
	size_t n;
	bool has_gpus, has_nodes, has_parallel, has_seq, has_scale, has_contention; /* groups differ in it */
};

void report_groups_make(struct report_groups *groups, const struct plot_rows *rows, struct arena *arena);

/* "20b on h100-4x, 8 GPUs, scaled dram=2": what tells the group from the others. */
const char *report_group_name(const struct report_groups *groups, const struct report_group *group, struct arena *arena);
/* The group's runs of zero3-offload, NULL none. */
const struct report_policy *report_group_baseline(const struct report_group *group);

/* Larger is better, NAN unknown: tokens/s, or updates/s where an update was run alone. */
double report_rate(const struct plot_row *row);
bool report_has_tokens(const struct plot_row *row);
/* Of an iteration of all ranks, where there are any. */
double report_tokens(const struct plot_row *row);
/* The policy SPEC without options at their default: a SPEC again. */
const char *report_spec(const struct plot_row *row, struct arena *arena);

#endif
