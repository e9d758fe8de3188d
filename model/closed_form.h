/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * closed_form: the update phase without simulation. Two levels, both in MODEL.md:
 *   - the exact finishing time of each schedule over the real list of subgroups without contention, as a recurrence (the
 *     engine with contention `none` must agree to 1e-9; it is not computed by engine code);
 *   - lanes: the steady-state window formula of the paper with the DRAM lane, and its optimum.
 */
#ifndef MODEL_CLOSED_FORM_H
#define MODEL_CLOSED_FORM_H

#include <stdbool.h>

#include "model/cost.h"

enum chain { CHAIN_PUBLISHED, CHAIN_SERIAL, CHAIN_DUPLEX };
enum downscale { DOWNSCALE_BATCH, DOWNSCALE_EAGER, DOWNSCALE_FUSED };
extern const char *const chain_names[]; /* NULL-terminated, also the words of policy options */
extern const char *const downscale_names[];

/* Options of an interleaved update that its time depends on. */
struct interleave {
	enum chain chain;
	enum downscale downscale;
	size_t buffers; /* device buffer sets, >= 1 */
	bool has_bf16_grads; /* gradients on the host are 16 bit */
	bool has_separate_unscale; /* unscale is a pass of its own (fp32 gradients only) */
	bool waits_for_fetch; /* true: `dos` (windows, MAIN blocks); false: `hybrid` (all queued up front) */
	size_t stride; /* windows of `dos`; 0: none is GPU-scheduled */
	const bool *on_gpu; /* [n_dynamic] GPU-scheduled subgroups, borrowed */
	size_t n_dynamic; /* subgroups that are not GPU-resident; the others follow them */
};

/* Seconds from the start of the update (MAIN idle, device idle, after any start-of-step work) to MAIN's end of the update.
 * Subgroup sizes are workload->subgroups. */
double recurrence_interleave_s(const struct cost *cost, const struct workload *workload, const struct interleave *how);
double recurrence_zero3_s(const struct cost *cost, const struct workload *workload);
double recurrence_twinflow_s(const struct cost *cost, const struct workload *workload, size_t n_cpu, bool is_parallel);
double recurrence_gpu_only_s(const struct cost *cost, const struct workload *workload);

/* Lanes of one stride window or, with a free fraction, of the whole update; seconds. */
struct lanes {
	double cpu_s, cast_s, h2d_s, d2h_s, gpu_s, chain_s, dram_s;
};
struct lanes_limit {
	double s; /* the largest lane */
	enum res res; /* which */
};
/* Lanes per stride window of `stride` equal subgroups of mean size. with_dram false: the paper's idle-link form. */
void lanes_window(struct lanes *lanes, const struct cost *cost, const struct workload *workload, const struct interleave *how,
    double stride);
/* Lanes of a whole update with GPU fraction f (all lanes overlap). */
void lanes_fraction(struct lanes *lanes, const struct cost *cost, const struct workload *workload, const struct interleave *how,
    double fraction);
struct lanes_limit lanes_max(const struct lanes *lanes, bool with_dram);

/* T_update(k): window limit times n/k plus fill and tail; k = 0: all on the CPU. */
double stride_update_s(const struct cost *cost, const struct workload *workload, const struct interleave *how, size_t stride,
    bool with_dram);
/* argmin over k = 1..n and 0 (all CPU); smallest k on ties. */
size_t stride_opt(const struct cost *cost, const struct workload *workload, const struct interleave *how);
/* The paper's balance of an idle link. */
double stride_balance(const struct cost *cost, const struct workload *workload, bool is_half_duplex);
/* Fraction in [0, 1] that minimises lanes_max(lanes_fraction), and its time (GSL minimiser on the piecewise-linear convex function). */
double fraction_opt_frac(double *best_s, const struct cost *cost, const struct workload *workload, const struct interleave *how);

#endif
