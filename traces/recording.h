/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * recording: a recorded run of training in one form, whatever it was read from.
 *
 * Readers add events, host calls, marks and facts; recording_finish sorts them, keeps one GPU, finds iterations and phases and says to
 * which phase each event belongs. After that, and only then: events and calls are sorted by start; iterations are in order and
 * disjoint; segments are disjoint, sorted, inside their iterations, and their lengths are the phases' times.
 *
 * Units: nanoseconds in int64 (files hold more digits than a double); bytes exact. Memory is bounded by REC_EVENTS_MAX. One rank.
 */
#ifndef TRACES_RECORDING_H
#define TRACES_RECORDING_H

#include <stdint.h>

#include "model/base/arena.h"
#include "model/base/err.h"
#include "sim/schedule.h"

enum {
	REC_EVENTS_MAX = 8000000, /* kept, of events and of host calls */
	REC_MARKS_MAX = 100000,
	REC_NAMES_MAX = 8192,
	REC_STREAMS_MAX = 256,
	REC_NOTES_MAX = 32,
	REC_NO_ITERATION = -1,
};
static const int64_t rec_time_max_ns = 4000000000000000000;
static const uint64_t rec_bytes_max = 1ull << 40; /* of one copy */

enum rec_kind {
	REC_KERNEL,
	REC_H2D,
	REC_D2H,
	REC_DEVICE, /* copy inside or between GPUs */
	REC_FILL,
	REC_HOST, /* work of a host thread on the optimizer */
	/* host calls */
	REC_LAUNCH,
	REC_SYNC,
	REC_KIND_N
};
extern const char *const rec_kind_names[REC_KIND_N];

enum rec_memory { REC_MEMORY_UNKNOWN, REC_PINNED, REC_PAGEABLE, REC_MEMORY_N };

struct rec_event {
	int64_t start_ns, duration_ns;
	uint64_t bytes; /* of a copy; 0 with is_unsized when the file does not say */
	uint32_t link; /* of a host call and what it launched; 0 none */
	uint32_t key; /* hash of the full name and the launch shape: what runs alike */
	uint16_t name; /* into names */
	uint16_t stream; /* into streams: of a GPU, or a host thread */
	uint8_t kind; /* enum rec_kind */
	uint8_t memory; /* enum rec_memory: of a copy */
	uint8_t phase; /* enum phase, of what launched it */
	uint8_t is_unsized;
};

/* A stream of a GPU or a thread. */
struct rec_stream {
	int64_t device, number; /* device -1: a host thread */
	size_t n_events;
	bool is_framework; /* thread: has operators of the framework, so it is no mere copy worker */
};

/* What a range of a file means. Explicit ranges of a phase win over what can be derived for it. */
enum rec_mark_kind {
	REC_MARK_ITERATION, /* ProfilerStep and the like */
	REC_MARK_FORWARD,
	REC_MARK_BACKWARD,
	REC_MARK_UPDATE,
	REC_MARK_OPTIMIZER, /* Optimizer.step: update, where none is marked */
	REC_MARK_AUTOGRAD, /* backward functions, merged: backward, where none is marked */
	REC_MARK_N
};
struct rec_mark {
	int64_t start_ns, end_ns;
	int64_t number; /* of an iteration */
	uint8_t kind;
};

struct rec_iteration {
	int64_t number;
	int64_t start_ns, end_ns;
	int64_t phase_ns[PHASE_N]; /* their sum is the iteration's time */
	bool has_phase[PHASE_N];
	size_t first_segment, n_segments;
};

struct rec_segment {
	int64_t start_ns, end_ns;
	int32_t iteration;
	uint8_t phase;
};

/* What was skipped or mended while reading. */
struct rec_note {
	const char *text; /* static */
	size_t count;
	uint64_t where; /* first place: byte, line or row */
	const char *unit; /* "byte", "line", "row"; "" no place */
};

/* Facts of a file beside its times; 0, "" or NULL where it does not say. */
struct rec_facts {
	char gpu[96]; /* name of the GPU */
	char policy[160]; /* SPEC, when the run's own policy is known */
	int64_t rank, world_size;
	double layers, hidden, heads, kv_heads, ffn, vocab, seq, mbs, grad_accum, gpus, subgroup_params, n_params;
	bool is_gpt, has_checkpointing;
	int64_t gpu_peak_bytes, host_used_bytes;
};

struct recording {
	const char *file, *format; /* borrowed: path; static: name of the format */
	struct arena arena;
	struct rec_event *events, *calls; /* heap */
	size_t n_events, cap_events, n_calls, cap_calls, n_dropped;
	struct rec_mark *marks;
	size_t n_marks, cap_marks;
	const char *names[REC_NAMES_MAX]; /* arena; [0] is for those beyond the table */
	uint32_t name_keys[REC_NAMES_MAX];
	size_t n_names;
	struct rec_stream streams[REC_STREAMS_MAX];
	size_t n_streams;
	struct rec_note notes[REC_NOTES_MAX];
	size_t n_notes;
	struct rec_iteration *iterations;
	size_t n_iterations, cap_iterations;
	struct rec_segment *segments;
	size_t n_segments, cap_segments;
	struct rec_facts facts;
	uint64_t n_read; /* events, rows or lines looked at */
	bool is_timeline; /* has events; else phase times alone */
};

void recording_init(struct recording *rec, const char *file, const char *format);
void recording_release(struct recording *rec);

/* Names and keys. */
uint32_t recording_hash(uint32_t hash, const char *text, size_t n); /* FNV-1a; start with 0 */
uint16_t recording_name(struct recording *rec, const char *text, size_t n);
uint16_t recording_stream(struct recording *rec, int64_t device, int64_t number);
/* Checks ranges and adds; what is out of range or beyond the caps is noted. where: place in the file. */
void recording_event(struct recording *rec, const struct rec_event *event, uint64_t where, const char *unit);
void recording_call(struct recording *rec, const struct rec_event *call, uint64_t where, const char *unit);
void recording_mark(struct recording *rec, enum rec_mark_kind kind, int64_t number, int64_t start_ns, int64_t duration_ns);
void recording_note(struct recording *rec, const char *text, uint64_t where, const char *unit);
/* For files that hold phase times and no events. */
void recording_iteration(struct recording *rec, int64_t number, int64_t start_ns, int64_t end_ns,
    const int64_t phase_ns[PHASE_N], const bool has_phase[PHASE_N]);

/* STATUS_INPUT says why a file cannot be a timeline of training: no GPU work, no steps. */
int recording_finish(struct recording *rec, struct err *err) MUST_CHECK;

/* Segment at a time, NULL outside; O(log n). */
const struct rec_segment *recording_segment(const struct recording *rec, int64_t at_ns);
static inline int64_t rec_end_ns(const struct rec_event *event)
{
	return event->start_ns + event->duration_ns;
}
/* Median of the iterations' times of a phase (PHASE_N: of the whole), without those that lack it; -1 none. */
int64_t recording_median_ns(const struct recording *rec, enum phase phase);

#endif
