/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const double z_95 = 1.96;

/* ---- which constants */

static int unknown_param(const char *name, struct arena *arena, struct err *err)
{
	struct opt_list names = {0};
	const char *list = "";

	for (size_t i = 0; i < fit_n_params; i++) {
		opt_list_add(&names, fit_params[i].name, arena);
		list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", fit_params[i].name);
	}
	opt_list_add(&names, NULL, arena);
	const char *const nearest = err_nearest(name, names.items);
	return err_set(err, STATUS_USAGE, "--param '%s'%s%s%s; accepted: %s", name, nearest ? "; did you mean '" : "",
	    nearest ? nearest : "", nearest ? "'?" : "", list);
}

/* "+NAME": besides all that the profile has. */
static const char *bare(const char *name)
{
	return *name == '+' ? name + 1 : name;
}

static bool is_named(const struct opt_list *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(bare(names->items[i]), name) == 0)
			return true;
	return false;
}

static bool is_selection(const struct opt_list *names)
{
	for (size_t i = 0; i < names->n; i++)
		if (*names->items[i] != '+')
			return true;
	return false;
}

static bool is_measured(const struct fit_cases *cases, bool is_memory)
{
	for (size_t c = 0; c < cases->n; c++)
		for (size_t q = 0; q < QUANTITY_N; q++)
			if (!isnan(cases->cases[c].measured[q]) && (q == QUANTITY_GPU_PEAK || q == QUANTITY_HOST_PEAK) == is_memory)
				return true;
	return false;
}

/* All that the profile has, or those that are named; constants of memory only when memory was measured. */
static int choose_params(const struct fit_param ***params, size_t *n, struct hwprofile *start, const struct fit_cases *cases,
    const struct opt_list *names, struct arena *arena, struct err *err)
{
	const struct fit_param **const chosen = arena_alloc(arena, fit_n_params, sizeof(const struct fit_param *));

	*params = chosen;
	*n = 0;
	for (size_t i = 0; i < names->n; i++)
		if (!fit_param_find(bare(names->items[i])))
			return unknown_param(bare(names->items[i]), arena, err);
	for (size_t i = 0; i < fit_n_params; i++) {
		const struct fit_param *const param = &fit_params[i];
		const bool is_asked = is_named(names, param->name);
		if ((is_selection(names) && !is_asked) || !is_measured(cases, param->is_memory))
			continue;
		if (is_asked && !fit_param_is_there(start, param)) {
			if (!(param->typical > 0))
				return err_set(err, STATUS_USAGE, "--param %s: %s has none", param->name, start->name);
			fit_param_start_typical(start, param);
		}
		if (fit_param_is_there(start, param))
			chosen[(*n)++] = param;
	}
	return 0;
}

/* ---- left out */

struct left_out {
	double *x; /* [n_fits * n_params] */
	double *predicted; /* [n_cases * QUANTITY_N], NAN where no fit leaves the run out */
	size_t n_fits;
};

static bool is_left_with(const struct fit_model *m, enum fit_leave leave, size_t out, size_t c)
{
	return c == out || (leave == FIT_LEAVE_GROUP && strcmp(m->cases[c].group, m->cases[out].group) == 0);
}

/* First of its group: the one that a fit is made for. */
static bool is_first(const struct fit_model *m, enum fit_leave leave, size_t out)
{
	for (size_t c = 0; c < out; c++)
		if (is_left_with(m, leave, out, c))
			return false;
	return true;
}

/* Fits without each run or group, the same constants free, from the solution x. A fit of nothing is none. */
static void leave_out(struct left_out *l, struct fit_model *m, const double *x, enum fit_leave leave, struct arena *arena)
{
	double *const all = arena_alloc(arena, m->n_cases * QUANTITY_N, sizeof(*all));
	struct err err = {0};

	l->x = arena_alloc(arena, m->n_cases * m->n_params + 1, sizeof(*l->x));
	for (size_t out = 0; out < m->n_cases && leave != FIT_LEAVE_NONE; out++) {
		double *const without = &l->x[l->n_fits * m->n_params];
		size_t n_rest = 0;
		if (!is_first(m, leave, out))
			continue;
		for (size_t c = 0; c < m->n_cases; c++)
			n_rest += !(m->is_left_out[c] = is_left_with(m, leave, out, c));
		if (n_rest == 0)
			continue;
		memcpy(without, x, m->n_params * sizeof(*without));
		fit_model_solve(without, m);
		l->n_fits++;
		if (fit_model_predict(all, m, without, &err))
			continue;
		for (size_t c = 0; c < m->n_cases; c++)
			if (m->is_left_out[c])
				memcpy(&l->predicted[c * QUANTITY_N], &all[c * QUANTITY_N], QUANTITY_N * sizeof(*all));
	}
	memset(m->is_left_out, 0, m->n_cases * sizeof(*m->is_left_out));
}

/* Standard error of x[p] from n fits that leave one out each. */
static double jackknife_sd(const struct left_out *l, size_t n_params, size_t p)
{
	const double n = (double)l->n_fits;
	double mean = 0, sum = 0;

	for (size_t i = 0; i < l->n_fits; i++)
		mean += l->x[i * n_params + p] / n;
	for (size_t i = 0; i < l->n_fits; i++)
		sum += pow(l->x[i * n_params + p] - mean, 2);
	return sqrt((n - 1) / n * sum);
}

/* ---- the result */

/* Scatter of what was fitted, over what the constants left free. */
static void judge_scatter(struct fit_result *r, struct fit_model *m, const double *x)
{
	const double n_free = (double)m->n_values - r->n_used;
	const double misfit = fit_model_misfit(m, x);

	r->noise_frac = n_free > 0.5 ? m->noise_frac * sqrt(misfit / n_free) : NAN;
	r->inflation = n_free > 0.5 ? fmax(1, sqrt(misfit / n_free)) : 1;
}

static void fill_constant(struct fit_constant *k, const struct fit_result *r, const struct fit_model *m, const double *x, size_t p)
{
	double lo, hi;

	k->param = m->params[p];
	k->start = fit_param_value(r->start, k->param);
	k->estimate = fit_param_value(r->hw, k->param);
	k->prior_log_sd = m->prior_sd[p];
	if (!m->is_free[p])
		k->log_sd = 0;
	k->lo = k->estimate * exp(-z_95 * (m->is_free[p] ? k->log_sd : k->prior_log_sd));
	k->hi = k->estimate * exp(z_95 * (m->is_free[p] ? k->log_sd : k->prior_log_sd));
	fit_param_bounds(&lo, &hi, r->start, r->hw, k->param);
	if (m->is_free[p] && (x[p] >= hi || x[p] <= lo))
		k->finding.state = FIT_AT_BOUND;
	k->lo = fmin(fmax(k->lo, k->start * exp(lo)), k->estimate);
	k->hi = fmax(fmin(k->hi, k->start * exp(hi)), k->estimate);
}

static void fill_residuals(struct fit_result *r, const struct fit_model *m, const double *start, const double *fitted,
    const double *left_out, struct arena *arena)
{
	r->n_residuals = m->n_values;
	r->residuals = arena_alloc(arena, m->n_values + 1, sizeof(*r->residuals));
	for (size_t i = 0; i < m->n_values; i++) {
		const size_t at = m->values[i].case_idx * QUANTITY_N + m->values[i].quantity;
		const struct fit_case *const run = &m->cases[m->values[i].case_idx];
		r->residuals[i] = (struct fit_residual){.run = run,
		    .quantity = m->values[i].quantity,
		    .measured = run->measured[m->values[i].quantity],
		    .start = start[at],
		    .fitted = fitted[at],
		    .left_out = left_out[at]};
	}
}

static size_t count_misfits(const struct hwprofile *hw, const double *predicted, size_t n_cases)
{
	size_t n = 0;

	for (size_t c = 0; c < n_cases; c++) {
		const double *const p = &predicted[c * QUANTITY_N];
		n += p[QUANTITY_GPU_PEAK] > hw->gpu_memory_bytes || p[QUANTITY_HOST_PEAK] > fmin(hw->host_memory_bytes, hw->pinned_max_bytes);
	}
	return n;
}

struct work {
	struct fit_solution solution;
	double *zero;
	double *start, *fitted; /* predictions, [n_cases * QUANTITY_N] */
	struct left_out left;
};

static void work_init(struct work *w, const struct fit_model *m, struct arena *arena)
{
	const size_t n_predicted = m->n_cases * QUANTITY_N + 1;

	w->zero = arena_zalloc(arena, m->n_params + 1, sizeof(*w->zero));
	w->start = arena_alloc(arena, n_predicted, sizeof(*w->start));
	w->fitted = arena_alloc(arena, n_predicted, sizeof(*w->fitted));
	w->left = (struct left_out){.predicted = arena_alloc(arena, n_predicted, sizeof(double))};
	for (size_t i = 0; i < n_predicted; i++)
		w->left.predicted[i] = NAN;
}

static void fill(struct fit_result *r, struct fit_model *m, struct work *w, const struct fit_options *options, struct arena *arena)
{
	r->singular_values = arena_alloc(arena, m->n_params + 1, sizeof(*r->singular_values));
	r->n_singular = fit_singular_values(r->singular_values, &r->n_used, m, w->solution.jacobian, arena);
	judge_scatter(r, m, w->solution.x);
	leave_out(&w->left, m, w->solution.x, options->leave, arena);
	r->n_left_out = w->left.n_fits;
	r->constants = arena_alloc(arena, m->n_params + 1, sizeof(*r->constants));
	r->n_constants = m->n_params;
	for (size_t p = 0; p < m->n_params; p++) {
		struct fit_constant *const k = &r->constants[p];
		const bool is_jackknife = options->has_jackknife && w->left.n_fits > 1;
		k->finding = w->solution.findings[p];
		k->log_sd = is_jackknife ? jackknife_sd(&w->left, m->n_params, p) : k->finding.sd * r->inflation;
		k->log_sd = fmin(k->log_sd, m->prior_sd[p]);
		fill_constant(k, r, m, w->solution.x, p);
	}
	fill_residuals(r, m, w->start, w->fitted, w->left.predicted, arena);
	r->n_misfits = count_misfits(r->hw, w->fitted, m->n_cases);
	r->rival_excess = w->solution.rival_excess;
	r->rival_x = w->solution.rival;
	r->x = w->solution.x;
	r->n_trials = m->n_trials;
}

int fit_run(struct fit_result *r, const struct hwprofile *hw, const struct fit_cases *cases, const struct fit_options *options,
    struct arena *arena, struct err *err)
{
	const struct fit_param **params;
	struct work w;

	*r = (struct fit_result){.start = arena_alloc(arena, 1, sizeof(*r->start)), .hw = arena_alloc(arena, 1, sizeof(*r->hw))};
	*r->start = *hw;
	struct fit_model m = {.start = r->start,
	    .cases = cases->cases,
	    .n_cases = cases->n,
	    .sharing = options->sharing,
	    .sync = options->sync,
	    .noise_frac = options->noise_frac,
	    .is_l1 = options->is_l1};
	int code = choose_params(&params, &m.n_params, r->start, cases, options->params, arena, err);
	if (code)
		return code;
	m.params = params;
	fit_model_init(&m, is_measured(cases, true), arena);
	work_init(&w, &m, arena);
	code = fit_model_predict(w.start, &m, w.zero, err);
	if (!code) {
		fit_solve(&w.solution, &m, arena);
		r->has_converged = w.solution.has_converged;
		fit_model_profile(r->hw, &m, w.solution.x);
		hwprofile_rehash(r->hw);
		code = fit_model_predict(w.fitted, &m, w.solution.x, err);
	}
	if (!code)
		fill(r, &m, &w, options, arena);
	fit_model_release(&m);
	return code;
}

