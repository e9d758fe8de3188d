/* SPDX-License-Identifier: GPL-3.0-or-later
 * Unchanged replay on recordings of known structure, and what a recording says of model, policy and machine. */
#include "sim/study/replay.h"

#include "sim/sharing.h"
#include "sim/study/replay_check.h"
#include "sim/study/trial.h"
#include "tests/unit/test_util.h"
#include "traces/reader.h"

Suite *replay_suite(void);

#define FILES "tests/data/traces/"

static struct recording rec;
static struct arena arena;
static struct err err;

static void teardown(void)
{
	recording_release(&rec);
	arena_release(&arena);
}

/* Kernels of held-out iterations differ by a few microseconds of 10 ms; a simulated timeline repeats itself exactly. */
static const struct {
	const char *file;
	double tolerance;
} unchanged[] = {
    {FILES "kineto_relative.json", 0.02},
    {FILES "kineto_int_us.json", 0.02},
    {FILES "kineto_offload.json", 0.05},
    {FILES "deepspeed_megatron.log", 0.001},
    {FILES "simulated.json", 0.001},
    {FILES "simulated.csv", 0.001},
};

START_TEST(unchanged_replay)
{
	struct replay_check check;

	ck_assert_msg(recording_load(&rec, unchanged[_i].file, &err) == 0, "%s", err.text);
	replay_check_run(&check, &rec);
	ck_assert(check.has_run && check.by_iteration);
	ck_assert_msg(
	    fabs(check.error_frac) <= unchanged[_i].tolerance, "%s: off by %.4f", unchanged[_i].file, check.error_frac);
}
END_TEST

START_TEST(update_of_an_offloaded_run)
{
	struct replay_update update;

	ck_assert_msg(recording_load(&rec, FILES "kineto_offload.json", &err) == 0, "%s", err.text);
	ck_assert(replay_update_find(&update, &rec, &arena));
	ck_assert_uint_eq(update.n, 6);
	ck_assert_uint_eq(update.n_streamed, 0);
	assert_rel(update.total_params, 6e6, 0);
	assert_rel(update.first_push_s, 0.032, 1e-9);
	assert_rel(update.push_s_per_param, 4e-9, 1e-9);
	ck_assert_str_eq(replay_update_policy(&update, &arena), "dos:stride=0,chain=serial,grads=fp32");
}
END_TEST

/* Adam ends one downscale before the first push: 6 M parameters in 28 ms, then 1 M each 4 ms. */
START_TEST(machine_of_an_offloaded_run)
{
	struct replay_update update;
	struct replay_measured measured;

	ck_assert_msg(recording_load(&rec, FILES "kineto_offload.json", &err) == 0, "%s", err.text);
	ck_assert(replay_update_find(&update, &rec, &arena));
	replay_measured_take(&measured, &rec, &update);
	assert_rel(measured.adam_params_per_s, 6e6 / 0.028, 1e-9);
	assert_rel(measured.downscale_params_per_s, 1e6 / 0.004, 1e-9);
	ck_assert(measured.h2d_Bps == 0); /* too small to tell */
}
END_TEST

START_TEST(passes_of_a_timeline)
{
	struct replay_passes passes;

	ck_assert_msg(recording_load(&rec, FILES "kineto_offload.json", &err) == 0, "%s", err.text);
	ck_assert(replay_passes_take(&passes, &rec, 2, false)); /* two micro-batches */
	assert_rel(passes.passes.forward_s, 6 * 300e-6, 1e-9);
	assert_rel(passes.passes.backward_s, 6 * 700e-6, 1e-9);
	assert_rel(passes.passes.forward_launch_s, 4e-3, 1e-9);
	assert_rel(passes.passes.backward_launch_s, 7.998e-3 - 30e-6, 1e-9);
	assert_rel(passes.gemm_frac, 1, 0);
	replay_passes_scale(&passes, 2, 4);
	assert_rel(passes.passes.forward_s, 3 * 300e-6, 1e-9);
}
END_TEST

START_TEST(passes_of_a_log)
{
	struct replay_passes passes;

	ck_assert_msg(recording_load(&rec, FILES "deepspeed_megatron.log", &err) == 0, "%s", err.text);
	ck_assert(replay_passes_take(&passes, &rec, 2, true));
	assert_rel(passes.passes.forward_s, 0.203 / 2, 1e-9);
	assert_rel(passes.passes.backward_s, 3 * 0.203 / 2, 1e-9);
	ck_assert(passes.is_backward_assumed);
}
END_TEST

/* A what-if keeps the recorded passes: without contention forward is the longer of compute and launch. */
START_TEST(what_if_keeps_passes)
{
	const struct batch batch = {.gpus = 1, .mbs = 1, .grad_accum = 2, .seq = 2048};
	struct replay_update update;
	struct replay_passes passes;
	struct workload workload;
	struct hwprofile hw;
	struct trial trial;

	ck_assert_msg(recording_load(&rec, FILES "kineto_offload.json", &err) == 0, "%s", err.text);
	ck_assert(replay_update_find(&update, &rec, &arena));
	ck_assert(replay_passes_take(&passes, &rec, 2, false));
	replay_update_workload(&workload, &update, &batch, &arena);
	ck_assert_msg(hwprofile_load(&hw, "tests/data/tiny.json", &arena, &err) == 0, "%s", err.text);
	const struct trial_input input = {
	    .hw = &hw, .workload = &workload, .recorded = &passes.passes, .policy = "gpu-only", .sharing = &sharing_none};
	ck_assert_msg(trial_run(&trial, &input, &arena, &err) == 0, "%s", err.text);
	assert_rel(trial.metrics.forward_s, 2 * 4e-3, 1e-6);
	assert_rel(trial.metrics.backward_s, 2 * (7.998e-3 - 30e-6), 1e-2);
	ck_assert_uint_eq(trial.workload.n_subgroups, 6);
}
END_TEST

START_TEST(gpus_by_name)
{
	double flop_per_s, hbm_Bps;

	ck_assert(replay_gpu_rates(&flop_per_s, &hbm_Bps, "NVIDIA A100-PG509-200") && flop_per_s == 312e12);
	ck_assert(replay_gpu_rates(&flop_per_s, &hbm_Bps, "NVIDIA A10") && flop_per_s == 125e12);
	ck_assert(replay_gpu_rates(&flop_per_s, &hbm_Bps, "NVIDIA H100 80GB HBM3") && flop_per_s == 989e12);
	ck_assert(!replay_gpu_rates(&flop_per_s, &hbm_Bps, "AMD Radeon Graphics"));
	ck_assert(!replay_gpu_rates(&flop_per_s, &hbm_Bps, ""));
}
END_TEST

Suite *replay_suite(void)
{
	Suite *const suite = suite_create("replay");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_loop_test(core, unchanged_replay, 0, (int)N_ELEMENTS(unchanged));
	tcase_add_test(core, update_of_an_offloaded_run);
	tcase_add_test(core, machine_of_an_offloaded_run);
	tcase_add_test(core, passes_of_a_timeline);
	tcase_add_test(core, passes_of_a_log);
	tcase_add_test(core, what_if_keeps_passes);
	tcase_add_test(core, gpus_by_name);
	suite_add_tcase(suite, core);
	return suite;
}
