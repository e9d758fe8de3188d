/* SPDX-License-Identifier: GPL-3.0-or-later
 * Broken lines and events of our own timelines and of DeepSpeed logs: skipped with a note, or refused. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/notes.h"
#include "tests/unit/test_util.h"
#include "traces/dslog.h"
#include "traces/reader.h"
#include "traces/recording_write.h"

Suite *timeline_errors_suite(void);

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

/* ---- our own: one phase of 100 us with a kernel in it, and one event or line more */

#define JSON(event) \
	"{\"schema\":\"dos-trace/1\",\"traceEvents\":[" \
	"{\"ph\":\"X\",\"cat\":\"phase\",\"name\":\"update\",\"pid\":0,\"ts\":0,\"dur\":100}," \
	"{\"ph\":\"X\",\"cat\":\"gpu compute\",\"name\":\"adam\",\"pid\":0,\"ts\":10,\"dur\":50}," event "]}"
#define PROBE(name, events) \
	"{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"" name "\"}}," \
	"{\"ph\":\"X\",\"cat\":\"gpu\",\"name\":\"adam\",\"pid\":0,\"ts\":0,\"dur\":50,\"args\":{\"subgroup\":0}}" events \
	"]}"
#define CSV(line) \
	"op,rank,lane,kind,iteration,phase,subgroup,start_s,end_s,alone_s,amount,unit,limit\n" \
	"0,0,host main,\"launch\",0,update,0,0,1e-4,1,1,s,main\n1,0,gpu " \
	"compute,adam,0,update,0,1e-5,6e-5,1,1,s,gpu\n" line "\n"

static const struct {
	const char *text;
	const char *note; /* NULL: none */
	int n_events, n_calls; /* beside the kernel and, in CSV, the launch */
} own[] = {
    {JSON("{\"ph\":\"X\",\"cat\":\"h2d "
	  "engine\",\"name\":\"push\",\"pid\":0,\"ts\":1,\"dur\":2,\"args\":{\"unit\":\"bytes\",\"amount\":5}}"),
	NULL, 1, 0},
    {JSON("{\"ph\":\"X\",\"cat\":\"host main\",\"name\":\"adam\",\"pid\":1,\"ts\":1,\"dur\":2}"), "other ranks", 0, 0},
    {JSON("{\"ph\":\"X\",\"cat\":\"host main\",\"name\":\"wait\",\"pid\":0,\"ts\":1,\"dur\":2}"), NULL, 0, 1},
    {JSON("{\"ph\":\"X\",\"cat\":\"gpu compute\",\"name\":\"x\",\"pid\":0,\"ts\":-1,\"dur\":2}"), "out of range", 0, 0},
    {JSON("{\"ph\":\"X\",\"cat\" \"gpu\"}"), "no JSON", 0, 0},
    {JSON("{\"ph\":\"X\",\"cat\":\"g\npu\"}"), "do not match", 0, 0},
    {JSON("{\"ph\":\"X\",\"cat\":\"gpu\""), "cut short", 0, 0},
    {PROBE("dos:stride=2, chain=serial, 4 x 1000000 parameters, 8 threads", ""), NULL, 0, 0},
    {PROBE("dos, 4 x 1000000 parameters, 8 threads",
	 ",{\"ph\":\"X\",\"cat\":\"gpu\",\"name\":\"adam\",\"pid\":9,\"ts\":0,\"dur\":5}"),
	"after the first", 0, 0},
    {CSV("2,0,\"h2d engine\",\"a \"\"push\"\"\",0,update,0,1e-5,2e-5,1,5,bytes,h2d"), NULL, 1, 0},
    {CSV("2,0,gpu compute,adam,0,update,0,soon,2e-5,1,5,s,gpu"), "without a start and an end", 0, 0},
    {CSV("2,0,gpu compute,adam,0,update,0,1e-5,5e9,1,5,s,gpu"), "without a start and an end", 0, 0},
    {CSV("2,0,gpu compute,adam,0,update,0,2e-5,1e-5,1,5,s,gpu"), "without a start and an end", 0, 0},
    {CSV("2,0,gpu compute"), "without a start and an end", 0, 0},
    {CSV("2,3,host main,adam,0,update,0,1e-5,2e-5,1,5,s,main"), "other ranks", 0, 0},
    {CSV(",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"), "without a start and an end", 0,
	0}, /* more cells than are kept */
};

/* Ends and starts that are one instant, rounded apart: twice 196646.8747 us is 393293750 ns, but 393293.7494 us, the sum, 393293749. */
START_TEST(phases_that_meet)
{
	static const char *const iteration =
	    "%s{\"ph\":\"X\",\"cat\":\"phase\",\"name\":\"update\",\"pid\":0,\"ts\":%s,\"dur\":196646.8747,\"args\":{\"iteration\":%d}},"
	    "{\"ph\":\"X\",\"cat\":\"gpu compute\",\"name\":\"adam\",\"pid\":0,\"ts\":%s,\"dur\":50}";
	static const char *const starts[] = {"0", "196646.8747", "393293.7494"};
	char text[1024];
	size_t at = (size_t)snprintf(text, sizeof(text), "{\"schema\":\"dos-trace/1\",\"traceEvents\":[");

	for (int i = 0; i < 3; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, iteration, i ? "," : "", starts[i], i, starts[i]);
	snprintf(text + at, sizeof(text) - at, "]}");
	ck_assert_msg(parse(text) == 0, "%s", err.text);
	ck_assert_int_eq((int)rec.n_iterations, 3);
	ck_assert_int_eq((int)rec.n_segments, 3);
	for (size_t i = 0; i < rec.n_segments; i++) {
		ck_assert_int_eq((int)rec.segments[i].phase, PHASE_UPDATE);
		ck_assert_int_eq((int)recording_segment(&rec, rec.events[i].start_ns)->iteration, (int)i);
	}
}
END_TEST

/* dos-probe says no bytes: 12 a parameter of a fetch or a write-back, 10 of masters in halves, 2 of a push. */
START_TEST(bytes_of_a_probe)
{
	static const char *const texts[] = {
#define COPIES \
	",{\"ph\":\"X\",\"cat\":\"h2d\",\"name\":\"fetch\",\"pid\":0,\"ts\":50,\"dur\":5}" \
	",{\"ph\":\"X\",\"cat\":\"h2d\",\"name\":\"push\",\"pid\":0,\"ts\":60,\"dur\":5}"
	    PROBE("hybrid:mask=01,downscale=fused, 4 x 1000000 parameters, 8 threads", COPIES),
	    PROBE("hybrid:mask=01,downscale=split, 4 x 1000000 parameters, 8 threads", COPIES)};
#undef COPIES

	ck_assert_msg(parse(texts[_i]) == 0, "%s", err.text);
	ck_assert_int_eq((int)rec.n_events, 3);
	ck_assert_int_eq((int)rec.events[1].bytes, _i == 0 ? 12000000 : 10000000);
	ck_assert_int_eq((int)rec.events[2].bytes, 2000000);
}
END_TEST

START_TEST(own_timelines)
{
	const bool is_csv = own[_i].text[0] == 'o';

	ck_assert_msg(parse(own[_i].text) == 0, "%s", err.text);
	ck_assert_int_eq((int)rec.n_iterations, 1);
	ck_assert_int_eq((int)rec.n_events, 1 + own[_i].n_events);
	ck_assert_int_eq((int)rec.n_calls, own[_i].n_calls + is_csv);
	ck_assert_msg(!own[_i].note == !rec.n_notes, "%zu notes", rec.n_notes);
	ck_assert_msg(!own[_i].note || note_with(&rec, own[_i].note), "no note on %s", own[_i].note);
}
END_TEST

START_TEST(quotes_in_a_name)
{
	ck_assert_int_eq(parse(CSV("2,0,\"h2d engine\",\"a \"\"push\"\"\",0,update,0,2e-5,3e-5,1,5,bytes,h2d")), 0);
	ck_assert(rec.events[1].kind == REC_H2D && rec.events[1].bytes == 5);
	ck_assert_str_eq(rec.names[rec.events[1].name], "a \"push\"");
}
END_TEST

/* What runs before the first iteration is not written. */
START_TEST(written_from_the_first_iteration)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/written_%d.json", (int)getpid());
	ck_assert_int_eq(parse("{\"schema\":\"dos-trace/1\",\"traceEvents\":["
			       "{\"ph\":\"X\",\"cat\":\"phase\",\"name\":\"update\",\"pid\":0,\"ts\":50,\"dur\":100},"
			       "{\"ph\":\"X\",\"cat\":\"gpu compute\",\"name\":\"early\",\"pid\":0,\"ts\":1,\"dur\":9},"
			       "{\"ph\":\"X\",\"cat\":\"gpu compute\",\"name\":\"adam\",\"pid\":0,\"ts\":60,\"dur\":50}]}"),
	    0);
	ck_assert_uint_eq(rec.n_events, 2);
	ck_assert_msg(recording_write(path, &rec, &err) == 0, "%s", err.text);
	recording_release(&rec);
	ck_assert_msg(recording_load(&rec, path, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_events, 1);
	unlink(path);
}
END_TEST

/* ---- logs */

#define LINE "[2024-02-28 10:00:00,100] [INFO] rank=0 time (ms) | fwd: 1.00 | bwd: 2.00 | step: 3.00\n"

static const struct {
	const char *text, *message; /* NULL: accepted */
} logs[] = {
    {LINE, NULL},
    {"\033[34m\033x" LINE "\033", NULL}, /* colours, and what begins like one */
    {"DeepSpeed info\n[INFO] nothing of times\n", "lines of whole iterations"},
    {"DeepSpeed SamplesPerSec=3\n", "wall_clock_breakdown"},
    {"DeepSpeed\ntime (ms) | bwd: 2.00\n", "lines of whole iterations"},
    {"", "is empty"},
    {"words", "not a recorded timeline that is known"},
};

START_TEST(log_texts)
{
	ck_assert_int_eq(parse(logs[_i].text), logs[_i].message ? STATUS_INPUT : 0);
	if (logs[_i].message)
		assert_has(err.text, logs[_i].message);
	else
		ck_assert_int_eq(rec.iterations[0].phase_ns[PHASE_UPDATE], 3000000);
}
END_TEST

START_TEST(log_of_binary_bytes)
{
	static const char bytes[] = "DeepSpeed\0 time (ms) | fwd: 1.00";

	ck_assert_int_eq(recording_parse(&rec, "t", bytes, sizeof(bytes), &err), STATUS_INPUT);
	assert_has(err.text, "not a recorded timeline that is known");
}
END_TEST

START_TEST(log_facts)
{
	ck_assert_int_eq(
	    parse("DeepSpeed\n  micro_batch_size ........ 2\n  data_parallel_size .... 4\n  global_batch_size ..... 24\n"
		  "  num_layers .... none\n \"device\": \"cpu\", \"ratio\": 0.75\n" LINE),
	    0);
	ck_assert(rec.facts.grad_accum == 3 && rec.facts.layers == 0);
	ck_assert_str_eq(rec.facts.policy, "twinflow:ratio=0.75,flush=blocking");
}
END_TEST

START_TEST(log_lines)
{
	struct dslog_times times;

	ck_assert(dslog_times_parse(&times, "time (ms) | fwd  : 1.50 | bwd: 2"));
	ck_assert(times.total_ns[DSLOG_FORWARD] == 1500000 && times.total_ns[DSLOG_BACKWARD] == 2000000);
	ck_assert_int_eq(dslog_clock_ns("[2000-01-01 00:00:01,x00]"), 1000000000); /* no thousandths: none */
	ck_assert_int_eq(dslog_rank("rank=x"), -1);
}
END_TEST

/* ---- files */

static const struct {
	const char *path, *message;
} files[] = {
    {"/nonexistent/trace.json", "No such file"},
    {"/tmp", "is a folder"},
    {"/dev/null", "is empty"},
};

START_TEST(files_that_cannot_be_read)
{
	ck_assert_int_eq(recording_load(&rec, files[_i].path, &err), STATUS_INPUT);
	assert_has(err.text, files[_i].message);
}
END_TEST

/* No descriptor is left: there is a file, and it cannot be opened. */
START_TEST(no_descriptors)
{
	char path[] = "/tmp/timeline_XXXXXX";
	struct rlimit limit, none = {0, 0};

	close(mkstemp(path));
	getrlimit(RLIMIT_NOFILE, &limit);
	none.rlim_max = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &none);
	const int code = recording_load(&rec, path, &err);
	setrlimit(RLIMIT_NOFILE, &limit);
	unlink(path);
	ck_assert_int_eq(code, STATUS_INPUT);
	assert_has(err.text, "Too many open files");
}
END_TEST

START_TEST(damaged_gzip)
{
	static const unsigned char bytes[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff};
	char path[] = "/tmp/timeline_XXXXXX";
	const int file = mkstemp(path);

	ck_assert_int_eq((int)write(file, bytes, sizeof(bytes)), (int)sizeof(bytes));
	close(file);
	const int code = recording_load(&rec, path, &err);
	unlink(path);
	ck_assert_int_eq(code, STATUS_INPUT);
	assert_has(err.text, "a damaged gzip file");
}
END_TEST

Suite *timeline_errors_suite(void)
{
	Suite *const suite = suite_create("timeline_errors");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_loop_test(core, own_timelines, 0, (int)N_ELEMENTS(own));
	tcase_add_test(core, phases_that_meet);
	tcase_add_loop_test(core, bytes_of_a_probe, 0, 2);
	tcase_add_test(core, quotes_in_a_name);
	tcase_add_test(core, written_from_the_first_iteration);
	tcase_add_loop_test(core, log_texts, 0, (int)N_ELEMENTS(logs));
	tcase_add_test(core, log_of_binary_bytes);
	tcase_add_test(core, log_facts);
	tcase_add_test(core, log_lines);
	tcase_add_loop_test(core, files_that_cannot_be_read, 0, (int)N_ELEMENTS(files));
	tcase_add_test(core, no_descriptors);
	tcase_add_test(core, damaged_gzip);
	suite_add_tcase(suite, core);
	return suite;
}
