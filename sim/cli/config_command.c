/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos config: every option that a configuration may set, its value and where that is from. */
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/cli/settings.h"

struct params {
	bool has_origin;
};

static const struct opt opts[] = {
    {.name = "show-origin", .kind = OPT_FLAG, .offset = offsetof(struct params, has_origin), .help = "where each value comes from"},
};

static const struct table_column columns[] = {{"key", NULL, UNIT_NONE}, {"value", NULL, UNIT_NONE}, {"origin", NULL, UNIT_NONE}};

/* Is this the first command that has the option? */
static bool is_first(const struct descriptions *all, size_t command, const char *name)
{
	for (size_t i = 0; i < command; i++)
		if (describe_option(&all->items[i], name))
			return false;
	return true;
}

/* "100M" of "parameters of a subgroup (default 100M)": what the code does with an option that is not given. */
static const char *builtin_of(const struct opt *opt, struct arena *arena)
{
	static const char mark[] = "(default";
	const char *const text = strstr(opt->help, mark);

	if (opt->kind == OPT_FLAG)
		return "off";
	if (opt->fallback || !text || (opt->bare && !opt->fallback))
		return opt->fallback;
	const char *const start = text + strlen(mark) + strspn(text + strlen(mark), ": ");
	return arena_printf(arena, "%.*s", (int)strcspn(start, ")"), start);
}

static void add_row(struct table *table, const struct settings *settings, const struct opt *opt, bool has_origin, struct arena *arena)
{
	const struct setting *const setting = settings_find(settings, opt->name);
	const char *const builtin = builtin_of(opt, arena);

	table_text(table, opt->name);
	table_text(table, setting ? setting_text(setting, arena) : builtin);
	if (has_origin)
		table_text(table, setting ? setting->origin : builtin ? "built-in" : "not set");
}

static struct table *make_table(const struct descriptions *all, const struct settings *settings, bool has_origin, struct arena *arena)
{
	struct table *const table = table_new(columns, has_origin ? 3 : 2);

	for (size_t i = 0; i < all->n; i++)
		for (size_t j = 0; j < all->items[i].n_tables; j++)
			for (size_t k = 0; k < all->items[i].tables[j].n_opts; k++) {
				const struct opt *const opt = &all->items[i].tables[j].opts[k];
				if (settings_is_key(opt->name) && is_first(all, i, opt->name))
					add_row(table, settings, opt, has_origin, arena);
			}
	return table;
}

static int print(const struct common *c, const struct table *table, struct arena *arena, struct err *err)
{
	struct file_replace file;
	struct jsonw w;

	if (file_replace_open(&file, c->output, arena, err))
		return err->code;
	if (c->format == FORMAT_JSON) {
		jsonw_init(&w, file.out, true);
		jsonw_object(&w);
		jsonw_member_string(&w, "schema", "dos-settings/1");
		jsonw_key(&w, "settings");
		table_json(table, &w);
		jsonw_end_object(&w);
		putc('\n', file.out);
	} else {
		table_print(table, (enum format)c->format, file.out);
	}
	return file_replace_commit(&file, err);
}

static int config(const struct common *c, const struct params *p, struct arena *arena, struct err *err)
{
	struct descriptions all;
	struct settings settings;

	describe_commands(&all, arena);
	if (settings_load(&settings, c->config, &all, arena, err))
		return err->code;
	if (settings.ignored)
		common_note(c, "%s names no option", settings.ignored);
	struct table *const table = make_table(&all, &settings, p->has_origin, arena);
	const int code = print(c, table, arena, err);
	table_free(table);
	return code;
}

int command_config(int argc, char **argv, struct err *err)
{
	struct params params = {0};
	const struct command_line line = {.name = "config",
	    .usage = "[--show-origin]",
	    .about = "Lists the options that a configuration may set, with their values. From the strongest: the flag, the variable DOS_NAME,\n"
	             "--config FILE, ./dos.json, $XDG_CONFIG_HOME/dos/config.json, built-in. A file is a JSON object whose keys are names of\n"
	             "flags. Machine, model and policy apply to simulate, model, plan and sweep alone.",
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct arena arena = {0};
	struct common c;

	int code = common_parse(&c, &line, argc, argv, NULL, &arena, err);
	if (!code && !c.wants_help)
		code = config(&c, &params, &arena, err);
	arena_release(&arena);
	return code;
}
