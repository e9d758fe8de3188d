/* SPDX-License-Identifier: GPL-3.0-or-later
 * Every profile that is shipped loads, and says where its numbers come from. */
#include "model/hwprofile.h"

#include <dirent.h>

#include "tests/unit/test_util.h"

static struct arena arena;
static struct hwprofile hw;
static struct err err;

static void teardown(void)
{
	arena_release(&arena);
}

static const char *const planning[] = {"rtx4090-pcie4", "rtx5090-pcie5", "dgx-a100", "dgx-h100", "gh200", "mi300x-8x"};

static void load(const char *name)
{
	ck_assert_msg(hwprofile_load(&hw, arena_printf(&arena, "hwprofiles/%s.json", name), &arena, &err) == 0, "%s", err.text);
	ck_assert_str_eq(hw.name, name);
}

/* ---- all */

START_TEST(all_load)
{
	DIR *const folder = opendir("hwprofiles"); /* tests run in the root of the tree */
	size_t n = 0;

	ck_assert_ptr_nonnull(folder);
	for (const struct dirent *entry; (entry = readdir(folder));) {
		const char *const end = strstr(entry->d_name, ".json");
		if (!end)
			continue;
		load(arena_printf(&arena, "%.*s", (int)(end - entry->d_name), entry->d_name));
		ck_assert_msg(*hw.summary && hw.provenance.n_sources > 0, "%s: no summary or sources", hw.name);
		n++;
	}
	closedir(folder);
	ck_assert_uint_ge(n, N_ELEMENTS(planning) + 4);
}
END_TEST

/* ---- machines to plan on: no number without its source; an interval beside what is assumed */

START_TEST(sources_and_intervals)
{
	load(planning[_i]);
	ck_assert_uint_eq(hw.n_fitted_on, 0);
	for (size_t i = 0; i < hw_n_value_fields; i++) {
		const struct hw_meta *const meta = &hw.value_meta[i];
		const char *const name = hw_value_fields[i].name;
		if (meta->kind == HW_KIND_DEFAULT)
			continue;
		ck_assert_msg(*meta->source, "%s: %s has no source", hw.name, name);
		const bool is_given = strcmp(name, "host_memory_bytes") == 0 || strcmp(name, "softmax_bytes_per_score") == 0;
		if (meta->kind == HW_KIND_ASSUMED && !is_given)
			ck_assert_msg(meta->lo < meta->hi, "%s: %s has no interval", hw.name, name);
	}
	for (size_t i = 0; i < hw_n_curve_fields; i++)
		ck_assert_msg(hw.curve_meta[i].kind == HW_KIND_DEFAULT || *hw.curve_meta[i].source, "%s: %s has no source", hw.name,
		    hw_curve_fields[i].name);
}
END_TEST

/* What is marked measured was measured on another machine and says so: the links of the RTX 5090. */
START_TEST(nothing_is_measured)
{
	load(planning[_i]);
	const bool has_links = strcmp(hw.name, "rtx5090-pcie5") == 0;
	for (size_t i = 0; i < hw_n_value_fields; i++) {
		const struct hw_meta *const meta = &hw.value_meta[i];
		ck_assert_int_ne(meta->kind, HW_KIND_FITTED);
		if (meta->kind == HW_KIND_MEASURED) {
			ck_assert(has_links);
			assert_has(meta->source, "nvbandwidth");
		}
	}
	if (has_links) {
		ck_assert_double_eq(hw.h2d_duplex_Bps, 44.3e9);
		ck_assert_double_eq(curve_peak(&hw.h2d), 56.4e9);
	}
}
END_TEST

/* 60 to 91 % of what the channels of a domain can carry. */
START_TEST(dram_within_its_channels)
{
	static const double peaks_Bps[] = {57.6e9, 409.6e9, 204.8e9, 307.2e9, 384e9, 460.8e9};

	load(planning[_i]);
	ck_assert_double_ge(hw.dram_Bps, 0.6 * peaks_Bps[_i]);
	ck_assert_double_le(hw.dram_Bps, 0.8 * peaks_Bps[_i]);
}
END_TEST

Suite *shipped_profiles_suite(void);
Suite *shipped_profiles_suite(void)
{
	Suite *const suite = suite_create("shipped_profiles");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_test(core, all_load);
	tcase_add_loop_test(core, sources_and_intervals, 0, N_ELEMENTS(planning));
	tcase_add_loop_test(core, nothing_is_measured, 0, N_ELEMENTS(planning));
	tcase_add_loop_test(core, dram_within_its_channels, 0, N_ELEMENTS(planning));
	suite_add_tcase(suite, core);
	return suite;
}
