/* SPDX-License-Identifier: GPL-3.0-or-later
 * The GPU alone: memory, Adam, casts, GEMM, launches. */
#include "probe/activities.h"
#include "probe/cases.h"
#include "probe/interrupt.h"

static void one_kernel(
    struct harness *harness, const struct probe_case *probe_case, enum gpu_kernel kernel, const char *label)
{
	struct gpu_activity activity;
	const struct measured measured = gpu_measured(&activity, harness, kernel);
	harness_measure(harness, probe_case, label, &measured, 1);
}

static void run_gpu_copy(struct harness *harness, const struct probe_case *probe_case)
{
	one_kernel(harness, probe_case, GPU_COPY, "8 B per element");
}
const struct probe_case case_gpu_copy = {
    "device_local_copy", "HBM copy by a kernel, bytes read and written", CASE_STEADY, run_gpu_copy};

static void run_gpu_triad(struct harness *harness, const struct probe_case *probe_case)
{
	one_kernel(harness, probe_case, GPU_TRIAD, "12 B per element");
}
const struct probe_case case_gpu_triad = {"device_local_triad", "HBM triad by a kernel", CASE_STEADY, run_gpu_triad};

static void run_gpu_adam(struct harness *harness, const struct probe_case *probe_case)
{
	one_kernel(harness, probe_case, GPU_ADAM, "fp32 states, bf16 output");
}
const struct probe_case case_gpu_adam = {
    "gpu_adam", "Adam on the GPU, fp32 states and bf16 output, 30 B per parameter", CASE_STEADY, run_gpu_adam};

static void run_gpu_casts(struct harness *harness, const struct probe_case *probe_case)
{
	one_kernel(harness, probe_case, GPU_WIDEN, "bf16 to fp32");
	one_kernel(harness, probe_case, GPU_NARROW, "fp32 to bf16");
}
const struct probe_case case_gpu_casts = {
    "gpu_casts", "casts of gradients and parameters, 6 B per parameter", CASE_STEADY, run_gpu_casts};

/* Squares for the curve, and the layers of a 7 B model (hidden 4096, FFN 11008, 2048 tokens), forward shapes. */
static void run_gpu_gemm(struct harness *harness, const struct probe_case *probe_case)
{
	static const size_t shapes[][3] = {{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048},
	    {4096, 4096, 4096}, {8192, 8192, 8192}, {2048, 4096, 4096}, {2048, 11008, 4096}, {2048, 4096, 11008}};
	const size_t n_shapes = harness->quick ? 6 : sizeof shapes / sizeof shapes[0];
	struct gpu *const gpu = harness->gpus[0];
	gpu_use(gpu);
	/* true bf16 numbers, not halves of fp32 words */
	gpu_narrow_bf16(gpu, NULL, (uint16_t *)(void *)harness->dev_d, (const float *)(const void *)harness->dev_a,
	    harness->device_bytes / 4);
	gpu_h2d(gpu, NULL, harness->dev_d + harness->device_bytes / 2, harness->dev_d, 0);
	gpu_narrow_bf16(gpu, NULL, (uint16_t *)(void *)(harness->dev_d + harness->device_bytes / 2),
	    (const float *)(const void *)harness->dev_a, harness->device_bytes / 4);
	gpu_wait_all(gpu);
	for (size_t i = 0; i < n_shapes && !interrupt_seen(); i++) {
		struct gpu_activity activity;
		char label[HARNESS_LABEL_MAX];
		struct measured measured = gemm_measured(&activity, harness, shapes[i][0], shapes[i][1], shapes[i][2]);
		if (i >= 6)
			measured.what = "gemm_layer";
		snprintf(label, sizeof label, "%zu x %zu x %zu", shapes[i][0], shapes[i][1], shapes[i][2]);
		struct result *const result = harness_measure(harness, probe_case, label, &measured, 1);
		if (result && result->status == RESULT_PASSED)
			snprintf(result->note, sizeof result->note, "%.150s", gpu_gemm_library(activity.gemm));
		gpu_gemm_free(gpu, activity.gemm);
	}
}
const struct probe_case case_gpu_gemm = {"gpu_gemm", "bf16 GEMM, squares and layer shapes", CASE_STEADY, run_gpu_gemm};

static void run_gpu_launch(struct harness *harness, const struct probe_case *probe_case)
{
	one_kernel(harness, probe_case, GPU_EMPTY, "empty kernels, queued");
}
const struct probe_case case_gpu_launch = {"gpu_launch", "launches of an empty kernel, back to back", CASE_STEADY, run_gpu_launch};
