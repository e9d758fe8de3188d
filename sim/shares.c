/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/shares.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* One use of a resource that may be full. */
struct user {
	double demand_Bps, ask_Bps; /* at alone speed, at its cap */
	double weight;
	uint32_t rank, lane; /* rank: counted from the first that is looked at */
};

/* One shared resource and the running operations that use it. */
struct pool {
	const struct shared *shared;
	const struct user *users;
	size_t n_users;
	double level; /* t at which it is full; DBL_MAX: never */
	bool is_stale; /* a user was frozen since its level was found */
};

struct filling {
	struct speeds *speeds; /* of the ranks that are looked at, as sets */
	const struct rank_set *const *sets;
	size_t n_pools, n_users;
	struct pool *pools; /* [SHARED_N ranks] */
	struct user *users; /* [SHARED_N ranks lanes] */
	struct pool **pool_of[SHARED_N]; /* [ranks], NULL: not one that may be full */
	uint8_t *is_frozen; /* [ranks] lanes, as bits */
};

/* Takes the lowest lane out of a set that is being walked. */
static size_t take_lane(uint8_t *lanes)
{
	const size_t lane = (size_t)__builtin_ctz(*lanes);
	*lanes &= (uint8_t)(*lanes - 1);
	return lane;
}

static double demand_of(const struct op_class *class, enum res res)
{
	switch (res) {
	case RES_DRAM: return class->dram_Bps;
	case RES_HBM: return class->hbm_Bps;
	case RES_NET: return class->network_Bps;
	default: return class->root_Bps;
	}
}

/* A folded rank has its share of what identical ranks share. */
static struct shared shared_of(const struct shares *shares, enum res res, double capacity_Bps, double n_sharing)
{
	const bool is_folded = shares->n_ranks == 1;
	struct shared shared = {.res = res, .n_sharing = is_folded ? 1 : (size_t)n_sharing};
	shared.capacity_Bps = is_folded ? capacity_Bps / n_sharing : capacity_Bps;
	if (isinf(capacity_Bps))
		shared.n_sharing = 0;
	for (size_t kind = 0; kind < OP_N; kind++)
		shared.demand_Bps[kind] = demand_of(&shares->cost->classes[kind], res);
	return shared;
}

void shares_init(
    struct shares *shares, const struct sharing *sharing, const struct cost *cost, size_t n_ranks, struct arena *arena)
{
	*shares = (struct shares){.sharing = sharing, .cost = cost, .n_ranks = n_ranks};
	shares->ranks_per_node = n_ranks == 1 ? 1 : (size_t)cost->ranks_per_node;
	if (!sharing->divides_resources)
		return;
	shares->shared[0] = shared_of(shares, RES_DRAM, cost->dram_Bps, cost->ranks_per_domain);
	shares->shared[1] = shared_of(shares, RES_H2D, cost->root_Bps, cost->ranks_per_root); /* the PCIe root */
	shares->shared[2] = shared_of(shares, RES_HBM, cost->hw->hbm_Bps, 1);
	if (cost->network_Bps > 0)
		shares->shared[3] = shared_of(shares, RES_NET, cost->network_Bps, cost->ranks_per_node);
	for (size_t kind = 0; kind < OP_N; kind++)
		shares->weight[kind] = cost->classes[kind].weight;
	struct filling *const f = shares->filling = arena_alloc(arena, 1, sizeof *f);
	f->pools = arena_alloc(arena, SHARED_N * n_ranks, sizeof *f->pools);
	f->users = arena_alloc(arena, SHARED_N * n_ranks * RANK_LANES, sizeof *f->users);
	for (size_t which = 0; which < SHARED_N; which++)
		f->pool_of[which] = arena_alloc(arena, n_ranks, sizeof **f->pool_of);
	f->is_frozen = arena_alloc(arena, n_ranks, 1);
}

/* ---- pools that may be full */

static void add_users(struct filling *f, const struct shares *shares, size_t which, size_t rank)
{
	const struct rank_set *const set = f->sets[rank];
	for (uint8_t lanes = set->users[which]; lanes;) {
		const size_t lane = take_lane(&lanes), kind = set->kinds[lane];
		const double demand_Bps = shares->shared[which].demand_Bps[kind];
		f->users[f->n_users++] = (struct user){.demand_Bps = demand_Bps,
		    .ask_Bps = demand_Bps * set->cap.speed[lane],
		    .weight = shares->weight[kind],
		    .rank = (uint32_t)rank,
		    .lane = (uint32_t)lane};
	}
}

/* The pool of ranks [rank, end), if what these ask can fill it. */
static void add_pool(struct filling *f, const struct shares *shares, size_t which, size_t rank, size_t end)
{
	const struct shared *const shared = &shares->shared[which];
	uint64_t ask = 0;
	for (size_t i = rank; i < end; i++)
		ask += f->sets[i]->ask[which];
	struct pool *const pool = shares_may_fill(ask) ? &f->pools[f->n_pools++] : NULL;
	if (pool)
		*pool = (struct pool){.shared = shared, .users = &f->users[f->n_users]};
	for (size_t i = rank; i < end; i++) {
		f->pool_of[which][i] = pool;
		if (pool)
			add_users(f, shares, which, i);
	}
	if (pool)
		pool->n_users = (size_t)(&f->users[f->n_users] - pool->users);
}

static void list_pools(struct filling *f, const struct shares *shares, size_t first, size_t n)
{
	f->n_pools = f->n_users = 0;
	for (size_t which = 0; which < SHARED_N; which++) {
		const bool is_limited = shares->shared[which].n_sharing > 0;
		for (size_t rank = 0, end; is_limited && rank < n; rank = end) {
			end = shares_end(shares, which, first + rank) - first;
			end = end < n ? end : n;
			add_pool(f, shares, which, rank, end);
		}
	}
}

/* ---- levels */

static bool is_frozen(const struct filling *f, const struct user *user)
{
	return f->is_frozen[user->rank] >> user->lane & 1;
}

/* Raises t past the users that reach 1 first, those of the largest weight. O(users^2), users <= lanes of the ranks that share. */
static double raise_level(const struct filling *f, const struct pool *pool, double left_Bps, double slope)
{
	double level = left_Bps / slope, done_Bps = 0;
	for (;;) {
		double used_by_full_Bps = 0;
		slope = 0;
		for (const struct user *user = pool->users; user < pool->users + pool->n_users; user++) {
			if (is_frozen(f, user))
				continue;
			if (user->weight * level >= 1 - 1e-12)
				used_by_full_Bps += user->ask_Bps;
			else
				slope += user->ask_Bps * user->weight;
		}
		if (used_by_full_Bps <= done_Bps || slope <= 0)
			return level > 0 ? level : 0;
		done_Bps = used_by_full_Bps;
		level = (left_Bps - used_by_full_Bps) / slope;
	}
}

/* The level t at which a resource is full when x_i = cap_i min(1, w_i t), given frozen users; DBL_MAX when it never is. */
static double level_of(const struct filling *f, const struct pool *pool)
{
	double frozen_Bps = 0, all_Bps = 0, slope = 0;
	for (const struct user *user = pool->users; user < pool->users + pool->n_users; user++)
		if (is_frozen(f, user)) {
			frozen_Bps += user->demand_Bps * f->speeds[user->rank].speed[user->lane];
		} else {
			all_Bps += user->ask_Bps;
			slope += user->ask_Bps * user->weight;
		}
	const double left_Bps = pool->shared->capacity_Bps - frozen_Bps;
	return all_Bps <= left_Bps * (1 + 1e-12) || slope <= 0 ? DBL_MAX : raise_level(f, pool, left_Bps, slope);
}

static struct pool *fullest(const struct filling *f)
{
	struct pool *full = NULL;
	double level = DBL_MAX;
	for (struct pool *pool = f->pools; pool < f->pools + f->n_pools; pool++)
		if (pool->level < level) {
			full = pool;
			level = full->level;
		}
	return full;
}

static void freeze_user(struct filling *f, const struct user *user, const struct pool *full)
{
	struct speeds *const speeds = &f->speeds[user->rank];
	const double frac = user->weight * full->level;
	f->is_frozen[user->rank] |= (uint8_t)(1 << user->lane);
	if (frac < 1) {
		speeds->speed[user->lane] *= frac;
		speeds->limit[user->lane] = (uint8_t)full->shared->res;
	}
	for (size_t which = 0; which < SHARED_N; which++)
		if (f->sets[user->rank]->users[which] >> user->lane & 1 && f->pool_of[which][user->rank])
			f->pool_of[which][user->rank]->is_stale = true;
}

/* Users of a full pool keep the speed of its level; what they leave to their other pools is then known. */
static void freeze(struct filling *f, struct pool *full)
{
	for (const struct user *user = full->users; user < full->users + full->n_users; user++)
		if (!is_frozen(f, user))
			freeze_user(f, user, full);
	full->level = DBL_MAX;
	full->is_stale = false;
	for (struct pool *pool = f->pools; pool < f->pools + f->n_pools; pool++)
		if (pool->is_stale) {
			pool->level = level_of(f, pool);
			pool->is_stale = false;
		}
}

/* Raises the common level until a resource is full, freezes its users, repeats. E3 */
void shares_divide(struct shares *shares, struct speeds *speeds, const struct rank_set *const *sets, size_t first, size_t n)
{
	struct filling *const f = shares->filling;
	for (size_t i = 0; i < n; i++)
		speeds[i] = sets[i]->cap;
	if (!f)
		return;
	f->speeds = speeds;
	f->sets = sets;
	list_pools(f, shares, first, n);
	if (f->n_pools == 0)
		return;
	memset(f->is_frozen, 0, n);
	for (struct pool *pool = f->pools; pool < f->pools + f->n_pools; pool++)
		pool->level = level_of(f, pool);
	for (struct pool *full; (full = fullest(f)) != NULL;)
		freeze(f, full);
}

/* ---- sets */

/* Users of a resource and what they ask; more than a thousand capacities are no different from a thousand. */
static void add_up(struct rank_set *set, size_t which, const struct shared *shared)
{
	double ask_Bps = 0;
	set->users[which] = 0;
	for (uint8_t lanes = shared->n_sharing ? set->lanes : 0; lanes;) {
		const size_t lane = take_lane(&lanes);
		const double demand_Bps = shared->demand_Bps[set->kinds[lane]];
		ask_Bps += demand_Bps * set->cap.speed[lane];
		set->users[which] |= (uint8_t)((demand_Bps > 0) << lane);
	}
	set->ask[which] =
	    ask_Bps > 0 ? (uint64_t)ceil(fmin(1000, ask_Bps / shared->capacity_Bps) * (double)SHARES_WHOLE) : 0;
}

void shares_rank_set(struct shares *shares, struct rank_set *set)
{
	uint8_t kinds[RANK_LANES], limit[RANK_LANES];
	double cap[RANK_LANES];
	size_t n = 0;
	for (uint8_t lanes = set->lanes; lanes;)
		kinds[n++] = set->kinds[take_lane(&lanes)];
	shares->sharing->cap(cap, limit, kinds, n, shares->cost);
	n = 0;
	for (uint8_t lanes = set->lanes; lanes; n++) {
		const size_t lane = take_lane(&lanes);
		set->cap.speed[lane] = cap[n];
		set->cap.limit[lane] = limit[n];
	}
	for (size_t which = 0; which < SHARED_N; which++)
		add_up(set, which, &shares->shared[which]);
	shares_divide(shares, &set->alone, &(const struct rank_set *){set}, 0, 1);
}

void shares_allocate(
    struct shares *shares, double *speed, uint8_t *limit, const struct running *running, size_t n, struct arena *arena)
{
	struct rank_set *const sets = arena_zalloc(arena, shares->n_ranks, sizeof *sets);
	const struct rank_set **const listed = arena_alloc(arena, shares->n_ranks, sizeof *listed);
	struct speeds *const speeds = arena_alloc(arena, shares->n_ranks, sizeof *speeds);
	for (size_t i = 0; i < n; i++) {
		struct rank_set *const set = &sets[running[i].rank];
		assert(set->lanes >> (RANK_LANES - 1) == 0);
		set->kinds[__builtin_popcount(set->lanes)] = running[i].kind;
		set->lanes = (uint8_t)(set->lanes << 1 | 1);
	}
	for (size_t rank = 0; rank < shares->n_ranks; rank++) {
		listed[rank] = &sets[rank];
		shares_rank_set(shares, &sets[rank]);
	}
	shares_divide(shares, speeds, listed, 0, shares->n_ranks);
	for (size_t i = 0, lane = 0; i < n; i++) {
		lane = i > 0 && running[i].rank == running[i - 1].rank ? lane + 1 : 0;
		speed[i] = speeds[running[i].rank].speed[lane];
		limit[i] = speeds[running[i].rank].limit[lane];
	}
}
