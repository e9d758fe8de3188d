/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos db: look into databases of trials, and merge them. */
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/study/merge.h"
#include "sim/study/query.h"

struct params {
	const char *where, *columns, *group, *order;
	long long limit;
};

static const struct opt opts[] = {
    {.name = "where", .kind = OPT_TEXT, .offset = offsetof(struct params, where), .arg = "SQL",
        .help = "query: condition over the columns of v_runs"},
    {.name = "columns", .kind = OPT_TEXT, .offset = offsetof(struct params, columns), .arg = "SQL",
        .help = "query: columns or expressions (default: all; a selection in tables)"},
    {.name = "group", .kind = OPT_TEXT, .offset = offsetof(struct params, group), .arg = "SQL",
        .help = "query: one row for each value of these columns; with --columns '.., min(x) AS x' that of the least x"},
    {.name = "order", .kind = OPT_TEXT, .offset = offsetof(struct params, order), .arg = "SQL",
        .help = "query: columns to sort by (default: as stored)"},
    {.name = "limit", .kind = OPT_INT, .offset = offsetof(struct params, limit), .min = 1, .max = 1e15, .arg = "N",
        .help = "query: the first N rows"},
};

static int query(const struct common *c, const struct params *p, const struct opt_list *args, struct arena *arena, struct err *err)
{
	struct file_replace file;

	if (args->n != 2)
		return err_set(err, STATUS_USAGE, "db query: one database would be accepted, %zu are given", args->n - 1);
	const struct query q = {.path = args->items[1], .where = p->where, .columns = p->columns, .group = p->group, .order = p->order,
	    .limit = p->limit, .format = (enum format)c->format};
	if (file_replace_open(&file, c->output, arena, err))
		return err->code;
	const int code = query_run(&q, file.out, err);
	if (code == 0)
		return file_replace_commit(&file, err);
	file_replace_cancel(&file);
	return code;
}

static int merge(const struct common *c, const struct params *p, const struct opt_list *args, struct err *err)
{
	struct merge_counts counts;

	if (p->where || p->columns || p->group || p->order || p->limit)
		return err_set(err, STATUS_USAGE, "db merge: --where, --columns, --group, --order and --limit are of db query");
	if (!c->output || strcmp(c->output, "-") == 0)
		return err_set(err, STATUS_USAGE, "db merge: -o is missing: the database to add to, made when it is not there");
	if (args->n < 2)
		return err_set(err, STATUS_USAGE, "db merge: databases to read are missing");
	const int code = merge_run(&counts, c->output, args->items + 1, args->n - 1, err);
	if (code == 0 || code == STATUS_NO)
		common_note(c, "%zu trials read, %zu new in %s", counts.n_trials, counts.n_new, c->output);
	return code;
}

static int run(const struct common *c, const struct params *p, const struct opt_list *args, struct arena *arena, struct err *err)
{
	static const char *const words[] = {"query", "merge", NULL};

	if (args->n == 0)
		return err_set(err, STATUS_USAGE, "db: query or merge is missing");
	if (strcmp(args->items[0], "query") == 0)
		return query(c, p, args, arena, err);
	if (strcmp(args->items[0], "merge") == 0)
		return merge(c, p, args, err);
	const char *const nearest = err_nearest(args->items[0], words);
	return err_set(err, STATUS_USAGE, "db: '%s' is not query or merge%s%s%s", args->items[0], nearest ? "; did you mean '" : "",
	    nearest ? nearest : "", nearest ? "'?" : "");
}

int command_db(int argc, char **argv, struct err *err)
{
	struct params params = {0};
	const struct command_line line = {.name = "db",
	    .usage = "query FILE [--where SQL] [--columns SQL] [--group SQL] [--order SQL] [--limit N] | merge -o OUT FILE..",
	    .about = "query prints rows of v_runs, one a trial. merge adds the trials of databases to OUT; the same trial with other\n"
	             "results is a conflict. Exit 1: nothing is selected, or there are conflicts.",
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct arena arena = {0};
	struct common c;
	struct opt_list rest;

	int code = common_parse(&c, &line, argc, argv, &rest, &arena, err);
	if (!code && !c.wants_help)
		code = run(&c, &params, &rest, &arena, err);
	arena_release(&arena);
	return code;
}
