/* SPDX-License-Identifier: GPL-3.0-or-later
 * The meaning half of ds_config.h: batch and policy. */
#include "model/ds_config.h"

#include <math.h>

#include "model/split.h"

/* ---- batch */

static bool is_whole(double value)
{
	return value >= 1 && value == floor(value);
}

bool ds_config_batch_sizes(double *train, double *micro, double *accum, const struct ds_config *config, double dp)
{
	double t = config->train_batch_size.value, m = config->micro_batch.value, a = config->grad_accum.value;
	const bool is_unknown =
	    config->train_batch_size.is_auto || config->micro_batch.is_auto || config->grad_accum.is_auto;

	if (a == 0 && !config->grad_accum.is_auto && !(t > 0 && m > 0))
		a = 1;
	if (t == 0 && m > 0 && a > 0)
		t = m * a * dp;
	else if (t > 0 && m > 0 && a == 0)
		a = t / m / dp;
	else if (t > 0 && m == 0 && a > 0 && !config->micro_batch.is_auto)
		m = t / a / dp;
	*train = t;
	*micro = m;
	*accum = a;
	if (t > 0 && m > 0 && a > 0)
		return is_whole(m) && is_whole(a) && t == m * a * dp;
	return is_unknown || t > 0 || m > 0;
}

bool ds_config_is_early_stage(const struct ds_config *config)
{
	return !config->stage.is_auto && (config->stage.value == 1 || config->stage.value == 2);
}

int ds_config_batch(struct batch *batch, const struct ds_config *config, struct err *err)
{
	double train, micro, accum;

	const bool has_sizes = config->train_batch_size.value > 0 || config->micro_batch.value > 0;
	if (!has_sizes && !config->train_batch_size.is_auto && !config->micro_batch.is_auto)
		return err_set(err, STATUS_INPUT, "no batch size; train_batch_size or train_micro_batch_size_per_gpu would be accepted");
	if (!ds_config_batch_sizes(&train, &micro, &accum, config, batch_dp(batch)))
		return err_set(err, STATUS_USAGE,
		    "train_batch_size %.15g is not train_micro_batch_size_per_gpu %.15g x gradient_accumulation_steps "
		    "%.15g x %.15g %s",
		    config->train_batch_size.value, config->micro_batch.value, config->grad_accum.value, batch_dp(batch),
		    batch_tp(batch) > 1 ? "data-parallel ranks" : "GPUs");
	if (micro > 0)
		batch->mbs = micro;
	if (accum > 0)
		batch->grad_accum = accum;
	if (!config->sub_group.is_auto && config->sub_group.value > 0)
		batch->subgroup_params = config->sub_group.value;
	if (!config->stage.is_auto && config->stage.value >= 1)
		batch->zero_stage = config->stage.value;
	if (ds_config_is_early_stage(config))
		batch->subgroup_params = DS_ONE_GROUP_PARAMS;
	if (config->fp16.value == 1)
		batch->precision = PRECISION_FP16;
	else if (config->bf16.value == 1)
		batch->precision = PRECISION_BF16;
	return 0;
}

/* ---- policy */

/* What the tool has no model of, by name; NULL: nothing. */
static const char *not_modelled(const struct ds_config *c)
{
	if (c->has_zenflow)
		return "zero_optimization/zenflow: ZenFlow is not modelled";
	if (c->super_offload.value == 1)
		return "offload_optimizer/super_offload: SuperOffload is not modelled";
	if (c->optimizer_device == DS_DEVICE_NVME)
		return "offload_optimizer/device nvme: NVMe is not modelled; \"cpu\" would be accepted";
	if (c->param_device == DS_DEVICE_NVME)
		return "offload_param/device nvme: NVMe is not modelled; parameters on the GPU would be accepted";
	if (c->param_device == DS_DEVICE_CPU)
		return "offload_param: parameters on the host are not modelled; those on the GPU would be accepted";
	if (c->stage.is_auto)
		return "zero_optimization/stage \"auto\" is unknown; 1, 2 or 3 would be accepted";
	if (c->stage.value == 0)
		return "zero_optimization/stage 0 is not modelled; 1, 2 or 3 would be accepted";
	return NULL;
}

int ds_config_policy(const char **spec, const struct ds_config *c, struct arena *arena, struct err *err)
{
	const char *const refusal = not_modelled(c);
	const char *const flush = c->fork_async.value == 1 ? "async" : "blocking";

	if (refusal)
		return err_set(err, STATUS_USAGE, "%s", refusal);
	if (c->optimizer_device == DS_DEVICE_NONE)
		*spec = "gpu-only";
	else if (ds_config_is_early_stage(c)) /* converts on the GPU and sends fp32, pinned and asynchronous */
		*spec = "zero3-offload:flush=async";
	else if (c->fork_prefetch.value == 1 && c->fork_stride.value > 0)
		*spec = arena_printf(
		    arena, "dos:stride=%.0f,flush=%s,ratio=%.15g", c->fork_stride.value, flush, c->ratio.value);
	else if (c->fork_prefetch.value == 1)
		*spec = arena_printf(arena, "dos:flush=%s,ratio=%.15g", flush, c->ratio.value);
	else if (c->ratio.value < 1)
		*spec = arena_printf(arena, "twinflow:ratio=%.15g,flush=%s", c->ratio.value, flush);
	else
		*spec = arena_printf(arena, "zero3-offload:flush=%s", flush);
	return 0;
}
