/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The worked numbers of MODEL.md that belong to single operations, layers, backward and memory: E1-E8, E23, E24.
 */
#include "sim/engine.h"
#include "sim/iteration.h"
#include "sim/shares.h"
#include "sim/steps.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

static const double exact = 1e-12;
static struct plain plain;
static struct arena arena;

static void setup(void)
{
	plain_machine(&plain.hw);
	plain.workload.batch.gpus = 1;
	plain_set(&plain, 4);
}

static void teardown(void)
{
	arena_release(&arena);
}

START_TEST(operation_alone) /* E1 */
{
	assert_rel(cost_op_s(&plain.cost, OP_CPU_ADAM, 100e6), 0.040, exact);
	assert_rel(cost_op_s(&plain.cost, OP_HOST, 0.25), 0.25, 0);
	assert_rel(cost_op_s(&plain.cost, OP_CPU_ADAM, 0), 0, 0);
}
END_TEST

START_TEST(copy_between_two_points) /* E2 */
{
	plain.hw.h2d = (struct curve){.kind = CURVE_TRANSFER, .n_points = 2, .x = {1e6, 1e9}, .rate = {25e9, 50e9}};
	plain_refresh(&plain);
	assert_rel(cost_op_s(&plain.cost, OP_H2D, 500.5e6), 0.01002, exact);
	assert_rel(cost_op_s(&plain.cost, OP_H2D, 10), 40e-6, exact);
	assert_rel(cost_op_s(&plain.cost, OP_H2D, 100e9), 2, exact);
}
END_TEST

START_TEST(memory_shared_by_weight) /* E3 */
{
	const struct running running[] = {{.kind = OP_CPU_ADAM}, {.kind = OP_H2D}};
	double speed[2];
	uint8_t limit[2];
	plain.cost.dram_Bps = 150e9;
	plain.cost.classes[OP_CPU_ADAM].dram_Bps = 120e9;
	plain.cost.classes[OP_H2D].dram_Bps = 60e9;
	plain.cost.classes[OP_H2D].weight = 1.5;
	struct shares shares;
	shares_init(&shares, &sharing_fluid, &plain.cost, 1, &arena);
	shares_allocate(&shares, speed, limit, running, 2, &arena);
	assert_rel(speed[0], 0.75, exact);
	assert_rel(speed[1], 1, exact);
	ck_assert_uint_eq(limit[0], RES_DRAM);
}
END_TEST

START_TEST(teams_on_shared_cores) /* E4 */
{
	plain.hw.threads_per_core = 2;
	plain.hw.smt_gain = 1.2;
	plain_refresh(&plain);
	assert_rel(cost_core_frac(&plain.cost, 8, 8), 1, 0);
	assert_rel(cost_core_frac(&plain.cost, 12, 8), 0.6, exact);
	assert_rel(cost_core_frac(&plain.cost, 20, 16), 0.5, exact);
}
END_TEST

START_TEST(opposite_copies) /* E5 */
{
	struct schedule schedule;
	struct timeline timeline;
	schedule_init(&schedule, &plain.cost, &arena);
	schedule_op(&schedule, OP_H2D, 1.2e9, NULL, 0);
	schedule_op(&schedule, OP_D2H, 1.2e9, NULL, 0);
	engine_run(&timeline, &schedule, &sharing_fluid, &arena);
	assert_rel(plain.cost.classes[OP_H2D].duplex_frac, 0.8, exact);
	assert_rel(timeline.end_s[0], 0.030, exact);
	assert_rel(timeline.end_s[1], 0.030, exact);
}
END_TEST

START_TEST(layer_of_a_small_model) /* E6 */
{
	const struct shape shape = {.name = "custom",
	    .arch = ARCH_LLAMA,
	    .layers = 2,
	    .hidden = 1024,
	    .heads = 16,
	    .kv_heads = 16,
	    .head_dim = 64,
	    .ffn = 4096,
	    .vocab = 1000};
	const struct batch batch = {.gpus = 1, .mbs = 1, .grad_accum = 1, .seq = 1024, .subgroup_params = 1e7};
	struct err err;
	ck_assert_int_eq(workload_build(&plain.workload, &shape, &batch, &arena, &err), 0);
	cost_init(&plain.cost, &plain.hw, &plain.workload, 0, 0);
	assert_rel(plain.cost.layer_forward_s, 386.54705664e-6, exact);
	assert_rel(plain.cost.layer_backward_s, 773.09411328e-6, exact);
}
END_TEST

START_TEST(backward_with_buckets) /* E7 */
{
	plain_subgroups(plain.subgroups, 1, 1.5e9);
	plain.workload.n_subgroups = 1;
	plain.hw.reduce_params_per_s = 50e9;
	plain_refresh(&plain);
	plain.cost.classes[OP_GPU_NORM].s_per_unit = 1 / 1.5e12;
	assert_rel(backward_limit_s(&plain.cost, &plain.workload, 0.3, 1e9, 4, false), 0.377, exact);
	assert_rel(backward_limit_s(&plain.cost, &plain.workload, 0.3, 1e9, 4, true), 0.951, exact);
	plain.workload.batch.zero_stage = 2; /* X = 30 + 1 + 80 = 111 ms */
	assert_rel(backward_limit_s(&plain.cost, &plain.workload, 0.3, 1e9, 4, false), 0.3 + 0.111 / 3, exact);
	plain.workload.batch.zero_stage = 3;
}
END_TEST

START_TEST(lane_in_order_of_readiness) /* E8 */
{
	struct schedule schedule;
	struct timeline timeline;
	schedule_init(&schedule, &plain.cost, &arena);
	const op_id at_10 = schedule_op(&schedule, OP_HOST, 0.010, NULL, 0);
	const op_id at_100 = schedule_op(&schedule, OP_HOST, 0.090, &at_10, 1);
	const op_id last = schedule_op(&schedule, OP_H2D, 1.2e9, &at_100, 1);
	const op_id second = schedule_op(&schedule, OP_H2D, 1.2e9, &at_10, 1);
	const op_id first = schedule_op(&schedule, OP_H2D, 1.2e9, NULL, 0);
	engine_run(&timeline, &schedule, &sharing_none, &arena);
	assert_rel(timeline.end_s[first], 0.024, exact);
	assert_rel(timeline.end_s[second], 0.048, exact);
	assert_rel(timeline.end_s[last], 0.124, exact);
}
END_TEST

/* The ledger of memory that is held from start to end. */
static void hold(struct schedule *schedule, const char *spec)
{
	struct policy_use use;
	struct err err;
	ck_assert_int_eq(policy_use_parse(&use, spec, &arena, &err), 0);
	if (use.policy->resolve)
		use.policy->resolve(use.params, &plain.hw, &plain.workload, 0);
	enum place *const places = arena_alloc(&arena, plain.workload.n_subgroups, sizeof *places);
	use.policy->place(places, use.params, &plain.workload);
	schedule_init(schedule, &plain.cost, &arena);
	const struct iteration_plan plan = {
	    .workload = &plain.workload, .use = &use, .places = places, .n_iterations = 1, .n_ranks = 1};
	iteration_build(schedule, &plan);
}

static double held_bytes(const struct schedule *schedule, enum pool pool)
{
	double sum = 0;
	for (size_t mem = 0; mem < MEM_N; mem++)
		sum += schedule->resident_bytes[pool][mem];
	return sum;
}

START_TEST(gpu_memory) /* E23 */
{
	struct schedule schedule;
	hold(&schedule, "dos:stride=2,ratio=0.75"); /* one resident, one of three streamed */
	assert_rel(held_bytes(&schedule, POOL_GPU), 3.6e9, exact);
	hold(&schedule, "dos:stride=2,ratio=0.75,chain=duplex");
	assert_rel(held_bytes(&schedule, POOL_GPU), 4.8e9, exact);
	hold(&schedule, "gpu-only");
	assert_rel(held_bytes(&schedule, POOL_GPU), 4 * 1.8e9, exact);
}
END_TEST

START_TEST(host_memory) /* E24 */
{
	struct schedule schedule;
	plain.hw.host_overhead_bytes_per_param = 4.5;
	assert_rel(steps_pinned_bytes(200e6), 268435456, 0);
	assert_rel(steps_pinned_bytes(400e6), 536870912, 0);
	hold(&schedule, "zero3-offload");
	assert_rel(held_bytes(&schedule, POOL_HOST), 4 * 100e6 * 22.5, exact);
	hold(&schedule, "dos:stride=2");
	assert_rel(held_bytes(&schedule, POOL_HOST), 4 * 100e6 * 22.5 + 2 * (268435456.0 + 536870912) + 268435456, exact);
}
END_TEST

Suite *worked_suite(void);
Suite *worked_suite(void)
{
	Suite *const suite = suite_create("worked");
	TCase *const core = tcase_create("core");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, operation_alone);
	tcase_add_test(core, copy_between_two_points);
	tcase_add_test(core, memory_shared_by_weight);
	tcase_add_test(core, teams_on_shared_cores);
	tcase_add_test(core, opposite_copies);
	tcase_add_test(core, layer_of_a_small_model);
	tcase_add_test(core, backward_with_buckets);
	tcase_add_test(core, lane_in_order_of_readiness);
	tcase_add_test(core, gpu_memory);
	tcase_add_test(core, host_memory);
	suite_add_tcase(suite, core);
	return suite;
}
