/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/sample_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/parallel.h"
#include "sim/study/sample_latency.h"
#include "sim/study/validate.h"

/* ---- covariance */

/* Lower triangle L with L L^T = C; a direction without variance gets a column of zeros. */
static void factorise(double *root, const double *c, size_t n)
{
	const double tiny = 1e-14;

	memset(root, 0, n * n * sizeof(*root));
	for (size_t j = 0; j < n; j++) {
		double left = c[j * n + j];
		for (size_t k = 0; k < j; k++)
			left -= root[j * n + k] * root[j * n + k];
		if (!(left > tiny))
			continue;
		root[j * n + j] = sqrt(left);
		for (size_t i = j + 1; i < n; i++) {
			double sum = c[i * n + j];
			for (size_t k = 0; k < j; k++)
				sum -= root[i * n + k] * root[j * n + k];
			root[i * n + j] = sum / root[j * n + j];
		}
	}
}

/* One observation: C -= (C s)(C s)^T / (s^T C s + sd^2). */
static void observe(double *c, size_t n, const double *slope, double sd, double *moved)
{
	double spread = sd * sd;

	for (size_t i = 0; i < n; i++) {
		moved[i] = 0;
		for (size_t j = 0; j < n; j++)
			moved[i] += c[i * n + j] * slope[j];
		spread += slope[i] * moved[i];
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			c[i * n + j] -= moved[i] * moved[j] / spread;
}

void sampler_observe(struct sampler *s, const double *slopes, const double *log_sd, size_t n_values, struct arena *arena)
{
	const size_t n = s->n_fields;
	double *const c = arena_zalloc(arena, n * n + 1, sizeof(*c));
	double *const moved = arena_alloc(arena, n + 1, sizeof(*moved));

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			for (size_t k = 0; k <= (i < j ? i : j); k++)
				c[i * n + j] += s->root[i * n + k] * s->root[j * n + k];
	for (size_t v = 0; v < n_values; v++)
		observe(c, n, &slopes[v * n], log_sd[v], moved);
	factorise(s->root, c, n);
	s->n_conditions += n_values;
}

/* ---- rows of the fit */

struct fit {
	const struct sampler *sampler;
	const struct hwprofile *hw;
	struct validate_options options;
	struct prediction *rows;
	size_t n_rows;
	double *values; /* [n_rows][QUANTITY_N][n_fields]: slopes */
};

static bool is_conditioned_already(const struct hwprofile *hw)
{
	for (size_t i = 0; i < HW_N_VALUES; i++)
		if (hw->value_meta[i].kind == HW_KIND_FITTED && !isnan(hw->value_meta[i].lo))
			return true;
	for (size_t i = 0; i < HW_N_CURVES; i++)
		if (hw->curve_meta[i].kind == HW_KIND_FITTED && !isnan(hw->curve_meta[i].lo))
			return true;
	return false;
}

static bool is_of_fit(const struct row *row, const struct hwprofile *hw)
{
	for (size_t i = 0; i < hw->n_fitted_on; i++)
		if (strcmp(hw->fitted_on[i], row->id) == 0)
			return strcmp(row->hw, hw->name) == 0;
	return false;
}

static void add_rows(struct fit *fit, const struct rows *rows)
{
	struct err err;

	for (size_t i = 0; i < rows->n && fit->n_rows < fit->hw->n_fitted_on; i++) {
		struct arena own = {0};
		struct prediction *const p = &fit->rows[fit->n_rows];
		*p = (struct prediction){.row = &rows->rows[i], .hw = fit->hw, .policy = rows->rows[i].policy};
		if (is_of_fit(p->row, fit->hw) && prediction_run(p->predicted, p, fit->hw, &fit->options, &own, &err) == 0)
			fit->n_rows++;
		arena_release(&own);
	}
}

static int find_rows(struct fit *fit, struct arena *arena, struct err *err)
{
	struct opt_list sets = {0};
	const size_t n = rows_list(&sets, arena);

	fit->rows = arena_zalloc(arena, fit->hw->n_fitted_on + 1, sizeof(*fit->rows));
	for (size_t i = 0; i < n && fit->n_rows < fit->hw->n_fitted_on; i++) {
		struct rows rows;
		if (rows_load(&rows, sets.items[i], arena, err))
			return err->code;
		add_rows(fit, &rows);
	}
	return 0;
}

/* ---- slopes */

static const double step = 0.02; /* of a log factor: small against the widths, large against kinks of the schedule */

static double *slope_at(const struct fit *fit, size_t row, size_t quantity)
{
	return &fit->values[(row * QUANTITY_N + quantity) * fit->sampler->n_fields];
}

/* All rows with one field moved. */
static void find_slopes(void *context, size_t field, size_t worker)
{
	const struct fit *const fit = context;
	struct hwprofile *const moved = xmalloc(1, sizeof(*moved));
	struct arena arena = {0};
	struct err err;

	(void)worker;
	*moved = *fit->hw;
	sample_multiply(moved, &fit->sampler->fields[field], exp(step));
	for (size_t r = 0; r < fit->n_rows; r++) {
		double predicted[QUANTITY_N];
		arena_reset(&arena);
		const bool has_run = prediction_run(predicted, &fit->rows[r], moved, &fit->options, &arena, &err) == 0;
		for (size_t q = 0; q < QUANTITY_N; q++) {
			const double slope = log(predicted[q] / fit->rows[r].predicted[q]) / step;
			slope_at(fit, r, q)[field] = has_run && isfinite(slope) ? slope : 0;
		}
	}
	arena_release(&arena);
	free(moved);
}

/* Root mean square of the fit's residuals of a quantity. */
static double residual_log_sd(const struct fit *fit, size_t quantity)
{
	const double least = 0.01;
	double sum = 0;
	size_t n = 0;

	for (size_t r = 0; r < fit->n_rows; r++) {
		const double residual = log(fit->rows[r].row->measured[quantity] / fit->rows[r].predicted[quantity]);
		if (isfinite(residual)) {
			sum += residual * residual;
			n++;
		}
	}
	return n ? fmax(least, sqrt(sum / (double)n)) : least;
}

/* Sums of phases and iterations say nothing that their parts do not. */
static bool is_part(size_t quantity)
{
	return quantity != QUANTITY_SUM_PHASES && quantity != QUANTITY_ITERATION;
}

int sampler_condition(struct sampler *s, const struct hwprofile *hw, const struct sharing *sharing, size_t n_workers,
    struct arena *arena, struct err *err)
{
	struct fit fit = {.sampler = s, .hw = hw, .options = {.sharing = sharing}};

	sampler_join_latency(s, hw, arena);
	if (hw->n_fitted_on == 0 || is_conditioned_already(hw))
		return 0;
	if (find_rows(&fit, arena, err))
		return err->code;
	fit.values = arena_zalloc(arena, fit.n_rows * QUANTITY_N * s->n_fields + 1, sizeof(*fit.values));
	parallel_for(s->n_fields, n_workers, find_slopes, &fit);
	for (size_t q = 0; q < QUANTITY_N; q++) {
		const double log_sd = residual_log_sd(&fit, q);
		for (size_t r = 0; is_part(q) && r < fit.n_rows; r++)
			if (!isnan(fit.rows[r].row->measured[q]))
				sampler_observe(s, slope_at(&fit, r, q), &log_sd, 1, arena);
	}
	return 0;
}
