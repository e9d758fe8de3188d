/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static const double slot_s = 0.02; /* a slot should last about that long */

void ring_init(struct ring *ring, size_t n_slots, size_t n_workers, size_t n_points)
{
	pthread_condattr_t attributes;

	*ring = (struct ring){.n_slots = n_slots, .n_workers = n_workers, .end = n_points, .run = 1};
	ring->slots = xmalloc(n_slots, sizeof(*ring->slots));
	for (size_t i = 0; i < n_slots; i++)
		ring->slots[i] = (struct ring_slot){.rows = xmalloc(RING_ROWS, sizeof(struct ring_row))};
	pthread_mutex_init(&ring->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&ring->ready, &attributes);
	pthread_cond_init(&ring->freed, &attributes);
	pthread_condattr_destroy(&attributes);
}

void ring_release(struct ring *ring)
{
	for (size_t i = 0; i < ring->n_slots; i++) {
		free(ring->slots[i].rows);
		arena_release(&ring->slots[i].texts);
	}
	free(ring->slots);
	pthread_cond_destroy(&ring->ready);
	pthread_cond_destroy(&ring->freed);
	pthread_mutex_destroy(&ring->mutex);
}

/* ---- workers */

struct ring_slot *ring_claim(struct ring *ring)
{
	struct ring_slot *slot = NULL;

	pthread_mutex_lock(&ring->mutex);
	while (!ring->is_over && ring->next < ring->end && ring->n_claimed - ring->n_released == ring->n_slots)
		pthread_cond_wait(&ring->freed, &ring->mutex);
	if (!ring->is_over && ring->next < ring->end) {
		const size_t left = ring->end - ring->next;
		slot = &ring->slots[ring->n_claimed++ % ring->n_slots];
		slot->first = ring->next;
		slot->n = ring->run < left ? ring->run : left;
		slot->n_ready = slot->n_taken = 0;
		slot->is_closed = false;
		ring->next += slot->n;
		arena_reset(&slot->texts);
	}
	pthread_mutex_unlock(&ring->mutex);
	return slot;
}

void ring_publish(struct ring *ring, struct ring_slot *slot, size_t n)
{
	pthread_mutex_lock(&ring->mutex);
	slot->n_ready = n;
	pthread_mutex_unlock(&ring->mutex);
}

static size_t next_run(size_t n, double elapsed_s)
{
	const double wanted = (double)n * slot_s / (elapsed_s + 1e-9);

	return wanted < 1 ? 1 : wanted > 4 * (double)n ? 4 * n : (size_t)wanted;
}

void ring_close(struct ring *ring, struct ring_slot *slot, size_t n, double elapsed_s)
{
	pthread_mutex_lock(&ring->mutex);
	slot->n = slot->n_ready = n;
	slot->is_closed = true;
	if (n > 0)
		ring->run = next_run(n, elapsed_s);
	if (ring->run > RING_ROWS)
		ring->run = RING_ROWS;
	if (ring->n_claimed - ring->n_released > ring->n_slots / 2)
		pthread_cond_signal(&ring->ready);
	pthread_mutex_unlock(&ring->mutex);
}

void ring_leave(struct ring *ring, const struct err *err)
{
	pthread_mutex_lock(&ring->mutex);
	ring->n_workers--;
	if (err && ring->err.code == 0) {
		ring->err = *err;
		ring->is_over = true;
	}
	pthread_cond_signal(&ring->ready);
	pthread_mutex_unlock(&ring->mutex);
}

/* ---- writer */

static struct timespec deadline(double wait_s)
{
	const long whole_s = (long)wait_s;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += whole_s;
	t.tv_nsec += (long)((wait_s - (double)whole_s) * 1e9);
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

/* Half of the slots are claimed and the oldest is complete: a burst worth a commit. */
static bool has_burst(const struct ring *ring)
{
	return ring->n_claimed - ring->n_released > ring->n_slots / 2 && ring->slots[ring->n_released % ring->n_slots].is_closed;
}

bool ring_wait(struct ring *ring, double wait_s)
{
	const struct timespec until = deadline(wait_s);
	int rc = 0;

	pthread_mutex_lock(&ring->mutex);
	while (rc != ETIMEDOUT && ring->n_workers > 0 && !has_burst(ring))
		rc = pthread_cond_timedwait(&ring->ready, &ring->mutex, &until);
	const bool is_more = ring->n_workers > 0 || ring->n_claimed > ring->n_released;
	pthread_mutex_unlock(&ring->mutex);
	return is_more;
}

/* Gives back the oldest slots that are used up. */
static void release_used(struct ring *ring)
{
	while (ring->n_released < ring->n_claimed) {
		const struct ring_slot *const slot = &ring->slots[ring->n_released % ring->n_slots];
		if (!slot->is_closed || slot->n_taken < slot->n)
			return;
		ring->n_released++;
		pthread_cond_signal(&ring->freed);
	}
}

const struct ring_row *ring_take(struct ring *ring)
{
	const struct ring_row *row = NULL;

	pthread_mutex_lock(&ring->mutex);
	release_used(ring);
	if (ring->n_released < ring->n_claimed) {
		struct ring_slot *const slot = &ring->slots[ring->n_released % ring->n_slots];
		if (slot->n_taken < slot->n_ready)
			row = &slot->rows[slot->n_taken++];
	}
	pthread_mutex_unlock(&ring->mutex);
	return row;
}

void ring_stop(struct ring *ring)
{
	pthread_mutex_lock(&ring->mutex);
	ring->is_over = true;
	pthread_cond_broadcast(&ring->freed);
	pthread_mutex_unlock(&ring->mutex);
}
