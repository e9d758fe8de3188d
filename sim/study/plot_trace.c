/* SPDX-License-Identifier: GPL-3.0-or-later
 * Format: the Chrome trace that traces/chrome_trace.c writes ("dos-trace/1"). */
#include "sim/study/plot_trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/json.h"
#include "sim/sharing.h"
#include "traces/chrome_trace.h"

static const char *const memory_names[POOL_N] = {"GPU memory", "host memory"};

static double number(const json_node *node, const char *key)
{
	struct err err;
	double value;

	return json_number(&value, NULL, node, key, -INFINITY, INFINITY, &err) ? NAN : value;
}

static const char *text(const json_node *node, const char *key)
{
	struct err err;
	const char *value;

	return json_is_string(json_get(node, key)) && json_text(&value, NULL, node, key, &err) == 0 ? value : "";
}

static double seconds(const json_node *event, const char *key)
{
	return json_is_number(json_get(event, key)) ? number(event, key) / 1e6 : NAN;
}

static bool is_phase(const json_node *event)
{
	return strcmp(text(event, "ph"), "X") == 0 && strcmp(text(event, "cat"), "phase") == 0;
}

static bool is_of_rank_0(const json_node *event)
{
	return json_is_number(json_get(event, "pid")) && number(event, "pid") == 0;
}

/* ---- the last iteration */

struct window {
	double iteration, from_s, to_s;
};

static struct window last_iteration(const json_node *events)
{
	struct window w = {.iteration = -1, .from_s = INFINITY, .to_s = -INFINITY};

	for (const json_node *e = json_first(events); e; e = json_next(e)) {
		const json_node *const args = json_get(e, "args");
		if (!is_phase(e) || !is_of_rank_0(e) || !json_is_number(json_get(args, "iteration")))
			continue;
		const double iteration = number(args, "iteration"), start_s = seconds(e, "ts"), end_s = start_s + seconds(e, "dur");
		if (isnan(end_s) || iteration < w.iteration)
			continue;
		if (iteration > w.iteration)
			w = (struct window){iteration, start_s, end_s};
		w.from_s = fmin(w.from_s, start_s);
		w.to_s = fmax(w.to_s, end_s);
	}
	return w;
}

/* ---- events */

static int find_lane(const char *name)
{
	int lane = LANE_N - 1;

	while (lane >= 0 && strcmp(lane_names[lane], name) != 0)
		lane--;
	return lane;
}

static void add_span(struct plot_trace *t, const json_node *event, const struct window *w, struct arena *arena)
{
	struct plot_span span = {.start_s = seconds(event, "ts"), .lane = find_lane(text(event, "cat"))};

	span.end_s = fmin(span.start_s + seconds(event, "dur"), w->to_s) - w->from_s;
	span.start_s = fmax(span.start_s, w->from_s) - w->from_s;
	if (!(span.end_s > span.start_s) || (!is_phase(event) && span.lane < 0))
		return;
	span.name = arena_strdup(arena, text(event, "name"));
	if (is_phase(event))
		t->phases[t->n_phases++] = span;
	else
		t->ops[t->n_ops++] = span;
}

/* What was held before the window counts from its start. */
static void add_sample(struct plot_trace *t, const json_node *event, const struct window *w)
{
	const json_node *const args = json_get(event, "args");
	size_t pool = 0;

	while (pool < POOL_N && strcmp(memory_names[pool], text(event, "name")) != 0)
		pool++;
	if (pool == POOL_N || !json_is_number(json_get(args, "bytes")))
		return;
	const struct plot_sample sample = {fmax(seconds(event, "ts") - w->from_s, 0), number(args, "bytes")};
	if (sample.at_s > w->to_s - w->from_s)
		return;
	if (t->n_samples[pool] > 0 && t->memory[pool][t->n_samples[pool] - 1].at_s == sample.at_s)
		t->n_samples[pool]--;
	t->memory[pool][t->n_samples[pool]++] = sample;
}

static void read_events(struct plot_trace *t, const json_node *events, const struct window *w, struct arena *arena)
{
	const size_t n = json_count(events);

	t->phases = arena_alloc(arena, n, sizeof(*t->phases));
	t->ops = arena_alloc(arena, n, sizeof(*t->ops));
	for (size_t pool = 0; pool < POOL_N; pool++)
		t->memory[pool] = arena_alloc(arena, n, sizeof(*t->memory[pool]));
	for (const json_node *e = json_first(events); e; e = json_next(e)) {
		if (!is_of_rank_0(e))
			continue;
		if (strcmp(text(e, "ph"), "X") == 0)
			add_span(t, e, w, arena);
		else if (strcmp(text(e, "ph"), "C") == 0)
			add_sample(t, e, w);
	}
}

static int read_document(struct plot_trace *t, const struct json_doc *doc, struct arena *arena, struct err *err)
{
	const json_node *const root = json_root(doc), *const events = json_get(root, "traceEvents");

	if (strcmp(text(root, "schema"), "dos-trace/1") != 0 || !json_is_array(events))
		return err_set(err, STATUS_INPUT, "%s: /schema: not a trace of ours; what dos simulate --trace FILE.json wrote would be accepted",
		    json_name(doc));
	const struct window w = last_iteration(events);
	if (!(w.to_s > w.from_s))
		return err_set(err, STATUS_NO, "%s: no iteration to plot: it has %zu events, no phase of rank 0 among them", json_name(doc),
		    json_count(events));
	t->policy = arena_strdup(arena, text(root, "policy"));
	t->length_s = w.to_s - w.from_s;
	read_events(t, events, &w, arena);
	return 0;
}

/* ---- sources */

static int load_trial(struct json_doc **doc, struct plot_trace *t, const struct plot_source *source, struct arena *arena, struct err *err)
{
	struct trial_input input = source->trial;
	struct arena scratch = {0};
	struct trial trial;
	char *json = NULL;
	size_t n_bytes = 0;

	if (source->n_shapes > 1 || source->specs->n > 1)
		return err_set(err, STATUS_USAGE, "plot: one model and one policy would be accepted");
	input.shape = source->shapes[0];
	input.policy = source->specs->n ? source->specs->items[0] : "dos";
	int code = trial_run(&trial, &input, &scratch, err);
	if (!code) {
		FILE *const out = open_memstream(&json, &n_bytes);
		chrome_trace_json(out, &trial.schedule, &trial.timeline, trial.policy);
		fclose(out);
		code = json_parse(doc, "the trial's trace", json, n_bytes, err);
		t->about = arena_printf(arena, "%s on %s, %s", trial.workload.shape.name, input.hw->name,
		    batch_gpus_text(&trial.workload.batch, arena));
	}
	t->hw = input.hw;
	t->origin = arena_printf(arena, "Profile %s: %s", input.hw->name, input.hw->summary);
	free(json);
	arena_release(&scratch);
	return code;
}

int plot_trace_load(struct plot_trace *t, const struct plot_source *source, struct arena *arena, struct err *err)
{
	struct json_doc *doc = NULL;
	int code;

	*t = (struct plot_trace){.about = ""};
	if (source->input == PLOT_FROM_RUN) {
		t->origin = arena_printf(arena, "Trace %s", source->run);
		code = json_open(&doc, source->run, err);
	} else {
		code = load_trial(&doc, t, source, arena, err);
	}
	if (!code) {
		code = read_document(t, doc, arena, err);
		json_close(doc);
	}
	return code;
}
