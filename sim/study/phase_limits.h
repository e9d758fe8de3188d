/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * phase_limits: what limited each phase: the critical path of the last iteration by phase and resource.
 */
#ifndef SIM_STUDY_PHASE_LIMITS_H
#define SIM_STUDY_PHASE_LIMITS_H

#include "sim/study/trial.h"

struct phase_limits {
	double path_s[PHASE_N][RES_N];
};

void phase_limits_find(struct phase_limits *limits, const struct trial *trial);
/* The resource that held a phase longest, and its share of the phase's path; RES_N for a phase without time. */
enum res phase_limits_worst(double *share_frac, const struct phase_limits *limits, enum phase phase);

#endif
