/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shares of one resource: worked numbers, edges, and on random users those of a second way, by order of weight. E3
 * The engine's shares of several resources: check_sharing.c, check_speed_cache.c.
 */
#include "model/base/maxmin.h"

#include <float.h>
#include <stdlib.h>

#include "tests/unit/test_util.h"

enum { USERS_MAX = 32, N_SEEDS = 10000 };

START_TEST(the_heaviest_is_at_full_speed_first) /* E3 */
{
	const struct maxmin_user users[] = {{120e9, 1}, {60e9, 1.5}};
	double speeds[2];
	ck_assert(maxmin_speeds(speeds, users, 2, 150e9));
	assert_rel(speeds[0], 0.75, 1e-15);
	ck_assert_double_eq(speeds[1], 1);
	assert_rel(maxmin_level(users, 2, 150e9), 0.75, 1e-15);
	ck_assert(maxmin_speeds(speeds, users, 2, 105e9)); /* now nobody is: (120 + 90) t = 105 */
	assert_rel(speeds[0], 0.5, 1e-15);
	assert_rel(speeds[1], 0.75, 1e-15);
}
END_TEST

START_TEST(no_limit_is_met)
{
	const struct maxmin_user users[] = {{120e9, 1}, {60e9, 1.5}}, idle[] = {{0, 1}, {0, 2}};
	double speeds[2] = {0, 0};
	ck_assert(!maxmin_speeds(speeds, users, 2, 180e9)); /* just enough is enough */
	ck_assert_double_eq(speeds[0], 1);
	ck_assert_double_eq(speeds[1], 1);
	ck_assert(!maxmin_speeds(speeds, users, 2, INFINITY));
	ck_assert_double_eq(speeds[0], 1);
	ck_assert_double_eq(maxmin_level(users, 2, 180e9), DBL_MAX);
	ck_assert_double_eq(maxmin_level(users, 0, 1), DBL_MAX);
	ck_assert(!maxmin_speeds(speeds, idle, 2, 0));
	ck_assert_double_eq(speeds[1], 1);
}
END_TEST

START_TEST(nothing_is_left)
{
	const struct maxmin_user users[] = {{120e9, 1}, {60e9, 1.5}};
	double speeds[2] = {1, 1};
	ck_assert(maxmin_speeds(speeds, users, 2, 0));
	ck_assert_double_eq(speeds[0], 0);
	ck_assert_double_eq(speeds[1], 0);
	ck_assert_double_eq(maxmin_level(users, 2, -1), 0);
	ck_assert_double_eq(maxmin_level(users, 0, -1), DBL_MAX); /* no one waits for what is overdrawn by rounding */
}
END_TEST

/* ---- random users */

static struct problem {
	unsigned seed; /* of rand_r */
	size_t n;
	struct maxmin_user users[USERS_MAX];
	double capacity_Bps;
} problem;

static double uniform(void)
{
	return rand_r(&problem.seed) / (RAND_MAX + 1.0);
}

/* Anything of two decades, or small integers: then several users reach full speed at once. */
static void make(unsigned seed)
{
	const bool has_ties = seed % 2;
	double all_Bps = 0;
	problem.seed = seed;
	problem.n = 1 + (size_t)(USERS_MAX * uniform());
	for (size_t i = 0; i < problem.n; i++) {
		struct maxmin_user *const user = &problem.users[i];
		user->ask_Bps = has_ties ? floor(5 * uniform()) : uniform() < 0.1 ? 0 : pow(10, 2 * uniform());
		user->weight = has_ties ? 1 + floor(3 * uniform()) : pow(4, 2 * uniform() - 1);
		all_Bps += user->ask_Bps;
	}
	problem.capacity_Bps = has_ties ? 1 + floor(all_Bps * uniform()) : all_Bps * (0.01 + 1.1 * uniform());
}

static int heaviest_first(const void *a, const void *b)
{
	const double x = ((const struct maxmin_user *)a)->weight, y = ((const struct maxmin_user *)b)->weight;
	return (x < y) - (x > y);
}

/* The level, from the first k for which the k heaviest at full speed leave the next less than that; INFINITY: never. */
static long double level_by_order(void)
{
	struct maxmin_user users[USERS_MAX];
	long double left_Bps = problem.capacity_Bps;
	memcpy(users, problem.users, sizeof users);
	qsort(users, problem.n, sizeof *users, heaviest_first);
	for (size_t k = 0; k < problem.n; k++) {
		long double slope = 0;
		for (size_t i = k; i < problem.n; i++)
			slope += (long double)users[i].ask_Bps * users[i].weight;
		if (slope > 0 && left_Bps / slope * users[k].weight < 1)
			return left_Bps / slope;
		left_Bps -= users[k].ask_Bps;
	}
	return INFINITY;
}

START_TEST(a_second_way_agrees)
{
	size_t n_full = 0;
	for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
		double speeds[USERS_MAX];
		make(seed);
		const long double level = level_by_order();
		n_full += maxmin_speeds(speeds, problem.users, problem.n, problem.capacity_Bps);
		for (size_t i = 0; i < problem.n; i++)
			assert_rel(speeds[i], (double)fminl(1, problem.users[i].weight * level), 1e-12);
	}
	ck_assert_uint_gt(n_full, N_SEEDS / 2);
	ck_assert_uint_lt(n_full, N_SEEDS);
}
END_TEST

/* Either everybody is at full speed, or exactly the capacity is used. */
START_TEST(capacity_is_used_up)
{
	for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
		double speeds[USERS_MAX], used_Bps = 0, asked_Bps = 0;
		make(seed);
		const bool is_full = maxmin_speeds(speeds, problem.users, problem.n, problem.capacity_Bps);
		for (size_t i = 0; i < problem.n; i++) {
			used_Bps += problem.users[i].ask_Bps * speeds[i];
			asked_Bps += problem.users[i].ask_Bps;
		}
		ck_assert_msg(is_full == (asked_Bps > problem.capacity_Bps), "seed %u", seed);
		assert_rel(used_Bps, is_full ? problem.capacity_Bps : asked_Bps, 1e-12);
	}
}
END_TEST

Suite *maxmin_suite(void);
Suite *maxmin_suite(void)
{
	Suite *const suite = suite_create("maxmin");
	TCase *const core = tcase_create("core"), *const limits = tcase_create("limits");
	TCase *const random = tcase_create("random");
	tcase_add_test(core, the_heaviest_is_at_full_speed_first);
	tcase_add_test(limits, no_limit_is_met);
	tcase_add_test(limits, nothing_is_left);
	tcase_add_test(random, a_second_way_agrees);
	tcase_add_test(random, capacity_is_used_up);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, limits);
	suite_add_tcase(suite, random);
	return suite;
}
