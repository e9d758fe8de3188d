/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/activity.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "model/base/arena.h"
#include "probe/clock.h"

struct entry {
	double at_s, work;
};

struct runner {
	const struct activity *activity;
	pthread_t thread;
	pthread_mutex_t mutex;
	struct entry *log; /* work is cumulative */
	size_t n, capacity;
	atomic_bool *stop;
};

static void append(struct runner *runner, double work)
{
	const double now_s = clock_now_s();
	pthread_mutex_lock(&runner->mutex);
	if (runner->n == runner->capacity) {
		runner->capacity = runner->capacity ? 2 * runner->capacity : 1024;
		runner->log = xrealloc(runner->log, runner->capacity, sizeof runner->log[0]);
	}
	const double before = runner->n ? runner->log[runner->n - 1].work : 0;
	runner->log[runner->n++] = (struct entry){now_s, before + work};
	pthread_mutex_unlock(&runner->mutex);
}

static void *runner_main(void *argument)
{
	struct runner *const runner = argument;
	const struct activity *const activity = runner->activity;
	if (activity->begin)
		activity->begin(activity->context);
	append(runner, 0);
	while (!atomic_load(runner->stop))
		append(runner, activity->step(activity->context));
	if (activity->end)
		activity->end(activity->context);
	return NULL;
}

struct progress {
	size_t n_steps;
	double first_s, last_s;
};

static struct progress progress_of(struct runner *runner)
{
	struct progress progress = {0};
	pthread_mutex_lock(&runner->mutex);
	if (runner->n > 0)
		progress = (struct progress){runner->n - 1, runner->log[0].at_s, runner->log[runner->n - 1].at_s};
	pthread_mutex_unlock(&runner->mutex);
	return progress;
}

/* Work done by `at_s`, linear between entries; the caller holds the mutex and at_s lies within the log. */
static double work_at(const struct runner *runner, double at_s)
{
	size_t low = 0, high = runner->n - 1;
	while (high - low > 1) {
		const size_t middle = (low + high) / 2;
		if (runner->log[middle].at_s <= at_s)
			low = middle;
		else
			high = middle;
	}
	const struct entry *const a = &runner->log[low], *const b = &runner->log[high];
	const double span_s = b->at_s - a->at_s;
	return span_s > 0 ? a->work + (b->work - a->work) * (at_s - a->at_s) / span_s : b->work;
}

static double rate_of(struct runner *runner, double from_s, double to_s)
{
	pthread_mutex_lock(&runner->mutex);
	const double work = work_at(runner, to_s) - work_at(runner, from_s);
	pthread_mutex_unlock(&runner->mutex);
	return work / (to_s - from_s);
}

/* Until every runner has made three steps and warmed up; the longest step seen, or a negative number when one is stuck. */
static double warm_up(struct runner runners[], size_t n, const struct activity_plan *plan)
{
	const double start_s = clock_now_s(), give_up_s = 10 + plan->limit_s;
	double step_s = 0;
	for (size_t i = 0; i < n; i++) {
		struct progress progress = progress_of(&runners[i]);
		while (progress.n_steps < 3 || progress.last_s < start_s + plan->warm_s) {
			if (clock_now_s() > start_s + give_up_s)
				return -1;
			clock_sleep_s(0.002);
			progress = progress_of(&runners[i]);
		}
		const double mean_s = (progress.last_s - progress.first_s) / (double)progress.n_steps;
		step_s = mean_s > step_s ? mean_s : step_s;
	}
	return step_s;
}

/* Sleeps until all logs reach beyond `at_s`. */
static bool wait_until(struct runner runners[], size_t n, double at_s)
{
	for (size_t i = 0; i < n; i++) {
		while (progress_of(&runners[i]).last_s < at_s) {
			const double left_s = at_s - clock_now_s();
			if (left_s < -20)
				return false;
			clock_sleep_s(left_s > 0.001 ? left_s : 0.001);
		}
	}
	return true;
}

static bool is_precise(const struct activity_result results[], size_t n_activities, double precision_frac)
{
	for (size_t i = 0; i < n_activities; i++) {
		struct stats stats;
		stats_of(&stats, results[i].samples, results[i].n);
		if (stats.hi - stats.lo > 2 * precision_frac * stats.median)
			return false;
	}
	return true;
}

static void take_windows(
    struct activity_result results[], struct runner runners[], size_t n, const struct activity_plan *plan)
{
	const double step_s = warm_up(runners, n, plan);
	const double window_s = 2 * step_s > plan->window_s ? 2 * step_s : plan->window_s;
	const double start_s = clock_now_s();
	double from_s = start_s;
	for (size_t window = 0; step_s >= 0 && window < plan->n_max; window++) {
		if (window >= plan->n_min &&
		    (from_s - start_s > plan->limit_s || is_precise(results, n, plan->precision_frac)))
			return;
		if (!wait_until(runners, n, from_s + window_s))
			return;
		for (size_t i = 0; i < n; i++)
			results[i].samples[results[i].n++] = rate_of(&runners[i], from_s, from_s + window_s);
		from_s += window_s;
	}
}

void activity_measure(struct activity_result results[], const struct activity activities[], size_t n_activities,
    const struct activity_plan *plan)
{
	struct runner runners[ACTIVITIES_MAX];
	atomic_bool stop = false;
	assert(n_activities <= ACTIVITIES_MAX && plan->n_max <= STATS_SAMPLES_MAX);
	for (size_t i = 0; i < n_activities; i++) {
		results[i].n = 0;
		runners[i] = (struct runner){.activity = &activities[i], .stop = &stop};
		pthread_mutex_init(&runners[i].mutex, NULL);
		if (pthread_create(&runners[i].thread, NULL, runner_main, &runners[i]) != 0)
			abort();
	}
	take_windows(results, runners, n_activities, plan);
	atomic_store(&stop, true);
	for (size_t i = 0; i < n_activities; i++) {
		pthread_join(runners[i].thread, NULL);
		pthread_mutex_destroy(&runners[i].mutex);
		free(runners[i].log);
	}
}
