/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos completion: a script for a shell. */
#include <ctype.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/cli/completion.h"
#include "sim/study/rows.h"

/* ---- what may follow an option */

static void add_shipped(struct completion_values *values, const char *option, struct arena *arena)
{
	struct opt_list names = {0};

	if (strcmp(option, "hw") == 0)
		hwprofile_list(&names, arena);
	if (strcmp(option, "set") == 0)
		rows_list(&names, arena);
	for (size_t i = 0; i < names.n; i++)
		opt_list_add(&values->words, names.items[i], arena);
	for (size_t i = 0; i < n_shape_presets && strcmp(option, "model") == 0; i++)
		opt_list_add(&values->words, shape_presets[i].shape.name, arena);
}

static void add_scales(struct completion_values *values, struct arena *arena)
{
#define SCALE(name) opt_list_add(&values->words, #name "=", arena);
	HW_SCALES(SCALE)
#undef SCALE
}

/* "none|fluid|measured", "on|off,..": words; "NAME|FILE": what is not in capitals. */
static void add_words_of(struct completion_values *values, const char *arg, struct arena *arena)
{
	while (*arg && strchr(arg, '|')) {
		const size_t n = strcspn(arg, "|,[");
		const char *const word = arena_printf(arena, "%.*s", (int)n, arg);
		if (islower((unsigned char)*word) && strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-_") == n)
			opt_list_add(&values->words, word, arena);
		arg += n + 1;
		if (!strchr(arg, '|') && islower((unsigned char)*arg))
			opt_list_add(&values->words, arena_printf(arena, "%.*s", (int)strcspn(arg, ",["), arg), arena);
	}
}

void completion_values(struct completion_values *values, const struct opt *opt, struct arena *arena)
{
	const char *const arg = opt->arg ? opt->arg : "";

	*values = (struct completion_values){.has_policies = strcmp(opt->name, "policy") == 0, .has_files = strstr(arg, "FILE") != NULL};
	if (opt->kind == OPT_WORD)
		for (size_t i = 0; opt->words[i]; i++)
			opt_list_add(&values->words, opt->words[i], arena);
	else if (opt->kind != OPT_FLAG)
		add_words_of(values, arg, arena);
	add_shipped(values, opt->name, arena);
	if (strcmp(opt->name, "scale") == 0)
		add_scales(values, arena);
}

/* ---- the command */

static int write_script(const struct common *c, const char *shell, struct arena *arena, struct err *err)
{
	static const char *const shells[] = {"bash", "zsh", "fish", NULL};
	static void (*const writers[])(FILE *, const struct descriptions *, struct arena *) = {completion_bash, completion_zsh, completion_fish};
	struct descriptions all;
	struct file_replace file;
	size_t i = 0;

	while (shells[i] && strcmp(shells[i], shell) != 0)
		i++;
	if (!shells[i]) {
		const char *const nearest = err_nearest(shell, shells);
		return err_set(err, STATUS_USAGE, "completion: '%s' is not bash, zsh or fish%s%s%s", shell, nearest ? "; did you mean '" : "",
		    nearest ? nearest : "", nearest ? "'?" : "");
	}
	if (file_replace_open(&file, c->output, arena, err))
		return err->code;
	describe_commands(&all, arena);
	writers[i](file.out, &all, arena);
	return file_replace_commit(&file, err);
}

int command_completion(int argc, char **argv, struct err *err)
{
	const struct command_line line = {.name = "completion",
	    .usage = "bash|zsh|fish",
	    .about = "Writes a script that completes commands, options, their values, shipped names and policies. Now and here:\n"
	             "  bash:  source <(dos completion bash)\n"
	             "  zsh:   source <(dos completion zsh)\n"
	             "  fish:  dos completion fish | source"};
	struct arena arena = {0};
	struct common c;
	struct opt_list rest;

	int code = common_parse(&c, &line, argc, argv, &rest, &arena, err);
	if (!code && !c.wants_help && rest.n != 1)
		code = err_set(err, STATUS_USAGE, "completion: one of bash, zsh, fish would be accepted");
	if (!code && !c.wants_help)
		code = write_script(&c, rest.items[0], &arena, err);
	arena_release(&arena);
	return code;
}
