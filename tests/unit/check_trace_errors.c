/* SPDX-License-Identifier: GPL-3.0-or-later
 * What is broken, cut or out of range in a recorded timeline: skipped with a note, or refused; what is whole stays. */
#include <stdlib.h>

#include "model/base/arena.h"
#include "tests/unit/notes.h"
#include "tests/unit/test_util.h"
#include "traces/reader.h"

Suite *trace_errors_suite(void);

static struct recording rec;
static struct err err;

static void teardown(void)
{
	recording_release(&rec);
}

static int parse(const char *text)
{
	return recording_parse(&rec, "t", text, strlen(text), &err);
}

/* ---- PyTorch traces: one step of 100 us with a kernel in it, and one more event or member */

#define EVENT(cat, name, more) "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":7" more "}"
#define STEP EVENT("user_annotation", "ProfilerStep#1", ",\"ts\":100,\"dur\":100")
#define KERNEL EVENT("kernel", "gemm", ",\"ts\":110,\"dur\":50")
#define TRACE(event) "{\"traceEvents\":[" STEP "," KERNEL "," event "]}"
#define MEMBER(member) "{" member ",\"traceEvents\":[" STEP "," KERNEL "]}"
#define COPY(bytes) \
	EVENT("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", ",\"ts\":120,\"dur\":10,\"args\":{\"bytes\":" bytes "}")
#define TIMES ",\"ts\":120,\"dur\":10"

static const struct {
	const char *text;
	const char *note; /* NULL: none */
	int n_events; /* beside the kernel; -1: a head that cannot be framed, nothing behind it is read */
} kineto[] = {
    {TRACE(KERNEL), NULL, 1},
    {TRACE(EVENT("kernel", "x", TIMES ",\"id\":7")), NULL, 1}, /* a member of no interest */
    {TRACE(EVENT("kernel", "a\\\"}{\\\\", TIMES)), NULL, 1}, /* quotes and brackets in a name */
    {TRACE(EVENT("kernel", "x", "")), "out of range", 0},
    {TRACE(EVENT("kernel", "x", ",\"ts\":120,\"dur\":-1")), "out of range", 0},
    {TRACE(EVENT("kernel", "x", ",\"ts\":1e30,\"dur\":1")), "out of range", 0},
    {TRACE(EVENT("kernel", "x", ",\"ts\":1x,\"dur\":1")), "out of range", 0},
    {TRACE(EVENT("kernel", "x", ",\"ts\":\"12\\\"\",\"dur\":1")), "out of range", 0},
    {TRACE(COPY("1000.6")), NULL, 1},
    {TRACE(COPY("1.5x")), "without bytes", 1},
    {TRACE(COPY("-3")), "without bytes", 1},
    {TRACE(COPY("2e12")), "out of range", 0},
    {TRACE(COPY("99999999999999999999")), "without bytes", 1},
    {TRACE(EVENT("cuda_runtime", "cudaLaunchKernel", "")), NULL, 0},
    {TRACE(EVENT("kernel", "x", ",\"ts\":1,\"dur\":4000000000000000.5")), "out of range", 0},
    {TRACE(EVENT("cpu_op", "DeepSpeedCPUAdam.step", TIMES)), NULL, 1},
    {TRACE(EVENT("cpu_op", "DeepSpeedCPUAdam.step", "")), NULL, 0},
    {TRACE("{\"ph\":\"B\",\"cat\":\"kernel\",\"name\":\"x\",\"ts\":1}"), "begin events", 0},
    {TRACE("{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":}"), "no JSON", 0},
    {TRACE("{\"ph\":\"X\",\"cat\":\"kernel\" \"ts\":1}"), "no JSON", 0},
    {TRACE("{\"ph\":\"X\",\"cat\":\"ker\nnel\"}"), "do not match", 0},
    {TRACE("7"), "do not match", 0},
    {MEMBER("\"deviceProperties\":[\"H100\"]"), NULL, 0}, /* no object: no name */
    {MEMBER("\"deviceProperties\":[]"), NULL, 0},
    {MEMBER("\"deviceProperties\":[{\"name\":7}]"), NULL, 0},
    {MEMBER("\"a \\\"key\\\"\":\"and a \\\\ value\""), NULL, 0},
    {"{\"deviceProperties\":[{\"name\":\"a\nb\"}],\"traceEvents\":[" STEP "," KERNEL "]}", "cut short", -1},
    {"{\"distributedInfo\":{\"ra\nnk\":3},\"traceEvents\":[" STEP "," KERNEL "]}", "cut short", -1},
    {"{\"traceEvents\":[" STEP "," KERNEL, "cut short", 0},
    {"{\"traceEvents\":[" STEP "," KERNEL ",{\"ph\":\"X\",\"na", "cut short", 0},
    {"{\"traceEvents\":[" STEP "," KERNEL "],\"distributedInfo", NULL,
	0}, /* what is cut behind the events matters to none */
    {"{\"traceEvents\":[" STEP "," KERNEL "],\"distributedInfo\" 1}", NULL, 0},
    {"{\"traceEvents\":[" STEP "," KERNEL "],\"distributedInfo\":{\"rank\":", NULL, 0},
    {"{\"traceEvents\":[" STEP "," KERNEL "],\"distributedInfo\":,}", NULL, 0},
    {"{\"traceEvents\":[" STEP "," KERNEL "],\"name\":\"trace", NULL, 0},
};

START_TEST(pytorch)
{
	const bool is_lost = kineto[_i].n_events < 0;

	ck_assert_int_eq(parse(kineto[_i].text), is_lost ? STATUS_INPUT : 0);
	if (!is_lost)
		ck_assert_int_eq((int)rec.n_events, 1 + kineto[_i].n_events);
	ck_assert_msg(!kineto[_i].note || note_with(&rec, kineto[_i].note), "no note on %s", kineto[_i].note);
	ck_assert_str_eq(rec.facts.gpu, "");
}
END_TEST

START_TEST(bytes_are_rounded)
{
	ck_assert_int_eq(parse(TRACE(COPY("1000.6"))), 0);
	ck_assert(rec.events[1].kind == REC_H2D && rec.events[1].bytes == 1001);
}
END_TEST

START_TEST(escaped_name)
{
	ck_assert_int_eq(parse(MEMBER("\"deviceProperties\":[{\"name\":\"A\\u0041\\\\B\\n\\u00\"}]")), 0);
	ck_assert_str_eq(rec.facts.gpu, "A?\\Bn?");
}
END_TEST

/* Text of exactly n bytes: head, fill, tail. */
static char *sized(size_t n, const char *head, char fill, const char *tail)
{
	const size_t n_head = strlen(head), n_tail = strlen(tail);
	char *const text = xmalloc(n + 1, 1);

	ck_assert_uint_ge(n, n_head + n_tail);
	memset(text, fill, n);
	memcpy(text, head, n_head);
	memcpy(text + n - n_tail, tail, n_tail);
	text[n] = '\0';
	return text;
}

#define WHOLE "{\"traceEvents\":[" STEP "," KERNEL
static const struct {
	size_t n;
	const char *head;
	char fill;
	const char *tail;
	const char *note;
	int n_iterations; /* 0: refused */
} large[] = {
    /* cut inside an event, and the text ends where the window does */
    {262144, WHOLE ",{\"name\":\"", 'x', "", "cut short", 1},
    /* an event longer than one may be */
    {3000000, WHOLE ",{\"name\":\"", 'x', "\"}," KERNEL "]}", "do not match", 1},
    /* a text longer than one may be, in the head and behind the events */
    {1200000, "{\"name\":\"traceEvents", 'x', "\",\"traceEvents\":[" STEP "," KERNEL "]}", "cut short", 0},
    {1200000, WHOLE "],\"name\":\"", 'x', "\"}", NULL, 1},
    /* members that end nowhere, at a value, in a list, in a key */
    {3000000, WHOLE "],\"distributedInfo\":{\"rank\":", ' ', "", NULL, 1},
    {3000000, WHOLE "],\"deviceProperties\":[{\"name\":\"A\",\"x\":[1,", ' ', "", NULL, 1},
    {3000000, WHOLE "],\"distributedInfo\":{\"rank", 'x', "", NULL, 1},
    {3000000, WHOLE "],\"distributedInfo\":{\"rank\":\"", 'x', "\"}}", NULL, 1},
};

START_TEST(large_texts)
{
	char *const text = sized(large[_i].n, large[_i].head, large[_i].fill, large[_i].tail);
	const int code = recording_parse(&rec, "t", text, large[_i].n, &err);

	ck_assert_int_eq(code, large[_i].n_iterations ? 0 : STATUS_INPUT);
	ck_assert_int_eq((int)rec.n_iterations, large[_i].n_iterations);
	ck_assert_msg(!large[_i].note || note_with(&rec, large[_i].note), "no note on %s", large[_i].note);
	free(text);
}
END_TEST

/* ---- steps and phases */

#define RANGE(name, start, duration) EVENT("user_annotation", name, ",\"ts\":" start ",\"dur\":" duration)
#define STEPS(ranges) "{\"traceEvents\":[" ranges "," KERNEL "]}"

static const struct {
	const char *text, *note;
	int n_iterations;
	int64_t forward_ns, backward_ns, update_ns; /* of the first */
} steps[] = {
    /* forward to update; then a forward without one */
    {STEPS(RANGE("forward", "100", "20") "," RANGE("step", "120", "40") "," RANGE("forward", "160", "20")),
	"without its update", 1, 20000, 0, 40000},
    {STEPS(RANGE("ProfilerStep#1", "100", "100") "," RANGE("ProfilerStep#2", "300", "100")), "without GPU work", 1, 0, 0,
	0},
    /* from the same start: the longer one wins; of the same length: the earlier phase; neighbours are one */
    {STEPS(RANGE("ProfilerStep#1", "100", "100") "," RANGE("forward", "110", "20") "," RANGE("backward", "110", "30")),
	NULL, 1, 0, 30000, 0},
    {STEPS(RANGE("ProfilerStep#1", "100", "100") "," RANGE("step", "110", "20") "," RANGE("forward", "110", "20")), NULL, 1,
	20000, 0, 0},
    {STEPS(RANGE("ProfilerStep#1", "100", "100") "," RANGE("forward", "110", "20") "," RANGE("forward", "130", "20")), NULL,
	1, 40000, 0, 0},
    /* what was before the first step is not its */
    {STEPS(RANGE("forward", "10", "20") "," RANGE("ProfilerStep#1", "100", "100") "," RANGE("forward", "110", "20")), NULL,
	1, 20000, 0, 0},
};

START_TEST(steps_and_phases)
{
	ck_assert_msg(parse(steps[_i].text) == 0, "%s", err.text);
	ck_assert_int_eq((int)rec.n_iterations, steps[_i].n_iterations);
	ck_assert_int_eq(rec.iterations[0].phase_ns[PHASE_FORWARD], steps[_i].forward_ns);
	ck_assert_int_eq(rec.iterations[0].phase_ns[PHASE_BACKWARD], steps[_i].backward_ns);
	ck_assert_int_eq(rec.iterations[0].phase_ns[PHASE_UPDATE], steps[_i].update_ns);
	ck_assert_msg(!steps[_i].note || note_with(&rec, steps[_i].note), "no note on %s", steps[_i].note);
}
END_TEST

/* ---- limits of the recording itself */

START_TEST(limits)
{
	const struct rec_event event = {.start_ns = 1, .duration_ns = 1};
	char name[16];

	recording_init(&rec, "t", "t");
	for (int64_t i = 0; i < REC_STREAMS_MAX + 3; i++)
		ck_assert_int_eq(recording_stream(&rec, 0, i), i < REC_STREAMS_MAX ? (int)i : REC_STREAMS_MAX - 1);
	ck_assert_uint_eq(note_with(&rec, "beyond 256")->count, 3);
	for (int i = 0; i < REC_NAMES_MAX; i++)
		recording_name(&rec, name, (size_t)snprintf(name, sizeof(name), "name %d", i));
	ck_assert_uint_eq(recording_name(&rec, "one more", 8), 0); /* "(other)" */
	ck_assert_str_eq(rec.names[recording_name(&rec, "name 1", 6)], "name 1");
	for (int i = 0; i < REC_MARKS_MAX + 2; i++)
		recording_mark(&rec, REC_MARK_FORWARD, 0, i, 1);
	ck_assert(rec.n_marks == REC_MARKS_MAX && note_with(&rec, "beyond 100 000")->count == 2);
	recording_mark(&rec, REC_MARK_FORWARD, 0, 0, -1);
	ck_assert_uint_eq(note_with(&rec, "out of range")->count, 1);
	rec.n_events = rec.n_calls = REC_EVENTS_MAX; /* as if they were there */
	recording_event(&rec, &event, 7, "byte");
	recording_call(&rec, &event, 8, "byte");
	ck_assert(
	    rec.n_dropped == 1 && note_with(&rec, "events beyond 8 million")->where == 7 && note_with(&rec, "host calls")->where == 8);
	rec.n_events = rec.n_calls = 0;
}
END_TEST

Suite *trace_errors_suite(void)
{
	Suite *const suite = suite_create("trace_errors");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_loop_test(core, pytorch, 0, (int)N_ELEMENTS(kineto));
	tcase_add_test(core, bytes_are_rounded);
	tcase_add_test(core, escaped_name);
	tcase_add_loop_test(core, large_texts, 0, (int)N_ELEMENTS(large));
	tcase_add_loop_test(core, steps_and_phases, 0, (int)N_ELEMENTS(steps));
	tcase_add_test(core, limits);
	suite_add_tcase(suite, core);
	return suite;
}
