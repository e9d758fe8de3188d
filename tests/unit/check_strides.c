/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Strides of an update: which are listed, and that the best is that of a search over all of them, whatever is listed.
 */
#include "sim/study/strides.h"

#include <gsl/gsl_rng.h>

#include "sim/sharing.h"
#include "sim/study/trial.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

static struct plain plain;
static struct arena arena;

static void setup(void)
{
	plain_machine(&plain.hw);
}

static void teardown(void)
{
	arena_release(&arena);
}

static void strides_of(struct strides *strides, const struct interleave *how, enum strides_listed listed)
{
	const struct strides_query query = {.cost = &plain.cost, .workload = &plain.workload, .how = how, .listed = listed};
	strides_init(strides, &query, &arena);
}

/* ---- which are listed */

static bool has_stride(const struct strides *s, size_t stride)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->points[i].stride == stride)
			return true;
	return false;
}

START_TEST(all_are_listed_up_to_a_limit)
{
	struct strides all, shown;
	plain_set(&plain, 300);
	const struct interleave how = plain_published(300, 0);
	strides_of(&all, &how, STRIDES_ALL);
	ck_assert_uint_eq(all.n, 301);
	ck_assert_uint_eq(all.n_all, 301);
	strides_of(&shown, &how, STRIDES_SHOWN);
	ck_assert_uint_lt(shown.n, 20);
	ck_assert_uint_eq(shown.n_all, 301);
	for (size_t i = 0; i < shown.n; i++) {
		const struct stride_point *const p = &shown.points[i], *const same = &all.points[p->stride];
		ck_assert_uint_eq(same->stride, p->stride);
		ck_assert(p->update_s == same->update_s && p->idle_update_s == same->idle_update_s);
		ck_assert(p->recurrence_s == same->recurrence_s && p->gpu_fraction_frac == same->gpu_fraction_frac);
	}
	ck_assert_uint_eq(shown.stride_opt, all.stride_opt);
	ck_assert(shown.stride_balance_loss_frac == all.stride_balance_loss_frac);
}
END_TEST

START_TEST(of_many_some_are_listed)
{
	struct strides s;
	plain_curve(&plain.hw.h2d, CURVE_TRANSFER, 20e6); /* the best strides are beyond all that is listed in a row */
	plain_curve(&plain.hw.d2h, CURVE_TRANSFER, 20e6);
	plain_set(&plain, PLAIN_SUBGROUPS_MAX);
	const struct interleave how = plain_published(PLAIN_SUBGROUPS_MAX, 0);
	for (enum strides_listed listed = STRIDES_SHOWN; listed <= STRIDES_ALL; listed++) {
		strides_of(&s, &how, listed);
		ck_assert_uint_eq(s.n_all, PLAIN_SUBGROUPS_MAX + 1);
		ck_assert_uint_lt(s.n, listed == STRIDES_SHOWN ? 20 : 2000);
		ck_assert_uint_eq(s.points[0].stride, 0);
		ck_assert_uint_eq(s.points[s.n - 1].stride, PLAIN_SUBGROUPS_MAX);
		for (size_t i = 1; i < s.n; i++)
			ck_assert_uint_gt(s.points[i].stride, s.points[i - 1].stride);
		ck_assert_uint_eq(s.points[s.opt].stride, s.stride_opt);
		ck_assert(has_stride(&s, (size_t)s.stride_balance));
		ck_assert(has_stride(&s, 12));
		ck_assert(has_stride(&s, 1024) == (listed == STRIDES_ALL));
	}
}
END_TEST

/* ---- the best */

/* Also machines on which streaming pays hardly or not at all, and best strides are long. */
static void random_plain(gsl_rng *rng, size_t n_max, bool is_equal)
{
	plain_machine(&plain.hw);
	plain_curve(&plain.hw.h2d, CURVE_TRANSFER, plain_between(rng, 1e9, 100e9));
	plain_curve(&plain.hw.d2h, CURVE_TRANSFER, plain.hw.h2d.rate[0] * plain_between(rng, 0.8, 1.25));
	plain.hw.h2d_duplex_Bps = plain.hw.h2d.rate[0] * plain_between(rng, 0.5, 1);
	plain.hw.d2h_duplex_Bps = plain.hw.d2h.rate[0] * plain_between(rng, 0.5, 1);
	plain_curve(&plain.hw.cpu_adam, CURVE_THREADS, plain_between(rng, 3e8, 20e9));
	plain_curve(&plain.hw.cpu_downscale, CURVE_THREADS, plain_between(rng, 5e8, 20e9));
	plain.hw.workers = 1 + (double)gsl_rng_uniform_int(rng, 16);
	plain.hw.dram_Bps = plain_between(rng, 50e9, 500e9);
	plain.hw.cpu_subgroup_s = plain_between(rng, 1e-6, 1e-3);
	plain.hw.stream_subgroup_s = plain_between(rng, 1e-6, 1e-1);
	plain.hw.pcie_root_Bps = plain_between(rng, 20e9, 400e9);
	if (gsl_rng_uniform_int(rng, 2) == 0)
		plain_latency(&plain.hw, rng);
	plain_set(&plain, 1 + gsl_rng_uniform_int(rng, n_max));
	const double size = floor(plain_between(rng, 1e5, 2e8));
	for (size_t x = 0; x < plain.workload.n_subgroups; x++)
		plain.subgroups[x].n_params = is_equal ? size : floor(plain_between(rng, 1e5, 2e8));
	plain_refresh(&plain);
}

static struct interleave random_how(gsl_rng *rng)
{
	const enum downscale downscale = (enum downscale)gsl_rng_uniform_int(rng, 4);
	const enum chain chain =
	    downscale == DOWNSCALE_SPLIT ? (enum chain)(1 + gsl_rng_uniform_int(rng, 2)) : (enum chain)gsl_rng_uniform_int(rng, 3);
	const size_t n = plain.workload.n_subgroups;
	struct interleave how = {.chain = chain, .downscale = downscale, .buffers = chain == CHAIN_DUPLEX ? 1 + gsl_rng_uniform_int(rng, 3) : 1,
	    .has_bf16_grads = gsl_rng_uniform_int(rng, 2) == 1, .waits_for_fetch = gsl_rng_uniform_int(rng, 4) > 0,
	    .n_dynamic = gsl_rng_uniform_int(rng, 2) == 0 ? n : n - gsl_rng_uniform_int(rng, n)};
	how.has_separate_unscale = !how.has_bf16_grads && gsl_rng_uniform_int(rng, 2) == 1;
	return how;
}

static size_t full_search(const struct interleave *how)
{
	struct stride_curve curve;
	size_t best = 0;
	stride_curve_init(&curve, &plain.cost, &plain.workload, how, true);
	double best_s = strides_update_s(&curve, 0);
	for (size_t k = 1; k <= how->n_dynamic; k++) {
		const double stride_s = strides_update_s(&curve, k);
		if (stride_s < best_s) {
			best = k;
			best_s = stride_s;
		}
	}
	return best;
}

static void expect_full_search(unsigned long first_seed, unsigned long n_seeds, size_t n_max, bool is_equal)
{
	size_t n_long = 0;
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	for (unsigned long seed = first_seed; seed < first_seed + n_seeds; seed++) {
		struct strides s;
		gsl_rng_set(rng, seed);
		random_plain(rng, n_max, is_equal);
		const struct interleave how = random_how(rng);
		const size_t best = full_search(&how);
		strides_of(&s, &how, STRIDES_SHOWN);
		ck_assert_msg(s.stride_opt == best, "seed %lu, %zu subgroups: %zu, by a full search %zu", seed, how.n_dynamic, s.stride_opt, best);
		n_long += best > 100;
		arena_reset(&arena);
	}
	ck_assert_msg(n_long >= n_seeds / 50, "only %zu long strides", n_long);
	gsl_rng_free(rng);
}

START_TEST(the_best_of_equal_subgroups) /* E19 */
{
	expect_full_search(1, 200, 3000, true);
}
END_TEST

START_TEST(the_best_of_unequal_subgroups) /* E19 */
{
	expect_full_search(1, 200, 1000, false);
}
END_TEST

/* Windows that are extrapolated may move less than all their traffic: what lags is not in them. */
START_TEST(the_best_where_windows_lag) /* E19 */
{
	expect_full_search(2040, 1, 9000, true);
}
END_TEST

/* ---- memory without a run */

START_TEST(memory_of_an_update_is_that_of_its_run)
{
	static const char *const specs[] = {"dos:stride=3", "dos:stride=2,chain=duplex,downscale=split,grads=bf16,ratio=0.5",
	    "hybrid:fraction=0.4", "zero3-offload", "twinflow:ratio=0.5", "gpu-only"};
	plain.hw.gpu_memory_bytes = 40e9;
	plain.hw.host_memory_bytes = 150e9;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		const struct trial_input input = {.hw = &plain.hw, .batch = {.gpus = 1, .n_subgroups = 50, .subgroup_params = 3e7 * (double)(i + 1)},
		    .policy = specs[i], .sharing = &sharing_fluid};
		struct trial trial;
		struct metrics m;
		struct err err = {0};
		ck_assert_msg(trial_run(&trial, &input, &arena, &err) == 0, "%s", err.text);
		ck_assert_int_eq(trial_memory(&m, &input, &arena, &err), 0);
		ck_assert(m.gpu_peak_bytes == trial.metrics.gpu_peak_bytes && m.host_peak_bytes == trial.metrics.host_peak_bytes);
		ck_assert(m.fits == trial.metrics.fits && !m.reason == !trial.metrics.reason);
		ck_assert(m.fits || strcmp(m.reason, trial.metrics.reason) == 0);
	}
}
END_TEST

Suite *strides_suite(void);
Suite *strides_suite(void)
{
	Suite *const suite = suite_create("strides");
	TCase *const core = tcase_create("core"), *const property = tcase_create("property");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_checked_fixture(property, setup, teardown);
	tcase_add_test(core, all_are_listed_up_to_a_limit);
	tcase_add_test(core, of_many_some_are_listed);
	tcase_add_test(core, memory_of_an_update_is_that_of_its_run);
	tcase_add_test(property, the_best_of_equal_subgroups);
	tcase_add_test(property, the_best_of_unequal_subgroups);
	tcase_add_test(property, the_best_where_windows_lag);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, property);
	return suite;
}
