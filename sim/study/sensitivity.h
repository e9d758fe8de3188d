/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sensitivity: how the time of an iteration answers to each resource of --scale, and where another share on the GPU becomes best.
 *
 * The share is the policy's option stride or fraction, else ratio; everything else stays as it is.
 */
#ifndef SIM_STUDY_SENSITIVITY_H
#define SIM_STUDY_SENSITIVITY_H

#include "sim/study/trial.h"

enum {
#define SCALE_COUNT(name) +1
	SENSITIVITY_N = 0 HW_SCALES(SCALE_COUNT)
#undef SCALE_COUNT
};
extern const char *const sensitivity_resources[SENSITIVITY_N];

/* From what factor on another value of the option is best; factor NAN: nowhere within the range. */
struct break_even {
	double factor, value;
};

struct sensitivity {
	const char *resource;
	double step; /* 1.1 */
	double base_s, stepped_s; /* iteration, with the resource times 1 and times step */
	double elasticity; /* relative change of time over relative change of the resource; -1: all time is its */
	struct break_even up, down; /* above 1 and below */
};

struct sensitivities {
	struct sensitivity all[SENSITIVITY_N];
	const char *option; /* whose best value changes; NULL: the policy has none */
	double best; /* its best value now, of the values tried */
};

/* Iteration time of a trial with one resource scaled. STATUS_USAGE as trial_run. */
int sensitivity_time(double *iteration_s, const struct trial_input *input, const char *resource, double factor, struct err *err) MUST_CHECK;
/* Elasticities, and when has_break_even the points within 1/range..range. input: canonical policy. */
int sensitivity_find(struct sensitivities *s, const struct trial_input *input, bool has_break_even, size_t n_workers,
    struct arena *arena, struct err *err) MUST_CHECK;

#endif
