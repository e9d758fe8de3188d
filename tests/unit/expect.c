/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/expect.h"

#include <stdlib.h>

#include "tests/unit/audit.h"
#include "tests/unit/test_util.h"

struct reading {
	struct spec spec;
	const struct workload *w;
};

static const char *word(const struct reading *r, const char *key)
{
	for (size_t i = 0; i < r->spec.n_pairs; i++)
		if (!strcmp(r->spec.pairs[i].key, key))
			return r->spec.pairs[i].value;
	return NULL;
}

static bool is(const struct reading *r, const char *key, const char *value)
{
	const char *const text = word(r, key);
	must(text != NULL, "no %s in the canonical SPEC of %s", key, r->spec.name);
	return !strcmp(text, value);
}

static double number(const struct reading *r, const char *key)
{
	const char *const text = word(r, key);
	must(text != NULL, "no %s in the canonical SPEC of %s", key, r->spec.name);
	return strtod(text, NULL);
}

/* ---- placement */

static size_t n_of_ratio(const struct reading *r)
{
	return (size_t)floor(number(r, "ratio") * (double)r->w->n_subgroups + 1e-9);
}

static enum place dos_place(const struct reading *r, size_t x)
{
	const unsigned long long stride = strtoull(word(r, "stride"), NULL, 10);
	if (x >= n_of_ratio(r))
		return PLACE_GPU;
	return stride > 0 && (x + 1) % stride == 0 ? PLACE_STREAMED : PLACE_CPU;
}

static enum place hybrid_place(const struct reading *r, size_t x)
{
	const char *const mask = word(r, "mask");
	if (mask)
		return mask[x % strlen(mask)] == '1' ? PLACE_STREAMED : PLACE_CPU;
	const double f = number(r, "fraction");
	return floor((double)(x + 1) * f + 1e-6) > floor((double)x * f + 1e-6) ? PLACE_STREAMED : PLACE_CPU;
}

static enum place place_of(const struct reading *r, size_t x)
{
	const char *const name = r->spec.name;
	if (!strcmp(name, "dos"))
		return dos_place(r, x);
	if (!strcmp(name, "hybrid"))
		return hybrid_place(r, x);
	if (!strcmp(name, "twinflow"))
		return x < n_of_ratio(r) ? PLACE_CPU : PLACE_GPU;
	return !strcmp(name, "gpu-only") ? PLACE_GPU : PLACE_CPU;
}

/* ---- bytes */

static double params_at(const struct expected *e, const struct workload *w, enum place place)
{
	double sum = 0;
	for (size_t x = 0; x < w->n_subgroups; x++)
		sum += e->places[x] == place ? w->subgroups[x].n_params : 0;
	return sum;
}

/* Backward, PAPER section 3: a 16-bit round trip of all gradients, then the host's fp32 copy: 2 B pageable, 4 B (or 2 B for 16-bit host
 * gradients) pinned. Direct: without the round trip. Earlier micro-batches: down 2, and up 2 to be added to. Stages 1 and 2 have no round
 * trip; stage 1 adds up on the GPU. */
static void add_backward(struct expected *e, const struct reading *r, bool has_round_trip)
{
	const double n = r->w->rank_params, n_cpu = params_at(e, r->w, PLACE_CPU), stage = r->w->batch.zero_stage;
	const double earlier = stage == 1 ? 0 : r->w->batch.grad_accum - 1;
	const bool has_16bit = word(r, "grads") && is(r, "grads", "bf16");
	e->h2d_bytes += 2 * n * earlier + (has_round_trip && stage == 3 ? 2 * n : 0);
	e->d2h_bytes += 2 * n * earlier + (has_round_trip && stage == 3 ? 2 * n : 0);
	e->d2h_bytes += (is(r, "flush", "blocking") || has_16bit ? 2 : 4) * n_cpu;
}

/* Is the last streamed subgroup the last of the loop? Then no later window writes it back (published chain of dos). */
static double lost_params(struct expected *e, const struct reading *r)
{
	const size_t n = !strcmp(r->spec.name, "dos") && is(r, "chain", "published") ? n_of_ratio(r) : 0;
	e->has_lost_write_back = n > 0 && e->places[n - 1] == PLACE_STREAMED;
	return e->has_lost_write_back ? r->w->subgroups[n - 1].n_params : 0;
}

static void expect_bytes(struct expected *e, const struct reading *r)
{
	const double n_cpu = params_at(e, r->w, PLACE_CPU), n_streamed = params_at(e, r->w, PLACE_STREAMED);
	const bool is_direct = !strcmp(r->spec.name, "hybrid") ? !is(r, "flush", "blocking") : word(r, "flush") && is(r, "flush", "direct");
	if (!strcmp(r->spec.name, "gpu-only"))
		return;
	const double state_bytes = e->is_split ? 4 + 4 + 2 : 4 + 4 + 4;
	e->h2d_bytes = state_bytes * n_streamed + 2 * n_cpu;
	e->d2h_bytes = state_bytes * (n_streamed - lost_params(e, r));
	if (!r->w->is_update_only)
		add_backward(e, r, !is_direct);
}

static void expect_adam(struct expected *e, const struct reading *r)
{
	const bool is_fused = word(r, "downscale") && is(r, "downscale", "fused");
	const bool has_16bit = word(r, "grads") && is(r, "grads", "bf16");
	e->is_split = word(r, "downscale") && is(r, "downscale", "split");
	e->adam = e->is_split ? (has_16bit ? OP_CPU_ADAM_SPLIT_BF16 : OP_CPU_ADAM_SPLIT)
	    : is_fused ? (has_16bit ? OP_CPU_ADAM_FUSED_BF16 : OP_CPU_ADAM_FUSED)
	    : has_16bit    ? OP_CPU_ADAM_BF16
			   : OP_CPU_ADAM;
	e->has_unscale = word(r, "unscale") ? is(r, "unscale", "separate") : true;
}

void expect_trial(struct expected *e, const struct trial *trial, struct arena *arena)
{
	static const char *const known[] = {"dos", "hybrid", "twinflow", "zero3-offload", "gpu-only"};
	struct reading r = {.w = &trial->workload};
	struct err err = {0};
	*e = (struct expected){0};
	must(spec_parse(&r.spec, trial->policy, arena, &err) == 0, "%s: %s", trial->policy, err.text);
	for (size_t i = 0; i < N_ELEMENTS(known); i++)
		e->is_known |= !strcmp(known[i], r.spec.name);
	if (!e->is_known)
		return;
	e->places = arena_alloc(arena, r.w->n_subgroups, sizeof *e->places);
	for (size_t x = 0; x < r.w->n_subgroups; x++)
		e->places[x] = place_of(&r, x);
	expect_adam(e, &r);
	expect_bytes(e, &r);
}
