/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profile_call: what every verb of `dos profile` works with, and the verbs that have a file of their own.
 */
#ifndef SIM_CLI_PROFILE_CALL_H
#define SIM_CLI_PROFILE_CALL_H

#include <stdio.h>

#include "model/base/opt.h"
#include "model/base/table.h"
#include "sim/cli/common.h"

struct profile_call {
	enum format format;
	const char *name; /* --name, or NULL */
	const char *command; /* as typed */
	const struct opt_list *files; /* borrowed, like all */
	const struct common *common;
};

/* Reads every file, and counts where its numbers are from; notes a limit that limits nothing. */
int profile_call_check(FILE *out, const struct profile_call *call, struct arena *arena, struct err *err) MUST_CHECK;

/* Writes one profile from several of one machine. STATUS_NO when they are not of one, STATUS_INPUT when one is there twice. */
int profile_call_merge(FILE *out, const struct profile_call *call, struct arena *arena, struct err *err) MUST_CHECK;

#endif
