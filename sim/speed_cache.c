/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/speed_cache.h"

#include <string.h>

_Static_assert((int)LANE_N <= (int)RANK_LANES, "lanes of a rank are bits of a byte");

/* What meetings may take, at least SLOTS_MIN of them; places of the table where one may be. */
enum { MEETINGS_BYTES = 1 << 20, SLOTS_MIN = 64, N_PLACES = 8 };

static void number_sets(struct speed_cache *cache)
{
	uint32_t base = 1;
	for (size_t lane = 0; lane < LANE_N; lane++) {
		uint32_t digit = 0;
		cache->base[lane] = base;
		for (size_t kind = 0; kind < OP_N; kind++)
			if (cache->shares.cost->classes[kind].lane == lane)
				cache->step[kind] = ++digit * base;
		base *= digit + 1;
	}
	cache->base[LANE_N] = base;
}

/* The least number of ranks after which the boundaries of all resources repeat; those of a node where they do not. */
static size_t group_of(const struct shares *shares)
{
	const size_t in_node = shares->ranks_per_node;
	size_t n_group = 1;
	for (size_t which = 0; which < SHARED_N; which++) {
		const size_t n_sharing = shares->shared[which].n_sharing;
		size_t common = n_group;
		while (n_sharing > 1 && common % n_sharing != 0 && common < in_node)
			common += n_group;
		n_group = common;
	}
	return in_node % n_group == 0 ? n_group : in_node;
}

/* ---- what runs on a rank */

/* MAIN is there when idle, too: a waiting host thread may hold a core. */
static struct rank_set *set_new(struct speed_cache *cache, uint32_t code)
{
	struct rank_set *const set = arena_zalloc(cache->arena, 1, sizeof *set);
	set->kinds[LANE_MAIN] = OP_SYNC;
	set->lanes = 1 << LANE_MAIN;
	for (size_t kind = 0; kind < OP_N; kind++) {
		const size_t lane = cache->shares.cost->classes[kind].lane;
		if (code % cache->base[lane + 1] / cache->base[lane] * cache->base[lane] != cache->step[kind])
			continue;
		set->kinds[lane] = (uint8_t)kind;
		set->lanes |= (uint8_t)(1 << lane);
	}
	shares_rank_set(&cache->shares, set);
	cache->n_computed++;
	return set;
}

/* The set that runs on a rank now, and what it asks where ranks may meet. */
static void refresh(struct speed_cache *cache, size_t rank)
{
	struct cached_rank *const self = &cache->ranks[rank];
	struct rank_set **const known = &cache->known[cache->codes[rank]];
	if (!*known)
		*known = set_new(cache, cache->codes[rank]);
	const struct rank_set *const before = cache->sets[rank], *const now = *known;
	cache->sets[rank] = now;
	self->is_open = true;
	for (size_t i = 0; i < cache->n_places; i++) {
		const size_t which = cache->which[i];
		struct place *const place = self->places[i];
		if (now->ask[which] == before->ask[which])
			continue;
		self->group->n_full -= shares_may_fill(place->ask);
		place->ask += now->ask[which] - before->ask[which];
		self->group->n_full += shares_may_fill(place->ask);
	}
}

static void add_places(struct speed_cache *cache, size_t which)
{
	const size_t n_places = cache->n_places;
	if (cache->shares.shared[which].n_sharing < 2)
		return;
	cache->which[cache->n_places++] = which;
	for (size_t rank = 0, end; rank < cache->n_ranks; rank = end) {
		struct place *const place = arena_zalloc(cache->arena, 1, sizeof *place);
		end = shares_end(&cache->shares, which, rank);
		place->end = end = end < cache->n_ranks ? end : cache->n_ranks;
		for (size_t i = rank; i < end; i++) {
			cache->ranks[i].places[n_places] = place;
			place->ask += cache->sets[i]->ask[which];
		}
		cache->ranks[rank].group->n_full += shares_may_fill(place->ask);
	}
}

static void add_groups(struct speed_cache *cache)
{
	struct group *group = NULL;
	cache->n_group = group_of(&cache->shares);
	for (size_t rank = 0; rank < cache->n_ranks; rank++) {
		if (rank % cache->n_group == 0) {
			group = arena_zalloc(cache->arena, 1, sizeof *group);
			group->first = rank;
		}
		group->end = rank + 1;
		cache->ranks[rank].group = group;
	}
}

void speed_cache_init(
    struct speed_cache *cache, const struct sharing *sharing, const struct cost *cost, size_t n_ranks, struct arena *arena)
{
	memset(cache, 0, sizeof *cache);
	shares_init(&cache->shares, sharing, cost, n_ranks, arena);
	cache->arena = arena;
	cache->n_ranks = n_ranks;
	number_sets(cache);
	cache->known = arena_zalloc(arena, cache->base[LANE_N], sizeof(struct rank_set *));
	cache->ranks = arena_zalloc(arena, n_ranks, sizeof *cache->ranks);
	cache->codes = arena_zalloc(arena, n_ranks, sizeof *cache->codes);
	cache->sets = arena_alloc(arena, n_ranks, sizeof(struct rank_set *));
	cache->n_words = (n_ranks + 63) / 64;
	cache->changed = arena_zalloc(arena, cache->n_words, sizeof *cache->changed);
	cache->answer = arena_alloc(arena, n_ranks, sizeof *cache->answer);
	cache->known[0] = set_new(cache, 0);
	for (size_t rank = 0; rank < n_ranks; rank++)
		cache->sets[rank] = cache->known[0];
	add_groups(cache);
	for (size_t which = 0; which < SHARED_N; which++)
		add_places(cache, which);
}

/* ---- ranks that meet */

static void meetings_init(struct speed_cache *cache)
{
	const size_t bytes = sizeof(struct meeting) + cache->n_group * (sizeof(struct speeds) + sizeof *cache->codes);
	for (cache->n_slots = SLOTS_MIN; 2 * cache->n_slots * bytes <= MEETINGS_BYTES;)
		cache->n_slots *= 2;
	cache->slots = arena_zalloc(cache->arena, cache->n_slots, sizeof(struct meeting *));
}

static uint64_t hash_of(const uint32_t *codes, size_t n, size_t offset)
{
	uint64_t hash = offset + 1;
	for (size_t i = 0; i < n; i++) {
		hash = (hash ^ codes[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

/* Room for one of as many ranks as a group has. */
static struct meeting *meeting_new(struct speed_cache *cache)
{
	struct meeting *const made = arena_zalloc(cache->arena, 1, sizeof *made);
	made->codes = arena_alloc(cache->arena, cache->n_group, sizeof *made->codes);
	made->speeds = arena_alloc(cache->arena, cache->n_group, sizeof *made->speeds);
	return made;
}

static bool is_meeting(const struct meeting *meeting, const struct meeting *asked)
{
	return meeting->hash == asked->hash && meeting->n == asked->n && meeting->offset == asked->offset &&
	    !memcmp(meeting->codes, asked->codes, asked->n * sizeof *asked->codes);
}

/* Where an answer is remembered, or is to be: an empty place, that of another meeting, or none when all of them are in use. */
static struct meeting *find_place(struct speed_cache *cache, const struct meeting *asked)
{
	struct meeting *other = NULL;
	for (size_t i = 0; i < N_PLACES; i++) {
		struct meeting **const slot = &cache->slots[(asked->hash + i) & (cache->n_slots - 1)];
		if (!*slot)
			return *slot = meeting_new(cache);
		if (is_meeting(*slot, asked))
			return *slot;
		if ((*slot)->question != cache->n_questions && (!other || (*slot)->question < other->question))
			other = *slot;
	}
	return other ? other : meeting_new(cache);
}

static const struct speeds *answer_meeting(struct speed_cache *cache, size_t first, size_t n)
{
	if (!cache->slots)
		meetings_init(cache);
	struct meeting asked = {
	    .n = (uint32_t)n, .offset = (uint32_t)(first % cache->n_group), .codes = &cache->codes[first]};
	asked.hash = hash_of(asked.codes, n, asked.offset);
	struct meeting *const place = find_place(cache, &asked);
	place->question = cache->n_questions;
	if (is_meeting(place, &asked))
		return place->speeds;
	place->hash = asked.hash;
	place->n = asked.n;
	place->offset = asked.offset;
	memcpy(place->codes, asked.codes, n * sizeof *asked.codes);
	shares_divide(&cache->shares, place->speeds, &cache->sets[first], first, n);
	cache->n_computed++;
	return place->speeds;
}

/* How many ranks from this one on meet, at least itself: a resource that its ranks may fill holds them together. */
static size_t meet(const struct speed_cache *cache, size_t first)
{
	size_t end = first + 1;
	for (size_t rank = first; rank < end; rank++)
		for (size_t i = 0; i < cache->n_places; i++) {
			const struct place *const place = cache->ranks[rank].places[i];
			if (place->end > end && shares_may_fill(place->ask))
				end = place->end;
		}
	return end - first;
}

/* ---- questions */

static void answer(struct speed_cache *cache, size_t rank, const struct speeds *speeds)
{
	cache->answer[cache->n_answered++] = (struct rank_speeds){rank, speeds};
}

static void answer_group(struct speed_cache *cache, struct group *group)
{
	group->has_met = group->n_full > 0;
	for (size_t first = group->first, n; first < group->end; first += n) {
		n = meet(cache, first);
		const bool meets = n > 1;
		if (!meets && !cache->ranks[first].is_open)
			continue;
		const struct speeds *const speeds = meets ? answer_meeting(cache, first, n) : &cache->sets[first]->alone;
		for (size_t i = 0; i < n; i++) {
			cache->ranks[first + i].is_open = meets;
			answer(cache, first + i, &speeds[i]);
		}
	}
}

/* Ranks that changed were answered as alone, from n_before on: right unless some of the group meet, or met. */
static void review_group(struct speed_cache *cache, struct group *group, size_t n_before)
{
	if (group->n_full == 0 && !group->has_met)
		return;
	cache->n_answered = n_before;
	answer_group(cache, group);
}

void speed_cache_ask(struct speed_cache *cache)
{
	struct group *group = NULL;
	size_t n_before = 0;
	cache->n_answered = 0;
	cache->n_questions++;
	for (size_t w = 0; w < cache->n_words; w++) {
		uint64_t changed = cache->changed[w];
		cache->changed[w] = 0;
		for (; changed; changed &= changed - 1) {
			const size_t rank = 64 * w + (size_t)__builtin_ctzll(changed);
			if (group && rank >= group->end)
				review_group(cache, group, n_before);
			if (group != cache->ranks[rank].group) {
				group = cache->ranks[rank].group;
				n_before = cache->n_answered;
			}
			refresh(cache, rank);
			answer(cache, rank, &cache->sets[rank]->alone);
		}
	}
	if (group)
		review_group(cache, group, n_before);
}
