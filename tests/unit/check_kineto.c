/* SPDX-License-Identifier: GPL-3.0-or-later
 * PyTorch traces: every dialect gives the same recording; what is broken is skipped and said. */
#include "tests/unit/notes.h"
#include "tests/unit/test_util.h"
#include "traces/reader.h"

Suite *kineto_suite(void);

#define FILES "tests/data/traces/"

static struct recording rec;
static struct err err;

static void teardown(void)
{
	recording_release(&rec);
}

static uint64_t bytes_of(enum rec_kind kind)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < rec.n_events; i++)
		sum += rec.events[i].kind == kind ? rec.events[i].bytes : 0;
	return sum;
}

/* Four iterations of 9.96 ms: forward 3, backward 4.79 (of autograd functions), update 1.5. */
static const struct {
	const char *file;
	const char *note; /* NULL: none */
	size_t n_noted;
} dialects[] = {
    {FILES "kineto_relative.json", "other GPUs", 1},
    {FILES "kineto_float_epoch.json", NULL, 0},
    {FILES "kineto_int_us.json", NULL, 0},
    {FILES "kineto_bare_array.json", NULL, 0},
    {FILES "kineto_broken_names.json", "do not match", 1},
};

START_TEST(dialect)
{
	ck_assert_msg(recording_load(&rec, dialects[_i].file, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 4);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_int_eq(rec.iterations[i].number, 3 + (int)i);
		ck_assert_int_eq(rec.iterations[i].phase_ns[PHASE_FORWARD], 3000000);
		ck_assert_int_eq(rec.iterations[i].phase_ns[PHASE_BACKWARD], 4790000);
		ck_assert_int_eq(rec.iterations[i].phase_ns[PHASE_UPDATE], 1500000);
		ck_assert_int_eq(rec.iterations[i].phase_ns[PHASE_OTHER], 670000);
	}
	ck_assert_uint_eq(bytes_of(REC_H2D), 8 * 13000000);
	ck_assert_uint_eq(bytes_of(REC_D2H), 16 * 25000000);
	ck_assert_uint_eq(
	    rec.n_notes, dialects[_i].note ? (dialects[_i].n_noted + (strstr(dialects[_i].file, "broken") != NULL)) : 0);
	if (dialects[_i].note)
		ck_assert_uint_eq(note_with(&rec, dialects[_i].note)->count, dialects[_i].n_noted);
}
END_TEST

START_TEST(nanoseconds_beyond_a_double)
{
	ck_assert_msg(recording_load(&rec, FILES "kineto_float_epoch.json", &err) == 0, "%s", err.text);
	/* 1712195495505582.988 us + 5 ms */
	ck_assert_int_eq(rec.iterations[0].start_ns, 1712195495510582988);
}
END_TEST

START_TEST(head)
{
	ck_assert_msg(recording_load(&rec, FILES "kineto_relative.json", &err) == 0, "%s", err.text);
	ck_assert_str_eq(rec.facts.gpu, "NVIDIA A100-SXM4-40GB");
	ck_assert(rec.facts.rank == 2 && rec.facts.world_size == 4);
}
END_TEST

START_TEST(whole_microseconds_are_mended)
{
	ck_assert_msg(recording_load(&rec, FILES "kineto_old_names.json", &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 3);
	for (size_t i = 0; i < rec.n_events; i++)
		if (rec.events[i].kind == REC_D2H) {
			ck_assert_int_eq(rec.events[i].duration_ns, 12928); /* 147456 B at 11.4059 B/ns; written as 12 us */
			ck_assert(rec.events[i].memory == REC_PAGEABLE);
		}
}
END_TEST

START_TEST(cut_short)
{
	ck_assert_msg(recording_load(&rec, FILES "kineto_truncated.json", &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 4);
	ck_assert_ptr_nonnull(note_with(&rec, "cut short"));
}
END_TEST

START_TEST(copies_without_bytes)
{
	ck_assert_msg(recording_load(&rec, FILES "kineto_rocm.json", &err) == 0, "%s", err.text);
	ck_assert_uint_eq(note_with(&rec, "ROCm")->count, 2);
	ck_assert_int_gt((int)note_with(&rec, "ROCm")->where, 0);
	for (size_t i = 0; i < rec.n_events; i++)
		if (rec.events[i].kind == REC_H2D)
			ck_assert(
			    rec.events[i].is_unsized && rec.events[i].bytes == 0 && rec.events[i].duration_ns == 22441);
}
END_TEST

START_TEST(optimizer_steps_alone)
{
	ck_assert_msg(recording_load(&rec, FILES "kineto_optimizer_only.json", &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 3); /* two optimizers a step are one update */
	ck_assert_int_eq(rec.iterations[2].end_ns - rec.iterations[1].end_ns, 10000000);
	ck_assert_int_eq(rec.iterations[1].phase_ns[PHASE_BACKWARD], 2000000);
	ck_assert_int_eq(rec.iterations[1].phase_ns[PHASE_UPDATE], 2000000);
}
END_TEST

START_TEST(ranges_with_accumulation)
{
	ck_assert_msg(recording_load(&rec, FILES "kineto_offload.json", &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 2);
	ck_assert_int_eq(rec.iterations[0].phase_ns[PHASE_FORWARD], 8000000); /* two micro-batches */
	ck_assert_int_eq(rec.iterations[0].phase_ns[PHASE_UPDATE], 60000000);
	ck_assert_int_eq(rec.iterations[0].end_ns - rec.iterations[0].start_ns, 100000000);
	/* kernels belong to the phase that launched them */
	for (size_t i = 0; i < rec.n_events; i++)
		if (rec.events[i].kind == REC_KERNEL)
			ck_assert(rec.events[i].phase ==
			    (strcmp(rec.names[rec.events[i].name], "gemm") ? PHASE_BACKWARD : PHASE_FORWARD));
}
END_TEST

static const struct {
	const char *text, *message;
} refused[] = {
    {NULL, "CPU only"}, /* kineto_cpu_only.json */
    {"{\"traceEvents\": []}", "no kernels or copies"},
    {"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": "
     "1}]}",
	"no training steps"},
    {"", "empty"},
    {"hello", "not a recorded timeline"},
    {"{\"a\": 1}", "not a recorded timeline"},
};

START_TEST(refusal)
{
	const char *const text = refused[_i].text;
	const int code = text ? recording_parse(&rec, "t.json", text, strlen(text), &err)
			      : recording_load(&rec, FILES "kineto_cpu_only.json", &err);

	ck_assert_int_eq(code, STATUS_INPUT);
	assert_has(err.text, refused[_i].message);
}
END_TEST

START_TEST(missing_file)
{
	ck_assert_int_eq(recording_load(&rec, "tests/data/traces/none.json", &err), STATUS_INPUT);
	assert_has(err.text, "none.json: No such file");
	ck_assert_int_eq(recording_load(&rec, "tests/data", &err), STATUS_INPUT);
	assert_has(err.text, "folder");
}
END_TEST

/* Times that are none, or would not fit, are skipped and counted. */
START_TEST(times_out_of_range)
{
	static const char text[] =
	    "{\"traceEvents\": "
	    "[{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":"
	    "100},"
	    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1.5},"
	    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":-1,\"dur\":1},"
	    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1e300,\"dur\":1},"
	    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":\"x\",\"dur\":1},"
	    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":99999999999999999999,\"dur\":1}]}";

	ck_assert_msg(recording_parse(&rec, "t.json", text, sizeof(text) - 1, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_events, 1);
	ck_assert_int_eq(rec.events[0].duration_ns, 1500);
	ck_assert_uint_eq(note_with(&rec, "out of range")->count, 4);
}
END_TEST

Suite *kineto_suite(void)
{
	Suite *const suite = suite_create("kineto");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_checked_fixture(errors, NULL, teardown);
	tcase_add_loop_test(core, dialect, 0, (int)N_ELEMENTS(dialects));
	tcase_add_test(core, nanoseconds_beyond_a_double);
	tcase_add_test(core, head);
	tcase_add_test(core, whole_microseconds_are_mended);
	tcase_add_test(core, cut_short);
	tcase_add_test(core, copies_without_bytes);
	tcase_add_test(core, optimizer_steps_alone);
	tcase_add_test(core, ranges_with_accumulation);
	tcase_add_loop_test(errors, refusal, 0, (int)N_ELEMENTS(refused));
	tcase_add_test(errors, missing_file);
	tcase_add_test(errors, times_out_of_range);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, errors);
	return suite;
}
