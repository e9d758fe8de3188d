/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cuda_cases: everything the probe asks of a GPU, in plain C types. Implemented by the CUDA files beside it;
 * cuda_none.c takes their place where there is no nvcc.
 *
 * Invariant: the first failing call of a struct gpu stays in gpu_error until the end; later calls do nothing. Callers enqueue
 * without testing and test gpu_error where they wait. Waiting threads sleep unless the GPU was opened with spin = 1.
 */
#ifndef PROBE_CUDA_CASES_H
#define PROBE_CUDA_CASES_H

#include <stddef.h>
#include <stdint.h>

#include "probe/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpu; /* one device, usable from several threads after gpu_use in each */
struct gpu_stream;
struct gpu_event;
struct gpu_gemm;

struct gpu_info {
	char name[256], uuid[64], pci_bus[32];
	int capability_major, capability_minor, multiprocessors;
	int driver, runtime; /* 12040 is 12.4 */
	int numa_node; /* of the PCI device, -1 unknown */
	int clock_kHz, memory_clock_kHz, ecc;
	double memory_bytes, free_bytes, l2_bytes;
	double link_Bps; /* PCIe limit of one direction from generation and width, 0 unknown */
	char link[32]; /* "gen5 x16", "" unknown */
};

/* Number of usable devices; 0 with a reason; -1 with a reason when the driver is too old for this binary. */
int gpu_count(char *reason, size_t reason_size);
struct gpu *gpu_open(int device, int spin); /* never NULL: look at gpu_error */
void gpu_close(struct gpu *gpu); /* frees what it allocated */
const char *gpu_error(const struct gpu *gpu); /* NULL: fine */
void gpu_describe(struct gpu *gpu, struct gpu_info *info);
void gpu_use(struct gpu *gpu); /* makes it the calling thread's device */

void *gpu_alloc(struct gpu *gpu, size_t bytes);
void gpu_free(struct gpu *gpu, void *memory);
void gpu_pin(struct gpu *gpu, void *host, size_t bytes); /* page-locks for all devices */
void gpu_unpin(struct gpu *gpu, void *host);
void *gpu_host_alloc(struct gpu *gpu, size_t bytes); /* page-locked */
void gpu_host_free(struct gpu *gpu, void *host);

struct gpu_stream *gpu_stream_new(struct gpu *gpu);
struct gpu_event *gpu_event_new(struct gpu *gpu, int timed);
void gpu_stream_free(struct gpu *gpu, struct gpu_stream *stream);
void gpu_event_free(struct gpu *gpu, struct gpu_event *event);
void gpu_record(struct gpu *gpu, struct gpu_event *event, struct gpu_stream *stream);
void gpu_stream_wait(struct gpu *gpu, struct gpu_stream *stream, struct gpu_event *event);
void gpu_wait(struct gpu *gpu, struct gpu_event *event); /* the host waits */
void gpu_wait_all(struct gpu *gpu);
double gpu_elapsed_s(struct gpu *gpu, struct gpu_event *start, struct gpu_event *end); /* timed, both complete */

/* Enqueued on a stream. */
void gpu_h2d(struct gpu *gpu, struct gpu_stream *stream, void *device, const void *host, size_t bytes);
void gpu_d2h(struct gpu *gpu, struct gpu_stream *stream, void *host, const void *device, size_t bytes);
void gpu_adam(struct gpu *gpu, struct gpu_stream *stream, const struct adam_arrays *arrays, size_t n); /* fp32 gradients */
/* On split master parameters (kernels.h): m, v, hi, lo in place; bf16 gradients. */
void gpu_adam_split(struct gpu *gpu, struct gpu_stream *stream, const struct adam_arrays *arrays, size_t n);
void gpu_widen_bf16(struct gpu *gpu, struct gpu_stream *stream, float *to, const uint16_t *from, size_t n);
void gpu_narrow_bf16(struct gpu *gpu, struct gpu_stream *stream, uint16_t *to, const float *from, size_t n);
void gpu_copy(struct gpu *gpu, struct gpu_stream *stream, float *to, const float *from, size_t n);
void gpu_triad(
    struct gpu *gpu, struct gpu_stream *stream, float *a, const float *b, const float *c, float factor, size_t n);
void gpu_empty(struct gpu *gpu, struct gpu_stream *stream);

/* C[m,n] = A[m,k] B[k,n], bf16 in and out, fp32 sums; through cuBLASLt where it can be opened, else an own kernel. */
struct gpu_gemm *gpu_gemm_new(struct gpu *gpu, size_t m, size_t n, size_t k);
const char *gpu_gemm_library(const struct gpu_gemm *gemm); /* "cublasLt 13.1", "own kernel: reason" */
void gpu_gemm_run(
    struct gpu *gpu, struct gpu_stream *stream, struct gpu_gemm *gemm, uint16_t *c, const uint16_t *a, const uint16_t *b);
void gpu_gemm_free(struct gpu *gpu, struct gpu_gemm *gemm);

#ifdef __cplusplus
}
#endif

#endif
