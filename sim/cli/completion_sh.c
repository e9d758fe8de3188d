/* SPDX-License-Identifier: GPL-3.0-or-later
 * The tables of completion for bash and zsh: functions that print them, below the parts that are the same for all. */
#include <string.h>

#include "completion_bash.h"
#include "completion_sh.h"
#include "completion_zsh.h"
#include "sim/cli/completion.h"
#include "sim/policy.h"

const char *completion_quote(const char *text, struct arena *arena)
{
	char *const quoted = arena_alloc(arena, 4 * strlen(text) + 3, 1);
	char *to = stpcpy(quoted, "'");

	for (; *text; text++)
		if (*text == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *text;
	strcpy(to, "'");
	return quoted;
}

static void print_words(FILE *out, const char *const words[], size_t n, struct arena *arena)
{
	fputs("printf '%s\\n'", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %s", completion_quote(words[i], arena));
}

static void write_commands(FILE *out, const struct descriptions *all, struct arena *arena)
{
	fputs("__dos_commands() {\n\tprintf '%s\\t%s\\n'", out);
	for (size_t i = 0; i < all->n; i++)
		fprintf(out, " \\\n\t\t%s %s", all->items[i].name, completion_quote(all->items[i].summary, arena));
	fputs(" \\\n\t\t--help 'the commands' --version 'version'\n}\n", out);
}

static void write_options(FILE *out, const struct descriptions *all, struct arena *arena)
{
	fputs("__dos_options() { # COMMAND\n\tcase $1 in\n", out);
	for (size_t i = 0; i < all->n; i++) {
		fprintf(out, "\t%s) printf '%%s\\t%%s\\n'", all->items[i].name);
		for (size_t j = 0; j < all->items[i].n_tables; j++)
			for (size_t k = 0; k < all->items[i].tables[j].n_opts; k++)
				fprintf(out, " \\\n\t\t--%s %s", all->items[i].tables[j].opts[k].name,
				    completion_quote(all->items[i].tables[j].opts[k].help, arena));
		fputs(" ;;\n", out);
	}
	fputs("\t*) return 1 ;;\n\tesac\n}\n", out);
}

static void write_first_words(FILE *out, const struct descriptions *all, struct arena *arena)
{
	fputs("__dos_words() { # COMMAND\n\tcase $1 in\n", out);
	for (size_t i = 0; i < all->n; i++) {
		const char *const *const words = describe_words(&all->items[i], arena);
		size_t n = 0;
		while (words && words[n])
			n++;
		if (n == 0)
			continue;
		fprintf(out, "\t%s) ", all->items[i].name);
		print_words(out, words, n, arena);
		fputs(" ;;\n", out);
	}
	fputs("\t*) return 1 ;;\n\tesac\n}\n", out);
}

static void write_value(FILE *out, const char *command, const struct opt *opt, struct arena *arena)
{
	struct completion_values values;

	if (opt->kind == OPT_FLAG)
		return;
	completion_values(&values, opt, arena);
	if (values.has_policies)
		opt_list_add(&values.words, "@policy", arena);
	if (values.has_files)
		opt_list_add(&values.words, "@file", arena);
	fprintf(out, "\t'%s --%s'", command, opt->name);
	if (opt->letter)
		fprintf(out, " | '%s -%c'", command, opt->letter);
	fputs(") ", out);
	if (values.words.n)
		print_words(out, values.words.items, values.words.n, arena);
	fputs(" ;;\n", out);
}

static void write_values(FILE *out, const struct descriptions *all, struct arena *arena)
{
	fputs("__dos_values() { # COMMAND OPTION\n\tcase \"$1 $2\" in\n", out);
	for (size_t i = 0; i < all->n; i++)
		for (size_t j = 0; j < all->items[i].n_tables; j++)
			for (size_t k = 0; k < all->items[i].tables[j].n_opts; k++)
				write_value(out, all->items[i].name, &all->items[i].tables[j].opts[k], arena);
	fputs("\t*) return 1 ;;\n\tesac\n}\n", out);
}

static void write_policies(FILE *out, struct arena *arena)
{
	fputs("__dos_policies() { printf '%s\\n'", out);
	for (size_t i = 0; policy_all[i]; i++)
		fprintf(out, " %s%s", policy_all[i]->name, policy_all[i]->n_opts ? arena_printf(arena, " %s:", policy_all[i]->name) : "");
	fputs("; }\n__dos_policy_options() { # POLICY\n\tcase $1 in\n", out);
	for (size_t i = 0; policy_all[i]; i++) {
		fprintf(out, "\t%s) printf '%%s=\\n'", policy_all[i]->name);
		for (size_t j = 0; j < policy_all[i]->n_opts; j++)
			fprintf(out, " %s", policy_all[i]->opts[j].name);
		fputs(" ;;\n", out);
	}
	fputs("\tesac\n}\n__dos_policy_values() { # POLICY OPTION\n\tcase \"$1 $2\" in\n", out);
	for (size_t i = 0; policy_all[i]; i++)
		for (size_t j = 0; j < policy_all[i]->n_opts; j++) {
			struct completion_values values;
			completion_values(&values, &policy_all[i]->opts[j], arena);
			if (!values.words.n)
				continue;
			fprintf(out, "\t'%s %s') ", policy_all[i]->name, policy_all[i]->opts[j].name);
			print_words(out, values.words.items, values.words.n, arena);
			fputs(" ;;\n", out);
		}
	fputs("\tesac\n}\n", out);
}

static void write_tables(FILE *out, const struct descriptions *all, struct arena *arena)
{
	write_commands(out, all, arena);
	write_options(out, all, arena);
	write_first_words(out, all, arena);
	write_values(out, all, arena);
	write_policies(out, arena);
	fputs("\n" COMPLETION_SH, out);
}

void completion_bash(FILE *out, const struct descriptions *commands, struct arena *arena)
{
	fputs("# Completion of dos for bash, made by: dos completion bash\n", out);
	write_tables(out, commands, arena);
	fputs(COMPLETION_BASH, out);
}

void completion_zsh(FILE *out, const struct descriptions *commands, struct arena *arena)
{
	fputs("#compdef dos\n# Completion of dos for zsh, made by: dos completion zsh\n", out);
	write_tables(out, commands, arena);
	fputs(COMPLETION_ZSH, out);
}
