/* SPDX-License-Identifier: GPL-3.0-or-later
 * Format: Nsight Systems sqlite export (nsys export --type sqlite), schemas 2.9 to 3.20, see FORMATS.md. Times are ns already. */
#include <stdlib.h>
#include <string.h>

#include "traces/nsys_table.h"
#include "traces/range_names.h"
#include "traces/reader.h"

struct nsys {
	struct recording *rec;
	sqlite3 *db;
	struct nsys_strings strings;
	int64_t pageable, pinned; /* numbers of memory kinds */
	uint64_t row;
};

/* Processes number their correlations each from 1. */
static uint32_t link_of(int64_t global, int64_t correlation)
{
	const int64_t id[2] = {(global >> 24) & 0xFFFFFF, correlation};
	return correlation > 0 ? recording_hash(0, (const char *)id, sizeof(id)) | 1 : 0;
}

/* Columns 0 and 1 are start and end. */
static bool times_of(struct nsys *n, sqlite3_stmt *s, struct rec_event *event)
{
	const int64_t end_ns = sqlite3_column_int64(s, 1);

	n->row++;
	n->rec->n_read++;
	event->start_ns = sqlite3_column_int64(s, 0);
	if (sqlite3_column_type(s, 0) != SQLITE_INTEGER || sqlite3_column_type(s, 1) != SQLITE_INTEGER ||
	    event->start_ns < 0 || end_ns < event->start_ns || end_ns > rec_time_max_ns) {
		recording_note(n->rec, "rows without a start and an end are skipped", n->row, "row");
		return false;
	}
	event->duration_ns = end_ns - event->start_ns;
	return true;
}

static void note_end(struct nsys *n)
{
	recording_note(n->rec, "a table is damaged: its later rows are missing", n->row, "row");
}

static void read_kernels(struct nsys *n)
{
	static const char *const columns[] = {"start", "end", "deviceId", "streamId", "correlationId", "globalPid",
	    "demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", NULL};
	sqlite3_stmt *s;
	int rc;

	nsys_select(&s, n->db, "CUPTI_ACTIVITY_KIND_KERNEL", columns);
	while (s && (rc = sqlite3_step(s)) != SQLITE_DONE) {
		struct rec_event event = {.kind = REC_KERNEL};
		int64_t shape[6];
		if (rc != SQLITE_ROW) {
			note_end(n);
			break;
		}
		if (!times_of(n, s, &event))
			continue;
		const int name = sqlite3_column_type(s, 6) == SQLITE_NULL ? 7 : 6;
		const struct nsys_string *const string = nsys_string(&n->strings, n->rec, sqlite3_column_int64(s, name));
		for (int i = 0; i < 6; i++)
			shape[i] = sqlite3_column_int64(s, 8 + i);
		event.name = string->name;
		event.key = recording_hash(string->key, (const char *)shape, sizeof(shape));
		event.link = link_of(sqlite3_column_int64(s, 5), sqlite3_column_int64(s, 4));
		event.stream = recording_stream(n->rec, sqlite3_column_int64(s, 2) & 0xFFFF, sqlite3_column_int64(s, 3));
		recording_event(n->rec, &event, n->row, "row");
	}
	sqlite3_finalize(s);
}

/* CUPTI's kinds and the three of unified memory that nsys adds. */
static enum rec_kind copy_kind(int64_t kind)
{
	switch (kind) {
	case 1:
	case 3:
	case 11: return REC_H2D;
	case 2:
	case 4:
	case 12: return REC_D2H;
	case 9: return REC_HOST; /* between host buffers: no engine */
	default: return REC_DEVICE;
	}
}

static void add_copy(struct nsys *n, sqlite3_stmt *s, struct rec_event *event)
{
	const int64_t bytes = sqlite3_column_int64(s, 6);
	const int host_column = event->kind == REC_H2D ? 8 : 9;
	const int64_t memory = sqlite3_column_int64(s, host_column);

	if (sqlite3_column_type(s, host_column) == SQLITE_INTEGER)
		event->memory = (uint8_t)(memory == n->pinned ? REC_PINNED : memory == n->pageable ? REC_PAGEABLE : 0);
	event->is_unsized = sqlite3_column_type(s, 6) != SQLITE_INTEGER || bytes < 0;
	event->bytes = event->is_unsized ? 0 : (uint64_t)bytes;
	event->link = link_of(sqlite3_column_int64(s, 5), sqlite3_column_int64(s, 4));
	event->stream = recording_stream(n->rec, sqlite3_column_int64(s, 2) & 0xFFFF, sqlite3_column_int64(s, 3));
	event->name = recording_name(n->rec, rec_kind_names[event->kind], strlen(rec_kind_names[event->kind]));
	event->key = recording_hash(event->kind, (const char *)&event->memory, 1);
	recording_event(n->rec, event, n->row, "row");
}

static void read_copies(struct nsys *n, const char *table, bool is_fill)
{
	static const char *const columns[] = {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes",
	    "copyKind", "srcKind", "dstKind", NULL};
	sqlite3_stmt *s;
	int rc;

	nsys_select(&s, n->db, table, columns);
	while (s && (rc = sqlite3_step(s)) != SQLITE_DONE) {
		struct rec_event event = {.kind = REC_FILL};
		if (rc != SQLITE_ROW) {
			note_end(n);
			break;
		}
		if (!times_of(n, s, &event))
			continue;
		if (!is_fill)
			event.kind = (uint8_t)copy_kind(sqlite3_column_int64(s, 7));
		if (event.kind != REC_HOST)
			add_copy(n, s, &event);
	}
	sqlite3_finalize(s);
}

static void read_calls(struct nsys *n)
{
	static const char *const columns[] = {"start", "end", "globalTid", "correlationId", "nameId", NULL};
	sqlite3_stmt *s;
	int rc;

	nsys_select(&s, n->db, "CUPTI_ACTIVITY_KIND_RUNTIME", columns);
	while (s && (rc = sqlite3_step(s)) != SQLITE_DONE) {
		struct rec_event call = {.kind = REC_LAUNCH};
		if (rc != SQLITE_ROW) {
			note_end(n);
			break;
		}
		if (!times_of(n, s, &call))
			continue;
		const struct nsys_string *const string = nsys_string(&n->strings, n->rec, sqlite3_column_int64(s, 4));
		const int64_t thread = sqlite3_column_int64(s, 2);
		if (!string->is_launch && !string->is_sync)
			continue;
		call.kind = string->is_sync ? REC_SYNC : REC_LAUNCH;
		call.name = string->name;
		call.key = string->key;
		call.link = link_of(thread, sqlite3_column_int64(s, 3));
		call.stream = recording_stream(n->rec, -1, thread & 0xFFFFFF);
		n->rec->streams[call.stream].is_framework |= strstr(n->rec->names[call.name], "LaunchKernel") != NULL;
		recording_call(n->rec, &call, n->row, "row");
	}
	sqlite3_finalize(s);
}

static void read_ranges(struct nsys *n)
{
	static const char *const columns[] = {"start", "end", "text", "textId", "eventType", NULL};
	sqlite3_stmt *s;
	int rc;

	nsys_select(&s, n->db, "NVTX_EVENTS", columns);
	while (s && (rc = sqlite3_step(s)) != SQLITE_DONE) {
		struct rec_event range = {.start_ns = 0};
		enum rec_mark_kind kind;
		int64_t number;
		if (rc != SQLITE_ROW) {
			note_end(n);
			break;
		}
		const int64_t type = sqlite3_column_int64(s, 4);
		if ((type != 59 && type != 60) || !times_of(n, s, &range))
			continue;
		const char *text = (const char *)sqlite3_column_text(s, 2);
		if (!text)
			text = n->rec->names[nsys_string(&n->strings, n->rec, sqlite3_column_int64(s, 3))->name];
		if (range_name_mark(&kind, &number, text, strlen(text)))
			recording_mark(n->rec, kind, number, range.start_ns, range.duration_ns);
		if (range_name_is_cpu_adam(text, strlen(text))) {
			range.kind = REC_HOST;
			range.stream = recording_stream(n->rec, -1, 0);
			range.name = recording_name(n->rec, text, strlen(text));
			recording_event(n->rec, &range, n->row, "row");
		}
	}
	sqlite3_finalize(s);
}

/* Numbers of memory kinds: nsys's own, or as the file's table says. */
static void read_memory_kinds(struct nsys *n)
{
	static const char *const columns[] = {"id", "name", "label", NULL};
	sqlite3_stmt *s;

	n->pageable = 0;
	n->pinned = 1;
	nsys_select(&s, n->db, "ENUM_CUDA_MEM_KIND", columns);
	while (s && sqlite3_step(s) == SQLITE_ROW)
		for (int i = 1; i <= 2; i++) {
			const char *const text = (const char *)sqlite3_column_text(s, i);
			if (text && strcasestr(text, "pageable"))
				n->pageable = sqlite3_column_int64(s, 0);
			else if (text && strcasestr(text, "pinned"))
				n->pinned = sqlite3_column_int64(s, 0);
		}
	sqlite3_finalize(s);
}

static void read_gpu(struct nsys *n)
{
	static const char *const columns[] = {"name", NULL};
	sqlite3_stmt *s;

	nsys_select(&s, n->db, "TARGET_INFO_GPU", columns);
	if (s && sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0))
		snprintf(n->rec->facts.gpu, sizeof(n->rec->facts.gpu), "%s", (const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
}

static bool detect(const char *bytes, size_t n)
{
	return n >= 16 && memcmp(bytes, "SQLite format 3", 16) == 0;
}

static int read_all(struct recording *rec, struct input *in, struct err *err)
{
	struct nsys *const n = xmalloc(1, sizeof(*n));

	n->rec = rec;
	n->row = 0;
	rec->is_timeline = true;
	const int code = nsys_open(&n->db, in, err);
	if (!code) {
		nsys_strings_open(&n->strings, n->db);
		read_memory_kinds(n);
		read_gpu(n);
		read_kernels(n);
		read_copies(n, "CUPTI_ACTIVITY_KIND_MEMCPY", false);
		read_copies(n, "CUPTI_ACTIVITY_KIND_MEMSET", true);
		read_calls(n);
		read_ranges(n);
		nsys_strings_close(&n->strings);
	}
	sqlite3_close(n->db);
	free(n);
	return code;
}

const struct trace_reader trace_reader_nsys = {.name = "Nsight Systems export", .detect = detect, .read = read_all};
