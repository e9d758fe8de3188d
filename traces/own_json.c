/* SPDX-License-Identifier: GPL-3.0-or-later
 * Format: timelines of `dos simulate --trace` (schema dos-trace/1) and of `dos-probe update --trace`, as Chrome trace JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "traces/chrome_event.h"
#include "traces/own_lanes.h"
#include "traces/reader.h"

enum { WORD_MAX = 64 };

struct own {
	struct recording *rec;
	uint64_t where;
	struct own_phases open;
	/* dos-probe */
	bool is_probe;
	int64_t process; /* the first one, which is kept; -1 none yet */
	double subgroup_params;
	double n_copies; /* of one fetch or write-back */
	int64_t end_ns;
};

struct own_args {
	char phase[WORD_MAX], unit[WORD_MAX], name[512];
	int64_t iteration;
	double amount;
};

static bool wants(const struct chrome_event *event)
{
	return event->ph.n == 0 || event->ph.at[0] == 'X' || event->ph.at[0] == 'M';
}

static void read_args(struct own_args *a, struct json_text args)
{
	struct json_walk walk;
	struct json_text key, value;

	*a = (struct own_args){.iteration = 0};
	json_walk_init(&walk, args);
	while (json_walk_next(&walk, &key, &value)) {
		if (json_is(key, "phase"))
			json_copy(a->phase, sizeof(a->phase), value);
		else if (json_is(key, "unit"))
			json_copy(a->unit, sizeof(a->unit), value);
		else if (json_is(key, "name"))
			json_copy(a->name, sizeof(a->name), value);
		else if (json_is(key, "iteration"))
			(void)json_integer(&a->iteration, value);
		else if (json_is(key, "amount"))
			(void)json_double(&a->amount, value);
	}
}

/* "POLICY, N x S parameters, T threads": what dos-probe calls a process. */
static void read_process(struct own *o, const struct own_args *args, int64_t pid)
{
	const char *const comma = strstr(args->name, ", "), *at = comma;
	size_t n_subgroups = 0;
	double params = 0;

	while (at && sscanf(at, ", %zu x %lf parameters", &n_subgroups, &params) != 2)
		at = strstr(at + 2, ", ");
	if (!at || o->process >= 0)
		return;
	o->is_probe = true;
	o->process = pid;
	o->subgroup_params = params > 0 && params < 1e12 ? params : 0;
	snprintf(o->rec->facts.policy, sizeof(o->rec->facts.policy), "%.*s", (int)(comma - args->name), args->name);
	o->n_copies = strstr(o->rec->facts.policy, "chain=published") ? 3 : 1;
	o->rec->facts.subgroup_params = o->subgroup_params;
	o->rec->facts.n_params = o->subgroup_params * (double)n_subgroups;
}

/* Bytes of a copy by its name: fetches and write-backs are 12 per parameter, 10 of split masters, pushes 2. */
static double probe_bytes(const struct own *o, const char *kind)
{
	const double state_bytes = strstr(o->rec->facts.policy, "downscale=split") ? 10 : 12;

	if (strcmp(kind, "push") == 0)
		return 2 * o->subgroup_params;
	return strcmp(kind, "fetch") == 0 || strcmp(kind, "write-back") == 0 ? state_bytes * o->subgroup_params / o->n_copies : 0;
}

static void read_probe_op(
    struct own *o, const char *lane, const char *kind, int64_t pid, int64_t start_ns, int64_t duration_ns)
{
	const double bytes = probe_bytes(o, kind);

	if (pid != o->process) {
		recording_note(o->rec, "processes (updates) after the first are left out", o->where, "byte");
		return;
	}
	if (start_ns + duration_ns > o->end_ns)
		o->end_ns = start_ns + duration_ns;
	own_lanes_add(o->rec, lane, kind, 0, start_ns, duration_ns, bytes, bytes > 0 ? "bytes" : "", o->where, "byte");
}

/* To the nanosecond in which the sum ends: a phase that starts there must not start before. Beyond 2^43 us a double does not know it. */
static int64_t duration_to_end(const struct chrome_event *event, int64_t start_ns, int64_t duration_ns)
{
	double start_us, duration_us;

	if (!json_double(&start_us, event->ts) || !json_double(&duration_us, event->dur) || start_us + duration_us > 0x1p43)
		return duration_ns;
	const int64_t end_ns = llround(1e3 * (start_us + duration_us));
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static void read_event(struct own *o, struct json_text text)
{
	struct chrome_event event;
	struct own_args args;
	char lane[WORD_MAX], kind[WORD_MAX];
	bool is_broken = false;
	int64_t start_ns, duration_ns;

	o->rec->n_read++;
	if (!chrome_event_parse(&event, text, wants, &is_broken)) {
		if (is_broken)
			recording_note(o->rec, "events that are no JSON are skipped", o->where, "byte");
		return;
	}
	read_args(&args, event.args);
	const int64_t pid = chrome_event_id(event.pid);
	if (event.ph.at[0] == 'M') {
		if (json_is(event.name, "process_name"))
			read_process(o, &args, pid);
		return;
	}
	if (!chrome_event_times(&event, &start_ns, &duration_ns)) {
		recording_note(o->rec, "events whose time or size is out of range are skipped", o->where, "byte");
		return;
	}
	duration_ns = duration_to_end(&event, start_ns, duration_ns);
	json_copy(lane, sizeof(lane), event.cat);
	json_copy(kind, sizeof(kind), event.name);
	if (o->is_probe)
		read_probe_op(o, lane, kind, pid, start_ns, duration_ns);
	else if (strcmp(lane, "phase") != 0)
		own_lanes_add(o->rec, lane, kind, pid, start_ns, duration_ns, args.amount, args.unit, o->where, "byte");
	else if (pid == 0)
		own_phases_add(o->rec, &o->open, kind, args.iteration, start_ns, duration_ns);
}

static bool detect(const char *bytes, size_t n)
{
	if (n == 0 || bytes[0] != '{')
		return false;
	if (memmem(bytes, n, "\"dos-trace/1\"", 13))
		return true;
	return memmem(bytes, n, "process_name", 12) && memmem(bytes, n, " parameters, ", 13) &&
	    memmem(bytes, n, " threads\"", 9) && memmem(bytes, n, "\"subgroup\"", 10);
}

static int read_all(struct recording *rec, struct input *in, struct err *err)
{
	struct json_events events;
	struct own o = {.rec = rec, .process = -1};
	enum json_item item;

	(void)err;
	rec->is_timeline = true;
	json_events_init(&events, in);
	while ((item = json_events_next(&events)) != JSON_END) {
		o.where = events.where;
		if (item == JSON_EVENT)
			read_event(&o, events.text);
		else if (item == JSON_MEMBER && json_is(events.key, "policy"))
			json_copy(rec->facts.policy, sizeof(rec->facts.policy), events.text);
		else if (item == JSON_BROKEN)
			recording_note(rec, "events whose quotes or brackets do not match are skipped", o.where, "byte");
	}
	own_phases_end(rec, &o.open);
	if (o.is_probe) {
		recording_mark(rec, REC_MARK_ITERATION, 0, 0, o.end_ns);
		recording_mark(rec, REC_MARK_UPDATE, 0, 0, o.end_ns);
	}
	if (!events.has_end)
		recording_note(rec, "the file ends before its closing bracket: cut short", in->offset, "byte");
	return 0;
}

const struct trace_reader trace_reader_own_json = {.name = "dos trace", .detect = detect, .read = read_all};
