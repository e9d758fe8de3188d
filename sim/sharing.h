/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sharing: at what fraction of their alone speed do operations run together?
 *
 * A model says what the operations of one rank leave each other (cores E4, the two directions of a link E5), and whether
 * DRAM, PCIe roots and HBM are then divided among their users (E3, sim/shares.h). Answers are pure functions of the set of
 * running operations, so the engine may remember them.
 */
#ifndef SIM_SHARING_H
#define SIM_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"

struct sharing {
	const char *name, *summary;
	/* cap[i] in (0, 1] and limit[i] (enum res: what holds it below 1, or RES_N) for the n operations that run on one rank,
	 * in order of lane; kinds: enum op_kind. */
	void (*cap)(double *cap, uint8_t *limit, const uint8_t *kinds, size_t n, const struct cost *cost);
	bool divides_resources; /* E3 after that; else caps are speeds, and ranks do not meet */
};

extern const struct sharing sharing_none; /* DRAM, HBM, cores, roots infinite; directions independent */
extern const struct sharing sharing_fluid;
extern const struct sharing sharing_measured; /* needs a profile with a contention grid (n_corun > 0) */
extern const struct sharing *const sharing_all[]; /* NULL-terminated */
const struct sharing *sharing_find(const char *name); /* NULL when unknown */

#endif
