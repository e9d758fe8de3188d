/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/plan_near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_MAX = 64 };

struct finder {
	struct plan_near *near;
	const struct plan *plan;
	const struct plan_choice *best;
	struct spec best_spec; /* canonical */
	struct arena *arena;
};

/* Variants that name a default are those that leave it open: the same change once. */
static void add(struct finder *f, const char *text, size_t batch, size_t variant)
{
	for (size_t i = 0; i < f->near->n; i++)
		if (strcmp(f->near->changes[i].text, text) == 0)
			return;
	if (f->near->n < CHANGES_MAX)
		f->near->changes[f->near->n++] = (struct plan_change){.text = text,
		    .choice = {.batch = batch, .variant = variant, .s_per_token = INFINITY}};
}

/* ---- the batch */

static const char *batch_change(const struct batch *from, const struct batch *to, struct arena *arena)
{
	const bool is_micro = from->mbs != to->mbs, is_subgroup = from->subgroup_params != to->subgroup_params;
	const bool is_checkpointing = from->has_checkpointing != to->has_checkpointing;
	char size[UNITS_TEXT_MAX];

	if (is_micro + is_subgroup + is_checkpointing != 1)
		return NULL;
	if (is_checkpointing)
		return to->has_checkpointing ? "checkpointing on" : "checkpointing off";
	if (is_subgroup)
		return arena_printf(arena, "subgroup %s", units_print(size, UNIT_PARAMS, to->subgroup_params));
	return to->grad_accum == from->grad_accum ? arena_printf(arena, "mbs %.0f", to->mbs)
						  : arena_printf(arena, "mbs %.0f, grad-accum %.0f", to->mbs, to->grad_accum);
}

/* No batch lies between the two. */
static bool is_next_mbs(const struct plan *plan, double from, double to)
{
	for (size_t i = 0; i < plan->space.n_batches; i++) {
		const double mbs = plan->space.batches[i].workload.batch.mbs;
		if ((mbs - from) * (mbs - to) < 0)
			return false;
	}
	return true;
}

static void add_batches(struct finder *f)
{
	const struct plan_space *const space = &f->plan->space;
	const struct batch *const from = &space->batches[f->best->batch].workload.batch;

	for (size_t i = 0; i < space->n_batches; i++) {
		const struct batch *const to = &space->batches[i].workload.batch;
		const char *const text = batch_change(from, to, f->arena);
		struct trial_input input;
		struct err refused = {0};
		if (text && is_next_mbs(f->plan, from->mbs, to->mbs) &&
		    plan_input(&input, f->plan, i, f->best->variant, f->arena, &refused) == 0)
			add(f, text, i, f->best->variant);
	}
}

/* ---- options */

/* The only pair in which a spec differs from the best, NULL for none or several. */
static const struct spec_pair *only_change(const struct spec *best, const struct spec *spec, const struct spec_pair **was)
{
	const struct spec_pair *change = NULL;

	for (size_t i = 0; i < spec->n_pairs && i < best->n_pairs; i++) {
		if (strcmp(spec->pairs[i].value, best->pairs[i].value) == 0)
			continue;
		if (change)
			return NULL;
		change = &spec->pairs[i];
		*was = &best->pairs[i];
	}
	return change;
}

static bool parse_number(double *value, const char *text)
{
	struct err err = {0};

	return units_parse(value, UNIT_NONE, text, &err) == 0;
}

/* Of a number only the next value on either side counts: replaces one that is farther. */
static void add_option(struct finder *f, const struct spec_pair *change, const struct spec_pair *was, size_t variant)
{
	const char *const text = arena_printf(f->arena, "%s=%s", change->key, change->value);
	double from, to, other;

	if (!parse_number(&from, was->value) || !parse_number(&to, change->value)) {
		add(f, text, f->best->batch, variant);
		return;
	}
	for (size_t i = 0; i < f->near->n; i++) {
		struct plan_change *const known = &f->near->changes[i];
		const size_t length = strlen(change->key);
		if (strncmp(known->text, text, length + 1) != 0 || !parse_number(&other, known->text + length + 1) ||
		    (other < from) != (to < from))
			continue;
		if (fabs(to - from) < fabs(other - from))
			*known = (struct plan_change){.text = text, .choice = {f->best->batch, variant, .s_per_token = INFINITY}};
		return;
	}
	add(f, text, f->best->batch, variant);
}

static int add_options(struct finder *f, struct err *err)
{
	const struct plan_space *const space = &f->plan->space;

	for (size_t v = 0; v < space->n_variants; v++) {
		const struct spec_pair *was = NULL;
		struct trial_input input;
		struct spec spec;
		struct err refused = {0};
		if (space->variants[v].policy != space->variants[f->best->variant].policy)
			continue;
		if (plan_input(&input, f->plan, f->best->batch, v, f->arena, &refused))
			continue;
		if (spec_parse(&spec, input.policy, f->arena, err))
			return err->code;
		const struct spec_pair *const change = only_change(&f->best_spec, &spec, &was);
		if (change)
			add_option(f, change, was, v);
	}
	return 0;
}

/* ---- */

static int by_time(const void *a, const void *b)
{
	const struct plan_change *const x = a, *const y = b;

	if (x->choice.metrics.fits != y->choice.metrics.fits)
		return x->choice.metrics.fits ? -1 : 1;
	if (x->choice.s_per_token != y->choice.s_per_token)
		return x->choice.s_per_token < y->choice.s_per_token ? -1 : 1;
	return strcmp(x->text, y->text);
}

int plan_near_find(struct plan_near *near, const struct plan *plan, struct arena *arena, struct err *err)
{
	struct finder f = {.near = near, .plan = plan, .best = &plan->policies[plan->best].best, .arena = arena};
	struct trial_input input;

	*near = (struct plan_near){.changes = arena_alloc(arena, CHANGES_MAX, sizeof(*near->changes))};
	int code = plan_input(&input, plan, f.best->batch, f.best->variant, arena, err);
	if (!code)
		code = spec_parse(&f.best_spec, input.policy, arena, err);
	if (!code)
		code = add_options(&f, err);
	if (!code)
		add_batches(&f);
	for (size_t i = 0; !code && i < near->n; i++)
		code = plan_run(&near->changes[i].choice, plan, arena, err);
	if (!code)
		qsort(near->changes, near->n, sizeof(*near->changes), by_time);
	return code;
}
