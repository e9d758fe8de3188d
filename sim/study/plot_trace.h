/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plot_trace: the last iteration of rank 0 of a trace: a file that dos simulate --trace wrote, or a trial run on the spot.
 *
 * Times are seconds from the start of that iteration. Counters hold their value until the next change.
 */
#ifndef SIM_STUDY_PLOT_TRACE_H
#define SIM_STUDY_PLOT_TRACE_H

#include "sim/study/plot.h"

struct plot_span {
	const char *name;
	double start_s, end_s;
	int lane; /* enum lane; phases: 0 */
};
struct plot_sample {
	double at_s, bytes;
};

struct plot_trace {
	const char *policy, *origin, *about; /* about: "7b on h100-4x, .." of a trial, else the policy */
	const struct hwprofile *hw; /* NULL: of a file */
	double length_s;
	struct plot_span *phases, *ops;
	size_t n_phases, n_ops;
	struct plot_sample *memory[POOL_N];
	size_t n_samples[POOL_N];
};

int plot_trace_load(struct plot_trace *trace, const struct plot_source *source, struct arena *arena, struct err *err) MUST_CHECK;

#endif
