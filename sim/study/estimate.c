/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/estimate.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/base/latency.h"
#include "model/split.h"
#include "sim/study/use_interleave.h"

static const void *member(const struct policy_use *use, const char *name)
{
	const struct opt *const opt = opt_find(use->policy->opts, use->policy->n_opts, name, strlen(name));
	return opt ? (const char *)use->params + opt->offset : NULL;
}

/* ---- interleaved */

/* The realised fraction of a mask, or the option. */
static double fraction_of(const struct policy_use *use)
{
	const char *const *const mask = member(use, "mask");
	const double *const fraction = member(use, "fraction");
	size_t n_streamed = 0;

	if (!mask || !*mask) {
		assert(fraction); /* asked only of policies that have the one or the other */
		return *fraction;
	}
	for (const char *digit = *mask; *digit; digit++)
		n_streamed += *digit == '1';
	return (double)n_streamed / (double)strlen(*mask);
}

static int interleaved(struct estimate *e, struct stride_curve *curve, const struct policy_use *use, const struct cost *cost,
    const struct workload *workload, bool is_contended, struct err *err)
{
	const long long *const stride = member(use, "stride");
	struct interleave how;
	struct lanes lanes;

	if (use_interleave(&how, use, workload, err))
		return err->code;
	if (!stride_curve_is_of(curve, cost, workload, &how, is_contended))
		stride_curve_init(curve, cost, workload, &how, is_contended);
	if (!stride) {
		const double fraction = fraction_of(use);
		e->update_s = stride_curve_fraction_s(curve, fraction);
		lanes_fraction(&lanes, cost, workload, &how, fraction, is_contended);
	} else {
		e->update_s = stride_curve_s(curve, (size_t)*stride);
		stride_curve_lanes(&lanes, curve, (size_t)*stride);
	}
	e->bottleneck = lanes_max(&lanes).res;
	return 0;
}

/* ---- in a row */

/* Identical ranks run the same operation at the same time: all are slowed alike, by the latency of their loads (E32) or where they ask
 * for more than the DRAM gives. */
static void slow_down(struct cost *slowed, const struct cost *cost)
{
	*slowed = *cost;
	for (size_t kind = 0; kind < OP_N; kind++) {
		const struct op_class *const class = &cost->classes[kind];
		const struct latency_user user = {class->dram_load_Bps, class->latency_frac};
		double speed = fmin(1, cost->dram_limit_Bps / (cost->ranks_per_domain * class->dram_load_Bps));
		if (cost->hw->dram_latency_Bps > 0)
			latency_speeds(&speed, &user, 1, cost->dram_limit_Bps, cost->ranks_per_domain);
		slowed->classes[kind].s_per_unit /= speed;
	}
}

static double zero3_s(const struct cost *cost, const struct workload *workload, const struct policy_use *use)
{
	(void)use;
	return recurrence_zero3_s(cost, workload);
}

static double twinflow_s(const struct cost *cost, const struct workload *workload, const struct policy_use *use)
{
	const double *const ratio = member(use, "ratio");
	const int *const mode = member(use, "mode"); /* serial, parallel */

	assert(ratio && mode); /* options of twinflow */
	return recurrence_twinflow_s(cost, workload, (size_t)(*ratio * (double)workload->n_subgroups + 1e-9), *mode == 1);
}

static double gpu_only_s(const struct cost *cost, const struct workload *workload, const struct policy_use *use)
{
	(void)use;
	return recurrence_gpu_only_s(cost, workload);
}

static const struct {
	const char *policy;
	double (*update_s)(const struct cost *cost, const struct workload *workload, const struct policy_use *use);
	enum res bottleneck;
} in_a_row[] = {
    {"zero3-offload", zero3_s, RES_CPU},
    {"twinflow", twinflow_s, RES_CPU},
    {"gpu-only", gpu_only_s, RES_HBM},
};

double estimate_start_s(const struct cost *cost, const struct workload *workload)
{
	if (workload->is_update_only)
		return 0;
	const double check_s =
	    workload->batch.precision == PRECISION_FP16 ? cost_op_s(cost, OP_GPU_NORM, workload->rank_params) : 0;
	return check_s + cost->hw->step_fixed_s + cost->hw->step_subgroup_s * (double)workload->n_subgroups;
}

int estimate_update(struct estimate *e, struct stride_curve *curve, const struct policy_use *use, const struct cost *cost,
    const struct workload *workload, bool is_contended, struct err *err)
{
	struct cost slowed;
	size_t row = 0;

	while (row < sizeof(in_a_row) / sizeof(in_a_row[0]) && strcmp(in_a_row[row].policy, use->policy->name) != 0)
		row++;
	if (row == sizeof(in_a_row) / sizeof(in_a_row[0])) {
		if (interleaved(e, curve, use, cost, workload, is_contended, err))
			return err->code;
	} else {
		if (is_contended)
			slow_down(&slowed, cost);
		e->update_s = in_a_row[row].update_s(is_contended ? &slowed : cost, workload, use);
		e->bottleneck = in_a_row[row].bottleneck;
	}
	e->update_s += estimate_start_s(cost, workload) + cost_op_s(cost, OP_GATHER, split_update_gather_bytes(workload));
	return 0;
}
