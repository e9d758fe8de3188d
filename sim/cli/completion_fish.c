/* SPDX-License-Identifier: GPL-3.0-or-later
 * Completion for fish. */
#include <string.h>

#include "completion_fish.h"
#include "sim/cli/completion.h"
#include "sim/policy.h"

/* Single quotes of fish know two escapes. */
static const char *quote(const char *text, struct arena *arena)
{
	char *const quoted = arena_alloc(arena, 2 * strlen(text) + 3, 1);
	char *to = stpcpy(quoted, "'");

	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			*to++ = '\\';
		*to++ = *text;
	}
	strcpy(to, "'");
	return quoted;
}

static const char *join(const struct opt_list *words, struct arena *arena)
{
	const char *text = "";

	for (size_t i = 0; i < words->n; i++)
		text = arena_printf(arena, "%s %s", text, words->items[i]);
	return text;
}

static void write_option(FILE *out, const char *command, const struct opt *opt, struct arena *arena)
{
	struct completion_values values;

	completion_values(&values, opt, arena);
	fprintf(out, "complete -c dos -n '__dos_command %s' -l %s", command, opt->name);
	if (opt->letter)
		fprintf(out, " -s %c", opt->letter);
	if (opt->kind != OPT_FLAG)
		fputs(values.has_files ? " -r -F" : " -x", out);
	if (values.has_policies)
		fputs(" -a '(__dos_policy)'", out);
	else if (values.words.n)
		fprintf(out, " -a '(__dos_list%s)'", join(&values.words, arena));
	fprintf(out, " -d %s\n", quote(opt->help, arena));
}

static void write_command(FILE *out, const struct description *command, struct arena *arena)
{
	const char *const *const words = describe_words(command, arena);

	fprintf(out, "complete -c dos -n 'test (count (commandline -opc)) -eq 1' -f -a %s -d %s\n", command->name, quote(command->summary, arena));
	for (size_t i = 0; words && words[i]; i++)
		fprintf(out, "complete -c dos -n '__dos_words %s' -f -a %s\n", command->name, words[i]);
	for (size_t i = 0; i < command->n_tables; i++)
		for (size_t j = 0; j < command->tables[i].n_opts; j++)
			write_option(out, command->name, &command->tables[i].opts[j], arena);
}

static void write_policies(FILE *out, struct arena *arena)
{
	fputs("\nfunction __dos_policies\n\tprintf '%s\\n'", out);
	for (size_t i = 0; policy_all[i]; i++)
		fprintf(out, " %s%s", policy_all[i]->name, policy_all[i]->n_opts ? arena_printf(arena, " %s:", policy_all[i]->name) : "");
	fputs("\nend\n\nfunction __dos_policy_options\n\tswitch $argv[1]\n", out);
	for (size_t i = 0; policy_all[i]; i++) {
		fprintf(out, "\t\tcase %s\n\t\t\tprintf '%%s=\\n'", policy_all[i]->name);
		for (size_t j = 0; j < policy_all[i]->n_opts; j++)
			fprintf(out, " %s", policy_all[i]->opts[j].name);
		fputs("\n", out);
	}
	fputs("\tend\nend\n\nfunction __dos_policy_values\n\tswitch \"$argv\"\n", out);
	for (size_t i = 0; policy_all[i]; i++)
		for (size_t j = 0; j < policy_all[i]->n_opts; j++) {
			struct completion_values values;
			completion_values(&values, &policy_all[i]->opts[j], arena);
			if (values.words.n)
				fprintf(out, "\t\tcase '%s %s'\n\t\t\tprintf '%%s\\n'%s\n", policy_all[i]->name, policy_all[i]->opts[j].name,
				    join(&values.words, arena));
		}
	fputs("\tend\nend\n", out);
}

void completion_fish(FILE *out, const struct descriptions *commands, struct arena *arena)
{
	fputs("# Completion of dos for fish, made by: dos completion fish\n", out);
	write_policies(out, arena);
	fputs(COMPLETION_FISH, out);
	fputs("\ncomplete -c dos -n 'test (count (commandline -opc)) -eq 1' -l help -s h -d 'the commands'\n"
	      "complete -c dos -n 'test (count (commandline -opc)) -eq 1' -l version -d version\n", out);
	for (size_t i = 0; i < commands->n; i++)
		write_command(out, &commands->items[i], arena);
}
