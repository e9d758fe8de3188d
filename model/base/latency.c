/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/latency.h"

#include <math.h>
#include <string.h>

enum { USERS_MAX = 3, ROUNDS = 60 };

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

/* ---- fit */

const struct latency_member latency_members[LATENCY_CONSTANTS_N] = {
    {"dram_latency_Bps", offsetof(struct latency_constants, limit_Bps)},
    {"h2d_dram_load", offsetof(struct latency_constants, h2d_load)},
    {"d2h_dram_load", offsetof(struct latency_constants, d2h_load)},
    {"h2d_latency_frac", offsetof(struct latency_constants, h2d_follows_frac)},
    {"d2h_latency_frac", offsetof(struct latency_constants, d2h_follows_frac)},
    {"downscale_latency_frac", offsetof(struct latency_constants, downscale_follows_frac)},
};

double latency_constant(const struct latency_constants *constants, size_t i)
{
	return *(const double *)(const void *)((const char *)constants + latency_members[i].offset);
}

bool latency_pair_of(
    struct latency_pair *pair, const struct latency_cell *cell, double hw_threads, double adam_bytes, double downscale_bytes)
{
	static const char *const others[] = {"h2d", "d2h", "duplex", "cpu_downscale", "cpu_adam"};
	size_t other = 0;
	while (other < sizeof others / sizeof *others && strcmp(cell->second, others[other]) != 0)
		other++;
	if (strcmp(cell->first, "cpu_adam") != 0 || other == sizeof others / sizeof *others ||
	    (other == LATENCY_NONE && cell->ranks <= 1) ||
	    (other == LATENCY_DOWNSCALE && cell->first_threads + cell->second_threads > hw_threads))
		return false;
	*pair = (struct latency_pair){.other = (enum latency_other)other,
	    .cpu_Bps = cell->first_alone * adam_bytes,
	    .cpu_frac = cell->first_together / cell->first_alone,
	    .other_Bps = cell->second_alone * (other == LATENCY_DOWNSCALE ? downscale_bytes : 1),
	    .other_frac = cell->second_together / cell->second_alone,
	    .ranks = fmax(1, cell->ranks),
	    .root_Bps = other < LATENCY_DOWNSCALE ? cell->root_Bps / fmin(fmax(1, cell->ranks), fmax(1, cell->gpus_per_root)) : 0};
	return true;
}

/* The users of a pair, the CPU kernel first. */
static size_t users_of(struct latency_user users[USERS_MAX], const struct latency_pair *pair, const struct latency_constants *c)
{
	const double each_Bps = pair->other == LATENCY_DUPLEX ? pair->other_Bps / 2 : pair->other_Bps;
	size_t n = 0;
	users[n++] = (struct latency_user){pair->cpu_Bps, 1};
	if (pair->other == LATENCY_H2D || pair->other == LATENCY_DUPLEX)
		users[n++] = (struct latency_user){c->h2d_load * each_Bps, c->h2d_follows_frac};
	if (pair->other == LATENCY_D2H || pair->other == LATENCY_DUPLEX)
		users[n++] = (struct latency_user){c->d2h_load * each_Bps, c->d2h_follows_frac};
	if (pair->other == LATENCY_DOWNSCALE)
		users[n++] = (struct latency_user){each_Bps, c->downscale_follows_frac};
	return n;
}

static double squared_log(double predicted, double measured)
{
	const double error = log(predicted / measured);
	return error * error;
}

/* Both directions as one, which their root may hold back further. */
static double other_speed(const struct latency_pair *pair, const double *speeds, size_t n)
{
	const double speed = n == 3 ? (speeds[1] + speeds[2]) / 2 : speeds[1];
	return pair->root_Bps > 0 ? fmin(speed, pair->root_Bps / pair->other_Bps) : speed;
}

/* Sum of squares over the pairs with copies, or over those with the downscale. */
static double misfit(const struct latency_constants *c, const struct latency_pair *pairs, size_t n_pairs, bool of_downscale)
{
	double sum = 0;
	for (size_t i = 0; i < n_pairs; i++) {
		struct latency_user users[USERS_MAX];
		double speeds[USERS_MAX];
		if ((pairs[i].other == LATENCY_DOWNSCALE) != of_downscale)
			continue;
		const size_t n = users_of(users, &pairs[i], c);
		latency_speeds(speeds, users, n, c->limit_Bps, pairs[i].ranks);
		sum += squared_log(speeds[0], pairs[i].cpu_frac);
		if (n > 1)
			sum += squared_log(other_speed(&pairs[i], speeds, n), pairs[i].other_frac);
	}
	return sum;
}

struct search {
	double *value;
	double step, lowest, highest;
};

/* Pattern search: one constant at a time by its step; all steps halve when none helps. */
static double search(struct search *searched, size_t n, struct latency_constants *c, const struct latency_pair *pairs,
    size_t n_pairs, bool of_downscale)
{
	double best = misfit(c, pairs, n_pairs, of_downscale);
	for (int round = 0; round < ROUNDS; round++) {
		bool has_improved = false;
		for (size_t i = 0; i < 2 * n; i++) {
			struct search *const s = &searched[i / 2];
			const double old = *s->value;
			*s->value = fmin(fmax(old + (i % 2 ? -s->step : s->step), s->lowest), s->highest);
			const double tried = misfit(c, pairs, n_pairs, of_downscale);
			has_improved |= tried < best;
			if (tried < best)
				best = tried;
			else
				*s->value = old;
		}
		for (size_t i = 0; i < n && !has_improved; i++)
			searched[i].step /= 2;
	}
	return best;
}

static size_t count(const struct latency_pair *pairs, size_t n_pairs, enum latency_other other, double *most_Bps)
{
	size_t n = 0;
	for (size_t i = 0; i < n_pairs; i++) {
		const double other_Bps = pairs[i].other == LATENCY_NONE ? 0 : pairs[i].other_Bps * pairs[i].other_frac;
		n += pairs[i].other == other;
		*most_Bps = fmax(*most_Bps, pairs[i].ranks * (pairs[i].cpu_Bps * pairs[i].cpu_frac + other_Bps));
	}
	return n;
}

bool latency_fit(struct latency_constants *constants, double *error_frac, const struct latency_pair *pairs, size_t n_pairs)
{
	double most_Bps = 0;
	struct latency_constants c = {0};
	const size_t n_h2d = count(pairs, n_pairs, LATENCY_H2D, &most_Bps), n_d2h = count(pairs, n_pairs, LATENCY_D2H, &most_Bps),
		     n_duplex = count(pairs, n_pairs, LATENCY_DUPLEX, &most_Bps),
		     n_none = count(pairs, n_pairs, LATENCY_NONE, &most_Bps);
	*constants = c;
	*error_frac = 0;
	if (n_h2d < 3 || n_d2h < 3)
		return false;
	c = (struct latency_constants){1.2 * most_Bps, 0.5, 0.8, 0.2, 0.1, 0.5};
	struct search copies[] = {{&c.limit_Bps, 0.2 * most_Bps, 0.8 * most_Bps, 10 * most_Bps}, {&c.h2d_load, 0.2, 0, 4},
	    {&c.d2h_load, 0.2, 0, 4}, {&c.h2d_follows_frac, 0.1, 0, 1}, {&c.d2h_follows_frac, 0.05, 0, 1}};
	struct search downscale[] = {{&c.downscale_follows_frac, 0.2, 0, 1}};
	const double sum = search(copies, sizeof copies / sizeof *copies, &c, pairs, n_pairs, false);
	(void)search(downscale, 1, &c, pairs, n_pairs, true);
	if (c.limit_Bps > 5 * most_Bps)
		return false;
	*constants = c;
	*error_frac = sqrt(sum / (double)(2 * (n_h2d + n_d2h + n_duplex) + n_none));
	return true;
}
