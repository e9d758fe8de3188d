/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ZeRO stages and tensor parallelism: what is sent, when, and what a divided layer takes, against numbers worked out beside them.
 * What a rank holds: check_split_memory.c. E26, E28, E29
 */
#include "model/split.h"
#include "sim/sharing.h"
#include "sim/study/estimate.h"
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

static void refused(const char *text)
{
	struct err err = {0};

	ck_assert_int_eq(trial_run(&trial, &in, &arena, &err), STATUS_USAGE);
	assert_has(err.text, text);
}

/* Of one rank and iteration. */
static size_t count(enum op_kind kind, enum phase phase)
{
	size_t n = 0;

	for (size_t i = 0; i < trial.schedule.n_ops; i++)
		n += trial.schedule.ops[i].kind == kind && trial.schedule.ops[i].phase == phase && trial.schedule.ops[i].iteration == 1;
	return n;
}

/* ---- degrees and names */

START_TEST(degrees)
{
	const struct batch nodes = {.gpus = 8, .nodes = 4, .tp = 2}, none = {.gpus = 8}, some = {.gpus = 8, .tp = 2, .zero_stage = 1}, stage = {.gpus = 8, .zero_stage = 2};

	ck_assert(batch_dp(&none) == 8 && batch_tp(&none) == 1 && batch_zero_stage(&none) == 3 && batch_is_plain(&none));
	ck_assert(batch_dp(&some) == 4 && batch_tp(&some) == 2 && batch_zero_stage(&some) == 1 && !batch_is_plain(&some));
	ck_assert_str_eq(batch_model_name("7b", &none, &arena), "7b");
	ck_assert_str_eq(batch_model_name("7b", &some, &arena), "7b:zero=1,tp=2");
	ck_assert_str_eq(batch_model_name("7b:layers=4", &stage, &arena), "7b:layers=4,zero=2,tp=1");
	ck_assert_str_eq(batch_model_name("7b", &nodes, &arena), "7b:zero=3,tp=2");
	ck_assert_double_eq(batch_dp(&nodes), 16);
}
END_TEST

static const struct {
	double gpus, heads, kv_heads, ffn, vocab, tp;
	const char *text;
} misfits[] = {
    {6, 8, 8, 4096, 16000, 4, "--tp 4 does not divide --gpus 6"},
    {3, 8, 8, 4096, 16000, 3, "--tp 3 does not divide --heads 8"},
    {4, 8, 2, 4096, 16000, 4, "--tp 4 does not divide --kv-heads 2"},
    {4, 8, 8, 4098, 16000, 4, "--tp 4 does not divide --ffn 4098"},
    {4, 8, 8, 4096, 50257, 4, "--vocab 50260, padded, would be accepted"},
    {4, 8, 8, 4096, 16000, 8, "--tp 8 does not divide --gpus 4"},
};

START_TEST(what_does_not_divide_is_refused)
{
	hw.gpus = 8;
	in.batch.gpus = misfits[_i].gpus;
	in.batch.tp = misfits[_i].tp;
	in.shape.heads = misfits[_i].heads;
	in.shape.kv_heads = misfits[_i].kv_heads;
	in.shape.ffn = misfits[_i].ffn;
	in.shape.vocab = misfits[_i].vocab;
	refused(misfits[_i].text);
}
END_TEST

START_TEST(other_values_are_refused)
{
	in.batch.zero_stage = 4;
	refused("--zero 4");
	in.batch.zero_stage = 1.5;
	refused("--zero 1.5");
	in.batch.zero_stage = 2;
	in.policy = "dos";
	refused("chain=serial or chain=duplex would be accepted");
	in.policy = "dos:chain=duplex,stride=0";
	run(2, 1);
}
END_TEST

/* ---- what is gathered, E26 */

START_TEST(gathered_bytes)
{
	const struct workload w = {.batch = {.gpus = 8, .tp = 2, .zero_stage = 2}, .tp_params = 1.5e9};
	struct workload stage3 = w;

	stage3.batch.zero_stage = 3;
	ck_assert_double_eq(split_update_gather_bytes(&w), 2.25e9);
	ck_assert_double_eq(split_gather_bytes(&w, 1e9), 0);
	ck_assert_double_eq(split_update_gather_bytes(&stage3), 0);
	ck_assert_double_eq(split_gather_bytes(&stage3, 1.5e9), 2.25e9);
}
END_TEST

static const char *const any_stage[] = {"gpu-only", "zero3-offload", "zero3-offload:flush=async", "twinflow:ratio=0.5",
    "twinflow:ratio=0.5,mode=parallel", "dos:chain=duplex,stride=2", "dos:chain=serial,stride=2", "hybrid:fraction=0.5"};

/* Stages 1 and 2 gather nothing in forward and backward, and once after the update, which is longer by that and by nothing else. */
START_TEST(one_gather_after_the_update)
{
	in.policy = any_stage[_i];
	in.batch.subgroup_params = 4e6;
	const double update_s = run(3, 1)->update_s;
	ck_assert_uint_eq(count(OP_GATHER, PHASE_FORWARD), 2); /* layer and head */
	ck_assert_uint_eq(count(OP_GATHER, PHASE_BACKWARD), 1);
	ck_assert_uint_eq(count(OP_GATHER, PHASE_UPDATE), 0);
	const double gather_s = 2 * 49548288. * 3 / 4 / 100e9;
	for (double stage = 1; stage <= 2; stage++) {
		assert_rel(run(stage, 1)->update_s, update_s + gather_s, 1e-9);
		ck_assert_uint_eq(count(OP_GATHER, PHASE_FORWARD) + count(OP_GATHER, PHASE_BACKWARD), 0);
		ck_assert_uint_eq(count(OP_GATHER, PHASE_UPDATE), 1);
		assert_rel(trial.metrics.iteration_s, trial.metrics.forward_s + trial.metrics.backward_s + trial.metrics.update_s, exact);
	}
	run(2, 4);
	ck_assert_uint_eq(count(OP_GATHER, PHASE_UPDATE), 0); /* one data-parallel rank has nothing to gather */
}
END_TEST

/* The new parameters must be there before they are sent: the all-gather starts behind every push. */
START_TEST(the_gather_follows_the_pushes)
{
	in.policy = any_stage[_i];
	in.batch.subgroup_params = 4e6;
	run(2, 1);
	double pushed_s = 0, gather_s = 0;
	for (size_t i = 0; i < trial.schedule.n_ops; i++) {
		const struct op *const op = &trial.schedule.ops[i];
		if (op->iteration != 1 || op->phase != PHASE_UPDATE)
			continue;
		if (op->kind == OP_GATHER)
			gather_s = trial.timeline.start_s[i];
		else if (op->flags & OP_IS_PUSH || op->kind == OP_GPU_ADAM || op->kind == OP_PUSH_PAGEABLE)
			pushed_s = fmax(pushed_s, trial.timeline.end_s[i]);
	}
	ck_assert_double_gt(pushed_s, 0);
	ck_assert_double_ge(gather_s, pushed_s);
}
END_TEST

/* Uncontended and without launches: what the closed form says is what runs, at every stage. */
START_TEST(closed_form_has_the_gather)
{
	const double stage = 1 + _i % 3;
	in.policy = _i < 3 ? "zero3-offload" : "twinflow:ratio=0.5";
	in.batch.subgroup_params = 4e6;
	const double update_s = run(stage, 1)->update_s;
	struct estimate e;
	struct stride_curve curve = {.cost = NULL};
	struct err err = {0};
	ck_assert_int_eq(estimate_update(&e, &curve, &trial.use, &trial.cost, &trial.workload, false, &err), 0);
	assert_rel(update_s, e.update_s, 1e-9);
}
END_TEST

/* ---- gradients by stage */

/* Two micro-batches: stage 1 reduces once, the others each time and stage 3 with its round trip. D2H and H2D of a rank. */
static const struct {
	double stage;
	size_t n_reduced;
	double down_per_param, up_per_param; /* in backward */
} flushes[] = {{1, 1, 4, 0}, {2, 2, 2 + 4, 2}, {3, 2, 2 + 2 + 4, 2 + 2}};

START_TEST(gradients_leave_by_stage)
{
	in.policy = "zero3-offload:flush=async";
	in.batch.grad_accum = 2;
	run(flushes[_i].stage, 1);
	const double n = trial.workload.rank_params;
	ck_assert_uint_eq(count(OP_REDUCE, PHASE_BACKWARD), flushes[_i].n_reduced); /* one bucket a micro-batch */
	assert_rel(trial.metrics.d2h_bytes, flushes[_i].down_per_param * n, exact);
	assert_rel(trial.metrics.h2d_bytes, (flushes[_i].up_per_param + 2) * n, exact); /* with the push of the update */
}
END_TEST

/* ---- tensor parallelism, E28 and E29 */

START_TEST(reduced_bytes)
{
	const struct workload w = {.batch = {.gpus = 2, .tp = 2, .mbs = 1, .seq = 1024}, .shape = {.hidden = 1024}};

	ck_assert_double_eq(split_reduce_bytes(&w), 2097152);
}
END_TEST

/* E6's layer halved: 386.54705664 us at 100 TFLOP/s. */
START_TEST(times_of_divided_layers)
{
	in.shape.heads = 16;
	run(3, 1);
	assert_rel(trial.cost.layer_forward_s, 386.54705664e-6, exact);
	const double head_s = trial.cost.head_forward_s;
	run(3, 2);
	assert_rel(trial.cost.layer_forward_s, 193.27352832e-6, exact);
	assert_rel(trial.cost.layer_backward_s, 386.54705664e-6, exact);
	assert_rel(trial.cost.head_forward_s, head_s / 2, exact);
	/* a small product runs at a lower rate: 1024 x 1024 x 2048 and the like are read off the curve as they are */
	hw.gemm = (struct curve){.kind = CURVE_SIZE, .n_points = 2, .x = {512, 2048}, .rate = {50e12, 100e12}};
	run(3, 2);
	const double products[][2] = {{1024. * 1536 * 1024, 1}, {1024. * 1024 * 512, 1}, {1024. * 4096 * 1024, 1}, {1024. * 1024 * 2048, 1},
	    {1024. * 1024 * 64 * 8, 2}};
	double s = 0;
	for (size_t i = 0; i < N_ELEMENTS(products); i++)
		s += products[i][1] * 2 * products[i][0] / curve_rate(&hw.gemm, cbrt(products[i][0]));
	assert_rel(trial.cost.layer_forward_s, s, exact);
}
END_TEST

/* Two all-reduces a layer and pass, again when recomputed, and one each of embedding and head; in series with the compute. */
START_TEST(all_reduces_are_exposed)
{
	in.shape.layers = 3;
	in.batch.gpus = 2;
	hw.all_gather_Bps = 1e9;
	const double reduce_s = 2097152 / 1e9;
	for (int has_ckpt = 0; has_ckpt < 2; has_ckpt++) {
		in.batch.has_checkpointing = has_ckpt;
		const struct metrics *const m = run(1, 2);
		ck_assert_uint_eq(count(OP_TP_REDUCE, PHASE_FORWARD), 1 + 3);
		ck_assert_uint_eq(count(OP_TP_REDUCE, PHASE_BACKWARD), 1 + 3);
		assert_rel(m->forward_s, 3 * trial.cost.layer_forward_s + trial.cost.head_forward_s + (1 + 3 * 2) * reduce_s, 1e-9);
		assert_rel(m->backward_s, 3 * (trial.cost.layer_backward_s + has_ckpt * trial.cost.layer_forward_s) +
		    trial.cost.head_backward_s + (1 + 3 * (has_ckpt ? 4 : 2)) * reduce_s, 1e-9);
	}
}
END_TEST

START_TEST(model_flop_does_not_depend_on_the_split)
{
	run(3, 1);
	const double flop = workload_model_flop(&trial.workload);
	run(2, 2); /* half as many sequences */
	ck_assert_double_eq(workload_model_flop(&trial.workload), flop / 2);
}
END_TEST

/* ---- nothing changes where nothing is said */

START_TEST(said_or_not_is_the_same)
{
	in.policy = policy_all[_i]->name;
	in.batch.subgroup_params = 4e6;
	run(0, 0);
	const struct metrics without = trial.metrics;
	const unsigned long long hash = trial.workload.content_hash;
	run(3, 1);
	ck_assert(trial.workload.content_hash == hash);
	ck_assert(without.iteration_s == trial.metrics.iteration_s && without.update_s == trial.metrics.update_s);
	ck_assert(without.gpu_peak_bytes == trial.metrics.gpu_peak_bytes && without.host_peak_bytes == trial.metrics.host_peak_bytes);
	ck_assert(without.n_ops == trial.metrics.n_ops);
	in.policy = "gpu-only";
	run(2, 1);
	ck_assert(trial.workload.content_hash != hash);
	const unsigned long long stage_hash = trial.workload.content_hash;
	run(2, 2);
	ck_assert(trial.workload.content_hash != stage_hash && trial.workload.content_hash != hash);
}
END_TEST

static int n_all(void)
{
	int n = 0;

	while (policy_all[n])
		n++;
	return n;
}

Suite *split_suite(void);
Suite *split_suite(void)
{
	Suite *const suite = suite_create("split");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, degrees);
	tcase_add_test(core, gathered_bytes);
	tcase_add_loop_test(core, one_gather_after_the_update, 0, N_ELEMENTS(any_stage));
	tcase_add_loop_test(core, the_gather_follows_the_pushes, 0, N_ELEMENTS(any_stage));
	tcase_add_loop_test(core, closed_form_has_the_gather, 0, 6);
	tcase_add_loop_test(core, gradients_leave_by_stage, 0, N_ELEMENTS(flushes));
	tcase_add_test(core, reduced_bytes);
	tcase_add_test(core, times_of_divided_layers);
	tcase_add_test(core, all_reduces_are_exposed);
	tcase_add_test(core, model_flop_does_not_depend_on_the_split);
	tcase_add_loop_test(core, said_or_not_is_the_same, 0, n_all());
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, setup, teardown);
	tcase_add_loop_test(errors, what_does_not_divide_is_refused, 0, N_ELEMENTS(misfits));
	tcase_add_test(errors, other_values_are_refused);
	suite_add_tcase(suite, errors);
	return suite;
}
