/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos report: stored runs as one HTML page. */
#include "sim/study/report.h"

#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/study/report_parts.h"

struct params {
	const char *db, *where, *title;
	struct opt_list machines, models;
	bool has_no_plots;
};

static const struct opt opts[] = {
    {.name = "db", .kind = OPT_TEXT, .offset = offsetof(struct params, db), .arg = "FILE", .help = "runs of dos sweep"},
    {.name = "where", .kind = OPT_TEXT, .offset = offsetof(struct params, where), .arg = "SQL",
        .help = "only these of them: an expression over the columns of v_runs"},
    {.name = "hw", .kind = OPT_LIST, .offset = offsetof(struct params, machines), .arg = "FILE[,..]",
        .help = "profiles of runs whose machine is not shipped: for intervals, and the kinds of their numbers"},
    {.name = "model", .kind = OPT_LIST, .offset = offsetof(struct params, models), .arg = "FILE[,..]",
        .help = "config.json of runs whose model is no preset: for intervals"},
    {.name = "title", .kind = OPT_TEXT, .offset = offsetof(struct params, title), .arg = "TEXT", .help = "heading (default: models and machines)"},
    {.name = "no-plots", .kind = OPT_FLAG, .offset = offsetof(struct params, has_no_plots), .help = "leave out the figures, which need gnuplot"},
};

enum { default_samples = 100, least_samples = 20 };

static int check(const struct common *c, const struct params *p, struct err *err)
{
	if (!p->db)
		return err_set(err, STATUS_USAGE, "report: --db is missing: a database of dos sweep");
	if (c->format != FORMAT_TABLE)
		return err_set(err, STATUS_USAGE, "report: --format is for tables; a report is HTML, dos db query gives JSON and CSV");
	if (!c->output)
		return err_set(err, STATUS_USAGE, "report: -o is missing: the page to write, such as report.html");
	return 0;
}

static int load_shapes(struct shape **shapes, struct common *c, const struct opt_list *models, struct arena *arena, struct err *err)
{
	struct batch batch;
	int code = 0;

	*shapes = arena_zalloc(arena, models->n + 1, sizeof(**shapes));
	for (size_t i = 0; !code && i < models->n; i++) {
		c->model = models->items[i];
		code = common_workload(&(*shapes)[i], &batch, c, arena, err);
	}
	return code;
}

/* Given, so it must be there. */
static int check_machines(const struct opt_list *machines, struct arena *arena, struct err *err)
{
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));

	for (size_t i = 0; i < machines->n; i++)
		if (hwprofile_load(hw, machines->items[i], arena, err))
			return err->code;
	return 0;
}

static int write_report(const struct common *c, const struct report_input *input, struct arena *arena, struct err *err)
{
	struct file_replace file;
	struct opt_list notes;

	if (file_replace_open(&file, c->output, arena, err))
		return err->code;
	const int code = report_write(file.out, &notes, input, arena, err);
	for (size_t i = 0; !code && i < notes.n; i++)
		common_note(c, "%s", notes.items[i]);
	if (code == 0)
		return file_replace_commit(&file, err);
	file_replace_cancel(&file);
	return code;
}

int command_report(int argc, char **argv, struct err *err)
{
	struct params params = {0};
	const struct command_line line = {.name = "report",
	    .usage = "--db FILE [--where SQL] [--title TEXT] -o report.html",
	    .about = "Writes stored runs as one HTML page that needs nothing else: the best configuration that fits for every machine and\n"
	             "model, what limits it and how much faster than zero3-offload it is; figures; all runs, to sort and filter; assumptions\n"
	             "and provenance. Intervals are of 100 draws, of 20 where runs are long, unless --uncertainty gives another number; 0: none. SOURCE_DATE_EPOCH\n"
	             "sets its date. Exit 1: no run is selected. Exit 4: no gnuplot.",
	    .groups = COMMON_UNCERTAINTY,
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct arena arena = {0};
	struct shape *shapes = NULL;
	struct common c;

	int code = common_parse(&c, &line, argc, argv, NULL, &arena, err);
	if (!code && !c.wants_help)
		code = check(&c, &params, err);
	if (!code && !c.wants_help)
		code = check_machines(&params.machines, &arena, err);
	if (!code && !c.wants_help)
		code = load_shapes(&shapes, &c, &params.models, &arena, err);
	if (!code && !c.wants_help) {
		const struct report_input input = {.db = params.db, .where = params.where, .title = params.title,
		    .machines = &params.machines, .shapes = shapes, .n_shapes = params.models.n,
		    .command = report_command_line(argc, argv, &arena), .has_plots = !params.has_no_plots,
		    .n_samples = c.has_uncertainty ? (size_t)c.uncertainty : default_samples,
		    .n_samples_least = c.has_uncertainty ? 0 : least_samples, .seed = (unsigned long long)c.seed};
		code = write_report(&c, &input, &arena, err);
	}
	arena_release(&arena);
	return code;
}
