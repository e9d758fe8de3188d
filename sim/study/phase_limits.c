/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/phase_limits.h"

#include <math.h>
#include <string.h>

static double mark_s(const struct trial *t, size_t iteration, enum phase phase)
{
	return t->timeline.end_s[t->schedule.marks[iteration * PHASE_N + phase]];
}

/* Follows causes back from the end of the last iteration to its start, as metrics does. */
void phase_limits_find(struct phase_limits *limits, const struct trial *t)
{
	const struct timeline *const line = &t->timeline;
	const size_t last = t->schedule.n_iterations - 1;
	const double begin_s = last ? mark_s(t, last - 1, PHASE_OTHER) : 0;
	op_id id = t->schedule.marks[last * PHASE_N + PHASE_OTHER];

	memset(limits, 0, sizeof(*limits));
	while (id != NO_OP && line->end_s[id] > begin_s) {
		limits->path_s[t->schedule.ops[id].phase][line->limit[id]] += line->end_s[id] - fmax(begin_s, line->start_s[id]);
		id = line->cause[id];
	}
}

enum res phase_limits_worst(double *share_frac, const struct phase_limits *limits, enum phase phase)
{
	size_t worst = 0;
	double sum_s = 0;

	for (size_t r = 0; r < RES_N; r++) {
		sum_s += limits->path_s[phase][r];
		worst = limits->path_s[phase][r] > limits->path_s[phase][worst] ? r : worst;
	}
	*share_frac = sum_s > 0 ? limits->path_s[phase][worst] / sum_s : 0;
	return sum_s > 0 ? (enum res)worst : RES_N;
}
