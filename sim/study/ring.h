/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring: rows on their way from the workers of a sweep to its writer, in the order of the grid.
 *
 * A worker claims a slot and the next run of points, fills it and publishes rows as they are done; the writer takes rows from
 * the oldest slot on. The size of a run follows the time that a point takes, so that slots last about 20 ms. Bounded: workers
 * wait while all slots are claimed.
 */
#ifndef SIM_STUDY_RING_H
#define SIM_STUDY_RING_H

#include <pthread.h>

#include "sim/study/runner.h"

enum { RING_ROWS = 512 };

struct ring_row {
	struct row_done done;
	bool is_present; /* in the store already */
};

struct ring_slot {
	struct ring_row *rows; /* [RING_ROWS] */
	struct arena texts; /* of the rows */
	size_t first, n; /* ordinals of the points; n shrinks when the worker ends early */
	size_t n_ready; /* published */
	size_t n_taken; /* by the writer */
	bool is_closed; /* the worker is done with it */
};

struct ring {
	pthread_mutex_t mutex;
	pthread_cond_t ready, freed;
	struct ring_slot *slots;
	size_t n_slots;
	size_t n_claimed, n_released; /* slots, ever */
	size_t next, end; /* ordinals not yet claimed */
	size_t run; /* points of the next slot */
	size_t n_workers; /* still at work */
	bool is_over; /* nobody claims any more */
	struct err err; /* of the first worker that failed */
};

void ring_init(struct ring *ring, size_t n_slots, size_t n_workers, size_t n_points);
void ring_release(struct ring *ring);

/* Workers. NULL: there is nothing more to do. */
struct ring_slot *ring_claim(struct ring *ring);
/* n rows are done so far. */
void ring_publish(struct ring *ring, struct ring_slot *slot, size_t n);
/* n rows are done and no more will be; they took elapsed_s. */
void ring_close(struct ring *ring, struct ring_slot *slot, size_t n, double elapsed_s);
/* The worker ends; err may be NULL. */
void ring_leave(struct ring *ring, const struct err *err);

/* Writer: waits until a burst of rows is ready, or wait_s is over, or all is done (false then, when nothing is left). */
bool ring_wait(struct ring *ring, double wait_s);
/* The next row in order; NULL when it is not ready. Valid until the next call. */
const struct ring_row *ring_take(struct ring *ring);
/* No slot is claimed from now on. */
void ring_stop(struct ring *ring);

#endif
