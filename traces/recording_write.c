/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/recording_write.h"

#include <inttypes.h>
#include <string.h>

#include "model/base/file_replace.h"
#include "model/base/jsonw.h"

enum { PHASE_TID = 0, LANE_TID = 1 };

struct row {
	enum lane lane;
	const char *kind;
	int64_t start_ns, end_ns;
	const struct rec_event *event;
};

struct row_writer {
	FILE *out;
	struct jsonw w;
	bool is_csv;
	const struct recording *rec;
	int64_t origin_ns;
	size_t n;
};

static enum lane lane_of(enum rec_kind kind)
{
	switch (kind) {
	case REC_H2D: return LANE_H2D;
	case REC_D2H: return LANE_D2H;
	case REC_HOST:
	case REC_LAUNCH:
	case REC_SYNC: return LANE_MAIN;
	default: return LANE_GPU;
	}
}

static double us(int64_t ns)
{
	return (double)ns / 1e3;
}

static void write_csv(struct row_writer *t, const struct row *row, int32_t iteration, const char *phase)
{
	char start[32], end[32], alone[32];

	fprintf(t->out, "%zu,0,%s,\"", t->n, lane_names[row->lane]);
	for (const char *c = row->kind; *c; c++)
		fputs(*c == '"' ? "\"\"" : (char[2]){*c, '\0'}, t->out);
	fprintf(t->out, "\",%" PRId32 ",%s,,%s,%s,%s,", iteration, phase,
	    jsonw_double_text(start, (double)(row->start_ns - t->origin_ns) * 1e-9),
	    jsonw_double_text(end, (double)(row->end_ns - t->origin_ns) * 1e-9),
	    jsonw_double_text(alone, (double)(row->end_ns - row->start_ns) * 1e-9));
	if (row->event->bytes > 0)
		fprintf(t->out, "%" PRIu64 ",bytes,\n", row->event->bytes);
	else
		fprintf(t->out, "%s,s,\n", alone);
}

static void begin(struct row_writer *t, const char *ph, const char *name, int tid)
{
	jsonw_inline_object(&t->w);
	jsonw_member_string(&t->w, "ph", ph);
	jsonw_member_string(&t->w, "name", name);
	jsonw_member_integer(&t->w, "pid", 0);
	jsonw_member_integer(&t->w, "tid", tid);
}

static void times(struct row_writer *t, const char *cat, int64_t start_ns, int64_t end_ns)
{
	jsonw_member_string(&t->w, "cat", cat);
	jsonw_member_number(&t->w, "ts", us(start_ns - t->origin_ns));
	jsonw_member_number(&t->w, "dur", us(end_ns - start_ns));
	jsonw_key(&t->w, "args");
	jsonw_inline_object(&t->w);
}

static void write_json(struct row_writer *t, const struct row *row, int32_t iteration, const char *phase)
{
	begin(t, "X", row->kind, LANE_TID + (int)row->lane);
	times(t, lane_names[row->lane], row->start_ns, row->end_ns);
	jsonw_member_integer(&t->w, "op", (long long)t->n);
	jsonw_member_integer(&t->w, "iteration", iteration);
	jsonw_member_string(&t->w, "phase", phase);
	jsonw_member_number(&t->w, "amount",
	    row->event->bytes > 0 ? (double)row->event->bytes : (double)(row->end_ns - row->start_ns) * 1e-9);
	jsonw_member_string(&t->w, "unit", row->event->bytes > 0 ? "bytes" : "s");
	jsonw_end_object(&t->w);
	jsonw_end_object(&t->w);
}

static void write_row(struct row_writer *t, const struct row *row)
{
	const struct rec_segment *const segment = recording_segment(t->rec, row->start_ns);
	const int32_t iteration = segment ? segment->iteration : REC_NO_ITERATION;
	const char *const phase = phase_names[segment ? segment->phase : PHASE_OTHER];

	if (t->is_csv)
		write_csv(t, row, iteration, phase);
	else
		write_json(t, row, iteration, phase);
	t->n++;
}

/* Holds back one row a lane, so that it can end where the next begins. */
static void write_rows(struct row_writer *t)
{
	struct row open[LANE_N] = {{.event = NULL}};
	const struct recording *const rec = t->rec;
	size_t e = 0, c = 0;

	while (e < rec->n_events || c < rec->n_calls) {
		const bool is_call =
		    e == rec->n_events || (c < rec->n_calls && rec->calls[c].start_ns < rec->events[e].start_ns);
		const struct rec_event *const event = is_call ? &rec->calls[c++] : &rec->events[e++];
		const enum lane lane = rec->streams[event->stream].device < 0 && !rec->streams[event->stream].is_framework
		    ? LANE_WORKER
		    : lane_of((enum rec_kind)event->kind);
		struct row *const last = &open[lane];
		if (event->start_ns < t->origin_ns)
			continue;
		if (last->event) {
			last->end_ns = event->start_ns < last->end_ns ? event->start_ns : last->end_ns;
			if (last->end_ns > last->start_ns)
				write_row(t, last);
		}
		*last = (struct row){lane, rec->names[event->name], event->start_ns, rec_end_ns(event), event};
	}
	for (size_t lane = 0; lane < LANE_N; lane++)
		if (open[lane].event && open[lane].end_ns > open[lane].start_ns)
			write_row(t, &open[lane]);
}

static void write_names(struct row_writer *t)
{
	for (int lane = -1; lane < LANE_N; lane++) {
		begin(t, "M", "thread_name", LANE_TID + lane);
		jsonw_key(&t->w, "args");
		jsonw_object(&t->w);
		jsonw_member_string(&t->w, "name", lane < 0 ? "phase" : lane_names[lane]);
		jsonw_end_object(&t->w);
		jsonw_end_object(&t->w);
	}
}

static void write_phases(struct row_writer *t)
{
	for (size_t i = 0; i < t->rec->n_segments; i++) {
		const struct rec_segment *const s = &t->rec->segments[i];
		begin(t, "X", phase_names[s->phase], PHASE_TID);
		times(t, "phase", s->start_ns, s->end_ns);
		jsonw_member_integer(&t->w, "iteration", s->iteration);
		jsonw_end_object(&t->w);
		jsonw_end_object(&t->w);
	}
}

static void write_all(struct row_writer *t)
{
	if (t->is_csv) {
		fputs("op,rank,lane,kind,iteration,phase,subgroup,start_s,end_s,alone_s,amount,unit,limit\n", t->out);
		write_rows(t);
		return;
	}
	jsonw_init(&t->w, t->out, true);
	jsonw_object(&t->w);
	jsonw_member_string(&t->w, "schema", "dos-trace/1");
	jsonw_member_string(&t->w, "displayTimeUnit", "ms");
	jsonw_member_string(&t->w, "policy", t->rec->facts.policy);
	jsonw_key(&t->w, "traceEvents");
	jsonw_array(&t->w);
	write_names(t);
	write_phases(t);
	write_rows(t);
	jsonw_end_array(&t->w);
	jsonw_end_object(&t->w);
	putc('\n', t->out);
}

int recording_write(const char *path, const struct recording *rec, struct err *err)
{
	struct row_writer t = {.rec = rec, .is_csv = strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".csv") == 0};
	struct arena arena = {0};
	struct file_replace file;

	if (!rec->is_timeline)
		return err_set(err, STATUS_USAGE, "--trace: %s has phase times and no operations", rec->file);
	int code = file_replace_open(&file, path, &arena, err);
	if (!code) {
		t.out = file.out;
		t.origin_ns = rec->n_segments > 0 ? rec->segments[0].start_ns : 0;
		write_all(&t);
		code = file_replace_commit(&file, err);
	}
	arena_release(&arena);
	return code;
}
