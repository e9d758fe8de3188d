/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sample_latency: what a contention grid knows jointly of the constants of loaded DRAM (MODEL.md E32). Each alone may be off by a
 * tenth to a half; but a higher limit with more load per byte says nearly the same of every cell, and drawing them one by one would
 * contradict the grid.
 */
#ifndef SIM_STUDY_SAMPLE_LATENCY_H
#define SIM_STUDY_SAMPLE_LATENCY_H

#include "sim/study/sample.h"

/* Lets the constants vary as the cells of the profile's own grid have it: linear in their logarithms, with the errors of the fit as noise.
 * Nothing where they have no intervals. Call it before any other observation. */
void sampler_join_latency(struct sampler *sampler, const struct hwprofile *hw, struct arena *arena);

#endif
