/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan_options: what a planner tries of a policy, from its option table: SPECs with values for every option that a SPEC leaves open.
 *
 * Fractions in steps, strides and buffer sets that are small; a count of any other name keeps its default. Words: all combinations
 * of the few, of many each word by itself beside the defaults.
 */
#ifndef SIM_STUDY_PLAN_OPTIONS_H
#define SIM_STUDY_PLAN_OPTIONS_H

#include "sim/policy.h"

/* Appends to specs. n_subgroups: most that a workload of the plan has. STATUS_USAGE for a SPEC that is none. */
int plan_options(struct opt_list *specs, const char *spec, size_t n_subgroups, bool has_words, struct arena *arena, struct err *err)
    MUST_CHECK;

#endif
