/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sweep: runs the points of a grid that a store does not have yet, on several threads, and stores them.
 *
 * Workers claim runs of points in order and fill slots of a bounded ring; the caller's thread is the only writer and commits
 * in the order of the grid, whatever the number of workers. So the store's contents are the same at any number, and memory
 * does not depend on the number of points. Finished is committed: every 100 ms or 5,000 rows.
 */
#ifndef SIM_STUDY_SWEEP_H
#define SIM_STUDY_SWEEP_H

#include <stdatomic.h>

#include "sim/study/grid.h"
#include "sim/study/store.h"

struct sweep_counts {
	size_t n_points; /* of this shard */
	size_t n_done; /* committed, or there before */
	size_t n_new, n_present; /* stored now; there before, or equal to another point */
	size_t n_unfit, n_refused; /* of the new ones: do not fit; cannot be */
	char refusal[256]; /* reason of the first refused one */
	double elapsed_s;
};

struct sweep {
	const struct grid *grid;
	const char *db; /* path */
	size_t n_workers; /* >= 1 */
	size_t shard, n_shards; /* points with index % n_shards == shard */
	size_t limit; /* only the first points of the grid; 0: all */
	bool is_closed_form;
	const atomic_int *stop; /* borrowed; not 0: finish what is at hand, and end. May be NULL */
	/* Called after every commit, and at least twice a second. May be NULL. */
	void (*progress)(void *context, const struct sweep_counts *counts);
	void *context;
};

/* Points of this shard. */
size_t sweep_n_points(const struct sweep *sweep);

/* STATUS_INTERRUPTED when stopped; what is counted as done is committed then too, as after every other error. */
int sweep_run(struct sweep_counts *counts, const struct sweep *sweep, struct err *err) MUST_CHECK;

#endif
