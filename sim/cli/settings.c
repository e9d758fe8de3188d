/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/settings.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/base/json.h"
#include "model/base/jsonw.h"

extern char **environ;

/* ---- which option of which command */

static bool is_one_of(const char *word, const char *const words[])
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

bool settings_is_key(const char *key)
{
	static const char *const others[] = {"help", "output", "config", "show-origin", "dry-run", NULL};

	return !is_one_of(key, others);
}

bool settings_applies(const char *command, const char *key)
{
	static const char *const workload[] = {"hw", "model", "layers", "hidden", "heads", "kv-heads", "ffn", "vocab", "n-subgroups", "policy",
	    "zero", "tp", "scale", NULL};
	/* the others have a source of their own, and mean something else by these */
	static const char *const of_workload[] = {"simulate", "model", "sweep", "plan", NULL};
	static const char *const not_plot[] = {"db", "where", "run", "set", "format", NULL};

	if (is_one_of(key, workload))
		return is_one_of(command, of_workload);
	if (strcmp(command, "plot") == 0)
		return !is_one_of(key, not_plot);
	return strcmp(command, "report") != 0 || strcmp(key, "format") != 0;
}

/* All names of options, each once, NULL at the end. */
static struct opt_list list_keys(const struct descriptions *commands, struct arena *arena)
{
	struct opt_list keys = {0};

	for (size_t i = 0; i < commands->n; i++)
		for (size_t j = 0; j < commands->items[i].n_tables; j++)
			for (size_t k = 0; k < commands->items[i].tables[j].n_opts; k++) {
				const char *const name = commands->items[i].tables[j].opts[k].name;
				bool is_known = !settings_is_key(name);
				for (size_t l = 0; l < keys.n && !is_known; l++)
					is_known = strcmp(keys.items[l], name) == 0;
				if (!is_known)
					opt_list_add(&keys, name, arena);
			}
	opt_list_add(&keys, NULL, arena);
	keys.n--;
	return keys;
}

/* ---- adding */

static struct setting *add(struct settings *settings, const char *key, const char *origin, struct arena *arena)
{
	if (settings->n == settings->cap) {
		settings->cap = settings->cap ? 2 * settings->cap : 32;
		struct setting *const more = arena_alloc(arena, settings->cap, sizeof(*more));
		if (settings->n)
			memcpy(more, settings->items, settings->n * sizeof(*more));
		settings->items = more;
	}
	struct setting *const setting = &settings->items[settings->n++];
	*setting = (struct setting){.key = key, .origin = origin, .where = origin, .code = STATUS_USAGE};
	return setting;
}

/* ---- the environment */

/* "max-mape" -> "DOS_MAX_MAPE" */
static const char *variable_of(const char *key, struct arena *arena)
{
	char *const name = arena_printf(arena, "DOS_%s", key);

	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return name;
}

static void add_environment(struct settings *settings, const struct opt_list *keys, struct arena *arena)
{
	for (size_t i = 0; i < keys->n; i++) {
		const char *const name = variable_of(keys->items[i], arena);
		const char *const value = getenv(name);
		if (value && *value)
			opt_list_add(&add(settings, keys->items[i], name, arena)->texts, value, arena);
	}
}

/* Said by dos config: somebody may have meant an option. */
static void find_ignored(struct settings *settings, const struct opt_list *keys, struct arena *arena)
{
	static const char *const others[] = {"DOS_DATA", "DOS_CONFIG", NULL};

	for (char **variable = environ; *variable; variable++) {
		const char *const name = arena_printf(arena, "%.*s", (int)strcspn(*variable, "="), *variable);
		bool is_known = strncmp(name, "DOS_", 4) != 0 || is_one_of(name, others);
		for (size_t i = 0; i < keys->n && !is_known; i++)
			is_known = strcmp(variable_of(keys->items[i], arena), name) == 0;
		if (!is_known && (!settings->ignored || strcmp(name, settings->ignored) < 0))
			settings->ignored = name;
	}
}

/* ---- files */

static int scalar(struct setting *setting, const struct json_doc *doc, const json_node *node, struct arena *arena, struct err *err)
{
	char number[32];
	double value;
	const char *text;

	if (json_is_bool(node))
		text = json_is_true(node) ? "on" : "off";
	else if (json_is_number(node)) {
		if (json_number_of(&value, doc, node, -INFINITY, INFINITY, err))
			return err->code;
		text = jsonw_double_text(number, value);
	} else if (!json_is_string(node))
		return json_fail(doc, node, err, "a text, a number, true, false, or an array of them would be accepted");
	else if (json_text_of(&text, doc, node, err))
		return err->code;
	opt_list_add(&setting->texts, arena_strdup(arena, text), arena);
	return 0;
}

static int add_member(struct settings *settings, const struct json_doc *doc, const json_node *member, const char *path,
    struct arena *arena, struct err *err)
{
	const char *const key = arena_strdup(arena, json_key(member));
	struct setting *const setting = add(settings, key, path, arena);
	int code = 0;

	setting->where = arena_printf(arena, "%s: /%s", path, key);
	setting->code = STATUS_INPUT;
	if (!json_is_array(member))
		return scalar(setting, doc, member, arena, err);
	for (const json_node *item = json_first(member); !code && item; item = json_next(item))
		code = scalar(setting, doc, item, arena, err);
	return code;
}

static int add_document(struct settings *settings, const struct json_doc *doc, const struct opt_list *keys, const char *path,
    struct arena *arena, struct err *err)
{
	const json_node *const root = json_root(doc);
	struct opt_list accepted = {0};
	const char *schema = "";

	for (size_t i = 0; i < keys->n; i++)
		opt_list_add(&accepted, keys->items[i], arena);
	opt_list_add(&accepted, "schema", arena);
	opt_list_add(&accepted, NULL, arena);
	if (!json_is_object(root))
		return json_fail(doc, root, err, "an object with names of options as keys would be accepted");
	if (json_only_keys(doc, root, accepted.items, err))
		return err_wrap(err, "configuration");
	if (json_get(root, "schema") && json_text(&schema, doc, root, "schema", err))
		return err->code;
	if (json_get(root, "schema") && strcmp(schema, "dos-config/1") != 0)
		return json_fail(doc, json_get(root, "schema"), err, "is '%s'; \"dos-config/1\" would be accepted for a configuration", schema);
	for (const json_node *member = json_first(root); member; member = json_next(member)) {
		const bool is_other = strcmp(json_key(member), "schema") == 0 || strcmp(json_key(member), "extra") == 0;
		if (!is_other && add_member(settings, doc, member, path, arena, err))
			return err->code;
	}
	return 0;
}

static int add_file(struct settings *settings, const char *path, const struct opt_list *keys, struct arena *arena, struct err *err)
{
	struct json_doc *doc;

	if (json_open(&doc, path, err))
		return err_wrap(err, "configuration");
	const int code = add_document(settings, doc, keys, path, arena, err);
	json_close(doc);
	return code;
}

static const char *personal_file(struct arena *arena)
{
	const char *const folder = getenv("XDG_CONFIG_HOME"), *const home = getenv("HOME");

	if (folder && *folder)
		return arena_printf(arena, "%s/dos/config.json", folder);
	return home && *home ? arena_printf(arena, "%s/.config/dos/config.json", home) : NULL;
}

int settings_load(struct settings *settings, const char *config, const struct descriptions *commands, struct arena *arena, struct err *err)
{
	const struct opt_list keys = list_keys(commands, arena);
	const char *const personal = personal_file(arena);
	const char *const variable = getenv("DOS_CONFIG");
	const char *const given = config ? config : variable && *variable ? variable : NULL;
	int code = 0;

	*settings = (struct settings){0};
	add_environment(settings, &keys, arena);
	find_ignored(settings, &keys, arena);
	if (given)
		code = add_file(settings, arena_strdup(arena, given), &keys, arena, err);
	if (!code && access("dos.json", F_OK) == 0)
		code = add_file(settings, "./dos.json", &keys, arena, err);
	if (!code && personal && access(personal, F_OK) == 0)
		code = add_file(settings, personal, &keys, arena, err);
	return code;
}

/* ---- use */

const struct setting *settings_find(const struct settings *settings, const char *key)
{
	for (size_t i = 0; i < settings->n; i++)
		if (strcmp(settings->items[i].key, key) == 0)
			return &settings->items[i];
	return NULL;
}

const char *setting_text(const struct setting *setting, struct arena *arena)
{
	const char *text = setting->texts.n ? setting->texts.items[0] : "";

	for (size_t i = 1; i < setting->texts.n; i++)
		text = arena_printf(arena, "%s,%s", text, setting->texts.items[i]);
	return text;
}

static int set(void *params, const struct opt *opt, const struct setting *setting, struct arena *arena, struct err *err)
{
	int code = 0;

	if (opt->kind != OPT_LIST)
		code = opt_set(params, opt, setting_text(setting, arena), arena, err);
	for (size_t i = 0; opt->kind == OPT_LIST && !code && i < setting->texts.n; i++)
		code = opt_set(params, opt, setting->texts.items[i], arena, err);
	if (code) {
		err->code = setting->code;
		return err_wrap(err, "%s", setting->where);
	}
	return 0;
}

static bool is_seen(const struct opt_list *seen, const char *name)
{
	for (size_t i = 0; i < seen->n; i++)
		if (strcmp(seen->items[i], name) == 0)
			return true;
	return false;
}

int settings_apply(const struct settings *settings, const char *command, const struct opt_table *tables, size_t n_tables,
    const struct opt_list *seen, struct arena *arena, struct err *err)
{
	for (size_t i = 0; i < n_tables; i++)
		for (size_t j = 0; j < tables[i].n_opts; j++) {
			const struct opt *const opt = &tables[i].opts[j];
			const struct setting *const setting = settings_find(settings, opt->name);
			if (setting && !is_seen(seen, opt->name) && settings_applies(command, opt->name) &&
			    set(tables[i].params, opt, setting, arena, err))
				return err->code;
		}
	return 0;
}
