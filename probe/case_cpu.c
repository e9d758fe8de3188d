/* SPDX-License-Identifier: GPL-3.0-or-later
 * CPU kernels alone, over thread counts; NUMA, SMT, subgroup overhead. */
#include <string.h>
#include <sys/mman.h>

#include "probe/activities.h"
#include "probe/cases.h"
#include "probe/clock.h"
#include "probe/interrupt.h"

static void over_threads(struct harness *harness, const struct probe_case *probe_case, enum cpu_kernel kernel)
{
	int counts[HARNESS_COUNTS_MAX];
	const size_t n = harness_thread_counts(counts, harness);
	harness_order(harness, counts, n);
	for (size_t i = 0; i < n; i++) {
		struct cpu_activity activity;
		char label[HARNESS_LABEL_MAX];
		const struct measured measured = cpu_measured(&activity, harness, kernel, 0, counts[i]);
		snprintf(label, sizeof label, "t=%d", counts[i]);
		harness_measure(harness, probe_case, label, &measured, 1);
	}
}

#define OVER_THREADS(name, kernel, text) \
	static void run_##name(struct harness *harness, const struct probe_case *probe_case) \
	{ \
		over_threads(harness, probe_case, kernel); \
	} \
	const struct probe_case case_##name = {#name, text, CASE_HOST, run_##name};

OVER_THREADS(cpu_copy, CPU_COPY, "DRAM copy past the cache, 8 B per element, over threads")
OVER_THREADS(cpu_stream, CPU_STREAM, "Adam-shaped stream, four reads and three writes, 28 B per parameter, over threads")
OVER_THREADS(cpu_adam, CPU_ADAM, "Adam, fp32 gradients, 28 B per parameter, over threads")
OVER_THREADS(cpu_adam_fused, CPU_ADAM_FUSED, "Adam, bf16 gradients and bf16 output, 28 B per parameter, over threads")
OVER_THREADS(
    cpu_adam_split, CPU_ADAM_SPLIT, "Adam on split master parameters, bf16 gradients, 26 B per parameter, over threads")
OVER_THREADS(cpu_unscale, CPU_UNSCALE, "unscale of fp32 gradients in place, 8 B per parameter, over threads")

/* Kernels that no quantity of the profile needs: one thread, half of them and all. */
static void at_three_counts(struct harness *harness, const struct probe_case *probe_case, enum cpu_kernel kernel)
{
	const int counts[] = {1, harness->n_cpus / 2, harness->n_cpus};
	int last = 0;
	for (size_t i = 0; i < 3; i++) {
		struct cpu_activity activity;
		char label[HARNESS_LABEL_MAX];
		if (counts[i] <= last)
			continue;
		last = counts[i];
		const struct measured measured = cpu_measured(&activity, harness, kernel, 0, counts[i]);
		snprintf(label, sizeof label, "t=%d", counts[i]);
		harness_measure(harness, probe_case, label, &measured, 1);
	}
}

static void run_cpu_triad(struct harness *harness, const struct probe_case *probe_case)
{
	at_three_counts(harness, probe_case, CPU_TRIAD);
}
const struct probe_case case_cpu_triad = {"cpu_triad", "DRAM triad past the cache, 12 B per element", CASE_HOST, run_cpu_triad};

static void run_cpu_adam_out(struct harness *harness, const struct probe_case *probe_case)
{
	at_three_counts(harness, probe_case, CPU_ADAM_OUT);
}
const struct probe_case case_cpu_adam_out = {
    "cpu_adam_out", "Adam, fp32 gradients and bf16 output, 30 B per parameter", CASE_HOST, run_cpu_adam_out};

static void run_cpu_downscale(struct harness *harness, const struct probe_case *probe_case)
{
	struct cpu_activity activity;
	over_threads(harness, probe_case, CPU_DOWNSCALE);
	const struct measured measured = cpu_measured(&activity, harness, CPU_DOWNSCALE_FP16, 0, harness->n_cpus);
	harness_measure(harness, probe_case, "fp16", &measured, 1);
}
const struct probe_case case_cpu_downscale = {"cpu_downscale",
    "fp32 to bf16 past the cache, 6 B per parameter, over threads; fp16 at all threads", CASE_HOST, run_cpu_downscale};

/* ---- what one subgroup costs besides its parameters: fork and join of the team */

struct region {
	struct cpu_activity cpu;
};

static void nothing(void *context, size_t begin, size_t end)
{
	(void)context, (void)begin, (void)end;
}

static double region_step(void *context)
{
	struct region *const region = context;
	enum { REGIONS = 50 };
	for (int i = 0; i < REGIONS; i++)
		team_run(region->cpu.team, &(struct team_work){nothing, NULL, (size_t)region->cpu.threads, 1});
	return REGIONS;
}

static void run_cpu_subgroup(struct harness *harness, const struct probe_case *probe_case)
{
	struct region region;
	struct measured measured = cpu_measured(&region.cpu, harness, CPU_ADAM, 0, harness->n_cpus);
	measured.activity.step = region_step;
	measured.activity.context = &region;
	measured.what = "region";
	measured.unit = UNIT_NONE;
	measured.bytes_per_unit = measured.flop_per_unit = 0;
	harness_measure(harness, probe_case, "fork-join", &measured, 1);
	static const size_t sizes[] = {1000000, 10000000};
	for (size_t i = 0; i < 2; i++) {
		char label[HARNESS_LABEL_MAX];
		measured = cpu_measured(&region.cpu, harness, CPU_ADAM, 0, harness->n_cpus);
		region.cpu.chunk = sizes[i];
		measured.what = "cpu_adam_subgroup";
		measured.x = (double)sizes[i];
		snprintf(label, sizeof label, "S=%zuM", sizes[i] / 1000000);
		harness_measure(harness, probe_case, label, &measured, 1);
	}
}
const struct probe_case case_cpu_subgroup = {
    "cpu_subgroup", "forking and joining the team; Adam in regions of 1 M and 10 M parameters", CASE_HOST, run_cpu_subgroup};

/* ---- siblings of one core, data in its cache: core-limited by construction */

static void run_cpu_smt(struct harness *harness, const struct probe_case *probe_case)
{
	const struct topology *const topology = &harness->topology;
	if (topology->threads_per_core < 2) {
		harness_waive(harness, probe_case, "no core shows more than one hardware thread");
		return;
	}
	for (int n = 1; n <= topology->threads_per_core; n++) {
		struct cpu_activity activity;
		struct measured measured = cpu_measured(&activity, harness, CPU_ADAM, 0, n);
		char label[HARNESS_LABEL_MAX];
		for (int i = 0; i < n; i++)
			activity.cpus[i] = topology->threads[i].cpu; /* ordered by core */
		activity.n = 2 * (activity.chunk = 16384);
		measured.what = "sibling";
		snprintf(label, sizeof label, "siblings=%d", n);
		harness_measure(harness, probe_case, label, &measured, 1);
	}
}
const struct probe_case case_cpu_smt = {"cpu_smt", "Adam in cache on one core, by siblings", CASE_HOST, run_cpu_smt};

/* ---- NUMA: the triad on memory of each node, by the CPUs of the first */

static void run_cpu_numa(struct harness *harness, const struct probe_case *probe_case)
{
	const struct topology *const topology = &harness->topology;
	if (topology->n_nodes < 2) {
		harness_waive(harness, probe_case, "one NUMA node");
		return;
	}
	const size_t n = harness->pool.n / 4, bytes = 3 * n * sizeof(float);
	for (int node = 0; node < topology->n_nodes && !interrupt_seen(); node++) {
		float *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED || topology_bind_memory(memory, bytes, node)) {
			harness_waive(harness, probe_case, "memory cannot be bound to a node");
			return;
		}
		memset(memory, 0x11, bytes);
		int n_near = 0;
		while (n_near < harness->n_cpus && topology->threads[n_near].node == topology->threads[0].node)
			n_near++;
		struct cpu_activity activity;
		struct measured measured = cpu_measured(&activity, harness, CPU_TRIAD, 0, n_near);
		activity.stream.arrays = (struct stream_arrays){memory, memory + n, memory + 2 * n, NULL, 0.5F};
		activity.n = n;
		activity.chunk = n / 2;
		measured.with_x = node;
		char label[HARNESS_LABEL_MAX];
		snprintf(label, sizeof label, "memory on node %d", node);
		harness_measure(harness, probe_case, label, &measured, 1);
		munmap(memory, bytes);
	}
}
const struct probe_case case_cpu_numa = {
    "cpu_numa", "triad from the first node's CPUs on memory of each node", CASE_HOST, run_cpu_numa};
