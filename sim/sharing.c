/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/sharing.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { RUNNING_MAX = 4096 }; /* operations that can run at once: lanes of all ranks */

static void allocate_none(double *speed, uint8_t *limit, const struct running *running, size_t n, const struct cost *cost,
    size_t n_ranks)
{
	(void)running, (void)cost, (void)n_ranks;
	for (size_t i = 0; i < n; i++) {
		speed[i] = 1;
		limit[i] = RES_N;
	}
}

static bool is_adam(enum op_kind kind)
{
	return kind >= OP_CPU_UNSCALE && kind <= OP_CPU_ADAM_FUSED_BF16;
}

/* What runs on one rank beside an operation. */
struct company {
	double n_runnable; /* host threads */
	bool has_h2d, has_d2h, has_adam, has_downscale;
};

static struct company company_of(const struct running *running, size_t first, size_t end, const struct cost *cost)
{
	struct company all = {0};
	for (size_t i = first; i < end; i++) {
		const enum op_kind kind = running[i].kind;
		all.n_runnable += cost->classes[kind].host_threads;
		all.has_h2d |= kind == OP_H2D;
		all.has_d2h |= kind == OP_D2H;
		all.has_adam |= is_adam(kind);
		all.has_downscale |= kind == OP_CPU_DOWNSCALE;
	}
	return all;
}

/* Speed left to a host operation on the rank's cores: E4, or what was measured of Adam beside the downscale. */
static double core_cap(const struct company *all, enum op_kind kind, const struct cost *cost)
{
	const double host_threads = cost->classes[kind].host_threads;
	if (host_threads <= 0)
		return 1;
	const bool is_pair = all->has_adam && all->has_downscale && (is_adam(kind) || kind == OP_CPU_DOWNSCALE);
	const double measured = is_adam(kind) ? cost->corun_adam_frac : cost->corun_downscale_frac;
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
			cap[i] = all.has_h2d && all.has_d2h ? class->duplex_frac : 1;
		else
			cap[i] = core_cap(&all, running[i].kind, cost);
		limit[i] = cap[i] >= 1 ? RES_N : class->transfer ? RES_DUPLEX : RES_CORES;
	}
}

/* One shared resource and what each running operation asks of it at its capped speed. */
struct pool_use {
	double capacity;
	enum res res;
	size_t first, end; /* ranks [first, end) share it */
};

static double demand_of(const struct op_class *class, enum res res)
{
	return res == RES_DRAM ? class->dram_Bps : res == RES_HBM ? class->hbm_Bps : class->root_Bps;
}

/* The level t at which a resource is full when x_i = cap_i min(1, w_i t), given frozen users; DBL_MAX when it never is.
 * O(users^2), users <= lanes of the ranks that share it. */
static double fill_level(const struct pool_use *pool, const double *speed, const double *cap, const bool *is_frozen,
    const struct running *running, size_t n, const struct cost *cost)
{
	double frozen = 0, all = 0, used_by_full = 0, slope = 0;
	for (size_t i = 0; i < n; i++) {
		if (running[i].rank < pool->first || running[i].rank >= pool->end)
			continue;
		const struct op_class *const class = &cost->classes[running[i].kind];
		const double demand = demand_of(class, pool->res);
		frozen += is_frozen[i] ? demand * speed[i] : 0;
		all += is_frozen[i] ? 0 : demand * cap[i];
		slope += is_frozen[i] ? 0 : demand * cap[i] * class->weight;
	}
	const double left = pool->capacity - frozen;
	if (all <= left * (1 + 1e-12) || slope <= 0)
		return DBL_MAX;
	/* raise t past the users that reach 1 first, those of the largest weight */
	double level = left / slope, done = 0;
	for (;;) {
		double next = DBL_MAX;
		used_by_full = 0, slope = 0;
		for (size_t i = 0; i < n; i++) {
			if (running[i].rank < pool->first || running[i].rank >= pool->end || is_frozen[i])
				continue;
			const struct op_class *const class = &cost->classes[running[i].kind];
			const double demand = demand_of(class, pool->res) * cap[i];
			if (demand > 0 && class->weight * level >= 1 - 1e-12) {
				used_by_full += demand;
			} else if (demand > 0) {
				slope += demand * class->weight;
				next = fmin(next, 1 / class->weight);
			}
		}
		if (used_by_full <= done || slope <= 0)
			return fmax(level, 0);
		done = used_by_full;
		level = (left - used_by_full) / slope;
		assert(next > 0);
	}
}

static size_t list_pools(struct pool_use *pools, const struct cost *cost, size_t n_ranks)
{
	size_t n = 0;
	if (n_ranks == 1) { /* folded: this rank's share of what identical ranks share */
		pools[n++] = (struct pool_use){cost->dram_Bps / cost->ranks_per_domain, RES_DRAM, 0, 1};
		pools[n++] = (struct pool_use){cost->root_Bps / cost->ranks_per_root, RES_H2D, 0, 1};
		pools[n++] = (struct pool_use){cost->hw->hbm_Bps, RES_HBM, 0, 1};
		return n;
	}
	const size_t per_domain = (size_t)cost->ranks_per_domain, per_root = (size_t)cost->ranks_per_root;
	for (size_t r = 0; r < n_ranks; r += per_domain)
		pools[n++] = (struct pool_use){cost->dram_Bps, RES_DRAM, r, r + per_domain};
	for (size_t r = 0; r < n_ranks && isfinite(cost->root_Bps); r += per_root)
		pools[n++] = (struct pool_use){cost->root_Bps, RES_H2D, r, r + per_root};
	for (size_t r = 0; r < n_ranks; r++)
		pools[n++] = (struct pool_use){cost->hw->hbm_Bps, RES_HBM, r, r + 1};
	return n;
}

/* Raises the common level until a resource is full, freezes its users, repeats. E3 */
static void allocate_fluid(double *speed, uint8_t *limit, const struct running *running, size_t n, const struct cost *cost,
    size_t n_ranks)
{
	double cap[RUNNING_MAX];
	bool is_frozen[RUNNING_MAX];
	struct pool_use pools[RUNNING_MAX];
	assert(n <= RUNNING_MAX && 3 * n_ranks <= RUNNING_MAX);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first; end < n && running[end].rank == running[first].rank;)
			end++;
		cap_rank(cap, limit, running, first, end, cost);
	}
	memset(is_frozen, 0, n * sizeof *is_frozen);
	const size_t n_pools = list_pools(pools, cost, n_ranks);
	for (;;) {
		double level = DBL_MAX;
		const struct pool_use *full = NULL;
		for (size_t p = 0; p < n_pools; p++) {
			const double at = fill_level(&pools[p], speed, cap, is_frozen, running, n, cost);
			if (at < level) {
				level = at;
				full = &pools[p];
			}
		}
		if (!full)
			break;
		for (size_t i = 0; i < n; i++) {
			const struct op_class *const class = &cost->classes[running[i].kind];
			if (is_frozen[i] || running[i].rank < full->first || running[i].rank >= full->end ||
			    demand_of(class, full->res) <= 0)
				continue;
			is_frozen[i] = true;
			speed[i] = cap[i] * fmin(1, class->weight * level);
			if (class->weight * level < 1)
				limit[i] = (uint8_t)full->res;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (!is_frozen[i])
			speed[i] = cap[i];
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
