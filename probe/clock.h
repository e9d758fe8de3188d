/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * clock: the one clock of the probe.
 */
#ifndef PROBE_CLOCK_H
#define PROBE_CLOCK_H

#include <time.h>

/* Seconds of CLOCK_MONOTONIC. */
static inline double clock_now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void clock_sleep_s(double duration_s)
{
	const struct timespec duration = {
	    .tv_sec = (time_t)duration_s, .tv_nsec = (long)((duration_s - (double)(time_t)duration_s) * 1e9)};
	nanosleep(&duration, NULL);
}

#endif
