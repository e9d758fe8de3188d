/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/plan_options.h"

#include <string.h>

enum { PRODUCT_MAX = 8 }; /* combinations of words that are all tried */

struct given {
	const struct policy *policy;
	const char *text; /* the SPEC */
	struct spec spec;
	size_t n_subgroups;
};

static bool is_given(const struct given *g, const struct opt *opt)
{
	for (size_t i = 0; i < g->spec.n_pairs; i++)
		if (strcmp(g->spec.pairs[i].key, opt->name) == 0)
			return true;
	return false;
}

static const char *with(const char *spec, const char *name, const char *value, struct arena *arena)
{
	return arena_printf(arena, "%s%c%s=%s", spec, strchr(spec, ':') ? ',' : ':', name, value);
}

static bool is_accepted(const char *spec, struct arena *arena)
{
	struct policy_use use;
	struct err err = {0};

	return policy_use_parse(&use, spec, arena, &err) == 0;
}

/* ---- words */

/* What no training framework offers is planned with when it is named, and only then. */
static bool is_tried(const struct opt *opt, const char *word)
{
	return strcmp(opt->name, "downscale") != 0 || strcmp(word, "split") != 0;
}

static size_t n_words(const struct opt *opt)
{
	size_t n = 0;

	for (size_t word = 0; opt->words[word]; word++)
		n += is_tried(opt, opt->words[word]);
	return n;
}

static bool is_open_word(const struct given *g, const struct opt *opt)
{
	return opt->kind == OPT_WORD && !is_given(g, opt);
}

/* All combinations, the last option fastest. */
static void add_product(struct opt_list *specs, const struct given *g, size_t option, const char *spec, struct arena *arena)
{
	while (option < g->policy->n_opts && !is_open_word(g, &g->policy->opts[option]))
		option++;
	if (option == g->policy->n_opts) {
		opt_list_add(specs, spec, arena);
		return;
	}
	const struct opt *const opt = &g->policy->opts[option];
	for (size_t word = 0; opt->words[word]; word++)
		if (is_tried(opt, opt->words[word]))
			add_product(specs, g, option + 1, with(spec, opt->name, opt->words[word], arena), arena);
}

/* The defaults, then each other word alone. */
static void add_star(struct opt_list *specs, const struct given *g, struct arena *arena)
{
	opt_list_add(specs, g->text, arena);
	for (size_t i = 0; i < g->policy->n_opts; i++) {
		const struct opt *const opt = &g->policy->opts[i];
		for (size_t word = 0; is_open_word(g, opt) && opt->words[word]; word++)
			if (is_tried(opt, opt->words[word]) && (!opt->fallback || strcmp(opt->words[word], opt->fallback) != 0))
				opt_list_add(specs, with(g->text, opt->name, opt->words[word], arena), arena);
	}
}

static void add_words(struct opt_list *specs, const struct given *g, struct arena *arena)
{
	size_t n_products = 1;

	for (size_t i = 0; i < g->policy->n_opts && n_products <= PRODUCT_MAX; i++)
		n_products *= is_open_word(g, &g->policy->opts[i]) ? n_words(&g->policy->opts[i]) : 1;
	if (n_products <= PRODUCT_MAX)
		add_product(specs, g, 0, g->text, arena);
	else
		add_star(specs, g, arena);
}

/* ---- numbers */

/* NULL: the option keeps its default. */
static const char *values_of(const struct opt *opt)
{
	static const struct {
		const char *name, *values;
	} known[] = {{"stride", "0..6,8,10,12,16"}, {"buffers", "1..4"}, {"fraction", "0..1:0.05"}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(opt->name, known[i].name) == 0)
			return known[i].values;
	return opt->kind == OPT_NUMBER && opt->unit == UNIT_FRAC && opt->max <= 1 ? "0..1:0.1" : NULL;
}

/* No stride beyond the last subgroup: it is stride 0 again. */
static bool is_useful(const struct given *g, const struct opt *opt, const char *value)
{
	double stride;
	struct err err = {0};

	return strcmp(opt->name, "stride") != 0 || units_parse(&stride, UNIT_NONE, value, &err) || stride <= (double)g->n_subgroups;
}

/* The values that the policy accepts beside these words, added as one list. A SPEC with lists of its own is judged point by point
 * later. */
static const char *add_numbers(const struct given *g, const char *spec, const char *words, const struct opt *opt, struct arena *arena)
{
	const bool is_single = is_accepted(words, arena);
	struct opt_list values = {0};
	const char *list = NULL;
	struct err err = {0};

	if (opt_expand(&values, values_of(opt), ',', arena, &err))
		return spec;
	for (size_t i = 0; i < values.n; i++) {
		const char *const value = values.items[i];
		if (is_useful(g, opt, value) && (!is_single || is_accepted(with(words, opt->name, value, arena), arena)))
			list = list ? arena_printf(arena, "%s;%s", list, value) : value;
	}
	return list ? with(spec, opt->name, list, arena) : spec;
}

int plan_options(struct opt_list *specs, const char *spec, size_t n_subgroups, bool has_words, struct arena *arena, struct err *err)
{
	struct given g = {.text = spec, .n_subgroups = n_subgroups};
	struct policy_use use;
	struct opt_list words = {0};

	if (spec_parse(&g.spec, spec, arena, err))
		return err->code;
	if (policy_use_parse(&use, g.spec.name, arena, err))
		return err->code;
	g.policy = use.policy;
	if (has_words)
		add_words(&words, &g, arena);
	else
		opt_list_add(&words, spec, arena);
	for (size_t i = 0; i < words.n; i++) {
		if (i > 0 && is_accepted(spec, arena) && !is_accepted(words.items[i], arena))
			continue;
		const char *text = words.items[i];
		for (size_t j = 0; j < g.policy->n_opts; j++)
			if (!is_given(&g, &g.policy->opts[j]) && values_of(&g.policy->opts[j]))
				text = add_numbers(&g, text, words.items[i], &g.policy->opts[j], arena);
		opt_list_add(specs, text, arena);
	}
	return 0;
}
