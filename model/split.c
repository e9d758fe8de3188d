/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/split.h"

#include <math.h>
#include <string.h>

double batch_tp(const struct batch *batch)
{
	return batch->tp > 0 ? batch->tp : 1;
}

int batch_zero_stage(const struct batch *batch)
{
	return batch->zero_stage > 0 ? (int)batch->zero_stage : 3;
}

bool batch_is_plain(const struct batch *batch)
{
	return batch_zero_stage(batch) == 3 && batch_tp(batch) == 1;
}

const char *batch_parallel_text(const struct batch *batch, struct arena *arena)
{
	const char *text = "";

	if (batch_zero_stage(batch) != 3)
		text = arena_printf(arena, ", ZeRO-%d", batch_zero_stage(batch));
	return batch_tp(batch) == 1 ? text : arena_printf(arena, "%s, tensor parallel %.0f", text, batch_tp(batch));
}

static const char *add_word(const char *name, const char *key, double value, struct arena *arena)
{
	return arena_printf(arena, "%s%c%s=%.0f", name, strchr(name, ':') ? ',' : ':', key, value);
}

const char *batch_model_name(const char *model, const struct batch *batch, struct arena *arena)
{
	if (batch_is_plain(batch))
		return model;
	const char *const name = add_word(model, "zero", batch_zero_stage(batch), arena);
	return add_word(name, "tp", batch_tp(batch), arena);
}

/* ---- what tensor parallelism divides */

struct divided {
	const char *flag;
	double value;
};

/* A vocabulary is padded in training, the others are what the model is. */
static int refuse(const struct divided *d, double tp, struct err *err)
{
	if (strcmp(d->flag, "vocab") == 0)
		return err_set(err, STATUS_USAGE, "--tp %.15g does not divide --vocab %.15g; --vocab %.15g, padded, would be accepted", tp, d->value,
		    ceil(d->value / tp) * tp);
	return err_set(err, STATUS_USAGE, "--tp %.15g does not divide --%s %.15g; one that does would be accepted", tp, d->flag, d->value);
}

int split_check(const struct shape *shape, const struct batch *batch, struct err *err)
{
	const double tp = batch_tp(batch);
	const struct divided divided[] = {{"gpus", batch->gpus}, {"heads", shape->heads}, {"kv-heads", shape->kv_heads},
	    {"ffn", shape->ffn}, {"vocab", shape->vocab}};
	const size_t n = batch->n_subgroups > 0 ? 1 : sizeof(divided) / sizeof(divided[0]);

	for (size_t i = 0; i < n; i++)
		if (fmod(divided[i].value, tp) != 0)
			return refuse(&divided[i], tp, err);
	if (tp > 1 && n > 1 && shape->n_experts > 0)
		return err_set(err, STATUS_USAGE, "--tp %.15g: tensor parallelism of a mixture of experts is not modelled; 1 would be accepted",
		    tp);
	return 0;
}

/* ---- collectives */

/* Of `bytes` that are spread evenly over `ranks`. */
static double received_bytes(double bytes, double ranks)
{
	return bytes * (ranks - 1) / ranks;
}

double split_gather_bytes(const struct workload *workload, double n_params)
{
	const struct batch *const batch = &workload->batch;

	return batch_zero_stage(batch) == 3 ? received_bytes(2 * n_params, batch_dp(batch)) : 0; /* E26 */
}

double split_update_gather_bytes(const struct workload *workload)
{
	const struct batch *const batch = &workload->batch;

	if (workload->is_update_only || batch_zero_stage(batch) == 3)
		return 0;
	return received_bytes(2 * workload->tp_params, batch_dp(batch)); /* E26 */
}

double split_reduce_bytes(const struct workload *workload)
{
	const struct batch *const b = &workload->batch;

	/* a reduce-scatter and an all-gather */
	return 2 * received_bytes(2 * b->mbs * b->seq * workload->shape.hidden, batch_tp(b)); /* E28 */
}
