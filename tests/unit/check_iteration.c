/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whole iterations against sums worked out beside them, on the plain machine: forward and backward, gradient flush, accumulation, timers,
 * what the metrics say of them. GPU times of a layer and of the head are the cost's (E6); here is when they run.
 */
#include "sim/sharing.h"
#include "sim/study/estimate.h"
#include "sim/study/trial.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

static struct arena arena;
static struct hwprofile hw;
static struct trial trial;
static struct trial_input in;

/* 3 layers of 1024, 83,888,128 parameters on one GPU: one gradient bucket, which the embedding closes behind layer 0. */
static void setup(void)
{
	plain_machine(&hw);
	in = (struct trial_input){.hw = &hw, .sharing = &sharing_none};
	in.shape = (struct shape){.name = "small", .layers = 3, .hidden = 1024, .heads = 8, .ffn = 4096, .vocab = 16000};
	in.batch = (struct batch){.gpus = 1, .seq = 1024, .subgroup_params = 20e6, .has_checkpointing = true};
}

static void teardown(void)
{
	arena_release(&arena);
}

static const struct metrics *run(const char *policy)
{
	struct err err = {0};
	in.policy = policy;
	ck_assert_msg(trial_run(&trial, &in, &arena, &err) == 0, "%s", err.text);
	return &trial.metrics;
}

static double forward_s(void)
{
	return 3 * trial.cost.layer_forward_s + trial.cost.head_forward_s;
}

static double backward_s(void)
{
	return 3 * (trial.cost.layer_backward_s + trial.cost.layer_forward_s) + trial.cost.head_backward_s;
}

/* ---- forward and backward */

START_TEST(gpu_bound_passes)
{
	const struct metrics *const m = run("gpu-only");
	assert_rel(m->forward_s, forward_s(), 1e-12);
	assert_rel(m->backward_s, backward_s(), 1e-12);
	assert_rel(m->update_s, trial.workload.rank_params / 100e9, 1e-12);
	ck_assert_double_eq(m->other_s, 0);
	ck_assert_int_eq(m->bottleneck, RES_GPU);
	assert_rel(m->busy_frac[LANE_GPU], 1, 1e-12);
	assert_rel(m->path_s[RES_GPU], forward_s() + backward_s(), 1e-12);
	assert_rel(m->path_s[RES_HBM], m->update_s, 1e-12);
	assert_rel(m->peak_bytes[POOL_GPU][MEM_BUCKETS], 2 * trial.workload.n_params, 1e-12);
}
END_TEST

/* The GPU does a layer while the host launches it: three launches, then the head. Backward recomputes, so both launches add up; nothing
 * follows the last layer. */
START_TEST(launch_bound_passes)
{
	hw.layer_forward_launch_s = 0.1;
	hw.layer_backward_launch_s = 0.2;
	const struct metrics *const m = run("gpu-only");
	assert_rel(m->forward_s, 3 * 0.1 + trial.cost.head_forward_s, 1e-12);
	assert_rel(m->backward_s, 3 * 0.3, 1e-12);
	ck_assert_int_eq(m->bottleneck, RES_MAIN);
}
END_TEST

START_TEST(without_checkpointing_nothing_is_done_again)
{
	in.batch.has_checkpointing = false;
	hw.layer_forward_launch_s = 0.1;
	hw.layer_backward_launch_s = 0.2;
	assert_rel(run("gpu-only")->backward_s, 3 * 0.2, 1e-12);
	hw.layer_forward_launch_s = hw.layer_backward_launch_s = 0;
	assert_rel(run("gpu-only")->backward_s, backward_s() - 3 * trial.cost.layer_forward_s, 1e-12);
}
END_TEST

/* Two GPUs gather every layer before it runs; what is gathered ahead is hidden behind the layer before. Received: half of 2 B. */
START_TEST(gathers_are_prefetched)
{
	hw.gpus = 2;
	in.batch.gpus = 2;
	hw.all_gather_Bps = 1e3;
	const struct metrics *const slow = run("gpu-only");
	const double layer_s = workload_layer_params(&trial.workload, 0) / 1e3, head_s = 16000. * 1024 / 1e3;
	assert_rel(slow->forward_s, 3 * layer_s + head_s + trial.cost.head_forward_s, 1e-9);
	ck_assert_int_eq(slow->bottleneck, RES_NET);
	hw.all_gather_Bps = 1e15;
	assert_rel(run("gpu-only")->forward_s, forward_s(), 1e-3);
}
END_TEST

/* ---- gradients, E7 with one bucket behind all of backward: 2 B down, 2 up, norm, and what the host needs */

static double round_trip_s(void)
{
	return trial.workload.rank_params * (2 / 50e9 + 2 / 50e9 + 2 / 3000e9);
}

START_TEST(flush_of_one_bucket)
{
	const double n = run("zero3-offload")->iteration_s > 0 ? trial.workload.rank_params : 0;
	assert_rel(trial.metrics.backward_s, backward_s() + round_trip_s() + n / 2e9, 1e-12);
	assert_rel(run("zero3-offload:flush=async")->backward_s, backward_s() + round_trip_s() + 4 * n / 50e9, 1e-12);
	assert_rel(run("dos:stride=1")->backward_s, backward_s() + round_trip_s(), 1e-12);
	assert_rel(run("dos:stride=0,grads=bf16")->backward_s, backward_s() + round_trip_s() + 2 * n / 50e9, 1e-12);
	assert_rel(run("hybrid:fraction=0")->backward_s, backward_s() + n * (2 / 3000e9 + 2 / 50e9), 1e-12);
	assert_rel(run("hybrid:fraction=1")->backward_s, backward_s() + n * 2 / 3000e9, 1e-12);
}
END_TEST

/* flush=direct: each tensor by itself and down only; what the first layer and the embedding leave ends backward. */
START_TEST(flush_of_tensors)
{
	run("dos:stride=0,grads=bf16,flush=direct");
	const struct workload *const w = &trial.workload;
	const struct schedule *const s = &trial.schedule;
	const double last_params = workload_layer_params(w, 0) + w->shape.vocab * w->shape.hidden;
	size_t n_flushed = 0, n_up = 0;
	for (size_t i = 0; i < s->n_ops; i++) {
		n_flushed += s->ops[i].phase == PHASE_BACKWARD && s->ops[i].kind == OP_D2H;
		n_up += s->ops[i].phase == PHASE_BACKWARD && s->ops[i].kind == OP_H2D;
	}
	ck_assert_uint_eq(n_flushed, ITERATIONS * w->n_tensors);
	ck_assert_uint_eq(n_up, 0);
	assert_rel(trial.metrics.backward_s, backward_s() + last_params * (2 / 50e9 + 2 / 3000e9), 1e-12);
	assert_rel(run("dos:stride=1,flush=direct")->backward_s, backward_s() + last_params * 2 / 3000e9, 1e-12);
}
END_TEST

/* From the last tensor to the first, a bucket closes before the tensor that would take it beyond 5e8. E7 */
START_TEST(buckets_close_before_they_overfill)
{
	in.shape = (struct shape){.name = "large", .layers = 9, .hidden = 4096, .heads = 32, .ffn = 11008, .vocab = 150000};
	in.batch.grad_accum = 2;
	run("gpu-only");
	const struct workload *const w = &trial.workload;
	const struct schedule *const s = &trial.schedule;
	size_t tensor = w->n_tensors, n_buckets = 0;
	for (size_t i = 0; i < s->n_ops; i++) {
		double params = 0;
		if (s->ops[i].kind != OP_REDUCE)
			continue;
		while (tensor > 0 && (params == 0 || params + w->tensors[tensor - 1].n_params <= 5e8))
			params += w->tensors[--tensor].n_params;
		assert_rel(s->ops[i].amount, params, 1e-12);
		tensor = tensor > 0 ? tensor : w->n_tensors; /* the next micro-batch */
		n_buckets++;
	}
	ck_assert_uint_eq(n_buckets, 3 * 2 * 6); /* head 614 M; 9 layers of 202 M in four; embedding */
	ck_assert_double_eq(trial.metrics.peak_bytes[POOL_GPU][MEM_BUCKETS], 1e9);
}
END_TEST

/* Accumulating: every micro-batch but the last brings 2 B down, every one but the first 2 B up to be added to. The blocking host copy is
 * the last's alone. */
START_TEST(accumulation_adds_up_passes)
{
	const double n_micro = 5;
	in.batch.grad_accum = n_micro;
	const struct metrics *const m = run("zero3-offload");
	const double n = trial.workload.rank_params;
	assert_rel(m->forward_s, n_micro * forward_s(), 1e-9);
	assert_rel(m->backward_s,
	    n_micro * backward_s() + n * (n_micro * 2 / 50e9 + (n_micro - 1) * 2 / 50e9 + 2 / 50e9 + 2 / 3000e9) + n / 2e9,
	    1e-9);
	assert_rel(m->update_s, n * (1 / 10e9 + 1 / 2.5e9 + 1 / 5e9), 1e-9);
	assert_rel(run("gpu-only")->backward_s, n_micro * backward_s(), 1e-9);
}
END_TEST

START_TEST(many_micro_batches)
{
	in.batch.grad_accum = 2000;
	const struct metrics *const m = run("gpu-only");
	assert_rel(m->forward_s, 2000 * forward_s(), 1e-9);
	assert_rel(m->backward_s, 2000 * backward_s(), 1e-9);
}
END_TEST

/* ---- start of the step, what is not training, timers */

START_TEST(step_starts_and_reports)
{
	const double before_s = run("gpu-only")->update_s, n_subgroups = (double)trial.workload.n_subgroups;
	hw.step_fixed_s = 0.01;
	hw.step_subgroup_s = 0.001;
	hw.other_s = 0.25;
	assert_rel(run("gpu-only")->update_s, before_s + 0.01 + 0.001 * n_subgroups, 1e-12);
	assert_rel(trial.metrics.other_s, 0.25, 1e-12);
	in.batch.precision = PRECISION_FP16; /* and a pass over the gradients for overflows */
	assert_rel(run("gpu-only")->update_s,
	    before_s + 0.01 + 0.001 * n_subgroups + trial.workload.rank_params * 2 / 3000e9, 1e-12);
}
END_TEST

/* The closed form of an update, what the step starts with before it: the update of a whole iteration, contended too. */
START_TEST(closed_form_has_the_start)
{
	static const char *const specs[] = {"zero3-offload", "gpu-only", "twinflow:ratio=0.5", "dos:stride=2", "dos:stride=3,chain=serial",
	    "dos:stride=2,chain=duplex,downscale=fused"};
	struct estimate e;
	struct stride_curve curve = {.cost = NULL};
	struct err err = {0};
	hw.step_fixed_s = 0.002;
	hw.step_subgroup_s = 0.003;
	in.batch.precision = PRECISION_FP16;
	in.sharing = &sharing_fluid;
	const double update_s = run(specs[_i])->update_s, start_s = estimate_start_s(&trial.cost, &trial.workload);
	ck_assert_uint_gt(trial.workload.n_subgroups, 2);
	ck_assert_int_eq(estimate_update(&e, &curve, &trial.use, &trial.cost, &trial.workload, true, &err), 0);
	assert_rel(e.update_s, update_s, _i < 3 ? 1e-9 : 1e-3); /* E35 knows no casts on the GPU */
	assert_rel(start_s, 0.002 + 0.003 * (double)trial.workload.n_subgroups + trial.workload.rank_params * 2 / 3000e9, 1e-12);
	ck_assert_double_gt(start_s, 0.01 * update_s); /* without it, far off */
	trial.workload.is_update_only = true;
	ck_assert_double_eq(estimate_start_s(&trial.cost, &trial.workload), 0);
}
END_TEST

/* The critical path explains the iteration up to the end of its step, even where it starts with what spilled over. */
static void assert_path(void)
{
	const op_id *const marks = &trial.schedule.marks[PHASE_N];
	double path_s = 0;
	for (size_t res = 0; res < RES_N; res++)
		path_s += trial.metrics.path_s[res];
	assert_rel(
	    path_s, trial.timeline.end_s[marks[PHASE_N + PHASE_UPDATE]] - trial.timeline.end_s[marks[PHASE_OTHER]], 1e-9);
}

/* A subgroup each tensor: 31, the last streamed one is the up-projection of layer 3, number 27. Its write-back goes on when the step's timer
 * stops: DeepSpeed's timer does not wait for it, a device-wide one does. */
START_TEST(timers_wait_for_what_they_say)
{
	in.shape.layers = 4;
	in.batch.subgroup_params = 1;
	hw.d2h_duplex_Bps = 1e9;
	plain_curve(&hw.d2h, CURVE_TRANSFER, 1e9);
	const char *const spec = "dos:stride=4,downscale=fused";
	in.sync = SYNC_PHASE;
	const double phase_s = run(spec)->update_s,
		     phase_end_s = trial.timeline.end_s[trial.schedule.marks[2 * PHASE_N + PHASE_UPDATE]];
	size_t n_later = 0;
	for (size_t i = 0; i < trial.schedule.n_ops; i++)
		n_later += trial.schedule.ops[i].kind == OP_D2H && trial.timeline.end_s[i] > phase_end_s;
	ck_assert_uint_gt(n_later, 0);
	assert_path();
	in.sync = SYNC_ALL;
	ck_assert(run(spec)->update_s > phase_s);
	for (size_t i = 0; i < trial.schedule.n_ops; i++)
		ck_assert(trial.timeline.end_s[i] <= trial.timeline.end_s[trial.schedule.marks[2 * PHASE_N + PHASE_OTHER]]);
}
END_TEST

/* ---- an update alone: no passes, no memory of a model's */

START_TEST(update_alone)
{
	in.batch.n_subgroups = 3;
	in.batch.subgroup_params = 1e8;
	hw.other_s = 0.25;
	hw.step_fixed_s = 0.01;
	const struct metrics *const m = run("zero3-offload");
	ck_assert_double_eq(m->forward_s, 0);
	ck_assert_double_eq(m->backward_s, 0);
	ck_assert_double_eq(m->other_s, 0);
	assert_rel(m->update_s, 0.21, 1e-12);
	ck_assert_double_eq(m->iteration_s, m->update_s);
	assert_rel(m->h2d_bytes, 6e8, 1e-12);
	ck_assert_double_eq(m->d2h_bytes, 0);
}
END_TEST

/* Fetch copies enqueued in backward of the last iteration. */
static size_t n_prefetched(void)
{
	size_t n = 0;
	for (size_t i = 0; i < trial.schedule.n_ops; i++)
		n += trial.schedule.ops[i].phase == PHASE_BACKWARD && trial.schedule.ops[i].iteration == 2 &&
		    trial.schedule.ops[i].kind == OP_H2D && trial.schedule.ops[i].subgroup >= 0;
	return n;
}

/* Prefetching in backward: as many subgroups as a stream order lets be in flight; the first fetches are there when the step starts. */
START_TEST(prefetch_in_backward)
{
	const double late_s = run("hybrid:fraction=1,buffers=2")->update_s;
	const double fetch_s = 12 * trial.workload.subgroups[0].n_params / 50e9;
	const double early_s = run("hybrid:fraction=1,buffers=2,prefetch=backward")->update_s;
	ck_assert_msg(
	    early_s < late_s && early_s > late_s - 2.01 * fetch_s - 12 * trial.workload.max_subgroup_params / 50e9,
	    "%.17g s, without prefetch %.17g s", early_s, late_s);
	ck_assert_uint_eq(n_prefetched(), 2);
	run("hybrid:fraction=1,buffers=2,chain=published,prefetch=backward");
	ck_assert_uint_eq(n_prefetched(), 3);
	run("hybrid:fraction=1,buffers=2,chain=serial,prefetch=backward");
	ck_assert_uint_eq(n_prefetched(), 1);
	const double none_s = run("hybrid:fraction=0")->update_s;
	assert_rel(run("hybrid:fraction=0,prefetch=backward")->update_s, none_s, 1e-12);
	ck_assert_uint_eq(n_prefetched(), 0);
}
END_TEST

/* One iteration or many: the last is reported, and in a steady state it is the same. */
START_TEST(iterations_settle)
{
	const double usual_s = run("dos:stride=2")->iteration_s;
	in.n_iterations = 1;
	ck_assert(run("dos:stride=2")->iteration_s > 0);
	in.n_iterations = 200;
	assert_rel(run("dos:stride=2")->iteration_s, usual_s, 1e-9);
}
END_TEST

Suite *iteration_suite(void);
Suite *iteration_suite(void)
{
	Suite *const suite = suite_create("iteration");
	TCase *const core = tcase_create("core");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, gpu_bound_passes);
	tcase_add_test(core, launch_bound_passes);
	tcase_add_test(core, without_checkpointing_nothing_is_done_again);
	tcase_add_test(core, gathers_are_prefetched);
	tcase_add_test(core, flush_of_one_bucket);
	tcase_add_test(core, flush_of_tensors);
	tcase_add_test(core, buckets_close_before_they_overfill);
	tcase_add_test(core, accumulation_adds_up_passes);
	tcase_add_test(core, step_starts_and_reports);
	tcase_add_loop_test(core, closed_form_has_the_start, 0, 6);
	tcase_add_test(core, timers_wait_for_what_they_say);
	tcase_add_test(core, update_alone);
	tcase_add_test(core, prefetch_in_backward);
	suite_add_tcase(suite, core);
	TCase *const limits = tcase_create("limits");
	tcase_add_checked_fixture(limits, setup, teardown);
	tcase_add_test(limits, many_micro_batches);
	tcase_add_test(limits, iterations_settle);
	suite_add_tcase(suite, limits);
	return suite;
}
