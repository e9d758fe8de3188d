/* SPDX-License-Identifier: GPL-3.0-or-later
 * The recording itself: lanes, overlaps and gaps; our own timelines read and written; input in pieces and packed. */
#include "traces/recording.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit/test_util.h"
#include "traces/json_events.h"
#include "traces/measure.h"
#include "traces/range_names.h"
#include "traces/reader.h"
#include "traces/recording_write.h"

Suite *recording_suite(void);

#define FILES "tests/data/traces/"

static struct recording rec;
static struct err err;

static void teardown(void)
{
	recording_release(&rec);
}

static void add(enum rec_kind kind, int64_t device, int64_t stream, int64_t start_us, int64_t duration_us, uint64_t bytes)
{
	const struct rec_event event = {.kind = (uint8_t)kind,
	    .start_ns = start_us * 1000,
	    .duration_ns = duration_us * 1000,
	    .bytes = bytes,
	    .stream = recording_stream(&rec, device, stream)};
	recording_event(&rec, &event, 0, "");
}

/* One iteration 0..100 us: update 40..90. Kernels 10..30 and 20..50 overlap; H2D 45..65; D2H 60..70; host 80..85; an earlier iteration's
 * kernel reaches into it. */
START_TEST(lanes)
{
	struct measures measures;

	recording_init(&rec, "t", "t");
	rec.is_timeline = true;
	recording_mark(&rec, REC_MARK_ITERATION, 7, 100000, 100000);
	recording_mark(&rec, REC_MARK_UPDATE, 0, 140000, 50000);
	add(REC_KERNEL, 0, 1, 90, 15, 0);
	add(REC_KERNEL, 0, 1, 110, 20, 0);
	add(REC_KERNEL, 0, 2, 120, 30, 0);
	add(REC_H2D, 0, 3, 145, 20, 1000);
	add(REC_D2H, 0, 4, 160, 10, 500);
	add(REC_HOST, -1, 0, 180, 5, 0);
	ck_assert_msg(recording_finish(&rec, &err) == 0, "%s", err.text);
	measures_take(&measures, &rec);
	const struct measure all = measure_iteration(&measures, 0), update = measure_phase(&measures, PHASE_UPDATE);
	ck_assert_int_eq(measure_total_ns(&all), 100000);
	ck_assert_int_eq(measure_busy_ns(&all, BUSY_COMPUTE, 0), 45000); /* 5 + 40 */
	ck_assert_int_eq(measure_busy_ns(&all, BUSY_H2D, 0), 20000);
	ck_assert_int_eq(measure_busy_ns(&all, BUSY_H2D, BUSY_COMPUTE), 15000);
	ck_assert_int_eq(measure_busy_ns(&all, BUSY_HOST, 0), 5000);
	ck_assert_int_eq(measure_exposed_ns(&all), 20000); /* 50..70 */
	ck_assert_int_eq(measure_gap_ns(&all), 5000 + 10000 + 15000);
	ck_assert_int_eq(all.longest_gap_ns, 15000); /* across the end of the update */
	ck_assert(update.h2d_bytes == 1000 && update.d2h_bytes == 500);
	ck_assert_int_eq(measure_total_ns(&update), 50000);
	ck_assert_str_eq(measure_limit(&update), "h2d"); /* 20 us, as much as host and nothing */
	measures_release(&measures);
}
END_TEST

static const struct {
	const char *name;
	int kind; /* -1: nothing */
	int64_t number;
} names[] = {
    {"ProfilerStep#12", REC_MARK_ITERATION, 12},
    {"iteration", REC_MARK_ITERATION, 0},
    {"step 3", REC_MARK_ITERATION, 3},
    {"step", REC_MARK_UPDATE, 0},
    {"DeepSpeedEngine._take_model_step", REC_MARK_UPDATE, 0},
    {"## Forward ##", REC_MARK_FORWARD, 0},
    {"Optimizer.step#AdamW.step", REC_MARK_OPTIMIZER, 0},
    {"Optimizer.zero_grad#X", -1, 0},
    {"stepping", -1, 0},
    {"iteration x", -1, 0},
    {"iteration 1x", -1, 0},
    {"iteration 1234567890123456", -1, 0},
    {"", -1, 0},
};

START_TEST(range_name)
{
	enum rec_mark_kind kind;
	int64_t number;
	const bool found = range_name_mark(&kind, &number, names[_i].name, strlen(names[_i].name));

	ck_assert_int_eq(found ? (int)kind : -1, names[_i].kind);
	if (found)
		ck_assert_int_eq(number, names[_i].number);
}
END_TEST

static const struct {
	const char *text;
	int64_t ns; /* -1: none */
} times[] = {
    {"1712195495505582.988", 1712195495505582988},
    {"0", 0},
    {"12", 12000},
    {"12.3456", 12346},
    {"12.3454", 12345},
    {"1.5e3", 1500000},
    {"-1", -1},
    {"", -1},
    {"1.2.3", -1},
    {"x", -1},
    {"9999999999999999", -1},
    {"4000000000000000", 4000000000000000000},
};

START_TEST(time_text)
{
	int64_t ns;
	const struct json_text text = {times[_i].text, strlen(times[_i].text), 'v'};

	ck_assert_int_eq(json_us_to_ns(&ns, text) ? ns : -1, times[_i].ns);
}
END_TEST

/* Packed, and cut in the middle: the same events, or those before the cut. */
START_TEST(packed)
{
	char path[] = "/tmp/packed_XXXXXX";
	char text[40000];
	FILE *const plain = fopen(FILES "kineto_relative.json", "rb");
	const size_t n = fread(text, 1, sizeof(text), plain);

	fclose(plain);
	close(mkstemp(path));
	gzFile out = gzopen(path, "wb");
	gzwrite(out, text, (unsigned)n);
	gzclose(out);
	ck_assert_msg(recording_load(&rec, path, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 4);
	recording_release(&rec);
	FILE *const file = fopen(path, "rb+");
	fseek(file, 0, SEEK_END);
	ck_assert_int_eq(ftruncate(fileno(file), ftell(file) * 3 / 4), 0);
	fclose(file);
	ck_assert_msg(recording_load(&rec, path, &err) == 0, "%s", err.text);
	bool is_noted = false;
	for (size_t i = 0; i < rec.n_notes; i++)
		is_noted |= strstr(rec.notes[i].text, "gzip") != NULL;
	ck_assert(is_noted);
	unlink(path);
}
END_TEST

static int64_t busy_ns(enum rec_kind kind)
{
	int64_t sum = 0;
	for (size_t i = 0; i < rec.n_events; i++)
		sum += rec.events[i].kind == kind ? rec.events[i].duration_ns : 0;
	return sum;
}

static const char *const simulated[] = {FILES "simulated.json", FILES "simulated.csv"};

START_TEST(own_timeline)
{
	ck_assert_msg(recording_load(&rec, simulated[_i], &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 3);
	ck_assert_uint_eq(rec.n_notes, 0);
	assert_rel((double)recording_median_ns(&rec, PHASE_N), 0.302709e9, 1e-2);
	assert_rel((double)(recording_median_ns(&rec, PHASE_FORWARD) + recording_median_ns(&rec, PHASE_BACKWARD) +
		       recording_median_ns(&rec, PHASE_UPDATE)),
	    (double)recording_median_ns(&rec, PHASE_N), 1e-6);
	ck_assert_int_gt(busy_ns(REC_HOST), 0);
}
END_TEST

START_TEST(probe_timeline)
{
	ck_assert_msg(recording_load(&rec, FILES "probe_update.json", &err) == 0, "%s", err.text);
	ck_assert_str_eq(rec.facts.policy, "dos:stride=2,chain=serial,buffers=1");
	ck_assert_int_eq(rec.iterations[0].phase_ns[PHASE_UPDATE], 1740000);
	ck_assert_uint_eq(
	    rec.events[2].bytes + rec.events[1].bytes, 12000000); /* the fetch of a million parameters, and host work */
}
END_TEST

static const char *const suffixes[] = {".json", ".csv"};

/* A recording written as our timeline and read again. */
START_TEST(written_and_read)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/written_%d%s", (int)getpid(), suffixes[_i]);
	ck_assert_msg(recording_load(&rec, FILES "kineto_offload.json", &err) == 0, "%s", err.text);
	const int64_t h2d_ns = busy_ns(REC_H2D), kernel_ns = busy_ns(REC_KERNEL);
	ck_assert_msg(recording_write(path, &rec, &err) == 0, "%s", err.text);
	recording_release(&rec);
	ck_assert_msg(recording_load(&rec, path, &err) == 0, "%s", err.text);
	ck_assert_int_eq(busy_ns(REC_H2D), h2d_ns);
	ck_assert_int_eq(busy_ns(REC_KERNEL), kernel_ns);
	if (_i == 0) {
		ck_assert_uint_eq(rec.n_iterations, 2);
		ck_assert_int_eq(rec.iterations[1].phase_ns[PHASE_UPDATE], 60000000);
	}
	unlink(path);
}
END_TEST

Suite *recording_suite(void)
{
	Suite *const suite = suite_create("recording");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_test(core, lanes);
	tcase_add_loop_test(core, range_name, 0, (int)N_ELEMENTS(names));
	tcase_add_loop_test(core, time_text, 0, (int)N_ELEMENTS(times));
	tcase_add_test(core, packed);
	tcase_add_loop_test(core, own_timeline, 0, (int)N_ELEMENTS(simulated));
	tcase_add_test(core, probe_timeline);
	tcase_add_loop_test(core, written_and_read, 0, (int)N_ELEMENTS(suffixes));
	suite_add_tcase(suite, core);
	return suite;
}
