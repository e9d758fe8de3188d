/* SPDX-License-Identifier: GPL-3.0-or-later
 * Takes the place of probe/cuda where there is no nvcc: no device, every GPU case is waived with the reason. */
#include "probe/cuda/cuda_cases.h"

#include <stdio.h>

int gpu_count(char *reason, size_t reason_size)
{
	snprintf(reason, reason_size, "built without CUDA (no nvcc)");
	return 0;
}

struct gpu *gpu_open(int device, int spin)
{
	(void)device, (void)spin;
	return NULL;
}

void gpu_close(struct gpu *gpu)
{
	(void)gpu;
}

const char *gpu_error(const struct gpu *gpu)
{
	(void)gpu;
	return "built without CUDA (no nvcc)";
}

void gpu_describe(struct gpu *gpu, struct gpu_info *info)
{
	(void)gpu, (void)info;
}

void gpu_use(struct gpu *gpu)
{
	(void)gpu;
}

void *gpu_alloc(struct gpu *gpu, size_t bytes)
{
	(void)gpu, (void)bytes;
	return NULL;
}

void gpu_free(struct gpu *gpu, void *memory)
{
	(void)gpu, (void)memory;
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
	(void)gpu, (void)bytes;
	return NULL;
}

void gpu_host_free(struct gpu *gpu, void *host)
{
	(void)gpu, (void)host;
}

struct gpu_stream *gpu_stream_new(struct gpu *gpu)
{
	(void)gpu;
	return NULL;
}

struct gpu_event *gpu_event_new(struct gpu *gpu, int timed)
{
	(void)gpu, (void)timed;
	return NULL;
}

void gpu_stream_free(struct gpu *gpu, struct gpu_stream *stream)
{
	(void)gpu, (void)stream;
}

void gpu_event_free(struct gpu *gpu, struct gpu_event *event)
{
	(void)gpu, (void)event;
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
	return 0;
}

void gpu_h2d(struct gpu *gpu, struct gpu_stream *stream, void *device, const void *host, size_t bytes)
{
	(void)gpu, (void)stream, (void)device, (void)host, (void)bytes;
}

void gpu_d2h(struct gpu *gpu, struct gpu_stream *stream, void *host, const void *device, size_t bytes)
{
	(void)gpu, (void)stream, (void)host, (void)device, (void)bytes;
}

void gpu_adam(struct gpu *gpu, struct gpu_stream *stream, const struct adam_arrays *arrays, size_t n)
{
	(void)gpu, (void)stream, (void)arrays, (void)n;
}

void gpu_adam_split(struct gpu *gpu, struct gpu_stream *stream, const struct adam_arrays *arrays, size_t n)
{
	(void)gpu, (void)stream, (void)arrays, (void)n;
}

void gpu_widen_bf16(struct gpu *gpu, struct gpu_stream *stream, float *to, const uint16_t *from, size_t n)
{
	(void)gpu, (void)stream, (void)to, (void)from, (void)n;
}

void gpu_narrow_bf16(struct gpu *gpu, struct gpu_stream *stream, uint16_t *to, const float *from, size_t n)
{
	(void)gpu, (void)stream, (void)to, (void)from, (void)n;
}

void gpu_copy(struct gpu *gpu, struct gpu_stream *stream, float *to, const float *from, size_t n)
{
	(void)gpu, (void)stream, (void)to, (void)from, (void)n;
}

void gpu_triad(struct gpu *gpu, struct gpu_stream *stream, float *a, const float *b, const float *c, float factor, size_t n)
{
	(void)gpu, (void)stream, (void)a, (void)b, (void)c, (void)factor, (void)n;
}

void gpu_empty(struct gpu *gpu, struct gpu_stream *stream)
{
	(void)gpu, (void)stream;
}

struct gpu_gemm *gpu_gemm_new(struct gpu *gpu, size_t m, size_t n, size_t k)
{
	(void)gpu, (void)m, (void)n, (void)k;
	return NULL;
}

const char *gpu_gemm_library(const struct gpu_gemm *gemm)
{
	(void)gemm;
	return "built without CUDA (no nvcc)";
}

void gpu_gemm_run(
    struct gpu *gpu, struct gpu_stream *stream, struct gpu_gemm *gemm, uint16_t *c, const uint16_t *a, const uint16_t *b)
{
	(void)gpu, (void)stream, (void)gemm, (void)c, (void)a, (void)b;
}

void gpu_gemm_free(struct gpu *gpu, struct gpu_gemm *gemm)
{
	(void)gpu, (void)gemm;
}
