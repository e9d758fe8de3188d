/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/ds_edit.h"

#include <assert.h>
#include <math.h>

#include "model/base/jsonw.h"
#include "model/ds_config.h"
#include "model/json_edit.h"

static void set_number(struct json_edit *edit, const char *path, double value)
{
	char text[32];

	json_edit_set(edit, path, jsonw_double_text(text, value));
}

static void set_fork(struct json_edit *edit, const struct ds_recommendation *what)
{
	json_edit_set(edit, DS_OPT "prefetch_optimizer", what->stride > 0 ? "1" : "0");
	json_edit_set(edit, DS_OPT "part_grads_async", what->is_async ? "1" : "0");
	if (what->stride > 0)
		set_number(edit, DS_OPT "prefetch_optimizer_gap", what->stride);
}

static void keep_params(struct json_edit *edit, const struct ds_config *before)
{
	if (before->legacy_param.value == 1)
		json_edit_set(edit, DS_ZERO "cpu_offload_param", "false");
	if (before->legacy_params.value == 1)
		json_edit_set(edit, DS_ZERO "cpu_offload_params", "false");
	if (before->param_device != DS_DEVICE_NONE && before->legacy_param.value != 1 && before->legacy_params.value != 1)
		json_edit_set(edit, DS_PARAM "device", "\"none\"");
}

static void set_all(struct json_edit *edit, const struct ds_recommendation *what, const struct ds_config *before)
{
	const bool sets_optimizer = what->device || !isnan(what->ratio) || what->sets_pin || what->sets_fork;

	/* Renamed only where nothing would be lost: newer versions refuse both keys side by side. */
	if (sets_optimizer && before->legacy_optimizer.value == 1)
		json_edit_rename(edit, DS_ZERO "cpu_offload", "offload_optimizer", "device", "\"cpu\"");
	if (what->device)
		json_edit_set(edit, DS_OPT "device", arena_printf(edit->arena, "\"%s\"", what->device));
	if (!isnan(what->ratio))
		set_number(edit, DS_OPT "ratio", what->ratio);
	if (what->sets_pin)
		json_edit_set(edit, DS_OPT "pin_memory", what->pin ? "true" : "false");
	if (what->sets_fork)
		set_fork(edit, what);
	if (what->subgroup_params > 0)
		set_number(edit, DS_ZERO "sub_group_size", what->subgroup_params);
	if (what->keeps_params)
		keep_params(edit, before);
}

/* The result says what was asked for: a key that is written with escapes is there twice then, which no configuration may be. */
static void assert_agrees(const struct ds_config *after, const struct ds_recommendation *what)
{
	assert(isnan(what->ratio) || after->ratio.value == what->ratio);
	assert(!(what->subgroup_params > 0) || after->sub_group.value == what->subgroup_params);
	assert(!what->keeps_params || after->param_device == DS_DEVICE_NONE);
	assert(!what->sets_pin || after->pin.value == (what->pin ? 1 : 0));
	assert(!what->sets_fork ||
	    (after->fork_prefetch.value == (what->stride > 0 ? 1 : 0) &&
		after->fork_async.value == (what->is_async ? 1 : 0) &&
		(what->stride == 0 || after->fork_stride.value == what->stride)));
}

int ds_edit(char **result, size_t *n_result, const char *name, const char *text, size_t n_bytes,
    const struct ds_recommendation *what, struct arena *arena, struct err *err)
{
	struct ds_config before, after;
	struct json_edit edit;

	if (ds_config_parse(&before, name, text, n_bytes, arena, err))
		return err->code;
	if (before.legacy_optimizer.value == 1 && before.has_optimizer_object)
		return err_set(err, STATUS_INPUT,
		    "%s: /zero_optimization: cpu_offload and offload_optimizer are both there; one would be accepted",
		    name);
	if (before.is_oldest)
		return err_set(err, STATUS_INPUT,
		    "%s: /zero_optimization: true or false has no keys; an object would be accepted", name);
	json_edit_init(&edit, text, n_bytes, arena);
	set_all(&edit, what, &before);
	if (ds_config_parse(&after, name, edit.text, edit.n_bytes, arena, err))
		return err_wrap(err, "with the recommended keys");
	assert_agrees(&after, what);
	*result = edit.text;
	*n_result = edit.n_bytes;
	return 0;
}
