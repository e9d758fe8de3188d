/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit_model.h"

#include <assert.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <string.h>

static const double l1_knee = 1.5; /* residuals below are squared, above absolute, in units of the noise */
static const double bound_width = 0.01; /* of the logarithm: how far outside its bound x ends at most, about */
static const double difference_step = 0.01; /* of a logarithm: past the kinks of lanes that change places */

/* Error of a prediction of each quantity with the right constants, relative to that of an update. Residuals within one setting of the
 * machines with recorded runs but the A100 node (discrepancy.h; own_log_sd, root mean square): update 5.2 %, forward 5.2 %,
 * backward 2.2 %, peaks of GPUs 1.7 % and of the host 2.8 %. */
static const double noise_factor[QUANTITY_N] = {[QUANTITY_FORWARD] = 1, [QUANTITY_BACKWARD] = 0.45, [QUANTITY_UPDATE] = 1,
    [QUANTITY_SUM_PHASES] = 0.5, [QUANTITY_ITERATION] = 0.5, [QUANTITY_GPU_PEAK] = 0.35, [QUANTITY_HOST_PEAK] = 0.55};

/* ---- values and profiles */

void fit_model_init(struct fit_model *m, bool has_memory, struct arena *arena)
{
	m->values = arena_alloc(arena, m->n_cases * QUANTITY_N + 1, sizeof(*m->values));
	m->n_values = 0;
	for (size_t c = 0; c < m->n_cases; c++)
		for (size_t q = 0; q < QUANTITY_N; q++) {
			const bool is_memory = q == QUANTITY_GPU_PEAK || q == QUANTITY_HOST_PEAK;
			if (!isnan(m->cases[c].measured[q]) && (has_memory || !is_memory))
				m->values[m->n_values++] = (struct fit_value){c, (enum quantity)q, log(m->cases[c].measured[q])};
		}
	m->is_free = arena_alloc(arena, m->n_params + 1, sizeof(*m->is_free));
	m->priors = arena_alloc(arena, m->n_params + 1, sizeof(*m->priors));
	m->prior_sd = arena_alloc(arena, m->n_params + 1, sizeof(*m->prior_sd));
	for (size_t p = 0; p < m->n_params; p++) {
		m->is_free[p] = true;
		m->priors[p] = fit_prior_of(m->start, m->params[p]);
		m->prior_sd[p] = m->priors[p].own_sd;
	}
	m->is_left_out = arena_zalloc(arena, m->n_cases + 1, sizeof(*m->is_left_out));
}

void fit_model_release(struct fit_model *m)
{
	arena_release(&m->scratch);
}

/* One-way rates stand before duplex rates in the table: bounds of the latter are those of *hw. */
void fit_model_profile(struct hwprofile *hw, const struct fit_model *m, const double *x)
{
	*hw = *m->start;
	for (size_t p = 0; p < m->n_params; p++) {
		double lo, hi;
		fit_param_bounds(&lo, &hi, m->start, hw, m->params[p]);
		const double inside = fmin(fmax(x[p], lo), hi);
		if (inside != 0)
			fit_param_scale(hw, m->params[p], exp(inside));
	}
}

/* How far x is outside. */
static double excess(const struct fit_model *m, const struct hwprofile *hw, const double *x, size_t p)
{
	double lo, hi;

	fit_param_bounds(&lo, &hi, m->start, hw, m->params[p]);
	return x[p] > hi ? x[p] - hi : x[p] < lo ? x[p] - lo : 0;
}

/* ---- predictions */

static void keep(double *predicted, const struct metrics *m)
{
	predicted[QUANTITY_FORWARD] = m->forward_s;
	predicted[QUANTITY_BACKWARD] = m->backward_s;
	predicted[QUANTITY_UPDATE] = m->update_s;
	predicted[QUANTITY_SUM_PHASES] = m->forward_s + m->backward_s + m->update_s;
	predicted[QUANTITY_ITERATION] = m->iteration_s;
	predicted[QUANTITY_GPU_PEAK] = m->gpu_peak_bytes;
	predicted[QUANTITY_HOST_PEAK] = m->host_peak_bytes;
}

int fit_model_predict(double *predicted, struct fit_model *m, const double *x, struct err *err)
{
	struct hwprofile *const hw = xmalloc(1, sizeof(*hw));
	int code = 0;

	fit_model_profile(hw, m, x);
	for (size_t c = 0; !code && c < m->n_cases; c++) {
		struct trial_input input = m->cases[c].input;
		struct trial trial;
		input.hw = hw;
		input.sharing = m->sharing;
		input.sync = m->sync;
		code = trial_run(&trial, &input, &m->scratch, err);
		if (code)
			err_wrap(err, "run '%s'", m->cases[c].id);
		else
			keep(&predicted[c * QUANTITY_N], &trial.metrics);
		arena_reset(&m->scratch);
		m->n_trials++;
	}
	free(hw);
	return code;
}

/* Predictions after the first cannot fail: shapes and policies were accepted, and rates stay positive. */
static void log_predictions(double *logs, struct fit_model *m, const double *x)
{
	double *const predicted = xmalloc(m->n_cases * QUANTITY_N + 1, sizeof(*predicted));
	struct err err = {0};
	const int code = fit_model_predict(predicted, m, x, &err);

	assert(code == 0);
	(void)code;
	for (size_t i = 0; i < m->n_values; i++)
		logs[i] = log(fmax(predicted[m->values[i].case_idx * QUANTITY_N + m->values[i].quantity], 1e-12));
	free(predicted);
}

/* ---- loss: square of what the solver sees is rho */

static double loss_root(const struct fit_model *m, double r)
{
	if (!m->is_l1)
		return r;
	const double c = l1_knee, t = r / c;
	return copysign(c * sqrt(2 * t * t / (sqrt(1 + t * t) + 1)), r);
}

static double loss_slope(const struct fit_model *m, double r)
{
	const double root = loss_root(m, r);

	if (!m->is_l1 || fabs(r) < 1e-9)
		return 1;
	return r / (root * sqrt(1 + r / l1_knee * (r / l1_knee)));
}

static double noise_of(const struct fit_model *m, size_t i)
{
	return m->noise_frac * noise_factor[m->values[i].quantity];
}

static double residual(const struct fit_model *m, size_t i, double log_predicted)
{
	return m->is_left_out[m->values[i].case_idx] ? 0 : (log_predicted - m->values[i].log_measured) / noise_of(m, i);
}

/* ---- what GSL asks */

struct problem {
	struct fit_model *model;
	double *x; /* [n_params]: held ones stay */
	size_t *free; /* [n_free] indices */
	size_t n_free;
};

static void set_x(const struct problem *problem, const gsl_vector *v)
{
	for (size_t j = 0; j < problem->n_free; j++)
		problem->x[problem->free[j]] = gsl_vector_get(v, j);
}

/* Values, then priors, then bounds. */
static int residuals_of(const gsl_vector *v, void *context, gsl_vector *f)
{
	const struct problem *const problem = context;
	struct fit_model *const m = problem->model;
	double *const logs = xmalloc(m->n_values + 1, sizeof(*logs));
	struct hwprofile *const hw = xmalloc(1, sizeof(*hw));

	set_x(problem, v);
	log_predictions(logs, m, problem->x);
	for (size_t i = 0; i < m->n_values; i++)
		gsl_vector_set(f, i, loss_root(m, residual(m, i, logs[i])));
	fit_model_profile(hw, m, problem->x);
	for (size_t j = 0; j < problem->n_free; j++) {
		const size_t p = problem->free[j];
		gsl_vector_set(f, m->n_values + j, fit_prior_root(&m->priors[p], problem->x[p]));
		gsl_vector_set(f, m->n_values + problem->n_free + j, excess(m, hw, problem->x, p) / bound_width);
	}
	free(hw);
	free(logs);
	return GSL_SUCCESS;
}

/* Column of one unknown, by central differences; x is restored. */
static void difference(double *slopes, struct fit_model *m, double *x, size_t p, double *high, double *low)
{
	const double at = x[p];

	x[p] = at + difference_step;
	log_predictions(high, m, x);
	x[p] = at - difference_step;
	log_predictions(low, m, x);
	x[p] = at;
	for (size_t i = 0; i < m->n_values; i++)
		slopes[i] = (high[i] - low[i]) / (2 * difference_step);
}

static int jacobian_of(const gsl_vector *v, void *context, gsl_matrix *J)
{
	const struct problem *const problem = context;
	struct fit_model *const m = problem->model;
	double *const work = xmalloc(4 * m->n_values + 1, sizeof(*work));
	double *const slopes = work, *const high = work + m->n_values, *const low = high + m->n_values, *const logs = low + m->n_values;
	struct hwprofile *const hw = xmalloc(1, sizeof(*hw));

	set_x(problem, v);
	log_predictions(logs, m, problem->x);
	fit_model_profile(hw, m, problem->x);
	gsl_matrix_set_zero(J);
	for (size_t j = 0; j < problem->n_free; j++) {
		const size_t p = problem->free[j];
		difference(slopes, m, problem->x, p, high, low);
		for (size_t i = 0; i < m->n_values; i++)
			if (!m->is_left_out[m->values[i].case_idx])
				gsl_matrix_set(J, i, j, slopes[i] / noise_of(m, i) * loss_slope(m, residual(m, i, logs[i])));
		gsl_matrix_set(J, m->n_values + j, j, fit_prior_slope(&m->priors[p], problem->x[p]));
		if (excess(m, hw, problem->x, p) != 0)
			gsl_matrix_set(J, m->n_values + problem->n_free + j, j, 1 / bound_width);
	}
	free(hw);
	free(work);
	return GSL_SUCCESS;
}

/* ---- at a point */

void fit_model_jacobian(double *jacobian, struct fit_model *m, const double *x)
{
	double *const work = xmalloc(4 * m->n_values + m->n_params + 1, sizeof(*work));
	double *const slopes = work, *const high = work + m->n_values, *const low = high + m->n_values, *const logs = low + m->n_values;
	double *const at = logs + m->n_values;

	memcpy(at, x, m->n_params * sizeof(*at));
	log_predictions(logs, m, at);
	for (size_t p = 0; p < m->n_params; p++) {
		m->prior_sd[p] = fit_prior_sd(&m->priors[p], at[p]);
		difference(slopes, m, at, p, high, low);
		for (size_t i = 0; i < m->n_values; i++) {
			const double slope = slopes[i] / noise_of(m, i) * loss_slope(m, residual(m, i, logs[i]));
			jacobian[i * m->n_params + p] = m->is_left_out[m->values[i].case_idx] ? 0 : slope;
		}
	}
	free(work);
}

double fit_model_misfit(struct fit_model *m, const double *x)
{
	double *const logs = xmalloc(m->n_values + 1, sizeof(*logs));
	double sum = 0;

	log_predictions(logs, m, x);
	for (size_t i = 0; i < m->n_values; i++)
		sum += pow(loss_root(m, residual(m, i, logs[i])), 2);
	free(logs);
	return sum;
}

double fit_model_cost(struct fit_model *m, const double *x)
{
	double sum = fit_model_misfit(m, x);

	for (size_t p = 0; p < m->n_params; p++)
		sum += pow(fit_prior_root(&m->priors[p], x[p]), 2);
	return sum;
}

/* ---- the solver */

static bool drive(struct problem *problem)
{
	struct fit_model *const m = problem->model;
	const size_t n_rows = m->n_values + 2 * problem->n_free;
	gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
	gsl_multifit_nlinear_fdf fdf = {.f = residuals_of, .df = jacobian_of, .n = n_rows, .p = problem->n_free, .params = problem};
	gsl_vector *const from = gsl_vector_alloc(problem->n_free);
	const size_t n_iterations_max = 40;
	int info, status;

	parameters.scale = gsl_multifit_nlinear_scale_levenberg; /* logarithms have one scale */
	for (size_t j = 0; j < problem->n_free; j++)
		gsl_vector_set(from, j, problem->x[problem->free[j]]);
	gsl_multifit_nlinear_workspace *const w =
	    gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, n_rows, problem->n_free);
	gsl_multifit_nlinear_init(from, &fdf, w);
	status = gsl_multifit_nlinear_driver(n_iterations_max, 1e-4, 1e-6, 0, NULL, NULL, &info, w);
	set_x(problem, gsl_multifit_nlinear_position(w));
	gsl_multifit_nlinear_free(w);
	gsl_vector_free(from);
	return status != GSL_EMAXITER;
}

bool fit_model_solve(double *x, struct fit_model *m)
{
	struct problem problem = {.model = m, .x = x, .free = xmalloc(m->n_params + 1, sizeof(*problem.free))};
	bool has_converged = true;

	for (size_t p = 0; p < m->n_params; p++)
		if (m->is_free[p])
			problem.free[problem.n_free++] = p;
	if (problem.n_free > 0)
		has_converged = drive(&problem);
	free(problem.free);
	return has_converged;
}
