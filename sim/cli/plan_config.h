/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan_config: a plan for a DeepSpeed or Megatron run: what such a run can do, and the plan's best in its words.
 */
#ifndef SIM_CLI_PLAN_CONFIG_H
#define SIM_CLI_PLAN_CONFIG_H

#include "sim/cli/common.h"
#include "sim/study/plan.h"

struct plan_config_params {
	const char *ds_config; /* file, NULL not given */
	bool has_fork, has_megatron;
};

/* Options that need each other. STATUS_USAGE. */
int plan_config_check(const struct plan_config_params *p, const struct common *c, struct err *err) MUST_CHECK;
/* The policies that the run can do; none when any will do. */
void plan_config_policies(struct opt_list *specs, const struct plan_config_params *p, struct arena *arena);
/* Batch sizes and precision of the DeepSpeed configuration, where no flag gives them; a train_batch_size that leaves its split
 * open is the tokens of a batch. */
int plan_config_batch(struct plan_query *query, const struct plan_config_params *p, struct arena *arena, struct err *err) MUST_CHECK;
/* To -o the DeepSpeed configuration with the keys of a trial set; remarks on what of the plan the file does not say. */
int plan_config_write(const struct plan_config_params *p, const struct trial *trial, const struct common *c, struct arena *arena,
    struct err *err) MUST_CHECK;
/* Megatron's flags for a trial. */
const char *plan_config_megatron(const struct trial *trial, struct arena *arena);

#endif
