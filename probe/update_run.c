/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/update_run.h"

#include <stdlib.h>

#include "model/base/arena.h"
#include "probe/clock.h"

/* ---- host operations */

static void run_team(
    const struct update_run *run, struct team *team, enum lane lane, const char *name, size_t x, struct team_work work)
{
	const double start_s = clock_now_s();
	work.n = run->layout->subgroup_params;
	work.grain = KERNEL_GRAIN;
	team_run(team, &work);
	update_trace_host(run->trace, run->rank->rank, lane, name, x, start_s, clock_now_s());
}

static void unscale(struct update_run *run, size_t x)
{
	struct stream_call call = {
	    run->rank->kernels->unscale, {.a = run->rank->grads32 + run->layout->pitch * x, .factor = run->scale}};
	run_team(run, run->team, LANE_MAIN, "unscale", x, (struct team_work){.run = stream_call_run, .context = &call});
}

static void adam(struct update_run *run, size_t x)
{
	const struct update_rank *const rank = run->rank;
	const size_t pitch = run->layout->pitch;
	float *const state = update_state_of(rank, run->layout, x);
	const bool is_bf16 = run->policy->grads == UPDATE_GRADS_BF16, fused = run->policy->downscale == DOWNSCALE_FUSED;
	const enum grad_kind grad = is_bf16 ? GRAD_BF16 : GRAD_FP32;
	struct adam_call call = {.kernel = rank->kernels->adam[grad][fused],
	    .arrays = {.m = state, .v = state + pitch, .p = state + 2 * pitch, .step = run->step}};
	call.arrays.g = is_bf16 ? (const void *)(rank->grads16 + pitch * x) : rank->grads32 + pitch * x;
	call.arrays.out = fused ? rank->stage + pitch * x : NULL;
	if (run->policy->downscale == DOWNSCALE_SPLIT) {
		call.kernel = rank->kernels->adam_split[grad];
		call.arrays.p = NULL;
		call.arrays.hi = rank->stage + pitch * x;
		call.arrays.lo = rank->lo + pitch * x;
	}
	run_team(run, run->team, LANE_MAIN, "adam", x, (struct team_work){.run = adam_call_run, .context = &call});
}

static void push(struct update_run *run, size_t x)
{
	struct update_rank *const rank = run->rank;
	const size_t at = run->layout->pitch * x;
	pthread_mutex_lock(&rank->push_mutex);
	const size_t op = update_trace_begin(run->trace, rank->rank, rank->gpu, rank->push_stream, LANE_H2D, "push", x);
	gpu_h2d(rank->gpu, rank->push_stream, rank->dev_half + at, rank->stage + at, 2 * run->layout->subgroup_params);
	update_trace_end(run->trace, op, rank->gpu, rank->push_stream);
	rank->n_pushed++;
	pthread_mutex_unlock(&rank->push_mutex);
}

/* Waits for the pushes that are enqueued at this moment. */
static void wait_pushes(struct update_run *run)
{
	struct update_rank *const rank = run->rank;
	pthread_mutex_lock(&rank->push_mutex);
	const bool any = rank->n_pushed > 0;
	if (any)
		gpu_record(rank->gpu, rank->push_event, rank->push_stream);
	pthread_mutex_unlock(&rank->push_mutex);
	if (any)
		gpu_wait(rank->gpu, rank->push_event);
}

static void worker_downscale(void *context, struct team *team, size_t x)
{
	struct update_run *const run = context;
	const struct update_rank *const rank = run->rank;
	const size_t pitch = run->layout->pitch;
	struct stream_call call = {rank->kernels->downscale[HALF_BF16],
	    {.b = update_state_of(rank, run->layout, x) + 2 * pitch, .half = rank->stage + pitch * x}};
	run_team(run, team, LANE_WORKER, "downscale", x, (struct team_work){.run = stream_call_run, .context = &call});
	push(run, x);
}

static void worker_begin(void *context)
{
	const struct update_run *const run = context;
	gpu_use(run->rank->gpu);
}

/* ---- schedules (model/MODEL.md, "Schedules") */

static void cpu_subgroup(struct update_run *run, size_t x, bool hand_over)
{
	if (run->policy->unscale == UNSCALE_SEPARATE)
		unscale(run, x);
	adam(run, x);
	if (!run->worker) {
		push(run, x);
		return;
	}
	run->finished[run->n_finished++] = x;
	if (run->policy->downscale == DOWNSCALE_EAGER || hand_over) {
		update_worker_give(run->worker, run->finished, run->n_finished);
		run->n_finished = 0;
	}
}

static size_t n_dynamic(const struct update_run *run)
{
	const size_t n = run->layout->n_subgroups;
	size_t x = 0;
	while (x < n && update_policy_place(run->policy, x, n) != PLACE_RESIDENT)
		x++;
	return x;
}

static bool is_gpu(const struct update_run *run, size_t x)
{
	return update_policy_place(run->policy, x, run->layout->n_subgroups) == PLACE_GPU;
}

static void open_window(struct update_run *run, size_t window)
{
	const size_t n_buffers = (size_t)run->policy->buffers;
	if (window > 0 && window - 1 < run->n_gpu)
		update_chain_write(run, window - 1);
	for (size_t j = window > 0 ? window + n_buffers - 1 : 0; j < window + n_buffers && j < run->n_gpu; j++)
		update_chain_fetch(run, j);
	wait_pushes(run);
}

static void step_dos(struct update_run *run)
{
	const size_t stride = (size_t)run->policy->stride, d = n_dynamic(run);
	size_t next = 0; /* GPU-scheduled subgroup */
	for (size_t x = 0; x < d; x++) {
		if (stride > 0 && x % stride == 0)
			open_window(run, x / stride);
		if (is_gpu(run, x)) {
			update_chain_wait_fetch(run, next);
			update_chain_adam(run, next++);
		} else {
			cpu_subgroup(run, x, x + 1 == d || is_gpu(run, x + 1));
		}
	}
	for (size_t x = d; x < run->layout->n_subgroups; x++)
		update_chain_resident(run, x);
	if (run->policy->chain == CHAIN_PUBLISHED) { /* all pushes and the GPU; the last write-back spills */
		if (run->worker)
			update_worker_join(run->worker);
		wait_pushes(run);
		gpu_record(run->rank->gpu, run->rank->compute_event, run->rank->compute_stream);
		gpu_wait(run->rank->gpu, run->rank->compute_event);
		return;
	}
	update_run_drain(run);
}

static void step_hybrid(struct update_run *run)
{
	const size_t n = run->layout->n_subgroups;
	for (size_t j = 0; j < run->n_gpu; j++) {
		if (j >= run->n_prefetched)
			update_chain_fetch(run, j);
		update_chain_adam(run, j);
		update_chain_write(run, j);
	}
	for (size_t x = 0; x < n; x++)
		if (!is_gpu(run, x))
			cpu_subgroup(run, x, x + 1 == n || is_gpu(run, x + 1));
	update_run_drain(run);
}

void update_run_step(struct update_run *run)
{
	if (run->policy->kind == UPDATE_DOS)
		step_dos(run);
	else
		step_hybrid(run);
}

void update_run_drain(struct update_run *run)
{
	while (run->n_written < run->n_gpu)
		update_chain_write(run, run->n_written);
	if (run->worker)
		update_worker_join(run->worker);
	wait_pushes(run);
	update_chain_wait_written(run);
}

void update_run_prefetch(struct update_run *run)
{
	if (run->policy->kind != UPDATE_HYBRID || run->policy->prefetch != PREFETCH_BACKWARD)
		return;
	for (size_t j = 0; j < (size_t)run->policy->buffers && j < run->n_gpu; j++) {
		update_chain_fetch(run, j);
		run->n_prefetched++;
	}
	gpu_wait_all(run->rank->gpu);
}

/* ---- life */

static void list_gpu_subgroups(struct update_run *run)
{
	const size_t n = run->layout->n_subgroups;
	run->gpu_subgroups = xmalloc(n, sizeof(size_t));
	run->finished = xmalloc(n, sizeof(size_t));
	for (size_t x = 0; x < n; x++)
		if (is_gpu(run, x))
			run->gpu_subgroups[run->n_gpu++] = x;
}

void update_run_open(struct update_run *run, int t)
{
	const struct update_rank *const rank = run->rank;
	const bool separate = run->policy->unscale == UNSCALE_SEPARATE;
	const int workers = (int)run->policy->workers;
	run->step = adam_step_of(t, separate ? 1.0F : run->scale);
	list_gpu_subgroups(run);
	/* Reserved cores while threads + workers fit; else the workers share cores with the team, in order. */
	for (int i = 0; i < run->threads; i++)
		run->team_cpus[i] = rank->cpus[i % rank->n_cpus];
	for (int i = 0; i < workers; i++)
		run->worker_cpus[i] = rank->cpus[(run->threads + i) % rank->n_cpus];
	run->team = team_new(run->threads, run->team_cpus);
	team_bind_caller(run->team);
	run->worker = update_policy_has_worker(run->policy)
	    ? update_worker_new(workers, run->worker_cpus, run->layout->n_subgroups, worker_downscale, worker_begin, run)
	    : NULL;
	run->rank->n_pushed = 0;
}

void update_run_close(struct update_run *run)
{
	update_worker_free(run->worker);
	team_free(run->team);
	free(run->gpu_subgroups);
	free(run->finished);
}
