/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/chrome_trace.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/base/json.h"
#include "sim/sharing.h"
#include "sim/study/trial.h"
#include "tests/unit/test_util.h"
#include "traces/recording.h"

Suite *chrome_trace_suite(void);

enum { PIDS_MAX = 8, TIDS_MAX = 16, EVENTS_MAX = 200000 };

static struct arena arena;
static struct hwprofile hw;
static struct trial trial;
static struct json_doc *doc;
static const json_node *events;

/* Two ranks written out, so that pids differ; three iterations of a small model. */
static void setup(void)
{
	struct err err;
	struct trial_input input = {.hw = &hw,
	    .shape = {.name = "small", .layers = 3, .hidden = 512, .heads = 8, .ffn = 2048, .vocab = 8000},
	    .batch = {.gpus = 2, .mbs = 1, .grad_accum = 2, .seq = 512, .has_checkpointing = true, .subgroup_params = 1e6},
	    .policy = "dos:stride=2",
	    .sharing = &sharing_fluid,
	    .is_unfolded = true};
	char *text;
	size_t n_bytes;

	ck_assert_msg(hwprofile_load(&hw, "tests/data/tiny.json", &arena, &err) == 0, "%s", err.text);
	ck_assert_msg(trial_run(&trial, &input, &arena, &err) == 0, "%s", err.text);
	FILE *const out = open_memstream(&text, &n_bytes);
	chrome_trace_json(out, &trial.schedule, &trial.timeline, trial.policy);
	fclose(out);
	ck_assert_msg(json_parse(&doc, "trace", text, n_bytes, &err) == 0, "%s", err.text);
	free(text);
	events = json_get(json_root(doc), "traceEvents");
	ck_assert(json_is_array(events));
}

static void teardown(void)
{
	json_close(doc);
	arena_release(&arena);
}

static double number(const json_node *event, const char *key)
{
	struct err err;
	double value;

	ck_assert_msg(json_number(&value, doc, event, key, -INFINITY, INFINITY, &err) == 0, "%s", err.text);
	return value;
}

static const char *text_of(const json_node *event, const char *key)
{
	struct err err;
	const char *text;

	ck_assert_msg(json_text(&text, doc, event, key, &err) == 0, "%s", err.text);
	return text;
}

static bool is_ph(const json_node *event, const char *ph)
{
	return strcmp(text_of(event, "ph"), ph) == 0;
}

struct span {
	double pid, tid, start_us, end_us;
};

static int compare_spans(const void *a, const void *b)
{
	const struct span *const x = a, *const y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->start_us > y->start_us) - (x->start_us < y->start_us);
}

START_TEST(lanes_are_disjoint)
{
	struct span *const spans = calloc(EVENTS_MAX, sizeof(*spans));
	size_t n = 0;

	for (const json_node *e = json_first(events); e; e = json_next(e)) {
		if (!is_ph(e, "X"))
			continue;
		ck_assert_uint_lt(n, EVENTS_MAX);
		ck_assert(number(e, "ts") >= 0 && number(e, "dur") >= 0);
		spans[n++] = (struct span){number(e, "pid"), number(e, "tid"), number(e, "ts"), number(e, "ts") + number(e, "dur")};
	}
	ck_assert_uint_gt(n, 100);
	qsort(spans, n, sizeof(*spans), compare_spans);
	for (size_t i = 1; i < n; i++)
		ck_assert(spans[i].pid != spans[i - 1].pid || spans[i].tid != spans[i - 1].tid ||
		    spans[i].start_us >= spans[i - 1].end_us);
	free(spans);
}
END_TEST

START_TEST(every_lane_is_named)
{
	bool has_process[PIDS_MAX] = {false}, has_thread[PIDS_MAX][TIDS_MAX] = {{false}};

	for (const json_node *e = json_first(events); e; e = json_next(e)) {
		const size_t pid = (size_t)number(e, "pid"), tid = (size_t)number(e, "tid");
		ck_assert(pid < PIDS_MAX && tid < TIDS_MAX);
		if (!is_ph(e, "M"))
			continue;
		has_process[pid] |= strcmp(text_of(e, "name"), "process_name") == 0;
		has_thread[pid][tid] |= strcmp(text_of(e, "name"), "thread_name") == 0;
	}
	for (const json_node *e = json_first(events); e; e = json_next(e)) {
		ck_assert(has_process[(size_t)number(e, "pid")]);
		ck_assert(has_thread[(size_t)number(e, "pid")][(size_t)number(e, "tid")]);
	}
}
END_TEST

/* Flow ids count up: start n is followed by end n, later and on another lane. */
START_TEST(flows_have_both_ends)
{
	const json_node *start = NULL;
	size_t n = 0;

	for (const json_node *e = json_first(events); e; e = json_next(e)) {
		if (is_ph(e, "s")) {
			ck_assert_ptr_null(start);
			ck_assert(number(e, "id") == (double)n++);
			start = e;
		} else if (is_ph(e, "f")) {
			ck_assert_ptr_nonnull(start);
			ck_assert(number(e, "id") == number(start, "id"));
			ck_assert_str_eq(text_of(e, "cat"), text_of(start, "cat"));
			ck_assert_str_eq(text_of(e, "name"), text_of(start, "name"));
			ck_assert(number(e, "ts") >= number(start, "ts") && number(start, "ts") >= 0);
			ck_assert(number(e, "pid") != number(start, "pid") || number(e, "tid") != number(start, "tid"));
			start = NULL;
		}
	}
	ck_assert_ptr_null(start);
	ck_assert_uint_gt(n, 10);
}
END_TEST

static double counter_peak(const char *name)
{
	double peak = 0, last_us = 0;

	for (const json_node *e = json_first(events); e; e = json_next(e)) {
		if (!is_ph(e, "C") || strcmp(text_of(e, "name"), name) != 0 || number(e, "pid") != 0)
			continue;
		ck_assert(number(e, "ts") >= last_us);
		last_us = number(e, "ts");
		const json_node *const args = json_get(e, "args");
		const double value = number(args, json_get(args, "bytes") ? "bytes" : "bytes_per_s");
		ck_assert(value >= 0);
		peak = fmax(peak, value);
	}
	return peak;
}

START_TEST(counters_reach_the_peaks)
{
	assert_rel(counter_peak("GPU memory"), trial.metrics.gpu_peak_bytes, 1e-9);
	assert_rel(counter_peak("host memory") * 2, trial.metrics.host_peak_bytes, 1e-9);
	ck_assert(counter_peak("H2D") > 1e9 && counter_peak("H2D") <= 50e9 * (1 + 1e-9));
	ck_assert(counter_peak("D2H") > 1e9 && counter_peak("D2H") <= 50e9 * (1 + 1e-9));
}
END_TEST

/* The phases of the last iteration are those of metrics. */
START_TEST(phases_add_up)
{
	double phase_s[PHASE_N] = {0};

	for (const json_node *e = json_first(events); e; e = json_next(e)) {
		if (!is_ph(e, "X") || strcmp(text_of(e, "cat"), "phase") != 0 || number(e, "pid") != 0)
			continue;
		for (size_t phase = 0; phase < PHASE_N; phase++)
			if (strcmp(text_of(e, "name"), phase_names[phase]) == 0 && number(json_get(e, "args"), "iteration") == 2)
				phase_s[phase] += number(e, "dur") / 1e6;
	}
	assert_rel(phase_s[PHASE_FORWARD], trial.metrics.forward_s, 1e-9);
	assert_rel(phase_s[PHASE_BACKWARD], trial.metrics.backward_s, 1e-9);
	assert_rel(phase_s[PHASE_UPDATE], trial.metrics.update_s, 1e-9);
}
END_TEST

START_TEST(arguments)
{
	size_t n_subgroups = 0;

	for (const json_node *e = json_first(events); e; e = json_next(e)) {
		if (!is_ph(e, "X") || strcmp(text_of(e, "cat"), "phase") == 0)
			continue;
		const json_node *const args = json_get(e, "args");
		const size_t id = (size_t)number(args, "op");
		assert_rel(number(args, "alone_s"), trial.schedule.ops[id].alone_s, 0);
		assert_rel(number(args, "amount"), trial.schedule.ops[id].amount, 0);
		ck_assert_ptr_nonnull(text_of(args, "unit"));
		ck_assert_ptr_nonnull(text_of(args, "limit"));
		n_subgroups += json_get(args, "subgroup") != NULL;
	}
	ck_assert_uint_gt(n_subgroups, 10);
}
END_TEST

static size_t count_lines(const char *path, char first[256])
{
	FILE *const in = fopen(path, "r");
	size_t n = 0;
	char line[512];

	ck_assert_ptr_nonnull(in);
	while (fgets(line, sizeof(line), in))
		if (n++ == 0)
			snprintf(first, 256, "%.255s", line);
	fclose(in);
	return n;
}

START_TEST(csv_by_name)
{
	struct err err;
	char path[64], first[256];

	snprintf(path, sizeof(path), "/tmp/check_trace_%d.csv", (int)getpid());
	ck_assert_msg(chrome_trace_write(path, &trial.schedule, &trial.timeline, trial.policy, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(count_lines(path, first), trial.timeline.n_ops + 1);
	ck_assert_str_eq(first, "op,rank,lane,kind,iteration,phase,subgroup,start_s,end_s,alone_s,amount,unit,limit\n");
	unlink(path);
	ck_assert_int_eq(chrome_trace_write("/nonexistent/t.json", &trial.schedule, &trial.timeline, "", &err), STATUS_ENV);
	assert_has(err.text, "/nonexistent/t.json: cannot be written");
}
END_TEST

START_TEST(sizes_end_somewhere)
{
	struct err err;

	ck_assert_int_eq(CHROME_TRACE_CSV_OPS_MAX, REC_EVENTS_MAX);
	ck_assert_int_eq(chrome_trace_check_size("a.json", CHROME_TRACE_JSON_OPS_MAX, &err), 0);
	ck_assert_int_eq(chrome_trace_check_size("a.csv", CHROME_TRACE_CSV_OPS_MAX, &err), 0);
	ck_assert_int_eq(chrome_trace_check_size("-", CHROME_TRACE_JSON_OPS_MAX + 1, &err), STATUS_USAGE);
	assert_has(err.text, "1000001 operations");
	assert_has(err.text, "up to 1000000 (as CSV 8000000) would be accepted");
	ck_assert_int_eq(chrome_trace_check_size("a.csv", CHROME_TRACE_CSV_OPS_MAX + 1, &err), STATUS_USAGE);
	assert_has(err.text, "up to 8000000 would be accepted");
}
END_TEST

Suite *chrome_trace_suite(void)
{
	Suite *const suite = suite_create("chrome_trace");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, lanes_are_disjoint);
	tcase_add_test(core, every_lane_is_named);
	tcase_add_test(core, flows_have_both_ends);
	tcase_add_test(core, counters_reach_the_peaks);
	tcase_add_test(core, phases_add_up);
	tcase_add_test(core, arguments);
	tcase_add_test(core, csv_by_name);
	tcase_add_test(core, sizes_end_somewhere);
	suite_add_tcase(suite, core);
	return suite;
}
