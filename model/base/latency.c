/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/latency.h"

#include <math.h>

enum { ROUNDS = 60 };

/* A memory this much slower does nothing else. */
#define HIGHEST 1e4

/* Latency of a loaded memory over that of an idle one. */
static double latency_of(double load_Bps, double limit_Bps)
{
	return load_Bps < limit_Bps ? 1 / (1 - load_Bps / limit_Bps) : INFINITY;
}

/* Speed at a latency. Alone, it had the latency of its own load. */
static double speed_at(const struct latency_user *user, double limit_Bps, double latency)
{
	const double growth = latency / latency_of(fmin(user->load_Bps, 0.999 * limit_Bps), limit_Bps) - 1;
	return 1 / (1 + user->follows_frac * fmax(0, growth));
}

static double load_at(const struct latency_user *users, size_t n, double limit_Bps, double latency)
{
	double load_Bps = 0;
	for (size_t i = 0; i < n; i++)
		load_Bps += users[i].load_Bps * speed_at(&users[i], limit_Bps, latency);
	return load_Bps;
}

/* What users of n_copies would see more of than exp(log_latency); falls with it. */
static double excess(
    const struct latency_user *users, size_t n, double limit_Bps, double n_copies, double log_latency)
{
	return log(latency_of(n_copies * load_at(users, n, limit_Bps, exp(log_latency)), limit_Bps)) - log_latency;
}

/* Load falls and its latency rises with latency, so they meet once: by false position in the logarithm (Illinois), by halves while
 * the load of one end is beyond the limit. Users that do not follow latency may ask for more than there is: `highest` then. */
static double solve(const struct latency_user *users, size_t n, double limit_Bps, double n_copies)
{
	double low = 0, high = log(HIGHEST), low_excess = excess(users, n, limit_Bps, n_copies, low);
	double high_excess = excess(users, n, limit_Bps, n_copies, high);
	int side = 0;
	if (low_excess <= 0)
		return 1;
	if (high_excess >= 0)
		return HIGHEST;
	for (int round = 0; round < ROUNDS && high - low > 1e-15 * high; round++) {
		const bool is_finite = low_excess < INFINITY;
		const double false_position = (low * high_excess - high * low_excess) / (high_excess - low_excess);
		const double at = is_finite && false_position > low && false_position < high ? false_position : 0.5 * (low + high);
		const double at_excess = excess(users, n, limit_Bps, n_copies, at);
		if (fabs(at_excess) <= 1e-15 * at)
			return exp(at);
		if (at_excess > 0) {
			low = at;
			low_excess = at_excess;
			high_excess *= side == 1 ? 0.5 : 1;
			side = 1;
		} else {
			high = at;
			high_excess = at_excess;
			low_excess *= side == -1 ? 0.5 : 1;
			side = -1;
		}
	}
	return exp(high);
}

void latency_speeds(double *speeds, const struct latency_user *users, size_t n, double limit_Bps, double n_copies)
{
	const double latency = solve(users, n, limit_Bps, n_copies);
	const double load_Bps = n_copies * load_at(users, n, limit_Bps, latency), given = fmin(1, limit_Bps / load_Bps);
	for (size_t i = 0; i < n; i++)
		speeds[i] = speed_at(&users[i], limit_Bps, latency) * (load_Bps > 0 ? given : 1);
}
