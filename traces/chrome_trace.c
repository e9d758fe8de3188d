/* SPDX-License-Identifier: GPL-3.0-or-later
 * Format: Chrome "Trace Event Format" (JSON object form): X, M, C, s and f events. Streamed: memory does not grow with the
 * events. */
#include "traces/chrome_trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/file_replace.h"
#include "model/base/jsonw.h"
#include "model/base/units.h"

/* Thread numbers: lanes from LANE_TID on, so that the phases come first. */
enum { PHASE_TID = 0, LANE_TID = 1 };

/* Of one operation in a file with all that belongs to it, as measured: 410 to 716, and 116. */
enum { JSON_OP_BYTES = 700, CSV_OP_BYTES = 120 };

struct writer {
	struct jsonw w;
	const struct schedule *schedule;
	const struct timeline *timeline;
};

static double us(double seconds)
{
	return seconds * 1e6;
}

/* The largest duration that does not pass the end when it is added to the start again: events stay disjoint to the bit. */
static double duration_us(double start_us, double end_us)
{
	double dur_us = end_us - start_us;

	while (start_us + dur_us > end_us)
		dur_us = nextafter(dur_us, 0);
	return dur_us;
}

static void begin(struct writer *t, const char *ph, const char *name, size_t pid, size_t tid)
{
	jsonw_inline_object(&t->w);
	jsonw_member_string(&t->w, "ph", ph);
	jsonw_member_string(&t->w, "name", name);
	jsonw_member_integer(&t->w, "pid", (long long)pid);
	jsonw_member_integer(&t->w, "tid", (long long)tid);
}

/* ---- names */

static void name_event(struct writer *t, const char *kind, const char *name, size_t pid, size_t tid)
{
	begin(t, "M", kind, pid, tid);
	jsonw_key(&t->w, "args");
	jsonw_object(&t->w);
	jsonw_member_string(&t->w, "name", name);
	jsonw_end_object(&t->w);
	jsonw_end_object(&t->w);
}

static void sort_event(struct writer *t, size_t pid, size_t tid)
{
	begin(t, "M", "thread_sort_index", pid, tid);
	jsonw_key(&t->w, "args");
	jsonw_object(&t->w);
	jsonw_member_integer(&t->w, "sort_index", (long long)tid);
	jsonw_end_object(&t->w);
	jsonw_end_object(&t->w);
}

static void write_names(struct writer *t)
{
	char text[64];

	for (size_t rank = 0; rank < t->schedule->n_ranks; rank++) {
		snprintf(text, sizeof(text), "rank %zu", rank);
		name_event(t, "process_name", text, rank, 0);
		name_event(t, "thread_name", "phase", rank, PHASE_TID);
		sort_event(t, rank, PHASE_TID);
		for (size_t lane = 0; lane < LANE_N; lane++) {
			name_event(t, "thread_name", lane_names[lane], rank, LANE_TID + lane);
			sort_event(t, rank, LANE_TID + lane);
		}
	}
}

/* ---- operations */

static const char *unit_word(enum unit unit)
{
	switch (unit) {
	case UNIT_BYTES: return "bytes";
	case UNIT_PARAMS: return "params";
	case UNIT_SECONDS: return "s";
	default: return "";
	}
}

static void op_args(struct writer *t, size_t id)
{
	const struct op *const op = &t->schedule->ops[id];
	const enum unit unit = t->schedule->cost->classes[op->kind].unit;
	const uint8_t limit = t->timeline->limit[id];

	jsonw_key(&t->w, "args");
	jsonw_object(&t->w);
	jsonw_member_integer(&t->w, "op", (long long)id);
	jsonw_member_integer(&t->w, "iteration", op->iteration);
	jsonw_member_string(&t->w, "phase", phase_names[op->phase]);
	if (op->subgroup >= 0)
		jsonw_member_integer(&t->w, "subgroup", op->subgroup);
	jsonw_member_number(&t->w, "amount", op->amount);
	jsonw_member_string(&t->w, "unit", unit_word(unit));
	jsonw_member_number(&t->w, "alone_s", op->alone_s);
	jsonw_member_string(&t->w, "limit", limit < RES_N ? res_names[limit] : "");
	jsonw_end_object(&t->w);
}

static void write_op(struct writer *t, size_t id)
{
	const struct op *const op = &t->schedule->ops[id];
	const double start_us = us(t->timeline->start_s[id]), end_us = us(t->timeline->end_s[id]);

	begin(t, "X", op_names[op->kind], op->rank, LANE_TID + op->lane);
	jsonw_member_string(&t->w, "cat", lane_names[op->lane]);
	jsonw_member_number(&t->w, "ts", start_us);
	jsonw_member_number(&t->w, "dur", duration_us(start_us, end_us));
	op_args(t, id);
	jsonw_end_object(&t->w);
}

/* An operation that takes no time (MAIN passing a point that it need not wait for) is no event. */
static bool is_shown(const struct writer *t, size_t id)
{
	return t->timeline->end_s[id] > t->timeline->start_s[id];
}

/* ---- phases: from one end of MAIN's operations of a phase to the next */

static void write_phase(struct writer *t, size_t rank, const struct op *op, double from_s, double to_s)
{
	if (to_s <= from_s)
		return;
	begin(t, "X", phase_names[op->phase], rank, PHASE_TID);
	jsonw_member_string(&t->w, "cat", "phase");
	jsonw_member_number(&t->w, "ts", us(from_s));
	jsonw_member_number(&t->w, "dur", duration_us(us(from_s), us(to_s)));
	jsonw_key(&t->w, "args");
	jsonw_object(&t->w);
	jsonw_member_integer(&t->w, "iteration", op->iteration);
	jsonw_end_object(&t->w);
	jsonw_end_object(&t->w);
}

static void write_phases(struct writer *t, size_t rank)
{
	const struct op *open = NULL;
	double from_s = 0, to_s = 0;

	for (size_t id = 0; id < t->timeline->n_ops; id++) {
		const struct op *const op = &t->schedule->ops[id];
		if (op->rank != rank || op->lane != LANE_MAIN)
			continue;
		if (open && (op->phase != open->phase || op->iteration != open->iteration)) {
			write_phase(t, rank, open, from_s, to_s);
			from_s = to_s;
		}
		open = op;
		to_s = t->timeline->end_s[id];
	}
	if (open)
		write_phase(t, rank, open, from_s, to_s);
}

/* ---- flows */

static void write_flow_end(struct writer *t, const char *ph, size_t flow, size_t id, double at_us)
{
	const struct op *const op = &t->schedule->ops[id];

	begin(t, ph, "dependency", op->rank, LANE_TID + op->lane);
	jsonw_member_string(&t->w, "cat", "dependency");
	jsonw_member_integer(&t->w, "id", (long long)flow);
	jsonw_member_number(&t->w, "ts", at_us);
	if (*ph == 'f')
		jsonw_member_string(&t->w, "bp", "e");
	jsonw_end_object(&t->w);
}

/* From the last nanosecond of one operation, so that it lies inside it, to the start of the other. Within a lane the order says
 * it. */
static void write_flow(struct writer *t, size_t from, size_t to, size_t *n_flows)
{
	const struct op *const source = &t->schedule->ops[from], *const target = &t->schedule->ops[to];
	const double end_us = us(t->timeline->end_s[from]);

	if ((source->lane == target->lane && source->rank == target->rank) || !is_shown(t, from))
		return;
	write_flow_end(t, "s", *n_flows, from, fmax(us(t->timeline->start_s[from]), end_us - 1e-3));
	write_flow_end(t, "f", *n_flows, to, us(t->timeline->start_s[to]));
	++*n_flows;
}

/* Dependencies, and what released an operation through waits that took no time themselves. */
static void write_flows(struct writer *t, size_t id, size_t *n_flows)
{
	const struct op *const op = &t->schedule->ops[id];
	op_id cause = t->timeline->cause[id];

	for (uint32_t d = op[0].first_dep; d < op[1].first_dep; d++)
		write_flow(t, t->schedule->deps[d], id, n_flows);
	if (cause == NO_OP || is_shown(t, cause))
		return;
	while (cause != NO_OP && !is_shown(t, cause))
		cause = t->timeline->cause[cause];
	if (cause != NO_OP)
		write_flow(t, cause, id, n_flows);
}

/* ---- counters, in chronological order */

static void write_counter(struct writer *t, const char *name, size_t rank, double at_s, const char *series, double value)
{
	begin(t, "C", name, rank, 0);
	jsonw_member_number(&t->w, "ts", us(at_s));
	jsonw_key(&t->w, "args");
	jsonw_object(&t->w);
	jsonw_member_number(&t->w, series, value);
	jsonw_end_object(&t->w);
	jsonw_end_object(&t->w);
}

static double resident(const struct schedule *s, enum pool pool)
{
	double bytes = 0;

	for (size_t i = 0; i < MEM_N; i++)
		bytes += s->resident_bytes[pool][i];
	return bytes;
}

/* Events of the ledger, chained by operation: first[op] is 1 + the index of its first event. */
struct ledger {
	uint32_t *first, *next;
};

static void ledger_init(struct ledger *ledger, const struct schedule *s, struct arena *arena)
{
	ledger->first = arena_zalloc(arena, s->n_ops + 1, sizeof(*ledger->first));
	ledger->next = arena_zalloc(arena, s->n_mem + 1, sizeof(*ledger->next));
	for (size_t i = s->n_mem; i-- > 0;) {
		ledger->next[i] = ledger->first[s->mem[i].op];
		ledger->first[s->mem[i].op] = (uint32_t)i + 1;
	}
}

static void count_memory(struct writer *t, const struct ledger *ledger, double bytes[][POOL_N], size_t id, bool is_end, double at_s)
{
	static const char *const names[POOL_N] = {"GPU memory", "host memory"};
	const size_t rank = t->schedule->ops[id].rank;

	for (uint32_t e = ledger->first[id]; e; e = ledger->next[e - 1]) {
		const struct mem_event *const event = &t->schedule->mem[e - 1];
		if (event->at_end != is_end)
			continue;
		bytes[rank][event->pool] += event->bytes;
		write_counter(t, names[event->pool], rank, at_s, "bytes", bytes[rank][event->pool]);
	}
}

/* Mean rate of a copy from its start to its end, then 0. */
static void count_bandwidth(struct writer *t, size_t id, bool is_end, double at_s)
{
	const struct op *const op = &t->schedule->ops[id];
	const double took_s = t->timeline->end_s[id] - t->timeline->start_s[id];

	if ((op->lane != LANE_H2D && op->lane != LANE_D2H) || !(took_s > 0))
		return;
	write_counter(t, op->lane == LANE_H2D ? "H2D" : "D2H", op->rank, at_s, "bytes_per_s", is_end ? 0 : op->amount / took_s);
}

static void write_counters(struct writer *t)
{
	const size_t n_ranks = t->schedule->n_ranks;
	double(*const bytes)[POOL_N] = xmalloc(n_ranks, sizeof(*bytes));
	struct arena arena = {0};
	struct ledger ledger;

	ledger_init(&ledger, t->schedule, &arena);
	for (size_t rank = 0; rank < n_ranks; rank++) {
		bytes[rank][POOL_GPU] = resident(t->schedule, POOL_GPU);
		bytes[rank][POOL_HOST] = resident(t->schedule, POOL_HOST);
		write_counter(t, "GPU memory", rank, 0, "bytes", bytes[rank][POOL_GPU]);
		write_counter(t, "host memory", rank, 0, "bytes", bytes[rank][POOL_HOST]);
	}
	for (size_t i = 0; i < 2 * t->timeline->n_ops; i++) {
		const size_t id = t->timeline->order[i] >> 1;
		const bool is_end = t->timeline->order[i] & 1;
		const double at_s = is_end ? t->timeline->end_s[id] : t->timeline->start_s[id];
		count_memory(t, &ledger, bytes, id, is_end, at_s);
		count_bandwidth(t, id, is_end, at_s);
	}
	arena_release(&arena);
	free(bytes);
}

/* ---- the whole */

void chrome_trace_json(FILE *out, const struct schedule *schedule, const struct timeline *timeline, const char *policy)
{
	struct writer t = {.schedule = schedule, .timeline = timeline};
	size_t n_flows = 0;

	jsonw_init(&t.w, out, true);
	jsonw_object(&t.w);
	jsonw_member_string(&t.w, "schema", "dos-trace/1");
	jsonw_member_string(&t.w, "displayTimeUnit", "ms");
	jsonw_member_string(&t.w, "policy", policy);
	jsonw_key(&t.w, "traceEvents");
	jsonw_array(&t.w);
	write_names(&t);
	for (size_t rank = 0; rank < schedule->n_ranks; rank++)
		write_phases(&t, rank);
	for (size_t i = 0; i < 2 * timeline->n_ops; i++)
		if (!(timeline->order[i] & 1) && is_shown(&t, timeline->order[i] >> 1)) {
			write_op(&t, timeline->order[i] >> 1);
			write_flows(&t, timeline->order[i] >> 1, &n_flows);
		}
	write_counters(&t);
	jsonw_end_array(&t.w);
	jsonw_end_object(&t.w);
	putc('\n', out);
}

void chrome_trace_csv(FILE *out, const struct schedule *s, const struct timeline *t)
{
	char start[32], end[32], alone[32], amount[32];

	fputs("op,rank,lane,kind,iteration,phase,subgroup,start_s,end_s,alone_s,amount,unit,limit\n", out);
	for (size_t i = 0; i < 2 * t->n_ops; i++) {
		const size_t id = t->order[i] >> 1;
		const struct op *const op = &s->ops[id];
		if (t->order[i] & 1)
			continue;
		fprintf(out, "%zu,%d,%s,\"%s\",%d,%s,", id, op->rank, lane_names[op->lane], op_names[op->kind], op->iteration,
		    phase_names[op->phase]);
		if (op->subgroup >= 0)
			fprintf(out, "%d", op->subgroup);
		fprintf(out, ",%s,%s,%s,%s,%s,%s\n", jsonw_double_text(start, t->start_s[id]), jsonw_double_text(end, t->end_s[id]),
		    jsonw_double_text(alone, op->alone_s), jsonw_double_text(amount, op->amount),
		    unit_word(s->cost->classes[op->kind].unit), t->limit[id] < RES_N ? res_names[t->limit[id]] : "");
	}
}

static bool is_csv(const char *path)
{
	const size_t n = strlen(path);
	return n > 4 && strcmp(path + n - 4, ".csv") == 0;
}

int chrome_trace_check_size(const char *path, size_t n_ops, struct err *err)
{
	const bool csv = is_csv(path);
	const size_t n_max = csv ? CHROME_TRACE_CSV_OPS_MAX : CHROME_TRACE_JSON_OPS_MAX;
	char size[UNITS_TEXT_MAX], more[64] = "";

	if (n_ops <= n_max)
		return 0;
	units_print(size, UNIT_BYTES, (double)n_ops * (csv ? CSV_OP_BYTES : JSON_OP_BYTES));
	if (!csv)
		snprintf(more, sizeof(more), " (as CSV %d)", CHROME_TRACE_CSV_OPS_MAX);
	return err_set(err, STATUS_USAGE, "--trace %s: %zu operations would take about %s; up to %zu%s would be accepted: a smaller --grad-accum, "
	    "or larger subgroups", path, n_ops, size, n_max, more);
}

int chrome_trace_write(const char *path, const struct schedule *schedule, const struct timeline *timeline, const char *policy,
    struct err *err)
{
	struct arena arena = {0};
	struct file_replace file;

	int code = file_replace_open(&file, path, &arena, err);
	if (!code) {
		if (is_csv(path))
			chrome_trace_csv(file.out, schedule, timeline);
		else
			chrome_trace_json(file.out, schedule, timeline, policy);
		code = file_replace_commit(&file, err);
	}
	arena_release(&arena);
	return code;
}
