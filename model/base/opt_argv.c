/* SPDX-License-Identifier: GPL-3.0-or-later
 * The command-line half of opt.h. */
#include <string.h>

#include "model/base/opt.h"

struct cursor {
	const struct opt_table *tables;
	size_t n_tables;
	int argc;
	char **argv;
	int next; /* index of the argument after the one at hand */
	struct opt_list seen; /* names given so far */
	struct arena *arena;
};

/* An option and the params it writes to. */
struct match {
	const struct opt *opt;
	void *params;
};

static struct match find_name(const struct cursor *cursor, const char *name, size_t length)
{
	for (size_t i = 0; i < cursor->n_tables; i++) {
		const struct opt_table *const table = &cursor->tables[i];
		const struct opt *const opt = opt_find(table->opts, table->n_opts, name, length);
		if (opt)
			return (struct match){opt, table->params};
	}
	return (struct match){0};
}

static struct match find_letter(const struct cursor *cursor, char letter)
{
	for (size_t i = 0; i < cursor->n_tables; i++)
		for (size_t j = 0; j < cursor->tables[i].n_opts; j++)
			if (cursor->tables[i].opts[j].letter == letter)
				return (struct match){&cursor->tables[i].opts[j], cursor->tables[i].params};
	return (struct match){0};
}

static int unknown_option(const struct cursor *cursor, const char *argument, struct err *err)
{
	struct opt_list names = {0};
	char *const name = arena_strdup(cursor->arena, argument);

	*strchrnul(name, '=') = '\0';
	for (size_t i = 0; i < cursor->n_tables; i++)
		for (size_t j = 0; j < cursor->tables[i].n_opts; j++)
			opt_list_add(&names, arena_printf(cursor->arena, "--%s", cursor->tables[i].opts[j].name), cursor->arena);
	opt_list_add(&names, NULL, cursor->arena);
	const char *const nearest = err_nearest(name, names.items);
	return err_set(err, STATUS_USAGE, "unknown option '%s'%s%s%s", name, nearest ? "; did you mean '" : "; see --help",
	    nearest ? nearest : "", nearest ? "'?" : "");
}

static int set_once(struct cursor *cursor, struct match match, const char *value, struct err *err)
{
	for (size_t i = 0; i < cursor->seen.n; i++)
		if (match.opt->kind != OPT_LIST && strcmp(cursor->seen.items[i], match.opt->name) == 0)
			return err_set(err, STATUS_USAGE, "--%s: given twice", match.opt->name);
	opt_list_add(&cursor->seen, match.opt->name, cursor->arena);
	if (opt_set(match.params, match.opt, value, cursor->arena, err))
		return err->code;
	return 0;
}

/* The argument after the option, unless it is an option itself ("--hw --model 7b"; write --hw=--x to mean it). */
static const char *next_value(struct cursor *cursor)
{
	if (cursor->next >= cursor->argc)
		return NULL;
	const char *const value = cursor->argv[cursor->next];
	if (strncmp(value, "--", 2) == 0)
		return NULL;
	cursor->next++;
	return value;
}

/* An option whose value may be left out: "--uncertainty", "--uncertainty 50". */
static int set_bare(struct cursor *cursor, struct match match, struct err *err)
{
	const char *const next = cursor->next < cursor->argc ? cursor->argv[cursor->next] : "";
	const bool has_value = *next >= '0' && *next <= '9';

	cursor->next += has_value;
	return set_once(cursor, match, has_value ? next : match.opt->bare, err);
}

static int set_from_next(struct cursor *cursor, struct match match, struct err *err)
{
	if (match.opt->bare)
		return set_bare(cursor, match, err);
	const char *const value = next_value(cursor);

	if (!value)
		return err_set(err, STATUS_USAGE, "--%s: a value is missing%s%s", match.opt->name, match.opt->arg ? ": " : "",
		    match.opt->arg ? match.opt->arg : "");
	return set_once(cursor, match, value, err);
}

static int parse_long(struct cursor *cursor, const char *argument, struct err *err)
{
	const char *const name = argument + 2;
	const size_t length = strcspn(name, "=");
	const struct match match = find_name(cursor, name, length);

	if (!match.opt)
		return unknown_option(cursor, argument, err);
	if (name[length] == '=')
		return set_once(cursor, match, name + length + 1, err);
	return match.opt->kind == OPT_FLAG ? set_once(cursor, match, "on", err) : set_from_next(cursor, match, err);
}

/* -o FILE, -oFILE, -q, and flags together: -qv */
static int parse_letters(struct cursor *cursor, const char *argument, struct err *err)
{
	for (const char *letter = argument + 1; *letter; letter++) {
		const struct match match = find_letter(cursor, *letter);
		if (!match.opt)
			return err_set(err, STATUS_USAGE, "unknown option '-%c'; see --help", *letter);
		if (match.opt->kind != OPT_FLAG)
			return letter[1] ? set_once(cursor, match, letter + 1, err) : set_from_next(cursor, match, err);
		const int rc = set_once(cursor, match, "on", err);
		if (rc)
			return rc;
	}
	return 0;
}

int opt_parse_argv_seen(const struct opt_table *tables, size_t n_tables, int argc, char **argv, struct opt_list *rest,
    struct opt_list *seen, struct arena *arena, struct err *err)
{
	struct cursor cursor = {tables, n_tables, argc, argv, 1, {0}, arena};
	bool options_end = false;

	while (cursor.next < argc) {
		const char *const argument = argv[cursor.next++];
		int rc = 0;
		if (options_end || argument[0] != '-' || argument[1] == '\0')
			opt_list_add(rest, argument, arena);
		else if (strcmp(argument, "--") == 0)
			options_end = true;
		else if (argument[1] == '-')
			rc = parse_long(&cursor, argument, err);
		else
			rc = parse_letters(&cursor, argument, err);
		if (rc)
			return rc;
	}
	*seen = cursor.seen;
	return 0;
}

int opt_parse_argv(const struct opt_table *tables, size_t n_tables, int argc, char **argv, struct opt_list *rest,
    struct arena *arena, struct err *err)
{
	struct opt_list seen;

	return opt_parse_argv_seen(tables, n_tables, argc, argv, rest, &seen, arena, err);
}
