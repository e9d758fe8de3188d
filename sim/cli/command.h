/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command: what `dos NAME` runs. One file a command; commands.c has the table.
 *
 * argv[0] is the command's name. Returns an exit code (enum status); when it is not 0, err says why and main prints it.
 */
#ifndef SIM_CLI_COMMAND_H
#define SIM_CLI_COMMAND_H

#include <stddef.h>

#include "model/base/err.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv, struct err *err);
	const char *summary; /* one line */
};
extern const struct command commands[]; /* in the order of `dos --help` */
extern const size_t n_commands;

int command_simulate(int argc, char **argv, struct err *err);
int command_model(int argc, char **argv, struct err *err);
int command_validate(int argc, char **argv, struct err *err);
int command_replay(int argc, char **argv, struct err *err);
int command_plan(int argc, char **argv, struct err *err);
int command_plot(int argc, char **argv, struct err *err);
int command_report(int argc, char **argv, struct err *err);
int command_sweep(int argc, char **argv, struct err *err);
int command_db(int argc, char **argv, struct err *err);
int command_fit(int argc, char **argv, struct err *err);
int command_list(int argc, char **argv, struct err *err);
int command_check_config(int argc, char **argv, struct err *err);
int command_profile(int argc, char **argv, struct err *err);
int command_config(int argc, char **argv, struct err *err);
int command_completion(int argc, char **argv, struct err *err);

#endif
