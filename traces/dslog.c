/* SPDX-License-Identifier: GPL-3.0-or-later
 * Format: DeepSpeed log with "wall_clock_breakdown": true, see FORMATS.md. Phase times of iterations; no events. */
#include "traces/dslog.h"

#include <stdlib.h>
#include <string.h>

#include "traces/reader.h"
#include "traces/text_lines.h"

struct log_reader {
	struct recording *rec;
	struct text_lines lines;
	struct dslog_config config;
	int64_t rank; /* whose lines count: the first seen; -1 none yet */
	int64_t clock_ns; /* of the last line that has one */
	int64_t origin_ns;
	/* the iteration whose times are known and whose total may follow */
	bool is_pending;
	int64_t pending_ns[DSLOG_TIMER_N], pending_end_ns;
	/* sums of micro-batches, until the iteration's own line comes */
	int64_t micro_ns[DSLOG_TIMER_N];
	size_t n_micro;
	bool has_totals; /* some line had totals: micro-batches are no iterations then */
	int64_t number;
};

static const int64_t total_max_ns = 1000000000000000000;

/* elapsed_ns: of the whole iteration, -1 not known. */
static void end_iteration(struct log_reader *r, int64_t elapsed_ns)
{
	int64_t phase_ns[PHASE_N] = {0}, sum_ns = 0;
	bool has_phase[PHASE_N] = {false};

	if (!r->is_pending)
		return;
	r->is_pending = false;
	for (int i = 0; i < DSLOG_TIMER_N; i++) {
		has_phase[i] = r->pending_ns[i] >= 0;
		phase_ns[i] = has_phase[i] ? r->pending_ns[i] : 0;
		sum_ns += phase_ns[i];
	}
	phase_ns[PHASE_OTHER] = elapsed_ns > sum_ns ? elapsed_ns - sum_ns : 0;
	has_phase[PHASE_OTHER] = elapsed_ns > sum_ns;
	sum_ns += phase_ns[PHASE_OTHER];
	const int64_t end_ns = r->pending_end_ns > sum_ns ? r->pending_end_ns : sum_ns;
	recording_iteration(r->rec, r->number++, end_ns - sum_ns, end_ns, phase_ns, has_phase);
}

static void start_pending(struct log_reader *r, const int64_t times_ns[DSLOG_TIMER_N])
{
	end_iteration(r, -1);
	r->is_pending = true;
	memcpy(r->pending_ns, times_ns, sizeof(r->pending_ns));
	r->pending_end_ns = r->clock_ns >= 0 ? r->clock_ns - r->origin_ns : 0;
	memset(r->micro_ns, 0, sizeof(r->micro_ns));
	r->n_micro = 0;
}

/* Logs without totals: the step of a micro-batch takes time only at the end of an iteration. */
static void add_micro(struct log_reader *r, const struct dslog_times *times)
{
	static const int64_t step_ns = 1000000;

	for (int i = 0; i < DSLOG_TIMER_N; i++)
		if (times->micro_ns[i] > 0 && r->micro_ns[i] < total_max_ns)
			r->micro_ns[i] += times->micro_ns[i];
	r->n_micro++;
	if (!r->has_totals && times->micro_ns[DSLOG_STEP] >= step_ns)
		start_pending(r, r->micro_ns);
}

/* Micro-batches that were taken for iterations before the first total came were the same ones: forget them. */
static void start_totals(struct log_reader *r)
{
	if (r->has_totals)
		return;
	r->has_totals = true;
	r->is_pending = false;
	r->rec->n_iterations = 0;
	r->number = 0;
}

static void read_times(struct log_reader *r, const struct dslog_times *times)
{
	const int64_t rank = dslog_rank(r->lines.text);

	if (rank >= 0 && r->rank >= 0 && rank != r->rank) {
		recording_note(r->rec, "times of other ranks than the first are left out", r->lines.number, "line");
		return;
	}
	r->rank = rank >= 0 ? rank : r->rank;
	if (times->has_total && times->total_ns[DSLOG_FORWARD] >= 0) {
		start_totals(r);
		start_pending(r, times->total_ns);
	} else if (times->has_micro) {
		add_micro(r, times);
	}
}

static void read_line(struct log_reader *r)
{
	const char *const line = r->lines.text;
	const int64_t clock_ns = dslog_clock_ns(line), elapsed_ns = dslog_elapsed_ns(line);
	struct dslog_times times;

	r->rec->n_read++;
	if (clock_ns >= 0) {
		r->origin_ns = r->origin_ns < 0 ? clock_ns : r->origin_ns;
		r->clock_ns = clock_ns;
	}
	if (dslog_times_parse(&times, line))
		read_times(r, &times);
	else if (elapsed_ns >= 0)
		end_iteration(r, elapsed_ns);
	else
		dslog_facts(&r->rec->facts, &r->config, line);
}

static int refuse(const struct recording *rec, bool has_throughput, struct err *err)
{
	if (has_throughput)
		return err_set(err, STATUS_INPUT,
		    "%s: a DeepSpeed log without phase times: no \"time (ms) | fwd: ..\" lines; run with "
		    "\"wall_clock_breakdown\": true",
		    rec->file);
	return err_set(err, STATUS_INPUT,
	    "%s: no \"time (ms) | fwd: .. | bwd: .. | step: ..\" lines of whole iterations in this log", rec->file);
}

static int read_all(struct recording *rec, struct input *in, struct err *err)
{
	struct log_reader *const r = xmalloc(1, sizeof(*r));
	bool has_throughput = false;

	memset(r, 0, sizeof(*r));
	r->rec = rec;
	r->rank = r->clock_ns = r->origin_ns = -1;
	r->config.ratio = -1;
	text_lines_init(&r->lines, in);
	while (text_lines_next(&r->lines)) {
		has_throughput |= strstr(r->lines.text, "SamplesPerSec=") != NULL;
		read_line(r);
	}
	end_iteration(r, -1);
	dslog_policy(&rec->facts, &r->config);
	rec->facts.rank = r->rank > 0 ? r->rank : 0;
	free(r);
	return rec->n_iterations == 0 ? refuse(rec, has_throughput, err) : 0;
}

/* A word that only such logs have, in plain text. The times may come late: names of DeepSpeed's modules do for the start. */
static bool detect(const char *bytes, size_t n)
{
	static const char *const words[] = {"time (ms) |", "deepspeed", "DeepSpeed", "SamplesPerSec", "[INFO]"};

	if (memchr(bytes, 0, n < 512 ? n : 512))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(bytes, n, words[i], strlen(words[i])))
			return true;
	return false;
}

const struct trace_reader trace_reader_dslog = {.name = "DeepSpeed log", .detect = detect, .read = read_all};
