/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/random_trial.h"

#include "tests/unit/audit.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

size_t random_below(struct random_trial *r, size_t n)
{
	return gsl_rng_uniform_int(r->rng, n);
}

double random_between(struct random_trial *r, double low, double high)
{
	return low * pow(high / low, gsl_rng_uniform(r->rng));
}

int n_policies(void)
{
	int n = 0;
	while (policy_all[n])
		n++;
	return n;
}

/* ---- machine */

static void vary(struct random_trial *r, double *value)
{
	*value *= random_between(r, 0.2, 5);
}

static double some(struct random_trial *r, double most)
{
	return random_below(r, 2) ? 0 : most * gsl_rng_uniform(r->rng);
}

static void draw_transfer(struct random_trial *r, struct curve *curve)
{
	const double latency_s = some(r, 1e-3), Bps = random_between(r, 5e9, 100e9);
	*curve = (struct curve){.kind = CURVE_TRANSFER, .n_points = 3, .x = {1e3, 1e6, 1e10}};
	for (size_t i = 0; i < curve->n_points; i++)
		curve->rate[i] = curve->x[i] / (latency_s + curve->x[i] / Bps);
}

static void draw_host(struct random_trial *r, struct hwprofile *hw)
{
	hw->gpus = 4;
	hw->numa_domains = (double)(1 + random_below(r, 2));
	hw->threads_per_core = (double)(1 + random_below(r, 2));
	hw->smt_gain = hw->threads_per_core > 1 ? 1.3 : 1;
	hw->threads = (double)(1 + random_below(r, 16));
	hw->workers = (double)(1 + random_below(r, 8));
	hw->spin_wait = (double)random_below(r, 2);
	hw->adam_downscale_corun_frac = random_below(r, 4) ? 0 : 0.7;
	hw->gpus_per_pcie_root = (double)(1 + random_below(r, 2));
	hw->pcie_root_Bps = random_below(r, 2) ? INFINITY : random_between(r, 20e9, 200e9);
	hw->dma_weight = random_between(r, 0.5, 2);
	vary(r, &hw->dram_Bps);
	vary(r, &hw->cpu_adam.rate[0]);
	vary(r, &hw->cpu_unscale.rate[0]);
	vary(r, &hw->cpu_downscale.rate[0]);
	vary(r, &hw->push_pageable_params_per_s);
	vary(r, &hw->flush_pageable_params_per_s);
}

static void draw_machine(struct random_trial *r)
{
	struct hwprofile *const hw = &r->hw;
	plain_machine(hw);
	draw_host(r, hw);
	draw_transfer(r, &hw->h2d);
	draw_transfer(r, &hw->d2h);
	hw->h2d_duplex_Bps = curve_peak(&hw->h2d) * random_between(r, 0.4, 1);
	hw->d2h_duplex_Bps = curve_peak(&hw->d2h) * random_between(r, 0.4, 1);
	vary(r, &hw->hbm_Bps);
	vary(r, &hw->gpu_adam_params_per_s);
	hw->all_gather_Bps = random_between(r, 20e9, 400e9);
	hw->reduce_params_per_s = random_between(r, 5e9, 100e9);
	hw->network_Bps = random_between(r, 5e9, 1000e9);
	hw->network_latency_s = some(r, 5e-5);
	hw->ring_latency_s = some(r, 1e-5);
	hw->layer_forward_launch_s = some(r, 3e-3);
	hw->layer_backward_launch_s = some(r, 3e-3);
	hw->step_fixed_s = some(r, 2e-2);
	hw->step_subgroup_s = some(r, 1e-3);
	hw->cpu_subgroup_s = some(r, 1e-3);
	hw->stream_subgroup_s = some(r, 1e-3);
	hw->other_s = some(r, 0.3);
	hw->softmax_bytes_per_score = some(r, 16);
	hw->gpu_reserved_bytes = some(r, 1e9);
	hw->host_reserved_bytes = some(r, 1e10);
}

/* ---- workload */

static void draw_shape(struct random_trial *r)
{
	const double heads = (double)(1 + random_below(r, 16)), head_dim = 32 * (double)(1 + random_below(r, 4));
	r->in.shape = (struct shape){.name = "random",
	    .arch = random_below(r, 3) ? ARCH_LLAMA : ARCH_GPT,
	    .layers = (double)(1 + random_below(r, 6)),
	    .hidden = heads * head_dim,
	    .heads = heads,
	    .kv_heads = random_below(r, 2) ? 1 : heads,
	    .ffn = floor(random_between(r, 100, 20000)),
	    .vocab = floor(random_between(r, 100, 300000)),
	    .has_split_tensors = random_below(r, 2)};
}

/* Half of them ZeRO-3 on whole layers; the shape is rounded up to what tensor parallelism divides. */
static void draw_parallel(struct random_trial *r)
{
	struct shape *const s = &r->in.shape;
	struct batch *const batch = &r->in.batch;
	if (random_below(r, 2))
		return;
	batch->zero_stage = (double)(1 + random_below(r, 3));
	batch->tp = fmod(batch->gpus, 2) == 0 && random_below(r, 2) ? 2 : 1;
	const double head_dim = s->hidden / s->heads;
	s->heads = batch->tp * ceil(s->heads / batch->tp);
	s->kv_heads = s->kv_heads > 1 ? s->heads : batch->tp;
	s->hidden = s->heads * head_dim;
	s->ffn = batch->tp * ceil(s->ffn / batch->tp);
	s->vocab = batch->tp * ceil(s->vocab / batch->tp);
}

/* About 1 to 40 subgroups, as unequal as tensors are; at times equal ones without a model. */
static void draw_batch(struct random_trial *r)
{
	const struct shape *const s = &r->in.shape;
	const double about = s->layers * (4 * s->hidden * s->hidden + 3 * s->hidden * s->ffn) + 2 * s->vocab * s->hidden;
	struct batch *const batch = &r->in.batch;
	*batch = (struct batch){.gpus = (double)(1 + random_below(r, 4)),
	    .mbs = (double)(1 + random_below(r, 2)),
	    .grad_accum = (double)(1 + random_below(r, 3)),
	    .seq = 64 * (double)(1 + random_below(r, 16)),
	    .has_checkpointing = random_below(r, 2),
	    .precision = random_below(r, 2) ? PRECISION_BF16 : PRECISION_FP16};
	batch->subgroup_params = fmax(1, floor(about / batch->gpus / random_between(r, 0.9, 40)));
	if (random_below(r, 3) == 0)
		batch->nodes = (double)(2 + random_below(r, 15));
	if (random_below(r, 5) == 0)
		batch->n_subgroups = (double)(1 + random_below(r, 40));
}

/* ---- options */

static void draw_value(struct random_trial *r, const struct opt *opt, char *text, size_t size)
{
	const double low = opt->min, high = fmin(opt->max, low + (random_below(r, 2) ? 3 : 50));
	size_t n = 0;
	switch (opt->kind) {
	case OPT_INT: snprintf(text, size, "%.0f", low + (double)random_below(r, (size_t)(high - low) + 1)); return;
	case OPT_NUMBER:
		snprintf(text, size, "%.6g",
		    random_below(r, 4)       ? low + (high - low) * gsl_rng_uniform(r->rng)
			: random_below(r, 2) ? low
					     : high);
		return;
	case OPT_WORD:
		while (opt->words[n])
			n++;
		snprintf(text, size, "%s", opt->words[random_below(r, n)]);
		return;
	case OPT_FLAG: snprintf(text, size, "%s", random_below(r, 2) ? "on" : "off"); return;
	default: /* texts are masks */
		for (size_t i = 0; i <= random_below(r, 8); i++)
			n += (size_t)snprintf(text + n, size - n, "%zu", random_below(r, 2));
	}
}

static void draw_spec(struct random_trial *r, const struct policy *policy)
{
	size_t at = (size_t)snprintf(r->spec, sizeof r->spec, "%s", policy->name);
	char separator = ':';
	for (size_t i = 0; i < policy->n_opts; i++) {
		char value[64];
		if (random_below(r, 3) == 0)
			continue;
		draw_value(r, &policy->opts[i], value, sizeof value);
		at +=
		    (size_t)snprintf(r->spec + at, sizeof r->spec - at, "%c%s=%s", separator, policy->opts[i].name, value);
		separator = ',';
	}
}

static bool is_accepted(struct random_trial *r)
{
	struct policy_use use;
	struct err err = {0};
	arena_reset(&r->arena);
	return policy_use_parse(&use, r->spec, &r->arena, &err) == 0 &&
	    policy_check_batch(use.policy, use.params, &r->in.batch, &err) == 0;
}

void random_trial_draw(struct random_trial *r, const struct policy *policy, unsigned long seed)
{
	gsl_rng_set(r->rng, seed);
	r->in = (struct trial_input){.hw = &r->hw, .policy = r->spec};
	draw_machine(r);
	draw_shape(r);
	draw_batch(r);
	draw_parallel(r);
	r->in.sharing = random_below(r, 2) ? &sharing_none : &sharing_fluid;
	r->in.sync = random_below(r, 2) ? SYNC_PHASE : SYNC_ALL;
	r->in.is_unfolded = random_below(r, 3) == 0;
	size_t n_drawn = 0;
	do
		draw_spec(r, policy);
	while (!is_accepted(r) && ++n_drawn < 100);
	must(n_drawn < 100, "seed %lu: %s accepts none of its options", seed, policy->name);
	snprintf(r->what, sizeof r->what, "seed %lu, %s, %s, %.0f ranks of %.0f nodes, ZeRO %.0f, tp %.0f%s, %.0f micro-batches, %s", seed,
	    r->spec, r->in.sharing->name, batch_ranks(&r->in.batch), fmax(1, r->in.batch.nodes), r->in.batch.zero_stage, r->in.batch.tp,
	    r->in.is_unfolded ? " written out" : "", r->in.batch.grad_accum,
	    r->in.batch.n_subgroups > 0 ? "update only" : "whole iterations");
}

void random_trial_use_latency(struct random_trial *r, unsigned long seed)
{
	struct hwprofile *const hw = &r->hw;
	gsl_rng_set(r->rng, seed);
	hw->dram_latency_Bps = hw->dram_Bps * random_between(r, 0.8, 2);
	hw->h2d_dram_load = random_between(r, 0.1, 1.5);
	hw->d2h_dram_load = random_between(r, 0.1, 1.5);
	hw->h2d_latency_frac = random_between(r, 0.02, 0.5);
	hw->d2h_latency_frac = some(r, 0.3);
	hw->downscale_latency_frac = random_between(r, 0.1, 1);
}

void random_trial_run(struct random_trial *r)
{
	struct err err = {0};
	arena_reset(&r->arena);
	memset(&r->trial, 0, sizeof r->trial);
	const int code = trial_run(&r->trial, &r->in, &r->arena, &err);
	must(code == 0, "%s: %s", r->what, err.text);
}

void random_trial_init(struct random_trial *r)
{
	memset(r, 0, sizeof *r);
	r->rng = gsl_rng_alloc(gsl_rng_taus2);
}

void random_trial_release(struct random_trial *r)
{
	arena_release(&r->arena);
	gsl_rng_free(r->rng);
}
