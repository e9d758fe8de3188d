/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the probe makes of samples: statistics, activities, the fluid fit, the profile file. */
#include <stdlib.h>
#include <unistd.h>

#include "model/base/latency.h"
#include "model/base/latency_fit.h"
#include "probe/activity.h"
#include "probe/clock.h"
#include "probe/profile_write.h"
#include "probe/stats.h"
#include "tests/unit/bare_harness.h"
#include "tests/unit/test_util.h"

Suite *probe_measure_suite(void);

START_TEST(order_statistics)
{
	const double samples[] = {9, 1, 5, 3, 7, 2, 8, 4, 6, 100, 0}; /* 11: the interval is the 2nd to the 10th */
	struct stats stats;
	stats_of(&stats, samples, 11);
	ck_assert_double_eq(stats.median, 5);
	ck_assert_double_eq(stats.lo, 1);
	ck_assert_double_eq(stats.hi, 9);
	ck_assert_double_eq(stats.mad, 3);
	ck_assert_double_eq(stats.min, 0);
	ck_assert_double_eq(stats.max, 100);
	ck_assert_uint_eq(stats.n_outliers, 1);
	ck_assert(stats.noisy);
	static const size_t ranks[][2] = {{5, 0}, {6, 1}, {8, 1}, {9, 2}, {11, 2}, {12, 3}, {20, 6}, {25, 8}, {50, 18}};
	for (size_t i = 0; i < N_ELEMENTS(ranks); i++)
		ck_assert_uint_eq(stats_median_rank(ranks[i][0]), ranks[i][1]);
}
END_TEST

START_TEST(one_sample_and_drift)
{
	const double one[] = {4}, rising[] = {1.00, 1.01, 1.00, 1.02, 1.05, 1.04, 1.10, 1.11, 1.10};
	struct stats stats;
	stats_of(&stats, one, 1);
	ck_assert_double_eq(stats.lo, 4);
	ck_assert_double_eq(stats.hi, 4);
	ck_assert(!stats.noisy && !stats.drifting);
	stats_of(&stats, rising, 9);
	assert_rel(stats.drift_frac, 0.10, 1e-9);
}
END_TEST

/* Steps of a known rate: sleep 2 ms, report 7 units. */
static double nap(void *context)
{
	(void)context;
	clock_sleep_s(0.002);
	return 7;
}

START_TEST(activities_give_their_rate)
{
	const struct activity activities[2] = {{.step = nap}, {.step = nap}};
	const struct activity_plan plan = {
	    .warm_s = 0.01, .window_s = 0.02, .limit_s = 0.5, .n_min = 7, .n_max = 9, .precision_frac = 0.02};
	struct activity_result results[2];
	activity_measure(results, activities, 2, &plan);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_ge(results[i].n, 7);
		const double rate = stats_median(results[i].samples, results[i].n);
		ck_assert_double_le(rate, 3500 * 1.001); /* a nap lasts at least 2 ms */
		ck_assert_double_ge(rate, 300);
	}
}
END_TEST

/* Cells made by the model itself: the fit finds the constants again. */
START_TEST(fit_finds_its_constants)
{
	const struct fluid_constants truth = {150e9, {1, 0.9, 2.5}};
	struct fluid_cell cells[12];
	for (size_t i = 0; i < 12; i++) {
		cells[i] = (struct fluid_cell){.n_flows = 3,
		    .flows = {{(40 + 10 * (double)i) * 1e9, 1, FLUID_CPU}, {50e9, 1, FLUID_H2D}, {48e9, 1, FLUID_D2H}}};
		double speeds[FLUID_FLOWS_MAX];
		fluid_speeds(speeds, &cells[i], &truth);
		for (size_t j = 0; j < 3; j++)
			cells[i].flows[j].speed_frac = speeds[j];
	}
	struct fluid_fit fit;
	ck_assert(fluid_fit_of(&fit, cells, 12));
	assert_rel(fit.split.capacity_Bps, truth.capacity_Bps, 0.02);
	assert_rel(fit.split.weights[FLUID_H2D], 0.9, 0.1);
	ck_assert_double_lt(fit.split_error_frac, 0.02);
	ck_assert_double_le(fit.split_error_frac, fit.shared_error_frac);
	ck_assert(!fluid_fit_of(&fit, cells, 0));
}
END_TEST

/* Cells of one copy beside Adam of 100 GB/s, by the model; a copy that is always held back, or never, says where its weight ends. */
static void fit_beside(struct fluid_fit *fit, const struct fluid_constants *truth, enum fluid_kind kind)
{
	struct fluid_cell cells[4];
	for (size_t i = 0; i < 4; i++) {
		const double copy_Bps = (60 + 2 * (double)i) * 1e9;
		double speeds[FLUID_FLOWS_MAX];
		cells[i] = (struct fluid_cell){.n_flows = 2, .flows = {{100e9, 1, FLUID_CPU}, {copy_Bps, 1, kind}}};
		fluid_speeds(speeds, &cells[i], truth);
		for (size_t j = 0; j < 2; j++)
			cells[i].flows[j].speed_frac = speeds[j];
	}
	ck_assert(fluid_fit_of(fit, cells, 4));
}

START_TEST(an_open_weight_is_the_one_nearest_to_1)
{
	/* 152 GB/s: Adam keeps its speed while 152 - 100 >= copy w, so up to w = 52 / 66; a copy does from 1 / ((152 - 66) / 100) on. */
	const struct fluid_constants light = {152e9, {1, 0.3, 0.3}}, heavy = {152e9, {1, 5, 5}};
	struct fluid_fit fit;
	fit_beside(&fit, &light, FLUID_H2D);
	assert_rel(fit.split.weights[FLUID_H2D], 52. / 66, 0.06); /* of steps of 3.5 % the last that fits */
	ck_assert_double_le(fit.split.weights[FLUID_H2D], 52. / 66);
	assert_rel(fit.split_weights[FLUID_H2D].lo, 0.25, 1e-12);
	ck_assert(!fluid_is_open(&fit.split_weights[FLUID_H2D]));
	ck_assert_double_eq(fit.split.weights[FLUID_D2H], 1); /* no such copy */
	ck_assert(fluid_is_open(&fit.split_weights[FLUID_D2H]));
	fit_beside(&fit, &heavy, FLUID_D2H);
	assert_rel(fit.split.weights[FLUID_D2H], 100. / 86, 0.06);
	ck_assert_double_ge(fit.split.weights[FLUID_D2H], 100. / 86);
	assert_rel(fit.split_weights[FLUID_D2H].hi, 16, 1e-12);
	ck_assert_double_lt(fit.split_error_frac, 0.01);
}
END_TEST

START_TEST(speeds_fill_the_capacity)
{
	const struct fluid_cell cell = {{{100e9, 1, FLUID_CPU}, {50e9, 1, FLUID_H2D}}, 2};
	const struct fluid_constants wide = {200e9, {1, 2, 2}}, narrow = {120e9, {1, 2, 2}};
	double speeds[FLUID_FLOWS_MAX];
	ck_assert(!fluid_speeds(speeds, &cell, &wide));
	ck_assert_double_eq(speeds[0], 1);
	ck_assert(fluid_speeds(speeds, &cell, &narrow));
	assert_rel(speeds[0], 0.7, 1e-6); /* the copy reaches 1 at t = 0.5; the CPU has what is left */
	assert_rel(speeds[1], 1, 1e-6);
}
END_TEST

static void add_result(struct harness *harness, const char *key, const char *what, double x, double rate)
{
	const struct probe_case probe_case = {.key = key};
	const struct measured measured = {.what = what, .x = x, .bytes_per_unit = 28, .unit = UNIT_PARAMS_PER_S};
	const double samples[] = {rate, rate, rate, rate, rate, rate, rate};
	harness_record(harness, &probe_case, "point", &measured, samples, 7);
}

/* Speeds of the flows of a cell by the law of loaded latency. */
static void latency_speeds_of(double speeds[FLUID_FLOWS_MAX], const struct fluid_cell *cell, const struct latency_constants *c)
{
	struct latency_user users[FLUID_FLOWS_MAX];
	for (size_t i = 0; i < cell->n_flows; i++) {
		const double follows_frac[] = {1, c->h2d_follows_frac, c->d2h_follows_frac}, load[] = {1, c->h2d_load, c->d2h_load};
		const enum fluid_kind kind = cell->flows[i].kind;
		users[i] = (struct latency_user){load[kind] * cell->flows[i].demand_Bps, follows_frac[kind]};
	}
	latency_speeds(speeds, users, cell->n_flows, c->limit_Bps, 1);
}

/* A co-run of Adam and copies, as the contention grid records one: speeds by the model of `truth`, or by that of `latency` if given. */
static void add_corun(struct harness *harness, const struct fluid_constants *truth, const struct latency_constants *latency,
    double threads, bool has_h2d, bool has_d2h)
{
	static const struct probe_case probe_case = {.key = "contention_copies"};
	const char *const with = has_h2d && has_d2h ? "duplex" : has_h2d ? "h2d" : has_d2h ? "d2h" : "";
	struct fluid_cell cell = {.flows = {{threads * 10e9, 1, FLUID_CPU}}, .n_flows = 1};
	char label[HARNESS_LABEL_MAX];
	double speeds[FLUID_FLOWS_MAX];

	if (has_h2d)
		cell.flows[cell.n_flows++] = (struct fluid_flow){50e9, 1, FLUID_H2D};
	if (has_d2h)
		cell.flows[cell.n_flows++] = (struct fluid_flow){50e9, 1, FLUID_D2H};
	if (latency)
		latency_speeds_of(speeds, &cell, latency);
	else
		fluid_speeds(speeds, &cell, truth);
	snprintf(label, sizeof label, "t=%g with %s", threads, with);
	for (size_t i = 0; i < cell.n_flows; i++) {
		static const char *const whats[] = {"cpu_adam", "h2d", "d2h"};
		const double bytes = i == 0 ? 28 : 1, rate = cell.flows[i].demand_Bps / bytes * speeds[i];
		const double samples[] = {rate, rate, rate, rate, rate, rate, rate};
		const struct measured measured = {.what = whats[cell.flows[i].kind],
		    .with = i == 0 ? with : "cpu_adam",
		    .x = i == 0 ? threads : 1,
		    .bytes_per_unit = bytes,
		    .unit = i == 0 ? UNIT_PARAMS_PER_S : UNIT_BYTES_PER_S};
		harness_record(harness, &probe_case, label, &measured, samples, 7);
	}
}

static double value_of(const struct derived *derived, const char *name)
{
	for (size_t i = 0; i < derived->n_values; i++)
		if (strcmp(derived->values[i].name, name) == 0)
			return derived->values[i].value;
	return NAN;
}

/* Adam of 4 to 14 threads alone, beside copies of each direction and of both. */
static struct harness *grid_of(const struct fluid_constants *truth, const struct latency_constants *latency)
{
	struct harness *const harness = harness_new();
	add_result(harness, "host_to_device_memcpy_ce", "h2d", 64 << 20, 50e9);
	add_result(harness, "device_to_host_memcpy_ce", "d2h", 64 << 20, 50e9);
	for (size_t i = 0; i < 2; i++) {
		const struct probe_case duplex = {.key = "bidirectional_memcpy_ce"};
		const struct measured measured = {.what = i ? "d2h" : "h2d", .with = i ? "h2d" : "d2h", .unit = UNIT_BYTES_PER_S};
		const double samples[] = {50e9, 50e9, 50e9, 50e9, 50e9, 50e9, 50e9};
		harness_record(harness, &duplex, "64 MiB", &measured, samples, 7);
	}
	for (double threads = 4; threads <= 14; threads += 2)
		for (int with = 0; with < 4; with++)
			add_corun(harness, truth, latency, threads, with & 1, with & 2);
	return harness;
}

START_TEST(weights_by_direction_are_values)
{
	const struct fluid_constants truth = {120e9, {1, 0.6, 1.3}};
	struct harness *const harness = grid_of(&truth, NULL);
	struct derived *const derived = calloc(1, sizeof *derived);
	derive(derived, harness);
	assert_rel(value_of(derived, "dram_Bps"), 120e9, 0.02);
	assert_rel(value_of(derived, "h2d_weight"), 0.6, 0.1);
	assert_rel(value_of(derived, "d2h_weight"), 1.3, 0.1);
	ck_assert(value_of(derived, "dma_weight") > 0.6 && value_of(derived, "dma_weight") < 1.3);
	const struct derived_value *const dram = &derived->values[0];
	ck_assert_str_eq(dram->name, "dram_Bps");
	ck_assert(dram->lo <= dram->value && dram->value <= dram->hi);
	assert_has(dram->source, "a copy weight per direction");
	free(harness->results);
	free(harness);
	free(derived);
}
END_TEST

/* Copies from the device alone: what it takes for the others nobody measured. */
START_TEST(a_weight_nobody_measured_is_assumed)
{
	const struct fluid_constants truth = {140e9, {1, 1, 1.3}};
	struct harness *const harness = harness_new();
	struct derived *const derived = calloc(1, sizeof *derived);
	add_result(harness, "device_to_host_memcpy_ce", "d2h", 64 << 20, 50e9);
	for (double threads = 4; threads <= 14; threads += 2) {
		add_corun(harness, &truth, NULL, threads, false, false);
		add_corun(harness, &truth, NULL, threads, false, true);
	}
	derive(derived, harness);
	ck_assert_double_eq(value_of(derived, "h2d_weight"), 1);
	assert_rel(value_of(derived, "d2h_weight"), 1.3, 0.05);
	for (size_t i = 0; i < derived->n_values; i++) {
		const struct derived_value *const value = &derived->values[i];
		const bool is_h2d = strcmp(value->name, "h2d_weight") == 0;
		if (is_h2d || strcmp(value->name, "d2h_weight") == 0)
			ck_assert_str_eq(value->kind, is_h2d ? "assumed" : "measured");
		if (is_h2d)
			assert_has(value->source, "; 0.25 to 16 fit as well");
	}
	harness_free(harness);
	free(derived);
}
END_TEST

START_TEST(loaded_latency_is_values) /* E32 */
{
	const struct latency_constants truth = {200e9, 0.5, 0.9, 0.2, 0.05, 0.5};
	struct harness *const harness = grid_of(NULL, &truth);
	struct derived *const derived = calloc(1, sizeof *derived);
	derive(derived, harness);
	assert_rel(value_of(derived, "dram_latency_Bps"), truth.limit_Bps, 0.01);
	assert_rel(value_of(derived, "h2d_dram_load"), truth.h2d_load, 0.02);
	assert_rel(value_of(derived, "d2h_dram_load"), truth.d2h_load, 0.02);
	ck_assert_double_eq_tol(value_of(derived, "h2d_latency_frac"), truth.h2d_follows_frac, 0.01);
	ck_assert_double_eq_tol(value_of(derived, "d2h_latency_frac"), truth.d2h_follows_frac, 0.01);
	ck_assert(!isnan(value_of(derived, "downscale_latency_frac")));
	for (size_t i = 0; i < derived->n_values; i++) {
		const struct derived_value *const value = &derived->values[i];
		if (strcmp(value->name, "dram_latency_Bps") == 0)
			ck_assert(0.99 * truth.limit_Bps < value->lo && value->lo <= value->value && value->value <= value->hi);
		if (strcmp(value->name, "downscale_latency_frac") == 0)
			ck_assert(value->lo == 0 && value->hi == 1); /* not in this grid */
	}
	ck_assert(!isnan(value_of(derived, "dram_Bps"))); /* the closed form and --hw without E32 use it */
	free(harness->results);
	harness->results = NULL;
	harness->n_results = 0;
	derive(derived, harness);
	ck_assert(isnan(value_of(derived, "dram_latency_Bps")));
	free(harness);
	free(derived);
}
END_TEST

START_TEST(profile_of_a_machine_without_gpu)
{
	struct harness *const harness = calloc(1, sizeof *harness);
	struct derived *const derived = calloc(1, sizeof *derived);
	harness->results = calloc(HARNESS_RESULTS_MAX, sizeof harness->results[0]);
	harness->kernels = &kernels_scalar;
	harness->n_cpus = 4;
	topology_read(&harness->topology);
	add_result(harness, "cpu_adam", "cpu_adam", 1, 1e9);
	add_result(harness, "cpu_adam", "cpu_adam", 4, 3e9);
	derive(derived, harness);
	assert_rel(derive_alone(harness, "cpu_adam", "cpu_adam", 2), 1e9 + 2e9 / 3, 1e-12);
	char path[] = "/tmp/check_probe_XXXXXX", text[1 << 15] = "";
	ck_assert_int_ge(mkstemp(path), 0);
	struct err err;
	const struct profile_facts facts = {"test", "dos-probe run", "", true};
	ck_assert_int_eq(profile_write(path, harness, derived, &facts, &err), 0);
	FILE *const file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_lt(fread(text, 1, sizeof text - 1, file), sizeof text - 1);
	fclose(file);
	unlink(path);
	assert_has(text, "\"schema\": \"dos-hwprofile/1\"");
	assert_has(text, "[[1, 1000000000], [4, 3000000000]]");
	assert_has(text, "\"cpu_adam_bytes_per_param\": {\"value\": 28, \"kind\": \"assumed\"");
	assert_has(text, "\"complete\": true");
	ck_assert_int_eq(profile_write("/nonexistent/x.json", harness, derived, &facts, &err), STATUS_ENV);
	free(harness->results);
	free(harness);
	free(derived);
}
END_TEST

Suite *probe_measure_suite(void)
{
	Suite *const suite = suite_create("probe_measure");
	TCase *const core = tcase_create("core");
	tcase_add_test(core, order_statistics);
	tcase_add_test(core, one_sample_and_drift);
	tcase_add_test(core, activities_give_their_rate);
	tcase_add_test(core, fit_finds_its_constants);
	tcase_add_test(core, an_open_weight_is_the_one_nearest_to_1);
	tcase_add_test(core, speeds_fill_the_capacity);
	tcase_add_test(core, weights_by_direction_are_values);
	tcase_add_test(core, a_weight_nobody_measured_is_assumed);
	tcase_add_test(core, loaded_latency_is_values);
	tcase_add_test(core, profile_of_a_machine_without_gpu);
	suite_add_tcase(suite, core);
	return suite;
}
