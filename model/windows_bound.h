/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * windows_bound: a time that no update of windows which are all followed (E35) is below, without following them. Near what they take
 * where windows are long.
 *
 * Each second of work has a weight, such that no set of lanes that run together does more than one weighted second in a second: then
 * no update is shorter than its weighted work. Any such weights are a bound; those here are solutions of linear programs, the duals of
 * the shortest time in which given work can be done.
 */
#ifndef MODEL_WINDOWS_BOUND_H
#define MODEL_WINDOWS_BOUND_H

#include "model/windows.h"

/* Lanes, MAIN's by what it does. */
enum window_work { WORK_OVERHEAD, WORK_UNSCALE, WORK_ADAM, WORK_CAST, WORK_UP, WORK_DOWN, WORK_N };
enum { WINDOW_WEIGHTS_MAX = 9 };

struct windows_bound {
	size_t n;
	double weights[WINDOW_WEIGHTS_MAX][WORK_N];
	double last[WORK_N]; /* for casts and pushes when MAIN has no other work */
	double fastest[WORK_N]; /* speeds, of all sets */
};

/* For subgroups like this, few of them streamed. Finds the speeds of all sets. */
void windows_bound_init(struct windows_bound *bound, struct window_speeds *speeds, const struct subgroup_times *like);
/* Seconds; of up to WINDOWS_FOLLOWED windows, equal subgroups, and not only streamed ones. E36 */
double windows_bound_s(const struct windows_bound *bound, const struct windows *windows);

#endif
