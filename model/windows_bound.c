/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/windows_bound.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- weights */

/* A dictionary of the simplex method: a row a set, what it does in a second; the last row is what is to be bounded. The last column is
 * the second, or what is bounded so far. */
struct program {
	double rows[WINDOW_SETS + 1][WORK_N + 1];
	size_t basis[WINDOW_SETS], columns[WORK_N]; /* variables: a weight, or WORK_N + the set whose second is not full */
};

static void work_of_set(double work[WORK_N], struct window_speeds *speeds, size_t set)
{
	const double *const s = window_speeds_of(speeds, set);
	const size_t main_kind = set >> 3;
	memset(work, 0, WORK_N * sizeof *work);
	if (main_kind > 0)
		work[main_kind - 1] = s[0];
	work[WORK_CAST] = set & 4 ? s[1] : 0;
	work[WORK_UP] = set & 2 ? s[2] : 0;
	work[WORK_DOWN] = set & 1 ? s[3] : 0;
}

static void program_init(struct program *p, struct window_speeds *speeds, const double work[WORK_N])
{
	for (size_t set = 0; set < WINDOW_SETS; set++) {
		work_of_set(p->rows[set], speeds, set);
		p->rows[set][WORK_N] = 1;
		p->basis[set] = WORK_N + set;
	}
	memcpy(p->rows[WINDOW_SETS], work, WORK_N * sizeof *work);
	p->rows[WINDOW_SETS][WORK_N] = 0;
	for (size_t i = 0; i < WORK_N; i++)
		p->columns[i] = i;
}

/* Bland's rule: the lowest variable of those that help, and of the rows that are full first. False: nothing helps. */
static bool choose(size_t *row, size_t *column, const struct program *p)
{
	const double rounding = 1e-12;
	double least = INFINITY;
	*column = WORK_N;
	for (size_t j = 0; j < WORK_N; j++)
		if (p->rows[WINDOW_SETS][j] > 0 && (*column == WORK_N || p->columns[j] < p->columns[*column]))
			*column = j;
	for (size_t i = 0; *column < WORK_N && i < WINDOW_SETS; i++) {
		if (p->rows[i][*column] <= rounding)
			continue;
		const double full = p->rows[i][WORK_N] / p->rows[i][*column];
		if (full < least || (full == least && p->basis[i] < p->basis[*row])) {
			least = full;
			*row = i;
		}
	}
	return least < INFINITY;
}

static void pivot(struct program *p, size_t row, size_t column)
{
	double *const chosen = p->rows[row];
	const double by = 1 / chosen[column];
	chosen[column] = 1;
	for (size_t j = 0; j <= WORK_N; j++)
		chosen[j] *= by;
	for (size_t i = 0; i <= WINDOW_SETS; i++) {
		const double times = p->rows[i][column];
		if (i == row)
			continue;
		p->rows[i][column] = 0;
		for (size_t j = 0; j <= WORK_N; j++)
			p->rows[i][j] -= times * chosen[j];
	}
	const size_t leaves = p->basis[row];
	p->basis[row] = p->columns[column];
	p->columns[column] = leaves;
}

/* Weights that bound this work best, as far as rounding lets them be found; scaled down so that they are a bound in any case. */
static void find_weights(double weights[WORK_N], struct window_speeds *speeds, const double work[WORK_N])
{
	enum { PIVOTS_MAX = 100 };
	struct program p;
	size_t row = 0, column;
	double most = 1;
	memset(weights, 0, WORK_N * sizeof *weights);
	program_init(&p, speeds, work);
	for (size_t i = 0; i < PIVOTS_MAX && choose(&row, &column, &p); i++)
		pivot(&p, row, column);
	for (size_t i = 0; i < WINDOW_SETS; i++)
		if (p.basis[i] < WORK_N)
			weights[p.basis[i]] = fmax(0, p.rows[i][WORK_N]);
	for (size_t set = 0; set < WINDOW_SETS; set++) {
		double done[WORK_N], sum = 0;
		work_of_set(done, speeds, set);
		for (size_t i = 0; i < WORK_N; i++)
			sum += weights[i] * done[i];
		most = fmax(most, sum);
	}
	for (size_t i = 0; i < WORK_N; i++)
		weights[i] /= most;
}

static bool is_new(const struct windows_bound *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (memcmp(b->weights[i], b->weights[b->n], sizeof b->weights[i]) == 0)
			return false;
	return true;
}

void windows_bound_init(struct windows_bound *b, struct window_speeds *speeds, const struct subgroup_times *like)
{
	/* many casts, pushes: what is left when most of MAIN's work is done */
	static const double factors[WINDOW_WEIGHTS_MAX][2] = {
	    {1, 1}, {1, 0}, {16, 0}, {1000, 0}, {0, 1}, {0, 16}, {16, 16}, {1000, 1000}, {0, 0}};
	const double few = 1e-3; /* streamed subgroups, for each on the CPU */
	*b = (struct windows_bound){.n = 0};
	for (size_t i = 0; i < WINDOW_WEIGHTS_MAX; i++) {
		const double work[WORK_N] = {[WORK_OVERHEAD] = like->overhead_s + few * like->stream_s, [WORK_UNSCALE] = like->unscale_s,
		    [WORK_ADAM] = like->cpu_s - like->overhead_s - like->unscale_s, [WORK_CAST] = factors[i][0] * like->downscale_s,
		    [WORK_UP] = factors[i][1] * (like->push_s + few * like->fetch_s)};
		find_weights(b->weights[b->n], speeds, work);
		b->n += is_new(b);
	}
	find_weights(b->last, speeds, (const double[WORK_N]){[WORK_CAST] = like->downscale_s, [WORK_UP] = like->push_s});
	for (size_t set = 0; set < WINDOW_SETS; set++) {
		double work[WORK_N];
		work_of_set(work, speeds, set);
		for (size_t i = 0; i < WORK_N; i++)
			b->fastest[i] = fmax(b->fastest[i], work[i]);
	}
}

/* ---- the bound */

/* In three parts: MAIN's first run, before which no batch is handed over; until its last CPU Adam; and the casts and pushes behind it.
 * What of the earlier ones is done in the last part counts there no less. */
struct parts {
	double first_s; /* of the first run at the fastest */
	double main[WORK_CAST]; /* MAIN's work in the second part */
	double early, last; /* CPU subgroups by whether their casts and pushes may come before the last part */
};

static void parts_of(struct parts *p, const struct windows_bound *b, const struct windows *w, const double cpu[WORK_N])
{
	const bool is_batch = w->how->downscale == DOWNSCALE_BATCH;
	const size_t n_cpu = w->n * w->n_cpu + w->n_left, run = w->n > 0 ? w->n_cpu : w->n_left, last = w->n_left > 0 ? w->n_left : w->n_cpu;
	const size_t n_streams = w->n_left > 0 || w->n == 0 ? w->n : w->n - 1;
	p->first_s = 0;
	for (size_t i = 0; i < WORK_CAST; i++) {
		p->first_s += is_batch ? (double)run * cpu[i] / b->fastest[i] : 0;
		p->main[i] = (double)(n_cpu - (is_batch ? run : 0)) * cpu[i];
	}
	p->main[WORK_OVERHEAD] += (double)n_streams * w->gpu.stream_s;
	p->last = is_batch ? (double)last : 1;
	p->early = (double)n_cpu - p->last;
}

double windows_bound_s(const struct windows_bound *b, const struct windows *w)
{
	const double rounding = 1e-9, n_cpu = (double)(w->n * w->n_cpu + w->n_left), n_gpu = (double)w->n, n_backs = w->n > 0 ? n_gpu - 1 : 0;
	const double cpu[WORK_N] = {w->cpu.overhead_s, w->cpu.unscale_s, w->cpu.cpu_s - w->cpu.overhead_s - w->cpu.unscale_s,
	    w->cpu.downscale_s, w->cpu.push_s, 0};
	const double gpu[WORK_N] = {[WORK_OVERHEAD] = w->gpu.stream_s, [WORK_UP] = w->gpu.n_copies * w->gpu.fetch_s};
	const double backs_s = n_backs * w->gpu.n_copies * w->gpu.write_back_s;
	struct parts p;
	double best_s = 0;
	assert(w->n <= WINDOWS_FOLLOWED && n_cpu > 0 && !w->each);
	parts_of(&p, b, w, cpu);
	for (size_t i = 0; i < b->n; i++) {
		const double *const weights = b->weights[i];
		double all_s = weights[WORK_DOWN] * backs_s, parts_s = p.first_s;
		for (size_t j = 0; j < WORK_DOWN; j++)
			all_s += weights[j] * (n_cpu * cpu[j] + n_gpu * gpu[j]);
		for (size_t j = 0; j < WORK_CAST; j++)
			parts_s += weights[j] * p.main[j];
		for (size_t j = WORK_CAST; j <= WORK_UP; j++)
			parts_s += (fmin(weights[j], b->last[j]) * p.early + b->last[j] * p.last) * cpu[j];
		best_s = fmax(best_s, fmax(all_s, parts_s)); /* E36 */
	}
	return best_s * (1 - rounding);
}
