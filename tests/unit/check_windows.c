/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Windows whose lanes slow each other: a worked update, and the engine with contention on random machines, unequal and equal
 * subgroups. E35
 */
#include "model/windows.h"

#include <gsl/gsl_rng.h>

#include "model/closed_form.h"
#include "sim/engine.h"
#include "sim/iteration.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

enum { SPEC_MAX = 256 };

static struct plain plain;

/* The update phase of a policy by the engine, with contention. */
static double engine_update_s(const char *spec)
{
	struct arena arena = {0};
	struct policy_use use;
	struct schedule schedule;
	struct timeline timeline;
	struct err err = {0};
	ck_assert_msg(policy_use_parse(&use, spec, &arena, &err) == 0, "%s: %s", spec, err.text);
	use.policy->resolve(use.params, &plain.hw, &plain.workload, 0);
	enum place *const places = arena_alloc(&arena, plain.workload.n_subgroups, sizeof *places);
	use.policy->place(places, use.params, &plain.workload);
	schedule_init(&schedule, &plain.cost, &arena);
	const struct iteration_plan plan = {
	    .workload = &plain.workload, .use = &use, .places = places, .sync = SYNC_PHASE, .n_iterations = 1, .n_ranks = 1};
	iteration_build(&schedule, &plan);
	engine_run(&timeline, &schedule, &sharing_fluid, &arena);
	const double update_s = timeline.end_s[schedule.marks[PHASE_UPDATE]] - timeline.end_s[schedule.marks[PHASE_BACKWARD]];
	arena_release(&arena);
	return update_s;
}

/* ---- worked */

/* Adam (70 GB/s, 40 ms) beside a copy (50, 24 ms) in 100 GB/s: both keep 5/6. The first fetch ends at 28.8 ms, Adam at 44.8. Push (4 ms)
 * and write-back, 1 ms later, at 0.8 beside each other: the push ends at 49.55. Adam beside the write-back, which ends at 74.75, and
 * the second fetch, until 97.55; the fetch ends at 102.55, the push 3.75 + 1 later, and the write-back at 128.3. */
START_TEST(two_windows) /* E35 */
{
	plain_machine(&plain.hw);
	plain.hw.dram_Bps = 100e9;
	plain.hw.hbm_Bps = 1e15;
	plain.hw.dma_weight = 1;
	plain.hw.dram_bytes_per_dma_byte = 1;
	plain_set(&plain, 4);
	const struct interleave how = {.chain = CHAIN_SERIAL, .downscale = DOWNSCALE_FUSED, .has_bf16_grads = true, .buffers = 1,
	    .waits_for_fetch = true, .n_dynamic = 4};
	assert_rel(stride_update_s(&plain.cost, &plain.workload, &how, 2, true), 0.1283, 1e-9);
	assert_rel(engine_update_s("dos:stride=2,chain=serial,downscale=fused,grads=bf16"), 0.1283, 1e-6);
}
END_TEST

/* ---- against the engine */

/* A machine on which everything but the GPU's memory may be short. */
static void random_machine(gsl_rng *rng)
{
	plain_machine(&plain.hw);
	plain_curve(&plain.hw.h2d, CURVE_TRANSFER, plain_between(rng, 10e9, 100e9));
	plain_curve(&plain.hw.d2h, CURVE_TRANSFER, plain.hw.h2d.rate[0] * plain_between(rng, 0.8, 1.25));
	plain.hw.h2d_duplex_Bps = plain.hw.h2d.rate[0] * plain_between(rng, 0.5, 1);
	plain.hw.d2h_duplex_Bps = plain.hw.d2h.rate[0] * plain_between(rng, 0.5, 1);
	plain_curve(&plain.hw.cpu_adam, CURVE_THREADS, plain_between(rng, 3e8, 5e9));
	plain_curve(&plain.hw.cpu_downscale, CURVE_THREADS, plain_between(rng, 1e9, 10e9));
	plain.hw.workers = 1 + (double)gsl_rng_uniform_int(rng, 16);
	plain.hw.spin_wait = (double)gsl_rng_uniform_int(rng, 2);
	plain.hw.cpu_subgroup_s = plain_between(rng, 1e-5, 1e-2);
	plain.hw.stream_subgroup_s = plain_between(rng, 1e-5, 1e-2);
	plain.hw.dma_weight = plain_between(rng, 0.5, 2);
	plain.hw.dram_Bps = plain_between(rng, 100e9, 500e9);
	plain.hw.hbm_Bps = 1e15;
	plain.hw.pcie_root_Bps = plain_between(rng, 20e9, 400e9);
	if (gsl_rng_uniform_int(rng, 2) == 0)
		return;
	plain_latency(&plain.hw, rng);
}

/* A schedule of dos, in words too. */
static struct interleave random_how(char spec[SPEC_MAX], gsl_rng *rng)
{
	const enum downscale downscale = (enum downscale)gsl_rng_uniform_int(rng, 4);
	const size_t n_chains = downscale == DOWNSCALE_SPLIT ? 2 : 3;
	const enum chain chain = (enum chain)(3 - n_chains + gsl_rng_uniform_int(rng, n_chains));
	struct interleave how = {.chain = chain, .downscale = downscale, .has_bf16_grads = gsl_rng_uniform_int(rng, 2) == 1,
	    .buffers = chain == CHAIN_DUPLEX ? 1 + gsl_rng_uniform_int(rng, 3) : 1, .waits_for_fetch = true,
	    .n_dynamic = plain.workload.n_subgroups, .stride = gsl_rng_uniform_int(rng, 6)};
	how.has_separate_unscale = !how.has_bf16_grads && gsl_rng_uniform_int(rng, 2) == 1;
	snprintf(spec, SPEC_MAX, "dos:stride=%zu,chain=%s,downscale=%s,grads=%s,unscale=%s,buffers=%zu", how.stride, chain_names[chain],
	    downscale_names[downscale], how.has_bf16_grads ? "bf16" : "fp32", how.has_separate_unscale ? "separate" : "fused", how.buffers);
	return how;
}

static void random_list(gsl_rng *rng, size_t n)
{
	plain_set(&plain, n);
	for (size_t x = 0; x < n; x++)
		plain.subgroups[x].n_params = floor(plain_between(rng, 1e7, 3e8));
	plain_refresh(&plain);
}

/* But for casts on a GPU memory of 1e15 B/s. */
START_TEST(a_list_takes_what_the_engine_says) /* E35 */
{
	char spec[SPEC_MAX];
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	for (unsigned long seed = 1; seed <= 1000; seed++) {
		gsl_rng_set(rng, seed);
		random_machine(rng);
		random_list(rng, 2 + gsl_rng_uniform_int(rng, 40));
		const struct interleave how = random_how(spec, rng);
		const double engine_s = engine_update_s(spec);
		const double off = stride_update_s(&plain.cost, &plain.workload, &how, how.stride, true) / engine_s - 1;
		ck_assert_msg(fabs(off) < 1e-4, "seed %lu, %zu subgroups, %s: off by %g", seed, plain.workload.n_subgroups, spec, off);
	}
	gsl_rng_free(rng);
}
END_TEST

/* Of equal subgroups 16 windows are followed, and the others taken to be like them. */
START_TEST(windows_repeat) /* E35 */
{
	enum { N_CASES = 200 };
	char spec[SPEC_MAX];
	double sum = 0;
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	for (unsigned long seed = 1; seed <= N_CASES; seed++) {
		gsl_rng_set(rng, seed);
		random_machine(rng);
		plain_set(&plain, 100 + gsl_rng_uniform_int(rng, 200));
		const struct interleave how = random_how(spec, rng);
		const double engine_s = engine_update_s(spec);
		const double off = fabs(stride_update_s(&plain.cost, &plain.workload, &how, how.stride, true) / engine_s - 1);
		ck_assert_msg(off < 0.05, "seed %lu, %zu subgroups, %s: off by %g", seed, plain.workload.n_subgroups, spec, off);
		sum += off;
	}
	ck_assert_msg(sum <= 1e-3 * N_CASES, "mean %g", sum / N_CASES);
	gsl_rng_free(rng);
}
END_TEST

/* SPEC with another stride: stride stands first. */
static double engine_at_stride_s(const char *spec, size_t stride)
{
	char other[2 * SPEC_MAX];
	snprintf(other, sizeof other, "dos:stride=%zu%s", stride, strchr(spec, ','));
	return engine_update_s(other);
}

/* What the stride chosen costs over the engine's best. */
START_TEST(the_stride_chosen_is_the_engines) /* E19, E35 */
{
	char spec[SPEC_MAX];
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	for (unsigned long seed = 1; seed <= 200; seed++) {
		gsl_rng_set(rng, seed);
		random_machine(rng);
		random_list(rng, 2 + gsl_rng_uniform_int(rng, 20));
		const struct interleave how = random_how(spec, rng);
		double best_s = INFINITY;
		for (size_t k = 0; k <= how.n_dynamic; k++)
			best_s = fmin(best_s, engine_at_stride_s(spec, k));
		const double loss = engine_at_stride_s(spec, stride_opt(&plain.cost, &plain.workload, &how)) / best_s - 1;
		ck_assert_msg(loss < 1e-4, "seed %lu, %s: %g lost", seed, spec, loss);
	}
	gsl_rng_free(rng);
}
END_TEST

Suite *windows_suite(void);
Suite *windows_suite(void)
{
	Suite *const suite = suite_create("windows");
	TCase *const worked = tcase_create("worked"), *const engine = tcase_create("engine");
	tcase_add_test(worked, two_windows);
	tcase_add_test(engine, a_list_takes_what_the_engine_says);
	tcase_add_test(engine, windows_repeat);
	tcase_add_test(engine, the_stride_chosen_is_the_engines);
	suite_add_tcase(suite, worked);
	suite_add_tcase(suite, engine);
	return suite;
}
