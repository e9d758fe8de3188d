/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/plot.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

const struct plot_kind plot_kinds[] = {
    {"calibration", "do the intervals contain what was measured, and how wide are they", PLOT_FROM_SET, PLOT_FROM_SET, plot_calibration},
    {"capacity", "largest model that fits over GPUs, GPU memory and host memory, by policy", PLOT_FROM_TRIALS, 0, plot_capacity},
    {"fraction", "update time over the GPU fraction, each limiting lane a line", PLOT_FROM_DB | PLOT_FROM_TRIALS, 0, plot_fraction},
    {"gantt", "one iteration: what every lane does when", PLOT_FROM_RUN | PLOT_FROM_TRIALS, 0, plot_gantt},
    {"heatmap", "best stride over CPU rate and link rate", PLOT_FROM_DB | PLOT_FROM_TRIALS, 0, plot_heatmap},
    {"memory", "GPU and host memory over one iteration", PLOT_FROM_RUN | PLOT_FROM_TRIALS, 0, plot_memory},
    {"pareto", "time of a token against GPUs, host memory, and price or power", PLOT_FROM_TRIALS, 0, plot_pareto},
    {"phases", "where the time of an iteration goes, by policy and model", PLOT_FROM_DB | PLOT_FROM_TRIALS,
        PLOT_FROM_DB | PLOT_FROM_TRIALS, plot_phases},
    {"stride", "update and iteration time over the stride, closed form beside simulation", PLOT_FROM_DB | PLOT_FROM_TRIALS,
        PLOT_FROM_DB | PLOT_FROM_TRIALS, plot_stride},
    {"validation", "predicted against measured times, and errors", PLOT_FROM_RUN | PLOT_FROM_SET, 0, plot_validation},
    {"whatif", "what each resource is worth, and where another share on the GPU is best", PLOT_FROM_TRIALS, 0, plot_whatif},
};
const size_t n_plot_kinds = sizeof(plot_kinds) / sizeof(plot_kinds[0]);

int plot_kind_find(const struct plot_kind **kind, const char *name, struct arena *arena, struct err *err)
{
	struct opt_list names = {0};
	const char *list = "";

	for (size_t i = 0; i < n_plot_kinds; i++) {
		*kind = &plot_kinds[i];
		if (strcmp(name, plot_kinds[i].name) == 0)
			return 0;
		opt_list_add(&names, plot_kinds[i].name, arena);
		list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", plot_kinds[i].name);
	}
	opt_list_add(&names, NULL, arena);
	const char *const nearest = err_nearest(name, names.items);
	return err_set(err, STATUS_USAGE, "plot: no kind '%s'%s%s%s; accepted: %s", name, nearest ? "; did you mean '" : "",
	    nearest ? nearest : "", nearest ? "'?" : "", list);
}

const char *plot_inputs_text(const struct plot_kind *kind, struct arena *arena)
{
	static const struct {
		enum plot_input input;
		const char *text;
	} all[] = {{PLOT_FROM_DB, "--db FILE"}, {PLOT_FROM_RUN, "--run FILE"}, {PLOT_FROM_SET, "--set NAME|FILE"},
	    {PLOT_FROM_TRIALS, "--hw and --model"}};
	const char *text = "";

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (kind->inputs & all[i].input)
			text = arena_printf(arena, "%s%s%s", text, *text ? ", or " : "", all[i].text);
	return text;
}

void plot_init(struct plot *plot, struct arena *arena)
{
	*plot = (struct plot){.arena = arena};
	plot->vars = open_memstream(&plot->vars_text, &plot->vars_size);
	plot->data = open_memstream(&plot->data_text, &plot->data_size);
	if (!plot->vars || !plot->data)
		abort(); /* out of memory */
}

void plot_release(struct plot *plot)
{
	fclose(plot->vars);
	fclose(plot->data);
	free(plot->vars_text);
	free(plot->data_text);
}

/* ---- variables: gnuplot interprets nothing between single quotes; a single quote itself is a string of its own */

static void quote(FILE *out, const char *text)
{
	putc('\'', out);
	for (const char *c = text; *c; c++)
		if (*c == '\'')
			fputs("' . \"'\" . '", out);
		else
			putc(iscntrl((unsigned char)*c) ? ' ' : *c, out);
	putc('\'', out);
}

void plot_text(struct plot *plot, const char *name, const char *text)
{
	fprintf(plot->vars, "%s = ", name);
	quote(plot->vars, text);
	putc('\n', plot->vars);
}

void plot_number(struct plot *plot, const char *name, double value)
{
	fprintf(plot->vars, isfinite(value) ? "%s = %.10g\n" : "%s = NaN\n", name, value);
}

void plot_texts(struct plot *plot, const char *name, const char *const *texts, size_t n)
{
	fprintf(plot->vars, "n_%s = %zu\narray %s[%zu]\n", name, n, name, n ? n : 1);
	for (size_t i = 0; i < n; i++) {
		fprintf(plot->vars, "%s[%zu] = ", name, i + 1);
		quote(plot->vars, texts[i]);
		putc('\n', plot->vars);
	}
}

/* ---- heading */

/* Up to two lines of at most `width` characters, broken at a line feed or at spaces; "..." where a third would be needed. */
static void wrap(const char *lines[2], const char *text, size_t width, struct arena *arena)
{
	size_t end = strcspn(text, "\n");

	lines[0] = text;
	lines[1] = "";
	if (end <= width && text[end] == '\0')
		return;
	if (end > width)
		for (end = width; end > width / 2 && text[end] != ' ' && text[end - 1] != ',';)
			end--;
	lines[0] = arena_printf(arena, "%.*s", (int)end, text);
	text += end + (text[end] == ' ' || text[end] == '\n');
	lines[1] = strlen(text) <= width ? text : arena_printf(arena, "%.*s...", (int)width - 3, text);
}

void plot_heading(struct plot *plot, const char *title, const char *subtitle, const char *origin, const struct plot_source *source)
{
	enum { SUBTITLE_WIDTH = 118, SOURCE_WIDTH = 140 };
	const char *lines[2], *sources[2];

	plot_text(plot, "title", title);
	wrap(lines, subtitle, SUBTITLE_WIDTH, plot->arena);
	plot_texts(plot, "subtitle", lines, *lines[1] ? 2 : 1);
	wrap(sources, origin, SOURCE_WIDTH, plot->arena);
	plot_text(plot, "origin", *sources[1] ? arena_printf(plot->arena, "%.*s...", SOURCE_WIDTH - 3, origin) : origin);
	wrap(sources, arena_printf(plot->arena, "dos " DOS_VERSION ": %s", source->command), SOURCE_WIDTH, plot->arena);
	plot_texts(plot, "command", sources, *sources[1] ? 2 : 1);
}

double plot_legend(struct plot *plot, const char *const *labels, size_t n, size_t n_more, double width_px)
{
	const double character_px = 9.1, sample_px = 47; /* as gnuplot lays a legend out in SVG, the widest */
	size_t longest = 12;

	for (size_t i = 0; i < n; i++)
		longest = strlen(labels[i]) > longest ? strlen(labels[i]) : longest;
	const double n_entries = (double)(n + n_more);
	const double n_columns = fmin(n_entries, fmax(1, floor(width_px / ((double)longest * character_px + sample_px))));
	plot_number(plot, "key_columns", n_columns);
	plot_number(plot, "key_rows", ceil(n_entries / n_columns));
	return ceil(n_entries / n_columns);
}

/* ---- data */

void plot_line(struct plot *plot, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(plot->data, isfinite(values[i]) ? "%.10g" : "NaN", values[i]);
		putc(i + 1 < n ? '\t' : '\n', plot->data);
	}
}

void plot_cell(struct plot *plot, const char *text)
{
	for (const char *c = text; *c; c++)
		putc(*c == '"' ? '\'' : iscntrl((unsigned char)*c) ? ' ' : *c, plot->data);
	putc('\t', plot->data);
}

void plot_end_block(struct plot *plot)
{
	fputs("\n\n", plot->data);
	plot->n_blocks++;
}
