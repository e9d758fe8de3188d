/* SPDX-License-Identifier: GPL-3.0-or-later
 * Recovery: runs of a simulated machine, fitted from the profile of another, must predict strides that were not run. Truths are draws
 * of a profile by what it says of its own uncertainty; measured values carry noise. No recorded run is used. */
#include "sim/study/fit.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>

#include "sim/sharing.h"
#include "sim/study/sample.h"
#include "tests/unit/test_util.h"

Suite *fit_recover_suite(void);

static struct arena arena;
static struct err err;
static const struct opt_list none = {0};

#define HEAD "id,hw,model,gpus,policy,forward_s,backward_s,update_s\n"
#define ROW(id, policy) id ",m,7b,4," policy ",1,1,1\n"
static const char fit_rows[] = HEAD ROW("zero3", "zero3-offload") ROW("k2", "dos:stride=2") ROW("k10", "dos:stride=10");
static const char unseen_rows[] = HEAD ROW("k3", "dos:stride=3") ROW("k4", "dos:stride=4") ROW("k5", "dos:stride=5")
    ROW("k6", "dos:stride=6") ROW("k8", "dos:stride=8");

static const struct pair {
	const char *truth, *start;
} pairs[] = {{"a100-4x", "dgx-a100"}, {"a100-4x", "dgx-h100"}, {"h100-4x", "dgx-h100"}, {"h100-4x", "dgx-a100"},
    {"dgx-a100", "a100-4x"}, {"dgx-h100", "rtx5090-pcie5"}};
enum { DRAWS = 1, N_FITS = N_ELEMENTS(pairs) * DRAWS };
static const unsigned long long seed = 20261129;
static const double noise_frac = 0.02;

static void teardown(void)
{
	arena_release(&arena);
}

static void cases_of(struct fit_cases *cases, const char *text)
{
	struct rows *const rows = arena_alloc(&arena, 1, sizeof(*rows));

	*cases = (struct fit_cases){0};
	ck_assert_msg(rows_parse(rows, "t.csv", text, strlen(text), &arena, &err) == 0, "%s", err.text);
	ck_assert_msg(fit_cases_add_rows(cases, rows, &none, &arena, &err) == 0, "%s", err.text);
}

static double *predict(const struct hwprofile *hw, const struct fit_cases *cases)
{
	struct fit_model m = {.start = hw, .cases = cases->cases, .n_cases = cases->n, .sharing = &sharing_fluid};
	double *const predicted = arena_alloc(&arena, cases->n * QUANTITY_N, sizeof(*predicted));

	ck_assert_msg(fit_model_predict(predicted, &m, NULL, &err) == 0, "%s", err.text);
	fit_model_release(&m);
	return predicted;
}

/* One node for all: what a user gives with --node. */
static void load(struct hwprofile *hw, const char *name)
{
	ck_assert_msg(hwprofile_load(hw, arena_printf(&arena, "hwprofiles/%s.json", name), &arena, &err) == 0, "%s", err.text);
	hw->gpus = 4;
	hw->numa_domains = hw->ranks_per_core_set = hw->gpus_per_pcie_root = 1;
	hw->threads = hw->workers = hw->hw_threads_per_rank = 14;
	hw->threads_per_core = 2;
}

static void measure(struct fit_cases *cases, const double *predicted, gsl_rng *rng)
{
	for (size_t i = 0; i < cases->n * QUANTITY_N; i++) {
		double *const measured = &cases->cases[i / QUANTITY_N].measured[i % QUANTITY_N];
		if (!isnan(*measured))
			*measured = predicted[i] * exp(gsl_ran_gaussian(rng, noise_frac));
	}
}

/* Mean error of updates at strides that the fit did not see; *start: what the start itself says. */
static double unseen_error(double *start_error, const struct pair *pair, size_t draw, gsl_rng *rng)
{
	const struct fit_options options = {.params = &none, .noise_frac = 0.05, .is_l1 = true, .leave = FIT_LEAVE_NONE,
	    .sharing = &sharing_fluid};
	struct hwprofile *const hw = arena_alloc(&arena, 3, sizeof(*hw)); /* profile, its draw, start */
	struct fit_cases seen, unseen;
	struct sampler sampler;
	struct fit_result result;

	load(&hw[0], pair->truth);
	sampler_init(&sampler, &hw[0], seed, &arena);
	sampler_draw(&hw[1], &sampler, &hw[0], draw);
	load(&hw[2], pair->start);
	cases_of(&seen, fit_rows);
	cases_of(&unseen, unseen_rows);
	measure(&seen, predict(&hw[1], &seen), rng);
	ck_assert_msg(fit_run(&result, &hw[2], &seen, &options, &arena, &err) == 0, "%s", err.text);
	const double *const truth = predict(&hw[1], &unseen), *const fitted = predict(result.hw, &unseen);
	const double *const started = predict(&hw[2], &unseen);
	double sum = 0;
	*start_error = 0;
	for (size_t c = 0; c < unseen.n; c++) {
		const size_t at = c * QUANTITY_N + QUANTITY_UPDATE;
		sum += fabs(fitted[at] / truth[at] - 1) / (double)unseen.n;
		*start_error += fabs(started[at] / truth[at] - 1) / (double)unseen.n;
	}
	return sum;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Noise of 2 % and two strides leave 1 to 5 %; a link taken for a full DRAM costs 10 % and more. */
START_TEST(predicts_strides_not_seen)
{
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	double errors[N_FITS], starts[N_FITS];
	const char *each = "";

	gsl_rng_set(rng, seed);
	for (size_t i = 0; i < N_FITS; i++) {
		const struct pair *const pair = &pairs[i / DRAWS];
		errors[i] = unseen_error(&starts[i], pair, i % DRAWS, rng);
		each = arena_printf(&arena, "%s\n%s from %s, draw %zu: %.2f %% (start %.1f %%)", each, pair->truth, pair->start, i % DRAWS,
		    100 * errors[i], 100 * starts[i]);
	}
	gsl_rng_free(rng);
	qsort(errors, N_FITS, sizeof(*errors), by_size);
	qsort(starts, N_FITS, sizeof(*starts), by_size);
	if (getenv("FIT_RECOVER"))
		printf("median %.2f %%, worst %.2f %%%s\n", 100 * errors[N_FITS / 2], 100 * errors[N_FITS - 1], each);
	ck_assert_msg(errors[N_FITS / 2] <= 0.04, "median %.2f %%%s", 100 * errors[N_FITS / 2], each);
	ck_assert_msg(errors[N_FITS - 1] <= 0.08, "worst %.2f %%%s", 100 * errors[N_FITS - 1], each);
	ck_assert_msg(starts[N_FITS / 2] > 0.1, "the starts are no test%s", each);
}
END_TEST

Suite *fit_recover_suite(void)
{
	Suite *const suite = suite_create("fit_recover");
	TCase *const core = tcase_create("core");

	tcase_set_timeout(core, 600);
	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_test(core, predicts_strides_not_seen);
	suite_add_tcase(suite, core);
	return suite;
}
