/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit_identify.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort_vector.h>
#include <math.h>
#include <stdint.h>

const char *const fit_state_names[] = {"yes", "weakly", "at a bound", "no", "with another", "no effect"};

/* Of posterior over prior sd: above the first a constant is held; above the second its estimate owes much to the prior. */
static const double held_ratio = 0.8, weak_ratio = 0.4;
/* Correlation above which two constants are one, when neither is known well. */
static const double pair_correlation = 0.95, pair_ratio = 0.3;
/* Of all predictions together, in units of noise, when a constant moves by its prior: the runs say nothing of it below the first, and
 * cannot but follow the start below the second. */
static const double no_effect = 1e-6, slight_effect = 0.1;

struct subset {
	size_t *index; /* [n] of params */
	size_t n;
};

static struct subset free_ones(const struct fit_model *m, struct arena *arena)
{
	struct subset s = {arena_alloc(arena, m->n_params + 1, sizeof(*s.index)), 0};

	for (size_t p = 0; p < m->n_params; p++)
		if (m->is_free[p])
			s.index[s.n++] = p;
	return s;
}

/* A of a subset. */
static gsl_matrix *information(const struct fit_model *m, const double *jacobian, const struct subset *s)
{
	gsl_matrix *const A = gsl_matrix_calloc(s->n, s->n);

	for (size_t a = 0; a < s->n; a++)
		for (size_t b = 0; b < s->n; b++) {
			const size_t p = s->index[a], q = s->index[b];
			double sum = 0;
			for (size_t i = 0; i < m->n_values; i++)
				sum += jacobian[i * m->n_params + p] * jacobian[i * m->n_params + q];
			gsl_matrix_set(A, a, b, sum * m->prior_sd[p] * m->prior_sd[q]);
		}
	return A;
}

/* (A + I)^-1: posterior covariance in units of the prior. */
static gsl_matrix *posterior(const struct fit_model *m, const double *jacobian, const struct subset *s)
{
	gsl_matrix *const C = information(m, jacobian, s);

	for (size_t a = 0; a < s->n; a++)
		gsl_matrix_set(C, a, a, gsl_matrix_get(C, a, a) + 1);
	gsl_linalg_cholesky_decomp1(C);
	gsl_linalg_cholesky_invert(C);
	return C;
}

static double correlation(const gsl_matrix *C, size_t a, size_t b)
{
	return gsl_matrix_get(C, a, b) / sqrt(gsl_matrix_get(C, a, a) * gsl_matrix_get(C, b, b));
}

/* Strongest of row a; n when alone. */
static size_t strongest(const gsl_matrix *C, size_t a)
{
	size_t best = C->size1;

	for (size_t b = 0; b < C->size1; b++)
		if (b != a && (best == C->size1 || fabs(correlation(C, a, b)) > fabs(correlation(C, a, best))))
			best = b;
	return best;
}

static void find(struct fit_finding *finding, const struct fit_model *m, const gsl_matrix *C, const struct subset *s, size_t a)
{
	const size_t b = strongest(C, a);

	finding->sd = sqrt(gsl_matrix_get(C, a, a)) * m->prior_sd[s->index[a]];
	finding->partner = b < s->n ? s->index[b] : SIZE_MAX;
	finding->correlation = b < s->n ? correlation(C, a, b) : 0;
}

/* The free ones, and those held because the runs say little: what they may really be adds to the errors of the others. The held
 * one of a pair does not: the estimate of its partner is for that value of it. */
static struct subset uncertain_ones(const struct fit_finding *findings, const struct fit_model *m, struct arena *arena)
{
	struct subset s = {arena_alloc(arena, m->n_params + 1, sizeof(*s.index)), 0};

	for (size_t p = 0; p < m->n_params; p++)
		if (m->is_free[p] || findings[p].state == FIT_HELD)
			s.index[s.n++] = p;
	return s;
}

void fit_covariance(struct fit_finding *findings, const struct fit_model *m, const double *jacobian, struct arena *arena)
{
	const struct subset s = uncertain_ones(findings, m, arena);

	if (s.n == 0)
		return;
	gsl_matrix *const C = posterior(m, jacobian, &s);
	for (size_t a = 0; a < s.n; a++) {
		struct fit_finding *const finding = &findings[s.index[a]];
		const double ratio = sqrt(gsl_matrix_get(C, a, a));
		find(finding, m, C, &s, a);
		if (m->is_free[s.index[a]])
			finding->state = ratio > weak_ratio ? FIT_WEAK : FIT_ESTIMATED;
	}
	gsl_matrix_free(C);
}

/* The member of the subset that the runs say least of, or one of a pair that is known only together; false: none to hold. */
static bool choose_held(size_t *held, enum fit_state *state, const gsl_matrix *C, const struct subset *s, const bool *is_needed)
{
	double worst = 0;

	for (size_t a = 0; a < C->size1; a++) {
		const size_t b = strongest(C, a);
		const double ratio = sqrt(gsl_matrix_get(C, a, a));
		const bool is_pair = b < C->size1 && fabs(correlation(C, a, b)) > pair_correlation;
		const bool is_lesser = is_pair && ratio > pair_ratio && gsl_matrix_get(C, a, a) >= gsl_matrix_get(C, b, b);
		if (is_needed[s->index[a]] || !(ratio > held_ratio || is_lesser) || ratio <= worst)
			continue;
		worst = ratio;
		*held = a;
		*state = is_pair ? FIT_HELD_PAIR : FIT_HELD;
	}
	return worst > 0;
}

static double effect_of(const struct fit_model *m, const double *jacobian, size_t p)
{
	double sum = 0;

	for (size_t i = 0; i < m->n_values; i++)
		sum += jacobian[i * m->n_params + p] * jacobian[i * m->n_params + p];
	return sqrt(sum) * m->prior_sd[p];
}

void fit_identify(
    struct fit_finding *findings, struct fit_model *m, const double *jacobian, const bool *is_needed, struct arena *arena)
{
	for (size_t p = 0; p < m->n_params; p++) {
		const double effect = effect_of(m, jacobian, p);
		if (!m->is_free[p] || effect > slight_effect || is_needed[p])
			continue;
		m->is_free[p] = false;
		findings[p] = (struct fit_finding){.state = effect > no_effect ? FIT_HELD : FIT_NO_EFFECT, .sd = m->prior_sd[p],
		    .partner = SIZE_MAX};
	}
	for (bool is_done = false; !is_done;) {
		const struct subset s = free_ones(m, arena);
		if (s.n == 0)
			break;
		gsl_matrix *const C = posterior(m, jacobian, &s);
		enum fit_state state = FIT_HELD;
		size_t a = 0;
		is_done = !choose_held(&a, &state, C, &s, is_needed);
		if (!is_done) {
			find(&findings[s.index[a]], m, C, &s, a);
			findings[s.index[a]].state = state;
			m->is_free[s.index[a]] = false;
		}
		gsl_matrix_free(C);
	}
	fit_covariance(findings, m, jacobian, arena);
}

size_t fit_singular_values(double *values, double *n_used, const struct fit_model *m, const double *jacobian, struct arena *arena)
{
	const struct subset s = free_ones(m, arena);

	*n_used = 0;
	if (s.n == 0)
		return 0;
	gsl_matrix *const A = information(m, jacobian, &s);
	gsl_vector *const eigen = gsl_vector_alloc(s.n);
	gsl_eigen_symm_workspace *const w = gsl_eigen_symm_alloc(s.n);
	gsl_eigen_symm(A, eigen, w);
	gsl_sort_vector(eigen);
	for (size_t i = 0; i < s.n; i++) {
		const double square = fmax(0, gsl_vector_get(eigen, s.n - 1 - i));
		values[i] = sqrt(square);
		*n_used += square / (square + 1);
	}
	gsl_eigen_symm_free(w);
	gsl_vector_free(eigen);
	gsl_matrix_free(A);
	return s.n;
}
