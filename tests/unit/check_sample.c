/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/sample.h"

#include "sim/study/sample_fit.h"
#include "tests/unit/test_util.h"

Suite *sample_suite(void);

enum { N_DRAWS = 4000 };
static const char tiny[] = "tests/data/tiny.json";
static struct arena arena;
static struct hwprofile hw, drawn;
static struct sampler sampler;
static struct err err;

static void setup(void)
{
	ck_assert_msg(hwprofile_load(&hw, tiny, &arena, &err) == 0, "%s", err.text);
	sampler_init(&sampler, &hw, 7, &arena);
}

static void teardown(void)
{
	arena_release(&arena);
}

static double number(const struct hwprofile *of, const struct sample_field *field)
{
	const size_t offset = field->is_curve ? hw_curve_fields[field->index].offset : hw_value_fields[field->index].offset;
	const void *const at = (const char *)of + offset;
	return field->is_curve ? ((const struct curve *)at)->rate[0] : *(const double *)at;
}

static const struct sample_field *find(const char *name)
{
	for (size_t i = 0; i < sampler.n_fields; i++) {
		const struct sample_field *const field = &sampler.fields[i];
		const char *const own = field->is_curve ? hw_curve_fields[field->index].name : hw_value_fields[field->index].name;
		if (strcmp(own, name) == 0)
			return field;
	}
	return NULL;
}

/* Of the logarithm of the factor on a field. */
static void moments(double *mean, double *sd, const struct sample_field *field)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < N_DRAWS; i++) {
		sampler_draw(&drawn, &sampler, &hw, i);
		const double x = log(number(&drawn, field) / number(&hw, field));
		sum += x;
		squares += x * x;
	}
	*mean = sum / N_DRAWS;
	*sd = sqrt(squares / N_DRAWS - *mean * *mean);
}

/* Intervals, kinds, and what has neither. smt_gain is cut at 2 threads, so it is not looked at. */
START_TEST(widths)
{
	static const struct {
		const char *name;
		double log_sd;
	} wanted[] = {{"dram_Bps", 0.0255}, {"h2d", 0.02}, {"gemm", 0.05}, {"hbm_Bps", 0.10}, {"gpu_adam_params_per_s", 0.25},
	    {"cpu_downscale", 0.25}, {"dram_bytes_per_dma_byte", 0.05}};

	for (size_t i = 0; i < N_ELEMENTS(wanted); i++) {
		const struct sample_field *const field = find(wanted[i].name);
		double mean, sd;
		ck_assert_msg(field != NULL, "%s does not vary", wanted[i].name);
		moments(&mean, &sd, field);
		assert_rel(field->log_sd, wanted[i].log_sd, 0.01);
		assert_rel(sd, field->log_sd, 0.05); /* of 4000 draws: 1.1 % standard error */
		ck_assert_msg(fabs(mean) < 4 * sd / sqrt(N_DRAWS), "%s: mean %g", wanted[i].name, mean);
	}
	ck_assert(!find("gpu_memory_bytes") && !find("host_memory_bytes") && !find("gpu_flop_per_s")); /* capacities, peak */
	ck_assert(!find("other_s") && !find("cpu_adam_bytes_per_param")); /* not in the file */
}
END_TEST

START_TEST(derived_curves_follow)
{
	sampler_draw(&drawn, &sampler, &hw, 3);
	const double factor = drawn.cpu_adam.rate[0] / hw.cpu_adam.rate[0];
	ck_assert(factor != 1);
	assert_rel(drawn.cpu_adam.rate[2] / hw.cpu_adam.rate[2], factor, 1e-12);
	assert_rel(drawn.cpu_adam_fused.rate[1] / hw.cpu_adam_fused.rate[1], factor, 1e-12);
	assert_rel(drawn.cpu_unscale.rate[1] / hw.cpu_unscale.rate[1], factor, 1e-12);
}
END_TEST

START_TEST(draws_depend_on_seed_and_index)
{
	sampler_draw(&drawn, &sampler, &hw, 5);
	const unsigned long long hash = drawn.content_hash;

	sampler_draw(&drawn, &sampler, &hw, 6);
	ck_assert(drawn.content_hash != hash);
	sampler_draw(&drawn, &sampler, &hw, 5);
	ck_assert(drawn.content_hash == hash);
	sampler_init(&sampler, &hw, 8, &arena);
	sampler_draw(&drawn, &sampler, &hw, 5);
	ck_assert(drawn.content_hash != hash);
}
END_TEST

/* The same factors on a scaled machine. */
START_TEST(scaled)
{
	struct hwprofile fast = hw;

	ck_assert(hwprofile_scale(&fast, "dram", 2, &err) == 0);
	sampler_draw(&drawn, &sampler, &hw, 9);
	const double dram_Bps = drawn.dram_Bps;
	sampler_draw(&drawn, &sampler, &fast, 9);
	assert_rel(drawn.dram_Bps, 2 * dram_Bps, 1e-12);
}
END_TEST

START_TEST(raw_samples)
{
	static const double raw[] = {190e9, 195e9, 198e9, 200e9, 203e9, 204e9, 215e9};
	struct hw_meta metas[HW_N_VALUES];
	size_t seen[N_ELEMENTS(raw)] = {0};

	memcpy(metas, hw.value_meta, sizeof(metas));
	for (size_t i = 0; i < HW_N_VALUES; i++)
		if (strcmp(hw_value_fields[i].name, "dram_Bps") == 0) {
			metas[i].samples = raw;
			metas[i].n_samples = N_ELEMENTS(raw);
		}
	hw.value_meta = metas;
	sampler_init(&sampler, &hw, 1, &arena);
	for (size_t i = 0; i < 700; i++) {
		sampler_draw(&drawn, &sampler, &hw, i);
		size_t at = 0;
		while (at < N_ELEMENTS(raw) && fabs(drawn.dram_Bps / raw[at] - 1) > 1e-12)
			at++;
		ck_assert_msg(at < N_ELEMENTS(raw), "%g is no raw sample", drawn.dram_Bps);
		seen[at]++;
	}
	for (size_t at = 0; at < N_ELEMENTS(raw); at++)
		ck_assert_msg(seen[at] > 60 && seen[at] < 140, "sample %zu: %zu of 700", at, seen[at]);
}
END_TEST

/* However wide an interval, a draw ends nowhere near the 0 that says "not there". */
START_TEST(near_nothing)
{
	static const struct {
		const char *name;
		double least;
	} wanted[] = {{"h2d_weight", 0.01}, {"d2h_weight", 0.01}, {"dram_latency_Bps", 1e6}, {"network_Bps", 1}, {"dram_Bps", 1e6}};

	for (size_t i = 0; i < N_ELEMENTS(wanted); i++) {
		struct sample_field field = {0};
		while (strcmp(hw_value_fields[field.index].name, wanted[i].name) != 0)
			field.index++;
		double *const value = (double *)(void *)((char *)&hw + hw_value_fields[field.index].offset);
		*value = 50;
		sample_multiply(&hw, &field, 1e-300);
		ck_assert_double_eq(*value, wanted[i].least);
	}
}
END_TEST

/* Knowing the sum of two log factors leaves their difference as it was: sd s / sqrt(2) each, and they are opposite. */
START_TEST(observed_sum)
{
	double *const slopes = arena_zalloc(&arena, sampler.n_fields, sizeof(*slopes));
	const double certain = 1e-6;
	const struct sample_field *const adam = find("gpu_adam_params_per_s"), *const cast = find("cpu_downscale");
	double mean, sd;

	slopes[adam - sampler.fields] = 1;
	slopes[cast - sampler.fields] = 1;
	sampler_observe(&sampler, slopes, &certain, 1, &arena);
	moments(&mean, &sd, adam);
	assert_rel(sd, 0.25 / sqrt(2), 0.05);
	for (size_t i = 0; i < 20; i++) {
		sampler_draw(&drawn, &sampler, &hw, i);
		const double sum = log(number(&drawn, adam) / number(&hw, adam)) + log(number(&drawn, cast) / number(&hw, cast));
		ck_assert_msg(fabs(sum) < 1e-4, "sum of log factors %g", sum);
	}
	moments(&mean, &sd, find("hbm_Bps"));
	assert_rel(sd, 0.10, 0.05);
}
END_TEST

START_TEST(all_shipped_draws_are_profiles)
{
	struct opt_list names = {0};
	const size_t n = hwprofile_list(&names, &arena);

	ck_assert(n > 5);
	for (size_t i = 0; i < n; i++) {
		ck_assert_msg(hwprofile_load(&hw, names.items[i], &arena, &err) == 0, "%s", err.text);
		sampler_init(&sampler, &hw, 11, &arena);
		for (size_t draw = 0; draw < 100; draw++) {
			sampler_draw(&drawn, &sampler, &hw, draw);
			ck_assert_msg(hwprofile_check(&drawn, names.items[i], &err) == 0, "%s", err.text);
		}
	}
}
END_TEST

/* Rows of the fit narrow what a fitted profile predicts for them, and raise nothing. */
START_TEST(conditioned)
{
	struct sampler free_sampler;

	ck_assert_msg(hwprofile_load(&hw, "h100-4x", &arena, &err) == 0, "%s", err.text);
	sampler_init(&free_sampler, &hw, 1, &arena);
	sampler_init(&sampler, &hw, 1, &arena);
	ck_assert_msg(sampler_condition(&sampler, &hw, &sharing_fluid, 2, &arena, &err) == 0, "%s", err.text);
	ck_assert(sampler.n_conditions > hw.n_fitted_on);
	for (size_t i = 0; i < sampler.n_fields; i++) {
		double before = 0, after = 0;
		for (size_t j = 0; j <= i; j++) {
			before += pow(free_sampler.root[i * sampler.n_fields + j], 2);
			after += pow(sampler.root[i * sampler.n_fields + j], 2);
		}
		ck_assert(after <= before * (1 + 1e-9));
	}
}
END_TEST

static const struct {
	const char *from, *message;
} refused_curves[] = {{"\"lo_frac\": 0.9", "\"hi_frac\" is missing"}, {"\"lo_frac\": 1.1, \"hi_frac\": 1.2", "lo_frac"},
    {"\"lo_frac\": 0.9, \"hi_frac\": 0.95", "hi_frac"}};

START_TEST(curve_intervals)
{
	char text[8192];
	FILE *const file = fopen(tiny, "r");
	static const char mark[] = "\"kind\": \"fitted\", \"points\"";

	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	const char *const at = strstr(text, mark);
	ck_assert(at != NULL);
	const char *const rest = at + strlen(mark) - strlen("\"points\"");
	const char *good = arena_printf(&arena, "%.*s\"lo_frac\": 0.9, \"hi_frac\": 1.2, %s", (int)(rest - text), text, rest);
	ck_assert_msg(hwprofile_parse(&hw, "t.json", good, strlen(good), &arena, &err) == 0, "%s", err.text);
	sampler_init(&sampler, &hw, 1, &arena);
	assert_rel(find("gemm")->log_sd, log(1.2 / 0.9) / 3.92, 1e-12);
	for (size_t i = 0; i < N_ELEMENTS(refused_curves); i++) {
		const char *bad = arena_printf(&arena, "%.*s%s, %s", (int)(rest - text), text, refused_curves[i].from, rest);
		ck_assert(hwprofile_parse(&hw, "t.json", bad, strlen(bad), &arena, &err) == STATUS_INPUT);
		assert_has(err.text, refused_curves[i].message);
	}
}
END_TEST

Suite *sample_suite(void)
{
	Suite *const suite = suite_create("sample");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, widths);
	tcase_add_test(core, derived_curves_follow);
	tcase_add_test(core, draws_depend_on_seed_and_index);
	tcase_add_test(core, scaled);
	tcase_add_test(core, raw_samples);
	tcase_add_test(core, near_nothing);
	tcase_add_test(core, observed_sum);
	tcase_add_test(core, all_shipped_draws_are_profiles);
	tcase_add_test(core, conditioned);
	tcase_add_test(core, curve_intervals);
	suite_add_tcase(suite, core);
	return suite;
}
