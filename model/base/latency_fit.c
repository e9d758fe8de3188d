/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/latency_fit.h"

#include <math.h>
#include <string.h>

#include "model/base/latency.h"

enum { N = LATENCY_CONSTANTS_N, USERS_MAX = 3, STEPS_MAX = 200, HALVINGS = 12 };

const struct latency_member latency_members[LATENCY_CONSTANTS_N] = {
    {"dram_latency_Bps", offsetof(struct latency_constants, limit_Bps)},
    {"h2d_dram_load", offsetof(struct latency_constants, h2d_load)},
    {"d2h_dram_load", offsetof(struct latency_constants, d2h_load)},
    {"h2d_latency_frac", offsetof(struct latency_constants, h2d_follows_frac)},
    {"d2h_latency_frac", offsetof(struct latency_constants, d2h_follows_frac)},
    {"downscale_latency_frac", offsetof(struct latency_constants, downscale_follows_frac)},
};

double latency_constant(const struct latency_constants *constants, size_t i)
{
	return *(const double *)(const void *)((const char *)constants + latency_members[i].offset);
}

bool latency_pair_of(
    struct latency_pair *pair, const struct latency_cell *cell, double hw_threads, double adam_bytes, double downscale_bytes)
{
	static const char *const others[] = {"h2d", "d2h", "duplex", "cpu_downscale", "cpu_adam"};
	size_t other = 0;
	while (other < sizeof others / sizeof *others && strcmp(cell->second, others[other]) != 0)
		other++;
	if (strcmp(cell->first, "cpu_adam") != 0 || other == sizeof others / sizeof *others ||
	    (other == LATENCY_NONE && cell->ranks <= 1) ||
	    (other == LATENCY_DOWNSCALE && cell->first_threads + cell->second_threads > hw_threads))
		return false;
	*pair = (struct latency_pair){.other = (enum latency_other)other,
	    .cpu_Bps = cell->first_alone * adam_bytes,
	    .cpu_frac = cell->first_together / cell->first_alone,
	    .other_Bps = cell->second_alone * (other == LATENCY_DOWNSCALE ? downscale_bytes : 1),
	    .other_frac = cell->second_together / cell->second_alone,
	    .ranks = fmax(1, cell->ranks),
	    .root_Bps = other < LATENCY_DOWNSCALE ? cell->root_Bps / fmin(fmax(1, cell->ranks), fmax(1, cell->gpus_per_root)) : 0};
	return true;
}

/* ---- errors of a pair */

/* The users of a pair, the CPU kernel first. */
static size_t users_of(struct latency_user users[USERS_MAX], const struct latency_pair *pair, const struct latency_constants *c)
{
	const double each_Bps = pair->other == LATENCY_DUPLEX ? pair->other_Bps / 2 : pair->other_Bps;
	size_t n = 0;
	users[n++] = (struct latency_user){pair->cpu_Bps, 1};
	if (pair->other == LATENCY_H2D || pair->other == LATENCY_DUPLEX)
		users[n++] = (struct latency_user){c->h2d_load * each_Bps, c->h2d_follows_frac};
	if (pair->other == LATENCY_D2H || pair->other == LATENCY_DUPLEX)
		users[n++] = (struct latency_user){c->d2h_load * each_Bps, c->d2h_follows_frac};
	if (pair->other == LATENCY_DOWNSCALE)
		users[n++] = (struct latency_user){each_Bps, c->downscale_follows_frac};
	return n;
}

/* Both directions as one, which their root may hold back further. */
static double other_speed(const struct latency_pair *pair, const double *speeds, size_t n)
{
	const double speed = n == 3 ? (speeds[1] + speeds[2]) / 2 : speeds[1];
	return pair->root_Bps > 0 ? fmin(speed, pair->root_Bps / pair->other_Bps) : speed;
}

size_t latency_errors(double errors[LATENCY_ERRORS_MAX], const struct latency_pair *pair, const struct latency_constants *constants)
{
	struct latency_user users[USERS_MAX];
	double speeds[USERS_MAX];
	const size_t n = users_of(users, pair, constants);
	latency_speeds(speeds, users, n, constants->limit_Bps, pair->ranks);
	errors[0] = log(speeds[0] / pair->cpu_frac);
	if (n > 1)
		errors[1] = log(other_speed(pair, speeds, n) / pair->other_frac);
	return n > 1 ? 2 : 1;
}

/* ---- least squares */

/* Pairs with copies find the first five constants, those with the downscale its own. The limit is in units of `most_Bps`. */
struct problem {
	const struct latency_pair *pairs;
	size_t n_pairs;
	bool of_downscale, is_held[N];
	double most_Bps, lowest[N], highest[N];
};

/* At a point: sum of squares, its half gradient, and the matrix of products of slopes. */
struct normal {
	double sum, gradient[N], product[N][N];
	size_t n_errors;
};

static struct latency_constants constants_at(const struct problem *p, const double x[N])
{
	return (struct latency_constants){x[0] * p->most_Bps, x[1], x[2], x[3], x[4], x[5]};
}

static void point_of(double x[N], const struct problem *p, const struct latency_constants *c)
{
	for (size_t k = 0; k < N; k++)
		x[k] = latency_constant(c, k) / (k == 0 ? p->most_Bps : 1);
}

static bool is_of(const struct problem *p, const struct latency_pair *pair)
{
	return (pair->other == LATENCY_DOWNSCALE) == p->of_downscale;
}

static double sum_at(const struct problem *p, const double x[N])
{
	const struct latency_constants c = constants_at(p, x);
	double sum = 0, errors[LATENCY_ERRORS_MAX];
	for (size_t i = 0; i < p->n_pairs; i++)
		if (is_of(p, &p->pairs[i]))
			for (size_t j = latency_errors(errors, &p->pairs[i], &c); j-- > 0;)
				sum += errors[j] * errors[j];
	return sum;
}

/* Slopes by differences, to the inside of the range. */
static void add_pair(struct normal *normal, const struct problem *p, const double x[N], const struct latency_pair *pair)
{
	double errors[LATENCY_ERRORS_MAX], slopes[LATENCY_ERRORS_MAX][N] = {{0}};
	const struct latency_constants c = constants_at(p, x);
	const size_t n = latency_errors(errors, pair, &c);
	for (size_t k = 0; k < N; k++) {
		const double step = x[k] + 1e-6 > p->highest[k] ? -1e-6 : 1e-6;
		double moved[N], there[LATENCY_ERRORS_MAX];
		memcpy(moved, x, sizeof moved);
		moved[k] += step;
		const struct latency_constants near = constants_at(p, moved);
		if (p->is_held[k])
			continue;
		latency_errors(there, pair, &near);
		for (size_t j = 0; j < n; j++)
			slopes[j][k] = (there[j] - errors[j]) / step;
	}
	for (size_t j = 0; j < n; j++) {
		normal->sum += errors[j] * errors[j];
		normal->n_errors++;
		for (size_t k = 0; k < N; k++) {
			normal->gradient[k] += slopes[j][k] * errors[j];
			for (size_t l = 0; l < N; l++)
				normal->product[k][l] += slopes[j][k] * slopes[j][l];
		}
	}
}

static struct normal normal_at(const struct problem *p, const double x[N])
{
	struct normal normal = {0};
	for (size_t i = 0; i < p->n_pairs; i++)
		if (is_of(p, &p->pairs[i]))
			add_pair(&normal, p, x, &p->pairs[i]);
	return normal;
}

/* Of constants that are held, that no error depends on, or that the gradient pushes out of their range. */
static bool stays(const struct problem *p, const struct normal *normal, const double x[N], size_t k)
{
	return p->is_held[k] || normal->product[k][k] <= 0 || (x[k] <= p->lowest[k] && normal->gradient[k] > 0) ||
	    (x[k] >= p->highest[k] && normal->gradient[k] < 0);
}

/* Solves (product + damping * its diagonal) step = -gradient by elimination: positive definite, so without pivots. */
static void step_of(double step[N], const struct problem *p, const struct normal *normal, const double x[N], double damping)
{
	double a[N][N + 1] = {{0}};
	for (size_t k = 0; k < N; k++) {
		const bool stays_there = stays(p, normal, x, k);
		for (size_t l = 0; l < N && !stays_there; l++)
			if (!stays(p, normal, x, l))
				a[k][l] = normal->product[k][l] * (k == l ? 1 + damping : 1);
		if (stays_there)
			a[k][k] = 1;
		a[k][N] = stays_there ? 0 : -normal->gradient[k];
	}
	for (size_t k = 0; k < N; k++)
		for (size_t row = 0; row < N; row++) {
			const double factor = row == k ? 0 : a[row][k] / a[k][k];
			for (size_t l = k; l <= N && factor != 0; l++)
				a[row][l] -= factor * a[k][l];
		}
	for (size_t k = 0; k < N; k++)
		step[k] = a[k][N] / a[k][k];
}

/* From x to the nearest minimum; its sum of squares. */
static double descend(double x[N], const struct problem *p)
{
	double damping = 1e-3;
	struct normal normal = normal_at(p, x);
	for (int i = 0; i < STEPS_MAX && damping < 1e12; i++) {
		double step[N], tried[N];
		step_of(step, p, &normal, x, damping);
		for (size_t k = 0; k < N; k++)
			tried[k] = p->is_held[k] ? x[k] : fmin(fmax(x[k] + step[k], p->lowest[k]), p->highest[k]);
		const double sum = sum_at(p, tried), before = normal.sum;
		damping = sum < before ? fmax(damping / 5, 1e-12) : 4 * damping;
		if (!(sum < before))
			continue;
		memcpy(x, tried, sizeof tried);
		if (before - sum <= 1e-12 * before)
			return sum;
		normal = normal_at(p, x);
	}
	return normal.sum;
}

static struct problem problem_of(const struct latency_pair *pairs, size_t n_pairs, bool of_downscale)
{
	struct problem p = {.pairs = pairs, .n_pairs = n_pairs, .of_downscale = of_downscale, .lowest = {0.8},
	    .highest = {10, 4, 4, 1, 1, 1}};
	for (size_t i = 0; i < n_pairs; i++) {
		const double other_Bps = pairs[i].other == LATENCY_NONE ? 0 : pairs[i].other_Bps * pairs[i].other_frac;
		p.most_Bps = fmax(p.most_Bps, pairs[i].ranks * (pairs[i].cpu_Bps * pairs[i].cpu_frac + other_Bps));
	}
	for (size_t k = 0; k < N; k++)
		p.is_held[k] = of_downscale != (k == N - 1);
	return p;
}

static size_t count(const struct latency_pair *pairs, size_t n_pairs, enum latency_other other)
{
	size_t n = 0;
	for (size_t i = 0; i < n_pairs; i++)
		n += pairs[i].other == other;
	return n;
}

bool latency_fit(struct latency_constants *constants, double *error_frac, const struct latency_pair *pairs, size_t n_pairs)
{
	const struct problem copies = problem_of(pairs, n_pairs, false), downscale = problem_of(pairs, n_pairs, true);
	double x[N] = {1.2, 0.5, 0.8, 0.2, 0.1, 0.5};
	*constants = (struct latency_constants){0};
	*error_frac = 0;
	if (count(pairs, n_pairs, LATENCY_H2D) < 3 || count(pairs, n_pairs, LATENCY_D2H) < 3)
		return false;
	const double sum = descend(x, &copies);
	(void)descend(x, &downscale);
	if (x[0] > 5)
		return false;
	*constants = constants_at(&copies, x);
	*error_frac = sqrt(sum / (double)normal_at(&copies, x).n_errors);
	return true;
}

/* ---- intervals */

/* Student's t for 95 % on both sides (Abramowitz and Stegun 26.7.5: within 1 % from 3 degrees of freedom on). */
static double student_t(double n_free)
{
	return 1.959964 + 2.37227 / n_free + 2.82250 / pow(n_free, 2) + 2.5559 / pow(n_free, 3);
}

/* Least sum of squares with constant k held at `value`, all others from x on. */
static double sum_beside(double x[N], const struct problem *p, size_t k, double value)
{
	struct problem held = *p;
	held.is_held[k] = true;
	x[k] = value;
	return descend(x, &held);
}

/* How far constant k may be from its best, on one side, until the best of the others is worse than `worst`. at: all constants there. */
static double end_of(double at[N], const struct problem *p, const double best[N], size_t k, double worst, int side)
{
	double inside = best[k], outside = inside, step = fmax(0.05 * best[k], 0.005);
	memcpy(at, best, N * sizeof *at);
	do {
		inside = outside;
		outside = fmin(fmax(inside + side * step, p->lowest[k]), p->highest[k]);
		step *= 2;
		if (outside == inside)
			return inside;
	} while (!(sum_beside(at, p, k, outside) > worst));
	for (int i = 0; i < HALVINGS; i++) {
		const double middle = (inside + outside) / 2;
		*(sum_beside(at, p, k, middle) > worst ? &outside : &inside) = middle;
	}
	return (inside + outside) / 2;
}

static double worst_of(const struct problem *p, const double best[N])
{
	const struct normal normal = normal_at(p, best);
	double n_free = (double)normal.n_errors;
	for (size_t k = 0; k < N; k++)
		n_free -= !p->is_held[k];
	return n_free > 0 ? normal.sum * (1 + pow(student_t(n_free), 2) / n_free) : INFINITY;
}

/* The downscale's own cells, and what its constant moves by when the limit is at either end: added in squares. */
static void downscale_interval(double *lo, double *hi, const struct problem *p, const double best[N], double ends[2][N])
{
	const size_t k = N - 1;
	const double worst = worst_of(p, best);
	double at[N], below = best[k] - end_of(at, p, best, k, worst, -1), above = end_of(at, p, best, k, worst, 1) - best[k];
	for (size_t i = 0; i < 2; i++) {
		(void)descend(ends[i], p);
		below = hypot(below, fmax(0, best[k] - ends[i][k]));
		above = hypot(above, fmax(0, ends[i][k] - best[k]));
	}
	*lo = fmax(p->lowest[k], best[k] - below);
	*hi = fmin(p->highest[k], best[k] + above);
}

void latency_intervals(struct latency_constants *lo, struct latency_constants *hi, const struct latency_constants *fitted,
    const struct latency_pair *pairs, size_t n_pairs)
{
	const struct problem copies = problem_of(pairs, n_pairs, false), downscale = problem_of(pairs, n_pairs, true);
	double best[N], at[N], from[N], to[N], ends[2][N];
	point_of(best, &copies, fitted);
	const double worst = worst_of(&copies, best);
	for (size_t k = 0; k < N - 1; k++) {
		from[k] = end_of(k == 0 ? ends[0] : at, &copies, best, k, worst, -1);
		to[k] = end_of(k == 0 ? ends[1] : at, &copies, best, k, worst, 1);
	}
	downscale_interval(&from[N - 1], &to[N - 1], &downscale, best, ends);
	*lo = constants_at(&copies, from);
	*hi = constants_at(&copies, to);
}
