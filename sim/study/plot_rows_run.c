/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rows from trials run on the spot, and the trial behind a row. */
#include <math.h>
#include <string.h>

#include "sim/sharing.h"
#include "sim/study/plot_rows.h"

/* The number of an option of a canonical SPEC; NAN when it has none. */
static double option(const char *spec, const char *key, struct arena *arena)
{
	struct spec parsed;
	struct err err;
	double value;

	if (spec_parse(&parsed, spec, arena, &err))
		return NAN;
	for (size_t i = 0; i < parsed.n_pairs; i++)
		if (strcmp(parsed.pairs[i].key, key) == 0)
			return units_parse(&value, UNIT_NONE, parsed.pairs[i].value, &err) ? NAN : value;
	return NAN;
}

static void fill_row(struct plot_row *row, const struct trial *trial, const struct plot_source *source, struct arena *arena)
{
	const struct metrics *const m = &trial->metrics;
	const struct workload *const w = &trial->workload;

	*row = (struct plot_row){.hw = source->trial.hw->name, .model = w->shape.name, .spec = arena_strdup(arena, trial->policy),
	    .scale = source->scale, .contention = source->trial.sharing->name, .reason = m->fits ? "" : arena_strdup(arena, m->reason),
	    .bottleneck = res_names[m->bottleneck], .gpus = w->batch.gpus, .nodes = w->batch.nodes, .zero = w->batch.zero_stage, .tp = w->batch.tp,
	    .mbs = w->batch.mbs, .grad_accum = w->batch.grad_accum,
	    .seq = w->batch.seq, .subgroup = w->batch.subgroup_params, .n_subgroups = (double)w->n_subgroups,
	    .threads = trial->cost.threads, .feasible = m->fits, .forward_s = m->forward_s, .backward_s = m->backward_s,
	    .update_s = m->update_s, .other_s = m->other_s, .iteration_s = m->iteration_s, .gpu_peak_bytes = m->gpu_peak_bytes,
	    .host_peak_bytes = m->host_peak_bytes};
	row->stride = option(row->spec, "stride", arena);
	row->ratio = option(row->spec, "ratio", arena);
	row->fraction = strstr(row->spec, "mask=") ? NAN : option(row->spec, "fraction", arena);
}

int plot_rows_from_trials(struct plot_rows *rows, const struct plot_source *source, const struct opt_list *specs, struct arena *arena,
    struct err *err)
{
	struct arena scratch = {0};
	struct trial trial;
	int code = 0;

	*rows = (struct plot_rows){.origin = arena_printf(arena, "Profile %s: %s", source->trial.hw->name, source->trial.hw->summary)};
	for (size_t i = 0; i < source->n_shapes; i++)
		for (size_t j = 0; !code && j < specs->n; j++) {
			struct trial_input input = source->trial;
			input.shape = source->shapes[i];
			input.policy = specs->items[j];
			arena_reset(&scratch);
			code = trial_run(&trial, &input, &scratch, err);
			if (!code)
				fill_row(plot_rows_add(rows, arena), &trial, source, arena);
		}
	arena_release(&scratch);
	return code;
}

int plot_rows_load(struct plot_rows *rows, const struct plot_source *source, const struct opt_list *specs, const char *needs,
    struct arena *arena, struct err *err)
{
	if (source->input == PLOT_FROM_DB)
		return plot_rows_from_db(rows, source->db, source->where, needs, arena, err);
	return plot_rows_from_trials(rows, source, specs, arena, err);
}

/* ---- the trial behind a row */

static int scale(struct hwprofile *hw, const char *text, struct arena *arena, struct err *err)
{
	struct opt_list items = {0};

	if (!*text)
		return 0;
	if (opt_expand(&items, text, ',', arena, err))
		return err->code;
	for (size_t i = 0; i < items.n; i++) {
		const size_t length = strcspn(items.items[i], "=");
		double factor = 1;
		if (items.items[i][length] != '=' || units_parse(&factor, UNIT_NONE, items.items[i] + length + 1, err) ||
		    hwprofile_scale(hw, arena_printf(arena, "%.*s", (int)length, items.items[i]), factor, err))
			return err_set(err, STATUS_INPUT, "scale %s is not understood", text);
	}
	return 0;
}

/* The source's own shape of that name, else the preset. */
static int find_shape(struct shape *shape, const char *name, const struct plot_source *source, struct err *err)
{
	const struct shape_preset *const preset = shape_preset_find(name);

	for (size_t i = 0; i < source->n_shapes; i++)
		if (strcmp(source->shapes[i].name, name) == 0) {
			*shape = source->shapes[i];
			return 0;
		}
	if (!preset)
		return err_set(err, STATUS_INPUT, "model %s is no preset", name);
	*shape = preset->shape;
	return 0;
}

int plot_machine(struct hwprofile *hw, const char *name, const struct plot_source *source, struct arena *arena, struct err *err)
{
	for (size_t i = 0; source->machines && i < source->machines->n; i++) {
		if (hwprofile_load(hw, source->machines->items[i], arena, err))
			return err->code;
		if (strcmp(hw->name, name) == 0)
			return 0;
	}
	return hwprofile_load(hw, name, arena, err);
}

int plot_row_trial(struct trial_input *input, struct hwprofile *hw, const struct plot_row *row, const struct plot_source *source,
    struct arena *arena, struct err *err)
{
	int code = 0;

	*input = source->trial;
	if (source->input == PLOT_FROM_DB) {
		*input = (struct trial_input){.sharing = sharing_find(row->contention), .threads = row->threads};
		input->batch = (struct batch){.gpus = row->gpus, .nodes = row->nodes, .zero_stage = row->zero, .tp = row->tp, .mbs = row->mbs, .grad_accum = row->grad_accum, .seq = row->seq,
		    .has_checkpointing = true, .subgroup_params = row->subgroup};
		code = plot_machine(hw, row->hw, source, arena, err);
		if (!code)
			code = scale(hw, row->scale, arena, err);
		input->hw = hw;
		if (!code && !input->sharing)
			code = err_set(err, STATUS_INPUT, "contention %s is not known", row->contention);
	}
	if (!code)
		code = find_shape(&input->shape, row->model, source, err);
	input->policy = row->spec;
	return code;
}

bool plot_row_is_reproduced(const struct plot_row *row, const struct trial_input *input)
{
	struct arena scratch = {0};
	struct trial trial;
	struct err err;
	const bool has_run = trial_run(&trial, input, &scratch, &err) == 0;
	const bool is_same = has_run && fabs(trial.metrics.update_s - row->update_s) <= 1e-9 * row->update_s;

	arena_release(&scratch);
	return is_same;
}
