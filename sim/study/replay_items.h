/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay_items: what host threads did in a recording, as a list in order of time with what each item waited for.
 *
 * MAIN are the threads that run the framework, as one (they take turns); WORKER are the others that launch copies. An item is a call, a
 * stretch of recorded host work, or a boundary between phases. Waiting is inferred, since recordings name few causes:
 *   a synchronising or blocked call waited for the operation that ended last inside it
 *   a long stretch of MAIN without calls that ends right after a worker's call waited for that worker
 *   a worker's stretch began where MAIN last began to wait or passed a boundary
 */
#ifndef SIM_STUDY_REPLAY_ITEMS_H
#define SIM_STUDY_REPLAY_ITEMS_H

#include "traces/recording.h"

enum { REPLAY_NONE = -1 };

enum replay_item_kind { ITEM_LAUNCH, ITEM_SYNC, ITEM_WORK, ITEM_BOUNDARY, ITEM_DEVICE };

struct replay_item {
	int64_t start_ns, end_ns;
	int64_t gap_ns; /* host time before it, since what it follows */
	uint32_t key; /* of the call and what it launched */
	uint32_t previous_key; /* of the item before it on its thread: with key, the class of the gap */
	int32_t iteration;
	int32_t awaited_event; /* ended inside; index of events */
	int32_t awaited_item; /* of the other thread */
	int32_t first_event, n_events; /* launched: a run of by_link; of ITEM_DEVICE the event itself */
	int32_t segment; /* of a boundary: the segment that ends there, or REPLAY_NONE */
	uint8_t kind; /* enum replay_item_kind */
	bool is_worker;
	bool is_device_wide; /* waits for all streams */
	bool is_blocked; /* a launch that waited for room in the queue */
};

struct replay_items {
	const struct recording *rec; /* borrowed */
	struct replay_item *items; /* heap */
	size_t n, capacity;
	uint32_t *by_link; /* events sorted by (link, start) */
	uint32_t *by_end; /* events sorted by end */
	size_t queue_depth; /* most operations that were launched and had not ended; 0 when no launch was blocked */
};

enum { REPLAY_ITEMS_MAX = 30000 };

/* Iterations, from the first, that have no more calls and operations than that; at least two, if there are. */
size_t replay_items_fitting(const struct recording *rec);

/* Of all iterations. */
void replay_items_list(struct replay_items *items, const struct recording *rec);
void replay_items_release(struct replay_items *items);
/* The operation of the GPU that ended last in (after_ns, until_ns], not on `not_stream` (-1 any); REPLAY_NONE. */
int32_t replay_items_last_end(const struct replay_items *items, int64_t after_ns, int64_t until_ns, int not_stream);

#endif
