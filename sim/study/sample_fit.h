/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sample_fit: what a fit knows jointly. The values of a fitted profile are not known one by one: the rows it was fitted on fix
 * combinations of them, and whatever was assumed is made up for by what was fitted. Independent draws would contradict those rows.
 *
 * So the log factors are conditioned on the rows: measured = predicted at the profile, with the fit's own residual of each quantity as
 * noise (at least 1 %), linear in the log factors. Done when the profile's fitted_on rows are among the shipped sets and no fitted value
 * has an interval of its own, which would be conditioned already. First what a probe's grid knows jointly (sample_latency.h).
 */
#ifndef SIM_STUDY_SAMPLE_FIT_H
#define SIM_STUDY_SAMPLE_FIT_H

#include "sim/sharing.h"
#include "sim/study/sample.h"

/* hw: the profile that the sampler is of. STATUS_INPUT when a shipped set is wrong. */
int sampler_condition(struct sampler *sampler, const struct hwprofile *hw, const struct sharing *sharing, size_t n_workers,
    struct arena *arena, struct err *err) MUST_CHECK;

/* The same for any linear statement: value i of n_values depends on the log factors by slopes[i][field], and is known with a standard
 * deviation. */
void sampler_observe(struct sampler *sampler, const double *slopes, const double *log_sd, size_t n_values, struct arena *arena);

#endif
