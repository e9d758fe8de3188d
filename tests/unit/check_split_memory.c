/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ZeRO stages and tensor parallelism: what a rank holds, against numbers worked out beside them and published ones. E27, E29
 */
#include "sim/sharing.h"
#include "tests/unit/split_rig.h"
#include "tests/unit/test_util.h"

static const double exact = 1e-12;
static struct arena arena;
static struct hwprofile hw;
static struct trial_input in;
static struct trial trial;

static void setup(void)
{
	split_setup(&in, &hw);
}

static void teardown(void)
{
	arena_release(&arena);
}

static const struct metrics *run(double stage, double tp)
{
	return split_run(&trial, &in, stage, tp, &arena);
}

/* ---- parameters of a rank, E27 */

START_TEST(parameters_of_a_rank)
{
	run(3, 1);
	ck_assert_double_eq(trial.workload.n_params, 49548288);
	ck_assert_double_eq(trial.workload.tp_params, 49548288);
	ck_assert_double_eq(trial.workload.rank_params, 49548288 / 4.);
	run(3, 2); /* half of the matrices, all of the norms: 8,388,608 + 2048 + 16,384,000 + 1024 */
	ck_assert_double_eq(trial.workload.n_params, 49548288);
	ck_assert_double_eq(trial.workload.tp_params, 24775680);
	ck_assert_double_eq(trial.workload.rank_params, 24775680 / 2.);
	ck_assert_double_eq(workload_layer_params(&trial.workload, 0), 8388608 + 2048);
	run(3, 4);
	ck_assert_double_eq(trial.workload.tp_params, 4194304 + 2048 + 8192000 + 1024);
	ck_assert_double_eq(trial.workload.rank_params, trial.workload.tp_params);
}
END_TEST

/* GPT: biases of the outputs that are divided are divided (3 h + ffn), those behind the sum are not (2 h), nor are positions. */
START_TEST(biases_and_positions)
{
	in.shape = (struct shape){.name = "gpt", .arch = ARCH_GPT, .layers = 1, .hidden = 64, .heads = 4, .ffn = 256, .vocab = 1000,
	    .positions = 128, .is_tied = true, .has_bias = true};
	run(3, 2);
	const double matrices = 4 * 64 * 64 + 2 * 64 * 256, split_biases = 3 * 64 + 256, whole_biases = 2 * 64, norms = 4 * 64;
	ck_assert_double_eq(workload_layer_params(&trial.workload, 0), (matrices + split_biases) / 2 + whole_biases + norms);
	ck_assert_double_eq(workload_layer_params(&trial.workload, TENSOR_NO_LAYER), 1000 * 64 / 2. + 128 * 64 + 2 * 64);
	ck_assert_double_eq(trial.workload.n_params, matrices + split_biases + whole_biases + norms + 1000 * 64 + 128 * 64 + 2 * 64);
}
END_TEST

START_TEST(equal_subgroups)
{
	in.batch.n_subgroups = 3;
	in.batch.subgroup_params = 1e6;
	run(2, 2);
	ck_assert_double_eq(trial.workload.rank_params, 3e6);
	ck_assert_double_eq(trial.workload.tp_params, 6e6);
	ck_assert_double_eq(trial.workload.n_params, 12e6);
	for (size_t i = 0; i < trial.schedule.n_ops; i++) /* an update alone stays what it was */
		ck_assert_int_ne(trial.schedule.ops[i].kind, OP_GATHER);
}
END_TEST

/* ---- memory by stage, E27 */

/* Rajbhandari et al. 2020, figure 1: 7.5 G parameters on 64 GPUs take 31.4, 16.6 and 1.9 GB of model states, with 16-bit gradients of
 * each partition; this ledger has an fp32 gradient there (16 B of states a parameter instead of 12) and no other at stages 2 and 3. */
static const struct {
	double stage, paper_GB, own_GB;
} stages[] = {
    {1, 31.4, 2 * 7.5 + 2 * 7.5 + 16 * 7.5 / 64}, /* 4 + 16/d: Megatron core's figure for its distributed optimizer in fp16 */
    {2, 16.6, 2 * 7.5 + 16 * 7.5 / 64},
    {3, 1.9, 18 * 7.5 / 64},
};

START_TEST(memory_of_the_zero_paper)
{
	const double stage = stages[_i].stage;
	hw.gpus = in.batch.gpus = 64;
	in.shape = shape_preset_find("7b")->shape;
	const struct metrics *const m = run(stage, 1);
	const double *const bytes = m->peak_bytes[POOL_GPU], scale = 7.5 / trial.workload.n_params;
	const double own_GB = scale * (bytes[MEM_PARAMS] + bytes[MEM_GRADS] + bytes[MEM_STATES]);
	const double fp32_grads_GB = scale * 4 * trial.workload.rank_params;
	const double grads_GB = stage == 1 ? 0 : scale * 2 * trial.workload.rank_params;

	assert_rel(own_GB, stages[_i].own_GB, 1e-6);
	ck_assert_double_eq_tol(own_GB - fp32_grads_GB + grads_GB, stages[_i].paper_GB, 0.05); /* as they round */
}
END_TEST

/* Offloaded: the states leave the GPU, the copies of every rank stay. */
START_TEST(memory_with_offload)
{
	in.policy = "zero3-offload:flush=async";
	const double n = 49548288;
	ck_assert_double_eq(run(3, 1)->peak_bytes[POOL_GPU][MEM_PARAMS], 2 * n / 4);
	ck_assert_double_eq(trial.metrics.peak_bytes[POOL_GPU][MEM_GRADS], 0);
	ck_assert_double_gt(trial.metrics.peak_bytes[POOL_GPU][MEM_GATHERED], 0);
	const double host_bytes = trial.metrics.host_peak_bytes;
	ck_assert_double_eq(run(2, 1)->peak_bytes[POOL_GPU][MEM_PARAMS], 2 * n);
	ck_assert_double_eq(trial.metrics.peak_bytes[POOL_GPU][MEM_GRADS], 0);
	ck_assert_double_eq(trial.metrics.peak_bytes[POOL_GPU][MEM_GATHERED], 0);
	ck_assert_double_eq(trial.metrics.host_peak_bytes, host_bytes);
	ck_assert_double_eq(run(1, 1)->peak_bytes[POOL_GPU][MEM_GRADS], 2 * n);
	ck_assert_double_eq(trial.metrics.host_peak_bytes, host_bytes);
	ck_assert_double_eq(run(1, 2)->peak_bytes[POOL_GPU][MEM_PARAMS], 2 * 24775680.);
	ck_assert_double_eq(trial.metrics.peak_bytes[POOL_GPU][MEM_GRADS], 2 * 24775680.);
}
END_TEST

/* Hidden-wide activations are whole on every rank, the others and the logits divided: 2 T (4 h + (q + 2 kv + 3 ffn) / tp), and 2 T h
 * that checkpointing keeps; E23's 6 T vocab. At the peak the layer runs backward: logits gone, its gradients there. */
START_TEST(activations_are_divided)
{
	const double T = 1024, h = 1024;
	for (double tp = 1; tp <= 4; tp *= 2) {
		const struct metrics *const m = run(3, tp);
		const double layer = 2 * T * (4 * h + (3 * h + 3 * 4096) / tp) + 2 * (16777216 / tp + 2048) + 2 * T * h;
		const double logits = 6 * T * 16000 / tp + 2 * T * h;
		assert_rel(m->peak_bytes[POOL_GPU][MEM_ACTIVATIONS], fmax(layer, logits), exact);
	}
}
END_TEST

Suite *split_memory_suite(void);
Suite *split_memory_suite(void)
{
	Suite *const suite = suite_create("split_memory");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, parameters_of_a_rank);
	tcase_add_test(core, biases_and_positions);
	tcase_add_test(core, equal_subgroups);
	tcase_add_loop_test(core, memory_of_the_zero_paper, 0, N_ELEMENTS(stages));
	tcase_add_test(core, memory_with_offload);
	tcase_add_test(core, activations_are_divided);
	suite_add_tcase(suite, core);
	return suite;
}
