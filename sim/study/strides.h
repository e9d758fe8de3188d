/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * strides: the closed form of an update over its stride, with contention and on an idle link, beside the exact recurrence.
 *
 * A schedule that does not wait for fetches (hybrid) has stride k as fraction 1/k.
 */
#ifndef SIM_STUDY_STRIDES_H
#define SIM_STUDY_STRIDES_H

#include "model/closed_form.h"
#include "model/stride_curve.h"

struct stride_point {
	size_t stride; /* 0: all on the CPU */
	double gpu_fraction_frac; /* of the parameters of a rank that are streamed */
	double update_s, idle_update_s; /* contended; DRAM infinite and link idle */
	enum res limit, idle_limit;
	double recurrence_s; /* exact, without contention; NAN when there are too many subgroups */
};

struct strides {
	struct stride_point *points; /* [n], rising strides */
	size_t n, n_all; /* listed; 0..n_dynamic */
	size_t stride_opt, opt; /* opt: its index among the points */
	double fraction_opt_frac, fraction_opt_s;
	double stride_balance, stride_balance_s; /* update time when it is used */
	double stride_balance_loss_frac; /* over that of stride_opt */
	struct lanes lanes, idle_lanes; /* of a window of stride_opt, or of all when it is 0 */
};

/* SHOWN: the first, the last, stride_opt and stride_balance. ALL: every one of up to STRIDES_ALL_MAX subgroups; of more the first
 * thousand, then fewer and fewer, and those named. The best is that of all strides, listed or not. */
enum strides_listed { STRIDES_SHOWN, STRIDES_ALL };
enum { STRIDES_ALL_MAX = 4096, STRIDES_POINTS_MAX = STRIDES_ALL_MAX + 1 };

struct strides_query {
	const struct cost *cost; /* all borrowed */
	const struct workload *workload;
	const struct interleave *how;
	enum strides_listed listed;
	bool is_best; /* the stride of `how` is known to be stride_opt: it is not searched */
};

/* Closed form of the update at one stride. */
double strides_update_s(struct stride_curve *curve, size_t stride);
void strides_init(struct strides *strides, const struct strides_query *query, struct arena *arena);

#endif
