/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/sharing.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Operations that can run at once: lanes of all ranks; shared resources that one can use; of all ranks. */
enum { RUNNING_MAX = 4096, SHARED_N = 4, POOLS_MAX = 2048 };

static void allocate_none(double *speed, uint8_t *limit, const struct running *running, size_t n, const struct cost *cost,
    size_t n_ranks)
{
	(void)running, (void)cost, (void)n_ranks;
	for (size_t i = 0; i < n; i++) {
		speed[i] = 1;
		limit[i] = RES_N;
	}
}

/* Sets of kinds as bits. */
#define KIND(name) ((uint32_t)1 << OP_##name)
static const uint32_t kinds_adam =
    KIND(CPU_UNSCALE) | KIND(CPU_ADAM) | KIND(CPU_ADAM_BF16) | KIND(CPU_ADAM_FUSED) | KIND(CPU_ADAM_FUSED_BF16);
static const uint32_t kinds_copy = KIND(H2D) | KIND(D2H);

/* What runs on one rank. */
struct company {
	double n_runnable; /* host threads */
	uint32_t kinds;
};

static struct company company_of(const struct running *running, size_t first, size_t end, const struct cost *cost)
{
	struct company all = {0};
	for (size_t i = first; i < end; i++) {
		all.n_runnable += cost->classes[running[i].kind].host_threads;
		all.kinds |= (uint32_t)1 << running[i].kind;
	}
	return all;
}

/* Speed left to a host operation on the rank's cores: E4, or what was measured of Adam beside the downscale. */
static double core_cap(const struct company *all, enum op_kind kind, const struct cost *cost)
{
	const double host_threads = cost->classes[kind].host_threads;
	if (host_threads <= 0)
		return 1;
	const bool is_adam = (uint32_t)1 << kind & kinds_adam;
	const bool is_pair = all->kinds & kinds_adam && all->kinds & KIND(CPU_DOWNSCALE) && (is_adam || kind == OP_CPU_DOWNSCALE);
	const double measured = is_adam ? cost->corun_adam_frac : cost->corun_downscale_frac;
	if (is_pair && measured > 0)
		return measured;
	if (is_pair && cost->hw->adam_downscale_corun_frac > 0 && all->n_runnable > cost->hw_threads)
		return cost->hw->adam_downscale_corun_frac;
	return cost_core_frac(cost, all->n_runnable, host_threads);
}

/* What holds an operation before sharing: its cores (E4), the other direction of its link (E5). The running operations of one
 * rank are [first, end). */
static void cap_rank(double *cap, uint8_t *limit, const struct running *running, size_t first, size_t end,
    const struct cost *cost)
{
	const struct company all = company_of(running, first, end, cost);
	for (size_t i = first; i < end; i++) {
		const struct op_class *const class = &cost->classes[running[i].kind];
		if (class->transfer)
			cap[i] = (all.kinds & kinds_copy) == kinds_copy ? class->duplex_frac : 1;
		else
			cap[i] = core_cap(&all, running[i].kind, cost);
		limit[i] = cap[i] >= 1 ? RES_N : class->transfer ? RES_DUPLEX : RES_CORES;
	}
}

static const enum res shared[SHARED_N] = {RES_DRAM, RES_H2D, RES_HBM, RES_NET}; /* H2D: the PCIe root; NET: of the node */

static double demand_of(const struct op_class *class, enum res res)
{
	switch (res) {
	case RES_DRAM: return class->dram_Bps;
	case RES_HBM: return class->hbm_Bps;
	case RES_NET: return class->network_Bps;
	default: return class->root_Bps;
	}
}

/* One shared resource and the running operations that use it, in their order. */
struct pool_use {
	double capacity;
	double all, slope; /* what users ask at their capped speed, and times their weight */
	double level; /* t at which it is full; DBL_MAX: never */
	enum res res;
	size_t end_rank; /* ranks before it share this one, and no later pool of this resource */
	const uint16_t *users;
	size_t n_users;
	bool is_stale; /* a user was frozen since its level was found */
};

/* One allocation: every sum runs over users in order of (rank, lane), so its last bit does not depend on what else is looked at. */
struct fluid {
	const struct running *running;
	const struct cost *cost;
	double *speed;
	size_t n, n_pools, n_users;
	size_t n_sharing[SHARED_N]; /* ranks that share one; 0: without limit */
	double cap[RUNNING_MAX];
	bool is_frozen[RUNNING_MAX];
	uint16_t users[SHARED_N * RUNNING_MAX];
	uint16_t pool_of[SHARED_N][RUNNING_MAX]; /* where an operation is a user */
	struct pool_use pools[POOLS_MAX];
};

/* The rank after the last that shares a resource with this one: no resource is shared between nodes. */
static size_t end_of_sharing(size_t rank, size_t n_sharing, size_t ranks_per_node)
{
	const size_t in_node = rank % ranks_per_node, node = rank - in_node, end = in_node - in_node % n_sharing + n_sharing;
	return node + (end < ranks_per_node ? end : ranks_per_node);
}

/* The pools of one resource that have users. */
static void add_pools(struct fluid *f, size_t which, double capacity)
{
	const enum res res = shared[which];
	const size_t n_sharing = f->n_sharing[which];
	struct pool_use *pool = NULL;
	for (size_t i = 0; i < f->n; i++) {
		const struct op_class *const class = &f->cost->classes[f->running[i].kind];
		const double demand = demand_of(class, res);
		const size_t rank = f->running[i].rank;
		if (demand <= 0)
			continue;
		if (!pool || rank >= pool->end_rank) {
			assert(f->n_pools < POOLS_MAX);
			pool = &f->pools[f->n_pools++];
			*pool = (struct pool_use){.capacity = capacity, .res = res, .users = &f->users[f->n_users],
			    .end_rank = end_of_sharing(rank, n_sharing, (size_t)f->cost->ranks_per_node)};
		}
		f->pool_of[which][i] = (uint16_t)(f->n_pools - 1);
		f->users[f->n_users++] = (uint16_t)i;
		pool->n_users++;
		pool->all += demand * f->cap[i];
		pool->slope += demand * f->cap[i] * class->weight;
	}
}

static void list_pools(struct fluid *f, size_t n_ranks)
{
	const struct cost *const cost = f->cost;
	const bool is_folded = n_ranks == 1; /* this rank's share of what identical ranks share */
	const double domain = cost->ranks_per_domain, root = cost->ranks_per_root;
	f->n_pools = f->n_users = 0;
	f->n_sharing[0] = is_folded ? 1 : (size_t)domain;
	f->n_sharing[1] = isinf(cost->root_Bps) ? 0 : is_folded ? 1 : (size_t)root;
	f->n_sharing[2] = 1;
	f->n_sharing[3] = cost->network_Bps <= 0 ? 0 : is_folded ? 1 : (size_t)cost->ranks_per_node;
	add_pools(f, 0, is_folded ? cost->dram_Bps / domain : cost->dram_Bps);
	if (f->n_sharing[1] > 0)
		add_pools(f, 1, is_folded ? cost->root_Bps / root : cost->root_Bps);
	add_pools(f, 2, cost->hw->hbm_Bps);
	if (f->n_sharing[3] > 0)
		add_pools(f, 3, is_folded ? cost->network_Bps / cost->ranks_per_node : cost->network_Bps);
}

/* Raises t past the users that reach 1 first, those of the largest weight. O(users^2), users <= lanes of the ranks that share. */
static double raise_level(const struct fluid *f, const struct pool_use *pool, double left, double slope)
{
	double level = left / slope, done = 0;
	for (;;) {
		double used_by_full = 0;
		slope = 0;
		for (size_t u = 0; u < pool->n_users; u++) {
			const size_t i = pool->users[u];
			if (f->is_frozen[i])
				continue;
			const struct op_class *const class = &f->cost->classes[f->running[i].kind];
			const double demand = demand_of(class, pool->res) * f->cap[i];
			if (class->weight * level >= 1 - 1e-12)
				used_by_full += demand;
			else
				slope += demand * class->weight;
		}
		if (used_by_full <= done || slope <= 0)
			return fmax(level, 0);
		done = used_by_full;
		level = (left - used_by_full) / slope;
	}
}

/* The level t at which a resource is full when x_i = cap_i min(1, w_i t), given frozen users; DBL_MAX when it never is. */
static double fill_level(const struct fluid *f, const struct pool_use *pool, double frozen, double all, double slope)
{
	const double left = pool->capacity - frozen;
	return all <= left * (1 + 1e-12) || slope <= 0 ? DBL_MAX : raise_level(f, pool, left, slope);
}

static double refill_level(const struct fluid *f, const struct pool_use *pool)
{
	double frozen = 0, all = 0, slope = 0;
	for (size_t u = 0; u < pool->n_users; u++) {
		const size_t i = pool->users[u];
		const struct op_class *const class = &f->cost->classes[f->running[i].kind];
		const double demand = demand_of(class, pool->res);
		if (f->is_frozen[i]) {
			frozen += demand * f->speed[i];
		} else {
			all += demand * f->cap[i];
			slope += demand * f->cap[i] * class->weight;
		}
	}
	return fill_level(f, pool, frozen, all, slope);
}

static const struct pool_use *fullest(const struct fluid *f)
{
	const struct pool_use *full = NULL;
	double level = DBL_MAX;
	for (size_t p = 0; p < f->n_pools; p++)
		if (f->pools[p].level < level) {
			full = &f->pools[p];
			level = full->level;
		}
	return full;
}

/* Users of a full pool keep the speed of its level; what they leave to their other pools is then known. */
static void freeze(struct fluid *f, const struct pool_use *full, uint8_t *limit)
{
	const double level = full->level;
	for (size_t u = 0; u < full->n_users; u++) {
		const size_t i = full->users[u];
		if (f->is_frozen[i])
			continue;
		const struct op_class *const class = &f->cost->classes[f->running[i].kind];
		f->is_frozen[i] = true;
		f->speed[i] = f->cap[i] * fmin(1, class->weight * level);
		if (class->weight * level < 1)
			limit[i] = (uint8_t)full->res;
		for (size_t which = 0; which < SHARED_N; which++)
			if (f->n_sharing[which] > 0 && demand_of(class, shared[which]) > 0)
				f->pools[f->pool_of[which][i]].is_stale = true;
	}
	for (struct pool_use *pool = f->pools; pool < f->pools + f->n_pools; pool++)
		if (pool->is_stale) {
			pool->level = refill_level(f, pool);
			pool->is_stale = false;
		}
}

/* Raises the common level until a resource is full, freezes its users, repeats. E3 */
static void allocate_fluid(double *speed, uint8_t *limit, const struct running *running, size_t n, const struct cost *cost,
    size_t n_ranks)
{
	struct fluid f; /* large: of its arrays only what n operations need is touched */
	assert(n <= RUNNING_MAX);
	f.running = running, f.cost = cost, f.speed = speed, f.n = n;
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first; end < n && running[end].rank == running[first].rank;)
			end++;
		cap_rank(f.cap, limit, running, first, end, cost);
	}
	memcpy(speed, f.cap, n * sizeof *speed);
	memset(f.is_frozen, 0, n * sizeof *f.is_frozen);
	list_pools(&f, n_ranks);
	for (struct pool_use *pool = f.pools; pool < f.pools + f.n_pools; pool++)
		pool->level = fill_level(&f, pool, 0, pool->all, pool->slope);
	for (const struct pool_use *full; (full = fullest(&f)) != NULL;)
		freeze(&f, full, limit);
}

const struct sharing sharing_none = {
    "none", "DRAM, HBM, cores and roots infinite, directions independent; engines, streams and threads serialise", allocate_none};
const struct sharing sharing_fluid = {
    "fluid", "weighted max-min sharing of DRAM, HBM and PCIe roots; discrete cores; measured duplex rates", allocate_fluid};
const struct sharing *const sharing_all[] = {&sharing_fluid, &sharing_none, &sharing_measured, NULL};

const struct sharing *sharing_find(const char *name)
{
	for (size_t i = 0; sharing_all[i]; i++)
		if (!strcmp(sharing_all[i]->name, name))
			return sharing_all[i];
	return NULL;
}
