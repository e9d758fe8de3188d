/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit_cases.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "model/split.h"

static int add_case(struct fit_cases *cases, const struct fit_case *added, struct arena *arena, struct err *err)
{
	for (size_t i = 0; i < cases->n; i++)
		if (strcmp(cases->cases[i].id, added->id) == 0)
			return err_set(err, STATUS_INPUT, "run '%s' is there twice; ids that differ would be accepted", added->id);
	if ((cases->n & (cases->n + 1)) == 0 || cases->n == 0) { /* grows at 0, 1, 3, 7, .. */
		struct fit_case *const grown = arena_alloc(arena, 2 * cases->n + 1, sizeof(*grown));
		if (cases->n)
			memcpy(grown, cases->cases, cases->n * sizeof(*grown));
		cases->cases = grown;
	}
	cases->cases[cases->n++] = *added;
	return 0;
}

/* A total without all phases becomes their sum: iteration less what was logged beside it. False: nothing that a fit uses. */
static bool complete_measured(double measured[QUANTITY_N], double other_s)
{
	const bool has_phases =
	    !isnan(measured[QUANTITY_FORWARD]) && !isnan(measured[QUANTITY_BACKWARD]) && !isnan(measured[QUANTITY_UPDATE]);
	bool has_any = false;

	if (has_phases)
		measured[QUANTITY_SUM_PHASES] = NAN; /* says nothing that the phases do not */
	else if (isnan(measured[QUANTITY_SUM_PHASES]) && !isnan(measured[QUANTITY_ITERATION]))
		measured[QUANTITY_SUM_PHASES] = measured[QUANTITY_ITERATION] - (isnan(other_s) ? 0 : other_s);
	measured[QUANTITY_ITERATION] = NAN;
	for (size_t q = 0; q < QUANTITY_N; q++) {
		if (!(measured[q] > 0))
			measured[q] = NAN;
		has_any |= measured[q] > 0;
	}
	return has_any;
}

/* ---- rows */

static bool is_selected(const struct row *row, const struct opt_list *ids)
{
	for (size_t i = 0; i < ids->n; i++)
		if (fnmatch(ids->items[i], row->id, 0) == 0)
			return true;
	return ids->n == 0;
}

static const char *group_of(const struct trial_input *input, struct arena *arena)
{
	const struct shape *const s = &input->shape;

	if (input->batch.n_subgroups > 0)
		return arena_printf(arena, "%.0f subgroups of %.0f, %s", input->batch.n_subgroups, input->batch.subgroup_params,
		    batch_gpus_text(&input->batch, arena));
	return arena_printf(arena, "%s L%.0f h%.0f f%.0f, %s", s->name, s->layers, s->hidden, s->ffn, batch_gpus_text(&input->batch, arena));
}

static int add_row(struct fit_cases *cases, const struct rows *rows, const struct row *row, struct arena *arena, struct err *err)
{
	struct fit_case added = {.id = row->id, .input = {.batch = row->batch, .policy = row->policy, .threads = row->threads}};

	if (row_shape(&added.input.shape, row, err))
		return err_wrap(err, "%s:%zu", rows->name, row->line);
	added.group = group_of(&added.input, arena);
	memcpy(added.measured, row->measured, sizeof(added.measured));
	if (complete_measured(added.measured, row->other_s))
		return add_case(cases, &added, arena, err);
	cases->n_unmeasured++;
	return 0;
}

int fit_cases_add_rows(
    struct fit_cases *cases, const struct rows *rows, const struct opt_list *ids, struct arena *arena, struct err *err)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct row *const row = &rows->rows[i];
		if (!is_selected(row, ids))
			continue;
		if (*row->exclude) {
			cases->n_excluded++;
			continue;
		}
		if (cases->hw && strcmp(cases->hw, row->hw) != 0)
			return err_set(err, STATUS_USAGE, "%s:%zu: row '%s' is of %s, those before it of %s; one machine would be accepted: "
			    "choose with --rows", rows->name, row->line, row->id, row->hw, cases->hw);
		cases->hw = row->hw;
		if (add_row(cases, rows, row, arena, err))
			return err->code;
	}
	return 0;
}

/* ---- logs and traces */

static double first_given(double option, double fact)
{
	return option > 0 ? option : fact;
}

static int shape_of(struct shape *shape, const struct recording *rec, const struct fit_log_options *options, struct err *err)
{
	const struct rec_facts *const f = &rec->facts;
	const struct {
		const char *flag;
		double value;
	} needed[] = {{"--layers", f->layers}, {"--hidden", f->hidden}, {"--heads", f->heads}, {"--ffn", f->ffn}, {"--vocab", f->vocab}};

	if (options->shape.layers > 0) {
		*shape = options->shape;
		return 0;
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!(needed[i].value > 0))
			return err_set(err, STATUS_USAGE, "%s: the shape of the model is not in this %s (%s is missing); --model, or the shape "
			    "by flags, would be accepted", rec->file, rec->format, needed[i].flag);
	*shape = (struct shape){.name = "custom",
	    .arch = f->is_gpt ? ARCH_GPT : ARCH_LLAMA,
	    .layers = f->layers,
	    .hidden = f->hidden,
	    .heads = f->heads,
	    .kv_heads = f->kv_heads,
	    .ffn = f->ffn,
	    .vocab = f->vocab};
	return 0;
}

static void batch_of(struct batch *batch, const struct recording *rec, const struct fit_log_options *options)
{
	const struct rec_facts *const f = &rec->facts;

	*batch = options->batch;
	const double all_gpus = f->gpus > 0 ? f->gpus * batch_tp(batch) : (double)f->world_size; /* logs have the data-parallel size */
	batch->gpus = first_given(batch->gpus, all_gpus / fmax(1, batch->nodes));
	batch->mbs = first_given(batch->mbs, f->mbs);
	batch->grad_accum = first_given(batch->grad_accum, f->grad_accum);
	batch->seq = first_given(batch->seq, f->seq);
	batch->subgroup_params = first_given(batch->subgroup_params, f->subgroup_params);
	if (!options->has_checkpointing)
		batch->has_checkpointing = f->has_checkpointing;
}

/* Medians of phases; host memory is left out: logs print that of the node with its system. */
static void measured_of(double measured[QUANTITY_N], const struct recording *rec)
{
	const struct {
		enum quantity quantity;
		enum phase phase;
	} phases[] = {{QUANTITY_FORWARD, PHASE_FORWARD}, {QUANTITY_BACKWARD, PHASE_BACKWARD}, {QUANTITY_UPDATE, PHASE_UPDATE}};

	for (size_t q = 0; q < QUANTITY_N; q++)
		measured[q] = NAN;
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		const int64_t median_ns = recording_median_ns(rec, phases[i].phase);
		if (median_ns > 0)
			measured[phases[i].quantity] = (double)median_ns * 1e-9;
	}
	if (rec->facts.gpu_peak_bytes > 0)
		measured[QUANTITY_GPU_PEAK] = (double)rec->facts.gpu_peak_bytes;
}

int fit_cases_add_recording(struct fit_cases *cases, const struct recording *rec, const struct fit_log_options *options,
    struct arena *arena, struct err *err)
{
	const char *const slash = strrchr(rec->file, '/');
	struct fit_case added = {.id = arena_strdup(arena, slash ? slash + 1 : rec->file)};

	added.input.policy = options->policy ? options->policy : *rec->facts.policy ? arena_strdup(arena, rec->facts.policy) : NULL;
	if (!added.input.policy)
		return err_set(err, STATUS_USAGE, "%s: which policy ran is not in this %s; --policy SPEC would be accepted", rec->file,
		    rec->format);
	if (shape_of(&added.input.shape, rec, options, err))
		return err->code;
	batch_of(&added.input.batch, rec, options);
	added.input.threads = options->threads;
	added.group = group_of(&added.input, arena);
	measured_of(added.measured, rec);
	if (complete_measured(added.measured, NAN))
		return add_case(cases, &added, arena, err);
	cases->n_unmeasured++;
	return 0;
}
