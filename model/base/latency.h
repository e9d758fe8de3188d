/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * latency: a memory that grows slower with its load, long before it is full. MODEL.md E32
 *
 * A load of U bytes/s makes an access 1 / (1 - U / C) as long as in an idle memory. A CPU kernel keeps a fixed number of accesses
 * open, so its speed falls as latency grows; copy engines queue more of them, and writes are posted: they follow latency in part
 * or not at all, and load the memory less for a byte than a CPU kernel does.
 *
 * Source: closed queueing networks (Lazowska et al., Quantitative System Performance, 1984, 6: mean value analysis) with the open
 * M/M/1 law of response time for the memory; the constants are fitted to co-runs of two users.
 */
#ifndef MODEL_BASE_LATENCY_H
#define MODEL_BASE_LATENCY_H

#include <stdbool.h>
#include <stddef.h>

struct latency_user {
	double load_Bps; /* on the memory, when it runs alone; below the limit */
	double follows_frac; /* of the growth of latency that its own time grows by: 1 CPU kernel, 0 posted writes */
};

/* Speeds in (0, 1] of n users that share a memory of limit_Bps > 0, relative to each alone. n_copies >= 1: of every user, all alike. */
void latency_speeds(double *speeds, const struct latency_user *users, size_t n, double limit_Bps, double n_copies);

/* A cell of a contention grid: CPU Adam beside copies, the downscale worker, or Adam of other ranks. Rates of one rank, in the unit
 * of the activity. */
struct latency_cell {
	const char *first, *second; /* "cpu_adam"; "h2d", "d2h", "duplex", "cpu_downscale", "cpu_adam" */
	double first_threads, second_threads;
	double first_alone, first_together, second_alone, second_together;
	double ranks; /* that did the same at once */
	double root_Bps, gpus_per_root; /* pcie_root_Bps and its GPUs; 0 or no bound: none is known */
};

/* Two users measured alone and together: a CPU kernel of some threads, and copies or a downscale. */
enum latency_other { LATENCY_H2D, LATENCY_D2H, LATENCY_DUPLEX, LATENCY_DOWNSCALE, LATENCY_NONE };
struct latency_pair {
	enum latency_other other;
	double cpu_Bps, other_Bps; /* traffic of each alone; of LATENCY_DUPLEX both directions together */
	double cpu_frac, other_frac; /* speeds together over alone */
	double ranks;
	double root_Bps; /* the most that the copies get; 0: no limit */
};

/* false where a cell says nothing of latency: other activities, or more threads than a rank's hardware threads. Bytes: of a parameter. */
bool latency_pair_of(struct latency_pair *pair, const struct latency_cell *cell, double hw_threads, double adam_bytes,
    double downscale_bytes);

/* Where the constants come from, in a profile: how many pairs, the error in per cent. */
#define LATENCY_SOURCE "loaded latency (E32) fitted to %zu co-runs of the grid, rms error %.1f %%"

struct latency_constants {
	double limit_Bps; /* C */
	double h2d_load, d2h_load; /* of a byte copied; that of a byte of a CPU kernel is 1 */
	double h2d_follows_frac, d2h_follows_frac, downscale_follows_frac;
};

/* The constants by the names that a profile gives them. */
enum { LATENCY_CONSTANTS_N = 6 };
struct latency_member {
	const char *name;
	size_t offset; /* of a double in struct latency_constants */
};
extern const struct latency_member latency_members[LATENCY_CONSTANTS_N];
double latency_constant(const struct latency_constants *constants, size_t i);

/* Constants that minimise the sum of squared log errors of the speeds; error_frac: its root mean. false (constants all 0) when the pairs
 * cannot tell: fewer than three with each direction, or a limit that no pair comes near. */
bool latency_fit(struct latency_constants *constants, double *error_frac, const struct latency_pair *pairs, size_t n_pairs);

#endif
