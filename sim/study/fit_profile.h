/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fit_profile: the profile that a fit ends in: its numbers, where each comes from, and the runs it was fitted on.
 */
#ifndef SIM_STUDY_FIT_PROFILE_H
#define SIM_STUDY_FIT_PROFILE_H

#include "sim/study/fit.h"

struct fit_profile_head {
	const char *name; /* of the new profile; NULL: that of the start with "-fit" */
	const char *command; /* command line */
	const char *date; /* 2026-01-31 */
};

/* Metadata and head of result->hw: estimates become "fitted" with 95 % intervals; all else keeps kind and source. fitted_on: the
 * runs, and those that the start was fitted on, whose constants are in it. STATUS_USAGE for a name that is too long. */
int fit_profile(struct hwprofile *hw, const struct fit_result *result, const struct fit_cases *cases,
    const struct fit_profile_head *head, struct arena *arena, struct err *err) MUST_CHECK;

/* Today, or the day of $SOURCE_DATE_EPOCH. */
const char *fit_profile_date(struct arena *arena);

#endif
