/* SPDX-License-Identifier: GPL-3.0-or-later
 * How sure a report is: of every setting the best of each policy, run again on sampled machines where machine and model are at hand. */
#include "sim/study/report_parts.h"

#include <math.h>

/* The best first: the others are compared with it. Returns how many policies have a run that fits. */
static size_t list_bests(const struct plot_row **rows, size_t *policies, const struct report_group *group)
{
	size_t n = 0;

	for (size_t i = 0; i < group->n_policies; i++)
		if (group->policies[i].best == group->best && group->best) {
			policies[n] = i;
			rows[n++] = group->best;
			break;
		}
	for (size_t i = 0; i < group->n_policies; i++)
		if (group->policies[i].best && group->policies[i].best != group->best) {
			policies[n] = i;
			rows[n++] = group->policies[i].best;
		}
	return n;
}

/* By what a simulation of so many subgroups takes, in operations: about three seconds of one core for a setting. */
static size_t samples_of(const struct report *r, const struct report_group *group)
{
	const double most = (double)r->input->n_samples, operations = 2e7, of_subgroup = 40, of_passes = 2000;
	const double of_run = of_passes + of_subgroup * fmax(0, group->first->n_subgroups);

	if (r->input->n_samples_least == 0)
		return r->input->n_samples;
	return (size_t)fmax(
	    (double)r->input->n_samples_least, fmin(most, operations / ((double)group->n_policies * of_run)));
}

/* Only when the best is known: it is what the others are compared with. */
static int judge(struct report *r, struct report_group *group, struct err *err)
{
	const struct plot_source source = {.input = PLOT_FROM_DB,
	    .n_samples = samples_of(r, group),
	    .seed = r->input->seed,
	    .machines = r->input->machines,
	    .shapes = r->input->shapes,
	    .n_shapes = r->input->n_shapes};
	const struct plot_row **const rows = arena_alloc(r->arena, group->n_policies + 1, sizeof(*rows));
	struct outcome *const outcomes = arena_alloc(r->arena, group->n_policies + 1, sizeof(*outcomes));
	size_t *const policies = arena_alloc(r->arena, group->n_policies + 1, sizeof(*policies));
	bool *const has = arena_alloc(r->arena, group->n_policies + 1, sizeof(*has));
	const size_t n = list_bests(rows, policies, group);

	if (n == 0)
		return 0;
	if (plot_rows_outcomes(outcomes, has, rows, n, &source, r->arena, err)) {
		if (r->input->n_samples_least == 0)
			return err->code;
		opt_list_add(r->notes, arena_printf(r->arena, "no intervals: %s", err->text),
		    r->arena); /* the report is as good without */
		return 0;
	}
	for (size_t i = 0; has[0] && i < n; i++)
		group->policies[policies[i]].sure = has[i] ? &outcomes[i] : NULL;
	group->n_samples = source.n_samples;
	r->is_sure = r->is_sure || has[0];
	if (!has[0])
		opt_list_add(r->notes,
		    arena_printf(r->arena, "%s: no intervals: machine or model are not at hand, or give other times by now",
			report_group_name(&r->groups, group, r->arena)),
		    r->arena);
	return 0;
}

/* The rows of a plan come with what is known of them. */
static void take_given(struct report *r, struct report_group *group)
{
	for (size_t i = 0; i < group->n_policies; i++) {
		struct report_policy *const policy = &group->policies[i];
		policy->sure = policy->best ? r->input->given->sure[policy->best - r->rows.rows] : NULL;
		r->is_sure = r->is_sure || policy->sure;
	}
	group->n_samples = r->input->n_samples;
}

int report_sure(struct report *r, struct err *err)
{
	int code = 0;

	for (size_t i = 0; r->input->given && i < r->groups.n; i++)
		take_given(r, &r->groups.groups[i]);
	if (r->input->given)
		return 0;
	for (size_t i = 0; !code && r->input->n_samples > 0 && i < r->groups.n && i < REPORT_SURE_MAX; i++)
		code = judge(r, &r->groups.groups[i], err);
	return code;
}

const struct outcome *report_group_sure(const struct report_group *group)
{
	for (size_t i = 0; i < group->n_policies; i++)
		if (group->best && group->policies[i].best == group->best)
			return group->policies[i].sure;
	return NULL;
}
