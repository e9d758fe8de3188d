/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/interval.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>

#include "sim/study/coverage.h"
#include "tests/unit/test_util.h"

Suite *interval_suite(void);

static const char tiny[] = "tests/data/tiny.json";
static const double z90 = 1.6448536269514722;
static struct arena arena;
static struct hwprofile hw;
static struct err err;

static void setup(void)
{
	ck_assert_msg(hwprofile_load(&hw, tiny, &arena, &err) == 0, "%s", err.text);
}

static void teardown(void)
{
	arena_release(&arena);
}

/* ---- quantiles */

/* Equal draws: the factor's own quantiles. E30 */
START_TEST(discrepancy_alone)
{
	double draws[10];
	struct interval v;

	for (size_t i = 0; i < N_ELEMENTS(draws); i++)
		draws[i] = 2;
	interval_of(&v, 2, draws, N_ELEMENTS(draws), 0.1);
	assert_rel(v.lo, 2 * exp(-z90 * 0.1), 1e-6);
	assert_rel(v.hi, 2 * exp(z90 * 0.1), 1e-6);
	ck_assert(v.parameter_frac == 0);
	assert_rel(v.discrepancy_frac, sinh(z90 * 0.1), 1e-12);
	interval_of(&v, 2, draws, N_ELEMENTS(draws), 0);
	ck_assert(v.lo == 2 && v.hi == 2);
	ck_assert(interval_cdf(draws, N_ELEMENTS(draws), 0, 2) == 0.5);
	assert_rel(interval_cdf(draws, N_ELEMENTS(draws), 0.1, 2), 0.5, 1e-12);
}
END_TEST

/* Log-normal draws times a log-normal factor: variances of logarithms add. */
START_TEST(both)
{
	enum { N = 20000 };
	double *const draws = arena_alloc(&arena, N, sizeof(*draws));
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	struct interval v;

	for (size_t i = 0; i < N; i++)
		draws[i] = exp(0.03 * gsl_ran_gaussian(rng, 1));
	gsl_rng_free(rng);
	interval_of(&v, 1, draws, N, 0.04);
	assert_rel(log(v.hi), z90 * 0.05, 0.03);
	assert_rel(log(v.lo), -z90 * 0.05, 0.03);
	assert_rel(v.parameter_frac, z90 * 0.03, 0.03);
	assert_rel(interval_cdf(draws, N, 0.04, v.hi), 0.95, 1e-5);
}
END_TEST

START_TEST(nothing_predicted)
{
	double draws[] = {0, 0, 0};
	struct interval v;

	interval_of(&v, 0, draws, N_ELEMENTS(draws), 0.1);
	ck_assert(v.lo == 0 && v.hi == 0 && interval_half_frac(&v) == 0);
}
END_TEST

/* ---- who is best */

START_TEST(best)
{
	enum { N = 3, DRAWS = 4000 };
	double *const times_s = arena_alloc(&arena, N * DRAWS, sizeof(*times_s));
	struct contest contest = {.times_s = times_s, .n = N, .n_draws = DRAWS, .own_log_sd = 0.05, .seed = 3};
	double p[N], faster[N];

	for (size_t i = 0; i < DRAWS; i++) {
		times_s[i * N] = times_s[i * N + 1] = 1;
		times_s[i * N + 2] = INFINITY;
	}
	contest_judge(p, faster, &contest);
	ck_assert_msg(fabs(p[0] - 0.5) < 0.04, "%g", p[0]); /* 5 standard errors */
	assert_rel(p[0] + p[1], 1, 1e-12);
	ck_assert(p[2] == 0 && faster[0] == 0 && faster[2] == 0);
	assert_rel(faster[1], p[1], 1e-12); /* of two */
	for (size_t i = 0; i < DRAWS; i++)
		times_s[i * N + 1] = 1.05; /* difference of logarithms 0.0488 = 0.69 of sqrt(2) 0.05: E31 */
	contest_judge(p, NULL, &contest);
	assert_rel(p[0], 0.755, 0.04);
	contest.own_log_sd = 0;
	contest_judge(p, NULL, &contest);
	ck_assert(p[0] == 1 && p[1] == 0);
}
END_TEST

/* What a setting shares cancels inside it, and counts against others: 2 % apart are 0.28 of the sd of a difference of 0.05 sqrt(2). */
START_TEST(settings)
{
	enum { N = 3, DRAWS = 4000 };
	static const size_t alike[N] = {0, 0, 0}, third_alone[N] = {0, 0, 2};
	double *const times_s = arena_alloc(&arena, N * DRAWS, sizeof(*times_s));
	struct contest contest = {.times_s = times_s, .n = N, .n_draws = DRAWS, .settings = alike, .setting_log_sd = 0.05, .seed = 3};
	double p[N], faster[N];

	for (size_t i = 0; i < DRAWS; i++) {
		times_s[i * N] = 1;
		times_s[i * N + 1] = times_s[i * N + 2] = 1.02;
	}
	contest_judge(p, faster, &contest);
	ck_assert(p[0] == 1 && faster[1] == 0 && faster[2] == 0);
	contest.settings = third_alone;
	contest_judge(p, faster, &contest);
	ck_assert(p[1] == 0 && faster[1] == 0);
	ck_assert_msg(fabs(faster[2] - 0.39) < 0.04, "%g", faster[2]); /* 5 standard errors */
	assert_rel(p[0] + p[2], 1, 1e-12);
}
END_TEST

/* ---- alternatives */

static const char *const specs[] = {"zero3-offload", "dos:stride=2", "dos:stride=2", "hybrid"};
enum { N_SPECS = N_ELEMENTS(specs) };

static void run(struct outcome outcomes[N_SPECS], size_t n, size_t n_workers)
{
	const struct uncertainty_options options = {.sharing = &sharing_fluid, .n_samples = 60, .n_workers = n_workers, .seed = 5};
	struct uncertainty u;
	struct trial_input inputs[N_SPECS];

	ck_assert_msg(uncertainty_init(&u, &hw, &options, &arena, &err) == 0, "%s", err.text);
	for (size_t i = 0; i < n; i++) {
		inputs[i] = (struct trial_input){.hw = &hw, .shape = {.name = "t", .layers = 4, .hidden = 1024, .heads = 16, .ffn = 4096,
		    .vocab = 32000}, .batch = {.has_checkpointing = true, .subgroup_params = 10e6}, .policy = specs[i],
		    .sharing = &sharing_fluid};
	}
	ck_assert_msg(outcomes_find(outcomes, &u, inputs, n, &arena, &err) == 0, "%s", err.text);
}

START_TEST(threads_do_not_matter)
{
	struct outcome one[N_SPECS], other[N_SPECS];
	static const size_t workers[] = {2, 5, 16};

	run(one, N_SPECS, 1);
	for (size_t i = 0; i < N_ELEMENTS(workers); i++) {
		run(other, N_SPECS, workers[i]);
		ck_assert(memcmp(one, other, sizeof(one)) == 0);
	}
}
END_TEST

/* The same alternative twice has the same interval, and one more alternative changes none. */
START_TEST(common_random_numbers)
{
	struct outcome all[N_SPECS], two[N_SPECS];

	run(all, N_SPECS, 2);
	run(two, 2, 2);
	ck_assert(memcmp(&all[1].of, &all[2].of, sizeof(all[1].of)) == 0);
	ck_assert(memcmp(&all[0].of, &two[0].of, sizeof(all[0].of)) == 0);
	ck_assert(memcmp(&all[1].of, &two[1].of, sizeof(all[1].of)) == 0);
	assert_rel(all[0].p_best + all[1].p_best + all[2].p_best + all[3].p_best, 1, 1e-12);
	for (size_t i = 0; i < N_SPECS; i++) {
		const struct interval *const v = &all[i].of[QUANTITY_ITERATION];
		ck_assert(v->lo < v->predicted && v->predicted < v->hi && v->parameter_frac > 0);
		ck_assert(all[i].p_fits == 1);
	}
}
END_TEST

/* A peak that fills the memory is as likely above it as below; one of 5 % less, as surely below as its error is normal in the logarithm. */
START_TEST(fits_as_surely_as_memory_is_known)
{
	const double host_bytes = hw.host_memory_bytes;
	const double *sd = NULL;
	struct outcome o[N_SPECS];
	struct evidence evidence;
	struct discrepancy off;

	run(o, 1, 1);
	ck_assert(evidence_load(&evidence, &sharing_fluid, SYNC_PHASE, &arena, &err) == 0);
	discrepancy_without(&off, &evidence, hw.name);
	sd = &off.log_sd[QUANTITY_HOST_PEAK];
	ck_assert(*sd > 0.01 && o[0].p_fits == 1);
	hw.host_memory_bytes = o[0].of[QUANTITY_HOST_PEAK].predicted;
	run(o, 1, 1);
	assert_rel(o[0].p_fits, 0.5, 1e-12);
	hw.host_memory_bytes *= 1.05;
	run(o, 1, 1);
	assert_rel(o[0].p_fits, gsl_cdf_ugaussian_P(log(1.05) / *sd), 1e-9);
	hw.host_memory_bytes = host_bytes;
}
END_TEST

/* ---- discrepancy and coverage */

#define HEAD "id,hw,model,gpus,policy,subgroup,n_subgroups,threads,update_s\n"

/* rows of "update" measured as predicted times exp(residual), two settings of two */
static void predict(struct rows *rows, struct validation *v, const double *residuals, size_t n)
{
	const struct opt_list all = {0};
	const struct validate_options options = {.ids = &all, .sharing = &sharing_fluid};
	const char *text = HEAD;

	for (size_t i = 0; i < n; i++)
		text = arena_printf(&arena, "%sr%zu,%s,,1,\"dos:stride=%zu,chain=duplex\",10000000,%zu,8,1\n", text, i, tiny, i % 4 + 2,
		    8 + 2 * (i / 2 % 4));
	*v = (struct validation){.n = 0};
	ck_assert_msg(rows_parse(rows, "t.csv", text, strlen(text), &arena, &err) == 0, "%s", err.text);
	ck_assert_msg(validate_rows(v, rows, &options, &arena, &err) == 0, "%s", err.text);
	for (size_t i = 0; i < n; i++)
		rows->rows[i].measured[QUANTITY_UPDATE] = v->predictions[i].predicted[QUANTITY_UPDATE] * exp(residuals ? residuals[i] : 0);
}

START_TEST(leave_one_out)
{
	static const double residuals[] = {0.03, 0.01, -0.05, -0.07};
	struct evidence evidence = {.n = 0};
	struct discrepancy d;
	struct validation v;
	struct rows rows;

	predict(&rows, &v, residuals, 4);
	evidence_add(&evidence, &v, tiny, 1u << QUANTITY_UPDATE, &arena);
	discrepancy_without(&d, &evidence, "another");
	assert_rel(d.log_sd[QUANTITY_UPDATE], sqrt((9 + 1 + 25 + 49) * 1e-4 / 4), 1e-9);
	assert_rel(d.own_log_sd[QUANTITY_UPDATE], sqrt(4e-4 / 2), 1e-9); /* 0.01 about each mean, one degree of freedom a setting */
	ck_assert(d.n_machines[QUANTITY_UPDATE] == 1 && d.n_rows[QUANTITY_UPDATE] == 4 && d.log_sd[QUANTITY_FORWARD] == 0);
	discrepancy_without(&d, &evidence, tiny);
	ck_assert(d.n_machines[QUANTITY_UPDATE] == 0 && d.log_sd[QUANTITY_UPDATE] == 0);
}
END_TEST

/* Truth known: each row from a machine drawn with another seed, times a factor of the discrepancy. */
static void measure_synthetic(struct rows *rows, const struct validation *v, double log_sd)
{
	const struct validate_options options = {.sharing = &sharing_fluid};
	struct hwprofile *const truth = arena_alloc(&arena, 1, sizeof(*truth));
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	struct sampler sampler;

	gsl_rng_set(rng, 99);
	sampler_init(&sampler, &hw, 12345, &arena);
	for (size_t i = 0; i < rows->n; i++) {
		struct arena own = {0};
		double predicted[QUANTITY_N];
		sampler_draw(truth, &sampler, &hw, i);
		ck_assert(prediction_run(predicted, &v->predictions[i], truth, &options, &own, &err) == 0);
		rows->rows[i].measured[QUANTITY_UPDATE] = predicted[QUANTITY_UPDATE] * exp(log_sd * gsl_ran_gaussian(rng, 1));
		arena_release(&own);
	}
	gsl_rng_free(rng);
}

START_TEST(coverage_of_known_truth)
{
	enum { N_ROWS = 400 };
	const struct uncertainty_options options = {.sharing = &sharing_fluid, .n_samples = 100, .n_workers = 2, .seed = 1};
	static const double levels[] = {0.3, 0.5, 0.7, 0.9};
	struct evidence evidence;
	struct discrepancy d;
	struct validation v;
	struct coverage c;
	struct coverage_counts counts;
	struct rows rows;

	predict(&rows, &v, NULL, N_ROWS);
	ck_assert_msg(evidence_load(&evidence, &sharing_fluid, SYNC_PHASE, &arena, &err) == 0, "%s", err.text);
	discrepancy_without(&d, &evidence, hw.name);
	ck_assert(d.log_sd[QUANTITY_UPDATE] > 0);
	measure_synthetic(&rows, &v, d.log_sd[QUANTITY_UPDATE]);
	ck_assert_msg(coverage_find(&c, &v, &options, &arena, &err) == 0, "%s", err.text);
	coverage_count(&counts, &c, &v, QUANTITY_UPDATE, NULL, COVERAGE_COUNTED, &arena);
	ck_assert(counts.n == N_ROWS && counts.half_frac > counts.parameter_frac && counts.half_frac > counts.discrepancy_frac * 0.95);
	for (size_t i = 0; i < N_ELEMENTS(levels); i++) {
		const double inside = coverage_at(&c, &v, QUANTITY_UPDATE, levels[i]);
		const double error = sqrt(levels[i] * (1 - levels[i]) / N_ROWS);
		ck_assert_msg(fabs(inside - levels[i]) < 3.5 * error, "%g of %g inside, standard error %g", inside, levels[i], error);
	}
	assert_rel((double)counts.n_inside / N_ROWS, coverage_at(&c, &v, QUANTITY_UPDATE, 0.9), 0.01);
}
END_TEST

/* The recorded runs, as they ship. */
START_TEST(coverage_of_recorded_runs)
{
	static const char *const sets[] = {"published", "h200"};
	const struct opt_list all = {0};
	const struct validate_options how = {.ids = &all, .sharing = &sharing_fluid};
	const struct uncertainty_options options = {.sharing = &sharing_fluid, .n_samples = 60, .n_workers = 2, .seed = 1};
	struct validation v = {0};
	struct coverage c;
	struct coverage_counts counts;

	for (size_t i = 0; i < N_ELEMENTS(sets); i++) {
		struct rows *const rows = arena_alloc(&arena, 1, sizeof(*rows));
		ck_assert(rows_load(rows, sets[i], &arena, &err) == 0 && validate_rows(&v, rows, &how, &arena, &err) == 0);
	}
	ck_assert_msg(coverage_find(&c, &v, &options, &arena, &err) == 0, "%s", err.text);
	coverage_count(&counts, &c, &v, QUANTITY_N, NULL, COVERAGE_COUNTED, &arena);
	const double inside = (double)counts.n_inside / (double)counts.n;
	ck_assert_msg(inside >= 0.80 && inside <= 0.97, "%g of %zu inside", inside, counts.n);
	ck_assert_msg(counts.half_frac <= 0.10, "median half width %g", counts.half_frac);
}
END_TEST

Suite *interval_suite(void)
{
	Suite *const suite = suite_create("interval");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, discrepancy_alone);
	tcase_add_test(core, both);
	tcase_add_test(core, nothing_predicted);
	tcase_add_test(core, best);
	tcase_add_test(core, settings);
	tcase_add_test(core, threads_do_not_matter);
	tcase_add_test(core, common_random_numbers);
	tcase_add_test(core, fits_as_surely_as_memory_is_known);
	tcase_add_test(core, leave_one_out);
	tcase_add_test(core, coverage_of_known_truth);
	tcase_add_test(core, coverage_of_recorded_runs);
	suite_add_tcase(suite, core);
	return suite;
}
