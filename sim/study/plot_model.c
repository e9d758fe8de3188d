/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/plot_model.h"

#include <math.h>
#include <string.h>

#include "sim/sharing.h"
#include "sim/study/use_interleave.h"

int plot_model_init(struct plot_model *model, const struct trial_input *input, struct arena *arena, struct err *err)
{
	struct policy_use use;

	*model = (struct plot_model){.hw = input->hw, .is_contended = strcmp(input->sharing->name, "none") != 0};
	int code = trial_workload(&model->workload, input->hw, &input->shape, &input->batch, arena, err);
	if (!code)
		code = policy_use_parse(&use, input->policy, arena, err);
	if (code)
		return code;
	if (use.policy->resolve)
		use.policy->resolve(use.params, input->hw, &model->workload, input->threads);
	cost_init(&model->cost, input->hw, &model->workload, input->threads, use.policy->workers ? use.policy->workers(use.params) : 0);
	return use_interleave(&model->how, &use, &model->workload, err);
}

bool plot_model_of_row(struct plot_model *model, const struct plot_row *row, const struct plot_source *source, struct arena *arena)
{
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct trial_input input;
	struct err err;

	if (plot_row_trial(&input, hw, row, source, arena, &err))
		return false;
	if (source->input == PLOT_FROM_DB && (isnan(row->update_s) || !plot_row_is_reproduced(row, &input)))
		return false;
	return plot_model_init(model, &input, arena, &err) == 0;
}
