/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos-probe: measures a machine (run), and runs the real update on it (update). */
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "probe/commands.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv, struct arena *arena, struct err *err);
	const char *summary;
};

static const struct command commands[] = {
#define COMMAND_ENTRY(name, summary) {#name, command_##name, summary},
    COMMAND_LIST(COMMAND_ENTRY)
#undef COMMAND_ENTRY
};

enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(void)
{
	printf("dos-probe: calibrates a machine for dos\n\nUsage: dos-probe COMMAND [options]\n\nCommands:\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].summary);
	printf(
	    "\n  -h, --help     this text; 'dos-probe COMMAND --help' for a command\n  --version      name and version\n");
}

static int unknown_command(const char *word, struct err *err)
{
	const char *names[N_COMMANDS + 1] = {0};
	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i].name;
	const char *const nearest = err_nearest(word, names);
	return err_set(err, STATUS_USAGE, "unknown command '%s'; %s%s%s", word, nearest ? "did you mean '" : "see --help",
	    nearest ? nearest : "", nearest ? "'?" : "");
}

static int dispatch(int argc, char **argv, struct arena *arena, struct err *err)
{
	if (argc < 2)
		return err_set(err, STATUS_USAGE, "a command is needed: list, run, update or merge");
	if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
		print_help();
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("dos-probe %s\n", DOS_VERSION);
		return 0;
	}
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1, arena, err);
	return unknown_command(argv[1], err);
}

int command_parse(const struct opt_table *table, const char *usage, int argc, char **argv, struct opt_list *rest,
    bool *done, struct arena *arena, struct err *err)
{
	*done = false;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
			printf("Usage: %s\n\n", usage);
			opt_help(table, 1, stdout);
			*done = true;
			return 0;
		}
	}
	opt_defaults(table->params, table->opts, table->n_opts, arena);
	return opt_parse_argv(table, 1, argc, argv, rest, arena, err);
}

const char *command_text(int argc, char **argv, struct arena *arena)
{
	const char *text = "dos-probe";
	for (int i = 0; i < argc; i++)
		text = arena_printf(arena, "%s %s", text, argv[i]);
	return text;
}

int main(int argc, char **argv)
{
	struct arena arena = {0};
	struct err err = {0};
	int rc = dispatch(argc, argv, &arena, &err);
	if (rc)
		fprintf(stderr, "dos-probe: %s\n", err.text);
	if (fflush(stdout) != 0 && rc == 0)
		rc = STATUS_ENV;
	arena_release(&arena);
	return rc;
}
