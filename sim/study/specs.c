/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/specs.h"

/* Every text of `before` with every value of a pair. */
static int multiply(struct opt_list *specs, const struct spec *spec, size_t pair, struct arena *arena, struct err *err)
{
	const char *const key = spec->pairs[pair].key;
	struct opt_list values = {0}, product = {0};

	if (opt_expand(&values, spec->pairs[pair].value, ';', arena, err))
		return err_wrap(err, "policy %s: %s", spec->name, key);
	if (specs->n * values.n > SPECS_MAX)
		return err_set(err, STATUS_USAGE, "policy %s: more than %d combinations", spec->name, SPECS_MAX);
	for (size_t i = 0; i < specs->n; i++)
		for (size_t j = 0; j < values.n; j++)
			opt_list_add(&product, arena_printf(arena, "%s%c%s=%s", specs->items[i], pair ? ',' : ':', key, values.items[j]), arena);
	*specs = product;
	return 0;
}

static int expand_one(struct opt_list *specs, const char *text, struct arena *arena, struct err *err)
{
	struct opt_list expanded = {0};
	struct spec spec;

	if (spec_parse(&spec, text, arena, err))
		return err->code;
	opt_list_add(&expanded, spec.name, arena);
	for (size_t pair = 0; pair < spec.n_pairs; pair++)
		if (multiply(&expanded, &spec, pair, arena, err))
			return err->code;
	for (size_t i = 0; i < expanded.n; i++)
		opt_list_add(specs, expanded.items[i], arena);
	return 0;
}

int specs_expand(struct opt_list *specs, const char *text, struct arena *arena, struct err *err)
{
	struct opt_list singles = {0};

	if (spec_split(&singles, text, arena, err))
		return err->code;
	for (size_t i = 0; i < singles.n; i++)
		if (expand_one(specs, singles.items[i], arena, err))
			return err->code;
	return 0;
}
