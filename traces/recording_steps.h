/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * recording_steps: iterations from marks, and the phases inside them.
 *
 * Iterations, by the first of these that a file has:
 *   step ranges (ProfilerStep#N, NVTX iteration): the ranges; those without GPU work are left out
 *   forward and update ranges: from a forward that follows an update (or nothing) to the next such forward; the last one to the end of its
 *     last update
 *   Optimizer.step: from the end of one run of optimizer steps to the end of the next; the first from the first thing recorded
 * Phases: their ranges, united; without ranges of its own, update is Optimizer.step, backward is from the first to the last autograd function
 * of a micro-batch, and forward is from the start of the iteration to backward. What overlaps belongs to what began first; the rest
 * of an iteration is "other".
 */
#ifndef TRACES_RECORDING_STEPS_H
#define TRACES_RECORDING_STEPS_H

#include "traces/recording.h"

/* Both need sorted events and marks. */
void recording_find_steps(struct recording *rec);
void recording_find_phases(struct recording *rec);

#endif
