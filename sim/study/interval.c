/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/interval.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "model/split.h"
#include "sim/study/parallel.h"
#include "sim/study/sample_fit.h"

static const double tail = 0.05; /* on each side */
static const double tail_sds = 1.6448536269514722; /* of a normal */

/* ---- quantiles */

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double interval_cdf(const double *draws, size_t n, double sd, double x)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		if (sd > 0 && draws[i] > 0)
			sum += 0.5 * erfc(-log(x / draws[i]) / sd * M_SQRT1_2); /* E30 */
		else
			sum += draws[i] < x ? 1 : draws[i] > x ? 0 : 0.5;
	return sum / (double)n;
}

/* Bisection between what surely is below and above. */
static double quantile(const double *sorted, size_t n, double sd, double p)
{
	const double far_sds = 5, precise = 1e-7;
	double below = log(sorted[0]) - far_sds * sd, above = log(sorted[n - 1]) + far_sds * sd;

	if (!(sd > 0) || !(sorted[0] > 0))
		return gsl_stats_quantile_from_sorted_data(sorted, 1, n, p);
	while (above - below > precise) {
		const double middle = (below + above) / 2;
		if (interval_cdf(sorted, n, sd, exp(middle)) < p)
			below = middle;
		else
			above = middle;
	}
	return exp((below + above) / 2);
}

void interval_of(struct interval *v, double predicted, double *draws, size_t n, double sd)
{
	qsort(draws, n, sizeof(*draws), compare_doubles);
	*v = (struct interval){.predicted = predicted, .lo = quantile(draws, n, sd, tail), .hi = quantile(draws, n, sd, 1 - tail)};
	if (!(predicted > 0))
		return;
	v->parameter_frac = (quantile(draws, n, 0, 1 - tail) - quantile(draws, n, 0, tail)) / 2 / predicted;
	v->discrepancy_frac = sinh(tail_sds * sd);
}

double interval_half_frac(const struct interval *v)
{
	return v->predicted > 0 ? (v->hi - v->lo) / 2 / v->predicted : 0;
}

/* ---- the machine */

int uncertainty_init(struct uncertainty *u, const struct hwprofile *hw, const struct uncertainty_options *options, struct arena *arena,
    struct err *err)
{
	struct evidence *const evidence = arena_alloc(arena, 1, sizeof(*evidence));

	*u = (struct uncertainty){.evidence = evidence, .seed = options->seed,
	    .n_samples = options->n_samples ? options->n_samples : INTERVAL_SAMPLES,
	    .n_workers = options->n_workers ? options->n_workers : parallel_processors()};
	if (evidence_load(evidence, options->sharing, options->sync, arena, err))
		return err_wrap(err, "uncertainty");
	discrepancy_without(&u->discrepancy, evidence, hw->name);
	sampler_init(&u->sampler, hw, options->seed, arena);
	return sampler_condition(&u->sampler, hw, options->sharing, u->n_workers, arena, err);
}

/* ---- alternatives */

struct draws {
	const struct uncertainty *u;
	const struct trial_input *inputs; /* canonical policies */
	size_t n;
	double *values; /* [QUANTITY_N][n][n_samples] */
	double *times_s; /* [n_samples][n]: compared_s, INFINITY when it does not fit */
	double *p_fits; /* [n_samples][n] */
};

static void keep(double values[QUANTITY_N], const struct metrics *m)
{
	values[QUANTITY_FORWARD] = m->forward_s;
	values[QUANTITY_BACKWARD] = m->backward_s;
	values[QUANTITY_UPDATE] = m->update_s;
	values[QUANTITY_SUM_PHASES] = m->forward_s + m->backward_s + m->update_s;
	values[QUANTITY_ITERATION] = m->iteration_s;
	values[QUANTITY_GPU_PEAK] = m->gpu_peak_bytes;
	values[QUANTITY_HOST_PEAK] = m->host_peak_bytes;
}

/* Iteration time over sequences, which are as long for all on as many GPUs; an update alone has none. */
static double compared_s(const struct metrics *m, const struct batch *b)
{
	const double n_sequences = b->mbs * b->grad_accum;

	return n_sequences > 0 ? m->iteration_s / n_sequences : m->iteration_s;
}

/* E31. The pinned limit is of the same bytes as the host's. */
static double probability_fits(const struct metrics *m, const struct hwprofile *hw, const struct uncertainty *u)
{
	const struct discrepancy *const off = &u->discrepancy;
	const double gpu_bytes = hw->gpu_memory_bytes / (1 - u->gpu_kept_frac);
	const double host_bytes = fmin(hw->host_memory_bytes, hw->pinned_max_bytes);

	return interval_cdf(&m->gpu_peak_bytes, 1, off->log_sd[QUANTITY_GPU_PEAK], gpu_bytes) *
	    interval_cdf(&m->host_peak_bytes, 1, off->log_sd[QUANTITY_HOST_PEAK], host_bytes);
}

/* All alternatives on one draw. */
static void run_draw(void *context, size_t draw, size_t worker)
{
	const struct draws *const d = context;
	struct hwprofile *const hw = xmalloc(1, sizeof(*hw));
	struct arena arena = {0};

	(void)worker;
	for (size_t i = 0; i < d->n; i++) {
		struct trial_input input = d->inputs[i];
		double values[QUANTITY_N] = {0};
		struct metrics metrics;
		struct err err;
		if (i == 0 || input.hw != d->inputs[i - 1].hw)
			sampler_draw(hw, &d->u->sampler, input.hw, draw);
		input.hw = hw;
		arena_reset(&arena);
		const bool has_run = trial_run_short(&metrics, NULL, &input, &arena, &err) == 0;
		if (has_run)
			keep(values, &metrics);
		d->times_s[draw * d->n + i] = has_run && metrics.fits ? compared_s(&metrics, &input.batch) : INFINITY;
		d->p_fits[draw * d->n + i] = has_run ? probability_fits(&metrics, hw, d->u) : 0;
		for (size_t q = 0; q < QUANTITY_N; q++)
			d->values[(q * d->n + i) * d->u->n_samples + draw] = values[q];
	}
	arena_release(&arena);
	free(hw);
}

/* Times of a draw with their factors. E31. Factors of settings are drawn last: with one setting they change nothing. */
static void draw_times(double *times_s, double *factors, gsl_rng *rng, const struct contest *c, size_t draw)
{
	const unsigned long long other = 0x5851f42d4c957f2dull; /* another stream than the profile's */

	gsl_rng_set(rng, sample_seed(c->seed ^ other, draw));
	for (size_t i = 0; i < c->n; i++)
		times_s[i] = c->times_s[draw * c->n + i] * exp(c->own_log_sd * gsl_ran_gaussian_ziggurat(rng, 1));
	for (size_t i = 0; c->settings && i < c->n; i++)
		factors[i] = exp(c->setting_log_sd * gsl_ran_gaussian_ziggurat(rng, 1));
	for (size_t i = 0; c->settings && i < c->n; i++)
		times_s[i] *= factors[c->settings[i]];
}

static void count_draw(double *p_best, double *p_faster, const double *times_s, size_t n)
{
	size_t best = 0;

	for (size_t i = 0; i < n; i++) {
		best = times_s[i] < times_s[best] ? i : best;
		if (p_faster && times_s[i] < times_s[0])
			p_faster[i]++;
	}
	if (n > 0 && isfinite(times_s[best]))
		p_best[best]++;
}

void contest_judge(double *p_best, double *p_faster, const struct contest *c)
{
	gsl_rng *const rng = gsl_rng_alloc(gsl_rng_taus2);
	double *const times_s = xmalloc(2 * c->n + 1, sizeof(*times_s));

	for (size_t i = 0; i < c->n; i++) {
		p_best[i] = 0;
		if (p_faster)
			p_faster[i] = 0;
	}
	for (size_t draw = 0; draw < c->n_draws; draw++) {
		draw_times(times_s, times_s + c->n, rng, c, draw);
		count_draw(p_best, p_faster, times_s, c->n);
	}
	for (size_t i = 0; i < c->n; i++) {
		p_best[i] /= (double)c->n_draws;
		if (p_faster)
			p_faster[i] /= (double)c->n_draws;
	}
	free(times_s);
	gsl_rng_free(rng);
}

/* As prediction_same_setting has it, from which the shared part is known. */
static bool is_same_setting(const struct trial_input *a, const struct trial_input *b)
{
	const struct batch *const x = &a->batch, *const y = &b->batch;

	return a->hw == b->hw && x->gpus == y->gpus && x->nodes == y->nodes && batch_zero_stage(x) == batch_zero_stage(y) &&
	    batch_tp(x) == batch_tp(y) && x->mbs == y->mbs && x->grad_accum == y->grad_accum && x->seq == y->seq &&
	    x->has_checkpointing == y->has_checkpointing && x->subgroup_params == y->subgroup_params && x->n_subgroups == y->n_subgroups;
}

/* The first alternative in each one's setting. */
static size_t *find_settings(const struct draws *d, struct arena *arena)
{
	size_t *const settings = arena_alloc(arena, d->n + 1, sizeof(*settings));

	for (size_t i = 0; i < d->n; i++)
		for (settings[i] = 0; settings[i] < i && !is_same_setting(&d->inputs[settings[i]], &d->inputs[i]);)
			settings[i]++;
	return settings;
}

static void summarise(struct outcome *outcomes, const struct draws *d, const double *nominal, struct arena *arena)
{
	const struct discrepancy *const off = &d->u->discrepancy;
	const size_t n_samples = d->u->n_samples;
	double *const p_best = arena_alloc(arena, d->n + 1, sizeof(*p_best)), *const p_faster = arena_alloc(arena, d->n + 1, sizeof(*p_faster));
	const double all = off->log_sd[QUANTITY_ITERATION], own = off->own_log_sd[QUANTITY_ITERATION];
	const struct contest contest = {.times_s = d->times_s, .n = d->n, .n_draws = n_samples, .settings = find_settings(d, arena),
	    .own_log_sd = own, .setting_log_sd = sqrt(all * all - own * own), .seed = d->u->seed};

	contest_judge(p_best, p_faster, &contest);
	for (size_t i = 0; i < d->n; i++) {
		double fits = 0;
		for (size_t q = 0; q < QUANTITY_N; q++)
			interval_of(&outcomes[i].of[q], nominal[i * QUANTITY_N + q], &d->values[(q * d->n + i) * n_samples], n_samples,
			    off->log_sd[q]);
		for (size_t draw = 0; draw < n_samples; draw++)
			fits += d->p_fits[draw * d->n + i];
		outcomes[i].p_best = p_best[i];
		outcomes[i].p_faster = p_faster[i];
		outcomes[i].p_fits = fits / (double)n_samples;
	}
}

/* The profile as it is: predictions, and policies without anything open. */
static int run_nominal(double *nominal, struct trial_input *fixed, const struct trial_input *inputs, size_t n, struct arena *arena,
    struct err *err)
{
	struct arena own = {0};
	int code = 0;

	for (size_t i = 0; !code && i < n; i++) {
		struct metrics metrics;
		const char *policy;
		arena_reset(&own);
		code = trial_run_short(&metrics, &policy, &inputs[i], &own, err);
		if (code)
			break;
		fixed[i] = inputs[i];
		fixed[i].policy = arena_strdup(arena, policy);
		keep(&nominal[i * QUANTITY_N], &metrics);
	}
	arena_release(&own);
	return code;
}

int outcomes_find(struct outcome *outcomes, const struct uncertainty *u, const struct trial_input *inputs, size_t n, struct arena *arena,
    struct err *err)
{
	struct trial_input *const fixed = arena_alloc(arena, n + 1, sizeof(*fixed));
	double *const nominal = arena_alloc(arena, n * QUANTITY_N + 1, sizeof(*nominal));
	struct draws d = {.u = u, .inputs = fixed, .n = n};

	if (run_nominal(nominal, fixed, inputs, n, arena, err))
		return err->code;
	d.values = arena_alloc(arena, QUANTITY_N * n * u->n_samples + 1, sizeof(*d.values));
	d.times_s = arena_alloc(arena, n * u->n_samples + 1, sizeof(*d.times_s));
	d.p_fits = arena_alloc(arena, n * u->n_samples + 1, sizeof(*d.p_fits));
	parallel_for(u->n_samples, u->n_workers, run_draw, &d);
	summarise(outcomes, &d, nominal, arena);
	return 0;
}

bool outcome_is_open(const struct outcome *o)
{
	const double rare = 0.05;

	return o->p_faster >= rare;
}

const char *outcome_share(double p, struct arena *arena)
{
	if (p < 0.01)
		return "under 1 %";
	return p > 0.99 ? "over 99 %" : arena_printf(arena, "%.0f %%", 100 * p);
}
