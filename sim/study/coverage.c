/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/coverage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/parallel.h"
#include "sim/study/sample_fit.h"

/* The rows of one machine. */
struct group {
	const struct validation *validation;
	const struct validate_options *options;
	const struct sampler *sampler;
	const struct hwprofile *hw;
	size_t n_samples;
	double *values; /* [validation->n][QUANTITY_N][n_samples] */
};

static double *values_at(const struct group *g, size_t row, size_t quantity)
{
	return &g->values[(row * QUANTITY_N + quantity) * g->n_samples];
}

/* All rows of the machine on one draw. */
static void run_draw(void *context, size_t draw, size_t worker)
{
	const struct group *const g = context;
	struct hwprofile *const hw = xmalloc(1, sizeof(*hw));
	struct arena arena = {0};

	(void)worker;
	sampler_draw(hw, g->sampler, g->hw, draw);
	for (size_t i = 0; i < g->validation->n; i++) {
		const struct prediction *const p = &g->validation->predictions[i];
		double predicted[QUANTITY_N];
		struct err err;
		if (p->hw != g->hw || p->reason)
			continue;
		arena_reset(&arena);
		const bool has_run = prediction_run(predicted, p, hw, g->options, &arena, &err) == 0;
		for (size_t q = 0; q < QUANTITY_N; q++)
			values_at(g, i, q)[draw] = has_run ? predicted[q] : p->predicted[q];
	}
	arena_release(&arena);
	free(hw);
}

static void judge(struct covered *row, const struct group *g, size_t i, const struct discrepancy *off)
{
	const struct prediction *const p = &g->validation->predictions[i];

	for (size_t q = 0; q < QUANTITY_N; q++) {
		double *const draws = values_at(g, i, q);
		interval_of(&row->of[q], p->predicted[q], draws, g->n_samples, off->log_sd[q]);
		if (!isnan(p->row->measured[q]) && !p->is_excluded)
			row->rank[q] = interval_cdf(draws, g->n_samples, off->log_sd[q], p->row->measured[q]);
	}
}

static int cover_group(struct coverage *c, struct group *g, const struct evidence *evidence, const struct uncertainty_options *options,
    struct arena *arena, struct err *err)
{
	const size_t n_workers = options->n_workers ? options->n_workers : parallel_processors();
	struct discrepancy off;
	struct sampler sampler;

	discrepancy_without(&off, evidence, g->hw->name);
	sampler_init(&sampler, g->hw, c->seed, arena);
	if (sampler_condition(&sampler, g->hw, options->sharing, n_workers, arena, err))
		return err->code;
	g->sampler = &sampler;
	parallel_for(g->n_samples, n_workers, run_draw, g);
	for (size_t i = 0; i < g->validation->n; i++)
		if (g->validation->predictions[i].hw == g->hw && !g->validation->predictions[i].reason)
			judge(&c->rows[i], g, i, &off);
	return 0;
}

static bool is_first_of_hw(const struct validation *v, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (v->predictions[i].hw == v->predictions[row].hw)
			return false;
	return true;
}

int coverage_find(struct coverage *c, const struct validation *v, const struct uncertainty_options *options, struct arena *arena,
    struct err *err)
{
	const struct validate_options trial = {.sharing = options->sharing, .sync = options->sync};
	struct group g = {.validation = v, .options = &trial, .n_samples = options->n_samples ? options->n_samples : INTERVAL_SAMPLES};
	struct evidence evidence;

	*c = (struct coverage){.rows = arena_zalloc(arena, v->n + 1, sizeof(*c->rows)), .n_samples = g.n_samples, .seed = options->seed};
	for (size_t i = 0; i < v->n; i++)
		for (size_t q = 0; q < QUANTITY_N; q++)
			c->rows[i].rank[q] = NAN;
	if (evidence_load(&evidence, options->sharing, options->sync, arena, err))
		return err_wrap(err, "uncertainty");
	g.values = arena_alloc(arena, v->n * QUANTITY_N * g.n_samples + 1, sizeof(*g.values));
	for (size_t i = 0; i < v->n; i++) {
		g.hw = v->predictions[i].hw;
		if (is_first_of_hw(v, i) && cover_group(c, &g, &evidence, options, arena, err))
			return err->code;
	}
	return 0;
}

/* ---- summaries */

static bool is_chosen(size_t quantity, size_t q)
{
	return quantity == q || (quantity == QUANTITY_N && q != QUANTITY_ITERATION);
}

static bool is_counted(const struct prediction *p, size_t q, const char *hw, enum coverage_part part)
{
	if (p->is_excluded || isnan(p->row->measured[q]) || (hw && strcmp(hw, p->row->hw) != 0))
		return false;
	if (!discrepancy_compares(p->row->hw, q))
		return part == COVERAGE_OTHER;
	return part == (p->is_in_fit ? COVERAGE_IN_FIT : COVERAGE_COUNTED);
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median_of(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n ? (values[(n - 1) / 2] + values[n / 2]) / 2 : NAN;
}

void coverage_count(struct coverage_counts *counts, const struct coverage *c, const struct validation *v, size_t quantity, const char *hw,
    enum coverage_part part, struct arena *arena)
{
	double *parts[3];
	size_t n = 0;

	for (size_t k = 0; k < 3; k++)
		parts[k] = arena_alloc(arena, v->n * QUANTITY_N + 1, sizeof(**parts));
	*counts = (struct coverage_counts){.n = 0};
	for (size_t i = 0; i < v->n; i++)
		for (size_t q = 0; q < QUANTITY_N; q++) {
			const struct interval *const at = &c->rows[i].of[q];
			if (!is_chosen(quantity, q) || !is_counted(&v->predictions[i], q, hw, part))
				continue;
			const double measured = v->predictions[i].row->measured[q];
			counts->n++;
			if (isnan(c->rows[i].rank[q]))
				continue;
			counts->n_inside += at->lo <= measured && measured <= at->hi;
			parts[0][n] = interval_half_frac(at);
			parts[1][n] = at->parameter_frac;
			parts[2][n++] = at->discrepancy_frac;
		}
	counts->half_frac = median_of(parts[0], n);
	counts->parameter_frac = median_of(parts[1], n);
	counts->discrepancy_frac = median_of(parts[2], n);
}

double coverage_at(const struct coverage *c, const struct validation *v, size_t quantity, double level)
{
	size_t n = 0, n_inside = 0;

	for (size_t i = 0; i < v->n; i++)
		for (size_t q = 0; q < QUANTITY_N; q++)
			if (is_chosen(quantity, q) && is_counted(&v->predictions[i], q, NULL, COVERAGE_COUNTED)) {
				n++;
				n_inside += fabs(2 * c->rows[i].rank[q] - 1) <= level; /* NAN: missed */
			}
	return n ? (double)n_inside / (double)n : NAN;
}
