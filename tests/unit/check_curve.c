/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/curve.h"

#include "tests/unit/test_util.h"

/* 10 us + n / 50 GB/s at every point: between them the rule must give exactly that. */
static double transfer_rate(double bytes)
{
	return bytes / (10e-6 + bytes / 50e9);
}

static struct curve transfer_curve(void)
{
	static const double sizes[] = {1e4, 1e6, 1e7, 1e9};
	struct curve curve = {.kind = CURVE_TRANSFER};

	for (size_t i = 0; i < N_ELEMENTS(sizes); i++) {
		curve.x[i] = sizes[i];
		curve.rate[i] = transfer_rate(sizes[i]);
	}
	curve.n_points = N_ELEMENTS(sizes);
	return curve;
}

static const struct curve threads = {CURVE_THREADS, 3, {2, 4, 16}, {10, 30, 60}};
static const struct curve size = {CURVE_SIZE, 3, {10, 1000, 10000}, {100, 300, 200}};
static const struct curve single = {CURVE_TRANSFER, 1, {1e6}, {25e9}};

/* E2: latency + size / bandwidth is reproduced between points */
START_TEST(transfer_is_linear_in_time)
{
	static const double sizes[] = {1e4, 12345, 5e5, 1e6, 2e6, 3.3e7, 5e8, 1e9};
	const struct curve curve = transfer_curve();

	assert_rel(curve_rate(&curve, sizes[_i]), transfer_rate(sizes[_i]), 1e-12);
}
END_TEST

START_TEST(transfer_outside)
{
	const struct curve curve = transfer_curve();
	const double first_s = curve.x[0] / curve.rate[0];

	assert_rel(1 / curve_rate(&curve, 1), first_s, 1e-12); /* a byte takes as long as the smallest measured copy */
	assert_rel(5000 / curve_rate(&curve, 5000), first_s, 1e-12);
	assert_rel(curve_rate(&curve, 1e12), curve.rate[3], 0);
}
END_TEST

struct point {
	const struct curve *curve;
	double x, want;
};
static const struct point points[] = {
    /* E2: proportional below, linear inside, flat above */
    {&threads, 1, 5},
    {&threads, 2, 10},
    {&threads, 3, 20},
    {&threads, 4, 30},
    {&threads, 10, 45},
    {&threads, 16, 60},
    {&threads, 64, 60},
    /* linear in log x, flat outside */
    {&size, 1, 100},
    {&size, 10, 100},
    {&size, 100, 200},
    {&size, 1000, 300},
    {&size, 3162.2776601683795, 250},
    {&size, 10000, 200},
    {&size, 1e9, 200},
    /* one point */
    {&single, 1e6, 25e9},
    {&single, 1e5, 2.5e9},
    {&single, 1e9, 25e9},
};

START_TEST(rules)
{
	assert_rel(curve_rate(points[_i].curve, points[_i].x), points[_i].want, 1e-12);
}
END_TEST

START_TEST(every_point_is_met)
{
	struct curve curve = {.kind = (enum curve_kind)_i, .n_points = CURVE_POINTS_MAX};

	for (size_t i = 0; i < CURVE_POINTS_MAX; i++) {
		curve.x[i] = 1 + (double)(i * i);
		curve.rate[i] = 1 + (double)((i * 37) % 11);
	}
	for (size_t i = 0; i < CURVE_POINTS_MAX; i++)
		assert_rel(curve_rate(&curve, curve.x[i]), curve.rate[i], 1e-12);
}
END_TEST

START_TEST(peak_and_scale)
{
	struct curve curve = size;

	assert_rel(curve_peak(&curve), 300, 0);
	curve_scale(&curve, 2);
	assert_rel(curve_peak(&curve), 600, 0);
	assert_rel(curve_rate(&curve, 100), 400, 1e-12);
	ck_assert_uint_eq(curve.n_points, 3);
}
END_TEST

START_TEST(no_points_is_a_bug)
{
	const struct curve empty = {.kind = CURVE_SIZE};

	curve_rate(&empty, 1);
}
END_TEST

Suite *curve_suite(void);
Suite *curve_suite(void)
{
	Suite *const suite = suite_create("curve");
	TCase *const core = tcase_create("core");
	TCase *const limits = tcase_create("limits");

	tcase_add_loop_test(core, transfer_is_linear_in_time, 0, 8);
	tcase_add_loop_test(core, rules, 0, N_ELEMENTS(points));
	tcase_add_test(core, peak_and_scale);
	suite_add_tcase(suite, core);
	tcase_add_test(limits, transfer_outside);
	tcase_add_loop_test(limits, every_point_is_met, CURVE_TRANSFER, CURVE_SIZE + 1);
	tcase_add_test_raise_signal(limits, no_points_is_a_bug, 6);
	suite_add_tcase(suite, limits);
	return suite;
}
