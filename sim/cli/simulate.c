/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos simulate: one iteration under each policy. */
#include <stdlib.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/cli/trial_print.h"
#include "sim/cli/uncertainty.h"
#include "traces/chrome_trace.h"

struct params {
	const char *trace;
};

static const struct opt opts[] = {
    {.name = "trace", .kind = OPT_TEXT, .offset = offsetof(struct params, trace), .arg = "FILE",
        .help = "timeline for Perfetto (Chrome trace JSON), or .csv"},
};

/* Where results go: an open JSON writer, a table, or a report. */
struct sink {
	FILE *out;
	enum format format;
	size_t n_specs;
	struct jsonw w;
	struct table *table; /* NULL: JSON, or the report of one policy */
	const char *scale;
	double base_s; /* iteration of the first policy, for speed-ups */
	const struct uncertainty *uncertainty; /* NULL: no intervals */
	const struct outcome *outcomes; /* of each SPEC, in order */
	size_t n_added, n_misfits;
};

static void sink_open(struct sink *sink, FILE *out, const struct common *c, size_t n_specs, struct arena *arena)
{
	sink->out = out;
	sink->format = (enum format)c->format;
	sink->n_specs = n_specs;
	sink->scale = common_scale_text(c, arena);
	jsonw_init(&sink->w, out, true);
	if (sink->format == FORMAT_JSON && n_specs > 1)
		jsonw_array(&sink->w);
	if (sink->format == FORMAT_CSV || (sink->format == FORMAT_TABLE && n_specs > 1))
		sink->table = trial_table_new(sink->format, sink->outcomes != NULL);
}

static void sink_add(struct sink *sink, const struct trial *trial, const struct trial_input *input)
{
	const struct shown_trial shown = {trial, input, sink->outcomes ? &sink->outcomes[sink->n_added] : NULL, sink->uncertainty};

	sink->n_added++;
	if (!(sink->base_s > 0))
		sink->base_s = trial->metrics.iteration_s;
	if (sink->format == FORMAT_JSON)
		trial_json(&sink->w, &shown, sink->scale);
	else if (sink->table)
		trial_table_row(sink->table, sink->format, &shown, sink->base_s);
	else
		trial_report(sink->out, &shown);
}

static void sink_close(struct sink *sink)
{
	if (sink->format == FORMAT_JSON && sink->n_specs > 1)
		jsonw_end_array(&sink->w);
	if (sink->format == FORMAT_JSON)
		putc('\n', sink->out);
	if (sink->table)
		table_print(sink->table, sink->format, sink->out);
	table_free(sink->table);
}

/* Says which value an option took that the SPEC left open. */
static void note_chosen(const struct common *c, const struct trial *trial, const char *spec)
{
	static const char *const chosen[] = {"stride=", "fraction="};

	for (size_t i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++) {
		const char *const value = strstr(trial->policy, chosen[i]);
		if (value && !strstr(spec, chosen[i]))
			common_note(c, "policy %s: %s%.6g, the optimum of the closed form", trial->use.policy->name, chosen[i],
			    strtod(value + strlen(chosen[i]), NULL));
	}
}

static void note_run(const struct common *c, const struct trial *trial, const struct trial_input *input, struct arena *arena)
{
	if (!c->is_verbose)
		return;
	common_note(c, "%s", common_context(trial, input, arena));
	common_note(c, "%zu operations, %zu rate changes, %zu sets of running operations, mean concurrency %.2f", trial->timeline.n_ops,
	    trial->timeline.n_rate_changes, trial->timeline.n_allocations, trial->timeline.concurrency);
}

/* One policy; keeps in *misfit why the first one that does not fit does not. */
static int run_one(struct sink *sink, struct trial_input *input, const struct common *c, const char *trace_path, struct err *misfit,
    struct err *err)
{
	struct arena arena = {0};
	struct trial trial;
	int code = trial_run(&trial, input, &arena, err);

	if (!code && trace_path)
		code = chrome_trace_check_size(trace_path, trial.timeline.n_ops, err);
	if (!code) {
		note_chosen(c, &trial, input->policy);
		note_run(c, &trial, input, &arena);
		sink_add(sink, &trial, input);
		sink->n_misfits += !trial.metrics.fits;
		if (!trial.metrics.fits && !misfit->code)
			err_set(misfit, STATUS_NO, "%s does not fit: %s", trial.use.policy->name, trial.metrics.reason);
		if (trace_path)
			code = chrome_trace_write(trace_path, &trial.schedule, &trial.timeline, trial.policy, err);
	}
	arena_release(&arena);
	return code;
}

/* Intervals of all policies, before the first is printed. */
static int find_outcomes(struct sink *sink, const struct trial_input *input, const struct opt_list *specs, const struct common *c,
    struct arena *arena, struct err *err)
{
	struct uncertainty *const u = arena_alloc(arena, 1, sizeof(*u));
	struct outcome *const outcomes = arena_alloc(arena, specs->n, sizeof(*outcomes));
	struct trial_input *const inputs = arena_alloc(arena, specs->n, sizeof(*inputs));

	if (c->uncertainty == 0)
		return 0;
	for (size_t i = 0; i < specs->n; i++) {
		inputs[i] = *input;
		inputs[i].policy = specs->items[i];
	}
	if (uncertainty_of(u, c, input->sharing, arena, err) || outcomes_find(outcomes, u, inputs, specs->n, arena, err))
		return err->code;
	sink->uncertainty = u;
	sink->outcomes = outcomes;
	return 0;
}

static int run_all(struct trial_input *input, const struct opt_list *specs, const struct common *c, const char *trace_path,
    struct arena *arena, struct err *err)
{
	struct file_replace file;
	struct sink sink = {.out = NULL};
	struct err misfit = {0};

	int code = find_outcomes(&sink, input, specs, c, arena, err);
	if (!code)
		code = file_replace_open(&file, c->output, arena, err);
	if (code)
		return code;
	sink_open(&sink, file.out, c, specs->n, arena);
	for (size_t i = 0; !code && i < specs->n; i++) {
		input->policy = specs->items[i];
		code = run_one(&sink, input, c, trace_path, &misfit, err);
	}
	if (code) {
		table_free(sink.table);
		file_replace_cancel(&file);
		return code;
	}
	sink_close(&sink);
	code = file_replace_commit(&file, err);
	if (!code && misfit.code)
		code = sink.n_misfits == 1 ? err_set(err, STATUS_NO, "%s", misfit.text)
					   : err_set(err, STATUS_NO, "%s; %zu of %zu do not fit", misfit.text, sink.n_misfits, specs->n);
	return code;
}

static int simulate(const struct common *c, const struct params *p, struct arena *arena, struct err *err)
{
	struct opt_list specs;
	struct trial_input input;
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));

	int code = common_policies(&specs, c, NULL, arena, err);
	if (!code && p->trace && specs.n > 1)
		code = err_set(err, STATUS_USAGE, "--trace: one policy would be accepted, %zu are given", specs.n);
	if (!code)
		code = common_beside("--trace", p->trace, c->output, err);
	if (!code)
		code = common_trial(&input, hw, c, arena, err);
	return code ? code : run_all(&input, &specs, c, p->trace, arena, err);
}

int command_simulate(int argc, char **argv, struct err *err)
{
	struct params params = {0};
	const struct command_line line = {.name = "simulate",
	    .usage = "--hw H --model M --policy SPEC[,SPEC..] [OPTION]..",
	    .about = "Predicts one training iteration: phases, memory, and what limits it. Exit 1: it does not fit.",
	    .groups = COMMON_HW | COMMON_LIMITS | COMMON_MODEL | COMMON_POLICY | COMMON_BATCH | COMMON_CONTENTION | COMMON_SCALE | COMMON_SYNC |
	        COMMON_UNCERTAINTY,
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct arena arena = {0};
	struct common c;

	int code = common_parse(&c, &line, argc, argv, NULL, &arena, err);
	if (!code && !c.wants_help)
		code = simulate(&c, &params, &arena, err);
	arena_release(&arena);
	return code;
}
