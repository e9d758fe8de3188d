/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * runner: one point of a grid becomes one row of the store: first its identity (what a resumed sweep looks for), then its
 * results. A thread has a runner of its own; the grid is shared and immutable.
 *
 * A point that cannot be (heads that do not divide, an option that excludes another) gives an infeasible row with the reason.
 */
#ifndef SIM_STUDY_RUNNER_H
#define SIM_STUDY_RUNNER_H

#include "model/stride_curve.h"
#include "sim/study/grid.h"
#include "sim/study/store.h"

struct row_done {
	struct store_workload workload;
	struct store_trial trial; /* texts in the arena given to runner_prepare and runner_run */
	bool is_refused;
};

/* Canonical texts of policies that came by, by their params. */
enum { RUNNER_TEXTS = 64, RUNNER_PARAMS_MAX = 256, RUNNER_TEXT_MAX = 512 };
struct runner_text {
	const struct policy *policy; /* NULL: empty */
	unsigned char params[RUNNER_PARAMS_MAX];
	char text[RUNNER_TEXT_MAX];
	unsigned long long hash; /* of the text */
};

struct runner {
	const struct grid *grid; /* borrowed */
	bool is_closed_form;
	struct arena arena; /* of the point at hand */
	struct grid_point point;
	bool is_resolved; /* the point at hand may run */
	/* what neighbouring points share */
	const struct hwprofile *hw; /* scaled */
	struct hwprofile scaled;
	const char *scale; /* as text */
	struct arena scale_arena;
	size_t hw_of; /* which machine and setting: hw * n_settings + setting, SIZE_MAX at first */
	struct workload workload;
	unsigned long long workload_hash;
	struct err workload_err; /* code 0: it can be */
	struct arena workload_arena;
	size_t workload_of; /* which, SIZE_MAX at first */
	struct cost cost; /* of closed forms */
	struct runner_cost {
		size_t hw_of, workload_of;
		double threads, workers;
	} cost_of; /* which; hw_of SIZE_MAX at first */
	struct stride_curve curve;
	struct runner_text texts[RUNNER_TEXTS];
};

void runner_init(struct runner *runner, const struct grid *grid, bool is_closed_form);
void runner_release(struct runner *runner);

/* Everything that the row is known by; results empty. */
void runner_prepare(struct row_done *row, struct runner *runner, size_t index, struct arena *texts);
/* The results of the row just prepared. */
void runner_run(struct row_done *row, struct runner *runner, struct arena *texts);

#endif
