/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * latency_fit: the constants of loaded latency (latency.h, MODEL.md E32) from co-runs of two users, and how well these tell them.
 *
 * Source: bounded least squares by Levenberg and Marquardt (Nocedal and Wright, Numerical Optimization, 2006, 10.3); intervals by the
 * profile of the sum of squares (Bates and Watts, Nonlinear Regression Analysis, 1988, 6.1).
 */
#ifndef MODEL_BASE_LATENCY_FIT_H
#define MODEL_BASE_LATENCY_FIT_H

#include <stdbool.h>
#include <stddef.h>

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

/* Log errors of the speeds of a pair by the constants, that of the CPU kernel first; returns how many there are. */
enum { LATENCY_ERRORS_MAX = 2 };
size_t latency_errors(double errors[LATENCY_ERRORS_MAX], const struct latency_pair *pair, const struct latency_constants *constants);

/* Constants that minimise the sum of squared log errors of the speeds; error_frac: its root mean. false (constants all 0) when the pairs
 * cannot tell: fewer than three with each direction, or a limit that no pair comes near. */
bool latency_fit(struct latency_constants *constants, double *error_frac, const struct latency_pair *pairs, size_t n_pairs);

/* 95 % intervals of what latency_fit found: lo <= fitted <= hi, up to the ends of what a constant may be where nothing speaks against it. */
void latency_intervals(struct latency_constants *lo, struct latency_constants *hi, const struct latency_constants *fitted,
    const struct latency_pair *pairs, size_t n_pairs);

#endif
