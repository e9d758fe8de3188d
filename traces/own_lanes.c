/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/own_lanes.h"

#include <string.h>

/* Streams of the GPU: each lane that runs on it is one. */
static const struct {
	const char *lane;
	enum rec_kind kind;
	int64_t stream;
} gpu_lanes[] = {
    {"gpu compute", REC_KERNEL, 0},
    {"gpu", REC_KERNEL, 0},
    {"h2d engine", REC_H2D, 1},
    {"h2d", REC_H2D, 1},
    {"d2h engine", REC_D2H, 2},
    {"d2h", REC_D2H, 2},
    {"all-gather", REC_KERNEL, 3},
    {"gradient reduce", REC_KERNEL, 4},
};

/* Words of the simulation, and names of calls in recordings that were written as a timeline. */
static bool is_waiting(const char *kind)
{
	return strcmp(kind, "wait") == 0 || strstr(kind, "Synchronize");
}

static bool is_launching(const char *kind)
{
	return strcmp(kind, "launch") == 0 || strcmp(kind, "host") == 0 || strstr(kind, "Launch") ||
	    strstr(kind, "Memcpy") || strstr(kind, "Memset");
}

static void add_host(struct recording *rec, const char *lane, const char *kind, struct rec_event *event, uint64_t where,
    const char *where_unit)
{
	event->stream = recording_stream(rec, -1, strstr(lane, "worker") ? 1 : 0);
	rec->streams[event->stream].is_framework = !strstr(lane, "worker");
	event->kind = (uint8_t)(is_waiting(kind) ? REC_SYNC : is_launching(kind) ? REC_LAUNCH : REC_HOST);
	if (event->kind == REC_HOST)
		recording_event(rec, event, where, where_unit);
	else
		recording_call(rec, event, where, where_unit);
}

void own_lanes_add(struct recording *rec, const char *lane, const char *kind, int64_t rank, int64_t start_ns,
    int64_t duration_ns, double amount, const char *unit, uint64_t where, const char *where_unit)
{
	struct rec_event event = {.start_ns = start_ns,
	    .duration_ns = duration_ns,
	    .key = recording_hash(0, kind, strlen(kind)),
	    .name = recording_name(rec, kind, strlen(kind))};

	for (size_t i = 0; i < sizeof(gpu_lanes) / sizeof(gpu_lanes[0]); i++) {
		if (strcmp(lane, gpu_lanes[i].lane) != 0)
			continue;
		event.kind = (uint8_t)gpu_lanes[i].kind;
		event.stream = recording_stream(rec, rank, gpu_lanes[i].stream);
		if (event.kind == REC_H2D || event.kind == REC_D2H) {
			event.memory = REC_PINNED;
			event.is_unsized = strcmp(unit, "bytes") != 0 || !(amount >= 0 && amount <= (double)rec_bytes_max);
			event.bytes = event.is_unsized ? 0 : (uint64_t)(amount + 0.5);
		}
		recording_event(rec, &event, where, where_unit);
		return;
	}
	if (rank != 0)
		recording_note(rec, "host operations of other ranks than 0 are left out", where, where_unit);
	else
		add_host(rec, lane, kind, &event, where, where_unit);
}

void own_phases_end(struct recording *rec, struct own_phases *open)
{
	if (open->is_open)
		recording_mark(rec, REC_MARK_ITERATION, open->number, open->start_ns, open->end_ns - open->start_ns);
	open->is_open = false;
}

void own_phases_add(struct recording *rec, struct own_phases *open, const char *phase, int64_t number, int64_t start_ns,
    int64_t duration_ns)
{
	static const enum rec_mark_kind kinds[] = {REC_MARK_FORWARD, REC_MARK_BACKWARD, REC_MARK_UPDATE};

	if (open->is_open && open->number != number)
		own_phases_end(rec, open);
	if (!open->is_open)
		*open = (struct own_phases){true, number, start_ns, start_ns};
	if (start_ns + duration_ns > open->end_ns)
		open->end_ns = start_ns + duration_ns;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(phase, phase_names[i]) == 0)
			recording_mark(rec, kinds[i], number, start_ns, duration_ns);
}
