/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/describe.h"

#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/study/plot.h"

struct copying {
	struct description *to;
	struct arena *arena;
};

static const char *copy_text(const char *text, struct arena *arena)
{
	return text ? arena_strdup(arena, text) : NULL;
}

static void copy_table(struct description_table *to, const struct opt_table *table, struct arena *arena)
{
	struct opt *const opts = arena_alloc(arena, table->n_opts, sizeof(*opts));

	for (size_t i = 0; i < table->n_opts; i++) {
		opts[i] = table->opts[i];
		opts[i].name = copy_text(opts[i].name, arena);
		opts[i].arg = copy_text(opts[i].arg, arena);
		opts[i].help = copy_text(opts[i].help, arena);
	}
	*to = (struct description_table){copy_text(table->title, arena), opts, table->n_opts};
}

static void copy_command(void *context, const struct command_line *line, const struct opt_table *tables, size_t n_tables)
{
	const struct copying *const copying = context;
	struct description *const to = copying->to;

	to->usage = copy_text(line->usage, copying->arena);
	to->about = copy_text(line->about, copying->arena);
	to->tables = arena_alloc(copying->arena, n_tables, sizeof(*to->tables));
	to->n_tables = n_tables;
	for (size_t i = 0; i < n_tables; i++)
		copy_table(&to->tables[i], &tables[i], copying->arena);
}

void describe_commands(struct descriptions *all, struct arena *arena)
{
	*all = (struct descriptions){arena_zalloc(arena, n_commands, sizeof(*all->items)), n_commands};
	for (size_t i = 0; i < n_commands; i++) {
		struct copying copying = {&all->items[i], arena};
		all->items[i] = (struct description){.name = commands[i].name, .summary = commands[i].summary, .usage = "", .about = ""};
		common_describe(&commands[i], &(struct common_visitor){copy_command, &copying});
	}
}

const struct opt *describe_option(const struct description *command, const char *name)
{
	for (size_t i = 0; i < command->n_tables; i++) {
		const struct opt *const opt = opt_find(command->tables[i].opts, command->tables[i].n_opts, name, strlen(name));
		if (opt)
			return opt;
	}
	return NULL;
}

/* "show|check FILE.. | diff A B": show, check, diff. */
static const char *const *words_of_usage(const char *usage, struct arena *arena)
{
	struct opt_list words = {0};

	while (usage) {
		usage += strspn(usage, " ");
		const size_t n = strspn(usage, "abcdefghijklmnopqrstuvwxyz-");
		if (n == 0 || *usage == '-' || !strchr(" |", usage[n]))
			return NULL;
		opt_list_add(&words, arena_printf(arena, "%.*s", (int)n, usage), arena);
		usage = strchr(usage, '|');
		usage += usage != NULL;
	}
	opt_list_add(&words, NULL, arena);
	return words.items;
}

const char *const *describe_words(const struct description *command, struct arena *arena)
{
	if (strcmp(command->name, "plot") != 0)
		return words_of_usage(command->usage, arena);
	const char **const kinds = arena_zalloc(arena, n_plot_kinds + 1, sizeof(*kinds));
	for (size_t i = 0; i < n_plot_kinds; i++)
		kinds[i] = plot_kinds[i].name;
	return kinds;
}
