/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * recording_write: a recording as our own timeline: the lanes of `dos simulate --trace`, with what was recorded.
 */
#ifndef TRACES_RECORDING_WRITE_H
#define TRACES_RECORDING_WRITE_H

#include "traces/recording.h"

/* Chrome trace JSON (schema dos-trace/1), or CSV when path ends in .csv; "-" is standard output. Events of one lane that overlap (streams that
 * run together) are cut where the next one begins. STATUS_ENV. */
int recording_write(const char *path, const struct recording *rec, struct err *err) MUST_CHECK;

#endif
