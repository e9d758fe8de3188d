/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/hwprofile.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test_util.h"

static const char tiny_path[] = "tests/data/tiny.json"; /* tests run in the root of the tree */
static char tiny[8192];
static struct arena arena;
static struct hwprofile hw;
static struct err err;

static void setup(void)
{
	FILE *const file = fopen(tiny_path, "r");

	ck_assert_ptr_nonnull(file);
	tiny[fread(tiny, 1, sizeof(tiny) - 1, file)] = '\0';
	fclose(file);
}

static void teardown(void)
{
	arena_release(&arena);
}

/* tiny.json with its first `from` replaced by `to` */
static const char *tiny_with(const char *from, const char *to)
{
	const char *const at = strstr(tiny, from);

	ck_assert_msg(at != NULL, "tiny.json has no %s", from);
	return arena_printf(&arena, "%.*s%s%s", (int)(at - tiny), tiny, to, at + strlen(from));
}

static int parse(const char *text)
{
	return hwprofile_parse(&hw, "t.json", text, strlen(text), &arena, &err);
}

static void parse_fine(const char *text)
{
	ck_assert_msg(parse(text) == 0, "%s", err.text);
}

/* ---- reading */

START_TEST(tiny_is_read)
{
	ck_assert_msg(hwprofile_load(&hw, tiny_path, &arena, &err) == 0, "%s", err.text);
	ck_assert_str_eq(hw.name, "tiny");
	ck_assert_double_eq(hw.gpus, 2);
	ck_assert_double_eq(hw.dram_Bps, 200e9);
	ck_assert_double_eq(hw.cpu_adam_bytes_per_param, 28); /* default of the table */
	ck_assert(hw.pinned_max_bytes == INFINITY);
	ck_assert_uint_eq(hw.cpu_adam.n_points, 3);
	ck_assert_int_eq(hw.cpu_adam.kind, CURVE_THREADS);
	ck_assert_double_eq(curve_peak(&hw.h2d), 50e9);
	ck_assert_uint_eq(hw.n_corun, 1);
	ck_assert_str_eq(hw.corun[0].second, "h2d");
	ck_assert_double_eq(hw.corun[0].second_threads, 0);
	ck_assert_double_eq(hw.corun[0].second_together, 45e9);
	ck_assert_uint_eq(hw.n_fitted_on, 2);
	ck_assert_str_eq(hw.fitted_on[1], "row-2");
	ck_assert(hw.complete);
}
END_TEST

START_TEST(where_values_come_from)
{
	parse_fine(tiny);
	for (size_t i = 0; i < hw_n_value_fields; i++) {
		const struct hw_meta *const meta = &hw.value_meta[i];
		if (strcmp(hw_value_fields[i].name, "dram_Bps") == 0) {
			ck_assert_int_eq(meta->kind, HW_KIND_MEASURED);
			ck_assert_double_eq(meta->lo, 190e9);
			ck_assert_double_eq(meta->hi, 210e9);
			ck_assert_uint_eq(meta->n_samples, 3);
			ck_assert_double_eq(meta->samples[2], 205e9);
			ck_assert_str_eq(meta->source, "test");
		} else if (strcmp(hw_value_fields[i].name, "pcie_root_Bps") == 0) {
			ck_assert_int_eq(meta->kind, HW_KIND_DEFAULT);
			ck_assert(isnan(meta->lo) && isnan(meta->hi));
			ck_assert_str_eq(meta->source, "");
		} else if (strcmp(hw_value_fields[i].name, "host_memory_bytes") == 0) {
			ck_assert_int_eq(meta->kind, HW_KIND_ASSUMED);
		}
	}
	ck_assert_int_eq(hw.curve_meta[0].kind, HW_KIND_MEASURED);
	ck_assert_str_eq(hw.curve_meta[0].source, "test");
	ck_assert_int_eq(hw.curve_meta[3].kind, HW_KIND_DEFAULT); /* cpu_adam_fused */
	ck_assert_str_eq(hw.provenance.tool, "by hand");
	ck_assert_str_eq(hw.provenance.command, "");
	ck_assert_uint_eq(hw.provenance.n_sources, 1);
}
END_TEST

START_TEST(curves_left_out)
{
	parse_fine(tiny);
	assert_rel(curve_rate(&hw.cpu_adam_fused, 8), 3e9, 1e-15);
	assert_rel(curve_rate(&hw.cpu_unscale, 8), 3e9 * 28 / 8, 1e-15);
	parse_fine(tiny_with("\"cpu_downscale\"", "\"cpu_unscale\": {\"points\": [[1, 7e9]]}, \"cpu_downscale\""));
	assert_rel(curve_rate(&hw.cpu_unscale, 8), 7e9, 1e-15);
	ck_assert_uint_eq(hw.cpu_adam_split.n_points, 0); /* cost_init takes it from cpu_adam_fused */
	parse_fine(tiny_with("\"cpu_downscale\"", "\"cpu_adam_split\": {\"points\": [[1, 4e8], [8, 2e9]]}, \"cpu_downscale\""));
	assert_rel(curve_rate(&hw.cpu_adam_split, 8), 2e9, 1e-15);
	ck_assert_int_eq(hwprofile_scale(&hw, "cpu", 2, &err), 0);
	assert_rel(curve_rate(&hw.cpu_adam_split, 8), 4e9, 1e-15);
}
END_TEST

static const struct {
	const char *from, *to;
} accepted[] = {
    {"\"smt_gain\": {\"value\": 1.25, \"kind\": \"fitted\"}", "\"smt_gain\": 1.25"},
    {"\"extra\": {\"anything\": [1, \"two\", null]}", "\"extra\": 7"},
    {"\"note\"", "\"extra\": {}, \"note\""},
    {"\"complete\": true", "\"complete\": false"},
    {"\"h2d_duplex_Bps\": {\"value\": 40e9, \"kind\": \"measured\", \"lo\": 38e9, \"hi\": 42e9}",
	"\"h2d_duplex_Bps\": 51e9"},
    {"\"lo\": 190e9, \"hi\": 210e9", "\"lo\": 200e9, \"hi\": 200e9"},
    {"\"workers\": 2,", ""},
};

START_TEST(accepted_changes)
{
	parse_fine(tiny_with(accepted[_i].from, accepted[_i].to));
}
END_TEST

START_TEST(too_many_points)
{
	const char *points = "[[1, 1e9]";

	for (int i = 2; i <= CURVE_POINTS_MAX; i++)
		points = arena_printf(&arena, "%s, [%d, 1e9]", points, i);
	parse_fine(tiny_with("[[1, 1e9], [8, 6e9]]", arena_printf(&arena, "%s]", points)));
	ck_assert_int_eq(
	    parse(tiny_with("[[1, 1e9], [8, 6e9]]", arena_printf(&arena, "%s, [100, 1e9]]", points))), STATUS_INPUT);
	assert_has(err.text, "65 points; 1 to 64");
}
END_TEST

START_TEST(too_many_cells)
{
	static const char cell[] = "{\"first\": \"h2d\", \"second\": \"d2h\", \"first_alone\": 1, \"first_together\": 1, "
				   "\"second_alone\": 1, \"second_together\": 1}, ";
	const char *cells = "\"corun\": [";

	for (int i = 0; i < HW_CORUN_MAX - 1; i++)
		cells = arena_printf(&arena, "%s%s", cells, cell);
	parse_fine(tiny_with("\"corun\": [", cells));
	ck_assert_uint_eq(hw.n_corun, HW_CORUN_MAX);
	ck_assert_int_eq(parse(tiny_with("\"corun\": [", arena_printf(&arena, "%s%s", cells, cell))), STATUS_INPUT);
	assert_has(err.text, "257 cells; at most 256");
}
END_TEST

/* ---- checks after a change in memory */

START_TEST(check_finds_changes)
{
	parse_fine(tiny);
	ck_assert_int_eq(hwprofile_check(&hw, "changed", &err), 0);
	hw.dram_Bps = NAN;
	ck_assert_int_eq(hwprofile_check(&hw, "changed", &err), STATUS_INPUT);
	assert_has(err.text, "changed: /values/dram_Bps");
	parse_fine(tiny);
	hw.gpus = INFINITY;
	ck_assert_int_eq(hwprofile_check(&hw, "changed", &err), STATUS_INPUT);
	parse_fine(tiny);
	hw.gemm.rate[1] = -1;
	ck_assert_int_eq(hwprofile_check(&hw, "changed", &err), STATUS_INPUT);
	assert_has(err.text, "/curves/gemm/points: rate -1");
	parse_fine(tiny);
	hw.gemm.x[1] = hw.gemm.x[0];
	ck_assert_int_eq(hwprofile_check(&hw, "changed", &err), STATUS_INPUT);
	parse_fine(tiny);
	hw.gemm.n_points = 0;
	ck_assert_int_eq(hwprofile_check(&hw, "changed", &err), STATUS_INPUT);
	assert_has(err.text, "no points");
}
END_TEST

/* ---- hash */

START_TEST(hash_is_of_numbers)
{
	parse_fine(tiny);
	const unsigned long long hash = hw.content_hash;
	parse_fine(tiny_with("\"name\": \"tiny\"", "\"name\": \"other\""));
	ck_assert(hw.content_hash == hash);
	parse_fine(tiny_with("\"source\": \"peak\"", "\"source\": \"elsewhere\""));
	ck_assert(hw.content_hash == hash);
	parse_fine(tiny_with("\"lo\": 190e9", "\"lo\": 180e9"));
	ck_assert(hw.content_hash == hash);
	parse_fine(tiny_with("\"smt_gain\"", "\"dma_weight\": 1, \"smt_gain\"")); /* the default, said */
	ck_assert(hw.content_hash == hash);
	static const char *const changes[][2] = {{"\"gpus\": 2", "\"gpus\": 1"},
	    {"\"hbm_Bps\": {\"value\": 2e12", "\"hbm_Bps\": {\"value\": 3e12"}, {"[16, 4e9]", "[16, 5e9]"},
	    {"[16, 4e9]", "[15, 4e9]"}, {"\"second_together\": 45e9", "\"second_together\": 46e9"},
	    {"\"second\": \"h2d\"", "\"second\": \"d2h\""},
	    {"\"cpu_downscale\"", "\"cpu_adam_split\": {\"points\": [[1, 4e8]]}, \"cpu_downscale\""}};
	for (size_t i = 0; i < N_ELEMENTS(changes); i++) {
		parse_fine(tiny_with(changes[i][0], changes[i][1]));
		ck_assert_msg(hw.content_hash != hash, "%s does not change the hash", changes[i][1]);
	}
}
END_TEST

/* ---- scaling */

static const struct {
	const char *resource;
	size_t offset;
	double factor, want;
} scalings[] = {
    {"cpu", offsetof(struct hwprofile, push_pageable_params_per_s), 2, 4e9},
    {"cpu", offsetof(struct hwprofile, cpu_adam.rate[1]), 2, 6e9},
    {"cpu", offsetof(struct hwprofile, cpu_adam_fused.rate[1]), 2, 6e9},
    {"cpu", offsetof(struct hwprofile, cpu_unscale.rate[1]), 2, 21e9},
    {"cpu", offsetof(struct hwprofile, cpu_downscale.rate[1]), 2, 12e9},
    {"cpu", offsetof(struct hwprofile, dram_Bps), 2, 200e9},
    {"dram", offsetof(struct hwprofile, dram_Bps), 1.5, 300e9},
    {"h2d", offsetof(struct hwprofile, h2d.rate[1]), 2, 100e9},
    {"h2d", offsetof(struct hwprofile, h2d_duplex_Bps), 2, 80e9},
    {"h2d", offsetof(struct hwprofile, d2h_duplex_Bps), 2, 40e9},
    {"d2h", offsetof(struct hwprofile, d2h.rate[1]), 0.5, 25e9},
    {"d2h", offsetof(struct hwprofile, d2h_duplex_Bps), 0.5, 20e9},
    {"duplex", offsetof(struct hwprofile, h2d_duplex_Bps), 1.1, 44e9},
    {"duplex", offsetof(struct hwprofile, d2h_duplex_Bps), 2, 50e9}, /* no faster than alone */
    {"duplex", offsetof(struct hwprofile, h2d.rate[1]), 2, 50e9},
    {"gpu", offsetof(struct hwprofile, gemm.rate[0]), 2, 200e12},
    {"gpu", offsetof(struct hwprofile, gpu_adam_params_per_s), 2, 100e9},
    {"gpu", offsetof(struct hwprofile, layer_forward_launch_s), 2, 0.5e-3},
    {"hbm", offsetof(struct hwprofile, hbm_Bps), 2, 4e12},
    {"cores", offsetof(struct hwprofile, hw_threads_per_rank), 2, 32},
    {"cores", offsetof(struct hwprofile, threads), 2, 8},
    {"net", offsetof(struct hwprofile, all_gather_Bps), 2, INFINITY},
};

START_TEST(scaled)
{
	parse_fine(tiny);
	const unsigned long long hash = hw.content_hash;
	ck_assert_msg(hwprofile_scale(&hw, scalings[_i].resource, scalings[_i].factor, &err) == 0, "%s", err.text);
	double got;
	memcpy(&got, (const char *)&hw + scalings[_i].offset, sizeof(got));
	assert_rel(got, scalings[_i].want, 1e-15);
	if (strcmp(scalings[_i].resource, "net") != 0) /* unlimited in tiny.json: nothing to scale */
		ck_assert(hw.content_hash != hash);
	ck_assert_msg(hwprofile_check(&hw, "scaled", &err) == 0, "%s", err.text);
}
END_TEST

START_TEST(scale_refuses)
{
	static const double factors[] = {0, -1, NAN, INFINITY, 1e7, 1e-7};

	parse_fine(tiny);
	const unsigned long long hash = hw.content_hash;
	ck_assert_int_eq(hwprofile_scale(&hw, "drm", 2, &err), STATUS_USAGE);
	assert_has(err.text, "did you mean \"dram\"?");
	ck_assert_int_eq(hwprofile_scale(&hw, "", 2, &err), STATUS_USAGE);
	for (size_t i = 0; i < N_ELEMENTS(factors); i++)
		ck_assert_int_eq(hwprofile_scale(&hw, "dram", factors[i], &err), STATUS_USAGE);
	ck_assert(hw.content_hash == hash);
}
END_TEST

/* ---- finding */

START_TEST(files_by_spelling)
{
	ck_assert(hwprofile_is_file("-"));
	ck_assert(hwprofile_is_file("./h100"));
	ck_assert(hwprofile_is_file("a.json"));
	ck_assert(!hwprofile_is_file("h100"));
	ck_assert(!hwprofile_is_file(".json"));
	ck_assert(!hwprofile_is_file("-h100"));
	ck_assert(!hwprofile_is_file(""));
}
END_TEST

/* A folder as $DOS_DATA with tiny.json as two shipped profiles; returns its path. */
static const char *make_data(void)
{
	static char root[] = "/tmp/dos-check-XXXXXX";
	static const char *const names[] = {"zz-check-tiny.json", "aa-check-tiny.json"};

	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(mkdir(arena_printf(&arena, "%s/hwprofiles", root), 0700), 0);
	for (size_t i = 0; i < N_ELEMENTS(names); i++) {
		FILE *const file = fopen(arena_printf(&arena, "%s/hwprofiles/%s", root, names[i]), "w");
		ck_assert_ptr_nonnull(file);
		fputs(tiny, file);
		fclose(file);
	}
	setenv("DOS_DATA", root, 1);
	return root;
}

static void remove_data(const char *root)
{
	unsetenv("DOS_DATA");
	remove(arena_printf(&arena, "%s/hwprofiles/zz-check-tiny.json", root));
	remove(arena_printf(&arena, "%s/hwprofiles/aa-check-tiny.json", root));
	remove(arena_printf(&arena, "%s/hwprofiles", root));
	remove(root);
}

START_TEST(shipped_names)
{
	const char *const root = make_data();
	struct opt_list names;
	bool has_first = false, has_second = false;

	ck_assert_uint_ge(hwprofile_list(&names, &arena), 2);
	for (size_t i = 0; i < names.n; i++) {
		has_first = has_first || strcmp(names.items[i], "aa-check-tiny") == 0;
		has_second = has_second || strcmp(names.items[i], "zz-check-tiny") == 0;
		if (i > 0)
			ck_assert_int_lt(strcmp(names.items[i - 1], names.items[i]), 0);
	}
	ck_assert(has_first && has_second);
	ck_assert_msg(hwprofile_load(&hw, "zz-check-tiny", &arena, &err) == 0, "%s", err.text);
	ck_assert_str_eq(hw.name, "tiny");
	ck_assert_int_eq(hwprofile_load(&hw, "zz-check-tinny", &arena, &err), STATUS_INPUT);
	assert_has(err.text, "did you mean \"zz-check-tiny\"?");
	assert_has(err.text, "aa-check-tiny, ");
	ck_assert_int_eq(hwprofile_load(&hw, "q", &arena, &err), STATUS_INPUT);
	assert_has(err.text, "aa-check-tiny");
	ck_assert_int_eq(hwprofile_load(&hw, "", &arena, &err), STATUS_INPUT);
	remove_data(root);
}
END_TEST

START_TEST(missing_files)
{
	ck_assert_int_eq(hwprofile_load(&hw, "./no-such-file.json", &arena, &err), STATUS_INPUT);
	assert_has(err.text, "no-such-file.json");
	ck_assert_int_eq(hwprofile_load(&hw, "/tmp/", &arena, &err), STATUS_INPUT);
	assert_has(err.text, "directory");
}
END_TEST

static TCase *errors_tcase(void)
{
	TCase *const errors = tcase_create("errors");

	tcase_add_checked_fixture(errors, setup, teardown);
	tcase_add_test(errors, check_finds_changes);
	tcase_add_test(errors, scale_refuses);
	tcase_add_test(errors, missing_files);
	return errors;
}

Suite *hwprofile_suite(void);
Suite *hwprofile_suite(void)
{
	Suite *const suite = suite_create("hwprofile");
	TCase *const core = tcase_create("core");
	TCase *const limits = tcase_create("limits");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, tiny_is_read);
	tcase_add_test(core, where_values_come_from);
	tcase_add_test(core, curves_left_out);
	tcase_add_loop_test(core, accepted_changes, 0, N_ELEMENTS(accepted));
	tcase_add_test(core, hash_is_of_numbers);
	tcase_add_loop_test(core, scaled, 0, N_ELEMENTS(scalings));
	tcase_add_test(core, files_by_spelling);
	tcase_add_test(core, shipped_names);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(limits, setup, teardown);
	tcase_add_test(limits, too_many_points);
	tcase_add_test(limits, too_many_cells);
	suite_add_tcase(suite, limits);
	suite_add_tcase(suite, errors_tcase());
	return suite;
}
