/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * oracle: the fluid sharing model once more, written from its description and not from its code.
 *
 * Cores are dealt out one by one; the common level is found by bisection on the resources' use, which only grows with it.
 */
#ifndef TESTS_UNIT_ORACLE_H
#define TESTS_UNIT_ORACLE_H

#include "sim/shares.h"

/* A shared resource of ranks [first, end). */
struct oracle_pool {
	enum res res;
	double capacity;
	size_t first, end;
};

enum { ORACLE_POOLS_MAX = 256, ORACLE_RUNNING_MAX = 256 };

/* Returns how many pools all nodes have (folded: n_ranks 1). */
size_t oracle_pools(struct oracle_pool *pools, const struct cost *cost, size_t n_ranks);
/* What an operation asks of a pool at its alone speed, 0 if it is not of its ranks. */
double oracle_demand(const struct oracle_pool *pool, const struct running *running, const struct cost *cost);
/* Speed of each operation before sharing: cores and the other direction of the link. */
void oracle_caps(double *cap, const struct running *running, size_t n, const struct cost *cost);
void oracle_speeds(double *speed, const struct running *running, size_t n, const struct cost *cost, size_t n_ranks);

#endif
