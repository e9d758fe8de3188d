/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos check-config: what configurations say, and what is known to go wrong in them. */
#include <string.h>

#include "model/base/jsonw.h"
#include "model/traps.h"
#include "sim/cli/command.h"
#include "sim/cli/common.h"

struct params {
	long long gpus;
};

static const struct opt opts[] = {
    {.name = "gpus",
	.kind = OPT_INT,
	.offset = offsetof(struct params, gpus),
	.min = 1,
	.max = 1e6,
	.arg = "N",
	.help = "GPUs, one rank each (default: the profile's, or what the batch sizes imply)"},
};

/* What was read, and what is known besides. */
struct input {
	struct config_file *files;
	size_t n_files;
	struct shape shape;
	struct traps_context context;
};

/* ---- input */

static int load_files(struct input *input, const struct opt_list *paths, struct arena *arena, struct err *err)
{
	if (paths->n == 0)
		return err_set(err, STATUS_USAGE,
		    "check-config: a file is missing: Hugging Face config.json, DeepSpeed configuration or "
		    "Megatron arguments");
	input->n_files = paths->n;
	input->files = arena_alloc(arena, paths->n, sizeof(*input->files));
	for (size_t i = 0; i < paths->n; i++)
		if (config_file_load(&input->files[i], paths->items[i], arena, err))
			return err->code;
	return 0;
}

/* --model and its flags, else the first file that has a shape. */
static int find_shape(struct input *input, const struct common *c, struct arena *arena, struct err *err)
{
	struct batch ignored;

	if (c->model || c->layers || c->hidden) {
		input->context.shape = &input->shape;
		return common_workload(&input->shape, &ignored, c, arena, err);
	}
	for (size_t i = 0; i < input->n_files && !input->context.shape; i++)
		input->context.shape = config_file_shape(&input->files[i]);
	/* without a vocabulary it cannot be partitioned */
	if (input->context.shape && input->context.shape->vocab == 0)
		input->context.shape = NULL;
	return 0;
}

static int read_input(struct input *input, const struct opt_list *paths, const struct common *c, const struct params *p,
    struct arena *arena, struct err *err)
{
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));

	*input = (struct input){.context.gpus = (double)p->gpus};
	int code = load_files(input, paths, arena, err);
	if (!code && c->hw) {
		code = common_hw(hw, c, arena, err);
		input->context.hw = hw;
		if (!code && p->gpus == 0)
			input->context.gpus = hw->gpus;
	}
	return code ? code : find_shape(input, c, arena, err);
}

/* ---- one file in short: counts of a model, policy of a DeepSpeed configuration */

struct summary {
	const char *type; /* model_type, or NULL */
	double n_params, active_params; /* 0: no model, or no vocabulary */
	const char *policy; /* NULL: none, or not modelled */
	int stage; /* of the policy; 0: none */
};

static int summarise(struct summary *summary, const struct config_file *file, struct arena *arena, struct err *err)
{
	const struct shape *const shape = config_file_shape(file);
	const struct batch batch = {.gpus = 1};
	struct workload workload;
	struct err ignored = {0};

	*summary = (struct summary){.type = file->kind == CONFIG_HF ? file->hf.model_type : NULL};
	if (file->kind == CONFIG_DS && ds_config_policy(&summary->policy, &file->ds, arena, &ignored))
		summary->policy = NULL;
	summary->stage = summary->policy ? (int)file->ds.stage.value : 0;
	if (!shape || shape->vocab == 0)
		return 0;
	if (workload_count(&workload, shape, &batch, arena, err))
		return err_wrap(err, "%s", file->name);
	summary->n_params = workload.n_params;
	summary->active_params = workload_active_params(&workload);
	return 0;
}

/* 8030261248 -> "8,030,261,248": counts here are exact, and read as such */
static const char *grouped(double value, struct arena *arena)
{
	char digits[32];
	const int length = snprintf(digits, sizeof(digits), "%.0f", value);
	char *const text = arena_alloc(arena, 64, 1);
	size_t n = 0;

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			text[n++] = ',';
		text[n++] = digits[i];
	}
	text[n] = '\0';
	return text;
}

static void print_summary(FILE *out, const struct config_file *file, const struct summary *s, struct arena *arena)
{
	fprintf(out, "%s: %s%s%s", file->name, config_kind_names[file->kind], s->type ? " " : "", s->type ? s->type : "");
	if (s->n_params > 0)
		fprintf(out, ", %s parameters", grouped(s->n_params, arena));
	if (s->active_params < s->n_params)
		fprintf(out, ", %s active", grouped(s->active_params, arena));
	if (s->policy)
		fprintf(out, ", policy %s", s->policy);
	if (s->policy && s->stage < 3)
		fprintf(out, " --zero %d", s->stage);
	putc('\n', out);
}

static void write_summary(struct jsonw *w, const struct config_file *file, const struct summary *s)
{
	jsonw_inline_object(w);
	jsonw_member_string(w, "file", file->name);
	jsonw_member_string(w, "kind", config_kind_names[file->kind]);
	if (s->type)
		jsonw_member_string(w, "model_type", s->type);
	if (s->n_params > 0) {
		jsonw_member_number(w, "n_params", s->n_params);
		jsonw_member_number(w, "active_params", s->active_params);
	}
	if (s->policy)
		jsonw_member_string(w, "policy", s->policy);
	if (s->policy && s->stage < 3)
		jsonw_member_integer(w, "zero", s->stage);
	jsonw_end_object(w);
}

/* ---- findings */

static const struct table_column columns[] = {
    {"file", NULL, UNIT_NONE},
    {"level", NULL, UNIT_NONE},
    {"id", NULL, UNIT_NONE},
    {"key", NULL, UNIT_NONE},
    {"finding", NULL, UNIT_NONE},
    {"better", NULL, UNIT_NONE},
};

static struct table *findings_table(const struct traps *traps)
{
	struct table *const table = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < traps->n; i++) {
		const struct trap *const trap = &traps->list[i];
		table_text(table, trap->file);
		table_text(table, trap->is_warning ? "warning" : "note");
		table_text(table, trap->id);
		table_text(table, trap->key);
		table_text(table, trap->finding);
		table_text(table, trap->better);
	}
	return table;
}

/* Texts too long for a table of people: a paragraph each. */
static void print_findings(FILE *out, const struct traps *traps)
{
	for (size_t i = 0; i < traps->n; i++) {
		const struct trap *const trap = &traps->list[i];
		fprintf(out, "\n%s %s: %s: %s\n  %s\n", trap->is_warning ? "warning" : "note", trap->id, trap->file,
		    trap->key, trap->finding);
		if (trap->better)
			fprintf(out, "  better: %s\n", trap->better);
	}
}

static void print_all(FILE *out, enum format format, const struct input *input, const struct summary *summaries,
    const struct traps *traps, struct arena *arena)
{
	struct table *const table = findings_table(traps);
	struct jsonw w;

	if (format == FORMAT_TABLE) {
		for (size_t i = 0; i < input->n_files; i++)
			print_summary(out, &input->files[i], &summaries[i], arena);
		print_findings(out, traps);
	} else if (format == FORMAT_CSV) {
		table_print(table, format, out);
	} else {
		jsonw_init(&w, out, true);
		jsonw_object(&w);
		jsonw_member_string(&w, "schema", "dos-check-config/1");
		jsonw_key(&w, "files");
		jsonw_array(&w);
		for (size_t i = 0; i < input->n_files; i++)
			write_summary(&w, &input->files[i], &summaries[i]);
		jsonw_end_array(&w);
		jsonw_key(&w, "findings");
		table_json(table, &w);
		jsonw_end_object(&w);
		putc('\n', out);
	}
	table_free(table);
}

/* ---- the command */

static int check(
    const struct opt_list *paths, const struct common *c, const struct params *p, struct arena *arena, struct err *err)
{
	struct input input;
	struct file_replace file;
	struct traps traps = {.arena = arena};
	int code = read_input(&input, paths, c, p, arena, err);

	if (code)
		return code;
	struct summary *const summaries = arena_alloc(arena, input.n_files, sizeof(*summaries));
	for (size_t i = 0; !code && i < input.n_files; i++) {
		code = summarise(&summaries[i], &input.files[i], arena, err);
		if (!code)
			code = traps_find(&traps, &input.files[i], &input.context, err);
	}
	if (!code)
		code = file_replace_open(&file, c->output, arena, err);
	if (code)
		return code;
	print_all(file.out, (enum format)c->format, &input, summaries, &traps, arena);
	code = file_replace_commit(&file, err);
	if (!code && traps.n_warnings > 0)
		code = err_set(err, STATUS_NO, "%zu warning%s", traps.n_warnings, traps.n_warnings > 1 ? "s" : "");
	return code;
}

int command_check_config(int argc, char **argv, struct err *err)
{
	struct params params = {0};
	const struct command_line line = {.name = "check-config",
	    .usage = "FILE.. [--hw H] [--model M] [--gpus N] [OPTION]..",
	    .about = "Reads Hugging Face config.json, DeepSpeed configurations and Megatron arguments, counts parameters "
		     "and\nwarns of "
		     "known traps. Exit 1: there are warnings.",
	    .groups = COMMON_HW | COMMON_MODEL,
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct arena arena = {0};
	struct common c;
	struct opt_list rest;

	int code = common_parse(&c, &line, argc, argv, &rest, &arena, err);
	if (!code && !c.wants_help)
		code = check(&rest, &c, &params, &arena, err);
	arena_release(&arena);
	return code;
}
