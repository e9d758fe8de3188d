/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay_what_if: a recording under other policies and on other machines, beside itself.
 */
#ifndef SIM_CLI_REPLAY_WHAT_IF_H
#define SIM_CLI_REPLAY_WHAT_IF_H

#include "sim/cli/common.h"
#include "sim/cli/replay_print.h"

struct what_if_options {
	const char *from; /* profile of the recorded machine; NULL: by the name of its GPU */
	const char *trace; /* timeline of the last row; NULL none */
};

/* Rows: as recorded; simulated with its own policy on its own machine, where both are known; each policy on --hw (without it on the
 * recorded machine). Fills rows, n_rows and machine of the report. STATUS_USAGE, STATUS_INPUT say what is missing. */
int replay_what_if(struct replay_report *report, const struct common *c, const struct what_if_options *options,
    struct arena *arena, struct err *err) MUST_CHECK;

#endif
