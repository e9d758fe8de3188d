/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * merge: the trials of several stores in one. Merging again changes nothing. The same key with other results is a conflict:
 * the row that is there first stays, and the answer is no.
 */
#ifndef SIM_STUDY_MERGE_H
#define SIM_STUDY_MERGE_H

#include <stddef.h>

#include "model/base/err.h"

struct merge_counts {
	size_t n_trials, n_new, n_conflicts;
};

/* All or nothing: one transaction. STATUS_NO when there are conflicts: names the first. */
int merge_run(struct merge_counts *counts, const char *out, const char *const *paths, size_t n_paths, struct err *err) MUST_CHECK;

#endif
