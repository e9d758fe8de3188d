/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What every answer of the fluid sharing model must satisfy, on random sets of running operations of random machines. E3-E5
 * A set is right if no resource is over its capacity and every operation is at its cap or has a bottleneck: a full resource of which
 * nobody has a higher level. That makes it the weighted max-min allocation (Bertsekas & Gallager, 6.5).
 */
#include <gsl/gsl_rng.h>

#include "tests/unit/audit.h"
#include "tests/unit/oracle.h"
#include "tests/unit/rig.h"
#include "tests/unit/test_util.h"

enum { N_SEEDS = 3000, RANKS_MAX = 8, SET_MAX = RANKS_MAX * LANE_N };

struct set {
	unsigned long seed;
	gsl_rng *rng;
	struct rig rig;
	size_t n_ranks, n;
	struct running running[SET_MAX];
	double cap[SET_MAX], speed[SET_MAX];
	uint8_t limit[SET_MAX];
};

static struct set set;

static size_t below(size_t n)
{
	return gsl_rng_uniform_int(set.rng, n);
}

/* Log-uniform; or small integers, so that resources fill at exactly the same level; or nothing. */
static double random_demand(bool has_ties)
{
	if (below(3) == 0)
		return 0;
	return has_ties ? (double)(1 + below(4)) : pow(10, 6 * gsl_rng_uniform(set.rng) - 3);
}

static void random_classes(bool has_ties)
{
	struct cost *const cost = &set.rig.cost;
	for (size_t kind = 0; kind < OP_N; kind++) {
		struct op_class *const class = &cost->classes[kind];
		const bool is_copy = kind == OP_H2D || kind == OP_D2H;
		class->dram_Bps = random_demand(has_ties);
		class->hbm_Bps = random_demand(has_ties);
		class->root_Bps = is_copy ? random_demand(has_ties) : 0;
		class->network_Bps = kind == OP_GATHER || kind == OP_REDUCE ? random_demand(has_ties) : 0;
		class->weight = has_ties ? (double)(1 + below(2)) : pow(4, 2 * gsl_rng_uniform(set.rng) - 1);
		class->host_threads = class->lane == LANE_MAIN || class->lane == LANE_WORKER ? (double)(1 + below(12)) : 0;
		class->duplex_frac = is_copy ? 0.3 + 0.7 * gsl_rng_uniform(set.rng) : 1;
	}
	cost->classes[OP_SYNC].dram_Bps = cost->classes[OP_SYNC].hbm_Bps = 0;
	cost->dram_Bps = has_ties ? (double)(1 + below(12)) : pow(10, 4 * gsl_rng_uniform(set.rng) - 1);
	set.rig.hw.hbm_Bps = has_ties ? (double)(1 + below(6)) : pow(10, 4 * gsl_rng_uniform(set.rng) - 1);
	cost->root_Bps = below(2) ? INFINITY : pow(10, 3 * gsl_rng_uniform(set.rng));
	cost->network_Bps = below(2) ? 0 : pow(10, 3 * gsl_rng_uniform(set.rng));
	if (below(3) == 0)
		cost->dram_Bps = set.rig.hw.hbm_Bps = INFINITY; /* as profiles without a limit */
}

static void random_machine(void)
{
	struct hwprofile *const hw = &set.rig.hw;
	const size_t n_gpus = 1 + below(RANKS_MAX);
	set.n_ranks = n_gpus * (1 + below(RANKS_MAX / n_gpus)); /* of all nodes */
	hw->gpus = (double)n_gpus;
	hw->numa_domains = (double)((size_t)1 << below(4));
	hw->gpus_per_pcie_root = (double)((size_t)1 << below(4));
	hw->threads_per_core = (double)(1 + below(2));
	hw->smt_gain = 1 + gsl_rng_uniform(set.rng) * (hw->threads_per_core - 1);
	hw->adam_downscale_corun_frac = below(4) ? 0 : 0.6;
	set.rig.workload.batch.gpus = (double)n_gpus;
}

static enum op_kind random_kind(enum lane lane)
{
	for (;;) {
		const enum op_kind kind = (enum op_kind)below(OP_N);
		if (set.rig.cost.classes[kind].lane == lane)
			return kind;
	}
}

/* MAIN always holds something, as the engine says what waits. */
static void random_set(void)
{
	set.n = 0;
	for (size_t rank = 0; rank < set.n_ranks; rank++)
		for (enum lane lane = 0; lane < LANE_N; lane++)
			if (lane == LANE_MAIN || below(3))
				set.running[set.n++] = (struct running){(uint8_t)random_kind(lane), (uint16_t)rank};
}

static void allocate(const struct sharing *sharing, double *speed)
{
	struct shares shares;
	arena_reset(&set.rig.arena);
	shares_init(&shares, sharing, &set.rig.cost, set.n_ranks, &set.rig.arena);
	shares_allocate(&shares, speed, set.limit, set.running, set.n, &set.rig.arena);
}

static void make(unsigned long seed)
{
	set.seed = seed;
	gsl_rng_set(set.rng, seed);
	rig_release(&set.rig);
	rig_init(&set.rig);
	random_machine();
	cost_init(&set.rig.cost, &set.rig.hw, &set.rig.workload, 0, 0);
	random_classes(seed % 2);
	random_set();
	oracle_caps(set.cap, set.running, set.n, &set.rig.cost);
	allocate(&sharing_fluid, set.speed);
}

static double use_of(const struct oracle_pool *pool)
{
	double use = 0;
	for (size_t i = 0; i < set.n; i++)
		use += set.speed[i] * oracle_demand(pool, &set.running[i], &set.rig.cost);
	return use;
}

static double level_of(size_t i)
{
	return set.speed[i] / set.cap[i] / set.rig.cost.classes[set.running[i].kind].weight;
}

/* A full resource that operation i uses and of which nobody has a higher level. */
static bool is_bottleneck(const struct oracle_pool *pool, size_t i)
{
	if (oracle_demand(pool, &set.running[i], &set.rig.cost) <= 0 || use_of(pool) < pool->capacity * (1 - 1e-9))
		return false;
	for (size_t j = 0; j < set.n; j++)
		if (oracle_demand(pool, &set.running[j], &set.rig.cost) > 0 && level_of(j) > level_of(i) * (1 + 1e-9))
			return false;
	return true;
}

#define for_all_seeds for (unsigned long seed = 1; seed <= N_SEEDS; make(seed + 1), seed++)

/* ---- invariants */

START_TEST(no_resource_is_over_its_capacity)
{
	for_all_seeds
	{
		struct oracle_pool pools[ORACLE_POOLS_MAX];
		const size_t n_pools = oracle_pools(pools, &set.rig.cost, set.n_ranks);
		for (size_t p = 0; p < n_pools; p++)
			must(use_of(&pools[p]) <= pools[p].capacity * (1 + 1e-9), "seed %lu: %s %zu gives %.17g of %.17g",
			    set.seed, res_names[pools[p].res], p, use_of(&pools[p]), pools[p].capacity);
	}
}
END_TEST

START_TEST(everything_is_at_its_cap_or_has_a_bottleneck)
{
	for_all_seeds
	{
		struct oracle_pool pools[ORACLE_POOLS_MAX];
		const size_t n_pools = oracle_pools(pools, &set.rig.cost, set.n_ranks);
		for (size_t i = 0; i < set.n; i++) {
			bool is_held = set.speed[i] >= set.cap[i] * (1 - 1e-12);
			for (size_t p = 0; p < n_pools && !is_held; p++)
				is_held = is_bottleneck(&pools[p], i);
			must(set.speed[i] > 0 && set.speed[i] <= set.cap[i], "seed %lu: speed %zu is %.17g, cap %.17g",
			    set.seed, i, set.speed[i], set.cap[i]);
			must(is_held, "seed %lu: nothing holds operation %zu at %.17g, cap %.17g", set.seed, i,
			    set.speed[i], set.cap[i]);
		}
	}
}
END_TEST

START_TEST(an_allocator_of_its_own_agrees)
{
	for_all_seeds
	{
		double want[SET_MAX];
		oracle_speeds(want, set.running, set.n, &set.rig.cost, set.n_ranks);
		for (size_t i = 0; i < set.n; i++)
			must(fabs(set.speed[i] - want[i]) <= 1e-9 * want[i],
			    "seed %lu: speed %zu (%s) is %.17g, want %.17g", set.seed, i, op_names[set.running[i].kind],
			    set.speed[i], want[i]);
	}
}
END_TEST

/* What limits an operation is a full resource of its own, its cores or its link; nothing exactly where it runs alone. */
START_TEST(limits_are_true)
{
	for_all_seeds
	{
		struct oracle_pool pools[ORACLE_POOLS_MAX];
		const size_t n_pools = oracle_pools(pools, &set.rig.cost, set.n_ranks);
		for (size_t i = 0; i < set.n; i++) {
			const enum res limit = set.limit[i];
			const bool is_copy = set.running[i].kind == OP_H2D || set.running[i].kind == OP_D2H;
			bool is_true = limit == RES_N ? set.speed[i] == 1
			    : limit == RES_CORES      ? !is_copy && set.cap[i] < 1 && set.speed[i] == set.cap[i]
			    : limit == RES_DUPLEX     ? is_copy && set.cap[i] < 1 && set.speed[i] == set.cap[i]
						      : false;
			for (size_t p = 0; p < n_pools && !is_true; p++)
				is_true = pools[p].res == limit && is_bottleneck(&pools[p], i);
			must(is_true, "seed %lu: operation %zu at %.17g, cap %.17g: limit %d", set.seed, i, set.speed[i],
			    set.cap[i], limit);
		}
	}
}
END_TEST

/* ---- symmetries */

/* A power of two: then every domain and every root has as many ranks as any other. */
static bool has_equal_shares(void)
{
	const size_t n = (size_t)set.rig.cost.ranks_per_node;
	return (n & (n - 1)) == 0;
}

/* Ranks that share all their resources may change places. */
START_TEST(ranks_may_change_places)
{
	for_all_seeds
	{
		const struct set before = set;
		const size_t a = below(set.n_ranks), b = a ^ 1;
		if (!has_equal_shares() || set.n_ranks < 2 || set.rig.cost.ranks_per_domain < 2 ||
		    (isfinite(set.rig.cost.root_Bps) && set.rig.cost.ranks_per_root < 2))
			continue;
		size_t from[SET_MAX], n = 0;
		for (size_t rank = 0; rank < set.n_ranks; rank++)
			for (size_t i = 0; i < set.n; i++)
				if (before.running[i].rank == (rank == a ? b : rank == b ? a : rank)) {
					set.running[n] = (struct running){before.running[i].kind, (uint16_t)rank};
					from[n++] = i;
				}
		allocate(&sharing_fluid, set.speed);
		for (size_t i = 0; i < n; i++)
			must(fabs(set.speed[i] - before.speed[from[i]]) <= 1e-12 && set.limit[i] == before.limit[from[i]],
			    "seed %lu: ranks %zu and %zu change places, operation %zu runs at %.17g, before %.17g",
			    set.seed, a, b, i, set.speed[i], before.speed[from[i]]);
	}
}
END_TEST

/* Identical ranks are one rank with its share. */
START_TEST(identical_ranks_fold)
{
	for_all_seeds
	{
		const size_t n_ranks = set.n_ranks;
		size_t n_own = 0;
		if (!has_equal_shares())
			continue;
		while (n_own < set.n && set.running[n_own].rank == 0)
			n_own++;
		for (size_t i = 0; i < n_ranks * n_own; i++)
			set.running[i] = (struct running){set.running[i % n_own].kind, (uint16_t)(i / n_own)};
		set.n = n_ranks * n_own;
		double all[SET_MAX];
		allocate(&sharing_fluid, all);
		set.n = n_own;
		set.n_ranks = 1;
		allocate(&sharing_fluid, set.speed);
		for (size_t i = 0; i < n_ranks * n_own; i++)
			must(fabs(all[i] - set.speed[i % n_own]) <= 1e-12 * all[i],
			    "seed %lu: %zu ranks, %.17g, folded %.17g", set.seed, n_ranks, all[i], set.speed[i % n_own]);
	}
}
END_TEST

/* Bytes are a matter of units. */
START_TEST(units_do_not_matter)
{
	for_all_seeds
	{
		struct cost *const cost = &set.rig.cost;
		double scaled[SET_MAX];
		for (size_t kind = 0; kind < OP_N; kind++) {
			cost->classes[kind].dram_Bps *= 3e9;
			cost->classes[kind].hbm_Bps *= 3e9;
			cost->classes[kind].root_Bps *= 3e9;
			cost->classes[kind].network_Bps *= 3e9;
		}
		cost->dram_Bps *= 3e9;
		cost->root_Bps *= 3e9;
		cost->network_Bps *= 3e9;
		set.rig.hw.hbm_Bps *= 3e9;
		allocate(&sharing_fluid, scaled);
		for (size_t i = 0; i < set.n; i++)
			must(fabs(scaled[i] - set.speed[i]) <= 1e-9 * set.speed[i],
			    "seed %lu: speed %zu is %.17g, scaled %.17g", set.seed, i, set.speed[i], scaled[i]);
	}
}
END_TEST

START_TEST(without_contention_all_run_alone)
{
	for_all_seeds
	{
		allocate(&sharing_none, set.speed);
		for (size_t i = 0; i < set.n; i++)
			must(set.speed[i] == 1 && set.limit[i] == RES_N, "seed %lu: operation %zu at %.17g", set.seed, i,
			    set.speed[i]);
	}
}
END_TEST

START_TEST(models_are_found_by_name)
{
	for (size_t i = 0; sharing_all[i]; i++)
		ck_assert_ptr_eq(sharing_find(sharing_all[i]->name), sharing_all[i]);
	ck_assert_ptr_null(sharing_find("fluids"));
	ck_assert_ptr_null(sharing_find(""));
}
END_TEST

static void setup(void)
{
	set.rng = gsl_rng_alloc(gsl_rng_taus2);
	make(1);
}

static void teardown(void)
{
	rig_release(&set.rig);
	gsl_rng_free(set.rng);
}

Suite *sharing_suite(void);
Suite *sharing_suite(void)
{
	Suite *const suite = suite_create("sharing");
	TCase *const property = tcase_create("property");
	tcase_add_checked_fixture(property, setup, teardown);
	tcase_add_test(property, no_resource_is_over_its_capacity);
	tcase_add_test(property, everything_is_at_its_cap_or_has_a_bottleneck);
	tcase_add_test(property, an_allocator_of_its_own_agrees);
	tcase_add_test(property, limits_are_true);
	tcase_add_test(property, ranks_may_change_places);
	tcase_add_test(property, identical_ranks_fold);
	tcase_add_test(property, units_do_not_matter);
	tcase_add_test(property, without_contention_all_run_alone);
	tcase_add_test(property, models_are_found_by_name);
	suite_add_tcase(suite, property);
	return suite;
}
