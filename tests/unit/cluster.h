/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cluster: every rank of every node written out, from the schedule of a folded trial; what the folding is compared with.
 *
 * Each rank has lanes, DRAM, cores and roots of its own node (sharing takes a rank to its node), and a collective starts when all
 * ranks of all nodes have what it waits for. Durations of collectives are those of the whole (MODEL.md E25), as in the folded run.
 * All-reduces of tensor parallelism stay inside a node and are a rank's own.
 */
#ifndef TESTS_UNIT_CLUSTER_H
#define TESTS_UNIT_CLUSTER_H

#include "sim/study/trial.h"

struct cluster {
	struct schedule schedule;
	struct timeline timeline;
	struct metrics metrics; /* rank 0, as always */
	size_t n_ranks;
	op_id *ids; /* [operation of the folded schedule][rank] */
};

/* `one` has run folded. slowdown: factors on the CPU kernels' times, a node each; NULL: none. */
void cluster_run(struct cluster *cluster, const struct trial *one, const struct sharing *sharing, const double *slowdown,
    struct arena *arena);

#endif
