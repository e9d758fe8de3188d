/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the options of common.h mean. */
#include "sim/cli/common.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/config_file.h"
#include "model/split.h"
#include "sim/study/specs.h"

void common_note(const struct common *c, const char *fmt, ...)
{
	va_list args;

	if (c->is_quiet)
		return;
	va_start(args, fmt);
	fputs("dos: ", stderr);
	vfprintf(stderr, fmt, args);
	putc('\n', stderr);
	va_end(args);
}

/* ---- machine */

/* "RES=F" */
static int apply_scale(struct hwprofile *hw, const char *item, struct opt_list *seen, struct arena *arena, struct err *err)
{
	const size_t length = strcspn(item, "=");
	double factor;

	if (length == 0 || item[length] == '\0')
		return err_set(err, STATUS_USAGE, "--scale %s: RES=F would be accepted, such as dram=1.5", item);
	if (units_parse(&factor, UNIT_NONE, item + length + 1, err))
		return err_wrap(err, "--scale %s", item);
	const char *const resource = arena_printf(arena, "%.*s", (int)length, item);
	for (size_t i = 0; i < seen->n; i++)
		if (strcmp(seen->items[i], resource) == 0)
			return err_set(err, STATUS_USAGE, "--scale: %s is given twice; one factor would be accepted", resource);
	opt_list_add(seen, resource, arena);
	return hwprofile_scale(hw, resource, factor, err);
}

int common_scale(struct hwprofile *hw, const struct common *c, struct arena *arena, struct err *err)
{
	struct opt_list seen = {0};

	for (size_t i = 0; i < c->scales.n; i++) {
		struct opt_list items = {0};
		if (opt_expand(&items, c->scales.items[i], ',', arena, err))
			return err_wrap(err, "--scale");
		for (size_t j = 0; j < items.n; j++)
			if (apply_scale(hw, items.items[j], &seen, arena, err))
				return err->code;
	}
	return 0;
}

const char *common_scale_text(const struct common *c, struct arena *arena)
{
	const char *text = "";

	for (size_t i = 0; i < c->scales.n; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? "," : "", c->scales.items[i]);
	return text;
}

/* 192 for 192GiB */
static int check_size(const char *name, double bytes, struct err *err)
{
	if (bytes > 0 && bytes < 1e6)
		return err_set(err, STATUS_USAGE, "--%s %.10g: that is bytes; a size with its unit would be accepted, such as %.10gGiB", name,
		    bytes, bytes);
	return 0;
}

static int set_limits(struct hwprofile *hw, const struct common *c, struct err *err)
{
	if (check_size("gpu-mem", c->gpu_mem_bytes, err) || check_size("host-mem", c->host_mem_bytes, err) ||
	    check_size("pinned-max", c->pinned_max_bytes, err))
		return err->code;
	if (c->gpu_mem_bytes <= 0 && c->host_mem_bytes <= 0 && c->pinned_max_bytes <= 0)
		return 0;
	hw->gpu_memory_bytes = c->gpu_mem_bytes > 0 ? c->gpu_mem_bytes : hw->gpu_memory_bytes;
	hw->host_memory_bytes = c->host_mem_bytes > 0 ? c->host_mem_bytes : hw->host_memory_bytes;
	hw->pinned_max_bytes = c->pinned_max_bytes > 0 ? c->pinned_max_bytes : hw->pinned_max_bytes;
	hwprofile_rehash(hw);
	return 0;
}

int common_hw(struct hwprofile *hw, const struct common *c, struct arena *arena, struct err *err)
{
	if (!c->hw)
		return err_set(err, STATUS_USAGE, "--hw is missing: a shipped profile (dos list profiles) or a file");
	int code = hwprofile_load(hw, c->hw, arena, err);
	if (!code)
		code = common_scale(hw, c, arena, err);
	return code ? code : set_limits(hw, c, err);
}

int common_sharing(const struct sharing **sharing, const struct common *c, struct arena *arena, struct err *err)
{
	struct opt_list names = {0};
	const char *list = "";

	*sharing = sharing_find(c->contention);
	if (*sharing)
		return 0;
	for (size_t i = 0; sharing_all[i]; i++) {
		opt_list_add(&names, sharing_all[i]->name, arena);
		list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", sharing_all[i]->name);
	}
	opt_list_add(&names, NULL, arena);
	const char *const nearest = err_nearest(c->contention, names.items);
	return err_set(err, STATUS_USAGE, "--contention '%s'%s%s%s; accepted: %s", c->contention, nearest ? "; did you mean '" : "",
	    nearest ? nearest : "", nearest ? "'?" : "", list);
}

/* ---- model and batch */

static int preset_shape(struct shape *shape, const char *name, struct arena *arena, struct err *err)
{
	const struct shape_preset *const preset = shape_preset_find(name);
	struct opt_list names = {0};
	const char *list = "";

	if (preset) {
		*shape = preset->shape;
		return 0;
	}
	for (size_t i = 0; i < n_shape_presets; i++) {
		opt_list_add(&names, shape_presets[i].shape.name, arena);
		list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", shape_presets[i].shape.name);
	}
	opt_list_add(&names, NULL, arena);
	const char *const nearest = err_nearest(name, names.items);
	return err_set(err, STATUS_INPUT, "--model %s: no model of that name%s%s%s; shipped: %s; or give a config.json, or the shape "
	    "by flags", name, nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "", list);
}

static void use_config(struct batch *batch, const struct hf_config *config, const struct common *c)
{
	if (config->has_precision && !c->has_precision)
		batch->precision = config->precision;
	if (config->is_part)
		common_note(c, "%s: only the text model (%s) is counted", c->model, config->model_type);
	const double seq = c->seq ? (double)c->seq : 2048;
	if (config->max_positions > 0 && seq > config->max_positions)
		common_note(c, "%s: --seq %.0f is longer than the model's %.0f positions", c->model, seq, config->max_positions);
}

/* What it says of tensor parallelism and its optimizer, where the flags do not. */
static int use_megatron(struct batch *batch, const struct megatron *megatron, const struct common *c, struct arena *arena, struct err *err)
{
	if (megatron_parallel(batch, megatron, err))
		return err_wrap(err, "%s", c->model);
	if (!batch_is_plain(batch) && (c->tp == 0 || c->zero_stage == 0))
		common_note(c, "%s says %s", c->model, batch_parallel_text(batch, arena) + strlen(", "));
	return 0;
}

/* A config.json: its shape, and its 16-bit format unless --precision is given. Megatron arguments: their shape and parallelism. */
static int file_shape(struct shape *shape, struct batch *batch, const struct common *c, struct arena *arena, struct err *err)
{
	struct config_file *const file = arena_alloc(arena, 1, sizeof(*file));

	if (config_file_load(file, c->model, arena, err))
		return err->code;
	const struct shape *const found = config_file_shape(file);
	if (!found)
		return err_set(err, STATUS_INPUT, "%s: a DeepSpeed configuration has no model; a Hugging Face config.json or Megatron arguments "
		    "would be accepted", file->name);
	*shape = *found;
	if (file->kind == CONFIG_HF)
		use_config(batch, &file->hf, c);
	return file->kind == CONFIG_MEGATRON ? use_megatron(batch, &file->megatron, c, arena, err) : 0;
}

static int named_shape(struct shape *shape, struct batch *batch, const struct common *c, struct arena *arena, struct err *err)
{
	return hwprofile_is_file(c->model) ? file_shape(shape, batch, c, arena, err) : preset_shape(shape, c->model, arena, err);
}

struct shape_flag {
	const char *flag;
	long long given;
	double *member;
	bool is_required;
};

/* Flags over the preset, or all that is needed without one. */
static int shape_flags(struct shape *shape, const struct common *c, struct err *err)
{
	const struct shape_flag flags[] = {
	    {"--layers", c->layers, &shape->layers, true},
	    {"--hidden", c->hidden, &shape->hidden, true},
	    {"--heads", c->heads, &shape->heads, true},
	    {"--kv-heads", c->kv_heads, &shape->kv_heads, false},
	    {"--ffn", c->ffn, &shape->ffn, true},
	    {"--vocab", c->vocab, &shape->vocab, true},
	};
	const size_t n_flags = sizeof(flags) / sizeof(flags[0]);
	size_t n_given = 0;

	for (size_t i = 0; i < n_flags; i++) {
		n_given += flags[i].given > 0;
		if (flags[i].given > 0)
			*flags[i].member = (double)flags[i].given;
	}
	if (n_given == 0 && !c->model)
		return err_set(err, STATUS_USAGE, "--model is missing: a preset (dos list models), or the shape by --layers --hidden "
		    "--heads --ffn --vocab, or --n-subgroups for an update alone");
	for (size_t i = 0; i < n_flags && !c->model; i++)
		if (flags[i].is_required && flags[i].given == 0)
			return err_set(err, STATUS_USAGE, "%s is missing: without --model the shape needs --layers --hidden --heads "
			    "--ffn --vocab", flags[i].flag);
	if (n_given > 0)
		shape->name = "custom";
	return 0;
}

static void fill_batch(struct batch *batch, const struct common *c)
{
	*batch = (struct batch){.gpus = (double)c->gpus,
	    .nodes = (double)c->nodes,
	    .zero_stage = (double)c->zero_stage,
	    .tp = (double)c->tp,
	    .mbs = (double)c->mbs,
	    .grad_accum = (double)c->grad_accum,
	    .seq = (double)c->seq,
	    .has_checkpointing = c->checkpointing == 0,
	    .precision = (enum precision)c->precision,
	    .subgroup_params = c->subgroup_params,
	    .n_subgroups = (double)c->n_subgroups};
}

int common_workload(struct shape *shape, struct batch *batch, const struct common *c, struct arena *arena, struct err *err)
{
	*shape = (struct shape){.name = "custom", .arch = ARCH_LLAMA};
	fill_batch(batch, c);
	if (c->model && named_shape(shape, batch, c, arena, err))
		return err->code;
	if (c->n_subgroups == 0)
		return shape_flags(shape, c, err);
	if (c->model)
		common_note(c, "--n-subgroups simulates an update alone: --model %s gives it a name only", c->model);
	else
		shape->name = "update";
	return 0;
}

/* ---- policies */

/* Appends workers=W where the policy has the option and the SPEC leaves it open. */
static int apply_workers(struct opt_list *specs, const struct common *c, struct arena *arena, struct err *err)
{
	bool is_used = false;

	for (size_t i = 0; c->workers && i < specs->n; i++) {
		struct policy_use use;
		const char *const spec = specs->items[i];
		if (policy_use_parse(&use, spec, arena, err))
			return err->code;
		if (!opt_find(use.policy->opts, use.policy->n_opts, "workers", strlen("workers")))
			continue;
		is_used = true;
		if (!strstr(spec, "workers="))
			specs->items[i] = arena_printf(arena, "%s%cworkers=%lld", spec, strchr(spec, ':') ? ',' : ':', c->workers);
	}
	if (c->workers && !is_used)
		return err_set(err, STATUS_USAGE, "--workers: none of the policies has workers");
	return 0;
}

int common_policies(struct opt_list *specs, const struct common *c, const char *fallback, struct arena *arena, struct err *err)
{
	*specs = (struct opt_list){0};
	if (c->policies.n == 0 && !fallback)
		return err_set(err, STATUS_USAGE, "--policy is missing: SPEC[,SPEC..]; dos list policies has them");
	if (c->policies.n == 0)
		opt_list_add(specs, fallback, arena);
	for (size_t i = 0; i < c->policies.n; i++)
		if (specs_expand(specs, c->policies.items[i], arena, err))
			return err->code;
	for (size_t i = 0; i < specs->n; i++) {
		struct policy_use use;
		if (policy_use_parse(&use, specs->items[i], arena, err))
			return err->code;
	}
	return apply_workers(specs, c, arena, err);
}

/* ---- one trial */

int common_trial(struct trial_input *input, struct hwprofile *hw, const struct common *c, struct arena *arena, struct err *err)
{
	*input = (struct trial_input){.hw = hw, .threads = (double)c->threads, .sync = (enum sync)c->sync};
	int code = common_sharing(&input->sharing, c, arena, err);
	if (!code)
		code = common_workload(&input->shape, &input->batch, c, arena, err);
	return code ? code : common_hw(hw, c, arena, err);
}

int common_beside(const char *option, const char *path, const char *output, struct err *err)
{
	if (!path || strcmp(path, output ? output : "-") != 0)
		return 0;
	if (strcmp(path, "-") == 0)
		return err_set(err, STATUS_USAGE, "%s -: the result is on standard output; --output FILE beside it would be accepted", option);
	return err_set(err, STATUS_USAGE, "%s and --output: both are '%s'; two files would be accepted", option, path);
}

const char *common_context(const struct trial *trial, const struct trial_input *input, struct arena *arena)
{
	const struct workload *const w = &trial->workload;
	char params[UNITS_TEXT_MAX], subgroup[UNITS_TEXT_MAX];
	const char *text = arena_printf(arena, "%s on %s: %s parameters, %s%s", w->shape.name, input->hw->name,
	    units_print(params, UNIT_PARAMS, w->n_params), batch_gpus_text(&w->batch, arena), batch_parallel_text(&w->batch, arena));

	if (!w->is_update_only)
		text = arena_printf(arena, "%s, %.0f x %.0f tokens%s%s", text, w->batch.mbs, w->batch.seq,
		    w->batch.grad_accum > 1 ? arena_printf(arena, " x %.0f micro-batches", w->batch.grad_accum) : "",
		    w->batch.has_checkpointing ? ", checkpointing" : "");
	return arena_printf(arena, "%s, %zu subgroups of %s, %.0f threads, contention %s", text, w->n_subgroups,
	    units_print(subgroup, UNIT_PARAMS, w->batch.subgroup_params), trial->cost.threads, input->sharing->name);
}
