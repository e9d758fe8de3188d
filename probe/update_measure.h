/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * update_measure: all points in one pinned allocation, interleaved repeat by repeat (A B C, A B C), so that drift hits all alike.
 *
 * Invariant: the first repeat of every point starts from the initial state and is verified outside the timed region, unless
 * skip_check says that another process does so. Later ones go on from what another point left; where that was of another layout,
 * or had no halves for a split point, the initial state is made again.
 */
#ifndef PROBE_UPDATE_MEASURE_H
#define PROBE_UPDATE_MEASURE_H

#include "model/base/jsonw.h"
#include "probe/stats.h"
#include "probe/update_rank.h"

struct update_point {
	struct update_policy policy;
	struct update_layout layout;
	int threads; /* of each rank's team */
};

struct update_result {
	double samples_s[STATS_SAMPLES_MAX];
	double complete_s[STATS_SAMPLES_MAX]; /* until everything is done, what the published code leaves behind included */
	size_t n_samples;
	struct update_check check; /* all ranks */
	bool verified; /* the check was made */
};

struct update_job {
	const struct topology *topology;
	const struct update_point *points;
	size_t n_points;
	struct update_result *results; /* one per point, filled as it goes */
	int n_ranks;
	size_t n_repeats; /* <= STATS_SAMPLES_MAX */
	bool skip_check; /* the state is not made for every point, and nothing is verified */
	struct jsonw *trace; /* open array of trace events, or NULL */
	/* After every repeat of all points, in rank 0's thread; may be NULL. */
	void (*report)(void *context, size_t n_repeats_done);
	void *context;
	double pinning_s, host_bytes; /* out: cost of the pinned allocation of rank 0 */
};

/* STATUS_ENV, or STATUS_INTERRUPTED with the results so far. */
int update_measure(struct update_job *job, struct err *err) MUST_CHECK;

/* Host bytes that a rank would pin for these points. */
double update_host_bytes(const struct update_point points[], size_t n_points);

#endif
