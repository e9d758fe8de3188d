/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plot_model: what the closed form needs of a trial, for the lines that plots draw beside simulated points.
 */
#ifndef SIM_STUDY_PLOT_MODEL_H
#define SIM_STUDY_PLOT_MODEL_H

#include "model/closed_form.h"
#include "sim/study/plot_rows.h"

struct plot_model {
	const struct hwprofile *hw; /* borrowed */
	struct workload workload;
	struct cost cost;
	struct interleave how;
	bool is_contended;
};

/* STATUS_USAGE for policies that interleave nothing. */
int plot_model_init(struct plot_model *model, const struct trial_input *input, struct arena *arena, struct err *err) MUST_CHECK;
/* Of the setting of a row; false when it is not known: the machine or model is not shipped, or not the one that was stored. */
bool plot_model_of_row(struct plot_model *model, const struct plot_row *row, const struct plot_source *source, struct arena *arena);

#endif
