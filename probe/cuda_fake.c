/* SPDX-License-Identifier: GPL-3.0-or-later
 * A device for the tests: the host's memory, every operation done when it is enqueued. An operation enqueued before what it
 * depends on thus gives wrong results. Two devices; never part of dos-probe. */
#include "probe/cuda_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gpu {
	int device;
	pthread_mutex_t mutex; /* of the ranges: the downscale worker pushes beside MAIN */
	struct fake_range read, written;
};

struct fake_range fake_read(const struct gpu *gpu)
{
	return gpu->read;
}

struct fake_range fake_written(const struct gpu *gpu)
{
	return gpu->written;
}

static void extend(struct gpu *gpu, struct fake_range *range, const char *host, size_t bytes)
{
	pthread_mutex_lock(&gpu->mutex);
	range->begin = !range->begin || host < range->begin ? host : range->begin;
	range->end = !range->end || host + bytes > range->end ? host + bytes : range->end;
	range->bytes += bytes;
	pthread_mutex_unlock(&gpu->mutex);
}

int gpu_count(char *reason, size_t reason_size)
{
	snprintf(reason, reason_size, "%s", "");
	return 2;
}

struct gpu *gpu_open(int device, int spin)
{
	struct gpu *const gpu = calloc(1, sizeof *gpu);
	(void)spin;
	if (!gpu)
		abort();
	gpu->device = device;
	pthread_mutex_init(&gpu->mutex, NULL);
	return gpu;
}

void gpu_close(struct gpu *gpu)
{
	if (gpu)
		pthread_mutex_destroy(&gpu->mutex);
	free(gpu);
}

const char *gpu_error(const struct gpu *gpu)
{
	(void)gpu;
	return NULL;
}

void gpu_describe(struct gpu *gpu, struct gpu_info *info)
{
	*info = (struct gpu_info){.name = "fake", .multiprocessors = 1 + gpu->device, .numa_node = -1};
}

void gpu_use(struct gpu *gpu)
{
	(void)gpu;
}

void *gpu_alloc(struct gpu *gpu, size_t bytes)
{
	void *const memory = malloc(bytes ? bytes : 1);
	(void)gpu;
	if (!memory)
		abort();
	memset(memory, 0xff, bytes); /* poison */
	return memory;
}

void gpu_free(struct gpu *gpu, void *memory)
{
	(void)gpu;
	free(memory);
}

void gpu_pin(struct gpu *gpu, void *host, size_t bytes)
{
	(void)gpu, (void)host, (void)bytes;
}

void gpu_unpin(struct gpu *gpu, void *host)
{
	(void)gpu, (void)host;
}

void *gpu_host_alloc(struct gpu *gpu, size_t bytes)
{
	return gpu_alloc(gpu, bytes);
}

void gpu_host_free(struct gpu *gpu, void *host)
{
	gpu_free(gpu, host);
}

struct gpu_stream *gpu_stream_new(struct gpu *gpu)
{
	(void)gpu;
	return malloc(1);
}

struct gpu_event *gpu_event_new(struct gpu *gpu, int timed)
{
	(void)gpu, (void)timed;
	return malloc(1);
}

void gpu_stream_free(struct gpu *gpu, struct gpu_stream *stream)
{
	(void)gpu;
	free(stream);
}

void gpu_event_free(struct gpu *gpu, struct gpu_event *event)
{
	(void)gpu;
	free(event);
}

void gpu_record(struct gpu *gpu, struct gpu_event *event, struct gpu_stream *stream)
{
	(void)gpu, (void)event, (void)stream;
}

void gpu_stream_wait(struct gpu *gpu, struct gpu_stream *stream, struct gpu_event *event)
{
	(void)gpu, (void)stream, (void)event;
}

void gpu_wait(struct gpu *gpu, struct gpu_event *event)
{
	(void)gpu, (void)event;
}

void gpu_wait_all(struct gpu *gpu)
{
	(void)gpu;
}

double gpu_elapsed_s(struct gpu *gpu, struct gpu_event *start, struct gpu_event *end)
{
	(void)gpu, (void)start, (void)end;
	return 1e-6;
}

void gpu_h2d(struct gpu *gpu, struct gpu_stream *stream, void *device, const void *host, size_t bytes)
{
	(void)stream;
	extend(gpu, &gpu->read, host, bytes);
	memcpy(device, host, bytes);
}

void gpu_d2h(struct gpu *gpu, struct gpu_stream *stream, void *host, const void *device, size_t bytes)
{
	(void)stream;
	extend(gpu, &gpu->written, host, bytes);
	memcpy(host, device, bytes);
}

void gpu_adam(struct gpu *gpu, struct gpu_stream *stream, const struct adam_arrays *arrays, size_t n)
{
	(void)gpu, (void)stream;
	kernels_scalar.adam[GRAD_FP32][arrays->out != NULL](arrays, 0, n);
}

void gpu_adam_split(struct gpu *gpu, struct gpu_stream *stream, const struct adam_arrays *arrays, size_t n)
{
	(void)gpu, (void)stream;
	kernels_scalar.adam_split[GRAD_BF16](arrays, 0, n);
}

void gpu_widen_bf16(struct gpu *gpu, struct gpu_stream *stream, float *to, const uint16_t *from, size_t n)
{
	(void)gpu, (void)stream;
	for (size_t i = 0; i < n; i++)
		to[i] = float_of_bf16(from[i]);
}

void gpu_narrow_bf16(struct gpu *gpu, struct gpu_stream *stream, uint16_t *to, const float *from, size_t n)
{
	(void)gpu, (void)stream;
	for (size_t i = 0; i < n; i++)
		to[i] = bf16_of_float(from[i]);
}

void gpu_copy(struct gpu *gpu, struct gpu_stream *stream, float *to, const float *from, size_t n)
{
	(void)gpu, (void)stream;
	memcpy(to, from, n * sizeof to[0]);
}

void gpu_triad(struct gpu *gpu, struct gpu_stream *stream, float *a, const float *b, const float *c, float factor, size_t n)
{
	(void)gpu, (void)stream;
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + factor * c[i];
}

void gpu_empty(struct gpu *gpu, struct gpu_stream *stream)
{
	(void)gpu, (void)stream;
}

struct gpu_gemm *gpu_gemm_new(struct gpu *gpu, size_t m, size_t n, size_t k)
{
	(void)gpu, (void)m, (void)n, (void)k;
	return malloc(1);
}

const char *gpu_gemm_library(const struct gpu_gemm *gemm)
{
	(void)gemm;
	return "fake";
}

void gpu_gemm_run(
    struct gpu *gpu, struct gpu_stream *stream, struct gpu_gemm *gemm, uint16_t *c, const uint16_t *a, const uint16_t *b)
{
	(void)gpu, (void)stream, (void)gemm, (void)c, (void)a, (void)b;
}

void gpu_gemm_free(struct gpu *gpu, struct gpu_gemm *gemm)
{
	(void)gpu;
	free(gemm);
}
