/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * speed_cache: answers of a sharing model, remembered by the set of running operations.
 *
 * Invariant: an answer depends on the kinds running on the lanes alone, so a remembered answer equals a fresh one. A run
 * meets few sets (tens), whatever its number of operations.
 */
#ifndef SIM_SPEED_CACHE_H
#define SIM_SPEED_CACHE_H

#include <stdint.h>

#include "model/base/arena.h"
#include "sim/sharing.h"

enum { SPEED_IDLE = 0xff, SPEED_SLOTS = 1024 }; /* slots at the start; doubled when as many answers are known */

struct speeds {
	double *speed; /* [n_lanes], as limit not set where idle */
	uint8_t *limit; /* [n_lanes] enum res, RES_N: runs at its alone speed */
	uint8_t *kinds; /* [n_lanes]: the key */
	uint64_t hash;
	struct speeds *next; /* same slot */
};

struct speed_cache {
	const struct sharing *sharing;
	const struct cost *cost;
	struct arena *arena; /* borrowed */
	size_t n_ranks, n_lanes;
	uint8_t *kinds; /* [n_lanes]: the present set */
	uint64_t hash; /* of it */
	struct speeds **slots;
	size_t n_slots, n_computed;
	/* the question being asked and its answer, [n_lanes] */
	struct running *running;
	size_t *lane_of;
	double *speed;
	uint8_t *limit;
};

void speed_cache_init(
    struct speed_cache *cache, const struct sharing *sharing, const struct cost *cost, size_t n_ranks, struct arena *arena);
/* A hash of a set is the exclusive or of its members', so a change costs the same whatever the number of lanes. */
static inline uint64_t speed_cache_hash(size_t lane, unsigned kind)
{
	uint64_t x = (lane << 8 | kind) + 1;
	x *= 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}
/* Says what runs on a lane: a kind, or SPEED_IDLE as at the start. */
static inline void speed_cache_set(struct speed_cache *cache, size_t lane, unsigned kind)
{
	cache->hash ^= speed_cache_hash(lane, cache->kinds[lane]) ^ speed_cache_hash(lane, kind);
	cache->kinds[lane] = (uint8_t)kind;
}
/* Speeds of the present set; valid until the arena ends. */
const struct speeds *speed_cache_get(struct speed_cache *cache);

#endif
