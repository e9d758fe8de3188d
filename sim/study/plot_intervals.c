/* SPDX-License-Identifier: GPL-3.0-or-later
 * Intervals of rows that were run on the spot. */
#include <math.h>

#include "sim/study/interval.h"
#include "sim/study/plot_rows.h"

/* All rows as alternatives on the source's machine. */
static int find(struct outcome *outcomes, const struct plot_rows *rows, const struct plot_source *source, struct arena *arena, struct err *err)
{
	const struct uncertainty_options options = {.sharing = source->trial.sharing, .sync = source->trial.sync,
	    .n_samples = source->n_samples, .seed = source->seed};
	struct trial_input *const inputs = arena_alloc(arena, rows->n + 1, sizeof(*inputs));
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct uncertainty *const u = arena_alloc(arena, 1, sizeof(*u));

	for (size_t i = 0; i < rows->n; i++)
		if (plot_row_trial(&inputs[i], hw, &rows->rows[i], source, arena, err))
			return err->code;
	if (hwprofile_load(hw, source->hw, arena, err) || uncertainty_init(u, hw, &options, arena, err))
		return err->code;
	return outcomes_find(outcomes, u, inputs, rows->n, arena, err);
}

int plot_rows_intervals(struct plot_rows *rows, const struct plot_source *source, struct arena *arena, struct err *err)
{
	struct outcome *const outcomes = arena_alloc(arena, rows->n + 1, sizeof(*outcomes));

	for (size_t i = 0; i < rows->n; i++)
		rows->rows[i].update = rows->rows[i].iteration = (struct plot_interval){NAN, NAN};
	if (source->n_samples == 0 || source->input != PLOT_FROM_TRIALS)
		return 0;
	if (find(outcomes, rows, source, arena, err))
		return err->code;
	for (size_t i = 0; i < rows->n; i++) {
		const struct interval *const update = &outcomes[i].of[QUANTITY_UPDATE], *const iteration = &outcomes[i].of[QUANTITY_ITERATION];
		rows->rows[i].update = (struct plot_interval){update->lo, update->hi};
		rows->rows[i].iteration = (struct plot_interval){iteration->lo, iteration->hi};
	}
	return 0;
}
