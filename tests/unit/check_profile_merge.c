/* SPDX-License-Identifier: GPL-3.0-or-later
 * Profiles of several processes become one: by hand on round numbers, what must agree, and what does not matter. */
#include "sim/study/profile_merge.h"

#include <stdlib.h>

#include "sim/study/profile_save.h"
#include "tests/unit/test_util.h"

enum { PARTS_MAX = 4, TEXT_MAX = 1 << 14 };

static struct arena arena;
static struct err err;
static struct hwprofile parts_hw[PARTS_MAX], merged;
static struct profile_part parts[PARTS_MAX];
static char tiny[TEXT_MAX];

static void setup(void)
{
	FILE *const file = fopen("tests/data/tiny.json", "r"); /* tests run in the root of the tree */

	ck_assert_ptr_nonnull(file);
	tiny[fread(tiny, 1, sizeof(tiny) - 1, file)] = '\0';
	fclose(file);
}

static void teardown(void)
{
	arena_release(&arena);
}

/* The tiny profile with one text in place of another. */
static void load(size_t part, const char *from, const char *to)
{
	const char *const at = strstr(tiny, from);

	ck_assert_msg(at != NULL, "%s is not there", from);
	const char *const text = arena_printf(&arena, "%.*s%s%s", (int)(at - tiny), tiny, to, at + strlen(from));
	ck_assert_msg(hwprofile_parse(&parts_hw[part], "part", text, strlen(text), &arena, &err) == 0, "%s", err.text);
	parts[part] = (struct profile_part){&parts_hw[part], arena_printf(&arena, "folder/%c.json", 'a' + (char)part)};
}

static int merge(size_t n)
{
	const struct profile_merge_head head = {NULL, "dos profile merge"};
	return profile_merge(&merged, parts, n, &head, &arena, &err);
}

static const struct hw_meta *meta_of(const char *name)
{
	for (size_t i = 0; i < hw_n_value_fields; i++)
		if (strcmp(hw_value_fields[i].name, name) == 0)
			return &merged.value_meta[i];
	return NULL;
}

static const char dram[] = "{\"value\": 200e9, \"kind\": \"measured\", \"lo\": 190e9, \"hi\": 210e9, \"samples\": [195e9, 200e9, 205e9], "
                           "\"source\": \"test\"}";

/* ---- core */

START_TEST(two_by_geometric_mean)
{
	load(0, "tiny", "tiny");
	load(1, dram, "{\"value\": 288e9, \"kind\": \"measured\", \"lo\": 280e9, \"hi\": 300e9, \"samples\": [1e9], \"source\": \"other\"}");
	ck_assert_msg(merge(2) == 0, "%s", err.text);
	assert_rel(merged.dram_Bps, 240e9, 1e-14);
	const struct hw_meta *const meta = meta_of("dram_Bps");
	ck_assert(meta->kind == HW_KIND_MEASURED && meta->lo == 190e9 && meta->hi == 300e9);
	ck_assert_uint_eq(meta->n_samples, 4);
	assert_rel(meta->samples[3], 1e9, 0);
	ck_assert_str_eq(meta->source, "test; other");
	ck_assert_str_eq(merged.name, "tiny");
	ck_assert_uint_eq(merged.provenance.n_sources, 2);
	assert_has(merged.provenance.sources[1], "b.json: by hand, 2026-01-01");
	ck_assert_str_eq(merged.provenance.command, "dos profile merge");
	ck_assert_str_eq(merged.provenance.date, "2026-01-01");
	ck_assert_uint_eq(merged.n_fitted_on, 2);
}
END_TEST

/* A value without an interval counts with itself; where all are the same there is none. */
START_TEST(intervals_from_values)
{
	load(0, "{\"value\": 1.25, \"kind\": \"fitted\"}", "{\"value\": 1.21, \"kind\": \"fitted\"}");
	load(1, "{\"value\": 1.25, \"kind\": \"fitted\"}", "{\"value\": 1.44, \"kind\": \"fitted\", \"lo\": 1.4, \"hi\": 1.5}");
	ck_assert_msg(merge(2) == 0, "%s", err.text);
	assert_rel(merged.smt_gain, 1.32, 1e-14);
	ck_assert(meta_of("smt_gain")->lo == 1.21 && meta_of("smt_gain")->hi == 1.5);
	load(1, "tiny", "tiny");
	load(0, "tiny", "tiny");
	ck_assert_msg(merge(2) == 0, "%s", err.text);
	ck_assert(isnan(meta_of("smt_gain")->lo) && merged.content_hash == parts_hw[0].content_hash);
}
END_TEST

START_TEST(three_by_median)
{
	load(0, "\"date\": \"2026-01-01\"", "\"date\": \"2026-01-03\"");
	load(1, dram, "{\"value\": 100e9, \"kind\": \"measured\"}");
	load(2, dram, "{\"value\": 900e9, \"kind\": \"measured\"}");
	ck_assert_msg(merge(3) == 0, "%s", err.text);
	assert_rel(merged.dram_Bps, 200e9, 0);
	ck_assert(meta_of("dram_Bps")->lo == 100e9 && meta_of("dram_Bps")->hi == 900e9);
	ck_assert_str_eq(merged.provenance.date, "2026-01-01 .. 2026-01-03");
	load(3, dram, "{\"value\": 288e9, \"kind\": \"measured\"}");
	ck_assert_msg(merge(4) == 0, "%s", err.text);
	assert_rel(merged.dram_Bps, 240e9, 1e-14); /* between the middle two */
}
END_TEST

START_TEST(curves_and_cells)
{
	load(0, "[[1, 0.5e9], [8, 3e9], [16, 4e9]]", "[[1, 0.5e9], [8, 2e9], [16, 4e9]]");
	load(1, "[[1, 0.5e9], [8, 3e9], [16, 4e9]]", "[[1, 0.5e9], [8, 4.5e9], [16, 4e9]]");
	parts_hw[1].corun[0].first_together = 3.6e9;
	ck_assert_msg(merge(2) == 0, "%s", err.text);
	assert_rel(merged.cpu_adam.rate[1], 3e9, 1e-14);
	assert_rel(merged.cpu_adam.rate[2], 4e9, 1e-14);
	assert_rel(merged.corun[0].first_together, 3e9, 1e-14);
	const double factor = cbrt(2.0 / 3); /* of one point in three */
	for (size_t i = 0; i < hw_n_curve_fields; i++) {
		if (strcmp(hw_curve_fields[i].name, "cpu_adam") != 0)
			continue;
		assert_rel(merged.curve_meta[i].lo, factor, 1e-12);
		assert_rel(merged.curve_meta[i].hi, 1 / factor, 1e-12);
	}
	assert_rel(merged.cpu_unscale.rate[1], 3e9 * 28 / 8, 1e-12); /* filled from cpu_adam, and still so */
}
END_TEST

/* What one file does not give, the others say, whichever comes first; the source tells in how many it is. */
START_TEST(absent_is_unknown)
{
	static const char last[] = "\"gemm\": {", gain[] = "\"smt_gain\": {\"value\": 1.25, \"kind\": \"fitted\"},";

	for (size_t with = 0; with < 3; with++) {
		for (size_t part = 0; part < 3; part++)
			load(part, "tiny", "tiny");
		load(with, last, "\"cpu_adam_split\": {\"kind\": \"measured\", \"source\": \"s\", \"points\": [[8, 5e9]]}, \"gemm\": {");
		load((with + 1) % 3, gain, "");
		ck_assert_msg(merge(3) == 0, "%s", err.text);
		ck_assert(merged.cpu_adam_split.n_points == 1 && merged.cpu_adam_split.rate[0] == 5e9);
		assert_rel(merged.smt_gain, 1.25, 1e-15);
		ck_assert_str_eq(meta_of("smt_gain")->source, "in 2 of 3 files");
		ck_assert(meta_of("smt_gain")->kind == HW_KIND_FITTED);
		for (size_t i = 0; i < hw_n_curve_fields; i++) {
			if (strcmp(hw_curve_fields[i].name, "cpu_adam_split") == 0)
				ck_assert_str_eq(merged.curve_meta[i].source, "s; in 1 of 3 files");
		}
	}
}
END_TEST

START_TEST(reads_back)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *const out = open_memstream(&text, &n_bytes);

	load(0, "[[1, 0.5e9], [8, 3e9], [16, 4e9]]", "[[1, 0.5e9], [8, 2e9], [16, 4e9]]");
	load(1, dram, "{\"value\": 288e9, \"kind\": \"measured\"}");
	ck_assert_msg(merge(2) == 0, "%s", err.text);
	profile_save(out, &merged);
	fclose(out);
	ck_assert_msg(hwprofile_parse(&parts_hw[2], "again", text, n_bytes, &arena, &err) == 0, "%s", err.text);
	ck_assert(parts_hw[2].content_hash == merged.content_hash);
	for (size_t i = 0; i < hw_n_curve_fields; i++)
		ck_assert(isnan(merged.curve_meta[i].lo) || merged.curve_meta[i].lo == parts_hw[2].curve_meta[i].lo);
	free(text);
}
END_TEST

/* ---- what must agree */

static const struct {
	const char *from, *to, *says;
} differences[] = {
    {"\"name\": \"tiny\"", "\"name\": \"other\"", "name, 'tiny' and 'other'"},
    {"\"machine\": \"none\"", "\"machine\": \"another\"", "machine, 'none' and 'another'"},
    {"\"gpus\": 2", "\"gpus\": 4", "gpus, 2 and 4"},
    {"\"row-2\"", "\"row-3\"", "the rows fitted on, 'row-2' and 'row-3'"},
    {"\"hbm_Bps\": {\"value\": 2e12", "\"hbm_Bps\": {\"value\": 3e12", "hbm_Bps, 2e+12 and 3e+12"},
    {"1.25, \"kind\": \"fitted\"", "1.25, \"kind\": \"measured\"", "smt_gain, fitted and measured"},
    {"\"kernel_launch_s\": 5e-6", "\"kernel_launch_s\": {\"value\": 5e-6, \"kind\": \"measured\"}", "kernel_launch_s, assumed and measured"},
    {"[8, 3e9], ", "", "the number of points of cpu_adam, 3 and 2"},
    {"[8, 3e9], ", "[9, 3e9], ", "the points of cpu_adam, 8 and 9"},
    {"[8, 6e9]", "[8, 7e9]", "cpu_downscale at 8, 6000000000 and 7000000000"},
    {"\"second\": \"h2d\"", "\"second\": \"d2h\"", "cpu_adam (8) x h2d (0) and cpu_adam (8) x d2h (0) as cell 1"},
};

START_TEST(says_what_differs)
{
	load(0, "tiny", "tiny");
	load(1, "tiny", "tiny");
	load(2, differences[_i].from, differences[_i].to);
	ck_assert_int_eq(merge(3), STATUS_NO);
	assert_has(err.text, "folder/a.json and folder/c.json differ in ");
	assert_has(err.text, differences[_i].says);
}
END_TEST

START_TEST(another_name)
{
	const struct profile_merge_head head = {"joined", "c"}, no_name = {"", "c"};

	load(0, "tiny", "tiny");
	load(1, "\"complete\": true", "\"complete\": false");
	parts_hw[1].name[0] = 'T';
	ck_assert_msg(profile_merge(&merged, parts, 2, &head, &arena, &err) == 0, "%s", err.text);
	ck_assert_str_eq(merged.name, "joined");
	ck_assert(!merged.complete);
	ck_assert_int_eq(profile_merge(&merged, parts, 2, &no_name, &arena, &err), STATUS_USAGE);
}
END_TEST

Suite *profile_merge_suite(void);
Suite *profile_merge_suite(void)
{
	Suite *const suite = suite_create("profile_merge");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, two_by_geometric_mean);
	tcase_add_test(core, intervals_from_values);
	tcase_add_test(core, three_by_median);
	tcase_add_test(core, curves_and_cells);
	tcase_add_test(core, absent_is_unknown);
	tcase_add_test(core, reads_back);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, setup, teardown);
	tcase_add_loop_test(errors, says_what_differs, 0, N_ELEMENTS(differences));
	tcase_add_test(errors, another_name);
	suite_add_tcase(suite, errors);
	return suite;
}
