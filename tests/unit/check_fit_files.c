/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a fit reads and what it writes: rows and logs as runs, profiles as files. */
#include "sim/study/fit.h"

#include <stdlib.h>

#include "sim/sharing.h"
#include "sim/study/fit_profile.h"
#include "sim/study/profile_save.h"
#include "tests/unit/test_util.h"
#include "traces/reader.h"

Suite *fit_files_suite(void);

static struct arena arena;
static struct err err;
static struct hwprofile truth;
static struct rows rows;
static struct fit_cases cases;
static struct fit_result result;

static const struct opt_list none = {0};
static const struct fit_options all = {.params = &none, .noise_frac = 0.02, .leave = FIT_LEAVE_NONE, .sharing = &sharing_fluid};

#define HEAD "id,hw,model,gpus,policy,subgroup,n_subgroups,threads,forward_s,backward_s,update_s,other_s,iteration_s,gpu_peak_bytes,exclude\n"

static void add(const char *text)
{
	cases = (struct fit_cases){0};
	ck_assert_msg(rows_parse(&rows, "t.csv", text, strlen(text), &arena, &err) == 0, "%s", err.text);
	ck_assert_msg(fit_cases_add_rows(&cases, &rows, &none, &arena, &err) == 0, "%s", err.text);
}

static void setup(void)
{
	err = (struct err){0};
	ck_assert_msg(hwprofile_load(&truth, "hwprofiles/a100-4x.json", &arena, &err) == 0, "%s", err.text);
}

static void teardown(void)
{
	arena_release(&arena);
}

/* ---- runs */

START_TEST(rows_become_cases)
{
	static const char text[] = HEAD "all,m,7b,4,dos:stride=2,,,,1,2,3,0.5,6.5,,\n"
	                                "total,m,7b,4,dos:stride=3,,,,,,,0.5,6.5,,\n"
	                                "old,m,7b,4,dos:stride=4,,,,1,2,3,,,,outlier\n"
	                                "empty,m,7b,4,dos:stride=5,,,,,,,,,,\n";
	add(text);
	ck_assert_uint_eq(cases.n, 2);
	ck_assert_uint_eq(cases.n_excluded, 1);
	ck_assert_uint_eq(cases.n_unmeasured, 1);
	ck_assert(isnan(cases.cases[0].measured[QUANTITY_SUM_PHASES]) && isnan(cases.cases[0].measured[QUANTITY_ITERATION]));
	assert_rel(cases.cases[1].measured[QUANTITY_SUM_PHASES], 6, 1e-15);
	ck_assert_str_eq(cases.cases[0].group, cases.cases[1].group);
	ck_assert_int_eq(fit_cases_add_rows(&cases, &rows, &none, &arena, &err), STATUS_INPUT);
	assert_has(err.text, "'all' is there twice");
}
END_TEST

START_TEST(one_machine)
{
	static const char text[] = HEAD "a,m,7b,4,dos:stride=2,,,,1,2,3,,,,\nb,other,7b,4,dos:stride=2,,,,1,2,3,,,,\n";

	cases = (struct fit_cases){0};
	ck_assert_int_eq(rows_parse(&rows, "t.csv", text, strlen(text), &arena, &err), 0);
	ck_assert_int_eq(fit_cases_add_rows(&cases, &rows, &none, &arena, &err), STATUS_USAGE);
	assert_has(err.text, "row 'b' is of other");
}
END_TEST

static const char log_text[] =
    "[2024-10-03 21:39:13,383] [INFO] [config.py:1000:print] DeepSpeed\n"
    "  num_layers ...................................... 32\n  hidden_size ..................................... 4096\n"
    "  num_attention_heads ............................. 32\n  num_key_value_heads ............................. 4\n"
    "  ffn_hidden_size ................................. 11008\n  padded_vocab_size ............................... 50304\n"
    "  seq_length ...................................... 2048\n  micro_batch_size ................................ 1\n"
    "  data_parallel_size .............................. 1\n  swiglu .......................................... True\n"
    "  checkpoint_activations .......................... True\n"
    "[2024-10-03 21:41:21,271] [INFO] time (ms) | fwd: 200.00 | bwd: 1500.00 | step: 4000.00\n"
    "[2024-10-03 21:41:31,271] [INFO] time (ms) | fwd: 210.00 | bwd: 1510.00 | step: 4010.00\n";

START_TEST(logs_become_cases)
{
	struct recording *const rec = arena_alloc(&arena, 1, sizeof(*rec));
	struct fit_log_options options = {0};

	cases = (struct fit_cases){0};
	ck_assert_msg(recording_parse(rec, "runs/a.log", log_text, sizeof(log_text) - 1, &err) == 0, "%s", err.text);
	ck_assert_int_eq(fit_cases_add_recording(&cases, rec, &options, &arena, &err), STATUS_USAGE);
	assert_has(err.text, "--policy");
	options.policy = "dos:stride=2";
	ck_assert_msg(fit_cases_add_recording(&cases, rec, &options, &arena, &err) == 0, "%s", err.text);
	recording_release(rec);
	const struct fit_case *const run = &cases.cases[0];
	ck_assert_str_eq(run->id, "a.log");
	ck_assert(run->input.shape.kv_heads == 4 && run->input.batch.gpus == 1 && run->input.batch.has_checkpointing);
	assert_rel(run->measured[QUANTITY_FORWARD], 0.205, 0.03);
	assert_rel(run->measured[QUANTITY_UPDATE], 4.005, 0.003);
	ck_assert_msg(fit_run(&result, &truth, &cases, &all, &arena, &err) == 0, "%s", err.text);
}
END_TEST

/* ---- profiles */

static char *saved(const struct hwprofile *hw)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *const out = open_memstream(&text, &n_bytes);

	profile_save(out, hw);
	fclose(out);
	return text;
}

static void assert_same_profile(const struct hwprofile *a, const struct hwprofile *b)
{
	ck_assert_str_eq(a->name, b->name);
	ck_assert_msg(a->content_hash == b->content_hash, "%s: numbers differ", a->name);
	ck_assert_uint_eq(a->n_fitted_on, b->n_fitted_on);
	ck_assert_uint_eq(a->provenance.n_sources, b->provenance.n_sources);
	ck_assert_str_eq(a->provenance.note, b->provenance.note);
	for (size_t i = 0; i < hw_n_value_fields; i++) {
		const struct hw_meta *const x = &a->value_meta[i], *const y = &b->value_meta[i];
		ck_assert_msg(x->kind == y->kind && x->n_samples == y->n_samples && strcmp(x->source, y->source) == 0 &&
		        (x->lo == y->lo || (isnan(x->lo) && isnan(y->lo))) && (x->hi == y->hi || (isnan(x->hi) && isnan(y->hi))),
		    "%s: %s", a->name, hw_value_fields[i].name);
	}
	for (size_t i = 0; i < hw_n_curve_fields; i++)
		ck_assert(a->curve_meta[i].kind == b->curve_meta[i].kind &&
		    (isnan(a->curve_meta[i].lo) ? isnan(b->curve_meta[i].lo) : a->curve_meta[i].lo == b->curve_meta[i].lo));
}

START_TEST(saves_what_it_reads)
{
	static const char *const names[] = {"a100-4x", "a100-4x-unbound", "dgx-a100", "dgx-h100", "gh200", "h100-4x", "h200-vm",
	    "mi300x-8x"};
	struct hwprofile *const hw = arena_alloc(&arena, 2, sizeof(*hw));

	for (size_t i = 0; i < N_ELEMENTS(names); i++) {
		ck_assert_msg(hwprofile_load(&hw[0], arena_printf(&arena, "hwprofiles/%s.json", names[i]), &arena, &err) == 0, "%s", err.text);
		char *const text = saved(&hw[0]);
		ck_assert_msg(hwprofile_parse(&hw[1], "saved", text, strlen(text), &arena, &err) == 0, "%s", err.text);
		free(text);
		assert_same_profile(&hw[0], &hw[1]);
	}
}
END_TEST

static const char runs[] = HEAD "zero3,m,7b,4,zero3-offload:flush=blocking,100M,,14,0.24,1.56,2.0,,,1e10,\n"
                                "k2,m,7b,4,dos:stride=2,100M,,14,0.21,0.7,1.34,,,1.2e10,\n";

START_TEST(profile_says_where_numbers_come_from)
{
	const struct fit_profile_head head = {.name = "mine", .command = "dos fit ..", .date = "2026-01-31"};
	struct hwprofile *const hw = arena_alloc(&arena, 3, sizeof(*hw));

	add(runs);
	hw[0] = truth;
	hw[0].dram_Bps *= 1.5;
	ck_assert_msg(fit_run(&result, &hw[0], &cases, &all, &arena, &err) == 0, "%s", err.text);
	ck_assert_msg(fit_profile(&hw[1], &result, &cases, &head, &arena, &err) == 0, "%s", err.text);
	char *const text = saved(&hw[1]);
	ck_assert_msg(hwprofile_parse(&hw[2], "saved", text, strlen(text), &arena, &err) == 0, "%s", err.text);
	free(text);
	assert_same_profile(&hw[1], &hw[2]);
	const struct hw_meta *const dram = &hw[2].value_meta[fit_value_index("dram_Bps")];
	ck_assert(dram->kind == HW_KIND_FITTED && dram->lo < hw[2].dram_Bps && hw[2].dram_Bps < dram->hi);
	ck_assert(hw[2].value_meta[fit_value_index("all_gather_Bps")].kind == HW_KIND_ASSUMED);
	ck_assert_str_eq(hw[2].fitted_on[0], "zero3");
	ck_assert_uint_eq(hw[2].n_fitted_on, cases.n + truth.n_fitted_on); /* the start was fitted too */
	ck_assert_str_eq(hw[2].provenance.tool, "dos fit");
	ck_assert_str_eq(hw[2].provenance.date, "2026-01-31");
	setenv("SOURCE_DATE_EPOCH", "86400", 1);
	ck_assert_str_eq(fit_profile_date(&arena), "1970-01-02");
	unsetenv("SOURCE_DATE_EPOCH");
}
END_TEST

Suite *fit_files_suite(void)
{
	Suite *const suite = suite_create("fit_files");
	TCase *const core = tcase_create("core");

	tcase_set_timeout(core, 300);
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, rows_become_cases);
	tcase_add_test(core, one_machine);
	tcase_add_test(core, logs_become_cases);
	tcase_add_test(core, saves_what_it_reads);
	tcase_add_test(core, profile_says_where_numbers_come_from);
	suite_add_tcase(suite, core);
	return suite;
}
