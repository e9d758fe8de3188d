/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/validate.h"

#include <math.h>

#include "tests/unit/test_util.h"

Suite *validate_suite(void);

static struct arena arena;
static struct err err;
static struct rows rows;
static struct validation validation;

#define HEAD "id,hw,model,gpus,policy,subgroup,n_subgroups,threads,forward_s,backward_s,update_s,other_s,iteration_s,exclude\n"
#define TINY "tests/data/tiny.json"

static void predict(const char *text, const struct opt_list *ids)
{
	const struct validate_options options = {.ids = ids, .sharing = &sharing_none};

	validation = (struct validation){0};
	ck_assert_msg(rows_parse(&rows, "t.csv", text, strlen(text), &arena, &err) == 0, "%s", err.text);
	ck_assert_msg(validate_rows(&validation, &rows, &options, &arena, &err) == 0, "%s", err.text);
}

static const struct opt_list all = {0};

static void teardown(void)
{
	arena_release(&arena);
}

/* A row that is refused, one that does not fit, one excluded, one of the fit (tiny.json names row-1) and one that counts. */
static const char mixed[] = HEAD "good," TINY ",7b,1,dos:stride=2,,,8,,,1,,,\n"
                                 "row-1," TINY ",7b,1,dos:stride=3,,,8,,,1,,,\n"
                                 "odd," TINY ",7b,1,dos:stride=4,,,8,,,99,,,outlier\n"
                                 "wrong," TINY ",7b,1,dos:strid=2,,,8,,,1,,,\n"
                                 "huge," TINY ",30b,1,gpu-only,,,8,,,1,,,\n";

START_TEST(kinds_of_rows)
{
	struct errors e;

	predict(mixed, &all);
	ck_assert_uint_eq(validation.n, 5);
	const struct prediction *const p = validation.predictions;
	ck_assert(!p[0].reason && !p[0].is_in_fit && !p[0].is_excluded);
	ck_assert(p[1].is_in_fit && p[2].is_excluded && !p[2].is_in_fit);
	assert_has(p[3].reason, "strid");
	assert_has(p[4].reason, "GPU memory");
	ck_assert(prediction_error_frac(&p[3], QUANTITY_UPDATE) == 1 && prediction_error_frac(&p[4], QUANTITY_UPDATE) == 1);
	ck_assert(isnan(p[3].predicted[QUANTITY_UPDATE]) && !isnan(p[4].predicted[QUANTITY_UPDATE]));
	ck_assert(isnan(prediction_error_frac(&p[0], QUANTITY_FORWARD)));
	validate_errors(&e, &validation, QUANTITY_UPDATE, false, NULL, NULL, &arena);
	ck_assert_uint_eq(e.n, 3);
	assert_rel(e.mean_frac, (prediction_error_frac(&p[0], QUANTITY_UPDATE) + 2) / 3, 1e-12);
	validate_errors(&e, &validation, QUANTITY_UPDATE, true, NULL, NULL, &arena);
	ck_assert_uint_eq(e.n, 1);
	ck_assert_str_eq(e.worst, "row-1");
	validate_errors(&e, &validation, QUANTITY_UPDATE, false, TINY, "30b", &arena);
	ck_assert_uint_eq(e.n, 1);
	validate_errors(&e, &validation, QUANTITY_FORWARD, false, NULL, NULL, &arena);
	ck_assert(e.n == 0 && isnan(e.mean_frac) && e.worst == NULL);
}
END_TEST

START_TEST(selection)
{
	struct opt_list ids = {0};

	opt_list_add(&ids, "h*", &arena);
	opt_list_add(&ids, "odd", &arena);
	predict(mixed, &ids);
	ck_assert_uint_eq(validation.n, 2);
	ck_assert_str_eq(validation.predictions[0].row->id, "odd");
}
END_TEST

/* The predicted iteration has the recorded other_s. */
START_TEST(other_is_recorded)
{
	predict(HEAD "a," TINY ",7b,1,dos:stride=2,,,8,1,1,1,0.25,3.25,\n", &all);
	const double *const p = validation.predictions[0].predicted;
	assert_rel(p[QUANTITY_SUM_PHASES], p[QUANTITY_FORWARD] + p[QUANTITY_BACKWARD] + p[QUANTITY_UPDATE], 1e-15);
	assert_rel(p[QUANTITY_ITERATION], p[QUANTITY_SUM_PHASES] + 0.25, 1e-15);
}
END_TEST

START_TEST(missing_profile)
{
	const struct validate_options options = {.ids = &all, .sharing = &sharing_none};
	const struct validate_options replaced = {.hw = TINY, .ids = &all, .sharing = &sharing_none};
	const char text[] = HEAD "a,./missing.json,7b,1,dos,,,,,,1,,,\n";

	ck_assert_int_eq(rows_parse(&rows, "t.csv", text, strlen(text), &arena, &err), 0);
	ck_assert_int_eq(validate_rows(&validation, &rows, &options, &arena, &err), STATUS_INPUT);
	assert_has(err.text, "t.csv:2: hw: ./missing.json");
	ck_assert_int_eq(validate_rows(&validation, &rows, &replaced, &arena, &err), 0);
}
END_TEST

START_TEST(summaries)
{
	struct error_case cases[11];
	struct errors e;

	for (int i = 0; i < 11; i++)
		cases[i] = (struct error_case){(10 - i) / 100.0, i % 2 ? NAN : -(10 - i) / 100.0, i == 0 ? "worst" : "other"};
	errors_of(&e, cases, 11, &arena);
	assert_rel(e.mean_frac, 0.05, 1e-12);
	assert_rel(e.median_frac, 0.05, 1e-12);
	assert_rel(e.p90_frac, 0.09, 1e-12); /* the tenth of eleven */
	assert_rel(e.max_frac, 0.10, 1e-12);
	assert_rel(e.bias_frac, -0.05, 1e-12);
	ck_assert_str_eq(e.worst, "worst");
	errors_of(&e, cases, 10, &arena);
	assert_rel(e.median_frac, 0.055, 1e-12);
	assert_rel(e.p90_frac, 0.09, 1e-12); /* the ninth of ten */
	errors_of(&e, cases, 1, &arena);
	ck_assert(e.p90_frac == e.max_frac && e.median_frac == e.max_frac);
}
END_TEST

static const char family[] = HEAD "b1," TINY ",,1,zero3-offload,10M,8,8,,,0.08,,,\n"
                                  "f1," TINY ",,1,zero3-offload:flush=async,10M,8,8,,,0.01,,,\n"
                                  "k2," TINY ",,1,\"dos:stride=2,chain=duplex\",10M,8,8,,,0.020,,,\n"
                                  "k3," TINY ",,1,\"dos:chain=duplex,stride=3\",10M,8,8,,,0.010,,,\n"
                                  "k4," TINY ",,1,\"dos:stride=4,chain=duplex,buffers=2\",10M,8,8,,,0.040,,,\n"
                                  "k5," TINY ",,1,\"dos:stride=5,chain=duplex\",10M,8,8,,,0.001,,,outlier\n"
                                  "s2," TINY ",,1,\"dos:stride=2,chain=serial\",10M,8,8,,,0.03,,,\n"
                                  "s3," TINY ",,1,\"dos:stride=3,chain=serial\",10M,8,8,,,0.03,,,\n"
                                  "t2," TINY ",,1,\"dos:stride=2,chain=duplex\",20M,8,8,,,0.03,,,\n";

START_TEST(speedups_over_zero3)
{
	struct speedup *speedups;

	predict(family, &all);
	ck_assert_uint_eq(validate_speedups(&speedups, &validation, QUANTITY_SUM_PHASES, &arena), 0);
	ck_assert_uint_eq(validate_speedups(&speedups, &validation, QUANTITY_UPDATE, &arena), 5); /* not k5, not t2 */
	const struct speedup *const s = &speedups[0];
	ck_assert_str_eq(s->base->row->id, "b1");
	ck_assert_str_eq(s->prediction->row->id, "k2");
	assert_rel(s->measured, 4, 1e-12);
	assert_rel(s->predicted, s->base->predicted[QUANTITY_UPDATE] / s->prediction->predicted[QUANTITY_UPDATE], 1e-15);
	assert_rel(s->error_frac, fabs(s->predicted / 4 - 1), 1e-12);
}
END_TEST

/* Best predicted is stride 2 (0.020), best measured stride 3 (0.010): a loss of 100 %. */
START_TEST(sweeps)
{
	struct sweep *found;

	predict(family, &all);
	ck_assert_uint_eq(validate_sweeps(&found, &validation, &arena), 1);
	ck_assert_uint_eq(found[0].n, 3);
	ck_assert_str_eq(found[0].key, "stride");
	ck_assert(found[0].best_measured == 3 && found[0].best_predicted == 2 && !found[0].is_right);
	assert_rel(found[0].loss_frac, 1, 1e-12);
	assert_has(found[0].family, "dos:chain=duplex,buffers=2");
}
END_TEST

Suite *validate_suite(void)
{
	Suite *const suite = suite_create("validate");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_test(core, kinds_of_rows);
	tcase_add_test(core, selection);
	tcase_add_test(core, other_is_recorded);
	tcase_add_test(core, missing_profile);
	tcase_add_test(core, summaries);
	tcase_add_test(core, speedups_over_zero3);
	tcase_add_test(core, sweeps);
	suite_add_tcase(suite, core);
	return suite;
}
