/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stride_curve: the time of an update over its stride or its fraction, for many of them: what they share is worked out once.
 *
 * Holds for the cost, the workload and the options that it was made of, for as long as those do not change.
 */
#ifndef MODEL_STRIDE_CURVE_H
#define MODEL_STRIDE_CURVE_H

#include "model/lanes.h"
#include "model/windows.h"

struct stride_curve {
	const struct cost *cost; /* borrowed, as the workload */
	const struct workload *workload;
	struct interleave how; /* stride and on_gpu are not read */
	bool is_contended;
	double n, params, mean_params; /* dynamic subgroups, and their parameters */
	double resident_s; /* GPU Adams of the subgroups that follow */
	bool is_equal; /* all subgroups are of one size */
	bool has_each; /* windows are followed by the list of subgroups, not by their mean */
	struct subgroup_times mean, each[WINDOWS_LIST_MAX];
	struct window_speeds speeds;
};

void stride_curve_init(struct stride_curve *curve, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, bool is_contended);
/* Is it of these? Whoever changes a cost or a workload in place sets cost to NULL. */
bool stride_curve_is_of(const struct stride_curve *curve, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, bool is_contended);
/* stride_update_s, stride_opt and fraction_update_s of closed_form.h. */
double stride_curve_s(struct stride_curve *curve, size_t stride);
size_t stride_curve_opt(struct stride_curve *curve);
/* Of a window of `stride` equal subgroups of mean size, one of them streamed; of all on the CPU where it is 0 or above n_dynamic. */
void stride_curve_lanes(struct lanes *lanes, const struct stride_curve *curve, size_t stride);
double stride_curve_fraction_s(const struct stride_curve *curve, double fraction);

#endif
