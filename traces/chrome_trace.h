/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * chrome_trace: a timeline as Chrome trace JSON, which Perfetto opens, or as CSV.
 *
 * One process a rank, one thread a lane (events on a thread are disjoint), one thread for the phases; counters for GPU and
 * host memory and for the bandwidth of both directions; flows for dependencies between lanes. ts and dur in microseconds
 * from the start of the first iteration.
 */
#ifndef TRACES_CHROME_TRACE_H
#define TRACES_CHROME_TRACE_H

#include <stdio.h>

#include "sim/timeline.h"

/* Operations of the largest timeline. As JSON, where each is some four events: what a browser has memory for (Perfetto names 2 GB, for the
 * events as it holds them). As CSV: what dos replay keeps (REC_EVENTS_MAX). */
enum { CHROME_TRACE_JSON_OPS_MAX = 1000000, CHROME_TRACE_CSV_OPS_MAX = 8000000 };

/* Before any output: STATUS_USAGE when the file would be larger than that. */
int chrome_trace_check_size(const char *path, size_t n_ops, struct err *err) MUST_CHECK;
/* To path, completely or not at all ("-" is standard output); CSV when it ends in .csv. STATUS_ENV. */
int chrome_trace_write(const char *path, const struct schedule *schedule, const struct timeline *timeline, const char *policy,
    struct err *err) MUST_CHECK;
void chrome_trace_json(FILE *out, const struct schedule *schedule, const struct timeline *timeline, const char *policy);
void chrome_trace_csv(FILE *out, const struct schedule *schedule, const struct timeline *timeline);

#endif
