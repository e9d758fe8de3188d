/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profile_merge_parts: what the files of profile_merge share, and nobody else includes.
 */
#ifndef SIM_STUDY_PROFILE_MERGE_PARTS_H
#define SIM_STUDY_PROFILE_MERGE_PARTS_H

#include "sim/study/profile_merge.h"

/* What every step needs; all borrowed. */
struct merge {
	struct hwprofile *merged;
	const struct profile_part *parts;
	size_t n_parts;
	size_t first; /* part that the others are compared with */
	double *numbers; /* [n_parts], of the quantity at hand */
	struct arena *arena;
	struct err *err;
};

/* STATUS_NO: part `first` and another one differ. */
int profile_merge_differs(const struct merge *m, size_t part, const char *what, const char *detail) MUST_CHECK;
int profile_merge_differs_number(const struct merge *m, size_t part, const char *what, double first, double other) MUST_CHECK;

/* Names unless renamed, texts, rows fitted on and counts; sets the counts that only some parts know. STATUS_NO. */
int profile_merge_check_same(const struct merge *m, bool is_renamed) MUST_CHECK;

#endif
