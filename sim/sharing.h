/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sharing: at what fraction of their alone speed do operations run together?
 *
 * A sharing model is a pure function of the set of running operations, so the engine may remember its answers.
 * Source: DESIGN "Resources and sharing"; weighted max-min fairness by progressive filling (Bertsekas & Gallager, Data
 * Networks, 6.5). Equations: MODEL.md E3-E5.
 */
#ifndef SIM_SHARING_H
#define SIM_SHARING_H

#include <stdint.h>

#include "model/cost.h"

struct running {
	uint8_t kind; /* enum op_kind */
	uint16_t rank;
};

struct sharing {
	const char *name, *summary;
	/* speed[i] in (0, 1] and limit[i] (enum res: what holds it below 1, or RES_N) for n running operations, in order of
	 * (rank, lane). n_ranks is 1 for a folded run: then each node resource is divided by the ranks that share it. */
	void (*allocate)(double *speed, uint8_t *limit, const struct running *running, size_t n, const struct cost *cost,
	    size_t n_ranks);
};

extern const struct sharing sharing_none; /* DRAM, HBM, cores, roots infinite; directions independent */
extern const struct sharing sharing_fluid;
extern const struct sharing sharing_measured; /* needs a profile with a contention grid (n_corun > 0) */
extern const struct sharing *const sharing_all[]; /* NULL-terminated */
const struct sharing *sharing_find(const char *name); /* NULL when unknown */

#endif
