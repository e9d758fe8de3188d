/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * harness: owns warm-up, repeats, memory, the list of results. A case measures its points through it and never reads a clock.
 *
 * Invariant: one result per point, those of a case in the order first measured; every one keeps its raw samples, round by round,
 * and when each round of them was taken.
 */
#ifndef PROBE_HARNESS_H
#define PROBE_HARNESS_H

#include <stdio.h>

#include "model/base/err.h"
#include "model/base/units.h"
#include "probe/activity.h"
#include "probe/cuda/cuda_cases.h"
#include "probe/kernels.h"
#include "probe/stats.h"
#include "probe/topology.h"

enum { HARNESS_RESULTS_MAX = 1024, HARNESS_GPUS_MAX = 16, HARNESS_LABEL_MAX = 64, HARNESS_COUNTS_MAX = 16 };

enum result_status { RESULT_PASSED, RESULT_WAIVED, RESULT_ERROR };

/* One measured rate. For pairs, `with` names what ran beside it. */
struct result {
	const char *key; /* of the case */
	char label[HARNESS_LABEL_MAX]; /* of the point: "t=8", "64 MiB", "t=8 with duplex" */
	const char *what; /* activity measured: "cpu_adam", "h2d", .. */
	const char *with; /* "" alone, else "h2d", "duplex", "cpu_downscale", .. */
	enum unit unit;
	double x; /* threads, bytes or size */
	double with_x; /* threads of what ran beside it */
	double bytes_per_unit, flop_per_unit; /* declared */
	struct stats stats;
	double samples[STATS_SAMPLES_MAX]; /* one round after another */
	size_t n_rounds, sizes[STATS_ROUNDS_MAX]; /* samples of each round */
	double at_s[STATS_ROUNDS_MAX]; /* when each began, from the probe's start on */
	enum result_status status;
	char note[160]; /* reason of a waiver or an error; library used */
};

/* Host memory of the cases: one mapping, touched by all CPUs, pinned when there is a GPU. */
struct pool {
	void *base;
	size_t bytes;
	size_t n; /* elements of the arrays below */
	float *m, *v, *p, *g, *source; /* n each, one after the other */
	uint16_t *out, *half, *g16; /* n each, one after the other; g16: g as bf16 */
	char *dma_in, *dma_out; /* copy_bytes each */
	size_t copy_bytes;
	double touch_s, pin_s;
	double huge_bytes; /* backed by huge pages */
};

struct harness {
	struct topology topology;
	const struct kernel_set *kernels;
	int cpus[TOPOLOGY_CPUS_MAX], n_cpus; /* of one rank */
	int n_gpus;
	char no_gpu[256]; /* reason while n_gpus is 0 */
	struct gpu *gpus[HARNESS_GPUS_MAX];
	struct gpu_info gpu_info;
	char *dev_a, *dev_b, *dev_c, *dev_d; /* device_bytes each, on GPU 0 */
	size_t device_bytes;
	struct pool pool;
	struct pool rank_pools[HARNESS_GPUS_MAX]; /* of all GPUs at once, see harness_rank_pools */
	size_t round, n_rounds; /* of the one that runs, from 0; planned */
	uint64_t seed; /* of the order in which they run */
	bool quick;
	FILE *progress; /* NULL: silent */
	struct result *results;
	size_t n_results;
	double start_s;
	double round_start_s[STATS_ROUNDS_MAX]; /* from start_s on */
};

/* Where other users of the machine come and go, its DRAM and cores are another machine's a minute later: cases that use them are
 * measured in every round, those of the GPU and its link alone once and longer. */
enum case_kind {
	CASE_HOST,
	CASE_GPU, /* needs a GPU, and the host's memory or cores */
	CASE_STEADY /* needs a GPU; once */
};

struct probe_case {
	const char *key, *what;
	enum case_kind kind;
	void (*run)(struct harness *harness, const struct probe_case *probe_case);
};
extern const struct probe_case *const probe_cases[];
extern const size_t n_probe_cases;

/* The CPUs of the rank of a GPU. Returns their number. */
int harness_rank_cpus(int cpus[TOPOLOGY_CPUS_MAX], const struct harness *harness, int rank);
/* Memory of each rank on its own node, pinned; made once. STATUS_ENV. */
int harness_rank_pools(struct harness *harness, struct err *err) MUST_CHECK;

/* Opens devices and memory. STATUS_ENV only when host memory is refused; without a GPU the reason is kept. */
int harness_open(struct harness *harness, bool quick, FILE *progress, struct err *err) MUST_CHECK;
void harness_close(struct harness *harness);

/* Thread counts at which curves are taken (ascending, ending with all), and the fewer ones of the contention grid. */
size_t harness_thread_counts(int counts[HARNESS_COUNTS_MAX], const struct harness *harness);
size_t harness_contention_threads(int counts[HARNESS_COUNTS_MAX], const struct harness *harness);
/* Shuffles them, in another way in every round but the first. */
void harness_order(const struct harness *harness, int counts[], size_t n);

/* A description of what an activity of a measurement is; see struct result. */
struct measured {
	struct activity activity;
	const char *what, *with;
	double x, with_x, bytes_per_unit, flop_per_unit;
	enum unit unit;
	bool is_hidden; /* runs, but gives no result */
};

/* Measures activities together: a result each, to which later rounds add. Returns the first one, or NULL when interrupted. */
struct result *harness_measure(struct harness *harness, const struct probe_case *probe_case, const char *label,
    const struct measured measured[], size_t n);
/* The same from samples taken elsewhere. */
struct result *harness_record(struct harness *harness, const struct probe_case *probe_case, const char *label,
    const struct measured *measured, const double samples[], size_t n);
/* Once, however often it is said. */
void harness_waive(struct harness *harness, const struct probe_case *probe_case, const char *reason);

/* Median of a round of a result. */
double harness_round_median(const struct result *result, size_t round);

/* The result of (key, what, with, x, with_x); NULL if not measured. x or with_x < 0 match anything. */
const struct result *harness_find(
    const struct harness *harness, const char *key, const char *what, const char *with, double x, double with_x);

#endif
