/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * closed_form: the update phase without simulation, and what is best by it. Two levels, both in MODEL.md:
 *   - recurrence.h: the exact finishing time of each schedule over the real list of subgroups without contention (the engine with
 *     contention `none` must agree to 1e-9; it is not computed by engine code);
 *   - lanes.h: the steady-state window formula of the paper with the DRAM lane. Here it becomes an update time and an optimum;
 *     windows.h: the windows of a stride with contention.
 *
 * is_contended false: DRAM infinite, link idle, as contention `none`; true: as `fluid`.
 */
#ifndef MODEL_CLOSED_FORM_H
#define MODEL_CLOSED_FORM_H

#include "model/interleave.h"
#include "model/lanes.h"
#include "model/recurrence.h"

/* T_update(k) of `how` with another stride: without contention full windows at the largest lane, first window, rest and tail (E18); with
 * it windows that are followed (E35). k = 0, or above n_dynamic: all on the CPU. With the parameters that stride k really streams: O(n)
 * for up to 256 unequal subgroups, O(n/k) for more, O(log k) for equal ones. */
double stride_update_s(const struct cost *cost, const struct workload *workload, const struct interleave *how,
    size_t stride, bool is_contended);
/* argmin over k = 0..n of it, contended; smallest k on ties. how->stride is not read. E19 */
size_t stride_opt(const struct cost *cost, const struct workload *workload, const struct interleave *how);
/* The paper's balance of an idle link. E20 */
double stride_balance(const struct cost *cost, const struct workload *workload, bool is_half_duplex);

/* T_update(f) with fraction f of the dynamic subgroups streamed and everything queued up front: every lane with what must run before
 * its first and after its last operation (E21). */
double fraction_update_s(const struct cost *cost, const struct workload *workload, const struct interleave *how,
    double fraction, bool is_contended);
/* Fraction in [0, 1] that minimises it, contended, and its time. E22 */
double fraction_opt_frac(
    double *best_s, const struct cost *cost, const struct workload *workload, const struct interleave *how);

/* Backward with gradient buckets, as a limit: `compute_s` of GPU work beside (or, blocking, in series with) a serial reduce stream
 * that runs one of the buckets behind. cpu_params: of a rank, those whose gradients the host needs, at host_bytes each when
 * asynchronous (0: the GPU keeps all). E7 */
double backward_limit_s(const struct cost *cost, const struct workload *workload, double compute_s, double cpu_params,
    double host_bytes, bool is_blocking);

#endif
