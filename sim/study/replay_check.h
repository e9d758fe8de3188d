/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay_check: the unchanged replay: a recording simulated again at rates from half of it and compared with the other half.
 *
 * Timelines run as graphs of their operations (replay_graph). A log has no operations inside its phases: each phase is one, with the
 * mean of the fitted iterations, the first (warm-up) left out.
 */
#ifndef SIM_STUDY_REPLAY_CHECK_H
#define SIM_STUDY_REPLAY_CHECK_H

#include "sim/study/replay_graph.h"

struct replay_check {
	bool has_run; /* false: too few iterations */
	bool by_iteration; /* halves are alternate iterations; else alternate operations of the only one */
	size_t n_iterations, n_held_out, n_ops;
	double recorded_s[PHASE_N], simulated_s[PHASE_N]; /* medians of the held-out iterations; NAN: no such phase */
	double recorded_iteration_s, simulated_iteration_s;
	double error_frac; /* of the iteration: simulated over recorded, less 1 */
	double single_frac; /* part of operation time that had no sample in the fitted half and stands as recorded */
};

void replay_check_run(struct replay_check *check, const struct recording *rec);

#endif
