/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/maxmin.h"

#include <float.h>
#include <math.h>

/* Raises t past the users that reach 1 first, those of the largest weight. */
static double raise_level(const struct maxmin_user *users, size_t n, double capacity_Bps, double slope)
{
	double level = capacity_Bps / slope, done_Bps = 0;
	for (;;) {
		double used_by_full_Bps = 0;
		slope = 0;
		for (size_t i = 0; i < n; i++)
			if (users[i].weight * level >= 1 - 1e-12)
				used_by_full_Bps += users[i].ask_Bps;
			else
				slope += users[i].ask_Bps * users[i].weight;
		if (used_by_full_Bps <= done_Bps || slope <= 0)
			return level > 0 ? level : 0;
		done_Bps = used_by_full_Bps;
		level = (capacity_Bps - used_by_full_Bps) / slope;
	}
}

double maxmin_level(const struct maxmin_user *users, size_t n, double capacity_Bps)
{
	double all_Bps = 0, slope = 0;
	for (size_t i = 0; i < n; i++) {
		all_Bps += users[i].ask_Bps;
		slope += users[i].ask_Bps * users[i].weight;
	}
	if (all_Bps <= capacity_Bps * (1 + 1e-12) || slope <= 0)
		return DBL_MAX;
	return raise_level(users, n, capacity_Bps, slope);
}

bool maxmin_speeds(double *speeds, const struct maxmin_user *users, size_t n, double capacity_Bps)
{
	const double level = maxmin_level(users, n, capacity_Bps);
	for (size_t i = 0; i < n; i++)
		speeds[i] = fmin(1, users[i].weight * level); /* E3 */
	return level < DBL_MAX;
}
