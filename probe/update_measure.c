/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/update_measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/arena.h"
#include "probe/clock.h"
#include "probe/interrupt.h"
#include "probe/update_run.h"

/* What the rank threads share. Written between barriers. */
struct crew {
	struct update_job *job;
	struct update_needs needs;
	pthread_barrier_t barrier;
	pthread_mutex_t mutex;
	struct update_trace trace;
	double *start_s, *end_s, *complete_s; /* by rank */
	struct err err; /* first failure */
	bool stop;
};

struct rank_thread {
	pthread_t thread;
	struct crew *crew;
	int index;
	struct update_rank rank;
};

static struct update_needs needs_of(const struct update_point points[], size_t n_points)
{
	struct update_needs needs = {0};
	for (size_t i = 0; i < n_points; i++) {
		const struct update_layout *const layout = &points[i].layout;
		const size_t elements = layout->pitch * layout->n_subgroups;
		size_t n_resident = 0;
		for (size_t x = 0; x < layout->n_subgroups; x++)
			n_resident += update_policy_place(&points[i].policy, x, layout->n_subgroups) == PLACE_RESIDENT;
		needs.elements = elements > needs.elements ? elements : needs.elements;
		needs.pitch = layout->pitch > needs.pitch ? layout->pitch : needs.pitch;
		needs.n_subgroups = layout->n_subgroups > needs.n_subgroups ? layout->n_subgroups : needs.n_subgroups;
		if (n_resident * layout->pitch > needs.n_resident_elements)
			needs.n_resident_elements = n_resident * layout->pitch;
		if (points[i].policy.buffers > needs.buffers)
			needs.buffers = (int)points[i].policy.buffers;
		needs.grads_fp32 = needs.grads_fp32 || points[i].policy.grads == UPDATE_GRADS_FP32;
		needs.split = needs.split || points[i].policy.downscale == DOWNSCALE_SPLIT;
	}
	return needs;
}

double update_host_bytes(const struct update_point points[], size_t n_points)
{
	const struct update_needs needs = needs_of(points, n_points);
	return (double)needs.elements * (16 + (needs.grads_fp32 ? 4 : 0) + (needs.split ? 2 : 0));
}

static void note_failure(struct crew *crew, const struct err *err)
{
	pthread_mutex_lock(&crew->mutex);
	if (crew->err.code == 0)
		crew->err = *err;
	crew->stop = true;
	pthread_mutex_unlock(&crew->mutex);
}

/* Rank 0 decides for all; everybody reads the decision after the barrier. */
static bool agree_to_stop(struct rank_thread *me)
{
	struct crew *const crew = me->crew;
	if (gpu_error(me->rank.gpu)) {
		struct err err = {0};
		(void)err_set(&err, STATUS_ENV, "GPU %d: %s", me->index, gpu_error(me->rank.gpu));
		note_failure(crew, &err);
	}
	if (me->index == 0 && interrupt_seen()) {
		struct err err = {0};
		(void)err_set(&err, STATUS_INTERRUPTED, "interrupted; finished repeats are kept");
		note_failure(crew, &err);
	}
	pthread_barrier_wait(&crew->barrier);
	pthread_mutex_lock(&crew->mutex);
	const bool stop = crew->stop;
	pthread_mutex_unlock(&crew->mutex);
	pthread_barrier_wait(&crew->barrier);
	return stop;
}

static void record_sample(struct crew *crew, struct update_result *result)
{
	double first_s = crew->start_s[0], last_s = crew->end_s[0], complete_s = crew->complete_s[0];
	for (int i = 1; i < crew->job->n_ranks; i++) {
		first_s = fmin(first_s, crew->start_s[i]);
		last_s = fmax(last_s, crew->end_s[i]);
		complete_s = fmax(complete_s, crew->complete_s[i]);
	}
	result->samples_s[result->n_samples] = last_s - first_s;
	result->complete_s[result->n_samples++] = complete_s - first_s;
}

static void verify(struct rank_thread *me, const struct update_point *point, struct update_result *result)
{
	struct update_check check;
	update_rank_verify(&me->rank, &point->layout, &point->policy, &check);
	pthread_mutex_lock(&me->crew->mutex);
	result->check.n_wrong += check.n_wrong;
	result->check.n_differing += check.n_differing;
	if (!(check.worst_relative <= result->check.worst_relative))
		result->check.worst_relative = check.worst_relative;
	result->verified = true;
	pthread_mutex_unlock(&me->crew->mutex);
}

static void time_step(struct rank_thread *me, struct update_run *run)
{
	struct crew *const crew = me->crew;
	update_run_prefetch(run);
	pthread_barrier_wait(&crew->barrier);
	crew->start_s[me->index] = clock_now_s();
	update_run_step(run);
	crew->end_s[me->index] = clock_now_s();
	update_run_drain(run);
	crew->complete_s[me->index] = clock_now_s();
	gpu_wait_all(me->rank.gpu);
	pthread_barrier_wait(&crew->barrier);
}

/* Another layout has parameters where this one's variances are, and poison where a split point needs halves. */
static void make_valid(struct update_rank *rank, const struct update_point *point)
{
	if (!update_rank_holds(rank, &point->layout, &point->policy))
		update_rank_reset(rank, &point->layout, &point->policy);
}

static void run_point(struct rank_thread *me, size_t index, size_t repeat)
{
	struct update_job *const job = me->crew->job;
	const struct update_point *const point = &job->points[index];
	const bool is_checked = repeat == 0 && !job->skip_check;
	struct update_run run = {.rank = &me->rank,
	    .layout = &point->layout,
	    .policy = &point->policy,
	    .threads = point->threads,
	    .scale = is_checked ? UPDATE_FIRST_SCALE : 1.0F};
	if (is_checked)
		update_rank_reset(&me->rank, &point->layout, &point->policy);
	make_valid(&me->rank, point);
	update_run_open(&run, (int)repeat + 1);
	time_step(me, &run);
	if (me->index == 0)
		record_sample(me->crew, &job->results[index]);
	if (is_checked)
		verify(me, point, &job->results[index]);
	update_run_close(&run);
}

/* One more update with device events around every operation; its time is not a sample. */
static void trace_point(struct rank_thread *me, size_t index)
{
	struct crew *const crew = me->crew;
	const struct update_point *const point = &crew->job->points[index];
	struct gpu *const gpu = me->rank.gpu;
	struct update_run run = {.rank = &me->rank,
	    .layout = &point->layout,
	    .policy = &point->policy,
	    .threads = point->threads,
	    .scale = 1.0F,
	    .trace = &crew->trace};
	if (me->index == 0)
		update_trace_init(&crew->trace);
	make_valid(&me->rank, point);
	pthread_barrier_wait(&crew->barrier);
	update_run_open(&run, 2);
	struct gpu_event *const base = gpu_event_new(gpu, 1);
	gpu_record(gpu, base, me->rank.compute_stream);
	gpu_wait(gpu, base);
	const double base_s = clock_now_s();
	time_step(me, &run);
	update_trace_resolve(&crew->trace, me->index, gpu, base, base_s);
	gpu_event_free(gpu, base);
	update_run_close(&run);
	pthread_barrier_wait(&crew->barrier);
	if (me->index == 0) {
		char name[512];
		crew->trace.origin_s = crew->start_s[0];
		update_trace_finish(&crew->trace);
		snprintf(name, sizeof name, "%s, %zu x %zu parameters, %d threads", point->policy.canonical,
		    point->layout.n_subgroups, point->layout.subgroup_params, point->threads);
		update_trace_write(&crew->trace, crew->job->trace, (int)index, name);
		update_trace_release(&crew->trace);
	}
	pthread_barrier_wait(&crew->barrier);
}

/* Not measured: the first update of a process is up to 40 % slower (first launches, clocks). */
static void warm_up(struct rank_thread *me)
{
	const struct update_point *const point = &me->crew->job->points[0];
	struct update_run run = {
	    .rank = &me->rank, .layout = &point->layout, .policy = &point->policy, .threads = point->threads, .scale = 1.0F};
	update_rank_reset(&me->rank, &point->layout, &point->policy);
	update_run_open(&run, 1);
	time_step(me, &run);
	update_run_close(&run);
}

static void run_all(struct rank_thread *me)
{
	struct update_job *const job = me->crew->job;
	warm_up(me);
	if (agree_to_stop(me))
		return;
	for (size_t repeat = 0; repeat < job->n_repeats; repeat++) {
		for (size_t i = 0; i < job->n_points; i++) {
			run_point(me, i, repeat);
			if (agree_to_stop(me))
				return;
		}
		if (me->index == 0 && job->report)
			job->report(job->context, repeat + 1);
	}
	for (size_t i = 0; job->trace && i < job->n_points; i++) {
		trace_point(me, i);
		if (agree_to_stop(me))
			return;
	}
}

static void *rank_main(void *argument)
{
	struct rank_thread *const me = argument;
	struct crew *const crew = me->crew;
	struct err err = {0};
	const double start_s = clock_now_s();
	if (update_rank_open(&me->rank, crew->job->topology, me->index, crew->job->n_ranks, &crew->needs, &err))
		note_failure(crew, &err);
	if (me->index == 0) {
		crew->job->pinning_s = clock_now_s() - start_s;
		crew->job->host_bytes = (double)me->rank.host_bytes;
	}
	if (!agree_to_stop(me))
		run_all(me);
	update_rank_close(&me->rank);
	return NULL;
}

int update_measure(struct update_job *job, struct err *err)
{
	const size_t n_ranks = (size_t)job->n_ranks;
	struct crew crew = {.job = job,
	    .needs = needs_of(job->points, job->n_points),
	    .start_s = xmalloc(n_ranks, sizeof(double)),
	    .end_s = xmalloc(n_ranks, sizeof(double)),
	    .complete_s = xmalloc(n_ranks, sizeof(double))};
	struct rank_thread *const threads = xmalloc(n_ranks, sizeof *threads);
	memset(threads, 0, n_ranks * sizeof *threads);
	pthread_barrier_init(&crew.barrier, NULL, (unsigned)n_ranks);
	pthread_mutex_init(&crew.mutex, NULL);
	for (size_t i = 0; i < n_ranks; i++) {
		threads[i].crew = &crew;
		threads[i].index = (int)i;
		if (pthread_create(&threads[i].thread, NULL, rank_main, &threads[i]) != 0)
			abort();
	}
	for (size_t i = 0; i < n_ranks; i++)
		pthread_join(threads[i].thread, NULL);
	pthread_barrier_destroy(&crew.barrier);
	pthread_mutex_destroy(&crew.mutex);
	free(threads);
	free(crew.start_s);
	free(crew.end_s);
	free(crew.complete_s);
	if (crew.err.code)
		*err = crew.err;
	return crew.err.code;
}
