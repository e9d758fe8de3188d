/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * commands: one function per command of dos-probe; argv[0] is the command. Returns an exit code of enum status.
 */
#ifndef PROBE_COMMANDS_H
#define PROBE_COMMANDS_H

#include <stdbool.h>

#include "model/base/arena.h"
#include "model/base/err.h"
#include "model/base/opt.h"

#define COMMAND_LIST(X) \
	X(list, "name every measurement and say which can run here") \
	X(run, "measure this machine and write its profile") \
	X(update, "run real interleaved updates and write validation rows") \
	X(merge, "medians over the runs.csv of several processes")

#define COMMAND_DECLARE(name, summary) \
	int command_##name(int argc, char **argv, struct arena *arena, struct err *err) MUST_CHECK;
COMMAND_LIST(COMMAND_DECLARE)
#undef COMMAND_DECLARE

/* Parses options; prints help and sets *done when it was asked for. `usage` is the first line of the help. */
int command_parse(const struct opt_table *table, const char *usage, int argc, char **argv, struct opt_list *rest,
    bool *done, struct arena *arena, struct err *err) MUST_CHECK;

/* The command line as one text, for provenance: "dos-probe run -o x.json". */
const char *command_text(int argc, char **argv, struct arena *arena);

#endif
