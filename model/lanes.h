/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lanes: how long each resource is busy in a stretch of interleaved update, if all of them overlap perfectly (MODEL.md E15-E17).
 * The largest lane is the steady-state time of the stretch; it is also what limits.
 *
 * Without contention DRAM is infinite and the two directions of the link are independent (the paper's idle link), so the lanes are
 * the limit of the recurrence. With it, those of windows are lower bounds of the fluid simulation (E17); where lanes race (E33) they
 * are estimates.
 */
#ifndef MODEL_LANES_H
#define MODEL_LANES_H

#include "model/interleave.h"

struct lanes {
	double cpu_s; /* MAIN: unscale, Adam, host overhead */
	double cast_s; /* WORKER */
	double h2d_s, d2h_s;
	double first_s, fetches_s; /* of h2d_s: until the first and the last fetch have come; pushes follow. No lanes of their own */
	double gpu_s;
	double chain_s; /* write-back -> fetch -> update of one buffer set */
	double dram_s, root_s; /* of the domain and the root, all ranks that share them; 0 without contention */
};
struct lanes_limit {
	double s; /* the largest lane, the first of the struct on ties */
	enum res res; /* what to scale to shorten it */
	const char *name; /* "cpu", "cast", "h2d", "d2h", "gpu", "chain", "dram", "root" */
};

/* A stretch: so many subgroups on the CPU and so many streamed, real numbers. */
struct lanes_split {
	double n_cpu, n_gpu;
	bool is_whole; /* a whole update: with contention, d2h_s is from its start, and begins with the first fetch's end */
	struct subgroup_times cpu, gpu; /* of a subgroup of either kind */
};

/* E15-E17, E33 */
void lanes_of(struct lanes *lanes, const struct cost *cost, const struct interleave *how, const struct lanes_split *split,
    bool is_contended);
/* Of a whole update of the dynamic subgroups with GPU fraction f of them. */
void lanes_fraction(struct lanes *lanes, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, double fraction, bool is_contended);
struct lanes_limit lanes_max(const struct lanes *lanes);

/* Of CPU kernel, downscale, H2D and D2H, those that run at once: what cores (E4), link (E5), PCIe root and DRAM (E3, E32) leave them of
 * their alone speeds. kinds, runs: by lane. */
void lanes_speeds(double speeds[], const enum op_kind kinds[], const bool runs[], const struct cost *cost);
/* Seconds that an activity takes beside another, when each keeps only a fraction of its speed while both run and they start
 * together. E16 */
double lanes_beside_s(double alone_s, double kept_frac, double other_alone_s, double other_kept_frac);
/* One turn of a buffer set: from the start of a gpu adam to that of the next in the same set. E15 */
double lanes_turn_s(
    const struct cost *cost, const struct interleave *how, const struct subgroup_times *times, bool is_contended);
/* Mean parameters of the dynamic subgroups; 0 when there is none. */
double lanes_mean_params(const struct workload *workload, const struct interleave *how);

#endif
