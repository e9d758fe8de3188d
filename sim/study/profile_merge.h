/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profile_merge: one profile from those of several probe processes of one machine in one state.
 *
 * Joined are measured and fitted quantities, at every point of a curve and in every cell of the contention grid: geometric mean of two,
 * median of three or more (of an even number: geometric mean of the middle two). The interval of a value reaches from the lowest to the
 * highest bound, a profile without one counting with its value; that of a curve from the lowest to the highest factor, a profile's rates
 * against the joined ones (geometric mean over the points) times its own factors. Samples are put together. The constants of loaded DRAM
 * are fitted to the joined grid, their intervals those of that fit. All else must agree: counts, data sheet and assumed values, kinds,
 * points, cells, machine. What a profile does not give it does not know (an older probe, a root without its rate): the others say, and the
 * source says how many. "extra" is not kept: the reader does not keep it; raw results stay in the files that the sources name.
 *
 * Invariant: the order of profiles changes only the order of samples and sources. Same files, same result: the date is theirs.
 */
#ifndef SIM_STUDY_PROFILE_MERGE_H
#define SIM_STUDY_PROFILE_MERGE_H

#include "model/hwprofile.h"

struct profile_part {
	const struct hwprofile *hw;
	const char *file; /* as sources and messages name it */
};

struct profile_merge_head {
	const char *name; /* NULL: that of the parts, which then must agree */
	const char *command;
};

/* STATUS_NO names what differs. merged lives in the arena and borrows texts of the parts. */
int profile_merge(struct hwprofile *merged, const struct profile_part parts[], size_t n_parts, const struct profile_merge_head *head,
    struct arena *arena, struct err *err) MUST_CHECK;

#endif
