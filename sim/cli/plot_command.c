/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos plot: one figure, drawn by gnuplot. */
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/study/gnuplot.h"

struct params {
	const char *db, *where, *run;
	struct opt_list sets;
	bool has_keep;
};

static const struct opt opts[] = {
    {.name = "db", .kind = OPT_TEXT, .offset = offsetof(struct params, db), .arg = "FILE", .help = "runs of dos sweep"},
    {.name = "where", .kind = OPT_TEXT, .offset = offsetof(struct params, where), .arg = "SQL",
        .help = "only these of them: an expression over the columns of v_runs"},
    {.name = "run", .kind = OPT_TEXT, .offset = offsetof(struct params, run), .arg = "FILE",
        .help = "trace of dos simulate --trace, or JSON of dos validate"},
    {.name = "set", .kind = OPT_LIST, .offset = offsetof(struct params, sets), .arg = "NAME|FILE",
        .help = "recorded runs to validate; may be repeated"},
    {.name = "keep", .kind = OPT_FLAG, .offset = offsetof(struct params, has_keep), .help = "leave the .gp script and its .dat data beside the output"},
};

/* ---- where the numbers come from */

static const char *join(int argc, char **argv, struct arena *arena)
{
	const char *text = "dos";

	for (int i = 0; i < argc; i++) {
		const char *const mark = *argv[i] && !strpbrk(argv[i], " \t*?<>&;|()$`\"'") ? "" : strchr(argv[i], '\'') ? "\"" : "'";
		text = arena_printf(arena, "%s %s%s%s", text, mark, argv[i], mark);
	}
	return text;
}

static int choose_input(struct plot_source *source, const struct plot_kind *kind, const struct common *c, const struct params *p,
    struct arena *arena, struct err *err)
{
	const bool has_trials = c->model || c->layers || c->n_subgroups || (c->hw && p->sets.n == 0);
	const unsigned given = (p->db ? PLOT_FROM_DB : 0u) | (p->run ? PLOT_FROM_RUN : 0u) | (p->sets.n ? PLOT_FROM_SET : 0u) |
	    (has_trials ? PLOT_FROM_TRIALS : 0u);

	if (given == 0 || (given & (given - 1)) != 0)
		return err_set(err, STATUS_USAGE, "plot %s: %s: %s would be accepted", kind->name,
		    given ? "more than one source" : "a source is missing", plot_inputs_text(kind, arena));
	if (!(given & kind->inputs))
		return err_set(err, STATUS_USAGE, "plot %s: %s would be accepted", kind->name, plot_inputs_text(kind, arena));
	if (p->where && !p->db)
		return err_set(err, STATUS_USAGE, "plot: --where needs --db");
	source->input = (enum plot_input)given;
	return 0;
}

/* --model M[,M..]: a shape each. */
static int make_shapes(struct plot_source *source, struct common *c, struct arena *arena, struct err *err)
{
	const char *rest = c->model ? c->model : "";
	struct shape *const shapes = arena_alloc(arena, strlen(rest) + 1, sizeof(*shapes));
	int code;

	do {
		const size_t length = strcspn(rest, ",");
		if (c->model)
			c->model = arena_printf(arena, "%.*s", (int)length, rest);
		code = common_workload(&shapes[source->n_shapes++], &source->trial.batch, c, arena, err);
		rest += length + (rest[length] == ',');
	} while (!code && *rest);
	source->shapes = shapes;
	return code;
}

static int make_trials(struct plot_source *source, struct common *c, struct arena *arena, struct err *err)
{
	struct opt_list *const specs = arena_zalloc(arena, 1, sizeof(*specs));
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));

	source->trial = (struct trial_input){.hw = hw, .threads = (double)c->threads, .sync = (enum sync)c->sync};
	int code = c->policies.n || c->workers ? common_policies(specs, c, "dos", arena, err) : 0;
	if (!code)
		code = common_sharing(&source->trial.sharing, c, arena, err);
	if (!code)
		code = make_shapes(source, c, arena, err);
	if (!code)
		code = common_hw(hw, c, arena, err);
	source->specs = specs;
	return code;
}

static int make_source(struct plot_source *source, const struct plot_kind *kind, struct common *c, const struct params *p,
    struct arena *arena, struct err *err)
{
	source->db = p->db;
	source->where = p->where;
	source->run = p->run;
	source->sets = &p->sets;
	source->hw = c->hw;
	source->scale = common_scale_text(c, arena);
	source->n_samples = (size_t)c->uncertainty;
	source->seed = (unsigned long long)c->seed;
	int code = choose_input(source, kind, c, p, arena, err);
	if (!code && c->uncertainty && !(kind->intervals & source->input))
		code = err_set(err, STATUS_USAGE, "plot %s: --uncertainty is for calibration, stride and phases",
		    kind->name);
	if (!code && source->input == PLOT_FROM_TRIALS)
		return make_trials(source, c, arena, err);
	return code ? code : common_sharing(&source->trial.sharing, c, arena, err);
}

/* ---- the command */

static int draw(const struct plot_kind *kind, const struct plot_source *source, const struct common *c, const struct params *p,
    struct arena *arena, struct err *err)
{
	const struct gnuplot_job job = {.kind = kind->name, .output = c->output, .has_keep = p->has_keep};
	const char *warnings = "";
	struct plot plot;

	plot_init(&plot, arena);
	int code = kind->fill(&plot, source, err);
	if (!code)
		code = gnuplot_draw(&warnings, &plot, &job, err);
	plot_release(&plot);
	if (!code && *warnings)
		common_note(c, "gnuplot: %s", warnings);
	return code;
}

static int plot(struct common *c, const struct params *p, const struct opt_list *rest, struct plot_source *source, struct arena *arena,
    struct err *err)
{
	const struct plot_kind *kind;
	const char *suffix;

	if (rest->n != 1)
		return err_set(err, STATUS_USAGE, "plot: one KIND would be accepted; dos list plots has them");
	int code = plot_kind_find(&kind, rest->items[0], arena, err);
	if (!code && c->format != FORMAT_TABLE)
		code = err_set(err, STATUS_USAGE, "plot: --format is for tables; the suffix of -o decides: .svg, .png or .pdf");
	if (!code && !c->output)
		code = err_set(err, STATUS_USAGE, "plot: -o FILE is missing: a name ending in .svg, .png or .pdf");
	if (!code)
		code = gnuplot_suffix(&suffix, c->output, err);
	if (!code)
		code = make_source(source, kind, c, p, arena, err);
	return code ? code : draw(kind, source, c, p, arena, err);
}

int command_plot(int argc, char **argv, struct err *err)
{
	struct params params = {0};
	const struct command_line line = {.name = "plot",
	    .usage = "KIND SOURCE -o FILE.svg|.png|.pdf [--keep]",
	    .about = "Draws one figure with gnuplot. KIND (dos list plots says what each shows): calibration, capacity, fraction, gantt,\n"
	             "heatmap, memory, pareto, phases, stride, validation, whatif. SOURCE: --db FILE [--where SQL], --run FILE, --set NAME, or\n"
	             "--hw H --model M[,M..] [--policy SPEC], which runs what the figure needs. Exit 1: nothing to plot. Exit 4: no gnuplot.",
	    .groups = COMMON_HW | COMMON_MODEL | COMMON_POLICY | COMMON_BATCH | COMMON_CONTENTION | COMMON_SCALE | COMMON_SYNC |
	        COMMON_UNCERTAINTY,
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct arena arena = {0};
	struct plot_source source = {.command = join(argc, argv, &arena)};
	struct common c;
	struct opt_list rest;

	int code = common_parse(&c, &line, argc, argv, &rest, &arena, err);
	if (!code && !c.wants_help)
		code = plot(&c, &params, &rest, &source, &arena, err);
	arena_release(&arena);
	return code;
}
