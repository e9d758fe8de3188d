/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos: capacity planner for training with an offloaded optimizer. */
#include <gsl/gsl_errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "model/base/leftovers.h"
#include "sim/cli/command.h"

static int print_help(void)
{
	puts("usage: dos COMMAND [OPTION]..\n\nPredicts training of models larger than their GPUs.\n\nCommands:");
	for (size_t i = 0; i < n_commands; i++)
		printf("  %-12s  %s\n", commands[i].name, commands[i].summary);
	puts("\nOptions:\n  -h, --help     this text; `dos COMMAND --help` has the options of a command\n"
	     "      --version  version");
	return STATUS_OK;
}

static int unknown_command(const char *name, struct err *err)
{
	enum { NAMES_MAX = 64 };
	const char *names[NAMES_MAX] = {NULL};
	const char *const what = name[0] == '-' ? "option" : "command";

	for (size_t i = 0; i < n_commands && i + 1 < NAMES_MAX; i++)
		names[i] = commands[i].name;
	const char *const nearest = name[0] == '-' ? NULL : err_nearest(name, names);
	if (nearest)
		return err_set(err, STATUS_USAGE, "unknown command '%s'; did you mean '%s'?", name, nearest);
	return err_set(err, STATUS_USAGE, "unknown %s '%s'; see dos --help", what, name);
}

static int run(int argc, char **argv, struct err *err)
{
	const char *const name = argc > 1 ? argv[1] : NULL;

	if (!name)
		return err_set(err, STATUS_USAGE, "a command is missing; see dos --help");
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return print_help();
	if (strcmp(name, "--version") == 0) {
		puts("dos " DOS_VERSION);
		return STATUS_OK;
	}
	for (size_t i = 0; i < n_commands; i++)
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1, err);
	return unknown_command(name, err);
}

int main(int argc, char **argv)
{
	struct err err = {0};

	setlocale(LC_ALL, "C");
	gsl_set_error_handler_off();
	leftovers_catch_signals();
	int code = run(argc, argv, &err);
	if (code == STATUS_OK && (fflush(stdout) != 0 || ferror(stdout)))
		code = err_set(&err, STATUS_ENV, "standard output: cannot be written");
	if (code != STATUS_OK)
		fprintf(stderr, "dos: %s\n", err.text);
	return code;
}
