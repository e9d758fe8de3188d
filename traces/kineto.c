/* SPDX-License-Identifier: GPL-3.0-or-later
 * Format: PyTorch (Kineto) Chrome trace, see FORMATS.md.
 * Defined by: pytorch/kineto libkineto/src/output_json.cpp, include/ActivityType.h. */
#include <string.h>

#include "traces/chrome_event.h"
#include "traces/range_names.h"
#include "traces/reader.h"

enum class { IGNORED, KERNEL, COPY, FILL, CALL, RANGE, OPERATOR };

/* Categories of now and of older versions. */
static const struct {
	const char *cat;
	enum class class;
} classes[] = {
    {"cpu_op", OPERATOR},
    {"cuda_runtime", CALL},
    {"kernel", KERNEL},
    {"gpu_memcpy", COPY},
    {"gpu_memset", FILL},
    {"user_annotation", RANGE},
    {"cuda_driver", CALL},
    {"hip_runtime", CALL},
    {"hip_driver", CALL},
    {"Operator", OPERATOR},
    {"Runtime", CALL},
    {"Kernel", KERNEL},
    {"Memcpy", COPY},
    {"Memset", FILL},
};

struct kineto {
	struct recording *rec;
	uint64_t where;
};

static enum class class_of(struct json_text cat) {
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]);
	     i++) if (json_is(cat, classes[i].cat)) return classes[i]
	    .class;
	return IGNORED;
}

static bool wants(const struct chrome_event *event)
{
	if (event->ph.n && event->ph.at[0] != 'X' && event->ph.at[0] != 'B')
		return false;
	return event->cat.n == 0 || class_of(event->cat) != IGNORED;
}

static void note(const struct kineto *k, const char *text)
{
	recording_note(k->rec, text, k->where, "byte");
}

/* ---- GPU work */

struct gpu_args {
	int64_t stream, device, link;
	struct json_text grid, block, bytes, bandwidth, kind;
};

static void read_args(struct gpu_args *a, const struct chrome_event *event)
{
	struct json_walk walk;
	struct json_text key, value;

	*a = (struct gpu_args){.stream = chrome_event_id(event->tid), .device = chrome_event_id(event->pid)};
	json_walk_init(&walk, event->args);
	while (json_walk_next(&walk, &key, &value)) {
		if (json_is(key, "stream") || json_is(key, "device")) {
			int64_t number;
			if (json_integer(&number, value) && number >= 0)
				*(key.at[0] == 's' ? &a->stream : &a->device) = number;
		} else if (json_is(key, "correlation")) {
			int64_t number;
			a->link = json_integer(&number, value) && number > 0 ? number : 0;
		} else if (json_is(key, "grid")) {
			a->grid = value;
		} else if (json_is(key, "block")) {
			a->block = value;
		} else if (json_is(key, "bytes")) {
			a->bytes = value;
		} else if (json_is(key, "memory bandwidth (GB/s)")) {
			a->bandwidth = value;
		} else if (json_is(key, "kind")) {
			a->kind = value;
		}
	}
}

static bool contains(struct json_text text, const char *part)
{
	return text.n > 0 && memmem(text.at, text.n, part, strlen(part)) != NULL;
}

/* The direction is in the name; ROCm has it in "kind" too. */
static enum rec_kind copy_kind(struct json_text name, struct json_text kind)
{
	if (contains(name, "HtoD") || contains(kind, "HtoD"))
		return REC_H2D;
	return contains(name, "DtoH") || contains(kind, "DtoH") ? REC_D2H : REC_DEVICE;
}

/* Times in whole microseconds are cut off: bytes over bandwidth (bytes/ns) has the digits of a copy's. */
static void sharpen(struct rec_event *event, struct json_text bandwidth)
{
	double bytes_per_ns;

	if (event->bytes == 0 || event->start_ns % 1000 || event->duration_ns % 1000 ||
	    !json_double(&bytes_per_ns, bandwidth) || !(bytes_per_ns > 0))
		return;
	const double ns = (double)event->bytes / bytes_per_ns;
	if (ns >= (double)event->duration_ns && ns < (double)event->duration_ns + 1000)
		event->duration_ns = (int64_t)(ns + 0.5);
}

static void read_copy(
    const struct kineto *k, struct rec_event *event, const struct chrome_event *from, const struct gpu_args *args)
{
	int64_t bytes;

	event->kind = (uint8_t)copy_kind(from->name, args->kind);
	event->memory = (uint8_t)(contains(from->name, "Pageable") ? REC_PAGEABLE
		: contains(from->name, "Pinned")                   ? REC_PINNED
								   : 0);
	if (json_integer(&bytes, args->bytes) && bytes >= 0) {
		event->bytes = (uint64_t)bytes;
		sharpen(event, args->bandwidth);
	} else {
		event->is_unsized = true;
		note(k, "copies without bytes (ROCm): their time counts, not their size");
	}
	event->key = recording_hash(event->kind, (const char *)&event->memory, 1);
}

static void read_gpu(const struct kineto *k, enum class class, const struct chrome_event *from)
{
	struct gpu_args args;
	struct rec_event event = {.kind = class == FILL ? REC_FILL : REC_KERNEL};

	if (!chrome_event_times(from, &event.start_ns, &event.duration_ns)) {
		note(k, "events whose time or size is out of range are skipped");
		return;
	}
	read_args(&args, from);
	event.link = (uint32_t)args.link;
	event.stream = recording_stream(k->rec, args.device, args.stream);
	event.name = recording_name(k->rec, from->name.at, from->name.n);
	event.key = recording_hash(0, from->name.at, from->name.n);
	event.key = recording_hash(event.key, args.grid.at, args.grid.n);
	event.key = recording_hash(event.key, args.block.at, args.block.n);
	if (class == COPY)
		read_copy(k, &event, from, &args);
	recording_event(k->rec, &event, k->where, "byte");
}

/* ---- host */

static void read_call(const struct kineto *k, const struct chrome_event *from)
{
	const bool is_sync = contains(from->name, "Synchronize");
	struct gpu_args args;
	struct rec_event call = {.kind = is_sync ? REC_SYNC : REC_LAUNCH};

	if (!is_sync && !contains(from->name, "Launch") && !contains(from->name, "Memcpy") &&
	    !contains(from->name, "Memset"))
		return;
	if (!chrome_event_times(from, &call.start_ns, &call.duration_ns))
		return;
	read_args(&args, from);
	call.link = (uint32_t)args.link;
	call.stream = recording_stream(k->rec, -1, chrome_event_id(from->tid));
	call.name = recording_name(k->rec, from->name.at, from->name.n);
	call.key = recording_hash(0, from->name.at, from->name.n);
	recording_call(k->rec, &call, k->where, "byte");
}

static void read_range(const struct kineto *k, enum class class, const struct chrome_event *from)
{
	static const char autograd[] = "autograd::engine::evaluate_function";
	enum rec_mark_kind kind;
	int64_t start_ns, duration_ns, number = 0;

	if (class == OPERATOR)
		k->rec->streams[recording_stream(k->rec, -1, chrome_event_id(from->tid))].is_framework = true;
	if (json_starts(from->name, autograd))
		kind = REC_MARK_AUTOGRAD;
	else if (!range_name_mark(&kind, &number, from->name.at, from->name.n) ||
	    (class == OPERATOR && kind != REC_MARK_OPTIMIZER && !json_starts(from->name, "ProfilerStep")))
		return;
	if (chrome_event_times(from, &start_ns, &duration_ns))
		recording_mark(k->rec, kind, number, start_ns, duration_ns);
}

static void read_cpu_adam(const struct kineto *k, const struct chrome_event *from)
{
	struct rec_event event = {.kind = REC_HOST};

	if (!range_name_is_cpu_adam(from->name.at, from->name.n) ||
	    !chrome_event_times(from, &event.start_ns, &event.duration_ns))
		return;
	event.stream = recording_stream(k->rec, -1, chrome_event_id(from->tid));
	event.name = recording_name(k->rec, from->name.at, from->name.n);
	event.key = recording_hash(0, from->name.at, from->name.n);
	recording_event(k->rec, &event, k->where, "byte");
}

static void read_event(const struct kineto *k, struct json_text text)
{
	struct chrome_event event;
	bool is_broken = false;

	k->rec->n_read++;
	if (!chrome_event_parse(&event, text, wants, &is_broken)) {
		if (is_broken)
			note(k, "events that are no JSON (unescaped quotes in a name) are skipped");
		return;
	}
	if (event.ph.at[0] == 'B') {
		note(k, "begin events (ph B) are skipped: PyTorch writes complete ones (ph X)");
		return;
	}
	const enum class class = class_of(event.cat);
	if (class == CALL) {
		read_call(k, &event);
	} else if (class == RANGE || class == OPERATOR) {
		read_range(k, class, &event);
		read_cpu_adam(k, &event);
	} else if (class != IGNORED) {
		read_gpu(k, class, &event);
	}
}

/* ---- facts of the head */

static void read_device(struct rec_facts *facts, struct json_text array)
{
	struct json_walk walk, members;
	struct json_text key, value;

	json_walk_init(&walk, array);
	if (facts->gpu[0] || !json_walk_next(&walk, &key, &value) || value.kind != '{')
		return;
	json_walk_init(&members, value);
	while (json_walk_next(&members, &key, &value))
		if (json_is(key, "name") && value.kind == '"')
			json_copy(facts->gpu, sizeof(facts->gpu), value);
}

static void read_distributed(struct rec_facts *facts, struct json_text object)
{
	struct json_walk walk;
	struct json_text key, value;

	json_walk_init(&walk, object);
	while (json_walk_next(&walk, &key, &value))
		if (json_is(key, "rank"))
			(void)json_integer(&facts->rank, value);
		else if (json_is(key, "world_size"))
			(void)json_integer(&facts->world_size, value);
}

static void read_member(struct recording *rec, const struct json_events *events)
{
	if (json_is(events->key, "deviceProperties") && events->text.kind == '[')
		read_device(&rec->facts, events->text);
	else if (json_is(events->key, "distributedInfo") && events->text.kind == '{')
		read_distributed(&rec->facts, events->text);
}

/* ---- the reader */

static bool detect(const char *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && strchr(" \t\r\n", bytes[i]) && bytes[i])
		i++;
	if (i == n || (bytes[i] != '{' && bytes[i] != '['))
		return false;
	return memmem(bytes, n, "\"ph\"", 4) || memmem(bytes, n, "traceEvents", 11) ||
	    memmem(bytes, n, "deviceProperties", 16);
}

static int read_all(struct recording *rec, struct input *in, struct err *err)
{
	struct json_events events;
	struct kineto k = {.rec = rec};
	enum json_item item;

	(void)err;
	rec->is_timeline = true;
	json_events_init(&events, in);
	while ((item = json_events_next(&events)) != JSON_END) {
		k.where = events.where;
		if (item == JSON_EVENT)
			read_event(&k, events.text);
		else if (item == JSON_MEMBER)
			read_member(rec, &events);
		else
			note(&k, "events whose quotes or brackets do not match are skipped");
	}
	k.where = in->offset;
	if (!events.has_end)
		note(&k, "the file ends before its closing bracket: cut short");
	return 0;
}

const struct trace_reader trace_reader_kineto = {.name = "PyTorch trace", .detect = detect, .read = read_all};
