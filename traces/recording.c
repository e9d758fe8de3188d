/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/recording.h"

#include <stdlib.h>
#include <string.h>

const char *const rec_kind_names[REC_KIND_N] = {"kernel", "h2d", "d2h", "device copy", "fill", "host", "launch", "sync"};

enum { NAME_KEPT_MAX = 120 };

void recording_init(struct recording *rec, const char *file, const char *format)
{
	memset(rec, 0, sizeof(*rec));
	rec->file = file;
	rec->format = format;
	rec->names[0] = "(other)";
	rec->n_names = 1;
}

void recording_release(struct recording *rec)
{
	free(rec->events);
	free(rec->calls);
	free(rec->marks);
	free(rec->iterations);
	free(rec->segments);
	arena_release(&rec->arena);
	memset(rec, 0, sizeof(*rec));
}

/* Room for one more; grows by a quarter, which large blocks do without a copy. */
static void *grow(void *old, size_t n, size_t *capacity, size_t size)
{
	if (n < *capacity)
		return old;
	*capacity += *capacity / 4 + 256;
	return xrealloc(old, *capacity, size);
}

void recording_note(struct recording *rec, const char *text, uint64_t where, const char *unit)
{
	for (size_t i = 0; i < rec->n_notes; i++)
		if (rec->notes[i].text == text || strcmp(rec->notes[i].text, text) == 0) {
			rec->notes[i].count++;
			return;
		}
	if (rec->n_notes < REC_NOTES_MAX)
		rec->notes[rec->n_notes++] = (struct rec_note){text, 1, where, unit};
}

/* ---- names */

uint32_t recording_hash(uint32_t hash, const char *text, size_t n)
{
	hash ^= 2166136261u;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

/* Open addressing by the text's hash; two texts with one hash share a name. */
uint16_t recording_name(struct recording *rec, const char *text, size_t n)
{
	const uint32_t key = recording_hash(0, text, n) | 1;
	const size_t most = REC_NAMES_MAX - REC_NAMES_MAX / 8;

	for (size_t i = 0;; i++) { /* an eighth stays free */
		const size_t at = 1 + (key + i) % (REC_NAMES_MAX - 1);
		if (rec->name_keys[at] == key)
			return (uint16_t)at;
		if (rec->name_keys[at] != 0)
			continue;
		if (rec->n_names >= most)
			return 0;
		rec->name_keys[at] = key;
		rec->names[at] = arena_printf(&rec->arena, "%.*s", (int)(n < NAME_KEPT_MAX ? n : NAME_KEPT_MAX), text);
		rec->n_names++;
		return (uint16_t)at;
	}
}

uint16_t recording_stream(struct recording *rec, int64_t device, int64_t number)
{
	for (size_t i = rec->n_streams; i-- > 0;)
		if (rec->streams[i].device == device && rec->streams[i].number == number)
			return (uint16_t)i;
	if (rec->n_streams == REC_STREAMS_MAX) {
		recording_note(rec, "streams and threads beyond 256 are taken as one", 0, "");
		return REC_STREAMS_MAX - 1;
	}
	rec->streams[rec->n_streams] = (struct rec_stream){.device = device, .number = number};
	return (uint16_t)rec->n_streams++;
}

/* ---- events */

static bool is_in_range(const struct rec_event *event)
{
	return event->start_ns >= 0 && event->start_ns <= rec_time_max_ns && event->duration_ns >= 0 &&
	    event->duration_ns <= rec_time_max_ns && event->bytes <= rec_bytes_max;
}

void recording_event(struct recording *rec, const struct rec_event *event, uint64_t where, const char *unit)
{
	if (!is_in_range(event)) {
		recording_note(rec, "events whose time or size is out of range are skipped", where, unit);
		return;
	}
	if (rec->n_events == REC_EVENTS_MAX) {
		rec->n_dropped++;
		recording_note(
		    rec, "events beyond 8 million are left out: what follows is missing from the report", where, unit);
		return;
	}
	rec->streams[event->stream].n_events++;
	rec->events = grow(rec->events, rec->n_events, &rec->cap_events, sizeof(*rec->events));
	rec->events[rec->n_events++] = *event;
}

void recording_call(struct recording *rec, const struct rec_event *call, uint64_t where, const char *unit)
{
	if (!is_in_range(call) || rec->n_calls == REC_EVENTS_MAX) {
		recording_note(rec, "host calls out of range or beyond 8 million are left out", where, unit);
		return;
	}
	rec->calls = grow(rec->calls, rec->n_calls, &rec->cap_calls, sizeof(*rec->calls));
	rec->calls[rec->n_calls++] = *call;
}

/* Backward functions follow each other closely: one mark for a run of them. */
static bool joins_last(const struct recording *rec, enum rec_mark_kind kind, int64_t start_ns)
{
	static const int64_t near_ns = 50000;
	const struct rec_mark *const last = rec->n_marks > 0 ? &rec->marks[rec->n_marks - 1] : NULL;

	return last && kind == REC_MARK_AUTOGRAD && last->kind == kind && start_ns >= last->start_ns &&
	    start_ns <= last->end_ns + near_ns;
}

void recording_mark(struct recording *rec, enum rec_mark_kind kind, int64_t number, int64_t start_ns, int64_t duration_ns)
{
	const struct rec_event as_event = {.start_ns = start_ns, .duration_ns = duration_ns};

	if (!is_in_range(&as_event)) {
		recording_note(rec, "events whose time or size is out of range are skipped", 0, "");
		return;
	}
	if (joins_last(rec, kind, start_ns)) {
		struct rec_mark *const last = &rec->marks[rec->n_marks - 1];
		if (start_ns + duration_ns > last->end_ns)
			last->end_ns = start_ns + duration_ns;
		return;
	}
	if (rec->n_marks == REC_MARKS_MAX) {
		recording_note(rec, "ranges beyond 100 000 are left out", 0, "");
		return;
	}
	rec->marks = grow(rec->marks, rec->n_marks, &rec->cap_marks, sizeof(*rec->marks));
	rec->marks[rec->n_marks++] = (struct rec_mark){start_ns, start_ns + duration_ns, number, (uint8_t)kind};
}

void recording_iteration(struct recording *rec, int64_t number, int64_t start_ns, int64_t end_ns,
    const int64_t phase_ns[PHASE_N], const bool has_phase[PHASE_N])
{
	rec->iterations = grow(rec->iterations, rec->n_iterations, &rec->cap_iterations, sizeof(*rec->iterations));
	struct rec_iteration *const it = &rec->iterations[rec->n_iterations++];
	*it = (struct rec_iteration){
	    .number = number, .start_ns = start_ns, .end_ns = end_ns, .first_segment = rec->n_segments};
	memcpy(it->phase_ns, phase_ns, sizeof(it->phase_ns));
	memcpy(it->has_phase, has_phase, sizeof(it->has_phase));
}

/* ---- questions */

const struct rec_segment *recording_segment(const struct recording *rec, int64_t at_ns)
{
	size_t low = 0, high = rec->n_segments;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (rec->segments[middle].end_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rec->n_segments && rec->segments[low].start_ns <= at_ns ? &rec->segments[low] : NULL;
}

static int compare_ns(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

int64_t recording_median_ns(const struct recording *rec, enum phase phase)
{
	int64_t *const values = xmalloc(rec->n_iterations + 1, sizeof(*values));
	size_t n = 0;

	for (size_t i = 0; i < rec->n_iterations; i++) {
		const struct rec_iteration *const it = &rec->iterations[i];
		if (phase == PHASE_N)
			values[n++] = it->end_ns - it->start_ns;
		else if (it->has_phase[phase])
			values[n++] = it->phase_ns[phase];
	}
	qsort(values, n, sizeof(*values), compare_ns);
	const int64_t median_ns = n == 0 ? -1
	    : n % 2                      ? values[n / 2]
					 : values[n / 2 - 1] + (values[n / 2] - values[n / 2 - 1]) / 2;
	free(values);
	return median_ns;
}
