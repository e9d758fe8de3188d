/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operations start and end on many ranks; after each instant all speeds are those of plain progressive filling over the whole node, in
 * long double, to 1e-12, and those of one question about the whole node to the last bit. E3
 */
#include <gsl/gsl_rng.h>
#include <math.h>

#include "sim/speed_cache.h"
#include "tests/unit/audit.h"
#include "tests/unit/oracle.h"
#include "tests/unit/rig.h"
#include "tests/unit/test_util.h"

enum { RANKS_MAX = 64, RUNNING_MAX = RANKS_MAX * LANE_N, IDLE = 0xff };

static struct node {
	unsigned long seed;
	gsl_rng *rng;
	struct rig rig;
	struct arena arena, answers;
	size_t n_ranks;
	struct shares shares;
	struct speed_cache cache;
	uint8_t kinds[RANKS_MAX][LANE_N];
	struct speeds speeds[RANKS_MAX]; /* as answered */
	size_t n;
	struct running running[RUNNING_MAX];
	uint8_t lanes[RUNNING_MAX];
} node;

static size_t below(size_t n)
{
	return gsl_rng_uniform_int(node.rng, n);
}

/* Nothing, small integers that fill resources at exactly the same level, or anything of three decades. */
static double random_demand(bool has_ties)
{
	if (below(3) == 0)
		return 0;
	return has_ties ? (double)(1 + below(4)) : pow(10, 3 * gsl_rng_uniform(node.rng));
}

static void random_node(unsigned long seed, size_t n_ranks)
{
	const bool has_ties = seed % 2, has_weights = seed % 3;
	size_t in_node = n_ranks;
	struct cost *const cost = &node.rig.cost;
	gsl_rng_set(node.rng, seed);
	node.seed = seed;
	node.n_ranks = n_ranks;
	rig_init(&node.rig);
	while (below(2) || n_ranks % in_node != 0)
		in_node = 1 + below(n_ranks);
	node.rig.hw.gpus = node.rig.workload.batch.gpus = (double)in_node;
	node.rig.hw.threads_per_core = (double)(1 + below(2));
	cost_init(cost, &node.rig.hw, &node.rig.workload, 0, 0);
	for (size_t kind = 0; kind < OP_N; kind++) {
		struct op_class *const class = &cost->classes[kind];
		class->dram_Bps = random_demand(has_ties);
		class->hbm_Bps = random_demand(has_ties);
		class->root_Bps = random_demand(has_ties);
		class->network_Bps = random_demand(has_ties);
		class->weight = !has_weights ? 1
		    : has_ties               ? (double)(1 + below(2))
					     : pow(4, 2 * gsl_rng_uniform(node.rng) - 1);
		class->host_threads = class->lane == LANE_MAIN || class->lane == LANE_WORKER ? (double)(1 + below(12)) : 0;
	}
	cost->ranks_per_domain = (double)(1 + below(in_node < 9 ? in_node : 9));
	cost->ranks_per_root = (double)(1 + below(in_node < 5 ? in_node : 5));
	cost->dram_Bps = has_ties ? (double)(1 + below(40)) : pow(10, 2 + 3 * gsl_rng_uniform(node.rng));
	cost->root_Bps = below(4) ? cost->dram_Bps * (0.3 + gsl_rng_uniform(node.rng)) : INFINITY;
	cost->network_Bps = below(2) ? cost->dram_Bps * (0.5 + gsl_rng_uniform(node.rng)) : 0;
	node.rig.hw.hbm_Bps = below(4) ? cost->dram_Bps * (0.2 + gsl_rng_uniform(node.rng)) : INFINITY;
}

static void start(void)
{
	arena_reset(&node.arena);
	memset(node.kinds, IDLE, sizeof node.kinds);
	speed_cache_init(&node.cache, &sharing_fluid, &node.rig.cost, node.n_ranks, &node.arena);
	shares_init(&node.shares, &sharing_fluid, &node.rig.cost, node.n_ranks, &node.arena);
}

/* A lane ends what it runs, or starts an operation that it may run. */
static void change(void)
{
	const size_t rank = below(node.n_ranks), kind = below(OP_N), lane = node.rig.cost.classes[kind].lane;
	uint8_t *const now = &node.kinds[rank][lane];
	if (*now != IDLE)
		speed_cache_end(&node.cache, rank, *now);
	if (*now == IDLE || below(2)) {
		speed_cache_start(&node.cache, rank, (unsigned)kind);
		*now = (uint8_t)kind;
	} else {
		*now = IDLE;
	}
}

/* Asks, and lists what runs; MAIN idle waits. */
static void ask(void)
{
	speed_cache_ask(&node.cache);
	for (size_t i = 0; i < node.cache.n_answered; i++)
		node.speeds[node.cache.answer[i].rank] = *node.cache.answer[i].speeds;
	node.n = 0;
	for (size_t rank = 0; rank < node.n_ranks; rank++)
		for (size_t lane = 0; lane < LANE_N; lane++) {
			const uint8_t kind = node.kinds[rank][lane];
			if (kind == IDLE && lane != LANE_MAIN)
				continue;
			node.lanes[node.n] = (uint8_t)lane;
			node.running[node.n++] = (struct running){kind == IDLE ? OP_SYNC : kind, (uint16_t)rank};
		}
}

/* ---- plain progressive filling */

struct plain_use {
	long double ask, weight;
};

static int by_weight(const void *a, const void *b)
{
	const struct plain_use *const x = a, *const y = b;
	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

/* The level at which a pool is full, INFINITY if it never is: users reach their caps in order of weight. */
static long double plain_level(const struct oracle_pool *pool, const double *cap, const long double *frozen)
{
	static struct plain_use uses[RUNNING_MAX];
	long double left = pool->capacity, all = 0, slope = 0;
	size_t n = 0;
	for (size_t i = 0; i < node.n; i++) {
		const double demand = oracle_demand(pool, &node.running[i], &node.rig.cost);
		if (demand <= 0)
			continue;
		if (frozen[i] >= 0) {
			left -= demand * frozen[i];
			continue;
		}
		uses[n] =
		    (struct plain_use){(long double)demand * cap[i], node.rig.cost.classes[node.running[i].kind].weight};
		all += uses[n].ask;
		slope += uses[n].ask * uses[n].weight;
		n++;
	}
	if (n == 0 || all <= left * (1 + 1e-12L))
		return INFINITY;
	qsort(uses, n, sizeof *uses, by_weight);
	for (size_t i = 0; i < n && uses[i].weight * left >= slope; i++) {
		left -= uses[i].ask;
		slope -= uses[i].ask * uses[i].weight;
	}
	return left / slope;
}

static void plain_speeds(long double *speed)
{
	static struct oracle_pool pools[ORACLE_POOLS_MAX];
	double cap[RUNNING_MAX];
	const size_t n_pools = oracle_pools(pools, &node.rig.cost, node.n_ranks);
	oracle_caps(cap, node.running, node.n, &node.rig.cost);
	for (size_t i = 0; i < node.n; i++)
		speed[i] = -1;
	for (;;) {
		const struct oracle_pool *full = NULL;
		long double lowest = INFINITY;
		for (size_t p = 0; p < n_pools; p++) {
			const long double level = plain_level(&pools[p], cap, speed);
			full = level < lowest ? &pools[p] : full;
			lowest = level < lowest ? level : lowest;
		}
		for (size_t i = 0; i < node.n; i++)
			if (speed[i] < 0 && (!full || oracle_demand(full, &node.running[i], &node.rig.cost) > 0))
				speed[i] = cap[i] * fminl(1, node.rig.cost.classes[node.running[i].kind].weight * lowest);
		if (!full)
			return;
	}
}

/* ---- tests */

/* What nobody runs has no speed: a waiting MAIN only takes a core from others. */
static bool is_wait(size_t i)
{
	return node.kinds[node.running[i].rank][node.lanes[i]] == IDLE;
}

static void compare_with_plain(void)
{
	long double want[RUNNING_MAX];
	plain_speeds(want);
	for (size_t i = 0; i < node.n; i++) {
		const double speed = node.speeds[node.running[i].rank].speed[node.lanes[i]];
		must(is_wait(i) || fabsl(speed - want[i]) <= 1e-12L * want[i],
		    "seed %lu: rank %u, %s runs at %.17g, want %.17Lg", node.seed, node.running[i].rank,
		    op_names[node.running[i].kind], speed, want[i]);
	}
}

static void compare_with_one_question(void)
{
	double want[RUNNING_MAX];
	uint8_t limit[RUNNING_MAX];
	arena_reset(&node.answers);
	shares_allocate(&node.shares, want, limit, node.running, node.n, &node.answers);
	for (size_t i = 0; i < node.n; i++) {
		const struct speeds *const speeds = &node.speeds[node.running[i].rank];
		must(is_wait(i) || (speeds->speed[node.lanes[i]] == want[i] && speeds->limit[node.lanes[i]] == limit[i]),
		    "seed %lu: rank %u, %s runs at %.17g by %d, asked together at %.17g by %d", node.seed,
		    node.running[i].rank, op_names[node.running[i].kind], speeds->speed[node.lanes[i]],
		    speeds->limit[node.lanes[i]], want[i], limit[i]);
	}
}

START_TEST(speeds_are_those_of_plain_filling)
{
	for (unsigned long seed = 1; seed <= 300; seed++) {
		random_node(seed, 1 + seed * 7 % RANKS_MAX);
		start();
		for (size_t instant = 0; instant < 20; instant++) {
			for (size_t n = below(4 * node.n_ranks); n > 0; n--)
				change();
			ask();
			compare_with_plain();
			compare_with_one_question();
		}
	}
}
END_TEST

/* More questions than the table holds: places are given to others, and answers stay right. */
START_TEST(places_are_reused)
{
	random_node(2, 18);
	node.rig.cost.ranks_per_node = 18;
	node.rig.cost.ranks_per_domain = 9;
	node.rig.cost.dram_Bps = 1000;
	start();
	for (size_t instant = 0; instant < 20000; instant++) {
		change();
		ask();
		if (instant % 8 == 0)
			compare_with_one_question();
	}
	ck_assert_uint_gt(node.cache.n_slots, 0);
	ck_assert_uint_gt(node.cache.n_computed, node.cache.n_slots);
}
END_TEST

/* Ranks that nothing changed for are left as they are. */
START_TEST(only_changes_are_answered)
{
	random_node(5, 6);
	node.rig.cost.ranks_per_domain = node.rig.cost.ranks_per_root = 1;
	node.rig.cost.network_Bps = 0;
	start();
	ask();
	ck_assert_uint_eq(node.cache.n_answered, 0);
	speed_cache_start(&node.cache, 4, OP_H2D);
	ask();
	ck_assert_uint_eq(node.cache.n_answered, 1);
	ck_assert_uint_eq(node.cache.answer[0].rank, 4);
}
END_TEST

static void setup(void)
{
	node.rng = gsl_rng_alloc(gsl_rng_taus2);
}

static void teardown(void)
{
	gsl_rng_free(node.rng);
	arena_release(&node.answers);
	arena_release(&node.arena);
}

Suite *speed_cache_suite(void);
Suite *speed_cache_suite(void)
{
	Suite *const suite = suite_create("speed_cache");
	TCase *const core = tcase_create("core");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, speeds_are_those_of_plain_filling);
	tcase_add_test(core, places_are_reused);
	tcase_add_test(core, only_changes_are_answered);
	suite_add_tcase(suite, core);
	return suite;
}
