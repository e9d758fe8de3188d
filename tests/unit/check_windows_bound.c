/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The bound of windows that are followed: a worked one, and never above their time on random machines. E36
 */
#include "model/windows_bound.h"

#include <gsl/gsl_rng.h>

#include "model/stride_curve.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

static struct plain plain;
static struct stride_curve curve;

/* Adam (70 GB/s, 40 ms) beside a push (50, 4 ms) in 100 GB/s: both keep 5/6, so a second of Adam weighs 1, of pushes 1/5. Ten
 * subgroups: 400 ms, nine pushes that may run beside Adam, and the last. */
START_TEST(ten_subgroups) /* E36 */
{
	struct windows_bound bound;
	plain_machine(&plain.hw);
	plain.hw.dram_Bps = 100e9;
	plain.hw.dma_weight = 1;
	plain.hw.dram_bytes_per_dma_byte = 1;
	plain_set(&plain, 10);
	const struct interleave how = {.chain = CHAIN_SERIAL, .downscale = DOWNSCALE_FUSED, .has_bf16_grads = true, .buffers = 1,
	    .waits_for_fetch = true, .n_dynamic = 10};
	stride_curve_init(&curve, &plain.cost, &plain.workload, &how, true);
	windows_bound_init(&bound, &curve.speeds, &curve.mean);
	const struct windows windows = {.how = &how, .cpu = curve.mean, .gpu = curve.mean, .n_left = 10};
	assert_rel(windows_bound_s(&bound, &windows), 0.400 + 0.2 * 0.036 + 0.004, 1e-8);
	assert_rel(stride_curve_s(&curve, 0), 0.400 + 0.2 * 0.036 + 0.004, 1e-9);
}
END_TEST

static void random_machine(gsl_rng *rng)
{
	plain_machine(&plain.hw);
	plain_curve(&plain.hw.h2d, CURVE_TRANSFER, plain_between(rng, 1e9, 100e9));
	plain_curve(&plain.hw.d2h, CURVE_TRANSFER, plain.hw.h2d.rate[0] * plain_between(rng, 0.8, 1.25));
	plain.hw.h2d_duplex_Bps = plain.hw.h2d.rate[0] * plain_between(rng, 0.3, 1);
	plain.hw.d2h_duplex_Bps = plain.hw.d2h.rate[0] * plain_between(rng, 0.3, 1);
	plain_curve(&plain.hw.cpu_adam, CURVE_THREADS, plain_between(rng, 3e8, 20e9));
	plain_curve(&plain.hw.cpu_downscale, CURVE_THREADS, plain_between(rng, 2e8, 20e9));
	plain.hw.workers = 1 + (double)gsl_rng_uniform_int(rng, 16);
	plain.hw.spin_wait = (double)gsl_rng_uniform_int(rng, 2);
	plain.hw.cpu_subgroup_s = plain_between(rng, 1e-6, 1e-2);
	plain.hw.stream_subgroup_s = plain_between(rng, 1e-6, 1);
	plain.hw.dma_weight = plain_between(rng, 0.5, 2);
	plain.hw.dram_Bps = plain_between(rng, 50e9, 500e9);
	plain.hw.pcie_root_Bps = plain_between(rng, 2e9, 400e9);
	if (gsl_rng_uniform_int(rng, 2) == 0)
		return;
	plain_latency(&plain.hw, rng);
}

static struct interleave random_how(gsl_rng *rng)
{
	const enum downscale downscale = (enum downscale)gsl_rng_uniform_int(rng, 4);
	const enum chain chain =
	    downscale == DOWNSCALE_SPLIT ? (enum chain)(1 + gsl_rng_uniform_int(rng, 2)) : (enum chain)gsl_rng_uniform_int(rng, 3);
	struct interleave how = {.chain = chain, .downscale = downscale, .buffers = chain == CHAIN_DUPLEX ? 1 + gsl_rng_uniform_int(rng, 3) : 1,
	    .has_bf16_grads = gsl_rng_uniform_int(rng, 2) == 1, .waits_for_fetch = true, .n_dynamic = plain.workload.n_subgroups};
	how.has_separate_unscale = !how.has_bf16_grads && gsl_rng_uniform_int(rng, 2) == 1;
	return how;
}

/* And where pushes are all that runs beside Adam, and nothing is streamed, it is the time. */
START_TEST(no_update_is_shorter) /* E36 */
{
	enum { N_STRIDES = 200 };
	size_t n_near = 0;
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	for (unsigned long seed = 1; seed <= 300; seed++) {
		struct windows_bound bound;
		gsl_rng_set(rng, seed);
		random_machine(rng);
		plain_set(&plain, 2 + gsl_rng_uniform_int(rng, 2000));
		const size_t n = plain.workload.n_subgroups;
		const struct interleave how = random_how(rng);
		stride_curve_init(&curve, &plain.cost, &plain.workload, &how, true);
		windows_bound_init(&bound, &curve.speeds, &curve.mean);
		for (size_t i = 0; i < N_STRIDES; i++) {
			const size_t stride = i > 0 ? 2 + gsl_rng_uniform_int(rng, n - 1) : 0, n_windows = stride > 0 ? n / stride : 0;
			const size_t n_cpu = n_windows > 0 ? stride - 1 : 0;
			const struct windows windows = {.how = &how, .cpu = curve.mean, .gpu = curve.mean, .n = n_windows, .n_cpu = n_cpu,
			    .n_left = n - n_windows * (n_cpu + 1)};
			if (n_windows > WINDOWS_FOLLOWED)
				continue;
			const double bound_s = windows_bound_s(&bound, &windows), update_s = stride_curve_s(&curve, stride);
			ck_assert_msg(bound_s > 0 && bound_s <= update_s, "seed %lu, %zu subgroups, stride %zu: bound %.12g, %.12g", seed, n, stride,
			    bound_s, update_s);
			n_near += i == 0 && !downscale_is_a_pass(how.downscale) && bound_s > (1 - 1e-4) * update_s;
		}
	}
	ck_assert_uint_ge(n_near, 50);
	gsl_rng_free(rng);
}
END_TEST

Suite *windows_bound_suite(void);
Suite *windows_bound_suite(void)
{
	Suite *const suite = suite_create("windows_bound");
	TCase *const core = tcase_create("core");
	tcase_add_test(core, ten_subgroups);
	tcase_add_test(core, no_update_is_shorter);
	suite_add_tcase(suite, core);
	return suite;
}
