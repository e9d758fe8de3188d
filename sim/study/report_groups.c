/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/report_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one row */

bool report_has_tokens(const struct plot_row *row)
{
	return row->forward_s > 0 && row->iteration_s > 0 && row->gpus > 0 && row->mbs > 0 && row->grad_accum > 0 && row->seq > 0;
}

double report_tokens(const struct plot_row *row)
{
	return row->gpus * fmax(1, row->nodes) / fmax(1, row->tp) * row->mbs * row->grad_accum * row->seq;
}

double report_rate(const struct plot_row *row)
{
	if (report_has_tokens(row))
		return report_tokens(row) / row->iteration_s;
	return row->update_s > 0 ? 1 / row->update_s : (double)NAN;
}

/* Filled in from the machine when it is left open. */
static bool follows(const char *key)
{
	return strcmp(key, "workers") == 0 || strcmp(key, "unscale") == 0;
}

const char *report_spec(const struct plot_row *row, struct arena *arena)
{
	const struct policy *const policy = policy_find(row->policy);
	const char *text = row->policy;
	struct spec spec;
	struct err err;

	if (!policy || spec_parse(&spec, row->spec, arena, &err))
		return row->spec;
	for (size_t i = 0, n = 0; i < spec.n_pairs; i++) {
		const struct spec_pair *const pair = &spec.pairs[i];
		const struct opt *const opt = opt_find(policy->opts, policy->n_opts, pair->key, strlen(pair->key));
		if (opt && (opt->fallback ? strcmp(opt->fallback, pair->value) == 0 : follows(pair->key)))
			continue;
		text = arena_printf(arena, "%s%c%s=%s", text, n++ ? ',' : ':', pair->key, pair->value);
	}
	return text;
}

static bool fits(const struct plot_row *row)
{
	return row->feasible != 0;
}

static bool is_faster(const struct plot_row *row, const struct plot_row *than)
{
	const double rate = report_rate(row);

	return fits(row) && !isnan(rate) && (!than || rate > report_rate(than));
}

static bool is_smaller(const struct plot_row *row, const struct plot_row *than)
{
	return !isnan(row->gpu_peak_bytes) && (!than || row->gpu_peak_bytes < than->gpu_peak_bytes);
}

/* ---- groups */

static int compare_numbers(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

/* By what is given. An update alone is another one when its subgroups differ. */
static int compare_given(const struct plot_row *a, const struct plot_row *b)
{
	int order = strcmp(a->hw, b->hw);

	order = order ? order : strcmp(a->model, b->model);
	order = order ? order : strcmp(a->scale, b->scale);
	order = order ? order : strcmp(a->contention, b->contention);
	order = order ? order : compare_numbers(a->gpus, b->gpus);
	order = order ? order : compare_numbers(a->nodes, b->nodes);
	order = order ? order : compare_numbers(a->zero, b->zero);
	order = order ? order : compare_numbers(a->tp, b->tp);
	order = order ? order : compare_numbers(a->seq, b->seq);
	if (order || report_has_tokens(a) || strcmp(a->model, "update") != 0)
		return order;
	order = compare_numbers(a->subgroup, b->subgroup);
	return order ? order : compare_numbers(a->n_subgroups, b->n_subgroups);
}

static int by_given(const void *a, const void *b)
{
	const struct plot_row *const x = *(const struct plot_row *const *)a, *const y = *(const struct plot_row *const *)b;
	const int order = compare_given(x, y);

	return order ? order : (x > y) - (x < y);
}

static int by_appearance(const void *a, const void *b)
{
	const struct plot_row *const x = ((const struct report_group *)a)->first, *const y = ((const struct report_group *)b)->first;

	return (x > y) - (x < y);
}

static struct report_policy *find_policy(struct report_group *group, const char *name)
{
	for (size_t i = 0; i < group->n_policies; i++)
		if (strcmp(group->policies[i].name, name) == 0)
			return &group->policies[i];
	if (group->n_policies == group->cap) { /* names from elsewhere may be many */
		group->policies[group->cap - 1].name = "others";
		return &group->policies[group->cap - 1];
	}
	group->policies[group->n_policies] = (struct report_policy){.name = name};
	return &group->policies[group->n_policies++];
}

static void add_row(struct report_group *group, const struct plot_row *row)
{
	struct report_policy *const policy = find_policy(group, row->policy);

	group->n++;
	group->n_fit += fits(row);
	policy->n++;
	policy->n_fit += fits(row);
	if (is_faster(row, group->best))
		group->best = row;
	if (row->host_peak_bytes > 0 && is_faster(row, group->offload))
		group->offload = row;
	if (is_smaller(row, group->smallest))
		group->smallest = row;
	if (is_faster(row, policy->best))
		policy->best = row;
	if (is_smaller(row, policy->smallest))
		policy->smallest = row;
}

static void make_group(struct report_group *group, const struct plot_row *const *rows, size_t n, struct arena *arena)
{
	enum { POLICIES_MAX = 16 };
	const size_t cap = n < POLICIES_MAX ? n : POLICIES_MAX;

	*group = (struct report_group){.first = rows[0], .policies = arena_alloc(arena, cap, sizeof(*group->policies)), .cap = cap};
	for (size_t i = 0; i < n; i++)
		add_row(group, rows[i]);
}

static void find_differences(struct report_groups *groups)
{
	const struct plot_row *const first = groups->groups[0].first;

	for (size_t i = 1; i < groups->n; i++) {
		const struct plot_row *const row = groups->groups[i].first;
		groups->has_gpus |= compare_numbers(row->gpus, first->gpus) != 0;
		groups->has_nodes |= compare_numbers(row->nodes, first->nodes) != 0;
		groups->has_parallel |= compare_numbers(row->zero, first->zero) != 0 || compare_numbers(row->tp, first->tp) != 0;
		groups->has_seq |= compare_numbers(row->seq, first->seq) != 0;
		groups->has_scale |= strcmp(row->scale, first->scale) != 0;
		groups->has_contention |= strcmp(row->contention, first->contention) != 0;
	}
}

void report_groups_make(struct report_groups *groups, const struct plot_rows *rows, struct arena *arena)
{
	const struct plot_row **const sorted = arena_alloc(arena, rows->n, sizeof(*sorted));

	*groups = (struct report_groups){.groups = arena_alloc(arena, rows->n, sizeof(*groups->groups))};
	for (size_t i = 0; i < rows->n; i++)
		sorted[i] = &rows->rows[i];
	qsort(sorted, rows->n, sizeof(*sorted), by_given);
	for (size_t start = 0, end; start < rows->n; start = end) {
		for (end = start + 1; end < rows->n && compare_given(sorted[start], sorted[end]) == 0;)
			end++;
		make_group(&groups->groups[groups->n++], sorted + start, end - start, arena);
	}
	qsort(groups->groups, groups->n, sizeof(*groups->groups), by_appearance);
	find_differences(groups);
}

const char *report_group_name(const struct report_groups *groups, const struct report_group *group, struct arena *arena)
{
	const struct plot_row *const row = group->first;
	const char *text = arena_printf(arena, "%s on %s", row->model, row->hw);

	if (groups->has_gpus)
		text = arena_printf(arena, "%s, %.6g GPU%s", text, row->gpus, row->gpus == 1 ? "" : "s");
	if (groups->has_nodes)
		text = arena_printf(arena, "%s, %.6g node%s", text, row->nodes, row->nodes == 1 ? "" : "s");
	if (groups->has_parallel)
		text = arena_printf(arena, "%s, ZeRO-%.0f, tensor parallel %.0f", text, row->zero, row->tp);
	if (groups->has_seq)
		text = arena_printf(arena, "%s, %.6g tokens", text, row->seq);
	if (groups->has_scale)
		text = arena_printf(arena, "%s, %s%s", text, *row->scale ? "scaled " : "as it is", row->scale);
	if (groups->has_contention)
		text = arena_printf(arena, "%s, contention %s", text, row->contention);
	return text;
}

const struct report_policy *report_group_baseline(const struct report_group *group)
{
	for (size_t i = 0; i < group->n_policies; i++)
		if (strcmp(group->policies[i].name, "zero3-offload") == 0)
			return &group->policies[i];
	return NULL;
}
