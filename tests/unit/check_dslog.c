/* SPDX-License-Identifier: GPL-3.0-or-later
 * DeepSpeed logs: names of now and before, ranks, colours, gradient accumulation, shape, policy, memory. */
#include "traces/dslog.h"

#include "tests/unit/test_util.h"
#include "traces/reader.h"

Suite *dslog_suite(void);

#define FILES "tests/data/traces/"

static struct recording rec;
static struct err err;

static void teardown(void)
{
	recording_release(&rec);
}

START_TEST(megatron_log)
{
	ck_assert_msg(recording_load(&rec, FILES "deepspeed_megatron.log", &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 6);
	ck_assert_int_eq(rec.iterations[1].phase_ns[PHASE_FORWARD], 201500000); /* sum of its micro-batches, as logged */
	ck_assert_int_eq(rec.iterations[1].phase_ns[PHASE_BACKWARD], 1600000000);
	ck_assert_int_eq(rec.iterations[1].phase_ns[PHASE_UPDATE], 4101020000);
	ck_assert_int_eq(rec.iterations[1].end_ns - rec.iterations[1].start_ns, 6501000000);
	ck_assert_int_eq(recording_median_ns(&rec, PHASE_N), 6502500000);
	const struct rec_facts *const f = &rec.facts;
	ck_assert(f->layers == 32 && f->hidden == 4096 && f->heads == 32 && f->kv_heads == 4 && f->ffn == 11008 &&
	    f->vocab == 50304);
	ck_assert(f->seq == 2048 && f->mbs == 1 && f->grad_accum == 2 && f->gpus == 2 && f->subgroup_params == 1e8 &&
	    f->n_params == 5.95e9);
	ck_assert(f->has_checkpointing && !f->is_gpt);
	ck_assert_str_eq(f->policy, "dos:stride=3,flush=async");
	assert_rel((double)f->gpu_peak_bytes, 25.67 * 1073741824.0, 1e-9);
	assert_rel((double)f->host_used_bytes, 195.13 * 1073741824.0, 1e-9);
}
END_TEST

START_TEST(old_names_and_ranks)
{
	ck_assert_msg(recording_load(&rec, FILES "deepspeed_old_names.log", &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 4);
	ck_assert_int_eq(rec.facts.rank, 1);
	ck_assert_int_eq(rec.iterations[3].phase_ns[PHASE_UPDATE], 313000000);
	ck_assert_uint_eq(rec.notes[0].count, 8);
	ck_assert_uint_eq(rec.notes[0].where, 4);
}
END_TEST

START_TEST(micro_batches_without_totals)
{
	ck_assert_msg(recording_load(&rec, FILES "deepspeed_micro_only.log", &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 3);
	ck_assert_int_eq(rec.iterations[2].phase_ns[PHASE_FORWARD], 21000000);
	ck_assert_int_eq(rec.iterations[2].phase_ns[PHASE_UPDATE], 30030000);
}
END_TEST

START_TEST(no_breakdown)
{
	ck_assert_int_eq(recording_load(&rec, FILES "deepspeed_no_breakdown.log", &err), STATUS_INPUT);
	assert_has(err.text, "wall_clock_breakdown");
}
END_TEST

static const struct {
	const char *line;
	int64_t forward_ns, backward_ns, step_ns; /* totals, -1 none */
} lines[] = {
    {"time (ms) | fwd: 1.50 | bwd: 2.25 | step: 3.00", 1500000, 2250000, 3000000},
    {"[x] rank=0 time (ms) | step: 3.00 | backward: 2.25 | forward: 1.50", 1500000, 2250000, 3000000},
    {"time (ms) | fwd_microstep: 9.00 | fwd: 1.50 | bwd_inner: 7.00 | bwd: 2", 1500000, 2000000, -1},
    {"time (ms) | fwd: 1.50 | bwd: nan | step: 3.00", 1500000, -1, -1},
    {"time (ms) | forward-compute: 1.50", -1, -1, -1},
    {"time (ms) |", -1, -1, -1},
};

START_TEST(one_line)
{
	struct dslog_times times;

	ck_assert(dslog_times_parse(&times, lines[_i].line));
	ck_assert_int_eq(times.total_ns[DSLOG_FORWARD], lines[_i].forward_ns);
	ck_assert_int_eq(times.total_ns[DSLOG_BACKWARD], lines[_i].backward_ns);
	ck_assert_int_eq(times.total_ns[DSLOG_STEP], lines[_i].step_ns);
}
END_TEST

START_TEST(clocks_and_ranks)
{
	const int64_t a_ns = dslog_clock_ns("\033[2024-02-28 23:59:59,900] x"),
		      b_ns = dslog_clock_ns("[Rank 1] [2024-03-01 00:00:00,100]");

	ck_assert_int_eq(b_ns - a_ns, 86400000000000 + 200000000); /* a leap year */
	ck_assert_int_eq(dslog_clock_ns("[2024-02-30"), -1);
	ck_assert_int_eq(dslog_clock_ns("[1999-02-03 00:00:00,000]"), -1);
	ck_assert_int_eq(dslog_rank("[INFO] [Rank 12] time"), 12);
	ck_assert_int_eq(dslog_rank("[default3]:time"), 3);
	ck_assert_int_eq(dslog_rank("time"), -1);
}
END_TEST

Suite *dslog_suite(void)
{
	Suite *const suite = suite_create("dslog");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_test(core, megatron_log);
	tcase_add_test(core, old_names_and_ranks);
	tcase_add_test(core, micro_batches_without_totals);
	tcase_add_test(core, no_breakdown);
	tcase_add_loop_test(core, one_line, 0, (int)N_ELEMENTS(lines));
	tcase_add_test(core, clocks_and_ranks);
	suite_add_tcase(suite, core);
	return suite;
}
