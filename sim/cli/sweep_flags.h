/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sweep_flags: the command line of `dos sweep`: its own options, the shared flags as lists of values, and the grid that they
 * are.
 */
#ifndef SIM_CLI_SWEEP_FLAGS_H
#define SIM_CLI_SWEEP_FLAGS_H

#include "sim/cli/common.h"
#include "sim/study/grid.h"

enum { SWEEP_AXES_MAX = 32 };

struct sweep_flags {
	struct common common;
	const char *db;
	const char *shard_text;
	long long jobs, limit; /* 0: not given */
	bool is_dry_run, is_closed_form;
	const char *axis_texts[SWEEP_AXES_MAX]; /* NULL: not given */
	/* what the axis texts are of, in the same order */
	const struct opt *axis_opts[SWEEP_AXES_MAX]; /* of common; NULL: an option of policies alone */
	const char *axis_names[SWEEP_AXES_MAX];
	size_t n_axes;
	size_t shard, n_shards;
};

/* With --help common.wants_help is set and nothing else. */
int sweep_flags_parse(struct sweep_flags *flags, int argc, char **argv, struct arena *arena, struct err *err) MUST_CHECK;
/* Loads machines and models; STATUS_USAGE and STATUS_INPUT. */
int sweep_flags_grid(struct grid *grid, const struct sweep_flags *flags, struct arena *arena, struct err *err) MUST_CHECK;

#endif
