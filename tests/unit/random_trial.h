/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * random_trial: a trial of a policy with everything random: machine, model, batch, options. Its seed tells it again.
 *
 * Options come from the policy's own table, so a new policy is tested as soon as it is registered.
 */
#ifndef TESTS_UNIT_RANDOM_TRIAL_H
#define TESTS_UNIT_RANDOM_TRIAL_H

#include <gsl/gsl_rng.h>

#include "sim/sharing.h"
#include "sim/study/trial.h"

enum { RANDOM_SPEC_MAX = 512 };

struct random_trial {
	gsl_rng *rng;
	struct hwprofile hw;
	struct trial_input in; /* in.hw is hw, in.policy is spec */
	char spec[RANDOM_SPEC_MAX];
	char what[RANDOM_SPEC_MAX + 256]; /* seed and shape, for messages */
	struct arena arena;
	struct trial trial; /* of the last random_trial_run */
};

void random_trial_init(struct random_trial *r);
/* Draws machine, model, batch and a SPEC that the policy accepts. */
void random_trial_draw(struct random_trial *r, const struct policy *policy, unsigned long seed);
/* Runs it; trial and arena hold the result until the next run. */
/* Gives the machine DRAM with a latency of its own (E32), by the seed alone. */
void random_trial_use_latency(struct random_trial *r, unsigned long seed);
void random_trial_run(struct random_trial *r);
void random_trial_release(struct random_trial *r);

size_t random_below(struct random_trial *r, size_t n);
/* Log-uniform in [low, high). */
double random_between(struct random_trial *r, double low, double high);

/* How many policies there are, for loop tests. */
int n_policies(void);

#endif
