/* SPDX-License-Identifier: GPL-3.0-or-later
 * Copies between host and GPU: sizes, duplex, pageable, the pushes and flushes of ZeRO-3, all GPUs, pinning. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/base/arena.h"
#include "probe/activities.h"
#include "probe/cases.h"
#include "probe/clock.h"
#include "probe/interrupt.h"

static void over_sizes(struct harness *harness, const struct probe_case *probe_case, enum copy_kind kind)
{
	const size_t step = harness->quick ? 16 : 4;
	for (size_t bytes = 4096; bytes <= harness->pool.copy_bytes && bytes <= harness->device_bytes; bytes *= step) {
		struct gpu_activity activity;
		char label[HARNESS_LABEL_MAX];
		const struct measured measured = copy_measured(&activity, harness, 0, kind, bytes);
		snprintf(label, sizeof label, bytes >= 1 << 20 ? "%zu MiB" : "%zu KiB",
		    bytes >= 1 << 20 ? bytes >> 20 : bytes >> 10);
		harness_measure(harness, probe_case, label, &measured, 1);
	}
}

static void run_link_h2d(struct harness *harness, const struct probe_case *probe_case)
{
	over_sizes(harness, probe_case, COPY_H2D);
}
const struct probe_case case_link_h2d = {
    "host_to_device_memcpy_ce", "pinned H2D, 4 KiB to 1 GiB, queued", CASE_STEADY, run_link_h2d};

static void run_link_d2h(struct harness *harness, const struct probe_case *probe_case)
{
	over_sizes(harness, probe_case, COPY_D2H);
}
const struct probe_case case_link_d2h = {
    "device_to_host_memcpy_ce", "pinned D2H, 4 KiB to 1 GiB, queued", CASE_STEADY, run_link_d2h};

enum { LARGE_COPY_BYTES = 64 << 20 };

static void run_link_duplex(struct harness *harness, const struct probe_case *probe_case)
{
	struct gpu_activity in, out;
	struct measured both[2] = {copy_measured(&in, harness, 0, COPY_H2D, LARGE_COPY_BYTES),
	    copy_measured(&out, harness, 0, COPY_D2H, LARGE_COPY_BYTES)};
	both[0].with = "d2h";
	both[1].with = "h2d";
	harness_measure(harness, probe_case, "64 MiB both ways", both, 2);
}
const struct probe_case case_link_duplex = {
    "bidirectional_memcpy_ce", "pinned copies both ways, each direction reported", CASE_GPU, run_link_duplex};

/* Three copies queued at once on three streams: the time of the first over the time of all. 1/3: the engine runs one at a
 * time; 1: it shares. */
static double first_over_all(struct harness *harness, enum copy_kind kind)
{
	struct gpu *const gpu = harness->gpus[0];
	struct gpu_stream *streams[3];
	struct gpu_event *const start = gpu_event_new(gpu, 1), *ends[3];
	const size_t bytes = harness->pool.copy_bytes / 4;
	for (size_t i = 0; i < 3; i++) {
		streams[i] = gpu_stream_new(gpu);
		ends[i] = gpu_event_new(gpu, 1);
	}
	gpu_record(gpu, start, streams[0]);
	for (size_t i = 0; i < 3; i++) {
		if (kind == COPY_H2D)
			gpu_h2d(gpu, streams[i], harness->dev_a + i * bytes, harness->pool.dma_in + i * bytes, bytes);
		else
			gpu_d2h(gpu, streams[i], harness->pool.dma_out + i * bytes, harness->dev_b + i * bytes, bytes);
		gpu_record(gpu, ends[i], streams[i]);
	}
	gpu_wait_all(gpu);
	double first_s = INFINITY, last_s = 0;
	for (size_t i = 0; i < 3; i++) {
		const double end_s = gpu_elapsed_s(gpu, start, ends[i]);
		first_s = end_s < first_s ? end_s : first_s;
		last_s = end_s > last_s ? end_s : last_s;
		gpu_stream_free(gpu, streams[i]);
		gpu_event_free(gpu, ends[i]);
	}
	gpu_event_free(gpu, start);
	return first_s / last_s;
}

static void run_link_streams(struct harness *harness, const struct probe_case *probe_case)
{
	static const char *const labels[] = {"three H2D copies, first/all", "three D2H copies, first/all"};
	enum { N = 7 };
	for (int kind = COPY_H2D; kind <= COPY_D2H; kind++) {
		double samples[N];
		for (size_t i = 0; i < N; i++)
			samples[i] = first_over_all(harness, (enum copy_kind)kind);
		const struct measured measured = {
		    .what = kind == COPY_H2D ? "h2d_first_frac" : "d2h_first_frac", .unit = UNIT_NONE, .x = 3};
		harness_record(harness, probe_case, labels[kind], &measured, samples, N);
	}
}
const struct probe_case case_link_streams = {
    "copy_streams", "three streams on one engine: 0.33 one at a time, 1 shared", CASE_STEADY, run_link_streams};

/* ---- ordinary memory */

static char *ordinary_memory(size_t bytes)
{
	char *const memory = xmalloc(bytes, 1);
	memset(memory, 0x11, bytes);
	return memory;
}

static void run_link_pageable(struct harness *harness, const struct probe_case *probe_case)
{
	char *const host = ordinary_memory(harness->pool.copy_bytes);
	for (int kind = COPY_H2D; kind <= COPY_D2H; kind++) {
		for (size_t bytes = 1 << 20; bytes <= LARGE_COPY_BYTES; bytes *= 8) {
			struct gpu_activity activity;
			char label[HARNESS_LABEL_MAX];
			const struct measured measured =
			    pageable_measured(&activity, harness, (enum copy_kind)kind, bytes, host);
			snprintf(label, sizeof label, "%s %zu MiB", kind == COPY_H2D ? "H2D" : "D2H", bytes >> 20);
			harness_measure(harness, probe_case, label, &measured, 1);
		}
	}
	free(host);
}
const struct probe_case case_link_pageable = {
    "pageable_memcpy_ce", "copies from and to ordinary memory, 1 to 64 MiB", CASE_GPU, run_link_pageable};

/* ZeRO-3: a host cast, then a pageable copy (push); or a pageable copy, then a host conversion (flush). */
struct pageable_work {
	struct gpu_activity copy;
	struct cpu_activity cpu;
	uint16_t *half; /* ordinary memory */
	float *wide;
};

enum { PAGEABLE_PARAMS = 16 << 20 };

static void pageable_begin(void *context)
{
	struct pageable_work *const work = context;
	work->cpu.team = team_new(work->cpu.threads, work->cpu.cpus);
	team_bind_caller(work->cpu.team);
	gpu_use(work->copy.gpu);
	work->copy.stream = gpu_stream_new(work->copy.gpu);
	work->copy.events[0] = gpu_event_new(work->copy.gpu, 0);
}

static void pageable_end(void *context)
{
	struct pageable_work *const work = context;
	team_free(work->cpu.team);
	gpu_event_free(work->copy.gpu, work->copy.events[0]);
	gpu_stream_free(work->copy.gpu, work->copy.stream);
}

static void wait_copy(struct pageable_work *work)
{
	gpu_record(work->copy.gpu, work->copy.events[0], work->copy.stream);
	gpu_wait(work->copy.gpu, work->copy.events[0]);
}

static double push_step(void *context)
{
	struct pageable_work *const work = context;
	struct stream_call cast = work->cpu.stream;
	cast.arrays.half = work->half;
	team_run(work->cpu.team, &(struct team_work){stream_call_run, &cast, PAGEABLE_PARAMS, KERNEL_GRAIN});
	gpu_h2d(work->copy.gpu, work->copy.stream, work->copy.device, work->half, 2 * (size_t)PAGEABLE_PARAMS);
	wait_copy(work);
	return PAGEABLE_PARAMS;
}

static void widen(void *context, size_t begin, size_t end)
{
	const struct pageable_work *const work = context;
	for (size_t i = begin; i < end; i++)
		work->wide[i] = float_of_bf16(work->half[i]);
}

static double flush_step(void *context)
{
	struct pageable_work *const work = context;
	gpu_d2h(work->copy.gpu, work->copy.stream, work->half, work->copy.device, 2 * (size_t)PAGEABLE_PARAMS);
	wait_copy(work);
	team_run(work->cpu.team, &(struct team_work){widen, work, PAGEABLE_PARAMS, KERNEL_GRAIN});
	return PAGEABLE_PARAMS;
}

static void measure_pageable(struct harness *harness, const struct probe_case *probe_case, bool is_push)
{
	struct pageable_work work;
	cpu_measured(&work.cpu, harness, CPU_DOWNSCALE, 0, harness->n_cpus);
	copy_measured(&work.copy, harness, 0, is_push ? COPY_H2D : COPY_D2H, LARGE_COPY_BYTES);
	work.half = (uint16_t *)(void *)ordinary_memory(2 * (size_t)PAGEABLE_PARAMS);
	work.wide = (float *)(void *)ordinary_memory(4 * (size_t)PAGEABLE_PARAMS);
	const struct measured measured = {
	    .activity = {pageable_begin, is_push ? push_step : flush_step, pageable_end, &work},
	    .what = is_push ? "push_pageable" : "flush_pageable",
	    .x = harness->n_cpus,
	    .bytes_per_unit = 12, /* read 4, write 2, staged copy 2+2, DMA 2; and the same backwards */
	    .unit = UNIT_PARAMS_PER_S};
	harness_measure(harness, probe_case, "16 M parameters", &measured, 1);
	free(work.half);
	free(work.wide);
}

static void run_link_push(struct harness *harness, const struct probe_case *probe_case)
{
	measure_pageable(harness, probe_case, true);
}
const struct probe_case case_link_push = {
    "push_pageable", "host cast to 16 bit, then a pageable H2D copy", CASE_GPU, run_link_push};

static void run_link_flush(struct harness *harness, const struct probe_case *probe_case)
{
	measure_pageable(harness, probe_case, false);
}
const struct probe_case case_link_flush = {
    "flush_pageable", "pageable D2H copy of 16 bit, then a host cast to fp32", CASE_GPU, run_link_flush};

/* ---- several GPUs, pinning */

/* Copies of one kind, or of both, on the first n GPUs at once. Each GPU through its rank's memory: two engines that write the same
 * lines at once wait for each other. */
static void measure_all_gpus(struct harness *harness, const struct probe_case *probe_case, char *const devices[], int n,
    bool has_h2d, bool has_d2h)
{
	struct gpu_activity activities[ACTIVITIES_MAX];
	struct measured measured[ACTIVITIES_MAX] = {0};
	char label[HARNESS_LABEL_MAX];
	size_t n_measured = 0;
	for (int i = 0; i < 2 * n; i++) {
		const enum copy_kind kind = i % 2 ? COPY_D2H : COPY_H2D;
		const int gpu = i / 2;
		if (kind == COPY_H2D ? !has_h2d : !has_d2h)
			continue;
		struct measured *const one = &measured[n_measured];
		*one = copy_rank_measured(&activities[n_measured++], harness, gpu, kind, LARGE_COPY_BYTES, devices[i]);
		one->with = has_h2d && has_d2h ? "all" : "all, one way";
		one->with_x = gpu;
	}
	snprintf(label, sizeof label, "64 MiB %s on every GPU", !has_d2h ? "H2D" : !has_h2d ? "D2H" : "both ways");
	harness_measure(harness, probe_case, label, measured, n_measured);
}

static void run_link_all_gpus(struct harness *harness, const struct probe_case *probe_case)
{
	char *devices[ACTIVITIES_MAX];
	struct err err = {0};
	const int n = harness->n_gpus < ACTIVITIES_MAX / 2 ? harness->n_gpus : ACTIVITIES_MAX / 2;
	if (n < 2 || harness_rank_pools(harness, &err)) {
		harness_waive(harness, probe_case, n < 2 ? "one GPU" : err.text);
		return;
	}
	for (int i = 0; i < 2 * n; i++) {
		gpu_use(harness->gpus[i / 2]);
		devices[i] = gpu_alloc(harness->gpus[i / 2], harness->rank_pools[i / 2].copy_bytes);
	}
	measure_all_gpus(harness, probe_case, devices, n, true, false);
	measure_all_gpus(harness, probe_case, devices, n, false, true);
	measure_all_gpus(harness, probe_case, devices, n, true, true);
	for (int i = 0; i < 2 * n; i++)
		gpu_free(harness->gpus[i / 2], devices[i]);
	gpu_use(harness->gpus[0]);
}
const struct probe_case case_link_all_gpus = {
    "all_gpus_bidirectional_memcpy_ce", "copies on all GPUs at once: to them, from them, both ways", CASE_GPU, run_link_all_gpus};

static void run_link_pinning(struct harness *harness, const struct probe_case *probe_case)
{
	enum { BYTES = 256 << 20, N = 3 };
	double registered[N], allocated[N];
	struct gpu *const gpu = harness->gpus[0];
	for (size_t i = 0; i < N && !interrupt_seen(); i++) {
		char *const memory = ordinary_memory(BYTES);
		double start_s = clock_now_s();
		gpu_pin(gpu, memory, BYTES);
		registered[i] = (double)BYTES / (clock_now_s() - start_s);
		gpu_unpin(gpu, memory);
		free(memory);
		start_s = clock_now_s();
		void *const host = gpu_host_alloc(gpu, BYTES);
		allocated[i] = (double)BYTES / (clock_now_s() - start_s);
		gpu_host_free(gpu, host);
		if (i + 1 == N) {
			harness_record(harness, probe_case, "register 256 MiB",
			    &(struct measured){.what = "pin_register", .unit = UNIT_BYTES_PER_S, .x = BYTES}, registered,
			    N);
			harness_record(harness, probe_case, "allocate 256 MiB",
			    &(struct measured){.what = "pin_allocate", .unit = UNIT_BYTES_PER_S, .x = BYTES}, allocated, N);
		}
	}
}
const struct probe_case case_link_pinning = {
    "pinning", "cost of page-locking touched memory, and of allocating it locked", CASE_STEADY, run_link_pinning};
