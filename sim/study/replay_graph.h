/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay_graph: a recording run again as a schedule: its operations and dependencies, with durations from rates that were fitted on half
 * of it. What comes out for the other half is a prediction.
 */
#ifndef SIM_STUDY_REPLAY_GRAPH_H
#define SIM_STUDY_REPLAY_GRAPH_H

#include "traces/recording.h"

struct replay_graph {
	size_t n_iterations; /* covered: the first ones */
	double (*phase_s)[PHASE_N]; /* [n_iterations], simulated; arena */
	double *iteration_s; /* [n_iterations] */
	bool
	    by_iteration; /* halves are alternate iterations: odd ones (from 0) were not fitted; else alternate operations */
	size_t n_ops;
	double
	    single_frac; /* part of all operation time that is as recorded: classes without a sample in the fitted half */
};

/* Needs a finished recording with events. */
void replay_graph_run(struct replay_graph *graph, const struct recording *rec, struct arena *arena);

#endif
