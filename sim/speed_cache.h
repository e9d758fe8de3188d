/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * speed_cache: speeds of all that runs, looked at anew only for the ranks that a change can reach, and remembered.
 *
 * What runs on a rank has a number, so its answer is found by index. Ranks meet in a resource only when they can fill it
 * together; those that do are one question, remembered by the numbers of its ranks in a table of bounded size.
 *
 * Invariant: an answer depends on those numbers alone, so a remembered answer equals a fresh one.
 */
#ifndef SIM_SPEED_CACHE_H
#define SIM_SPEED_CACHE_H

#include "sim/shares.h"

/* Speeds of a rank, valid until the next question. */
struct rank_speeds {
	size_t rank;
	const struct speeds *speeds;
};

/* Ranks that meet in resources, a question that was answered. */
struct meeting {
	uint64_t hash;
	uint64_t question; /* the last one that it was an answer to */
	uint32_t n, offset; /* ranks; the first one's place in its group */
	uint32_t *codes; /* [n] */
	struct speeds *speeds; /* [n] */
};

/* A resource that several ranks share. */
struct place {
	uint64_t ask; /* of the sets of its ranks, as struct rank_set's */
	size_t end; /* the rank after its last */
};

/* Ranks that never meet those of another group. */
struct group {
	size_t first, end; /* ranks */
	size_t n_full; /* places that its ranks may fill now */
	bool has_met; /* some of its ranks met, in the last answer */
};

struct cached_rank {
	struct place *places[SHARED_N]; /* [n_places] */
	struct group *group;
	bool is_open; /* the speeds it has may not be those of it alone */
};

struct speed_cache {
	struct shares shares;
	struct arena *arena; /* borrowed */
	size_t n_ranks, n_group, n_words; /* ranks; of a group */
	/* the number of a set: a digit a lane, which of the kinds of that lane runs, 0 when idle */
	uint32_t step[OP_N]; /* what running a kind adds to it */
	uint32_t base[LANE_N + 1]; /* of each digit; of none */
	struct rank_set **known; /* by number */
	struct cached_rank *ranks;
	size_t n_places, which[SHARED_N]; /* resources that several ranks share */
	uint32_t *codes; /* [n_ranks] numbers of the present sets */
	const struct rank_set **sets; /* [n_ranks] of the last question */
	uint64_t *changed; /* [n_words] ranks that changed since, as bits */
	struct rank_speeds *answer; /* [n_answered] at least all ranks whose speeds may have changed, in order */
	size_t n_answered;
	struct meeting **slots; /* [n_slots] a power of two; NULL until ranks meet */
	size_t n_slots;
	uint64_t n_questions;
	size_t n_computed;
};

void speed_cache_init(
    struct speed_cache *cache, const struct sharing *sharing, const struct cost *cost, size_t n_ranks, struct arena *arena);
static inline void speed_cache_add(struct speed_cache *cache, size_t rank, uint32_t step)
{
	cache->codes[rank] += step;
	cache->changed[rank / 64] |= (uint64_t)1 << rank % 64;
}
/* Says that an operation of a kind starts on its lane, which is idle, or ends. */
static inline void speed_cache_start(struct speed_cache *cache, size_t rank, unsigned kind)
{
	speed_cache_add(cache, rank, cache->step[kind]);
}
static inline void speed_cache_end(struct speed_cache *cache, size_t rank, unsigned kind)
{
	speed_cache_add(cache, rank, -cache->step[kind]);
}
/* Answers what changed since the last question. */
void speed_cache_ask(struct speed_cache *cache);

#endif
