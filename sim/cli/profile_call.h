/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profile_call: what every verb of `dos profile` works with, and the verb that has a file of its own.
 */
#ifndef SIM_CLI_PROFILE_CALL_H
#define SIM_CLI_PROFILE_CALL_H

#include <stdio.h>

#include "model/base/opt.h"
#include "model/base/table.h"

struct profile_call {
	enum format format;
	const char *name; /* --name, or NULL */
	const char *command; /* as typed */
	const struct opt_list *files; /* borrowed, like all */
};

/* Writes one profile from several of one machine. STATUS_NO when they are not of one. */
int profile_call_merge(FILE *out, const struct profile_call *call, struct arena *arena, struct err *err) MUST_CHECK;

#endif
