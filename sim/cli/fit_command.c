/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos fit: a machine's constants from recorded runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/cli/fit_print.h"
#include "sim/cli/replay_print.h"
#include "sim/study/fit_profile.h"
#include "sim/study/profile_latency.h"
#include "sim/study/profile_save.h"
#include "traces/reader.h"

static const char *const loss_words[] = {"l1", "l2", NULL};
static const char *const leave_words[] = {"run", "model", "none", NULL}; /* enum fit_leave */

struct params {
	double noise_frac;
	int loss, leave;
	bool has_jackknife;
	struct opt_list ids, constants, counts;
	const char *name;
};

static const struct opt opts[] = {
    {.name = "rows",
	.kind = OPT_LIST,
	.offset = offsetof(struct params, ids),
	.arg = "PATTERN",
	.help = "only rows whose id matches, such as 'h100-*'; may be repeated"},
    {.name = "node",
	.kind = OPT_LIST,
	.offset = offsetof(struct params, counts),
	.arg = "NAME=N[,..]",
	.help = "counts of this machine in place of START's, such as gpus=4,numa_domains=1"},
    {.name = "param",
	.kind = OPT_LIST,
	.offset = offsetof(struct params, constants),
	.arg = "NAME",
	.help = "only this constant, such as dram_Bps; +NAME: this one too, that START lacks; may be repeated"},
    {.name = "loss",
	.kind = OPT_WORD,
	.offset = offsetof(struct params, loss),
	.words = loss_words,
	.fallback = "l1",
	.arg = "l1|l2",
	.help = "l1: outliers count less; l2: squares"},
    {.name = "noise",
	.kind = OPT_NUMBER,
	.unit = UNIT_FRAC,
	.offset = offsetof(struct params, noise_frac),
	.min = 1e-4,
	.max = 1,
	.fallback = "5%",
	.arg = "F",
	.help = "of an update's time, relative; other values in proportion"},
    {.name = "leave-out",
	.kind = OPT_WORD,
	.offset = offsetof(struct params, leave),
	.words = leave_words,
	.fallback = "run",
	.arg = "run|model|none",
	.help = "what is predicted by a fit of the others"},
    {.name = "jackknife",
	.kind = OPT_FLAG,
	.offset = offsetof(struct params, has_jackknife),
	.help = "standard errors from the fits that leave one out"},
    {.name = "name",
	.kind = OPT_TEXT,
	.offset = offsetof(struct params, name),
	.arg = "TEXT",
	.help = "name of the profile (default: that of --hw with -fit)"},
};

/* ---- counts of the node, which no fit finds */

static int unknown_count(const char *item, struct arena *arena, struct err *err)
{
	const char *list = "";

	for (size_t i = 0; i < hw_n_node_fields; i++)
		list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", hw_node_fields[i].name);
	return err_set(err, STATUS_USAGE, "--node '%s': NAME=N would be accepted; names: %s", item, list);
}

/* *is_other: the count is not START's. */
static int set_count(bool *is_other, struct hwprofile *hw, const char *item, struct arena *arena, struct err *err)
{
	const size_t n_name = strcspn(item, "=");
	double value;

	for (size_t i = 0; i < hw_n_node_fields && item[n_name]; i++) {
		const struct hw_field *const field = &hw_node_fields[i];
		if (strlen(field->name) != n_name || memcmp(field->name, item, n_name) != 0)
			continue;
		if (units_parse(&value, UNIT_NONE, item + n_name + 1, err))
			return err_wrap(err, "--node %s", item);
		if (value < field->min || value > field->max || value != floor(value))
			return err_set(err, STATUS_USAGE, "--node %s: a whole number from %.0f to %.0f would be accepted", item, field->min, field->max);
		double *const count = (double *)(void *)((char *)hw + field->offset);
		*is_other = *is_other || *count != value;
		*count = value;
		return 0;
	}
	return unknown_count(item, arena, err);
}

/* Counts of another machine: runs of a few strides do not show how its DRAM slows under load, and START's says nothing of it. */
static int set_counts(struct hwprofile *hw, const struct opt_list *counts, const struct common *c, struct arena *arena, struct err *err)
{
	bool is_other = false;

	for (size_t i = 0; i < counts->n; i++) {
		struct opt_list items = {0};
		if (opt_expand(&items, counts->items[i], ',', arena, err))
			return err_wrap(err, "--node");
		for (size_t j = 0; j < items.n; j++)
			if (set_count(&is_other, hw, items.items[j], arena, err))
				return err->code;
	}
	if (counts->n > 0 && hwprofile_check(hw, "--node", err))
		return err->code = STATUS_USAGE;
	if (is_other && hw->dram_latency_Bps > 0) {
		profile_forget_latency(hw, arena);
		common_note(c, "--node: another machine, so the start's grid of co-runs and loaded latency of DRAM are left out");
	}
	return 0;
}

/* ---- runs */

/* Rows of a CSV file start with a line that names the columns id, hw and policy. */
static bool is_rows(const char *path, struct err *err)
{
	struct input in;
	bool has_names = false;

	if (!strpbrk(path, "./") && strcmp(path, "-") != 0 && access(path, F_OK) != 0)
		return true; /* name of a shipped set */
	if (input_open(&in, path, err))
		return false;
	const size_t n = input_fill(&in, 4096), n_all = n < 4096 ? n : 4096;
	if (n_all > 0) {
		const char *const end = memchr(input_text(&in), '\n', n_all);
		const size_t n_line = end ? (size_t)(end - input_text(&in)) : n_all;
		has_names = memmem(input_text(&in), n_line, "id,", 3) && memmem(input_text(&in), n_line, "hw", 2) &&
		    memmem(input_text(&in), n_line, "policy", 6);
	}
	input_close(&in);
	return has_names;
}

static int add_log(struct fit_cases *cases, const char *path, const struct fit_log_options *options, const struct common *c,
    struct arena *arena, struct err *err)
{
	struct recording *const rec = xmalloc(1, sizeof(*rec));

	int code = recording_load(rec, path, err);
	if (!code)
		replay_notes(rec, path, c);
	if (!code)
		code = fit_cases_add_recording(cases, rec, options, arena, err);
	if (!code) {
		const struct fit_case *const run = &cases->cases[cases->n - 1];
		common_note(c, "%s: %zu iterations, %s", path, rec->n_iterations, run->input.policy);
	}
	recording_release(rec);
	free(rec);
	return code;
}

static int add_file(struct fit_cases *cases, const char *path, const struct fit_log_options *options, const struct common *c,
    const struct params *p, struct arena *arena, struct err *err)
{
	struct rows rows;
	const bool has_rows = is_rows(path, err);

	if (err->code)
		return err->code;
	if (!has_rows)
		return add_log(cases, path, options, c, arena, err);
	const int code = rows_load(&rows, path, arena, err);
	return code ? code : fit_cases_add_rows(cases, &rows, &p->ids, arena, err);
}

/* What flags say of logs; the shape only when there is one. */
static int log_options(struct fit_log_options *options, const struct common *c, struct arena *arena, struct err *err)
{
	struct opt_list specs;
	const bool has_shape = c->model || c->layers;

	*options = (struct fit_log_options){.threads = (double)c->threads};
	if (has_shape && common_workload(&options->shape, &options->batch, c, arena, err))
		return err->code;
	if (!has_shape)
		options->batch = (struct batch){.gpus = (double)c->gpus, .nodes = (double)c->nodes, .zero_stage = (double)c->zero_stage,
		    .tp = (double)c->tp, .mbs = (double)c->mbs, .grad_accum = (double)c->grad_accum,
		    .seq = (double)c->seq, .subgroup_params = c->subgroup_params, .precision = (enum precision)c->precision};
	options->batch.has_checkpointing = c->checkpointing == 0;
	options->has_checkpointing = has_shape;
	if (c->policies.n == 0)
		return 0;
	if (common_policies(&specs, c, NULL, arena, err))
		return err->code;
	if (specs.n > 1)
		return err_set(err, STATUS_USAGE, "--policy: one would be accepted, for the logs; %zu are given", specs.n);
	options->policy = specs.items[0];
	return 0;
}

static int gather(struct fit_cases *cases, const struct opt_list *files, const struct common *c, const struct params *p,
    struct arena *arena, struct err *err)
{
	struct fit_log_options options;

	if (files->n == 0)
		return err_set(err, STATUS_USAGE, "fit: runs are missing: a CSV file of rows, a shipped set (dos list sets), or logs");
	int code = log_options(&options, c, arena, err);
	for (size_t i = 0; !code && i < files->n; i++)
		code = add_file(cases, files->items[i], &options, c, p, arena, err);
	if (code)
		return code;
	if (cases->n_excluded)
		common_note(c, "%zu row%s marked as excluded left out", cases->n_excluded, cases->n_excluded == 1 ? "" : "s");
	if (cases->n_unmeasured)
		common_note(c, "%zu run%s without measured times left out", cases->n_unmeasured, cases->n_unmeasured == 1 ? "" : "s");
	if (cases->n == 0)
		return err_set(err, STATUS_NO, "no rows are left%s", cases->n_excluded + cases->n_unmeasured == 0 && p->ids.n ?
		    ": none matches --rows" : "");
	return 0;
}

/* ---- output */

static int write_profile(const struct hwprofile *hw, const char *path, struct arena *arena, struct err *err)
{
	struct file_replace file;
	const int code = file_replace_open(&file, path, arena, err);

	if (code)
		return code;
	profile_save(file.out, hw);
	return file_replace_commit(&file, err);
}

static void print(FILE *out, enum format format, const struct fit_report *report, struct arena *arena)
{
	switch (format) {
	case FORMAT_TABLE: fit_text(out, report, arena); break;
	case FORMAT_JSON: fit_json(out, report, arena); break;
	case FORMAT_CSV: fit_csv(out, report, arena); break;
	}
}

static const char *command_text(int argc, char **argv, struct arena *arena)
{
	const char *text = "dos";

	for (int i = 0; i < argc; i++)
		text = arena_printf(arena, "%s %s", text, argv[i]);
	return text;
}

/* The profile where -o says, the report on standard output; with -o - the profile alone. */
static int report_and_write(const struct fit_result *result, const struct fit_cases *cases, const struct fit_options *options,
    const struct common *c, const struct fit_profile_head *head, struct arena *arena, struct err *err)
{
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));

	int code = fit_profile(hw, result, cases, head, arena, err);
	if (!code && c->output)
		code = write_profile(hw, c->output, arena, err);
	if (code)
		return code;
	const struct fit_report report = {.result = result, .cases = cases, .options = options, .profile = hw->name};
	if (!c->output || strcmp(c->output, "-") != 0)
		print(stdout, (enum format)c->format, &report, arena);
	if (!c->output)
		common_note(c, "no -o: the profile is not written");
	if (fflush(stdout) || ferror(stdout))
		return err_set(err, STATUS_ENV, "standard output: cannot be written");
	return 0;
}

static int fit(const struct common *c, const struct params *p, const struct opt_list *files, const struct fit_profile_head *head,
    struct arena *arena, struct err *err)
{
	struct fit_options options = {.params = &p->constants, .noise_frac = p->noise_frac, .is_l1 = p->loss == 0,
	    .has_jackknife = p->has_jackknife, .leave = (enum fit_leave)p->leave, .sync = (enum sync)c->sync};
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct fit_cases cases = {0};
	struct fit_result result;
	const clock_t before = clock();

	int code = file_replace_check(c->output, arena, err);
	if (!code)
		code = common_hw(hw, c, arena, err);
	if (!code)
		code = set_counts(hw, &p->counts, c, arena, err);
	if (!code)
		code = common_sharing(&options.sharing, c, arena, err);
	if (!code)
		code = gather(&cases, files, c, p, arena, err);
	if (!code)
		code = fit_run(&result, hw, &cases, &options, arena, err);
	if (code)
		return code;
	if (c->is_verbose)
		common_note(c, "%zu simulations, %.1f s", result.n_trials, (double)(clock() - before) / CLOCKS_PER_SEC);
	return report_and_write(&result, &cases, &options, c, head, arena, err);
}

int command_fit(int argc, char **argv, struct err *err)
{
	struct params params = {0};
	const struct command_line line = {.name = "fit",
	    .usage = "--hw START RUNS.csv|SET|LOG.. [-o profile.json] [OPTION]..",
	    .about = "Estimates the constants of a machine from recorded runs, by least squares over simulations, starting "
		     "from profile START:\n"
		     "what the runs cannot tell stays as it is there, and is named. Runs: rows as dos validate reads them, "
		     "or logs and\n"
		     "traces as dos replay reads them; model, policy and batch options say of those what they lack. The "
		     "report goes to\n"
		     "standard output, the profile to -o. Exit 1: no rows left.",
	    .groups = COMMON_HW | COMMON_MODEL | COMMON_POLICY | COMMON_BATCH | COMMON_CONTENTION | COMMON_SYNC,
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct arena arena = {0};
	struct common c;
	struct opt_list rest;

	int code = common_parse(&c, &line, argc, argv, &rest, &arena, err);
	if (!code && !c.wants_help) {
		const struct fit_profile_head head = {.name = params.name, .command = command_text(argc, argv, &arena),
		    .date = fit_profile_date(&arena)};
		code = fit(&c, &params, &rest, &head, &arena, err);
	}
	arena_release(&arena);
	return code;
}
