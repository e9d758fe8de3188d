/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay_rates: how long operations of a class take, from a part of the recorded ones.
 *
 * A sample is an amount (bytes, or 1) and a time. Those of the fitted half make the class's rate; the other half is what a prediction
 * is compared with. Halves are alternate iterations, or alternate operations of a class where there is one iteration.
 */
#ifndef SIM_STUDY_REPLAY_RATES_H
#define SIM_STUDY_REPLAY_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay_class {
	uint64_t key; /* 0: free slot */
	double amount, ns; /* sums over the fitted half */
	uint32_t n_fitted, n_seen;
};

struct replay_rates {
	struct replay_class *classes; /* heap, open addressing */
	size_t n, capacity;
	bool by_iteration; /* halves are alternate iterations; else alternate samples */
	/* of all predictions */
	double predicted_ns; /* sum of times */
	double single_ns; /* part of it that is the recorded time itself: no sample of its class in the fitted half */
};

void replay_rates_init(struct replay_rates *rates, bool by_iteration);
void replay_rates_release(struct replay_rates *rates);
uint64_t replay_key(unsigned kind, uint32_t a, uint32_t b);

void replay_rates_add(struct replay_rates *rates, uint64_t key, double amount, int64_t ns, size_t iteration);
/* From the class, else from the coarser one (0: none), else as recorded. */
double replay_rates_predict_ns(
    struct replay_rates *rates, uint64_t key, uint64_t coarse_key, double amount, int64_t recorded_ns);

#endif
