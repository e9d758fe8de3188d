/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * capacity: the largest model that fits a machine under a policy, whatever the values of the options that its SPEC leaves open.
 *
 * A model grows by its layers. What fits is judged by simulation; which options to try first, by a bound on memory.
 */
#ifndef SIM_STUDY_CAPACITY_H
#define SIM_STUDY_CAPACITY_H

#include "sim/study/trial.h"

struct capacity {
	double layers, n_params; /* 0: not even one layer fits */
};

/* input: shape (its layers do not count), batch, sharing; policy: a SPEC. STATUS_USAGE. */
int capacity_find(struct capacity *capacity, const struct trial_input *input, struct arena *arena, struct err *err) MUST_CHECK;

#endif
