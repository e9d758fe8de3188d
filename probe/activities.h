/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * activities: what the cases watch: CPU kernels by a pinned team, copies by an engine, kernels on the GPU.
 *
 * Each maker fills a context that the caller keeps during the measurement and returns the struct measured around it.
 */
#ifndef PROBE_ACTIVITIES_H
#define PROBE_ACTIVITIES_H

#include "probe/harness.h"
#include "probe/team.h"

enum cpu_kernel {
	CPU_ADAM, /* fp32 gradients, no 16-bit output */
	CPU_ADAM_FUSED, /* bf16 gradients, bf16 output */
	CPU_ADAM_SPLIT, /* bf16 gradients, parameters as halves */
	CPU_ADAM_OUT, /* fp32 gradients, bf16 output */
	CPU_STREAM, /* Adam-shaped: four reads, three writes */
	CPU_UNSCALE,
	CPU_DOWNSCALE,
	CPU_DOWNSCALE_FP16,
	CPU_COPY,
	CPU_TRIAD,
	N_CPU_KERNELS
};

struct cpu_activity {
	const struct pool *pool;
	enum cpu_kernel kernel;
	int threads, cpus[TOPOLOGY_CPUS_MAX];
	size_t n, chunk, at; /* elements used, per step, next */
	struct team *team;
	struct adam_call adam;
	struct stream_call stream;
};

/* threads from place `first` of the rank's CPUs on, wrapping round; parameters per second. */
struct measured cpu_measured(
    struct cpu_activity *activity, const struct harness *harness, enum cpu_kernel kernel, int first, int threads);
/* The same by the first `threads` CPUs of the rank of a GPU, in that rank's memory. */
struct measured cpu_rank_measured(
    struct cpu_activity *activity, const struct harness *harness, enum cpu_kernel kernel, int rank, int threads);
double cpu_kernel_bytes(enum cpu_kernel kernel);

/* One thread that spins on the CPU at place `first`: what a host that polls the GPU does. Hidden. */
struct spin_activity {
	int cpu;
	const struct topology *topology;
};
struct measured spin_measured(struct spin_activity *activity, const struct harness *harness, int first);

enum { QUEUE_DEPTH = 3 };

/* Work queued on one stream, QUEUE_DEPTH batches ahead, so that the device never waits for the host. */
struct gpu_activity {
	struct harness *harness;
	struct gpu *gpu;
	struct gpu_stream *stream;
	struct gpu_event *events[QUEUE_DEPTH];
	size_t turn;
	double work; /* of a batch */
	size_t bytes, batch; /* of a copy or kernel; how many a batch */
	int is_pageable;
	void (*enqueue)(struct gpu_activity *activity, size_t i); /* one of a batch */
	struct gpu_gemm *gemm;
	char *host, *device; /* copies */
	size_t host_bytes;
};

enum copy_kind { COPY_H2D, COPY_D2H };
/* Copies of `bytes` each through host memory of the pool; bytes per second. `device` counts from 0. */
struct measured copy_measured(
    struct gpu_activity *activity, struct harness *harness, int device, enum copy_kind kind, size_t bytes);
/* The same on the GPU of a rank through that rank's memory, so that no two ranks touch the same; device: as much of that GPU's. */
struct measured copy_rank_measured(struct gpu_activity *activity, struct harness *harness, int rank, enum copy_kind kind,
    size_t bytes, char *device);
/* The same as the first from ordinary memory (`host`), one at a time. */
struct measured pageable_measured(
    struct gpu_activity *activity, struct harness *harness, enum copy_kind kind, size_t bytes, char *host);

enum gpu_kernel { GPU_ADAM, GPU_WIDEN, GPU_NARROW, GPU_COPY, GPU_TRIAD, GPU_EMPTY };
struct measured gpu_measured(struct gpu_activity *activity, struct harness *harness, enum gpu_kernel kernel);
/* FLOP per second of C[m,n] = A[m,k] B[k,n]; the caller frees activity->gemm. */
struct measured gemm_measured(struct gpu_activity *activity, struct harness *harness, size_t m, size_t n, size_t k);

#endif
