/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/activities.h"

/* Two batches in flight last some ten milliseconds at the rates of today's machines: long against the wake-up of a sleeping host
 * thread on a machine whose hardware threads are all busy (64 MiB were not: the engine ran dry beside a full team). */
enum { COPY_BATCH_BYTES = 256 << 20, COPY_BATCH_MAX = 512, KERNEL_BATCH = 4, EMPTY_BATCH = 1000 };

static void queue_begin(void *context)
{
	struct gpu_activity *const activity = context;
	gpu_use(activity->gpu);
	activity->stream = gpu_stream_new(activity->gpu);
	for (size_t i = 0; i < QUEUE_DEPTH; i++)
		activity->events[i] = gpu_event_new(activity->gpu, 0);
}

static double queue_step(void *context)
{
	struct gpu_activity *const activity = context;
	struct gpu_event *const oldest = activity->events[(activity->turn + 1) % QUEUE_DEPTH];
	for (size_t i = 0; i < activity->batch; i++)
		activity->enqueue(activity, i);
	gpu_record(activity->gpu, activity->events[activity->turn % QUEUE_DEPTH], activity->stream);
	activity->turn++;
	if (activity->turn < QUEUE_DEPTH)
		return 0;
	gpu_wait(activity->gpu, oldest);
	return activity->work;
}

/* Pageable copies return when the host memory may be reused: nothing to queue. */
static double blocking_step(void *context)
{
	struct gpu_activity *const activity = context;
	activity->enqueue(activity, activity->turn++);
	gpu_record(activity->gpu, activity->events[0], activity->stream);
	gpu_wait(activity->gpu, activity->events[0]);
	return activity->work;
}

static void queue_end(void *context)
{
	struct gpu_activity *const activity = context;
	gpu_record(activity->gpu, activity->events[0], activity->stream);
	gpu_wait(activity->gpu, activity->events[0]);
	for (size_t i = 0; i < QUEUE_DEPTH; i++)
		gpu_event_free(activity->gpu, activity->events[i]);
	gpu_stream_free(activity->gpu, activity->stream);
}

/* ---- copies */

static size_t next_place(const struct gpu_activity *activity, size_t i)
{
	const size_t n_places = activity->host_bytes / activity->bytes;
	return (activity->turn * activity->batch + i) % (n_places ? n_places : 1) * activity->bytes;
}

static void enqueue_h2d(struct gpu_activity *activity, size_t i)
{
	const size_t at = next_place(activity, i);
	gpu_h2d(activity->gpu, activity->stream, activity->device + at, activity->host + at, activity->bytes);
}

static void enqueue_d2h(struct gpu_activity *activity, size_t i)
{
	const size_t at = next_place(activity, i);
	gpu_d2h(activity->gpu, activity->stream, activity->host + at, activity->device + at, activity->bytes);
}

struct measured copy_measured(
    struct gpu_activity *activity, struct harness *harness, int device, enum copy_kind kind, size_t bytes)
{
	const size_t batch = COPY_BATCH_BYTES / bytes;
	const size_t host_bytes =
	    harness->pool.copy_bytes < harness->device_bytes ? harness->pool.copy_bytes : harness->device_bytes;
	*activity = (struct gpu_activity){.harness = harness,
	    .gpu = harness->gpus[device],
	    .bytes = bytes,
	    .batch = batch < 1           ? 1
		: batch > COPY_BATCH_MAX ? COPY_BATCH_MAX
					 : batch,
	    .enqueue = kind == COPY_H2D ? enqueue_h2d : enqueue_d2h,
	    .host = kind == COPY_H2D ? harness->pool.dma_in : harness->pool.dma_out,
	    .device = kind == COPY_H2D ? harness->dev_a : harness->dev_b,
	    .host_bytes = host_bytes};
	activity->work = (double)(activity->bytes * activity->batch);
	return (struct measured){.activity = {queue_begin, queue_step, queue_end, activity},
	    .what = kind == COPY_H2D ? "h2d" : "d2h",
	    .x = (double)bytes,
	    .bytes_per_unit = 1,
	    .unit = UNIT_BYTES_PER_S};
}

struct measured copy_rank_measured(
    struct gpu_activity *activity, struct harness *harness, int rank, enum copy_kind kind, size_t bytes, char *device)
{
	const struct pool *const pool = &harness->rank_pools[rank];
	const size_t fitting = bytes < pool->copy_bytes ? bytes : pool->copy_bytes;
	const struct measured measured = copy_measured(activity, harness, rank, kind, fitting);
	activity->host = kind == COPY_H2D ? pool->dma_in : pool->dma_out;
	activity->host_bytes = pool->copy_bytes;
	activity->device = device;
	return measured;
}

struct measured pageable_measured(
    struct gpu_activity *activity, struct harness *harness, enum copy_kind kind, size_t bytes, char *host)
{
	struct measured measured = copy_measured(activity, harness, 0, kind, bytes);
	activity->host = host;
	activity->batch = 1;
	activity->work = (double)bytes;
	activity->is_pageable = 1;
	measured.activity.step = blocking_step;
	measured.what = kind == COPY_H2D ? "h2d_pageable" : "d2h_pageable";
	return measured;
}

/* ---- kernels */

static size_t kernel_params(const struct harness *harness)
{
	return harness->device_bytes / 16;
}

static void enqueue_adam(struct gpu_activity *activity, size_t i)
{
	const struct harness *const harness = activity->harness;
	struct adam_arrays arrays = {.m = (float *)(void *)harness->dev_a,
	    .v = (float *)(void *)harness->dev_b,
	    .p = (float *)(void *)harness->dev_c,
	    .g = harness->dev_d,
	    .out = (uint16_t *)(void *)(harness->dev_d + harness->device_bytes / 2)};
	arrays.step = adam_step_of(10, 1.0F);
	(void)i;
	gpu_adam(activity->gpu, activity->stream, &arrays, kernel_params(harness));
}

static void enqueue_widen(struct gpu_activity *activity, size_t i)
{
	const struct harness *const harness = activity->harness;
	(void)i;
	gpu_widen_bf16(activity->gpu, activity->stream, (float *)(void *)harness->dev_c,
	    (const uint16_t *)(const void *)harness->dev_a, kernel_params(harness));
}

static void enqueue_narrow(struct gpu_activity *activity, size_t i)
{
	const struct harness *const harness = activity->harness;
	(void)i;
	gpu_narrow_bf16(activity->gpu, activity->stream, (uint16_t *)(void *)harness->dev_c,
	    (const float *)(const void *)harness->dev_a, kernel_params(harness));
}

static void enqueue_copy(struct gpu_activity *activity, size_t i)
{
	const struct harness *const harness = activity->harness;
	(void)i;
	gpu_copy(activity->gpu, activity->stream, (float *)(void *)harness->dev_c,
	    (const float *)(const void *)harness->dev_a, kernel_params(harness));
}

static void enqueue_triad(struct gpu_activity *activity, size_t i)
{
	const struct harness *const harness = activity->harness;
	(void)i;
	gpu_triad(activity->gpu, activity->stream, (float *)(void *)harness->dev_c,
	    (const float *)(const void *)harness->dev_a, (const float *)(const void *)harness->dev_b, 0.5F,
	    kernel_params(harness));
}

static void enqueue_empty(struct gpu_activity *activity, size_t i)
{
	(void)i;
	gpu_empty(activity->gpu, activity->stream);
}

static void enqueue_gemm(struct gpu_activity *activity, size_t i)
{
	const struct harness *const harness = activity->harness;
	const size_t third = harness->device_bytes / 2;
	(void)i;
	gpu_gemm_run(activity->gpu, activity->stream, activity->gemm, (uint16_t *)(void *)harness->dev_c,
	    (const uint16_t *)(const void *)harness->dev_d, (const uint16_t *)(const void *)(harness->dev_d + third));
}

static const struct {
	const char *what;
	void (*enqueue)(struct gpu_activity *, size_t);
	double bytes, flop;
} gpu_kernels[] = {
    [GPU_ADAM] = {"gpu_adam", enqueue_adam, 30, 15},
    [GPU_WIDEN] = {"gpu_widen", enqueue_widen, 6, 0},
    [GPU_NARROW] = {"gpu_narrow", enqueue_narrow, 6, 0},
    [GPU_COPY] = {"hbm_copy", enqueue_copy, 8, 0},
    [GPU_TRIAD] = {"hbm_triad", enqueue_triad, 12, 2},
    [GPU_EMPTY] = {"launch", enqueue_empty, 0, 0},
};

struct measured gpu_measured(struct gpu_activity *activity, struct harness *harness, enum gpu_kernel kernel)
{
	const int is_empty = kernel == GPU_EMPTY;
	*activity = (struct gpu_activity){.harness = harness,
	    .gpu = harness->gpus[0],
	    .batch = is_empty ? EMPTY_BATCH : KERNEL_BATCH,
	    .enqueue = gpu_kernels[kernel].enqueue};
	activity->work = (double)activity->batch * (is_empty ? 1 : (double)kernel_params(harness));
	return (struct measured){.activity = {queue_begin, queue_step, queue_end, activity},
	    .what = gpu_kernels[kernel].what,
	    .x = is_empty ? 1 : (double)kernel_params(harness),
	    .bytes_per_unit = gpu_kernels[kernel].bytes,
	    .flop_per_unit = gpu_kernels[kernel].flop,
	    .unit = is_empty ? UNIT_NONE : UNIT_PARAMS_PER_S};
}

struct measured gemm_measured(struct gpu_activity *activity, struct harness *harness, size_t m, size_t n, size_t k)
{
	const double flop = 2.0 * (double)m * (double)n * (double)k;
	*activity = (struct gpu_activity){.harness = harness,
	    .gpu = harness->gpus[0],
	    .batch = flop > 2e12 ? 1 : (size_t)(2e12 / flop) + 1,
	    .enqueue = enqueue_gemm,
	    .gemm = gpu_gemm_new(harness->gpus[0], m, n, k)};
	if (activity->batch > EMPTY_BATCH)
		activity->batch = EMPTY_BATCH;
	activity->work = flop * (double)activity->batch;
	return (struct measured){.activity = {queue_begin, queue_step, queue_end, activity},
	    .what = "gemm",
	    .x = __builtin_cbrt((double)m * (double)n * (double)k),
	    .bytes_per_unit = 0,
	    .flop_per_unit = 1,
	    .unit = UNIT_FLOP_PER_S};
}
