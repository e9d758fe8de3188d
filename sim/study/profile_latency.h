/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profile_latency: the constants of DRAM latency (MODEL.md E32), fitted to a profile's contention grid.
 */
#ifndef SIM_STUDY_PROFILE_LATENCY_H
#define SIM_STUDY_PROFILE_LATENCY_H

#include "model/hwprofile.h"

/* Sets them, with their source; leaves the profile as it is where its grid cannot tell (latency_fit). Sources live in the arena. */
void profile_fit_latency(struct hwprofile *hw, struct arena *arena);

/* Takes them and the grid away: DRAM is shared by weights again (E3). For a profile that stands for another machine. */
void profile_forget_latency(struct hwprofile *hw, struct arena *arena);

#endif
