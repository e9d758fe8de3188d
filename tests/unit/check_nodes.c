/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Several nodes: what their collectives take (E25), and that one node in full stands for all when they are alike.
 */
#include "sim/engine.h"
#include "sim/shares.h"
#include "tests/unit/audit.h"
#include "tests/unit/cluster.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/random_trial.h"
#include "tests/unit/test_util.h"

enum { N_CLUSTERS = 30, N_RINGS = 200, RANKS_MAX = 64 };
static const double exact = 1e-12;

static struct plain plain;
static struct random_trial r;
static struct arena arena;
static struct err err;

static void setup(void)
{
	plain_machine(&plain.hw);
	plain.workload = (struct workload){.is_update_only = true, .batch = {.gpus = 8, .nodes = 4}};
	plain.hw.network_Bps = 100e9;
	plain.hw.network_latency_s = 10e-6;
	plain.hw.ring_latency_s = 2e-6;
	plain.hw.all_gather_Bps = 300e9;
	plain.hw.reduce_params_per_s = 50e9;
	random_trial_init(&r);
}

static void teardown(void)
{
	random_trial_release(&r);
	arena_release(&arena);
}

/* ---- the equation */

static double gather_s(double n_params)
{
	const double p = batch_dp(&plain.workload.batch);
	cost_init(&plain.cost, &plain.hw, &plain.workload, 0, 0);
	return cost_op_s(&plain.cost, OP_GATHER, 2 * n_params * (p - 1) / p);
}

static void share(double *speed, uint8_t *limit, const struct running *running, size_t n)
{
	struct shares shares;
	shares_init(&shares, &sharing_fluid, &plain.cost, 1, &arena);
	shares_allocate(&shares, speed, limit, running, n, &arena);
}

START_TEST(collectives_of_four_nodes) /* E25 */
{
	assert_rel(gather_s(1e9), 19.447e-3, exact);
	assert_rel(cost_op_s(&plain.cost, OP_REDUCE, 1e9), 20.072e-3, exact);
	const struct running both[] = {{.kind = OP_GATHER}, {.kind = OP_REDUCE}};
	double speed[2];
	uint8_t limit[2];
	share(speed, limit, both, 2);
	assert_rel(speed[0], 100 / 196.875, exact);
	assert_rel(speed[1], 100 / 196.875, exact);
	ck_assert_uint_eq(limit[0], RES_NET);
	plain.hw.network_Bps = 400e9; /* then NVLink and the copies limit, and there is room for both */
	assert_rel(gather_s(1e9), 1.9375e9 / 300e9 + 72e-6, exact);
	assert_rel(cost_op_s(&plain.cost, OP_REDUCE, 1e9), 20.072e-3, exact);
	share(speed, limit, both, 2);
	ck_assert(speed[0] == 1 && speed[1] == 1);
	plain.workload.batch.nodes = 1; /* nothing of the network */
	assert_rel(gather_s(1e9), 1.75e9 / 300e9, exact);
	assert_rel(cost_op_s(&plain.cost, OP_REDUCE, 1e9), 20e-3, exact);
}
END_TEST

/* Two rings side by side, each through four of a node's GPUs and with half of its network. E25 */
START_TEST(collectives_beside_tensor_parallelism)
{
	const struct running both[] = {{.kind = OP_GATHER}, {.kind = OP_REDUCE}};
	double speed[2];
	uint8_t limit[2];
	plain.workload.batch.tp = 2;
	assert_rel(gather_s(1e9), 37.548e-3, exact);
	assert_rel(cost_op_s(&plain.cost, OP_REDUCE, 1e9), 37.548e-3, exact);
	share(speed, limit, both, 2);
	assert_rel(speed[0], 0.5, exact);
	assert_rel(speed[1], 0.5, exact);
}
END_TEST

/* A ring step by step: link i carries its next piece once it is free and the piece has come over link i - 1. */
static double ring_s(double bytes)
{
	const struct hwprofile *const hw = &plain.hw;
	const size_t g = (size_t)plain.workload.batch.gpus, p = (size_t)batch_dp(&plain.workload.batch);
	double free_s[RANKS_MAX] = {0}, come_s[2][RANKS_MAX] = {{0}}, end_s = 0;
	for (size_t step = 0; step + 1 < p; step++)
		for (size_t i = 0; i < p; i++) {
			const bool is_network = (i + 1) % g == 0;
			const double piece_s = bytes / (double)p / (is_network ? hw->network_Bps : hw->all_gather_Bps);
			free_s[i] = fmax(free_s[i], step ? come_s[(step - 1) % 2][(i + p - 1) % p] : 0) + piece_s;
			come_s[step % 2][i] = free_s[i] + (is_network ? hw->network_latency_s : hw->ring_latency_s);
			end_s = fmax(end_s, come_s[step % 2][i]);
		}
	return end_s;
}

static void draw_ring(bool has_latency)
{
	struct hwprofile *const hw = &plain.hw;
	plain.workload.batch.gpus = (double)(1 + random_below(&r, 8));
	plain.workload.batch.nodes = (double)(2 + random_below(&r, 7));
	hw->network_Bps = random_between(&r, 1e9, 1e12);
	hw->all_gather_Bps = random_between(&r, 1e9, 1e12);
	hw->network_latency_s = has_latency ? random_between(&r, 1e-6, 1e-3) : 0;
	hw->ring_latency_s = has_latency ? random_between(&r, 1e-7, 1e-4) : 0;
}

/* E25 against the steps: equal without latencies and with one GPU a node. Else a long message hides latencies behind the slow link,
 * and a path may cross one network link more than the equation, as NCCL, counts. */
START_TEST(ring_step_by_step)
{
	gsl_rng_set(r.rng, 1);
	for (size_t i = 0; i < N_RINGS; i++) {
		const double n_params = random_between(&r, 1e3, 1e10);
		draw_ring(i % 2);
		const double model_s = gather_s(n_params), steps_s = ring_s(2 * n_params), g = plain.workload.batch.gpus;
		const double latency_s = plain.cost.classes[OP_GATHER].latency_s;
		const double more_s = plain.hw.network_latency_s + 2 * g * plain.hw.ring_latency_s;
		if (i % 2 == 0 || g <= 1)
			assert_rel(steps_s, model_s, exact);
		else
			must(steps_s >= model_s - latency_s && steps_s <= model_s + more_s,
			    "ring %zu: %.9g s by steps, %.9g s by the equation", i, steps_s, model_s);
	}
}
END_TEST

/* ---- all ranks of all nodes */

static void assert_near(double got, double want, const char *name)
{
	must(fabs(got - want) <= 1e-9 * fabs(want), "%s: %s %.17g, folded %.17g", r.what, name, got, want);
}

static void compare_times(const struct cluster *all)
{
	const struct metrics *const m = &all->metrics, *const one = &r.trial.metrics;
	assert_near(m->forward_s, one->forward_s, "forward_s");
	assert_near(m->backward_s, one->backward_s, "backward_s");
	assert_near(m->update_s, one->update_s, "update_s");
	assert_near(m->other_s, one->other_s, "other_s");
	assert_near(m->gpu_peak_bytes, one->gpu_peak_bytes, "gpu_peak_bytes");
	assert_near(m->host_peak_bytes, one->host_peak_bytes, "host_peak_bytes");
	for (size_t lane = 0; lane < LANE_N; lane++)
		assert_near(m->busy_frac[lane], one->busy_frac[lane], lane_names[lane]);
	for (size_t i = 0; i < r.trial.schedule.n_ops; i++)
		for (size_t rank = 0; rank < all->n_ranks; rank++)
			must(fabs(all->timeline.end_s[all->ids[i * all->n_ranks + rank]] - r.trial.timeline.end_s[i]) <=
				1e-9 * r.trial.timeline.makespan_s, "%s: operation %zu of rank %zu", r.what, i, rank);
}

static const struct {
	double nodes, gpus;
} clusters[] = {{2, 2}, {4, 1}, {3, 2}, {2, 4}}; /* GPUs in equal numbers to a domain and a root */

static void draw_cluster(const struct policy *policy, unsigned long seed)
{
	const size_t which = seed % N_ELEMENTS(clusters);
	random_trial_draw(&r, policy, seed);
	r.in.batch.gpus = clusters[which].gpus;
	r.in.batch.nodes = clusters[which].nodes;
	r.in.batch.tp = fmin(r.in.batch.tp, r.in.batch.gpus); /* 1 or 2 */
	r.in.is_unfolded = false;
}

START_TEST(one_node_stands_for_all)
{
	for (unsigned long seed = 1; seed <= N_CLUSTERS * N_ELEMENTS(clusters); seed++) {
		struct cluster all;
		draw_cluster(policy_all[_i], seed);
		random_trial_run(&r);
		cluster_run(&all, &r.trial, r.in.sharing, NULL, &r.arena);
		compare_times(&all);
	}
}
END_TEST

/* What the folding leaves out: all wait for the slowest node at the next collective, so one slow node costs as much as if all were. */
static double slow_iteration_s(const double slowdown[2])
{
	struct cluster all;
	cluster_run(&all, &r.trial, r.in.sharing, slowdown, &r.arena);
	return all.metrics.iteration_s;
}

START_TEST(slow_node_slows_all)
{
	size_t n_slower = 0;
	for (unsigned long seed = 0; seed < N_CLUSTERS; seed++) {
		draw_cluster(policy_find("zero3-offload"), 4 * seed + 4); /* 2 nodes of 2 */
		r.in.batch.n_subgroups = 0;
		random_trial_run(&r);
		const double folded_s = r.trial.metrics.iteration_s;
		const double one_s = slow_iteration_s((const double[]){1, 1.5}), all_s = slow_iteration_s((const double[]){1.5, 1.5});
		must(one_s > folded_s * (1 + 1e-6) && one_s <= all_s * (1 + 1e-9), "%s: one slow node %.9g s, none %.9g s, all %.9g s", r.what,
		    one_s, folded_s, all_s);
		n_slower += one_s > folded_s + 0.5 * (all_s - folded_s);
	}
	ck_assert_uint_eq(n_slower, N_CLUSTERS);
}
END_TEST

/* The figures of MODEL.md, "Several nodes": 7b on two DGX H100, CPU kernels of one take 1.2 times as long. */
static const struct {
	const char *policy;
	double longer_frac;
} slow_nodes[] = {{"zero3-offload", 0.068}, {"dos:stride=3", 0.066}, {"hybrid:fraction=1", 0}};

START_TEST(one_slow_node_of_two)
{
	if (hwprofile_load(&r.hw, "hwprofiles/dgx-h100.json", &arena, &err))
		ck_abort_msg("%s", err.text);
	r.in = (struct trial_input){.hw = &r.hw, .shape = shape_preset_find("7b")->shape, .policy = slow_nodes[_i].policy,
	    .batch = {.nodes = 2, .has_checkpointing = true}, .sharing = &sharing_fluid};
	random_trial_run(&r);
	const double all_alike_s = slow_iteration_s((const double[]){1, 1}), one_s = slow_iteration_s((const double[]){1, 1.2});
	assert_rel(all_alike_s, r.trial.metrics.iteration_s, 1e-9);
	assert_rel(slow_iteration_s((const double[]){1.2, 1.2}), one_s, 1e-9);
	must(fabs(one_s / all_alike_s - 1 - slow_nodes[_i].longer_frac) <= 0.0005, "%s: longer by %.4f", slow_nodes[_i].policy,
	    one_s / all_alike_s - 1);
}
END_TEST

/* ---- what is of a node and what is of all */

static const struct shape small = {
    .name = "small", .arch = ARCH_LLAMA, .layers = 4, .hidden = 512, .heads = 8, .ffn = 2048, .vocab = 4000};

static void build(struct workload *w, double gpus, double nodes)
{
	const struct batch batch = {.gpus = gpus, .nodes = nodes, .mbs = 3, .grad_accum = 2, .seq = 128, .subgroup_params = 1e6};
	ck_assert_msg(workload_build(w, &small, &batch, &arena, &err) == 0, "%s", err.text);
}

START_TEST(ranks_are_counted_over_nodes)
{
	struct workload one, two, four, none;
	build(&one, 4, 1);
	build(&two, 2, 2);
	build(&four, 1, 4);
	build(&none, 4, 0);
	ck_assert(one.rank_params == two.rank_params && one.rank_params == four.rank_params);
	ck_assert(one.n_subgroups == two.n_subgroups && one.n_params == two.n_params && one.n_params == four.n_params);
	assert_rel(workload_model_flop(&two), workload_model_flop(&one), 0);
	assert_rel(batch_tokens(&two.batch), 4 * 3 * 2 * 128, 0);
	ck_assert(one.content_hash == none.content_hash && one.content_hash != two.content_hash && two.content_hash != four.content_hash);
	ck_assert_str_eq(batch_gpus_text(&two.batch, &arena), "2 nodes x 2 GPUs");
	ck_assert_str_eq(batch_gpus_text(&none.batch, &arena), "4 GPUs");
}
END_TEST

static int run_nodes(double nodes)
{
	random_trial_draw(&r, policy_find("zero3-offload"), 3);
	r.in.shape = small;
	r.in.batch = (struct batch){.gpus = 4, .nodes = nodes, .mbs = 1, .grad_accum = 1, .seq = 128, .subgroup_params = 1e6};
	arena_reset(&r.arena);
	return trial_run(&r.trial, &r.in, &r.arena, &err);
}

/* The host's memory is of one node, whatever their number; so is the work of simulating it. */
START_TEST(a_node_is_simulated_once)
{
	ck_assert_int_eq(run_nodes(2), 0);
	const size_t n_ops = r.trial.metrics.n_ops;
	const double host_bytes = r.trial.metrics.host_peak_bytes;
	ck_assert_int_eq(run_nodes(1e6), 0);
	ck_assert_uint_le(r.trial.metrics.n_ops, n_ops);
	ck_assert(r.trial.metrics.host_peak_bytes < host_bytes); /* smaller shares */
	ck_assert_int_eq(run_nodes(1e6 + 1), STATUS_USAGE);
	assert_has(err.text, "--nodes 1000001");
	ck_assert_int_eq(run_nodes(1.5), STATUS_USAGE);
}
END_TEST

START_TEST(network_must_be_known)
{
	random_trial_draw(&r, policy_find("zero3-offload"), 3);
	r.in.batch.nodes = 2;
	r.hw.network_Bps = 0;
	ck_assert_int_eq(trial_run(&r.trial, &r.in, &r.arena, &err), STATUS_USAGE);
	assert_has(err.text, "network_Bps");
	struct workload ready;
	build(&ready, 1, 2);
	r.in.workload = &ready;
	ck_assert_int_eq(trial_run(&r.trial, &r.in, &r.arena, &err), STATUS_USAGE);
	assert_has(err.text, "network_Bps");
	r.in.workload = NULL;
	r.in.batch.nodes = 1;
	ck_assert_int_eq(trial_run(&r.trial, &r.in, &r.arena, &err), 0);
}
END_TEST

Suite *nodes_suite(void);
Suite *nodes_suite(void)
{
	Suite *const suite = suite_create("nodes");
	TCase *const core = tcase_create("collectives");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, collectives_of_four_nodes);
	tcase_add_test(core, collectives_beside_tensor_parallelism);
	tcase_add_test(core, ring_step_by_step);
	tcase_add_loop_test(core, one_node_stands_for_all, 0, n_policies());
	tcase_add_test(core, slow_node_slows_all);
	tcase_add_loop_test(core, one_slow_node_of_two, 0, (int)N_ELEMENTS(slow_nodes));
	tcase_add_test(core, ranks_are_counted_over_nodes);
	tcase_add_test(core, a_node_is_simulated_once);
	tcase_add_test(core, network_must_be_known);
	suite_add_tcase(suite, core);
	return suite;
}
