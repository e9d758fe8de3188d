/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * windows: an update of `dos` whose lanes slow each other, followed window by window until the windows repeat (MODEL.md E35).
 *
 * Equal CPU subgroups of a window are followed in pieces, so that the time this takes depends on neither how many windows there are
 * nor, but for a logarithm, on how long one is. Unequal subgroups are followed to the end of their list.
 */
#ifndef MODEL_WINDOWS_H
#define MODEL_WINDOWS_H

#include "model/lanes.h"

/* What can run at once: of MAIN nothing, an overhead, unscale or Adam; of WORKER and either copy engine nothing or one. */
enum { WINDOWS_LIST_MAX = 256, WINDOWS_FOLLOWED = 16 };
enum { WINDOW_MAIN_KINDS = 4, WINDOW_LANES = 4, WINDOW_SETS = WINDOW_MAIN_KINDS * 8 };

/* Speeds by what runs: those of a set are found when it is first asked for. */
struct window_speeds {
	const struct cost *cost; /* borrowed */
	enum op_kind adam;
	bool is_known[WINDOW_SETS];
	double speeds[WINDOW_SETS][WINDOW_LANES];
};
void window_speeds_init(struct window_speeds *speeds, const struct cost *cost, const struct interleave *how);
/* [WINDOW_LANES] of a set: 8 times what MAIN runs, in the order above, + 4 with a cast, + 2 with H2D, + 1 with D2H. */
const double *window_speeds_of(struct window_speeds *speeds, size_t set);

/* An update of so many windows, each with its CPU subgroups before a streamed one, and the CPU subgroups behind the last. */
struct windows {
	const struct interleave *how; /* borrowed; stride is not read */
	struct subgroup_times cpu, gpu; /* of a subgroup of either kind, alone */
	const struct subgroup_times *each; /* borrowed: of all subgroups in order, at most WINDOWS_LIST_MAX; NULL: as cpu and gpu */
	size_t n, n_cpu, n_left; /* windows; CPU subgroups of each; behind them */
	double resident_s; /* GPU Adams at the end */
};

/* Seconds until MAIN has ended. E35 */
double windows_update_s(struct window_speeds *speeds, const struct windows *windows);
/* No less: MAIN's own work with all else at rest, and of windows that are followed all traffic at DRAM's speed (E17). */
double windows_least_s(struct window_speeds *speeds, const struct windows *windows);

#endif
