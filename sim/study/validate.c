/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/validate.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- profiles, each loaded once */

struct profile {
	const char *name;
	const struct hwprofile *hw;
	struct profile *next;
};

/* NULL: *err says why. */
static const struct hwprofile *get_profile(struct profile **profiles, const char *name, struct arena *arena, struct err *err)
{
	for (const struct profile *p = *profiles; p; p = p->next)
		if (strcmp(p->name, name) == 0)
			return p->hw;
	struct hwprofile *const loaded = arena_alloc(arena, 1, sizeof(*loaded));
	if (hwprofile_load(loaded, name, arena, err))
		return NULL;
	struct profile *const added = arena_alloc(arena, 1, sizeof(*added));
	*added = (struct profile){name, loaded, *profiles};
	*profiles = added;
	return loaded;
}

static bool is_fitted_on(const struct hwprofile *hw, const char *id)
{
	for (size_t i = 0; i < hw->n_fitted_on; i++)
		if (strcmp(hw->fitted_on[i], id) == 0)
			return true;
	return false;
}

/* ---- predictions */

static const char *label_of(const struct row *row, struct arena *arena)
{
	char size[UNITS_TEXT_MAX];

	if (*row->model)
		return row->model;
	if (row->batch.n_subgroups > 0)
		return arena_printf(arena, "%.0f x %s", row->batch.n_subgroups, units_print(size, UNIT_PARAMS, row->batch.subgroup_params));
	return arena_printf(arena, "L%.0f-h%.0f-f%.0f", row->layers, row->hidden, row->ffn);
}

static void keep_metrics(double predicted[QUANTITY_N], const struct row *row, const struct metrics *m)
{
	const double other_s = isnan(row->other_s) ? m->other_s : row->other_s;

	predicted[QUANTITY_FORWARD] = m->forward_s;
	predicted[QUANTITY_BACKWARD] = m->backward_s;
	predicted[QUANTITY_UPDATE] = m->update_s;
	predicted[QUANTITY_SUM_PHASES] = m->forward_s + m->backward_s + m->update_s;
	predicted[QUANTITY_ITERATION] = predicted[QUANTITY_SUM_PHASES] + other_s;
	predicted[QUANTITY_GPU_PEAK] = m->gpu_peak_bytes;
	predicted[QUANTITY_HOST_PEAK] = m->host_peak_bytes;
}

static int run_row(struct trial *trial, const struct prediction *p, const struct hwprofile *hw, const struct validate_options *options,
    struct arena *arena, struct err *err)
{
	struct trial_input input = {.hw = hw,
	    .batch = p->row->batch,
	    .policy = p->policy,
	    .threads = p->row->threads,
	    .sharing = options->sharing,
	    .sync = options->sync};
	const int code = row_shape(&input.shape, p->row, err);

	return code ? code : trial_run(trial, &input, arena, err);
}

int prediction_run(double predicted[QUANTITY_N], const struct prediction *p, const struct hwprofile *hw,
    const struct validate_options *options, struct arena *arena, struct err *err)
{
	struct trial trial;
	const int code = run_row(&trial, p, hw, options, arena, err);

	if (!code)
		keep_metrics(predicted, p->row, &trial.metrics);
	return code;
}

/* Runs the trial of a row; what is wrong with it becomes its reason. */
static void predict(struct prediction *p, const struct validate_options *options, struct arena *arena)
{
	struct arena own = {0};
	struct trial trial;
	struct err err = {0};

	if (run_row(&trial, p, p->hw, options, &own, &err)) {
		p->reason = arena_strdup(arena, err.text);
	} else {
		keep_metrics(p->predicted, p->row, &trial.metrics);
		p->policy = arena_strdup(arena, trial.policy);
		p->reason = trial.metrics.fits ? NULL : arena_strdup(arena, trial.metrics.reason);
	}
	arena_release(&own);
}

static bool is_selected(const struct row *row, const struct opt_list *ids)
{
	for (size_t i = 0; i < ids->n; i++)
		if (fnmatch(ids->items[i], row->id, 0) == 0)
			return true;
	return ids->n == 0;
}

static struct prediction *append(struct validation *v, size_t n_more, struct arena *arena)
{
	struct prediction *const all = arena_zalloc(arena, v->n + n_more + 1, sizeof(*all));

	if (v->n)
		memcpy(all, v->predictions, v->n * sizeof(*all));
	v->predictions = all;
	return all;
}

int validate_rows(struct validation *v, const struct rows *rows, const struct validate_options *options, struct arena *arena,
    struct err *err)
{
	struct profile *profiles = NULL;

	append(v, rows->n, arena);
	for (size_t i = 0; i < rows->n; i++) {
		const struct row *const row = &rows->rows[i];
		if (!is_selected(row, options->ids))
			continue;
		const struct hwprofile *const hw = get_profile(&profiles, options->hw ? options->hw : row->hw, arena, err);
		if (!hw)
			return options->hw ? err->code : err_wrap(err, "%s:%zu: hw", rows->name, row->line);
		struct prediction *const p = &v->predictions[v->n++];
		*p = (struct prediction){.row = row,
		    .hw = hw,
		    .set = rows->name,
		    .model = label_of(row, arena),
		    .policy = row->policy,
		    .is_in_fit = is_fitted_on(hw, row->id),
		    .is_excluded = *row->exclude != '\0'};
		for (size_t q = 0; q < QUANTITY_N; q++)
			p->predicted[q] = NAN;
		predict(p, options, arena);
	}
	return 0;
}

double prediction_error_frac(const struct prediction *p, enum quantity quantity)
{
	if (isnan(p->row->measured[quantity]))
		return NAN;
	return p->reason ? 1 : fabs(p->predicted[quantity] / p->row->measured[quantity] - 1);
}

/* ---- summaries */

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void errors_of(struct errors *e, const struct error_case *cases, size_t n, struct arena *arena)
{
	double *const sorted = arena_alloc(arena, n + 1, sizeof(*sorted));
	double sum = 0, sum_signed = 0;
	size_t n_signed = 0;

	*e = (struct errors){n, NAN, NAN, NAN, NAN, NAN, NULL};
	if (n == 0)
		return;
	e->max_frac = -1;
	for (size_t i = 0; i < n; i++) {
		sorted[i] = cases[i].error_frac;
		sum += cases[i].error_frac;
		if (!isnan(cases[i].signed_frac)) {
			sum_signed += cases[i].signed_frac;
			n_signed++;
		}
		if (cases[i].error_frac > e->max_frac) {
			e->max_frac = cases[i].error_frac;
			e->worst = cases[i].id;
		}
	}
	qsort(sorted, n, sizeof(*sorted), compare_doubles);
	e->mean_frac = sum / (double)n;
	e->median_frac = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
	e->p90_frac = sorted[(9 * n + 9) / 10 - 1];
	e->bias_frac = n_signed ? sum_signed / (double)n_signed : NAN;
}

void validate_errors(struct errors *errors, const struct validation *v, enum quantity quantity, bool is_in_fit, const char *hw,
    const char *model, struct arena *arena)
{
	struct error_case *const cases = arena_alloc(arena, v->n + 1, sizeof(*cases));
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		const struct prediction *const p = &v->predictions[i];
		const double measured = p->row->measured[quantity];
		if (p->is_excluded || p->is_in_fit != is_in_fit || isnan(measured))
			continue;
		if ((hw && strcmp(hw, p->row->hw) != 0) || (model && strcmp(model, p->model) != 0))
			continue;
		cases[n++] = (struct error_case){prediction_error_frac(p, quantity),
		    p->reason ? NAN : p->predicted[quantity] / measured - 1, p->row->id};
	}
	errors_of(errors, cases, n, arena);
}
