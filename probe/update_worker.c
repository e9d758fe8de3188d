/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/update_worker.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/arena.h"

struct update_worker {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t given, done;
	size_t *queue, n_given, n_done, n_max;
	bool stop;
	int n_threads;
	const int *cpus;
	void (*handle)(void *context, struct team *team, size_t subgroup);
	void (*begin)(void *context);
	void *context;
};

static bool take(struct update_worker *worker, size_t *subgroup)
{
	pthread_mutex_lock(&worker->mutex);
	while (worker->n_done == worker->n_given && !worker->stop)
		pthread_cond_wait(&worker->given, &worker->mutex);
	const bool has_work = worker->n_done < worker->n_given;
	if (has_work)
		*subgroup = worker->queue[worker->n_done];
	pthread_mutex_unlock(&worker->mutex);
	return has_work;
}

static void *worker_main(void *argument)
{
	struct update_worker *const worker = argument;
	struct team *const team = team_new(worker->n_threads, worker->cpus);
	size_t subgroup;
	team_bind_caller(team);
	if (worker->begin)
		worker->begin(worker->context);
	while (take(worker, &subgroup)) {
		worker->handle(worker->context, team, subgroup);
		pthread_mutex_lock(&worker->mutex);
		worker->n_done++;
		pthread_cond_signal(&worker->done);
		pthread_mutex_unlock(&worker->mutex);
	}
	team_free(team);
	return NULL;
}

struct update_worker *update_worker_new(int n_threads, const int cpus[], size_t n_max,
    void (*handle)(void *context, struct team *team, size_t subgroup), void (*begin)(void *context), void *context)
{
	struct update_worker *const worker = xmalloc(1, sizeof *worker);
	*worker = (struct update_worker){.queue = xmalloc(n_max, sizeof(size_t)),
	    .n_max = n_max,
	    .n_threads = n_threads,
	    .cpus = cpus,
	    .handle = handle,
	    .begin = begin,
	    .context = context};
	pthread_mutex_init(&worker->mutex, NULL);
	pthread_cond_init(&worker->given, NULL);
	pthread_cond_init(&worker->done, NULL);
	if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0)
		abort();
	return worker;
}

void update_worker_give(struct update_worker *worker, const size_t subgroups[], size_t n)
{
	if (n == 0)
		return;
	pthread_mutex_lock(&worker->mutex);
	assert(worker->n_given + n <= worker->n_max);
	memcpy(worker->queue + worker->n_given, subgroups, n * sizeof subgroups[0]);
	worker->n_given += n;
	pthread_cond_signal(&worker->given);
	pthread_mutex_unlock(&worker->mutex);
}

void update_worker_join(struct update_worker *worker)
{
	pthread_mutex_lock(&worker->mutex);
	while (worker->n_done < worker->n_given)
		pthread_cond_wait(&worker->done, &worker->mutex);
	pthread_mutex_unlock(&worker->mutex);
}

void update_worker_free(struct update_worker *worker)
{
	if (!worker)
		return;
	pthread_mutex_lock(&worker->mutex);
	worker->stop = true;
	pthread_cond_signal(&worker->given);
	pthread_mutex_unlock(&worker->mutex);
	pthread_join(worker->thread, NULL);
	pthread_mutex_destroy(&worker->mutex);
	pthread_cond_destroy(&worker->given);
	pthread_cond_destroy(&worker->done);
	free(worker->queue);
	free(worker);
}
