/* SPDX-License-Identifier: GPL-3.0-or-later
 * The contention grid: what CPU kernels, copies and GEMM do to each other, both ways. */
#include <string.h>

#include "probe/activities.h"
#include "probe/cases.h"

enum { COPY_BYTES = 64 << 20 };

/* Copies beside a measurement: "h2d", "d2h" or "duplex". */
struct copies {
	struct gpu_activity in, out;
};

/* Appends the copies of `with` to measured[n..]; returns the new n. */
static size_t add_copies(struct measured measured[], size_t n, struct copies *copies, struct harness *harness,
    const char *with, const char *beside, double beside_threads)
{
	const size_t first = n;
	if (strcmp(with, "d2h") != 0)
		measured[n++] = copy_measured(&copies->in, harness, 0, COPY_H2D, COPY_BYTES);
	if (strcmp(with, "h2d") != 0)
		measured[n++] = copy_measured(&copies->out, harness, 0, COPY_D2H, COPY_BYTES);
	for (size_t i = first; i < n; i++) {
		measured[i].with = beside;
		measured[i].with_x = beside_threads;
		measured[i].x = (double)(n - first); /* directions at once */
	}
	return n;
}

/* Right before its co-runs: the machine of a minute ago may have been another. Slowdowns are taken against it (derive_corun.c). */
static void alone(
    struct harness *harness, const struct probe_case *probe_case, enum cpu_kernel kernel, int threads, const char *label)
{
	struct cpu_activity cpu;
	const struct measured measured = cpu_measured(&cpu, harness, kernel, 0, threads);
	harness_measure(harness, probe_case, label, &measured, 1);
}

static void adam_with_copies(struct harness *harness, const struct probe_case *probe_case, enum cpu_kernel kernel,
    const char *const withs[], size_t n_withs)
{
	int counts[HARNESS_COUNTS_MAX];
	const size_t n_counts = harness_contention_threads(counts, harness);
	harness_order(harness, counts, n_counts);
	for (size_t i = 0; i < n_counts; i++) {
		char label[HARNESS_LABEL_MAX];
		snprintf(label, sizeof label, "t=%d alone", counts[i]);
		alone(harness, probe_case, kernel, counts[i], label);
		for (size_t j = 0; j < n_withs; j++) {
			struct cpu_activity cpu;
			struct copies copies;
			struct measured measured[3] = {cpu_measured(&cpu, harness, kernel, 0, counts[i])};
			measured[0].with = withs[j];
			const size_t n = add_copies(measured, 1, &copies, harness, withs[j], measured[0].what, counts[i]);
			snprintf(label, sizeof label, "t=%d with %s", counts[i], withs[j]);
			harness_measure(harness, probe_case, label, measured, n);
		}
	}
}

static void run_contention_copies(struct harness *harness, const struct probe_case *probe_case)
{
	static const char *const withs[] = {"h2d", "d2h", "duplex"};
	adam_with_copies(harness, probe_case, CPU_ADAM, withs, 3);
}
const struct probe_case case_contention_copies = {
    "contention_copies", "CPU Adam over threads with H2D, D2H and both", CASE_GPU, run_contention_copies};

static void run_contention_fused(struct harness *harness, const struct probe_case *probe_case)
{
	static const char *const withs[] = {"duplex"};
	adam_with_copies(harness, probe_case, CPU_ADAM_FUSED, withs, 1);
}
const struct probe_case case_contention_fused = {
    "contention_fused", "fused CPU Adam over threads with both copies", CASE_GPU, run_contention_fused};

static void adam_with_downscale(
    struct harness *harness, const struct probe_case *probe_case, int threads, int workers, bool has_copies)
{
	struct cpu_activity adam, downscale;
	struct copies copies;
	struct measured measured[4] = {cpu_measured(&adam, harness, CPU_ADAM, 0, threads),
	    cpu_measured(&downscale, harness, CPU_DOWNSCALE, threads, workers)};
	char label[HARNESS_LABEL_MAX];
	measured[0].with = has_copies ? "cpu_downscale+duplex" : "cpu_downscale";
	measured[0].with_x = workers;
	measured[1].with = has_copies ? "cpu_adam+duplex" : "cpu_adam";
	measured[1].with_x = threads;
	const size_t n =
	    has_copies ? add_copies(measured, 2, &copies, harness, "duplex", "cpu_adam+cpu_downscale", threads) : 2;
	snprintf(label, sizeof label, "t=%d u=%d%s", threads, workers, has_copies ? " with duplex" : "");
	harness_measure(harness, probe_case, label, measured, n);
}

/* `threads` of Adam beside `workers` that have cores of their own, or share the team's when there are too few. */
static void one_split(
    struct harness *harness, const struct probe_case *probe_case, int threads, int workers, bool has_copies)
{
	char label[HARNESS_LABEL_MAX];
	snprintf(label, sizeof label, "t=%d alone before u=%d", threads, workers);
	alone(harness, probe_case, CPU_ADAM, threads, label);
	adam_with_downscale(harness, probe_case, threads, workers, has_copies);
}

/* At all and at half the hardware threads. */
static void over_workers(struct harness *harness, const struct probe_case *probe_case, bool has_copies)
{
	const int all = harness->n_cpus, half = all / 2 > 0 ? all / 2 : 1;
	int counts[HARNESS_COUNTS_MAX];
	size_t n = 0;
	for (int workers = 1; workers <= half && workers <= 8; workers *= 2)
		if (!has_copies || workers == 2)
			counts[n++] = workers;
	harness_order(harness, counts, n);
	for (size_t i = 0; i < n; i++) {
		const int workers = counts[i];
		char label[HARNESS_LABEL_MAX];
		snprintf(label, sizeof label, "u=%d alone", workers);
		alone(harness, probe_case, CPU_DOWNSCALE, workers, label);
		if (workers < all)
			one_split(harness, probe_case, all - workers, workers, has_copies);
		one_split(harness, probe_case, all, workers, has_copies);
		if (!harness->quick && half + workers <= all && half != all - workers)
			one_split(harness, probe_case, half, workers, has_copies);
	}
}

static void run_contention_downscale(struct harness *harness, const struct probe_case *probe_case)
{
	over_workers(harness, probe_case, false);
}
const struct probe_case case_contention_downscale = {"contention_downscale",
    "CPU Adam beside the downscale worker, speeds of both, on reserved and on shared cores", CASE_HOST,
    run_contention_downscale};

static void run_contention_all(struct harness *harness, const struct probe_case *probe_case)
{
	over_workers(harness, probe_case, true);
}
const struct probe_case case_contention_all = {
    "contention_all", "CPU Adam, downscale worker and both copies at once", CASE_GPU, run_contention_all};

static void run_contention_gemm(struct harness *harness, const struct probe_case *probe_case)
{
	static const char *const withs[] = {"h2d", "d2h", "duplex"};
	for (size_t i = 0; i < 3; i++) {
		struct gpu_activity gemm;
		struct copies copies;
		struct measured measured[3] = {gemm_measured(&gemm, harness, 4096, 4096, 4096)};
		char label[HARNESS_LABEL_MAX];
		measured[0].with = withs[i];
		const size_t n = add_copies(measured, 1, &copies, harness, withs[i], "gemm", 0);
		snprintf(label, sizeof label, "4096 with %s", withs[i]);
		harness_measure(harness, probe_case, label, measured, n);
		gpu_gemm_free(harness->gpus[0], gemm.gemm);
	}
}
const struct probe_case case_contention_gemm = {
    "contention_gemm", "GEMM beside copies, speeds of both", CASE_STEADY, run_contention_gemm};

/* A polling host thread takes a core of the team; a sleeping one takes none (that is every other measurement here). */
static void run_contention_spin(struct harness *harness, const struct probe_case *probe_case)
{
	const int all = harness->n_cpus;
	for (int i = 0; i < 2; i++) {
		const int threads = i == 0 ? all : all > 1 ? all - 1 : 1;
		struct cpu_activity cpu;
		struct spin_activity spin;
		struct measured measured[2] = {
		    cpu_measured(&cpu, harness, CPU_ADAM, 0, threads), spin_measured(&spin, harness, all - 1)};
		char label[HARNESS_LABEL_MAX];
		measured[0].with = "spin";
		measured[0].with_x = 1;
		snprintf(label, sizeof label, "t=%d alone", threads);
		alone(harness, probe_case, CPU_ADAM, threads, label);
		snprintf(label, sizeof label, "t=%d with one spinning thread", threads);
		harness_measure(harness, probe_case, label, measured, 2);
	}
}
const struct probe_case case_contention_spin = {
    "contention_spin", "CPU Adam beside one polling host thread", CASE_HOST, run_contention_spin};
