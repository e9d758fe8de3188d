/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * strides: the closed form of an update for every stride, with contention and on an idle link, beside the exact recurrence.
 *
 * A schedule that does not wait for fetches (hybrid) has stride k as fraction 1/k.
 */
#ifndef SIM_STUDY_STRIDES_H
#define SIM_STUDY_STRIDES_H

#include "model/closed_form.h"

struct stride_point {
	size_t stride; /* 0: all on the CPU */
	double gpu_fraction_frac; /* of the parameters of a rank that are streamed */
	double update_s, idle_update_s; /* contended; DRAM infinite and link idle */
	enum res limit, idle_limit;
	double recurrence_s; /* exact, without contention; NAN when there are too many subgroups for all strides */
};

struct strides {
	struct stride_point *points; /* [n], strides 0..n_dynamic */
	size_t n;
	size_t stride_opt;
	double fraction_opt_frac, fraction_opt_s;
	double stride_balance, stride_balance_s; /* update time when it is used */
	double stride_balance_loss_frac; /* over that of stride_opt */
	struct lanes lanes, idle_lanes; /* of a window of stride_opt, or of all when it is 0 */
};

/* Closed form of the update at one stride, with contention. */
double strides_update_s(const struct cost *cost, const struct workload *workload, const struct interleave *how, size_t stride);
void strides_init(struct strides *strides, const struct cost *cost, const struct workload *workload, const struct interleave *how,
    struct arena *arena);

#endif
