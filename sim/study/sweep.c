/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/study/ring.h"

enum { SLOTS_PER_WORKER = 4, SLOTS_LEAST = 8, COMMIT_ROWS = 5000 };
static const double commit_s = 0.1, publish_s = 0.05;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What all threads of one sweep see. */
struct shared {
	const struct sweep *sweep; /* immutable */
	struct ring ring;
	bool is_resumed; /* the store had trials at the start: look for each point */
};

static bool is_stopped(const struct sweep *sweep)
{
	return sweep->stop && atomic_load_explicit(sweep->stop, memory_order_relaxed) != 0;
}

size_t sweep_n_points(const struct sweep *sweep)
{
	const size_t all = sweep->grid->n_points, n = sweep->limit && sweep->limit < all ? sweep->limit : all;

	return n / sweep->n_shards + (n % sweep->n_shards > sweep->shard);
}

/* ---- workers */

struct worker {
	struct shared *shared;
	struct runner runner;
	struct store *reader; /* NULL: nothing to look for */
	pthread_t thread;
};

static int make_row(struct ring_row *row, struct worker *w, size_t ordinal, struct arena *texts, struct err *err)
{
	const struct sweep *const sweep = w->shared->sweep;

	row->is_present = false;
	runner_prepare(&row->done, &w->runner, ordinal * sweep->n_shards + sweep->shard, texts);
	if (w->reader && store_has(&row->is_present, w->reader, row->done.trial.key, err))
		return err->code;
	if (!row->is_present)
		runner_run(&row->done, &w->runner, texts);
	return 0;
}

/* Fills a slot; ends early when the sweep is stopped. */
static int fill_slot(struct ring_slot *slot, struct worker *w, struct err *err)
{
	const double start_s = now_s();
	double published_s = start_s;
	size_t n = 0;
	int code = 0;

	while (n < slot->n && !is_stopped(w->shared->sweep)) {
		code = make_row(&slot->rows[n], w, slot->first + n, &slot->texts, err);
		if (code)
			break;
		n++;
		const double at_s = now_s();
		if (at_s - published_s > publish_s) {
			ring_publish(&w->shared->ring, slot, n);
			published_s = at_s;
		}
	}
	ring_close(&w->shared->ring, slot, n, now_s() - start_s);
	return code;
}

static void *work(void *argument)
{
	struct worker *const w = argument;
	struct ring *const ring = &w->shared->ring;
	struct ring_slot *slot;
	struct err err = {0};
	int code = 0;

	if (w->shared->is_resumed)
		code = store_open_reader(&w->reader, w->shared->sweep->db, &err);
	while (!code && !is_stopped(w->shared->sweep) && (slot = ring_claim(ring)))
		code = fill_slot(slot, w, &err);
	store_close(w->reader);
	ring_leave(ring, code ? &err : NULL);
	return NULL;
}

/* Fewer threads than asked for when the system gives no more; at least one. */
static int start_workers(struct worker *workers, struct shared *shared, struct err *err)
{
	const struct sweep *const sweep = shared->sweep;

	for (size_t i = 0; i < sweep->n_workers; i++) {
		struct worker *const w = &workers[i];
		w->shared = shared;
		w->reader = NULL;
		runner_init(&w->runner, sweep->grid, sweep->is_closed_form);
		if (pthread_create(&w->thread, NULL, work, w) == 0)
			continue;
		ring_stop(&shared->ring);
		while (i-- > 0)
			pthread_join(workers[i].thread, NULL);
		return err_set(err, STATUS_ENV, "-j %zu: the system gives no more threads", sweep->n_workers);
	}
	return 0;
}

static void join_workers(struct worker *workers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pthread_join(workers[i].thread, NULL);
		runner_release(&workers[i].runner);
	}
}

/* ---- the writer */

static void count(struct sweep_counts *counts, const struct row_done *done, bool is_new)
{
	counts->n_done++;
	if (!is_new) {
		counts->n_present++;
		return;
	}
	counts->n_new++;
	counts->n_unfit += done->trial.feasible == STORE_UNFIT && !done->is_refused;
	if (done->is_refused && counts->n_refused++ == 0)
		snprintf(counts->refusal, sizeof(counts->refusal), "%s", done->trial.reason);
}

static int write_row(struct sweep_counts *counts, struct store *store, const struct ring_row *row, struct err *err)
{
	bool is_new = false;

	if (!row->is_present) {
		if (store_add_workload(store, &row->done.workload, err) || store_add_trial(&is_new, store, &row->done.trial, err))
			return err->code;
	}
	count(counts, &row->done, is_new);
	return 0;
}

/* Commits what is ready. counts changes only when the commit has succeeded. */
static int write_burst(struct sweep_counts *counts, struct store *store, struct ring *ring, struct err *err)
{
	struct sweep_counts after = *counts;
	const struct ring_row *row = ring_take(ring);

	if (!row)
		return 0;
	if (store_begin(store, err))
		return err->code;
	for (size_t n = 0; row; row = ++n < COMMIT_ROWS ? ring_take(ring) : NULL)
		if (write_row(&after, store, row, err))
			return err->code;
	if (store_commit(store, err))
		return err->code;
	*counts = after;
	return 0;
}

static int write_all(struct sweep_counts *counts, struct store *store, struct shared *shared, struct err *err)
{
	const struct sweep *const sweep = shared->sweep;
	const double start_s = now_s();
	int code = 0;

	while (!code && ring_wait(&shared->ring, commit_s)) {
		if (is_stopped(sweep))
			ring_stop(&shared->ring);
		code = write_burst(counts, store, &shared->ring, err);
		counts->elapsed_s = now_s() - start_s;
		if (!code && sweep->progress)
			sweep->progress(sweep->context, counts);
	}
	ring_stop(&shared->ring);
	return code;
}

static int add_profiles(struct store *store, const struct grid *grid, struct err *err)
{
	if (store_begin(store, err))
		return err->code;
	for (size_t i = 0; i < grid->n_hws; i++)
		if (store_add_profile(store, grid->hws[i], err))
			return err->code;
	return store_commit(store, err);
}

static int run_threads(struct sweep_counts *counts, struct store *store, struct shared *shared, struct err *err)
{
	const size_t n_workers = shared->sweep->n_workers;
	struct worker *const workers = xmalloc(n_workers, sizeof(*workers));
	const size_t n_slots = n_workers * SLOTS_PER_WORKER < SLOTS_LEAST ? SLOTS_LEAST : n_workers * SLOTS_PER_WORKER;

	ring_init(&shared->ring, n_slots, n_workers, counts->n_points);
	int code = start_workers(workers, shared, err);
	if (!code) {
		code = write_all(counts, store, shared, err);
		join_workers(workers, n_workers);
	}
	if (!code && shared->ring.err.code) {
		*err = shared->ring.err;
		code = err->code;
	}
	ring_release(&shared->ring);
	free(workers);
	return code;
}

int sweep_run(struct sweep_counts *counts, const struct sweep *sweep, struct err *err)
{
	struct shared shared = {.sweep = sweep};
	struct store *store;
	bool is_empty;

	*counts = (struct sweep_counts){.n_points = sweep_n_points(sweep)};
	if (store_open(&store, sweep->db, err))
		return err->code;
	int code = store_is_empty(&is_empty, store, err);
	if (!code)
		code = add_profiles(store, sweep->grid, err);
	shared.is_resumed = !is_empty;
	if (!code)
		code = run_threads(counts, store, &shared, err);
	store_close(store);
	if (!code && counts->n_done < counts->n_points)
		code = err_set(err, STATUS_INTERRUPTED, "interrupted: %zu of %zu points are stored", counts->n_done, counts->n_points);
	return code;
}
