/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos list: what is known by name. */
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/study/plot.h"
#include "sim/study/rows.h"

/* ---- policies */

static const char *kind_word(const struct opt *opt)
{
	return opt->arg ? opt->arg : "VALUE";
}

static void policies_json(FILE *out)
{
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_array(&w);
	for (size_t i = 0; policy_all[i]; i++) {
		const struct policy *const policy = policy_all[i];
		jsonw_object(&w);
		jsonw_member_string(&w, "name", policy->name);
		jsonw_member_string(&w, "summary", policy->summary);
		jsonw_member_string(&w, "source", policy->source);
		jsonw_key(&w, "options");
		jsonw_array(&w);
		for (size_t j = 0; j < policy->n_opts; j++) {
			jsonw_inline_object(&w);
			jsonw_member_string(&w, "name", policy->opts[j].name);
			jsonw_member_string(&w, "value", kind_word(&policy->opts[j]));
			jsonw_member_string(&w, "default", policy->opts[j].fallback);
			jsonw_member_string(&w, "help", policy->opts[j].help);
			jsonw_end_object(&w);
		}
		jsonw_end_array(&w);
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	putc('\n', out);
}

static void policies_csv(FILE *out)
{
	static const struct table_column columns[] = {{"policy", NULL, UNIT_NONE}, {"option", NULL, UNIT_NONE}, {"value", NULL, UNIT_NONE},
	    {"default", NULL, UNIT_NONE}, {"help", NULL, UNIT_NONE}};
	struct table *const table = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; policy_all[i]; i++) {
		const struct policy *const policy = policy_all[i];
		for (size_t j = 0; j < (policy->n_opts ? policy->n_opts : 1); j++) {
			const struct opt *const opt = policy->n_opts ? &policy->opts[j] : NULL;
			table_text(table, policy->name);
			table_text(table, opt ? opt->name : NULL);
			table_text(table, opt ? kind_word(opt) : NULL);
			table_text(table, opt ? opt->fallback : NULL);
			table_text(table, opt ? opt->help : policy->summary);
		}
	}
	table_print(table, FORMAT_CSV, out);
	table_free(table);
}

static void policies_text(FILE *out)
{
	for (size_t i = 0; policy_all[i]; i++) {
		const struct policy *const policy = policy_all[i];
		fprintf(out, "%s%s\n  %s\n  from %s\n", i ? "\n" : "", policy->name, policy->summary, policy->source);
		for (size_t j = 0; j < policy->n_opts; j++) {
			const struct opt *const opt = &policy->opts[j];
			fprintf(out, "    %s=%s  %s%s%s%s\n", opt->name, kind_word(opt), opt->help, opt->fallback ? " (default " : "",
			    opt->fallback ? opt->fallback : "", opt->fallback ? ")" : "");
		}
	}
}

static int list_policies(FILE *out, enum format format, struct arena *arena, struct err *err)
{
	(void)arena, (void)err;
	switch (format) {
	case FORMAT_TABLE: policies_text(out); break;
	case FORMAT_JSON: policies_json(out); break;
	case FORMAT_CSV: policies_csv(out); break;
	}
	return 0;
}

/* ---- models */

static const struct table_column model_columns[] = {
    {"model", NULL, UNIT_NONE},
    {"n_params", "parameters", UNIT_PARAMS},
    {"layers", NULL, UNIT_NONE},
    {"hidden", NULL, UNIT_NONE},
    {"heads", NULL, UNIT_NONE},
    {"kv_heads", "kv heads", UNIT_NONE},
    {"ffn", NULL, UNIT_NONE},
    {"vocab", NULL, UNIT_NONE},
    {"source", NULL, UNIT_NONE},
};

static int add_model(struct table *table, const struct shape_preset *preset, struct arena *arena, struct err *err)
{
	const struct batch batch = {.gpus = 1};
	const struct shape *const shape = &preset->shape;
	struct workload workload;

	if (workload_build(&workload, shape, &batch, arena, err))
		return err_wrap(err, "%s", shape->name);
	table_text(table, shape->name);
	table_number(table, workload.n_params);
	table_number(table, shape->layers);
	table_number(table, shape->hidden);
	table_number(table, shape->heads);
	table_number(table, shape->kv_heads);
	table_number(table, shape->ffn);
	table_number(table, shape->vocab);
	table_text(table, preset->source);
	return 0;
}

static int list_models(FILE *out, enum format format, struct arena *arena, struct err *err)
{
	struct table *const table = table_new(model_columns, sizeof(model_columns) / sizeof(model_columns[0]));
	int code = 0;

	for (size_t i = 0; !code && i < n_shape_presets; i++)
		code = add_model(table, &shape_presets[i], arena, err);
	if (!code)
		table_print(table, format, out);
	table_free(table);
	return code;
}

/* ---- profiles */

static const struct table_column profile_columns[] = {
    {"hw", NULL, UNIT_NONE},
    {"gpus", NULL, UNIT_NONE},
    {"gpu_memory_bytes", "gpu memory", UNIT_BYTES},
    {"host_memory_bytes", "host memory", UNIT_BYTES},
    {"threads", NULL, UNIT_NONE},
    {"date", NULL, UNIT_NONE},
    {"summary", NULL, UNIT_NONE},
};

static int list_profiles(FILE *out, enum format format, struct arena *arena, struct err *err)
{
	struct table *const table = table_new(profile_columns, sizeof(profile_columns) / sizeof(profile_columns[0]));
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct opt_list names;
	const size_t n_names = hwprofile_list(&names, arena);
	int code = 0;

	for (size_t i = 0; !code && i < n_names; i++) {
		code = hwprofile_load(hw, names.items[i], arena, err);
		if (code)
			break;
		table_text(table, names.items[i]);
		table_number(table, hw->gpus);
		table_number(table, hw->gpu_memory_bytes);
		table_number(table, hw->host_memory_bytes);
		table_number(table, hw->threads);
		table_text(table, hw->provenance.date);
		table_text(table, hw->summary);
	}
	if (!code)
		table_print(table, format, out);
	table_free(table);
	return code;
}

/* ---- plots, sets */

static int list_plots(FILE *out, enum format format, struct arena *arena, struct err *err)
{
	static const struct table_column columns[] = {{"plot", NULL, UNIT_NONE}, {"source", NULL, UNIT_NONE}, {"summary", NULL, UNIT_NONE}};
	struct table *const table = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	(void)err;
	for (size_t i = 0; i < n_plot_kinds; i++) {
		table_text(table, plot_kinds[i].name);
		table_text(table, plot_inputs_text(&plot_kinds[i], arena));
		table_text(table, plot_kinds[i].summary);
	}
	table_print(table, format, out);
	table_free(table);
	return 0;
}

static int list_sets(FILE *out, enum format format, struct arena *arena, struct err *err)
{
	static const struct table_column columns[] = {{"set", NULL, UNIT_NONE}, {"n_rows", "rows", UNIT_NONE}, {"machines", NULL, UNIT_NONE}};
	struct table *const table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct opt_list names;
	const size_t n_names = rows_list(&names, arena);
	int code = 0;

	for (size_t i = 0; !code && i < n_names; i++) {
		struct rows rows;
		const char *machines = "";
		code = rows_load(&rows, names.items[i], arena, err);
		for (size_t j = 0; !code && j < rows.n; j++)
			if (!strstr(machines, rows.rows[j].hw))
				machines = arena_printf(arena, "%s%s%s", machines, *machines ? " " : "", rows.rows[j].hw);
		if (code)
			break;
		table_text(table, names.items[i]);
		table_integer(table, (long long)rows.n);
		table_text(table, machines);
	}
	if (!code)
		table_print(table, format, out);
	table_free(table);
	return code;
}

/* ---- the command */

static const struct topic {
	const char *name;
	int (*print)(FILE *out, enum format format, struct arena *arena, struct err *err);
} topics[] = {
    {"policies", list_policies},
    {"models", list_models},
    {"profiles", list_profiles},
    {"plots", list_plots},
    {"sets", list_sets},
};
enum { N_TOPICS = sizeof(topics) / sizeof(topics[0]) };

static int find_topic(const struct topic **topic, const struct opt_list *rest, struct err *err)
{
	const char *names[N_TOPICS + 1] = {NULL};

	if (rest->n != 1)
		return err_set(err, STATUS_USAGE, "list: one of policies, models, profiles, plots, sets would be accepted");
	for (size_t i = 0; i < N_TOPICS; i++) {
		names[i] = topics[i].name;
		*topic = &topics[i];
		if (strcmp(topics[i].name, rest->items[0]) == 0)
			return 0;
	}
	const char *const nearest = err_nearest(rest->items[0], names);
	return err_set(err, STATUS_USAGE, "list: '%s' is not policies, models, profiles, plots or sets%s%s%s", rest->items[0],
	    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static int print_topic(const struct topic *topic, const struct common *c, struct arena *arena, struct err *err)
{
	struct file_replace file;
	int code = file_replace_open(&file, c->output, arena, err);

	if (code)
		return code;
	code = topic->print(file.out, (enum format)c->format, arena, err);
	if (!code)
		return file_replace_commit(&file, err);
	file_replace_cancel(&file);
	return code;
}

int command_list(int argc, char **argv, struct err *err)
{
	const struct command_line line = {.name = "list",
	    .usage = "policies|models|profiles|plots|sets [OPTION]..",
	    .about = "Lists what is known by name."};
	const struct topic *topic;
	struct arena arena = {0};
	struct common c;
	struct opt_list rest;

	int code = common_parse(&c, &line, argc, argv, &rest, &arena, err);
	if (!code && !c.wants_help) {
		code = find_topic(&topic, &rest, err);
		if (!code)
			code = print_topic(topic, &c, &arena, err);
	}
	arena_release(&arena);
	return code;
}
