/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * runs_csv: the CSV files of `dos-probe update`: validation rows as `dos validate` reads them, raw samples beside them, and the
 * medians over several processes.
 *
 * The columns are those of traces/recorded (sim/study/rows.h), in their order: an update alone is a row with n_subgroups and
 * without a model, the policy is canonical, what is not measured stays empty. A row whose result is not verified or wrong has its
 * reason in `exclude`: predicted and listed, not counted. Ids are unique within a file; a file that becomes a recorded set
 * gets ids of its own, since those of all sets are unique together.
 */
#ifndef PROBE_RUNS_CSV_H
#define PROBE_RUNS_CSV_H

#include "probe/update_measure.h"

struct runs_header {
	const char *hw; /* name of the profile, for the hw column */
	const char *note; /* machine and date, for the source column; "" fine */
};

/* Completely or not at all (file_replace.h): FILE, and FILE without .csv plus .samples.csv. STATUS_ENV. */
int runs_csv_write(
    const char *path, const struct update_job *job, const struct runs_header *header, struct err *err) MUST_CHECK;
int runs_csv_write_samples(const char *path, const struct update_job *job, struct err *err) MUST_CHECK;

/* Rows of the same hw, policy, subgroup, n_subgroups, threads and gpus of several files become one: median of their update_s,
 * with count and range in `source`; excluded if any is, or if none is verified. Ids are counted anew, in the order of first
 * appearance. STATUS_INPUT (file:line) for what `dos validate` refuses too, a file without rows or twice the same, a point twice in
 * a file; STATUS_ENV. */
int runs_csv_merge(
    const char *out_path, const char *const paths[], size_t n_paths, struct arena *arena, struct err *err) MUST_CHECK;

#endif
