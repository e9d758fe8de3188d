/* SPDX-License-Identifier: GPL-3.0-or-later
 * All GPUs at once, each with its rank's cores and memory: what their host's DRAM gives to all of them. */
#include <stdlib.h>
#include <string.h>

#include "model/base/arena.h"
#include "probe/activities.h"
#include "probe/cases.h"
#include "probe/interrupt.h"

enum { COPY_BYTES = 64 << 20, ACTIVITIES_OF_RANK = 3 };

struct rank_activities {
	struct cpu_activity cpu;
	struct gpu_activity in, out;
};

/* Adam of every rank, with the copies named, on every GPU. */
static void measure_all(struct harness *harness, const struct probe_case *probe_case, struct rank_activities ranks[],
    char *const devices[], int threads, const char *with)
{
	struct measured measured[ACTIVITIES_OF_RANK * HARNESS_GPUS_MAX];
	char label[HARNESS_LABEL_MAX];
	size_t n = 0;
	for (int i = 0; i < harness->n_gpus; i++) {
		const size_t first = n;
		measured[n++] = cpu_rank_measured(&ranks[i].cpu, harness, CPU_ADAM, i, threads);
		if (strcmp(with, "all+h2d") == 0 || strcmp(with, "all+duplex") == 0)
			measured[n++] = copy_rank_measured(&ranks[i].in, harness, i, COPY_H2D, COPY_BYTES, devices[2 * i]);
		if (strcmp(with, "all+d2h") == 0 || strcmp(with, "all+duplex") == 0)
			measured[n++] =
			    copy_rank_measured(&ranks[i].out, harness, i, COPY_D2H, COPY_BYTES, devices[2 * i + 1]);
		for (size_t j = first; j < n; j++) {
			measured[j].with = with;
			measured[j].with_x = i;
		}
	}
	snprintf(label, sizeof label, "t=%d of each GPU, %s", threads, with);
	harness_measure(harness, probe_case, label, measured, n);
}

static void over_splits(
    struct harness *harness, const struct probe_case *probe_case, struct rank_activities ranks[], char *const devices[])
{
	static const char *const withs[] = {"all", "all+h2d", "all+d2h", "all+duplex"};
	int cpus[TOPOLOGY_CPUS_MAX], counts[HARNESS_COUNTS_MAX];
	int least = harness->n_cpus;
	for (int i = 1; i < harness->n_gpus; i++) {
		const int n_cpus = harness_rank_cpus(cpus, harness, i);
		least = n_cpus < least ? n_cpus : least;
	}
	size_t n = 0;
	if (!harness->quick && least > 1)
		counts[n++] = least / 2;
	counts[n++] = least;
	harness_order(harness, counts, n);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < sizeof withs / sizeof withs[0] && !interrupt_seen(); j++)
			measure_all(harness, probe_case, ranks, devices, counts[i], withs[j]);
}

static void run_contention_gpus(struct harness *harness, const struct probe_case *probe_case)
{
	struct err err = {0};
	char *devices[2 * HARNESS_GPUS_MAX] = {NULL};
	if (harness->n_gpus < 2) {
		harness_waive(harness, probe_case, "one GPU");
		return;
	}
	if (harness_rank_pools(harness, &err)) {
		harness_waive(harness, probe_case, err.text);
		return;
	}
	struct rank_activities *const ranks = xmalloc((size_t)harness->n_gpus, sizeof *ranks);
	for (int i = 0; i < 2 * harness->n_gpus; i++) {
		gpu_use(harness->gpus[i / 2]);
		devices[i] = gpu_alloc(harness->gpus[i / 2], harness->rank_pools[i / 2].copy_bytes);
	}
	over_splits(harness, probe_case, ranks, devices);
	for (int i = 0; i < 2 * harness->n_gpus; i++)
		gpu_free(harness->gpus[i / 2], devices[i]);
	gpu_use(harness->gpus[0]);
	free(ranks);
}
const struct probe_case case_contention_gpus = {"contention_gpus",
    "CPU Adam of every GPU's cores with copies on every GPU, all at once", CASE_GPU, run_contention_gpus};
