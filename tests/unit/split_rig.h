/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * split_rig: one layer on the plain machine with four GPUs, for tests of ZeRO stages and tensor parallelism.
 */
#ifndef TESTS_UNIT_SPLIT_RIG_H
#define TESTS_UNIT_SPLIT_RIG_H

#include "sim/study/trial.h"

/* Gated: 4 h^2 + 3 h ffn = 16,777,216 in matrices and 2 h = 2048 in norms a layer; embedding and head 16,384,000 each; final norm 1024. */
void split_setup(struct trial_input *in, struct hwprofile *hw);
/* Its metrics with a stage and a degree; the trial must run. */
const struct metrics *split_run(struct trial *trial, struct trial_input *in, double stage, double tp, struct arena *arena);

#endif
