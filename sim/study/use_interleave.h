/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * use_interleave: what the closed form reads of a policy's options, by their names.
 */
#ifndef SIM_STUDY_USE_INTERLEAVE_H
#define SIM_STUDY_USE_INTERLEAVE_H

#include "model/interleave.h"
#include "sim/policy.h"

/* use: resolved. on_gpu of *how is left empty. STATUS_USAGE for a policy that interleaves nothing. */
int use_interleave(struct interleave *how, const struct policy_use *use, const struct workload *workload, struct err *err) MUST_CHECK;
/* use: not resolved yet. Has it an option of this name that was not given? */
bool use_leaves_open(const struct policy_use *use, const char *name);

#endif
