/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figures of a report: drawn by the kinds of dos plot, then taken into the page. A kind that cannot draw a selection is left out,
 * and a note says why. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/base/file_text.h"
#include "model/base/leftovers.h"
#include "sim/study/gnuplot.h"
#include "sim/study/report_parts.h"
#include "sim/study/svg_inline.h"

struct figures {
	const struct report *report;
	char *folder; /* temporary */
	const char *path;
	size_t n;
};

/* ---- one figure */

static int draw_source(const char **svg, const struct figures *f, const char *kind_name, const struct plot_source *source, struct err *err)
{
	struct arena *const arena = f->report->arena;
	const struct gnuplot_job job = {.kind = kind_name, .output = f->path};
	const struct plot_kind *kind;
	const char *warnings;
	struct plot plot;
	size_t n_bytes;
	char *text;

	if (plot_kind_find(&kind, kind_name, arena, err))
		return err->code;
	plot_init(&plot, arena);
	int code = kind->fill(&plot, source, err);
	if (!code)
		code = gnuplot_draw(&warnings, &plot, &job, err);
	plot_release(&plot);
	if (code || file_text_load(&text, &n_bytes, f->path, err))
		return err->code;
	*svg = arena_strdup(arena, text);
	free(text);
	return 0;
}

/* With bars, or without them where they are not known or too many. */
static int draw(const char **svg, const struct figures *f, const char *kind_name, const char *where, struct err *err)
{
	struct plot_source source = {.input = PLOT_FROM_DB, .db = f->report->input->db, .where = where,
	    .n_samples = f->report->is_sure ? f->report->input->n_samples : 0, .seed = f->report->input->seed,
	    .machines = f->report->input->machines, .shapes = f->report->input->shapes, .n_shapes = f->report->input->n_shapes,
	    .trial = {.sharing = &sharing_fluid}, .scale = "", .command = f->report->input->command};
	const int code = draw_source(svg, f, kind_name, &source, err);

	if (source.n_samples == 0 || (code != STATUS_NO && code != STATUS_USAGE))
		return code;
	source.n_samples = 0;
	return draw_source(svg, f, kind_name, &source, err);
}

/* Into memory first: a figure is there in full or not at all. */
static int write_svg(FILE *out, const char *svg, const char *prefix, const char *label, struct arena *arena, struct err *err)
{
	size_t n_bytes;
	char *text;
	FILE *const page = open_memstream(&text, &n_bytes);

	if (!page)
		abort(); /* out of memory */
	const int code = svg_inline(page, svg, prefix, label, arena, err);
	fclose(page);
	if (!code) {
		html_printf(out, "<figure class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">", label);
		fwrite(text, 1, n_bytes, out);
		fputs("</figure>\n", out);
	}
	free(text);
	return code;
}

/* Without gnuplot there is no figure at all, which is no matter of this one. */
static int add(struct figures *f, const char *kind, const char *where, const char *label, bool *is_there, struct err *err)
{
	const struct report *const r = f->report;
	const char *svg;
	int code = draw(&svg, f, kind, where, err);

	*is_there = false;
	if (code == STATUS_ENV || code == STATUS_INPUT)
		return code;
	if (!code)
		code = write_svg(r->out, svg, arena_printf(r->arena, "f%zu", ++f->n), label, r->arena, err);
	*is_there = code == 0;
	return 0;
}

/* ---- what they show */

static const char *number_equals(const char *sql, const char *column, double value, struct arena *arena)
{
	return isnan(value) ? arena_printf(arena, "%s and %s is null", sql, column)
	                    : arena_printf(arena, "%s and %s = %.17g", sql, column, value);
}

static const char *with_given(const struct report *r, const struct plot_row *row)
{
	struct arena *const arena = r->arena;
	const char *sql = arena_printf(arena, "hw = %s and model = %s", report_sql_text(row->hw, arena), report_sql_text(row->model, arena));

	if (r->groups.has_scale)
		sql = arena_printf(arena, "%s and scale = %s", sql, report_sql_text(row->scale, arena));
	if (r->groups.has_contention)
		sql = arena_printf(arena, "%s and contention = %s", sql, report_sql_text(row->contention, arena));
	if (r->groups.has_gpus)
		sql = number_equals(sql, "gpus", row->gpus, arena);
	if (r->groups.has_nodes)
		sql = number_equals(sql, "nodes", row->nodes, arena);
	if (r->groups.has_parallel)
		sql = number_equals(number_equals(sql, "zero", row->zero, arena), "tp", row->tp, arena);
	if (r->groups.has_seq)
		sql = number_equals(sql, "seq", row->seq, arena);
	return r->input->where ? arena_printf(arena, "(%s\n) and %s", r->input->where, sql) : sql;
}

static bool differs(const struct report *r, size_t offset)
{
	const char *const rows = (const char *)r->rows.rows;
	const double first = *(const double *)(rows + offset);

	for (size_t i = 1; i < r->rows.n; i++) {
		const double value = *(const double *)(rows + i * sizeof(*r->rows.rows) + offset);
		if (value != first && !(isnan(value) && isnan(first)))
			return true;
	}
	return false;
}

/* The batch and partition of a run, as far as the report has others. */
static const char *with_chosen(const struct report *r, const struct plot_row *row, const char *sql)
{
	static const struct {
		const char *column;
		size_t offset;
	} chosen[] = {{"mbs", offsetof(struct plot_row, mbs)}, {"grad_accum", offsetof(struct plot_row, grad_accum)},
	    {"subgroup", offsetof(struct plot_row, subgroup)}, {"threads", offsetof(struct plot_row, threads)}};

	for (size_t i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++)
		if (differs(r, chosen[i].offset))
			sql = number_equals(sql, chosen[i].column, *(const double *)((const char *)row + chosen[i].offset), r->arena);
	return sql;
}

/* The fastest run of a group that has the option, those that do not fit included when no other has. */
static const struct plot_row *best_with(const struct report *r, const struct report_group *group, size_t offset, size_t *n)
{
	const struct plot_row *best = NULL;

	*n = 0;
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct plot_row *const row = &r->rows.rows[i], *const first = group->first;
		if (isnan(*(const double *)((const char *)row + offset)) || isnan(row->update_s) || strcmp(row->hw, first->hw) != 0 ||
		    strcmp(row->model, first->model) != 0 || strcmp(row->scale, first->scale) != 0 ||
		    strcmp(row->contention, first->contention) != 0)
			continue;
		++*n;
		if (plot_row_is_better(row, best))
			best = row;
	}
	return best;
}

/* Same policy and options but for the first one, which is the axis. */
static const char *with_options(const struct plot_row *row, const char *sql, struct arena *arena)
{
	return arena_printf(arena, "%s and policy like %s and substr(policy, instr(policy || ',', ',')) = %s", sql,
	    report_sql_text(arena_printf(arena, "%s:%%", row->policy), arena), report_sql_text(strchrnul(row->spec, ','), arena));
}

/* All policies with the axis in one figure, or the best one's alone when they are too many. */
static int add_axis(struct figures *f, const struct report_group *group, const char *kind, size_t offset, struct err *err)
{
	const struct report *const r = f->report;
	const char *const label = arena_printf(r->arena, "%s: %s", kind, report_group_name(&r->groups, group, r->arena));
	size_t n;
	const struct plot_row *const best = best_with(r, group, offset, &n);
	bool is_there;

	if (!best || n < 2)
		return 0;
	const char *const wide = with_chosen(r, best, with_given(r, group->first));
	int code = add(f, kind, wide, label, &is_there, err);
	if (!code && !is_there)
		code = add(f, kind, with_options(best, wide, r->arena), label, &is_there, err);
	if (!code && !is_there)
		opt_list_add(r->notes, arena_printf(r->arena, "%s: left out: %s", label, err->text), r->arena);
	return code;
}

static int add_phases(struct figures *f, struct err *err)
{
	const struct report *const r = f->report;
	static const char needs[] = "forward_s is not null";
	const char *const where = r->input->where ? arena_printf(r->arena, "(%s\n) and %s", r->input->where, needs) : needs;
	bool is_there;
	int code = add(f, "phases", where, "Time of the phases of an iteration", &is_there, err);

	for (size_t i = 0; !code && !is_there && i < r->groups.n && i < REPORT_FIGURES_MAX; i++) {
		const struct report_group *const group = &r->groups.groups[i];
		const char *const label = arena_printf(r->arena, "phases: %s", report_group_name(&r->groups, group, r->arena));
		bool is_drawn = true;
		if (group->best && report_has_tokens(group->best))
			code = add(f, "phases", with_chosen(r, group->best, with_given(r, group->first)), label, &is_drawn, err);
		if (!code && !is_drawn)
			opt_list_add(r->notes, arena_printf(r->arena, "%s: left out: %s", label, err->text), r->arena);
	}
	return code;
}

static int write_all(struct figures *f, struct err *err)
{
	const struct report *const r = f->report;
	const size_t n = r->groups.n < REPORT_FIGURES_MAX ? r->groups.n : REPORT_FIGURES_MAX;
	int code;

	fputs("<section id=\"figures\"><h2>Figures</h2>\n", r->out);
	if (n < r->groups.n)
		fprintf(r->out, "<p>Strides and fractions of the first %zu of %zu settings.</p>\n", n, r->groups.n);
	code = add_phases(f, err);
	for (size_t i = 0; !code && i < n; i++) {
		code = add_axis(f, &r->groups.groups[i], "stride", offsetof(struct plot_row, stride), err);
		if (!code)
			code = add_axis(f, &r->groups.groups[i], "fraction", offsetof(struct plot_row, fraction), err);
	}
	if (f->n == 0)
		fputs("<p>There is nothing to draw.</p>\n", r->out);
	fputs("</section>\n", r->out);
	return code;
}

/* Of runs made on the spot: the best of each policy, and what each resource is worth to the best of all. */
static int write_given(struct figures *f, struct err *err)
{
	const struct report *const r = f->report;
	const struct report_given *const given = r->input->given;
	struct plot_rows bests = {.rows = arena_alloc(r->arena, given->n_bests + 1, sizeof(*bests.rows)), .n = given->n_bests,
	    .origin = r->rows.origin};
	struct opt_list spec = {0};
	struct plot_source source = {.input = PLOT_FROM_TRIALS, .rows = &bests, .n_samples = r->is_sure ? r->input->n_samples : 0,
	    .scale = "", .specs = &spec, .command = r->input->command};
	const char *svg = "";

	memcpy(bests.rows, r->rows.rows, given->n_bests * sizeof(*bests.rows)); /* a figure has labels of its own */
	fputs("<section id=\"figures\"><h2>Figures</h2>\n", r->out);
	int code = draw_source(&svg, f, "phases", &source, err);
	if (!code)
		code = write_svg(r->out, svg, "f1", "Time of the phases of an iteration", r->arena, err);
	if (!code && given->best) {
		opt_list_add(&spec, given->best->policy, r->arena);
		source.trial = *given->best;
		source.shapes = &given->best->shape;
		source.n_shapes = 1;
		source.n_samples = 0;
		code = draw_source(&svg, f, "whatif", &source, err);
	}
	if (!code && given->best)
		code = write_svg(r->out, svg, "f2", "What each resource is worth", r->arena, err);
	fputs("</section>\n", r->out);
	return code;
}

int report_figures(const struct report *report, struct err *err)
{
	struct figures f = {.report = report};

	if (gnuplot_folder(&f.folder, report->arena, err))
		return err->code;
	f.path = arena_printf(report->arena, "%s/figure.svg", f.folder);
	leftovers_add(f.path);
	const int code = report->input->given ? write_given(&f, err) : write_all(&f, err);
	unlink(f.path);
	rmdir(f.folder);
	leftovers_drop(f.path);
	leftovers_drop(f.folder);
	return code;
}
