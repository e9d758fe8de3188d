/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/plan_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/file_text.h"
#include "model/ds_config.h"
#include "model/ds_edit.h"
#include "model/megatron.h"
#include "model/split.h"

int plan_config_check(const struct plan_config_params *p, const struct common *c, struct err *err)
{
	if (p->ds_config && !c->output)
		return err_set(err, STATUS_USAGE, "--ds-config: -o FILE is missing, where the completed configuration goes (- is standard output)");
	if (p->has_fork && !p->ds_config)
		return err_set(err, STATUS_USAGE, "--fork needs --ds-config");
	if (p->ds_config && p->has_megatron)
		return err_set(err, STATUS_USAGE, "--ds-config and --megatron: one of them would be accepted");
	if (p->has_megatron && c->zero_stage > 1)
		return err_set(err, STATUS_USAGE, "--zero %lld: --megatron is its distributed optimizer, which is ZeRO-1; 1 would be accepted",
		    c->zero_stage);
	return 0;
}

/* Stages 1 and 2 have no ratio, no subgroups and none of the fork's keys; what is wrong with the file is said later. */
static bool is_early_stage(const struct plan_config_params *p, struct arena *arena)
{
	struct ds_config config;
	struct err ignored = {0};

	return p->ds_config && ds_config_load(&config, p->ds_config, arena, &ignored) == 0 && ds_config_is_early_stage(&config);
}

void plan_config_policies(struct opt_list *specs, const struct plan_config_params *p, struct arena *arena)
{
	static const char *const deepspeed[] = {"gpu-only", "zero3-offload:flush=blocking", "twinflow:mode=serial,flush=blocking", NULL};
	static const char *const fork[] = {"gpu-only", "zero3-offload", "twinflow:mode=serial",
	    "dos:chain=published,buffers=1,downscale=batch,grads=fp32,unscale=separate,flush=async;blocking", NULL};
	static const char *const early[] = {"gpu-only", "zero3-offload:flush=async", NULL};
	static const char *const megatron[] = {"gpu-only", "twinflow:flush=async", NULL};
	const char *const *list = NULL;

	if (is_early_stage(p, arena))
		list = early;
	else if (p->ds_config)
		list = p->has_fork ? fork : deepspeed;
	else if (p->has_megatron)
		list = megatron;
	for (size_t i = 0; list && list[i]; i++)
		opt_list_add(specs, list[i], arena);
}

/* The stage of the file stands; its whole partition is one subgroup at stages 1 and 2. */
static int take_stage(struct plan_query *q, const struct ds_config *config, const struct plan_config_params *p, struct arena *arena,
    struct err *err)
{
	struct batch one_group = q->batch;
	struct workload workload;

	if (config->stage.is_given && config->stage.value == 0)
		return err_set(err, STATUS_USAGE, "%s: zero_optimization/stage 0 is not modelled; 1, 2 or 3 would be accepted", p->ds_config);
	if (config->stage.is_given && q->batch.zero_stage > 0 && q->batch.zero_stage != config->stage.value)
		return err_set(err, STATUS_USAGE, "--zero %.0f: %s has stage %.0f", q->batch.zero_stage, p->ds_config, config->stage.value);
	if (!ds_config_is_early_stage(config))
		return 0;
	if (p->has_fork)
		return err_set(err, STATUS_USAGE, "--fork: %s has stage %.0f, and the fork's keys act with stage 3", p->ds_config,
		    config->stage.value);
	q->batch.zero_stage = one_group.zero_stage = config->stage.value;
	one_group.subgroup_params = DS_ONE_GROUP_PARAMS;
	if (trial_workload(&workload, q->hw, &q->shape, &one_group, arena, err))
		return err->code;
	q->batch.subgroup_params = q->batch.subgroup_params > 0 ? q->batch.subgroup_params : workload.rank_params;
	return 0;
}

int plan_config_batch(struct plan_query *q, const struct plan_config_params *p, struct arena *arena, struct err *err)
{
	struct batch *const batch = &q->batch, given = q->batch;
	struct ds_config config;

	if (p->has_megatron)
		batch->zero_stage = 1;
	if (!p->ds_config)
		return 0;
	given.gpus = batch->gpus > 0 ? batch->gpus : q->hw->gpus;
	if (ds_config_load(&config, p->ds_config, arena, err))
		return err->code;
	if (ds_config_batch(&given, &config, err))
		return err_wrap(err, "%s", p->ds_config);
	if (take_stage(q, &config, p, arena, err))
		return err->code;
	batch->mbs = batch->mbs > 0 ? batch->mbs : given.mbs;
	batch->grad_accum = batch->grad_accum > 0 ? batch->grad_accum : given.grad_accum;
	batch->precision = given.precision;
	if (config.train_batch_size.value > 0 && !(batch->mbs > 0 && batch->grad_accum > 0) && q->tokens_per_batch <= 0)
		q->tokens_per_batch = config.train_batch_size.value * (batch->seq > 0 ? batch->seq : 2048);
	return 0;
}

/* ---- DeepSpeed */

/* The number of an option of a canonical SPEC; fallback when it has none. */
static double number(const struct trial *t, const char *key, double fallback, struct arena *arena)
{
	struct spec spec;
	struct err err = {0};
	double value;

	if (spec_parse(&spec, t->policy, arena, &err))
		return fallback;
	for (size_t i = 0; i < spec.n_pairs; i++)
		if (strcmp(spec.pairs[i].key, key) == 0)
			return units_parse(&value, UNIT_NONE, spec.pairs[i].value, &err) ? fallback : value;
	return fallback;
}

static struct ds_recommendation recommend(const struct plan_config_params *p, const struct trial *t, struct arena *arena)
{
	const bool is_offloaded = t->metrics.host_peak_bytes > 0 && strcmp(t->use.policy->name, "gpu-only") != 0;
	const bool has_subgroups = batch_zero_stage(&t->workload.batch) == 3;

	return (struct ds_recommendation){.device = is_offloaded ? "cpu" : "none",
	    .ratio = is_offloaded && has_subgroups ? number(t, "ratio", 1, arena) : NAN,
	    .subgroup_params = has_subgroups ? t->workload.batch.subgroup_params : 0,
	    .sets_pin = is_offloaded,
	    .keeps_params = true,
	    .pin = true,
	    .sets_fork = p->has_fork && is_offloaded,
	    .stride = number(t, "stride", 0, arena),
	    .is_async = strstr(t->policy, "flush=async") != NULL};
}

/* What of the plan the file does not say. */
static void remark(const struct common *c, const char *name, const struct ds_config *given, const struct ds_config *config, const struct trial *t)
{
	const struct batch *const b = &t->workload.batch;
	double train, micro, accum;

	if (!ds_config_batch_sizes(&train, &micro, &accum, config, batch_dp(b)) || !(micro > 0 && accum > 0))
		common_note(c, "%s leaves batch sizes open: the plan is for micro-batch %.0f, accumulation %.0f, checkpointing %s", name, b->mbs,
		    b->grad_accum, b->has_checkpointing ? "on" : "off");
	if (given->param_device != DS_DEVICE_NONE)
		common_note(c, "%s: offload_param becomes none: in the plan the parameters are on the GPUs, where they fit", name);
}

int plan_config_write(const struct plan_config_params *p, const struct trial *t, const struct common *c, struct arena *arena,
    struct err *err)
{
	const struct ds_recommendation what = recommend(p, t, arena);
	const char *const name = file_text_name(p->ds_config);
	struct file_replace file;
	struct ds_config given, config;
	char *text, *result;
	size_t n_bytes, n_result;

	if (file_text_load(&text, &n_bytes, p->ds_config, err))
		return err->code;
	int code = ds_config_parse(&given, name, text, n_bytes, arena, err);
	if (!code)
		code = ds_edit(&result, &n_result, name, text, n_bytes, &what, arena, err);
	free(text);
	if (!code)
		code = ds_config_parse(&config, name, result, n_result, arena, err);
	if (!code)
		code = file_replace_open(&file, c->output, arena, err);
	if (code)
		return code;
	remark(c, name, &given, &config, t);
	fwrite(result, 1, n_result, file.out);
	return file_replace_commit(&file, err);
}

/* ---- Megatron */

/* Share of a rank's parameters whose states are on the host. */
static double host_share(const struct trial *t)
{
	double on_gpu = 0;

	for (size_t x = 0; x < t->workload.n_subgroups; x++)
		on_gpu += t->places[x] == PLACE_GPU ? t->workload.subgroups[x].n_params : 0;
	return 1 - on_gpu / t->workload.rank_params;
}

const char *plan_config_megatron(const struct trial *t, struct arena *arena)
{
	const struct batch *const b = &t->workload.batch;
	const struct megatron_recommendation what = {.micro_batch = b->mbs,
	    .global_batch = b->mbs * b->grad_accum * batch_dp(b),
	    .seq = b->seq,
	    .tensor = batch_tp(b),
	    .has_checkpointing = b->has_checkpointing,
	    .precision = b->precision,
	    .offload_frac = round(1000 * host_share(t)) / 1000,
	    .is_overlapped = strstr(t->policy, "mode=serial") == NULL};

	return megatron_flags(&what, " ", arena);
}
