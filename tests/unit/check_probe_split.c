/* SPDX-License-Identifier: GPL-3.0-or-later
 * Split master parameters in the update runner, on a device made of host memory: one wrong bit is seen wherever it is, and
 * points of one process leave each other numbers. */
#include <stdlib.h>

#include "model/hwprofile.h"
#include "probe/activities.h"
#include "probe/cases.h"
#include "probe/cuda_fake.h"
#include "probe/derive.h"
#include "probe/update_run.h"
#include "tests/unit/test_util.h"

Suite *probe_split_suite(void);

struct rig {
	struct arena arena;
	struct topology topology;
	struct update_rank rank;
	struct update_layout layout;
	struct update_policy policy;
};

static void set_point(struct rig *rig, const char *spec, size_t subgroup_params, size_t n_subgroups)
{
	struct err err;
	const int rc = update_policy_parse(&rig->policy, spec, &rig->arena, &err);
	ck_assert_msg(rc == 0, "%s", err.text);
	rig->layout = update_layout_of(subgroup_params, n_subgroups);
}

static struct rig *rig_new(void)
{
	struct rig *const rig = calloc(1, sizeof *rig);
	struct err err;
	topology_read(&rig->topology);
	const struct update_needs needs = {
	    .elements = 16384, .pitch = 2048, .n_subgroups = 16, .buffers = 4, .grads_fp32 = true, .split = true};
	const int rc = update_rank_open(&rig->rank, &rig->topology, 0, 1, &needs, &err);
	ck_assert_msg(rc == 0, "%s", err.text);
	return rig;
}

static void rig_free(struct rig *rig)
{
	update_rank_close(&rig->rank);
	arena_release(&rig->arena);
	free(rig);
}

static void step(struct rig *rig, int t, float scale)
{
	struct update_run run = {
	    .rank = &rig->rank, .layout = &rig->layout, .policy = &rig->policy, .threads = 2, .scale = scale};
	update_run_open(&run, t);
	update_run_prefetch(&run);
	update_run_step(&run);
	update_run_drain(&run);
	update_run_close(&run);
}

/* ---- one wrong bit */

enum place_of_bit { BIT_LO, BIT_STAGE, BIT_DEVICE, BIT_M, BIT_V, BIT_P };

/* Before the step a bit that rounding cannot hide. */
static void flip(struct rig *rig, enum place_of_bit place, size_t x, size_t i, bool before)
{
	const uint16_t bit = before ? 0x1000 : 1;
	const size_t pitch = rig->layout.pitch, at = pitch * x + i;
	uint32_t *const state = (uint32_t *)(void *)update_state_of(&rig->rank, &rig->layout, x);
	switch (place) {
	case BIT_LO: rig->rank.lo[at] ^= bit; break;
	case BIT_STAGE: rig->rank.stage[at] ^= 1; break;
	case BIT_DEVICE: rig->rank.dev_half[at] ^= 1; break;
	default: state[(size_t)(place - BIT_M) * pitch + i] ^= bit;
	}
}

/* Of hybrid:fraction=0.5 subgroup 0 is the CPU's and 1 the GPU's. What one bit spoils, before the step and after it; a
 * subgroup of the GPU has nothing of its own in stage, and what a push brings replaces what was on the device. */
static const struct {
	enum place_of_bit place;
	size_t x, n_before, n_after;
} flips[] = {
    {BIT_LO, 0, 2, 2}, /* seen with both copies of the high half */
    {BIT_LO, 1, 1, 1},
    {BIT_STAGE, 0, 2, 1},
    {BIT_STAGE, 1, 0, 0},
    {BIT_DEVICE, 0, 0, 1},
    {BIT_DEVICE, 1, 1, 1},
    {BIT_M, 0, 3, 1}, /* m, and p with both */
    {BIT_M, 1, 2, 1},
    {BIT_V, 0, 3, 1},
    {BIT_V, 1, 2, 1},
    {BIT_P, 0, 1, 1},
    {BIT_P, 1, 1, 1},
};

static size_t n_wrong_after(struct rig *rig, enum place_of_bit place, size_t x, size_t i, bool before)
{
	struct update_check check;
	update_rank_reset(&rig->rank, &rig->layout, &rig->policy);
	if (before)
		flip(rig, place, x, i, before);
	step(rig, 1, UPDATE_FIRST_SCALE);
	if (!before)
		flip(rig, place, x, i, before);
	update_rank_verify(&rig->rank, &rig->layout, &rig->policy, &check);
	return check.n_wrong;
}

START_TEST(one_wrong_bit_is_seen)
{
	static const size_t elements[] = {0, 500, 1000};
	struct rig *const rig = rig_new();
	set_point(rig, "hybrid:fraction=0.5,downscale=split", 1001, 4);
	for (size_t i = 0; i < N_ELEMENTS(flips); i++)
		for (size_t at = 0; at < N_ELEMENTS(elements); at++)
			for (int before = 0; before <= 1; before++) {
				const size_t n = n_wrong_after(rig, flips[i].place, flips[i].x, elements[at], before != 0);
				const size_t want = before ? flips[i].n_before : flips[i].n_after;
				ck_assert_msg(n == want,
				    "place %d of subgroup %zu at %zu, %s the step: %zu wrong, want %zu",
				    (int)flips[i].place, flips[i].x, elements[at], before ? "before" : "after", n, want);
			}
	rig_free(rig);
}
END_TEST

/* ---- wrong kernels */

static void adam_without_sign(const struct adam_arrays *x, size_t begin, size_t end) /* of the low half */
{
	for (size_t i = begin; i < end; i++)
		x->hi[i] = (uint16_t)(x->hi[i] + (x->lo[i] >> 15));
	kernels_scalar.adam_split[GRAD_BF16](x, begin, end);
}

static void adam_of_low_halves(const struct adam_arrays *x, size_t begin, size_t end) /* the high ones stay */
{
	for (size_t i = begin; i < end; i++) {
		const uint16_t hi = x->hi[i];
		kernels_scalar.adam_split[GRAD_BF16](x, i, i + 1);
		x->hi[i] = hi;
	}
}

static void adam_cut(const struct adam_arrays *x, size_t begin, size_t end) /* hi cut off instead of rounded */
{
	kernels_scalar.adam_split[GRAD_BF16](x, begin, end);
	for (size_t i = begin; i < end; i++)
		x->hi[i] = (uint16_t)(x->hi[i] - (x->lo[i] >> 15));
}

static void adam_short(const struct adam_arrays *x, size_t begin, size_t end)
{
	kernels_scalar.adam_split[GRAD_BF16](x, begin, end - 1);
}

START_TEST(wrong_kernels_are_seen)
{
	static void (*const wrong[])(const struct adam_arrays *, size_t, size_t) = {
	    adam_without_sign, adam_of_low_halves, adam_cut, adam_short};
	struct rig *const rig = rig_new();
	set_point(rig, "hybrid:fraction=0.5,downscale=split", 1001, 4);
	for (size_t i = 0; i < N_ELEMENTS(wrong); i++) {
		struct kernel_set set = *rig->rank.kernels;
		struct update_check check;
		set.adam_split[GRAD_BF16] = wrong[i];
		const struct kernel_set *const right = rig->rank.kernels;
		rig->rank.kernels = &set;
		update_rank_reset(&rig->rank, &rig->layout, &rig->policy);
		step(rig, 1, UPDATE_FIRST_SCALE);
		update_rank_verify(&rig->rank, &rig->layout, &rig->policy, &check);
		rig->rank.kernels = right;
		ck_assert_msg(check.n_wrong > 0, "kernel %zu", i);
	}
	rig_free(rig);
}
END_TEST

/* ---- what is copied */

/* Four subgroups of the GPU, four of the CPU: 12 bytes a parameter both ways or, where they are split, 10; and pushes. */
START_TEST(split_copies_less)
{
	static const struct {
		const char *spec;
		size_t bytes_per_param;
	} points[] = {{"hybrid:fraction=0.5", 12}, {"hybrid:fraction=0.5,downscale=split", 10},
	    {"dos:stride=2,chain=serial,downscale=fused", 12}, {"dos:stride=2,chain=serial,downscale=split", 10}};
	struct rig *const rig = rig_new();
	for (size_t i = 0; i < N_ELEMENTS(points); i++) {
		set_point(rig, points[i].spec, 1024, 8);
		update_rank_reset(&rig->rank, &rig->layout, &rig->policy);
		const size_t read = fake_read(rig->rank.gpu).bytes, written = fake_written(rig->rank.gpu).bytes;
		step(rig, 1, 1.0F);
		ck_assert_uint_eq(
		    fake_read(rig->rank.gpu).bytes - read, (size_t)4 * 1024 * (points[i].bytes_per_param + 2));
		ck_assert_uint_eq(
		    fake_written(rig->rank.gpu).bytes - written, (size_t)4 * 1024 * points[i].bytes_per_param);
	}
	rig_free(rig);
}
END_TEST

/* ---- points of one process, one after the other */

static void assert_numbers(const struct rig *rig, const char *spec)
{
	const struct update_rank *const rank = &rig->rank;
	const bool split = rig->policy.downscale == DOWNSCALE_SPLIT;
	for (size_t x = 0; x < rig->layout.n_subgroups; x++) {
		const bool on_cpu = update_policy_place(&rig->policy, x, rig->layout.n_subgroups) == PLACE_CPU;
		const float *const state = update_state_of(rank, &rig->layout, x);
		for (size_t i = 0; i < rig->layout.subgroup_params; i++) {
			const size_t at = rig->layout.pitch * x + i;
			const uint16_t hi = on_cpu ? rank->stage[at] : rank->dev_half[at];
			ck_assert_uint_eq(hi, rank->dev_half[at]); /* pushed */
			const float p = split ? split_join(hi, rank->lo[at]) : state[2 * rig->layout.pitch + i];
			ck_assert_msg(fabsf(p) < 1 && fabsf(state[i]) < 1 && fabsf(float_of_bf16(hi)) < 1,
			    "%s: parameter %g of subgroup %zu", spec, (double)p, x);
			ck_assert_msg(state[rig->layout.pitch + i] >= 0, "%s: variance", spec);
		}
	}
}

/* Whole and split parameters, several placements, two layouts; with the state made for every point first, as where results
 * are verified, and without. */
START_TEST(points_leave_numbers)
{
	static const struct {
		const char *spec;
		size_t subgroup_params, n_subgroups;
	} points[] = {{"hybrid:fraction=0.5", 1001, 8}, {"hybrid:fraction=0.25,downscale=split", 1001, 8},
	    {"dos:stride=2", 1001, 8}, {"dos:stride=3,chain=serial,downscale=split", 1001, 8},
	    {"hybrid:fraction=1,downscale=split", 1001, 8}, {"hybrid:fraction=0,downscale=split", 1001, 8},
	    {"hybrid:fraction=0.75", 777, 10}, {"hybrid:fraction=0.25,downscale=split,grads=fp32", 777, 10}};
	for (int verified = 0; verified <= 1; verified++) {
		struct rig *const rig = rig_new();
		for (int repeat = 0; repeat < 3; repeat++)
			for (size_t i = 0; i < N_ELEMENTS(points); i++) {
				set_point(rig, points[i].spec, points[i].subgroup_params, points[i].n_subgroups);
				if ((verified && repeat == 0) || !update_rank_holds(&rig->rank, &rig->layout, &rig->policy))
					update_rank_reset(&rig->rank, &rig->layout, &rig->policy);
				step(rig, repeat + 1, 1.0F);
				assert_numbers(rig, points[i].spec);
			}
		rig_free(rig);
	}
}
END_TEST

/* ---- the case */

/* What other kernels left is no number: the case makes its own, and updates all of it. */
START_TEST(case_measures_numbers)
{
	enum { N = 64 * KERNEL_GRAIN };
	struct harness *const harness = calloc(1, sizeof *harness);
	float *const memory = calloc(7 * N, sizeof *memory);
	struct pool *const pool = &harness->pool;
	topology_read(&harness->topology);
	harness->kernels = kernels_best();
	harness->n_cpus = harness_rank_cpus(harness->cpus, harness, 0);
	*pool = (struct pool){.n = N, .m = memory, .v = memory + N, .p = memory + 2 * N, .g = memory + 3 * N};
	pool->source = memory + 4 * N;
	pool->out = (uint16_t *)(void *)(memory + 5 * N);
	pool->half = pool->out + N;
	pool->g16 = pool->out + 2 * N;
	for (size_t i = 0; i < N; i++) {
		pool->p[i] = 0.5F + (float)i / N;
		pool->out[i] = pool->half[i] = 0xffff;
		pool->g16[i] = bf16_of_float(1e-3F);
	}
	struct cpu_activity activity;
	const struct measured measured = cpu_measured(&activity, harness, CPU_ADAM_SPLIT, 0, 2);
	ck_assert_str_eq(measured.what, "cpu_adam_split");
	ck_assert_double_eq(measured.bytes_per_unit, 26);
	ck_assert_double_eq(measured.flop_per_unit, 15);
	measured.activity.begin(measured.activity.context);
	double n_done = 0;
	while (n_done < N)
		n_done += measured.activity.step(measured.activity.context);
	measured.activity.end(measured.activity.context);
	ck_assert_double_eq(n_done, N);
	for (size_t i = 0; i < N; i++) {
		ck_assert_float_gt(pool->m[i], 0);
		ck_assert_float_eq_tol(split_join(pool->out[i], pool->half[i]), pool->p[i], 0.02F);
		ck_assert_float_eq(pool->p[i], 0.5F + (float)i / N);
	}
	free(memory);
	free(harness);
}
END_TEST

/* A point of each thread count becomes a point of the profile's curve. */
START_TEST(case_becomes_a_curve)
{
	struct harness *const harness = calloc(1, sizeof *harness);
	struct derived *const derived = calloc(1, sizeof *derived);
	harness->results = calloc(HARNESS_RESULTS_MAX, sizeof harness->results[0]);
	harness->n_cpus = 2;
	for (int t = 1; t <= 2; t++) {
		const double rate = 1e9 * t;
		const struct measured measured = {
		    .what = "cpu_adam_split", .x = t, .bytes_per_unit = 26, .unit = UNIT_PARAMS_PER_S};
		harness_record(harness, &case_cpu_adam_split, t == 1 ? "t=1" : "t=2", &measured, &rate, 1);
	}
	derive(derived, harness);
	ck_assert_uint_eq(derived->n_curves, 1);
	ck_assert_str_eq(derived->curves[0].name, "cpu_adam_split");
	ck_assert_uint_eq(derived->curves[0].n, 2);
	ck_assert_double_eq(derived->curves[0].rate[1], 2e9);
	size_t n_known = 0; /* to who reads the profile */
	for (size_t i = 0; i < HW_N_CURVES; i++)
		n_known += strcmp(hw_curve_fields[i].name, derived->curves[0].name) == 0;
	ck_assert_uint_eq(n_known, 1);
	free(harness->results);
	free(harness);
	free(derived);
}
END_TEST

Suite *probe_split_suite(void)
{
	Suite *const suite = suite_create("probe_split");
	TCase *const core = tcase_create("core"), *const measured = tcase_create("measured");
	tcase_add_test(core, one_wrong_bit_is_seen);
	tcase_add_test(core, wrong_kernels_are_seen);
	tcase_add_test(core, split_copies_less);
	tcase_add_test(core, points_leave_numbers);
	tcase_add_test(measured, case_measures_numbers);
	tcase_add_test(measured, case_becomes_a_curve);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, measured);
	return suite;
}
