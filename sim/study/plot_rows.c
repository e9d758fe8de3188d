/* SPDX-License-Identifier: GPL-3.0-or-later
 * Facts and labels. */
#include "sim/study/plot_rows.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct plot_row *plot_rows_add(struct plot_rows *rows, struct arena *arena)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap ? 2 * rows->cap : 64;
		struct plot_row *const more = arena_alloc(arena, rows->cap, sizeof(*more));
		if (rows->n)
			memcpy(more, rows->rows, rows->n * sizeof(*more));
		rows->rows = more;
	}
	rows->rows[rows->n] = (struct plot_row){0};
	return &rows->rows[rows->n++];
}

bool plot_row_is_better(const struct plot_row *row, const struct plot_row *than)
{
	if (!than || isnan(than->update_s))
		return true;
	if ((row->feasible != 0) != (than->feasible != 0))
		return row->feasible != 0;
	return row->update_s < than->update_s;
}

/* ---- facts */

/* The three that name a setting come first. */
enum { N_NAMES = 3 };

static void add_fact(struct plot_row *row, const char *key, const char *value)
{
	assert(row->n_facts < PLOT_FACTS_MAX);
	row->facts[row->n_facts++] = (struct fact){key, value};
}

static void add_number(struct plot_row *row, const char *key, double value, struct arena *arena)
{
	if (!isnan(value))
		add_fact(row, key, arena_printf(arena, "%.6g", value));
}

static void add_options(struct plot_row *row, struct arena *arena, struct err *err)
{
	struct spec spec;

	if (spec_parse(&spec, row->spec, arena, err))
		return; /* not a SPEC of ours: its name alone tells it apart */
	for (size_t i = 0; i < spec.n_pairs && row->n_facts < PLOT_FACTS_MAX - 8; i++)
		add_fact(row, spec.pairs[i].key, spec.pairs[i].value);
	row->n_options = row->n_facts - N_NAMES;
}

static void make_facts(struct plot_row *row, struct arena *arena)
{
	char subgroup[UNITS_TEXT_MAX];
	struct err err;

	row->facts = arena_alloc(arena, PLOT_FACTS_MAX, sizeof(*row->facts));
	row->n_facts = row->n_options = 0;
	row->policy = arena_printf(arena, "%.*s", (int)strcspn(row->spec, ":"), row->spec);
	add_fact(row, "hw", row->hw);
	add_fact(row, "model", row->model);
	add_fact(row, "policy", row->policy);
	add_options(row, arena, &err);
	add_number(row, "gpus", row->gpus, arena);
	add_number(row, "nodes", fmax(1, row->nodes), arena);
	add_number(row, "zero", row->zero > 0 ? row->zero : 3, arena);
	add_number(row, "tp", fmax(1, row->tp), arena);
	add_number(row, "mbs", row->mbs, arena);
	add_number(row, "grad-accum", row->grad_accum, arena);
	add_number(row, "seq", row->seq, arena);
	if (!isnan(row->subgroup))
		add_fact(row, "subgroup", arena_strdup(arena, units_print(subgroup, UNIT_PARAMS, row->subgroup)));
	add_number(row, "threads", row->threads, arena);
	add_fact(row, "contention", row->contention);
	add_fact(row, "scale", row->scale);
}

static const char *fact_value(const struct plot_row *row, const char *key)
{
	for (size_t i = 0; i < row->n_facts; i++)
		if (strcmp(row->facts[i].key, key) == 0)
			return row->facts[i].value;
	return NULL;
}

static bool is_axis(const char *key, const char *const axes[])
{
	for (; axes && *axes; axes++)
		if (strcmp(*axes, key) == 0)
			return true;
	return false;
}

/* ---- what varies */

static bool has_same_names(const struct plot_row *a, const struct plot_row *b)
{
	for (size_t i = 0; i < N_NAMES; i++)
		if (strcmp(a->facts[i].value, b->facts[i].value) != 0)
			return false;
	return true;
}

/* Whose fact i of a row is: an option its policy's, the rest everybody's. */
static const char *owner(const struct plot_row *row, size_t i)
{
	return i >= N_NAMES && i < N_NAMES + row->n_options ? row->policy : "";
}

static bool is_varying(const struct plot_rows *rows, const struct plot_row *row, size_t i)
{
	for (size_t j = 0; j < rows->n_varying; j++)
		if (strcmp(rows->varying[j].key, row->facts[i].key) == 0 && strcmp(rows->varying[j].value, owner(row, i)) == 0)
			return true;
	return false;
}

static void mark_varying(struct plot_rows *rows, const struct plot_row *row, size_t i, const char *const axes[])
{
	if (!is_axis(row->facts[i].key, axes) && !is_varying(rows, row, i) && rows->n_varying < PLOT_VARYING_MAX)
		rows->varying[rows->n_varying++] = (struct fact){row->facts[i].key, owner(row, i)};
}

/* Compares a row with the first of all (names), and with the first of its names (the rest). */
static void compare(struct plot_rows *rows, const struct plot_row *row, const struct plot_row *first, const char *const axes[])
{
	for (size_t i = 0; i < N_NAMES; i++)
		if (strcmp(row->facts[i].value, rows->rows[0].facts[i].value) != 0)
			mark_varying(rows, row, i, axes);
	for (size_t i = N_NAMES; i < row->n_facts; i++) {
		const char *const other = fact_value(first, row->facts[i].key);
		if (!other || strcmp(other, row->facts[i].value) != 0)
			mark_varying(rows, row, i, axes);
	}
}

static void find_varying(struct plot_rows *rows, const char *const axes[], struct arena *arena)
{
	const struct plot_row **const firsts = arena_alloc(arena, rows->n + 1, sizeof(*firsts));
	size_t n_firsts = 0;

	rows->n_varying = 0;
	for (size_t i = 0; i < rows->n; i++) {
		size_t j = 0;
		while (j < n_firsts && !has_same_names(firsts[j], &rows->rows[i]))
			j++;
		if (j == n_firsts)
			firsts[n_firsts++] = &rows->rows[i];
		compare(rows, &rows->rows[i], firsts[j], axes);
	}
}

/* ---- labels */

/* An option at its default, or one that follows from the machine, goes without saying. */
static bool goes_without_saying(const struct plot_row *row, const struct fact *fact)
{
	const struct policy *const policy = policy_find(row->policy);
	const struct opt *const opt = policy ? opt_find(policy->opts, policy->n_opts, fact->key, strlen(fact->key)) : NULL;

	return opt && (!opt->fallback || strcmp(opt->fallback, fact->value) == 0);
}

static bool is_said(const struct plot_rows *rows, const struct plot_row *row, size_t i, const char *const axes[])
{
	const bool is_option = *owner(row, i) != '\0';

	if (!*row->facts[i].value || is_axis(row->facts[i].key, axes))
		return false;
	return is_varying(rows, row, i) || (is_option && !goes_without_saying(row, &row->facts[i]));
}

/* Names stand for themselves; options as "key=value". */
static const char *label_of(const struct plot_rows *rows, const struct plot_row *row, const char *const axes[], struct arena *arena)
{
	const char *label = "";

	for (size_t i = 0; i < row->n_facts; i++) {
		const struct fact *const fact = &row->facts[i];
		if (!is_said(rows, row, i, axes))
			continue;
		label = i < N_NAMES ? arena_printf(arena, "%s%s%s", label, *label ? " " : "", fact->value)
		                    : arena_printf(arena, "%s%s%s=%s", label, *label ? " " : "", fact->key, fact->value);
	}
	return *label ? label : row->policy;
}

size_t plot_rows_groups(const char ***labels, const struct plot_rows *rows, struct arena *arena)
{
	struct opt_list list = {0};

	for (size_t i = 0; i < rows->n && list.n < PLOT_GROUPS_MAX; i++) {
		size_t j = 0;
		while (j < list.n && strcmp(list.items[j], rows->rows[i].label) != 0)
			j++;
		if (j == list.n)
			opt_list_add(&list, rows->rows[i].label, arena);
	}
	*labels = list.items;
	return list.n;
}

static size_t set_labels(struct plot_rows *rows, const char *const axes[], struct arena *arena)
{
	const char **labels;

	for (size_t i = 0; i < rows->n; i++)
		rows->rows[i].label = label_of(rows, &rows->rows[i], axes, arena);
	return plot_rows_groups(&labels, rows, arena);
}

/* Without a default: the option follows from others unless it is given. */
static bool follows_from_others(const struct fact *varying)
{
	const struct policy *const policy = policy_find(varying->value);
	const struct opt *const opt = policy ? opt_find(policy->opts, policy->n_opts, varying->key, strlen(varying->key)) : NULL;

	return opt && !opt->fallback;
}

/* Labels every row; then again without each option that only repeats what another one says. */
void plot_rows_label(struct plot_rows *rows, const char *const axes[], struct arena *arena)
{
	for (size_t i = 0; i < rows->n; i++)
		make_facts(&rows->rows[i], arena);
	find_varying(rows, axes, arena);
	const size_t n_groups = set_labels(rows, axes, arena);
	for (size_t i = rows->n_varying; n_groups < PLOT_GROUPS_MAX && i-- > 0;) {
		const struct fact dropped = rows->varying[i];
		if (!follows_from_others(&dropped))
			continue;
		rows->varying[i] = rows->varying[--rows->n_varying];
		if (set_labels(rows, axes, arena) == n_groups)
			continue;
		rows->varying[rows->n_varying++] = rows->varying[i];
		rows->varying[i] = dropped;
		set_labels(rows, axes, arena);
	}
}

/* ---- what does not vary */

static const struct {
	const char *key, *before, *after;
} phrases[] = {
    {"gpus", "", " GPU"},
    {"nodes", "", " nodes"},
    {"zero", "ZeRO-", ""},
    {"tp", "tensor parallel ", ""},
    {"mbs", "micro-batch ", ""},
    {"grad-accum", "accumulation ", ""},
    {"seq", "", " tokens"},
    {"subgroup", "subgroups of ", ""},
    {"threads", "", " threads"},
    {"contention", "contention ", ""},
    {"scale", "scaled ", ""},
};

static bool is_usual(const struct fact *fact)
{
	static const struct fact usual[] = {
	    {.key = "grad-accum", .value = "1"}, {.key = "nodes", .value = "1"}, {.key = "zero", .value = "3"}, {.key = "tp", .value = "1"}};

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (strcmp(fact->key, usual[i].key) == 0 && strcmp(fact->value, usual[i].value) == 0)
			return true;
	return false;
}

static const char *phrase(const struct plot_row *row, const struct fact *fact, struct arena *arena)
{
	if (!*fact->value || is_usual(fact))
		return "";
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (strcmp(phrases[i].key, fact->key) == 0)
			return arena_printf(arena, "%s%s%s%s", phrases[i].before, fact->value, phrases[i].after,
			    strcmp(fact->key, "gpus") == 0 && strcmp(fact->value, "1") != 0 ? "s" : "");
	return goes_without_saying(row, fact) ? "" : arena_printf(arena, "%s=%s", fact->key, fact->value);
}

/* A fact that all rows share. */
static bool is_common(const struct plot_rows *rows, const struct fact *fact, const char *const axes[])
{
	if (is_axis(fact->key, axes))
		return false;
	for (size_t i = 0; i < rows->n; i++) {
		const char *const other = fact_value(&rows->rows[i], fact->key);
		if (!other || strcmp(other, fact->value) != 0)
			return false;
	}
	return true;
}

const char *plot_rows_common(const struct plot_rows *rows, const char *const axes[], struct arena *arena)
{
	const struct plot_row *const row = &rows->rows[0];
	const char *text = "";

	if (is_common(rows, &row->facts[1], axes))
		text = row->model;
	if (is_common(rows, &row->facts[0], axes))
		text = arena_printf(arena, "%s%s%s", text, *text ? " on " : "", row->hw);
	for (size_t i = 2; i < row->n_facts; i++) {
		const char *const words = is_common(rows, &row->facts[i], axes) ? phrase(row, &row->facts[i], arena) : "";
		if (i == 2 && is_common(rows, &row->facts[2], axes))
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", row->policy);
		else if (i > 2 && *words)
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", words);
	}
	return text;
}
