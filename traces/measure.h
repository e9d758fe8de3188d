/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * measure: how busy the lanes of a recording were: time under every combination of busy lanes, and bytes moved.
 *
 * Invariant: the times of a measure add up to the length of its span, so shares, overlaps and gaps all follow from them. Overlapping
 * events of one lane count once. Bytes count where a copy starts.
 */
#ifndef TRACES_MEASURE_H
#define TRACES_MEASURE_H

#include "traces/recording.h"

enum busy {
	BUSY_COMPUTE = 1, /* kernels, fills and copies inside the GPU */
	BUSY_H2D = 2,
	BUSY_D2H = 4,
	BUSY_HOST = 8, /* recorded host work on the optimizer */
	BUSY_N = 16
};

struct measure {
	int64_t time_ns[BUSY_N];
	uint64_t h2d_bytes, d2h_bytes, pageable_bytes;
	size_t n_unsized; /* copies whose bytes the file does not say */
	int64_t longest_gap_ns; /* longest stretch in which nothing is busy */
};

struct measures {
	struct measure *of_phase; /* [iteration * PHASE_N + phase], heap */
	size_t n_iterations;
};

void measures_take(struct measures *measures, const struct recording *rec);
void measures_release(struct measures *measures);

/* Adds b to *a. */
void measure_add(struct measure *a, const struct measure *b);
/* One iteration, or one phase of all iterations. */
struct measure measure_iteration(const struct measures *measures, size_t iteration);
struct measure measure_phase(const struct measures *measures, enum phase phase);

int64_t measure_total_ns(const struct measure *m);
/* Time in which any of these lanes is busy and none of the others given. */
int64_t measure_busy_ns(const struct measure *m, unsigned any_of, unsigned none_of);
/* Copies without GPU compute or recorded host work beside them. */
int64_t measure_exposed_ns(const struct measure *m);
int64_t measure_gap_ns(const struct measure *m);
/* "gpu", "h2d", "d2h", or "host" when the GPU and both engines are idle for longest; "" for no time at all. */
const char *measure_limit(const struct measure *m);

#endif
