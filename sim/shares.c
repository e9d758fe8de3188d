/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/shares.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/base/latency.h"
#include "model/base/maxmin.h"

/* One shared resource and the running operations that use it. */
struct pool {
	const struct shared *shared;
	const struct maxmin_user *users; /* as they ask at their caps */
	const uint32_t *at; /* of each: RANK_LANES a rank, from the first that is looked at, plus the lane */
	size_t n_users;
	double level; /* t at which it is full; DBL_MAX: never */
	bool is_stale; /* a user was frozen since its level was found */
};

struct filling {
	struct speeds *speeds; /* of the ranks that are looked at, as sets */
	const struct rank_set *const *sets;
	size_t n_pools, n_users;
	struct pool *pools; /* [SHARED_N ranks] */
	struct maxmin_user *users; /* [SHARED_N ranks lanes] */
	uint32_t *at; /* [SHARED_N ranks lanes] */
	struct maxmin_user *open; /* [ranks lanes] those of one pool that are not frozen */
	struct pool *(*pool_of)[SHARED_N]; /* [ranks], NULL: not one that may be full */
	bool *is_frozen; /* [ranks lanes] */
	struct latency_user *loads; /* [ranks lanes] of the ranks that share a memory */
	double *slowed; /* [ranks lanes] their speeds */
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

/* DRAM as E32 has it, where the profile does. */
static void use_latency(struct shared *shared, const struct cost *cost)
{
	shared->latency_Bps = cost->hw->dram_latency_Bps;
	for (size_t kind = 0; kind < OP_N && shared->latency_Bps > 0; kind++)
		shared->demand_Bps[kind] = cost->classes[kind].dram_load_Bps;
}

void shares_init(
    struct shares *shares, const struct sharing *sharing, const struct cost *cost, size_t n_ranks, struct arena *arena)
{
	*shares = (struct shares){.sharing = sharing, .cost = cost, .n_ranks = n_ranks};
	shares->ranks_per_node = n_ranks == 1 ? 1 : (size_t)cost->ranks_per_node;
	if (!sharing->divides_resources)
		return;
	shares->shared[0] = shared_of(shares, RES_DRAM, cost->dram_Bps, cost->ranks_per_domain);
	use_latency(&shares->shared[0], cost);
	shares->shared[1] = shared_of(shares, RES_H2D, cost->root_Bps, cost->ranks_per_root); /* the PCIe root */
	shares->shared[2] = shared_of(shares, RES_HBM, cost->hw->hbm_Bps, 1);
	if (cost->network_Bps > 0)
		shares->shared[3] = shared_of(shares, RES_NET, cost->network_Bps, cost->ranks_per_node);
	for (size_t kind = 0; kind < OP_N; kind++)
		shares->weight[kind] = cost->classes[kind].weight;
	struct filling *const f = shares->filling = arena_alloc(arena, 1, sizeof *f);
	f->pools = arena_alloc(arena, SHARED_N * n_ranks, sizeof *f->pools);
	f->users = arena_alloc(arena, SHARED_N * n_ranks * RANK_LANES, sizeof *f->users);
	f->at = arena_alloc(arena, SHARED_N * n_ranks * RANK_LANES, sizeof *f->at);
	f->open = arena_alloc(arena, n_ranks * RANK_LANES, sizeof *f->open);
	f->pool_of = arena_alloc(arena, n_ranks, sizeof *f->pool_of);
	f->is_frozen = arena_alloc(arena, n_ranks * RANK_LANES, sizeof *f->is_frozen);
	f->loads = arena_alloc(arena, n_ranks * RANK_LANES, sizeof *f->loads);
	f->slowed = arena_alloc(arena, n_ranks * RANK_LANES, sizeof *f->slowed);
}

/* ---- a memory that is slower the more it is loaded */

/* Slows its users among the ranks [rank, end). E32 */
static void slow_down(struct filling *f, const struct shares *shares, size_t which, size_t rank, size_t end)
{
	const struct shared *const shared = &shares->shared[which];
	const double n_copies = shares->n_ranks == 1 ? shares->cost->ranks_per_domain : 1;
	size_t n = 0;
	for (size_t i = rank; i < end; i++)
		for (uint8_t lanes = f->sets[i]->users[which]; lanes;) {
			const size_t lane = take_lane(&lanes), kind = f->sets[i]->kinds[lane];
			f->loads[n++] = (struct latency_user){shared->demand_Bps[kind] * f->speeds[i].speed[lane],
			    shares->cost->classes[kind].latency_frac};
		}
	latency_speeds(f->slowed, f->loads, n, shared->latency_Bps, n_copies);
	n = 0;
	for (size_t i = rank; i < end; i++)
		for (uint8_t lanes = f->sets[i]->users[which]; lanes; n++) {
			const size_t lane = take_lane(&lanes);
			f->speeds[i].speed[lane] *= f->slowed[n];
			if (f->slowed[n] < 1 - 1e-9)
				f->speeds[i].limit[lane] = (uint8_t)shared->res;
		}
}

/* ---- pools that may be full */

static void add_users(struct filling *f, const struct shares *shares, size_t which, size_t rank)
{
	const struct rank_set *const set = f->sets[rank];
	const double *const demand_Bps = shares->shared[which].demand_Bps;
	for (uint8_t lanes = set->users[which]; lanes;) {
		const size_t lane = take_lane(&lanes), kind = set->kinds[lane];
		const double ask_Bps = demand_Bps[kind] * f->speeds[rank].speed[lane];
		f->users[f->n_users] = (struct maxmin_user){ask_Bps, shares->weight[kind]};
		f->at[f->n_users++] = (uint32_t)(rank * RANK_LANES + lane);
	}
}

/* The pool of ranks [rank, end), which may be full. */
static void add_pool(struct filling *f, const struct shares *shares, size_t which, size_t rank, size_t end)
{
	struct pool *const pool = &f->pools[f->n_pools++];
	pool->shared = &shares->shared[which];
	pool->users = &f->users[f->n_users];
	pool->at = &f->at[f->n_users];
	pool->is_stale = false;
	for (; rank < end; rank++) {
		f->pool_of[rank][which] = pool;
		add_users(f, shares, which, rank);
	}
	pool->n_users = (size_t)(&f->users[f->n_users] - pool->users);
}

/* Pools of one resource among n ranks, in order. */
static void list_pools(struct filling *f, const struct shares *shares, size_t which, size_t first, size_t n)
{
	for (size_t rank = 0, end; rank < n; rank = end) {
		uint64_t ask = 0;
		end = shares_end(shares, which, first + rank) - first;
		end = end < n ? end : n;
		for (size_t i = rank; i < end; i++)
			ask += f->sets[i]->ask[which];
		if (!shares_may_fill(ask))
			continue;
		if (shares->shared[which].latency_Bps > 0)
			slow_down(f, shares, which, rank, end);
		else
			add_pool(f, shares, which, rank, end);
	}
}

static void list_all_pools(struct filling *f, const struct shares *shares, size_t first, size_t n)
{
	uint8_t fills = 0;
	for (size_t i = 0; i < n; i++)
		fills |= f->sets[i]->fills;
	f->n_pools = f->n_users = 0;
	memset(f->pool_of, 0, n * sizeof *f->pool_of);
	for (size_t which = 0; which < SHARED_N; which++)
		if (shares->shared[which].n_sharing > 1 || fills >> which & 1)
			list_pools(f, shares, which, first, n);
}

/* ---- levels */

/* The level of a pool of whose users some are frozen. */
static double refill_level(struct filling *f, const struct pool *pool)
{
	double frozen_Bps = 0;
	size_t n = 0;
	for (size_t i = 0; i < pool->n_users; i++) {
		const size_t rank = pool->at[i] / RANK_LANES, lane = pool->at[i] % RANK_LANES;
		if (f->is_frozen[pool->at[i]])
			frozen_Bps += pool->shared->demand_Bps[f->sets[rank]->kinds[lane]] * f->speeds[rank].speed[lane];
		else
			f->open[n++] = pool->users[i];
	}
	return maxmin_level(f->open, n, pool->shared->capacity_Bps - frozen_Bps);
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

/* A user of a full pool keeps the speed of its level. */
static void set_speed(struct filling *f, const struct pool *full, size_t user)
{
	const size_t rank = full->at[user] / RANK_LANES, lane = full->at[user] % RANK_LANES;
	const double frac = full->users[user].weight * full->level;
	if (frac >= 1)
		return;
	f->speeds[rank].speed[lane] *= frac;
	f->speeds[rank].limit[lane] = (uint8_t)full->shared->res;
}

/* Freezes the users of a full pool; what they leave to their other pools is then known. */
static void freeze(struct filling *f, struct pool *full)
{
	for (size_t i = 0; i < full->n_users; i++) {
		const size_t at = full->at[i], rank = at / RANK_LANES;
		if (f->is_frozen[at])
			continue;
		f->is_frozen[at] = true;
		set_speed(f, full, i);
		for (unsigned uses = f->sets[rank]->uses[at % RANK_LANES]; uses; uses &= uses - 1)
			if (f->pool_of[rank][__builtin_ctz(uses)])
				f->pool_of[rank][__builtin_ctz(uses)]->is_stale = true;
	}
	for (struct pool *pool = f->pools; pool < f->pools + f->n_pools; pool++)
		if (pool->is_stale) {
			pool->level = refill_level(f, pool);
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
	list_all_pools(f, shares, first, n);
	for (struct pool *pool = f->pools; pool < f->pools + f->n_pools; pool++)
		pool->level = maxmin_level(pool->users, pool->n_users, pool->shared->capacity_Bps);
	struct pool *full = fullest(f);
	if (full && f->n_pools == 1) {
		for (size_t i = 0; i < full->n_users; i++)
			set_speed(f, full, i);
		return;
	}
	if (full)
		memset(f->is_frozen, 0, n * RANK_LANES * sizeof *f->is_frozen);
	for (; full; full = fullest(f))
		freeze(f, full);
}

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
		set->uses[lane] |= (uint8_t)((demand_Bps > 0) << which);
	}
	if (shared->latency_Bps > 0 && ask_Bps > 0)
		ask_Bps = shared->capacity_Bps; /* its users meet all others, however little they ask */
	set->ask[which] =
	    ask_Bps > 0 ? (uint64_t)ceil(fmin(1000, ask_Bps / shared->capacity_Bps) * (double)SHARES_WHOLE) : 0;
	set->fills |= (uint8_t)(shares_may_fill(set->ask[which]) << which);
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
	set->fills = 0;
	memset(set->uses, 0, sizeof set->uses);
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
