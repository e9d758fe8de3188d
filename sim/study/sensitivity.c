/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/sensitivity.h"

#include <math.h>
#include <string.h>

#include "sim/study/parallel.h"

static const double step = 1.1, range = 4, ratio_step = 1.189207115002721 /* 2^(1/4) */, precision = 0.005;
static const double least_gain = 1e-3; /* of the iteration: less is no reason for another value */
enum { VALUES_MAX = 32 };

const char *const sensitivity_resources[SENSITIVITY_N] = {
#define SCALE_NAME(name) #name,
    HW_SCALES(SCALE_NAME)
#undef SCALE_NAME
};

static int scaled_trial(struct metrics *metrics, const struct trial_input *in, const char *resource, double factor, struct arena *arena,
    struct err *err)
{
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct trial_input input = *in;

	*hw = *in->hw;
	if (factor != 1 && hwprofile_scale(hw, resource, factor, err))
		return err->code;
	input.hw = hw;
	return trial_run_short(metrics, NULL, &input, arena, err);
}

int sensitivity_time(double *iteration_s, const struct trial_input *input, const char *resource, double factor, struct err *err)
{
	struct arena arena = {0};
	struct metrics metrics = {0};
	const int code = scaled_trial(&metrics, input, resource, factor, &arena, err);

	*iteration_s = metrics.iteration_s;
	arena_release(&arena);
	return code;
}

/* ---- the share on the GPU */

struct shares {
	const char *option;
	const char *specs[VALUES_MAX]; /* canonical with each value */
	double values[VALUES_MAX];
	size_t n;
};

/* The canonical SPEC with another value of one option; NULL when it has no such option. */
static const char *with_value(const char *canonical, const char *option, double value, struct arena *arena)
{
	const char *const key = arena_printf(arena, "%s=", option);
	const char *at = strpbrk(canonical, ":,");

	while (at && strncmp(at + 1, key, strlen(key)) != 0)
		at = strchr(at + 1, ',');
	if (!at)
		return NULL;
	const char *const rest = at + 1 + strcspn(at + 1, ",");
	return arena_printf(arena, "%.*s%s%.12g%s", (int)(at + 1 - canonical), canonical, key, value, rest);
}

static void list_shares(struct shares *s, const char *canonical, size_t n_subgroups, struct arena *arena)
{
	static const struct {
		const char *option;
		double first, step, last;
	} known[] = {{"stride", 0, 1, 12}, {"fraction", 0, 0.05, 1}, {"ratio", 0, 0.1, 1}};

	*s = (struct shares){0};
	for (size_t i = 0; !s->option && i < sizeof(known) / sizeof(known[0]); i++) {
		const double most = known[i].step >= 1 ? fmin(known[i].last, (double)n_subgroups) : known[i].last;
		if (!with_value(canonical, known[i].option, 0, arena))
			continue;
		s->option = known[i].option;
		for (size_t j = 0; s->n < VALUES_MAX && known[i].first + (double)j * known[i].step <= most + 1e-9; j++) {
			s->values[s->n] = known[i].first + (double)j * known[i].step;
			s->specs[s->n] = with_value(canonical, s->option, s->values[s->n], arena);
			s->n++;
		}
	}
}

/* Index of the fastest value that fits with a resource scaled, the first of equals; old (or n: none) where nothing gains much on it. */
static int best_share(size_t *best, const struct shares *s, const struct trial_input *in, const char *resource, double factor, size_t old,
    struct err *err)
{
	struct arena arena = {0};
	double at_s[VALUES_MAX];
	struct metrics m = {.fits = false};
	int code = 0;

	*best = 0;
	for (size_t i = 0; !code && i < s->n; i++) {
		struct trial_input input = *in;
		input.policy = s->specs[i];
		arena_reset(&arena);
		code = scaled_trial(&m, &input, resource, factor, &arena, err);
		at_s[i] = !code && m.fits ? m.iteration_s : INFINITY;
		*best = !code && at_s[i] < at_s[*best] ? i : *best;
	}
	if (!code && old < s->n && at_s[old] <= at_s[*best] * (1 + least_gain))
		*best = old;
	arena_release(&arena);
	return code;
}

/* Between a factor with the old best value and one with another. */
static int bisect(struct break_even *point, const struct shares *s, const struct trial_input *in, const char *resource, double same,
    double changed, size_t old, struct err *err)
{
	size_t best;

	while (fabs(log(changed / same)) > precision) {
		const double middle = sqrt(same * changed);
		if (best_share(&best, s, in, resource, middle, old, err))
			return err->code;
		if (best == old) {
			same = middle;
		} else {
			changed = middle;
			point->value = s->values[best];
		}
	}
	point->factor = changed;
	return 0;
}

static int search(struct break_even *point, const struct shares *s, const struct trial_input *in, const char *resource, size_t old,
    double ratio, struct err *err)
{
	double same = 1;
	size_t best;

	*point = (struct break_even){NAN, NAN};
	for (double factor = ratio; factor < range * 1.01 && factor > 0.99 / range; factor *= ratio) {
		if (best_share(&best, s, in, resource, factor, old, err))
			return err->code;
		point->value = s->values[best];
		if (best != old)
			return bisect(point, s, in, resource, same, factor, old, err);
		same = factor;
	}
	point->value = NAN;
	return 0;
}

/* ---- all resources */

struct job {
	struct sensitivities *result;
	const struct trial_input *in;
	const struct shares *shares; /* none: elasticities only */
	size_t old;
	struct err errs[SENSITIVITY_N];
};

static void find_item(void *context, size_t item, size_t worker)
{
	struct job *const job = context;
	struct sensitivity *const s = &job->result->all[item];
	struct err *const err = &job->errs[item];

	(void)worker;
	*s = (struct sensitivity){.resource = sensitivity_resources[item], .step = step, .up = {NAN, NAN}, .down = {NAN, NAN}};
	if (sensitivity_time(&s->base_s, job->in, s->resource, 1, err) || sensitivity_time(&s->stepped_s, job->in, s->resource, step, err))
		return;
	s->elasticity = s->base_s > 0 ? log(s->stepped_s / s->base_s) / log(step) : 0;
	if (job->shares->n < 2 || search(&s->up, job->shares, job->in, s->resource, job->old, ratio_step, err))
		return;
	if (search(&s->down, job->shares, job->in, s->resource, job->old, 1 / ratio_step, err))
		return;
}

int sensitivity_find(struct sensitivities *result, const struct trial_input *input, bool has_break_even, size_t n_workers,
    struct arena *arena, struct err *err)
{
	struct shares shares = {0};
	struct workload workload;
	struct job job = {.result = result, .in = input, .shares = &shares};

	*result = (struct sensitivities){.best = NAN};
	if (trial_workload(&workload, input->hw, &input->shape, &input->batch, arena, err))
		return err->code;
	if (has_break_even)
		list_shares(&shares, input->policy, workload.n_subgroups, arena);
	result->option = shares.option;
	if (shares.n > 1) {
		if (best_share(&job.old, &shares, input, "cpu", 1, shares.n, err))
			return err->code;
		result->best = shares.values[job.old];
	}
	parallel_for(SENSITIVITY_N, n_workers, find_item, &job);
	for (size_t i = 0; i < SENSITIVITY_N; i++)
		if (job.errs[i].code) {
			*err = job.errs[i];
			return err->code;
		}
	return 0;
}
