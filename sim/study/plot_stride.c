/* SPDX-License-Identifier: GPL-3.0-or-later
 * Update and iteration time over the stride: simulated points, closed form as a line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/plot_model.h"

enum { SERIES_MAX = 8, DEFAULT_STRIDES = 12 };
static const char *const axes[] = {"stride", NULL};

/* ---- what to run when no stride is given */

static int add_strides(struct opt_list *specs, const char *spec, size_t last, struct arena *arena, struct err *err)
{
	struct policy_use use;

	if (policy_use_parse(&use, spec, arena, err))
		return err->code;
	if (!opt_find(use.policy->opts, use.policy->n_opts, "stride", strlen("stride")))
		return err_set(err, STATUS_USAGE, "plot stride: policy %s has no stride", use.policy->name);
	if (strstr(spec, "stride="))
		opt_list_add(specs, spec, arena);
	for (size_t k = 0; k <= last && !strstr(spec, "stride="); k++)
		opt_list_add(specs, arena_printf(arena, "%s%cstride=%zu", spec, strchr(spec, ':') ? ',' : ':', k), arena);
	return 0;
}

static int make_specs(struct opt_list *specs, const struct plot_source *source, struct arena *arena, struct err *err)
{
	const char *const fallback[] = {"dos"};
	const struct opt_list given = source->specs->n ? *source->specs : (struct opt_list){(const char **)fallback, 1};
	size_t last = 0;
	int code = 0;

	for (size_t i = 0; !code && i < source->n_shapes; i++) {
		struct workload w;
		code = trial_workload(&w, source->trial.hw, &source->shapes[i], &source->trial.batch, arena, err);
		last = !code && w.n_subgroups > last ? w.n_subgroups : last;
	}
	last = last < DEFAULT_STRIDES ? last : DEFAULT_STRIDES;
	for (size_t i = 0; !code && i < given.n; i++)
		code = add_strides(specs, given.items[i], last, arena, err);
	return code;
}

/* ---- one series */

struct series {
	const char *label;
	struct plot_row **rows; /* by stride */
	size_t n, best; /* best: smallest update */
};

static int by_stride(const void *a, const void *b)
{
	const double x = (*(struct plot_row *const *)a)->stride, y = (*(struct plot_row *const *)b)->stride;

	return (x > y) - (x < y);
}

static void series_collect(struct series *s, const char *label, const struct plot_rows *rows, struct arena *arena)
{
	*s = (struct series){.label = label, .rows = arena_alloc(arena, rows->n, sizeof(*s->rows))};
	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(rows->rows[i].label, label) == 0 && !isnan(rows->rows[i].stride))
			s->rows[s->n++] = &rows->rows[i];
	qsort(s->rows, s->n, sizeof(*s->rows), by_stride);
	for (size_t i = 0; i < s->n; i++)
		if (plot_row_is_better(s->rows[i], s->rows[s->best]))
			s->best = i;
}

static void write_simulated(struct plot *plot, const struct series *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct plot_row *const r = s->rows[i];
		const bool is_best = i == s->best;
		const double line[] = {r->stride, r->update_s, r->iteration_s, r->feasible, is_best ? r->update_s : NAN,
		    is_best ? r->iteration_s : NAN,
		    r->update.lo, r->update.hi, r->iteration.lo, r->iteration.hi};
		plot_line(plot, line, sizeof(line) / sizeof(line[0]));
	}
	plot_end_block(plot);
}

/* False when nothing is known of the machine. */
static bool write_closed_form(struct plot *plot, const struct series *s, const struct plot_source *source)
{
	struct plot_model model;
	/* the best may hardly use the CPU, the last hardly the GPU: both must be what the machine gives today */
	const bool has_model = plot_model_of_row(&model, s->rows[s->n - 1], source, plot->arena) &&
	    plot_model_of_row(&model, s->rows[s->best], source, plot->arena);
	const size_t first = (size_t)s->rows[0]->stride, last = (size_t)s->rows[s->n - 1]->stride;

	for (size_t k = first; has_model && k <= last; k++) {
		const double line[] = {(double)k, stride_update_s(&model.cost, &model.workload, &model.how, k, model.is_contended),
		    stride_update_s(&model.cost, &model.workload, &model.how, k, false)};
		plot_line(plot, line, 3);
	}
	if (!has_model)
		plot_line(plot, (const double[]){NAN, NAN, NAN}, 3);
	plot_end_block(plot);
	return has_model;
}

/* ---- the plot */

static const char *legend(const struct series *s, size_t n_groups, struct arena *arena)
{
	char time[UNITS_TEXT_MAX];
	const struct plot_row *const best = s->rows[s->best];

	if (isnan(best->update_s))
		return s->label;
	return arena_printf(arena, "%s%sbest stride %.0f: %s%s", n_groups > 1 ? s->label : "", n_groups > 1 ? ", " : "", best->stride,
	    units_print(time, UNIT_SECONDS, best->update_s), best->feasible == 0 ? ", does not fit" : "");
}

static const char *subtitle(const struct plot_rows *rows, size_t n_closed, size_t n_groups, struct arena *arena)
{
	const char *text = plot_rows_common(rows, axes, arena);
	size_t n_misfits = 0;

	for (size_t i = 0; i < rows->n; i++)
		n_misfits += rows->rows[i].feasible == 0;
	if (n_misfits)
		text = arena_printf(arena, "%s\n%zu of %zu points do not fit in memory", text, n_misfits, rows->n);
	if (n_closed < n_groups)
		text = arena_printf(arena, "%s%sno closed form where the stored machine or model is not a shipped one", text, n_misfits ? "; " : "\n");
	return text;
}

static int draw(struct plot *plot, const struct plot_rows *rows, const struct plot_source *source, struct err *err)
{
	const char **groups;
	const size_t n = plot_rows_groups(&groups, rows, plot->arena);
	const char *labels[SERIES_MAX];
	double has_closed[SERIES_MAX] = {0};
	size_t n_closed = 0;

	if (n > SERIES_MAX)
		return err_set(err, STATUS_USAGE, "plot stride: %zu series (%s; %s; ..); up to %d would be accepted: narrow --where, --model or "
		    "--policy", n, groups[0], groups[1], SERIES_MAX);
	for (size_t i = 0; i < n; i++) {
		struct series s;
		series_collect(&s, groups[i], rows, plot->arena);
		write_simulated(plot, &s);
		has_closed[i] = write_closed_form(plot, &s, source);
		n_closed += has_closed[i] > 0;
		labels[i] = legend(&s, n, plot->arena);
	}
	plot_texts(plot, "label", labels, n);
	plot_number(plot, "has_closed", n_closed > 0);
	plot_number(plot, "has_idle", n == 1 && n_closed > 0 && strcmp(rows->rows[0].contention, "none") != 0);
	plot_number(plot, "height", 522 + 22 * plot_legend(plot, labels, n, 3, 860));
	plot_heading(plot, source->n_samples ? "Update and iteration time over the update stride, 90 % intervals" :
	    "Update and iteration time over the update stride", subtitle(rows, n_closed, n, plot->arena), rows->origin,
	    source);
	return 0;
}

int plot_stride(struct plot *plot, const struct plot_source *source, struct err *err)
{
	struct opt_list specs = {0};
	struct plot_rows rows;
	int code = source->input == PLOT_FROM_TRIALS ? make_specs(&specs, source, plot->arena, err) : 0;

	if (!code)
		code = plot_rows_load(&rows, source, &specs, "stride is not null and update_s is not null", plot->arena, err);
	if (!code)
		code = plot_rows_intervals(&rows, source, plot->arena, err);
	if (code)
		return code;
	plot_number(plot, "has_intervals", rows.n_intervals > 0);
	plot_rows_label(&rows, axes, plot->arena);
	return draw(plot, &rows, source, err);
}
