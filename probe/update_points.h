/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * update_points: the points of `dos-probe update` from its options: every SPEC, with ranges and lists in its values, for the sizes
 * given; or a file of lines "SPEC [subgroup [subgroups [threads]]]".
 */
#ifndef PROBE_UPDATE_POINTS_H
#define PROBE_UPDATE_POINTS_H

#include "probe/update_measure.h"

struct update_defaults {
	size_t subgroup_params, n_subgroups;
	int threads; /* 0: all hardware threads of a rank, less the workers of the downscale that needs them */
	int n_cpus; /* of a rank */
};

struct update_points {
	struct update_point *points; /* in the arena */
	size_t n;
};

/* Adds the SPECs of one --policy argument. STATUS_USAGE. */
int update_points_add(struct update_points *points, const char *specs, const struct update_defaults *defaults,
    struct arena *arena, struct err *err) MUST_CHECK;

/* Adds the lines of a file ("-": standard input); '#' starts a comment. STATUS_INPUT with the line number. */
int update_points_load(struct update_points *points, const char *path, const struct update_defaults *defaults,
    struct arena *arena, struct err *err) MUST_CHECK;

#endif
