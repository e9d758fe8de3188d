/* SPDX-License-Identifier: GPL-3.0-or-later
 * The policies of grid.h. */
#include <assert.h>
#include <string.h>

#include "sim/study/grid.h"

/* Puts an option's values into a policy: a single value into its base, several as one more axis. */
static void add_axis(struct grid_policy *entry, const struct axis *axis)
{
	if (axis->n == 1)
		axis_set(entry->base, axis, 0);
	else
		entry->axes[entry->n_axes++] = *axis;
}

static int add_pair(struct grid_policy *entry, const struct spec *spec, size_t pair, struct arena *arena, struct err *err)
{
	const struct policy *const policy = entry->policy;
	const struct spec alone = {spec->name, &spec->pairs[pair], 1};
	const struct opt *const opt = opt_find(policy->opts, policy->n_opts, alone.pairs->key, strlen(alone.pairs->key));
	struct axis axis;

	if (!opt) /* says what is accepted */
		return spec_apply(entry->base, policy->opts, policy->n_opts, &alone, arena, err);
	for (size_t i = 0; i < pair; i++)
		if (strcmp(spec->pairs[i].key, alone.pairs->key) == 0)
			return err_set(err, STATUS_USAGE, "policy %s: %s: given twice", spec->name, alone.pairs->key);
	if (axis_parse(&axis, opt, alone.pairs->value, ';', arena, err))
		return err_wrap(err, "policy %s", spec->name);
	entry->is_given[opt - policy->opts] = true;
	add_axis(entry, &axis);
	return 0;
}

static void *new_params(const struct policy *policy, struct arena *arena)
{
	void *const params = arena_zalloc(arena, 1, policy->params_size + 1);

	opt_defaults(params, policy->opts, policy->n_opts, arena);
	return params;
}

static int add_policy(struct grid_policy *entry, const char *text, struct arena *arena, struct err *err)
{
	struct spec spec;
	struct policy_use use;

	if (spec_parse(&spec, text, arena, err))
		return err->code;
	const struct policy *const policy = policy_find(spec.name);
	if (!policy) /* says what is accepted */
		return policy_use_parse(&use, spec.name, arena, err);
	*entry = (struct grid_policy){.policy = policy, .base = new_params(policy, arena)};
	entry->axes = arena_alloc(arena, policy->n_opts + 1, sizeof(*entry->axes));
	entry->is_given = arena_zalloc(arena, policy->n_opts + 1, sizeof(*entry->is_given));
	for (size_t pair = 0; pair < spec.n_pairs; pair++)
		if (add_pair(entry, &spec, pair, arena, err))
			return err->code;
	return entry->n_axes == 0 ? policy_check(policy, entry->base, err) : 0;
}

int grid_add_policies(struct grid *grid, const char *text, struct err *err)
{
	struct opt_list specs = {0};

	if (spec_split(&specs, text, grid->arena, err))
		return err->code;
	struct grid_policy *const entries = arena_zalloc(grid->arena, grid->n_policies + specs.n, sizeof(*entries));
	if (grid->n_policies)
		memcpy(entries, grid->policies, grid->n_policies * sizeof(*entries));
	grid->policies = entries;
	for (size_t i = 0; i < specs.n; i++)
		if (add_policy(&entries[grid->n_policies++], specs.items[i], grid->arena, err))
			return err->code;
	return 0;
}

void grid_add_option(struct grid *grid, const char *name, const char *text)
{
	assert(grid->n_options < GRID_OPTIONS_MAX);
	grid->options[grid->n_options++] = (struct grid_option){.name = name, .text = text};
}

static int apply_option(struct grid_policy *entry, struct grid_option *option, struct arena *arena, struct err *err)
{
	const struct policy *const policy = entry->policy;
	const struct opt *const opt = opt_find(policy->opts, policy->n_opts, option->name, strlen(option->name));
	struct axis axis;

	if (!opt)
		return 0;
	option->is_used = true;
	if (entry->is_given[opt - policy->opts])
		return 0;
	if (axis_parse(&axis, opt, option->text, ',', arena, err))
		return err_wrap(err, "--%s, policy %s", option->name, policy->name);
	entry->is_given[opt - policy->opts] = true;
	add_axis(entry, &axis);
	return 0;
}

static int apply_options(struct grid *grid, struct err *err)
{
	for (size_t i = 0; i < grid->n_options; i++) {
		struct grid_option *const option = &grid->options[i];
		for (size_t j = 0; j < grid->n_policies; j++)
			if (apply_option(&grid->policies[j], option, grid->arena, err))
				return err->code;
		if (!option->is_used)
			return err_set(err, STATUS_USAGE, "--%s: none of the policies has %s", option->name, option->name);
	}
	return 0;
}

int grid_finish_policies(struct grid *grid, struct err *err)
{
	const double variants_max = 1e15;

	if (apply_options(grid, err))
		return err->code;
	for (size_t i = 0; i < grid->n_policies; i++) {
		struct grid_policy *const entry = &grid->policies[i];
		double n_variants = 1;
		for (size_t j = 0; j < entry->n_axes; j++)
			n_variants *= (double)entry->axes[j].n;
		if (n_variants > variants_max)
			return err_set(err, STATUS_USAGE, "policy %s: %.4g combinations; up to %.4g would be accepted", entry->policy->name,
			    n_variants, variants_max);
		entry->n_variants = (size_t)n_variants;
		entry->start = grid->n_variants;
		grid->n_variants += entry->n_variants;
	}
	return 0;
}

/* The last policy that starts at or before the variant. */
static const struct grid_policy *policy_of(const struct grid *grid, size_t variant)
{
	size_t low = 0, high = grid->n_policies;

	while (high - low > 1) {
		const size_t middle = (low + high) / 2;
		if (grid->policies[middle].start <= variant)
			low = middle;
		else
			high = middle;
	}
	return &grid->policies[low];
}

void grid_policy_at(struct policy_use *use, const struct grid *grid, size_t variant, struct arena *arena)
{
	const struct grid_policy *const entry = policy_of(grid, variant);
	size_t left = variant - entry->start;

	*use = (struct policy_use){.policy = entry->policy, .params = arena_zalloc(arena, 1, entry->policy->params_size + 1)};
	if (entry->policy->params_size)
		memcpy(use->params, entry->base, entry->policy->params_size);
	for (size_t i = entry->n_axes; i-- > 0; left /= entry->axes[i].n) /* the last option varies fastest */
		axis_set(use->params, &entry->axes[i], left % entry->axes[i].n);
}
