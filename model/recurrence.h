/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * recurrence: the exact finishing time of the update of each schedule without contention (MODEL.md E8-E14).
 *
 * Lanes serialise and nothing else is shared, so a finishing time is a max-plus expression of the durations; it is evaluated
 * over the real list of subgroups in O(n). The engine with contention `none` must agree to 1e-9, and shares no code.
 *
 * All results: seconds from the start of the update (MAIN idle, device idle, after any start-of-step work) to MAIN's end of it.
 * Subgroup sizes are workload->subgroups.
 */
#ifndef MODEL_RECURRENCE_H
#define MODEL_RECURRENCE_H

#include "model/interleave.h"

/* `dos` and, when !how->waits_for_fetch, `hybrid` (prefetch=step). */
double recurrence_interleave_s(const struct cost *cost, const struct workload *workload, const struct interleave *how);
double recurrence_zero3_s(const struct cost *cost, const struct workload *workload);
double recurrence_twinflow_s(const struct cost *cost, const struct workload *workload, size_t n_cpu, bool is_parallel);
double recurrence_gpu_only_s(const struct cost *cost, const struct workload *workload);

#endif
