/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { WORKERS_MAX = 256, CHUNK = 8, FEW = 64 };

struct loop {
	size_t n_items, chunk;
	parallel_body *body;
	void *context;
	atomic_size_t next;
};

struct thread {
	struct loop *loop;
	size_t worker;
	pthread_t id;
};

static void *work(void *argument)
{
	const struct thread *const t = argument;
	struct loop *const loop = t->loop;
	size_t first;

	while ((first = atomic_fetch_add(&loop->next, loop->chunk)) < loop->n_items)
		for (size_t i = first; i < first + loop->chunk && i < loop->n_items; i++)
			loop->body(loop->context, i, t->worker);
	return NULL;
}

void parallel_for(size_t n_items, size_t n_workers, parallel_body *body, void *context)
{
	struct loop loop = {.n_items = n_items, .chunk = n_items > FEW ? CHUNK : 1, .body = body, .context = context};
	struct thread threads[WORKERS_MAX];
	const size_t n_chunks = (n_items + loop.chunk - 1) / loop.chunk;
	size_t n = n_workers < WORKERS_MAX ? n_workers : WORKERS_MAX;

	n = n < n_chunks ? n : n_chunks;
	threads[0] = (struct thread){.loop = &loop};
	for (size_t i = 1; i < n; i++) {
		threads[i] = (struct thread){.loop = &loop, .worker = i};
		if (pthread_create(&threads[i].id, NULL, work, &threads[i]))
			n = i;
	}
	work(&threads[0]);
	for (size_t i = 1; i < n; i++)
		pthread_join(threads[i].id, NULL);
}

size_t parallel_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}
