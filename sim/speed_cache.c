/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/speed_cache.h"

#include <string.h>

void speed_cache_init(
    struct speed_cache *cache, const struct sharing *sharing, const struct cost *cost, size_t n_ranks, struct arena *arena)
{
	memset(cache, 0, sizeof *cache);
	cache->sharing = sharing;
	cache->cost = cost;
	cache->arena = arena;
	cache->n_ranks = n_ranks;
	cache->n_lanes = n_ranks * LANE_N;
	cache->kinds = arena_alloc(arena, cache->n_lanes, 1);
	memset(cache->kinds, SPEED_IDLE, cache->n_lanes);
	cache->running = arena_alloc(arena, cache->n_lanes, sizeof *cache->running);
	cache->lane_of = arena_alloc(arena, cache->n_lanes, sizeof *cache->lane_of);
	cache->speed = arena_alloc(arena, cache->n_lanes, sizeof *cache->speed);
	cache->limit = arena_alloc(arena, cache->n_lanes, 1);
	cache->n_slots = SPEED_SLOTS;
	cache->slots = arena_zalloc(arena, cache->n_slots, sizeof *cache->slots);
}

/* An answer and its key in one piece of memory: a look-up reads one place. */
static struct speeds *speeds_new(struct speed_cache *cache)
{
	const size_t n = cache->n_lanes, bytes = sizeof(struct speeds) + n * sizeof(double) + 2 * n;
	struct speeds *const speeds = arena_alloc(cache->arena, 1, bytes);
	speeds->speed = (double *)(speeds + 1);
	speeds->kinds = (uint8_t *)(speeds->speed + n);
	speeds->limit = speeds->kinds + n;
	speeds->hash = cache->hash;
	memcpy(speeds->kinds, cache->kinds, n);
	return speeds;
}

/* Lists what runs in order of (rank, lane), a waiting host thread included: it may hold a core. */
static struct speeds *compute(struct speed_cache *cache)
{
	struct speeds *const speeds = speeds_new(cache);
	size_t n = 0;
	for (size_t rank = 0, lane = 0; rank < cache->n_ranks; rank++)
		for (size_t l = 0; l < LANE_N; l++, lane++) {
			const bool is_idle = cache->kinds[lane] == SPEED_IDLE;
			if (is_idle && l != LANE_MAIN)
				continue;
			cache->lane_of[n] = lane;
			cache->running[n++] =
			    (struct running){is_idle ? OP_SYNC : cache->kinds[lane], (uint16_t)rank};
		}
	cache->sharing->allocate(cache->speed, cache->limit, cache->running, n, cache->cost, cache->n_ranks);
	for (size_t i = 0; i < n; i++) {
		speeds->speed[cache->lane_of[i]] = cache->speed[i];
		speeds->limit[cache->lane_of[i]] = cache->limit[i];
	}
	cache->n_computed++;
	return speeds;
}

static void grow(struct speed_cache *cache)
{
	struct speeds **const old = cache->slots;
	const size_t n_old = cache->n_slots;
	cache->n_slots = 2 * n_old;
	cache->slots = arena_zalloc(cache->arena, cache->n_slots, sizeof *cache->slots);
	for (size_t i = 0; i < n_old; i++)
		for (struct speeds *moved = old[i], *next; moved; moved = next) {
			struct speeds **const slot = &cache->slots[moved->hash % cache->n_slots];
			next = moved->next;
			moved->next = *slot;
			*slot = moved;
		}
}

const struct speeds *speed_cache_get(struct speed_cache *cache)
{
	struct speeds **slot = &cache->slots[cache->hash % cache->n_slots];
	for (struct speeds *found = *slot; found; found = found->next)
		if (found->hash == cache->hash && !memcmp(found->kinds, cache->kinds, cache->n_lanes))
			return found;
	struct speeds *const made = compute(cache);
	if (cache->n_computed > cache->n_slots) {
		grow(cache);
		slot = &cache->slots[cache->hash % cache->n_slots];
	}
	made->next = *slot;
	*slot = made;
	return made;
}
