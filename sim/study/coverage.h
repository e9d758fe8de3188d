/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * coverage: do the intervals contain what was measured? Of every compared value of a validation: its interval, without the machine's
 * own residuals in the discrepancy, and where in the predicted distribution the measurement lies.
 */
#ifndef SIM_STUDY_COVERAGE_H
#define SIM_STUDY_COVERAGE_H

#include "sim/study/interval.h"

struct covered {
	struct interval of[QUANTITY_N];
	double rank[QUANTITY_N]; /* probability of less than was measured; NAN when not measured, refused or excluded */
};

struct coverage {
	struct covered *rows; /* [validation->n] */
	size_t n_samples;
	unsigned long long seed;
};

/* A validation made with the same sharing. STATUS_INPUT as uncertainty_init. */
int coverage_find(struct coverage *coverage, const struct validation *validation, const struct uncertainty_options *options,
    struct arena *arena, struct err *err) MUST_CHECK;

struct coverage_counts {
	size_t n; /* compared values; what is refused counts as missed */
	size_t n_inside;
	double half_frac, parameter_frac, discrepancy_frac; /* medians; NAN without cases */
};
/* Which values: those that count, those of the fit, and what is not comparable (discrepancy_compares). */
enum coverage_part { COVERAGE_COUNTED, COVERAGE_IN_FIT, COVERAGE_OTHER };
/* hw NULL: all. quantity QUANTITY_N: all but iterations, which are sums of phases again. */
void coverage_count(struct coverage_counts *counts, const struct coverage *coverage, const struct validation *validation,
    size_t quantity, const char *hw, enum coverage_part part, struct arena *arena);
/* Share of the values that count that lie in the central interval of this probability. */
double coverage_at(const struct coverage *coverage, const struct validation *validation, size_t quantity, double level);

#endif
