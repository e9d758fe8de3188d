/* SPDX-License-Identifier: GPL-3.0-or-later
 * Intervals of rows, from the trials behind them: of those that were run on the spot, and of stored ones whose machine and model are at
 * hand and give the stored times again. */
#include <math.h>
#include <string.h>

#include "sim/study/interval.h"
#include "sim/study/plot_rows.h"

/* ---- rows of one machine */

struct field {
	const struct plot_source *source;
	struct hwprofile *hw; /* of stored rows, scaled */
	struct trial_input *inputs;
	size_t *of; /* row of each input */
	size_t n;
};

static bool is_same_time(double a_s, double b_s)
{
	return fabs(a_s - b_s) <= 1e-9 * b_s || isnan(b_s);
}

/* Both times: a profile or model of the same name may be another one by now. */
static bool is_reproduced(const struct plot_row *row, const struct trial_input *input)
{
	struct arena scratch = {0};
	struct trial trial;
	struct err err;
	const bool is_same = trial_run(&trial, input, &scratch, &err) == 0 &&
	    is_same_time(trial.metrics.update_s, row->update_s) &&
	    is_same_time(trial.metrics.iteration_s, row->iteration_s);

	arena_release(&scratch);
	return is_same;
}

/* A row does not hold what checkpointing it had. */
static bool find_input(struct trial_input *input, struct field *f, const struct plot_row *row, struct arena *arena)
{
	struct err err;

	if (plot_row_trial(input, f->hw, row, f->source, arena, &err))
		return false;
	if (f->source->input != PLOT_FROM_DB || is_reproduced(row, input))
		return true;
	input->batch.has_checkpointing = false;
	return is_reproduced(row, input);
}

static void find_inputs(struct field *f, const struct plot_row *const *rows, size_t n, struct arena *arena)
{
	for (size_t i = 0; i < n; i++)
		if (find_input(&f->inputs[f->n], f, rows[i], arena))
			f->of[f->n++] = i;
}

static int load_uncertainty(
    struct uncertainty *u, const struct field *f, const char *name, struct arena *arena, struct err *err)
{
	const struct uncertainty_options options = {.sharing = f->inputs[0].sharing,
	    .sync = f->inputs[0].sync,
	    .n_samples = f->source->n_samples,
	    .seed = f->source->seed};
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	const int code = f->source->input == PLOT_FROM_DB ? plot_machine(hw, name, f->source, arena, err)
							  : hwprofile_load(hw, name, arena, err);

	return code ? code : uncertainty_init(u, hw, &options, arena, err);
}

int plot_rows_outcomes(struct outcome *outcomes, bool *has, const struct plot_row *const *rows, size_t n,
    const struct plot_source *source, struct arena *arena, struct err *err)
{
	struct field f = {.source = source,
	    .hw = arena_alloc(arena, 1, sizeof(*f.hw)),
	    .inputs = arena_alloc(arena, n + 1, sizeof(*f.inputs)),
	    .of = arena_alloc(arena, n + 1, sizeof(*f.of))};
	struct outcome *const found = arena_alloc(arena, n + 1, sizeof(*found));
	struct uncertainty *const u = arena_alloc(arena, 1, sizeof(*u));

	memset(has, 0, n * sizeof(*has));
	find_inputs(&f, rows, n, arena);
	if (f.n == 0)
		return 0;
	if (load_uncertainty(u, &f, source->input == PLOT_FROM_DB ? rows[0]->hw : source->hw, arena, err) ||
	    outcomes_find(found, u, f.inputs, f.n, arena, err))
		return err->code;
	for (size_t i = 0; i < f.n; i++) {
		outcomes[f.of[i]] = found[i];
		has[f.of[i]] = true;
	}
	return 0;
}

/* ---- all rows of a plot */

static bool is_same_machine(const struct plot_row *a, const struct plot_row *b)
{
	return strcmp(a->hw, b->hw) == 0 && strcmp(a->scale, b->scale) == 0 && strcmp(a->contention, b->contention) == 0;
}

/* Those of the machine of row `first`; none when an earlier row is of it. */
static size_t list_machine(const struct plot_row **list, const struct plot_rows *rows, size_t first)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (is_same_machine(&rows->rows[i], &rows->rows[first])) {
			if (i < first)
				return 0;
			list[n++] = &rows->rows[i];
		}
	return n;
}

static void set_intervals(struct plot_row *row, const struct outcome *o)
{
	const struct interval *const update = &o->of[QUANTITY_UPDATE], *const iteration = &o->of[QUANTITY_ITERATION];

	row->update = (struct plot_interval){update->lo, update->hi};
	row->iteration = (struct plot_interval){iteration->lo, iteration->hi};
}

static int fill_machine(struct plot_rows *rows, const struct plot_row **list, size_t n, const struct plot_source *source,
    struct arena *arena, struct err *err)
{
	struct outcome *const outcomes = arena_alloc(arena, n + 1, sizeof(*outcomes));
	bool *const has = arena_alloc(arena, n + 1, sizeof(*has));

	if (plot_rows_outcomes(outcomes, has, list, n, source, arena, err))
		return err->code;
	for (size_t i = 0; i < n; i++)
		if (has[i]) {
			set_intervals(&rows->rows[list[i] - rows->rows], &outcomes[i]);
			rows->n_intervals++;
		}
	return 0;
}

int plot_rows_intervals(struct plot_rows *rows, const struct plot_source *source, struct arena *arena, struct err *err)
{
	const struct plot_row **const list = arena_alloc(arena, rows->n + 1, sizeof(*list));
	int code = 0;

	for (size_t i = 0; i < rows->n; i++)
		rows->rows[i].update = rows->rows[i].iteration = (struct plot_interval){NAN, NAN};
	if (source->n_samples == 0)
		return 0;
	if (rows->n > PLOT_INTERVALS_MAX)
		return err_set(err, STATUS_USAGE,
		    "--uncertainty: %zu runs; up to %d would be accepted (--where SQL narrows it)", rows->n,
		    PLOT_INTERVALS_MAX);
	for (size_t i = 0; !code && i < rows->n; i++) {
		const size_t n = list_machine(list, rows, i);
		if (n > 0)
			code = fill_machine(rows, list, n, source, arena, err);
	}
	if (!code && rows->n_intervals == 0)
		return err_set(err, STATUS_NO,
		    "--uncertainty: none of the %zu runs can be run again: machine or model are not at hand, or give "
		    "other times by now",
		    rows->n);
	return code;
}
