/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * maxmin: weighted max-min shares of one resource. MODEL.md E3
 *
 * A user that asks for a_i bytes/s at full speed runs at the fraction min(1, w_i t) of it; the level t, common to
 * all, rises until the resource is full or everybody is at full speed. Who meets others at several resources:
 * sim/shares.h, which takes levels from here.
 *
 * Invariant: pure, and sums run in the order of the users, so the same users in the same order give the same bits.
 * Source: progressive filling, Bertsekas & Gallager, Data Networks, 6.5.
 */
#ifndef MODEL_BASE_MAXMIN_H
#define MODEL_BASE_MAXMIN_H

#include <stdbool.h>
#include <stddef.h>

struct maxmin_user {
	double ask_Bps; /* at full speed, >= 0 */
	double weight; /* > 0 */
};

/* The level t [1 / weight] at which n users take all of capacity_Bps, 0 where there is none; DBL_MAX when they never
 * do, all being at full speed or asking for nothing. O(n) a round, at most a round more than weights differ. */
double maxmin_level(const struct maxmin_user *users, size_t n, double capacity_Bps);

/* Speeds [n] in [0, 1] at that level, over full speed. Returns whether the resource is full. */
bool maxmin_speeds(double *speeds, const struct maxmin_user *users, size_t n, double capacity_Bps);

#endif
