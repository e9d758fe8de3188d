/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * shares: divides what ranks and operations share. Weighted max-min fairness by progressive filling (E3): a common level
 * rises until a resource is full, its users keep the speed of that level, and so on with the others. The level of one
 * resource: model/base/maxmin.h.
 *
 * Invariant: the last bit of an answer does not depend on what else is looked at. Resources that their users cannot fill
 * are left out, by a margin above rounding; all other sums run over users in order of (rank, lane). DRAM whose latency is known
 * comes first: its users are slowed by its load (E32), and what is left of them divides the rest.
 * Source: Bertsekas & Gallager, Data Networks, 6.5; MODEL.md E3.
 */
#ifndef SIM_SHARES_H
#define SIM_SHARES_H

#include "model/base/arena.h"
#include "sim/sharing.h"

/* Lanes of a rank, rounded up so that ranks begin at whole bytes of a set of lanes. */
enum { RANK_LANES = 8, SHARED_N = 4 };

/* Speeds of what runs on one rank, by lane; not set where nothing does. */
struct speeds {
	double speed[RANK_LANES];
	uint8_t limit[RANK_LANES]; /* enum res, RES_N: runs at its alone speed */
};

/* A resource of a node; ranks of the node that follow each other share one. */
struct shared {
	enum res res;
	size_t n_sharing; /* ranks; 0: without limit */
	double capacity_Bps;
	double latency_Bps; /* > 0: not divided, but slower for all the more it is loaded (E32); load without bound */
	double demand_Bps[OP_N]; /* of each kind at alone speed; its load where there is latency_Bps */
};

/* A capacity in whole numbers, whose sums are exact; asks are rounded up, so what fits by whole numbers fits. */
#define SHARES_WHOLE ((uint64_t)1 << 32)

/* What runs on one rank. */
struct rank_set {
	uint64_t ask[SHARED_N]; /* all together at their caps, SHARES_WHOLE: the capacity of the resource */
	struct speeds alone; /* when no other rank is in the way */
	struct speeds cap; /* before anything is shared */
	uint8_t kinds[RANK_LANES];
	uint8_t lanes; /* that hold something, as bits */
	uint8_t users[SHARED_N]; /* lanes that use each resource, as bits */
	uint8_t uses[RANK_LANES]; /* the same by lane: resources, as bits */
	uint8_t fills; /* resources that this set alone may fill, as bits */
};

struct filling;

struct shares {
	const struct sharing *sharing; /* borrowed, as cost */
	const struct cost *cost;
	size_t n_ranks, ranks_per_node;
	struct shared shared[SHARED_N];
	double weight[OP_N];
	struct filling *filling; /* scratch */
};

/* n_ranks is 1 for a folded run: then each resource is divided by the ranks that share it. */
void shares_init(
    struct shares *shares, const struct sharing *sharing, const struct cost *cost, size_t n_ranks, struct arena *arena);
/* Can users that ask so much at their caps fill a resource? The margin is far above rounding. */
static inline bool shares_may_fill(uint64_t ask)
{
	return ask > SHARES_WHOLE - 1024;
}
/* The rank after the last that shares a resource, which has a limit, with this one. */
static inline size_t shares_end(const struct shares *shares, size_t which, size_t rank)
{
	const size_t in_node = rank % shares->ranks_per_node, n_sharing = shares->shared[which].n_sharing;
	const size_t end = in_node - in_node % n_sharing + n_sharing;
	return rank - in_node + (end < shares->ranks_per_node ? end : shares->ranks_per_node);
}
/* Completes a set of which kinds and lanes are given. */
void shares_rank_set(struct shares *shares, struct rank_set *set);
/* Speeds of n ranks from `first` on; no other rank uses a resource that these can fill. */
void shares_divide(
    struct shares *shares, struct speeds *speeds, const struct rank_set *const *sets, size_t first, size_t n);

struct running {
	uint8_t kind; /* enum op_kind */
	uint16_t rank;
};
/* For single questions: speed[i] in (0, 1] and limit[i] of n running operations in order of (rank, lane), at most
 * RANK_LANES of a rank. */
void shares_allocate(
    struct shares *shares, double *speed, uint8_t *limit, const struct running *running, size_t n, struct arena *arena);

#endif
