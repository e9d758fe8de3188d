/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * activity: work that is repeated for as long as it is watched, alone or beside others: the one way in which the probe times.
 *
 * Each activity runs in its own thread and logs (clock, work done) after every step. A sample is the mean rate over a window
 * in which all activities run; progress between two log entries is taken as linear. Alone and together are thus measured the
 * same way, and the overlap of activities is complete by construction.
 */
#ifndef PROBE_ACTIVITY_H
#define PROBE_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/stats.h"

struct activity {
	void (*begin)(void *context); /* in the activity's thread, may be NULL */
	double (*step)(void *context); /* returns the work that was completed during the step */
	void (*end)(void *context); /* may be NULL */
	void *context;
};

struct activity_plan {
	double warm_s; /* least time before the first window; also three steps of each activity */
	double window_s; /* least length of a window; stretched to two steps of the slowest activity */
	double limit_s; /* most time in all; the least number of samples comes first */
	size_t n_min, n_max; /* samples; more than n_min while the interval of the median is wider than +-precision_frac */
	double precision_frac;
};

struct activity_result {
	double samples[STATS_SAMPLES_MAX]; /* work per second */
	size_t n;
};

enum { ACTIVITIES_MAX = 48 };

/* Runs all activities at once; one result each, all with the same n. n = 0 when an activity stopped making progress. */
void activity_measure(struct activity_result results[], const struct activity activities[], size_t n_activities,
    const struct activity_plan *plan);

#endif
