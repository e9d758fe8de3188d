/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profile_latency: the constants of DRAM latency (MODEL.md E32), fitted to a profile's contention grid.
 */
#ifndef SIM_STUDY_PROFILE_LATENCY_H
#define SIM_STUDY_PROFILE_LATENCY_H

#include "model/base/latency_fit.h"
#include "model/hwprofile.h"

/* The cells of its grid that say something of latency: pairs has n_corun elements; returns how many. */
size_t profile_latency_pairs(struct latency_pair *pairs, const struct hwprofile *hw);
/* The constants that it has. */
struct latency_constants profile_latency_constants(const struct hwprofile *hw);

/* Sets them, with their intervals and source; leaves the profile as it is where its grid cannot tell (latency_fit). Sources live in the arena. */
void profile_fit_latency(struct hwprofile *hw, struct arena *arena);

/* Takes them and the grid away: DRAM is shared by weights again (E3). For a profile that stands for another machine. */
void profile_forget_latency(struct hwprofile *hw, struct arena *arena);

#endif
