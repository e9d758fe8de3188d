/* SPDX-License-Identifier: GPL-3.0-or-later
 * What each resource is worth: elasticities as bars, the time over a resource's factor as lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/parallel.h"
#include "sim/study/plot.h"
#include "sim/study/sensitivity.h"

enum { LINES = 4, POINTS = 17 };
static const double factor_least = 0.25, factor_ratio = 1.189207115002721; /* 2^(1/4): sixteen steps to 4 */

struct curves {
	const struct trial_input *input;
	const struct sensitivity *lines[LINES]; /* those that matter most */
	double at_s[LINES][POINTS];
	struct err errs[LINES * POINTS];
};

static double factor_at(size_t point)
{
	return factor_least * pow(factor_ratio, (double)point);
}

static void run_point(void *context, size_t item, size_t worker)
{
	struct curves *const c = context;
	const size_t line = item / POINTS, point = item % POINTS;

	(void)worker;
	if (sensitivity_time(&c->at_s[line][point], c->input, c->lines[line]->resource, factor_at(point), &c->errs[item]))
		c->at_s[line][point] = NAN;
}

static int by_size(const void *a, const void *b)
{
	const struct sensitivity *const x = *(const struct sensitivity *const *)a, *const y = *(const struct sensitivity *const *)b;
	const double x_size = fabs(x->elasticity), y_size = fabs(y->elasticity);

	return x_size != y_size ? (x_size < y_size) - (x_size > y_size) : strcmp(x->resource, y->resource);
}

/* ---- blocks */

static void write_bars(struct plot *plot, const struct sensitivity *const sorted[SENSITIVITY_N])
{
	for (size_t i = 0; i < SENSITIVITY_N; i++) {
		const struct sensitivity *const s = sorted[i];
		plot_cell(plot, s->resource);
		const double change = 100 * (s->stepped_s / s->base_s - 1);
		plot_cell(plot, fabs(change) < 0.05 ? "0 %" : arena_printf(plot->arena, "%+.1f %%", change));
		plot_line(plot, (const double[]){(double)i, fmax(0, -s->elasticity), fmin(0, -s->elasticity), i < LINES ? (double)i + 1 : 8}, 4);
	}
	plot_end_block(plot);
}

static void write_lines(struct plot *plot, const struct curves *c)
{
	for (size_t point = 0; point < POINTS; point++) {
		double line[LINES + 1] = {factor_at(point)};
		for (size_t i = 0; i < LINES; i++)
			line[i + 1] = c->at_s[i][point];
		plot_line(plot, line, LINES + 1);
	}
	plot_end_block(plot);
}

static int write_break_even(struct plot *plot, const struct curves *c, size_t line, const struct break_even *point, struct err *err)
{
	double at_s;

	if (isnan(point->factor))
		return 0;
	if (sensitivity_time(&at_s, c->input, c->lines[line]->resource, point->factor, err))
		return err->code;
	plot_cell(plot, arena_printf(plot->arena, "%.3g", point->value));
	plot_line(plot, (const double[]){point->factor, at_s, (double)line + 1}, 3);
	return 0;
}

static int write_break_evens(struct plot *plot, const struct curves *c, struct err *err)
{
	plot_cell(plot, "");
	plot_line(plot, (const double[]){NAN, NAN, NAN}, 3);
	for (size_t i = 0; i < LINES; i++)
		if (write_break_even(plot, c, i, &c->lines[i]->down, err) || write_break_even(plot, c, i, &c->lines[i]->up, err))
			return err->code;
	plot_end_block(plot);
	return 0;
}

/* ---- the plot */

static int draw(struct plot *plot, const struct plot_source *source, const struct trial *trial, const struct trial_input *input,
    const struct sensitivities *all, struct err *err)
{
	const struct sensitivity *sorted[SENSITIVITY_N];
	struct curves *const c = arena_zalloc(plot->arena, 1, sizeof(*c));
	const char *names[LINES];
	char time[UNITS_TEXT_MAX];

	for (size_t i = 0; i < SENSITIVITY_N; i++)
		sorted[i] = &all->all[i];
	qsort(sorted, SENSITIVITY_N, sizeof(sorted[0]), by_size);
	c->input = input;
	for (size_t i = 0; i < LINES; i++)
		names[i] = (c->lines[i] = sorted[i])->resource;
	parallel_for(sizeof(c->errs) / sizeof(c->errs[0]), parallel_processors(), run_point, c);
	write_bars(plot, sorted);
	write_lines(plot, c);
	if (write_break_evens(plot, c, err))
		return err->code;
	plot_texts(plot, "line", names, LINES);
	plot_number(plot, "base_s", sorted[0]->base_s);
	plot_text(plot, "option", all->option ? all->option : "");
	plot_number(plot, "best_value", all->best);
	plot_heading(plot, "What each resource is worth",
	    arena_printf(plot->arena, "%s on %s, %s, %.0f x %.0f sequences of %.0f tokens; iteration %s%s\n%s", trial->workload.shape.name,
		input->hw->name, batch_gpus_text(&trial->workload.batch, plot->arena), trial->workload.batch.mbs,
		trial->workload.batch.grad_accum, trial->workload.batch.seq, units_print(time, UNIT_SECONDS, sorted[0]->base_s),
		trial->metrics.fits ? "" : "; it does not fit", trial->policy),
	    arena_printf(plot->arena, "Profile %s: %s", input->hw->name, input->hw->summary), source);
	return 0;
}

int plot_whatif(struct plot *plot, const struct plot_source *source, struct err *err)
{
	struct trial_input input = source->trial;
	struct sensitivities all;
	struct trial trial;

	if (source->n_shapes > 1 || source->specs->n > 1)
		return err_set(err, STATUS_USAGE, "plot whatif: one model and one policy would be accepted");
	input.shape = source->shapes[0];
	input.policy = source->specs->n ? source->specs->items[0] : "dos";
	if (trial_run(&trial, &input, plot->arena, err))
		return err->code;
	input.policy = trial.policy;
	if (sensitivity_find(&all, &input, true, parallel_processors(), plot->arena, err))
		return err->code;
	return draw(plot, source, &trial, &input, &all, err);
}
