/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan_report: a finished plan as text, JSON or CSV.
 */
#ifndef SIM_CLI_PLAN_REPORT_H
#define SIM_CLI_PLAN_REPORT_H

#include "sim/cli/common.h"
#include "sim/study/phase_limits.h"
#include "sim/study/plan_sure.h"
#include "sim/study/sensitivity.h"

struct plan_report {
	const struct common *common;
	const struct plan *plan;
	const struct hwprofile *hw; /* with the limits as given */
	double allowance_frac; /* of GPU memory, kept free */
	const char *scale; /* --scale as given, "" none */
	/* of the best; not when nothing fits */
	struct trial_input input;
	struct trial trial;
	struct phase_limits limits;
	struct plan_near near;
	struct plan_pay pay;
	const struct sensitivities *sensitivities; /* NULL: not asked for */
	const struct plan_sure *sure; /* the same */
	const char *megatron; /* flags, NULL: not asked for */
};

bool plan_report_has_best(const struct plan_report *report);
/* Model FLOPs over what all GPUs could do in the time; of a trial of this workload. */
double plan_report_utilization(const struct workload *workload, const struct hwprofile *hw, double iteration_s);
/* "9425": tokens a second without an exponent. Returns text. */
char *plan_report_rate(char text[UNITS_TEXT_MAX], double tokens_per_s);
/* Slower than the best by this share. */
double plan_report_slower(const struct plan_report *report, const struct plan_choice *choice);
/* "9425 +- 480" */
const char *plan_report_rates(const struct interval *iteration, double tokens, struct arena *arena);
/* How sure a choice is, in the order of plan->policies or of near.changes; NULL: not asked for, or of no policy that fits. */
const struct outcome *plan_report_policy_outcome(const struct plan_report *report, size_t policy);
const struct outcome *plan_report_change_outcome(const struct plan_report *report, size_t change);
/* "does not fit: 3.1 GiB of GPU memory short" */
const char *plan_report_shortage(const struct metrics *metrics, const struct hwprofile *hw, struct arena *arena);
/* "; --host-mem 212GiB would do for .." when host memory alone is missing in what is known of some policy, else "". */
const char *plan_report_more_host(const struct plan_report *report, struct arena *arena);
/* What no run ever checked of this profile's predictions; NULL: nothing to say. */
const char *plan_report_unchecked(const struct plan_report *report);
/* The SPEC without what is the policy's default. */
const char *plan_report_spec(const char *canonical, struct arena *arena);
/* "dos simulate .." that gives the same numbers. */
const char *plan_report_command(const struct plan_report *report, struct arena *arena);

void plan_report_text(FILE *out, const struct plan_report *report, struct arena *arena);
void plan_report_json(FILE *out, const struct plan_report *report, struct arena *arena);
void plan_report_csv(FILE *out, const struct plan_report *report, struct arena *arena);

#endif
