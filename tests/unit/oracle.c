/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/oracle.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

/* Groups of `sharers` ranks within each node; the last of a node may be smaller. */
static size_t add_pools(struct oracle_pool *pools, size_t n, enum res res, double capacity, size_t n_ranks, double sharers,
    double n_in_node)
{
	if (n_ranks == 1) {
		pools[n] = (struct oracle_pool){res, capacity / sharers, 0, 1};
		return n + 1;
	}
	for (double node = 0; node < (double)n_ranks; node += n_in_node)
		for (double first = 0; first < n_in_node; first += sharers) {
			assert(n < ORACLE_POOLS_MAX);
			pools[n++] = (struct oracle_pool){
			    res, capacity, (size_t)(node + first), (size_t)(node + fmin(first + sharers, n_in_node))};
		}
	return n;
}

size_t oracle_pools(struct oracle_pool *pools, const struct cost *cost, size_t n_ranks)
{
	const double in_node = cost->ranks_per_node;
	size_t n = add_pools(pools, 0, RES_DRAM, cost->dram_Bps, n_ranks, cost->ranks_per_domain, in_node);
	n = add_pools(pools, n, RES_H2D, cost->root_Bps, n_ranks, cost->ranks_per_root, in_node);
	if (cost->network_Bps > 0)
		n = add_pools(pools, n, RES_NET, cost->network_Bps, n_ranks, in_node, in_node);
	return add_pools(pools, n, RES_HBM, cost->hw->hbm_Bps, n_ranks, 1, in_node);
}

double oracle_demand(const struct oracle_pool *pool, const struct running *running, const struct cost *cost)
{
	const struct op_class *const class = &cost->classes[running->kind];
	if (running->rank < pool->first || running->rank >= pool->end)
		return 0;
	if (pool->res == RES_NET)
		return class->network_Bps;
	return pool->res == RES_DRAM ? class->dram_Bps : pool->res == RES_HBM ? class->hbm_Bps : class->root_Bps;
}

/* Deals threads over cores, a core's hardware threads, then in turns; the speed of the slowest. */
static double slowest_thread(const struct cost *cost, double n_threads)
{
	const double n_cores = cost->hw_threads / cost->hw->threads_per_core;
	double fullest = 0;
	for (double dealt = 0; dealt < n_threads; dealt += n_cores)
		fullest++;
	if (fullest <= 1)
		return 1;
	const double turns = ceil(fullest / cost->hw->threads_per_core);
	const double sibling = cost->hw->threads_per_core > 1 ? cost->hw->smt_gain / cost->hw->threads_per_core : 1;
	return sibling / turns;
}

static bool is_adam(unsigned kind)
{
	return kind == OP_CPU_UNSCALE || kind == OP_CPU_ADAM || kind == OP_CPU_ADAM_BF16 || kind == OP_CPU_ADAM_FUSED ||
	    kind == OP_CPU_ADAM_FUSED_BF16 || kind == OP_CPU_ADAM_SPLIT || kind == OP_CPU_ADAM_SPLIT_BF16;
}

/* How many of the operations of this one's rank are of a kind; OP_N: runnable threads; OP_N + 1: CPU Adams. */
static double count(const struct running *running, size_t n, const struct cost *cost, uint16_t rank, unsigned kind)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		if (running[i].rank == rank)
			sum += kind == OP_N    ? cost->classes[running[i].kind].host_threads
			    : kind == OP_N + 1 ? is_adam(running[i].kind)
					       : running[i].kind == kind;
	return sum;
}

void oracle_caps(double *cap, const struct running *running, size_t n, const struct cost *cost)
{
	for (size_t i = 0; i < n; i++) {
		const struct op_class *const class = &cost->classes[running[i].kind];
		const uint16_t rank = running[i].rank;
		cap[i] = 1;
		if (running[i].kind == OP_H2D && count(running, n, cost, rank, OP_D2H) > 0)
			cap[i] = class->duplex_frac;
		if (running[i].kind == OP_D2H && count(running, n, cost, rank, OP_H2D) > 0)
			cap[i] = class->duplex_frac;
		const double runnable = count(running, n, cost, rank, OP_N);
		if (class->host_threads > 0) {
			cap[i] = slowest_thread(cost, runnable) / slowest_thread(cost, class->host_threads);
			if (cost->hw->adam_downscale_corun_frac > 0 && runnable > cost->hw_threads &&
			    count(running, n, cost, rank, OP_CPU_DOWNSCALE) > 0 &&
			    count(running, n, cost, rank, OP_N + 1) > 0)
				cap[i] = cost->hw->adam_downscale_corun_frac;
		}
	}
}

struct level {
	const struct running *running;
	const double *cap, *speed;
	const bool *is_frozen;
	size_t n;
	const struct cost *cost;
};

static double use_at(const struct level *l, const struct oracle_pool *pool, double t)
{
	double use = 0;
	for (size_t i = 0; i < l->n; i++) {
		const double x =
		    l->is_frozen[i] ? l->speed[i] : l->cap[i] * fmin(1, l->cost->classes[l->running[i].kind].weight * t);
		use += x * oracle_demand(pool, &l->running[i], l->cost);
	}
	return use;
}

/* Level at which the pool is full, INFINITY if it is not full when everything runs at its cap. */
static double full_at(const struct level *l, const struct oracle_pool *pool, double most)
{
	double low = 0, high = most;
	if (use_at(l, pool, most) <= pool->capacity * (1 + 1e-12))
		return INFINITY;
	for (int step = 0; step < 200 && high - low > 1e-16 * high; step++) {
		const double middle = low + (high - low) / 2;
		if (use_at(l, pool, middle) > pool->capacity)
			high = middle;
		else
			low = middle;
	}
	return high;
}

void oracle_speeds(double *speed, const struct running *running, size_t n, const struct cost *cost, size_t n_ranks)
{
	struct oracle_pool pools[ORACLE_POOLS_MAX];
	double cap[ORACLE_RUNNING_MAX], most = 0;
	bool is_frozen[ORACLE_RUNNING_MAX] = {false};
	const size_t n_pools = oracle_pools(pools, cost, n_ranks);
	const struct level level = {running, cap, speed, is_frozen, n, cost};
	assert(n <= ORACLE_RUNNING_MAX);
	oracle_caps(cap, running, n, cost);
	for (size_t i = 0; i < n; i++)
		most = fmax(most, 1 / cost->classes[running[i].kind].weight);
	for (;;) {
		double lowest = INFINITY;
		size_t full = 0;
		for (size_t p = 0; p < n_pools; p++) {
			bool has_users = false;
			for (size_t i = 0; i < n; i++)
				has_users |= !is_frozen[i] && oracle_demand(&pools[p], &running[i], cost) > 0;
			const double at = has_users ? full_at(&level, &pools[p], most) : INFINITY;
			if (at < lowest) {
				lowest = at;
				full = p;
			}
		}
		for (size_t i = 0; i < n; i++) {
			if (is_frozen[i] || (lowest < INFINITY && oracle_demand(&pools[full], &running[i], cost) <= 0))
				continue;
			is_frozen[i] = true;
			speed[i] = cap[i] * fmin(1, cost->classes[running[i].kind].weight * lowest);
		}
		if (lowest == INFINITY)
			return;
	}
}
