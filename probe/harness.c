/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/harness.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/base/arena.h"
#include "probe/clock.h"
#include "probe/interrupt.h"
#include "probe/team.h"

enum { HUGE_PAGE_BYTES = 2 << 20, PAGE_BYTES = 4096, FULL_ROUNDS = 8 };

/* Of one of several rounds: short, since what differs is the moment (stats.h). */
static const struct activity_plan round_plan = {.warm_s = 0.06, .window_s = 0.045, .limit_s = 0.5, .n_min = 2, .n_max = 2};
static const struct activity_plan full_plan = {
    .warm_s = 0.10, .window_s = 0.045, .limit_s = 0.5, .n_min = 7, .n_max = 15, .precision_frac = 0.02};
static const struct activity_plan quick_plan = {
    .warm_s = 0.03, .window_s = 0.012, .limit_s = 0.15, .n_min = 7, .n_max = 9, .precision_frac = 0.02};

/* ---- memory */

/* Random data in (0, 1): never zeros, never denormal. */
static void touch(void *context, size_t begin, size_t end)
{
	float *const values = context;
	uint64_t state = begin * 2654435761U + 88172645463325252U;
	for (size_t i = begin; i < end; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		values[i] = 1e-3F + (float)(state >> 40) * 0x1p-24F;
	}
}

static double huge_bytes_of(const void *address)
{
	FILE *const file = fopen("/proc/self/smaps", "r");
	char line[512];
	double huge_kib = 0;
	bool is_inside = false;
	while (file && fgets(line, sizeof line, file)) {
		unsigned long from, to;
		double kib;
		if (sscanf(line, "%lx-%lx", &from, &to) == 2)
			is_inside = (uintptr_t)address >= from && (uintptr_t)address < to;
		else if (is_inside && sscanf(line, "AnonHugePages: %lf", &kib) == 1)
			huge_kib = kib;
	}
	if (file)
		fclose(file);
	return huge_kib * 1024;
}

static void cut_pool(struct pool *pool)
{
	char *at = pool->base;
	float **const wide[] = {&pool->m, &pool->v, &pool->p, &pool->g, &pool->source};
	uint16_t **const narrow[] = {&pool->out, &pool->half, &pool->g16};
	for (size_t i = 0; i < 5; i++, at += 4 * pool->n)
		*wide[i] = (float *)(void *)at;
	for (size_t i = 0; i < 3; i++, at += 2 * pool->n)
		*narrow[i] = (uint16_t *)(void *)at;
	pool->dma_in = at + (PAGE_BYTES - (uintptr_t)at % PAGE_BYTES) % PAGE_BYTES;
	pool->dma_out = pool->dma_in + pool->copy_bytes;
}

/* Maps and touches by the CPUs given, on their node; pool->n and copy_bytes are set. */
static int map_pool(struct pool *pool, const struct harness *harness, const int cpus[], int n_cpus, struct err *err)
{
	pool->bytes = (26 * pool->n + 2 * pool->copy_bytes) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES + HUGE_PAGE_BYTES;
	const double start_s = clock_now_s();
	pool->base = mmap(NULL, pool->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pool->base == MAP_FAILED) {
		pool->base = NULL;
		return err_set(err, STATUS_ENV, "%.1f GiB of host memory were refused", (double)pool->bytes / 0x1p30);
	}
	madvise(pool->base, pool->bytes, MADV_HUGEPAGE);
	struct team *const team = team_new(n_cpus, cpus);
	team_bind_caller(team);
	team_run(team, &(struct team_work){touch, pool->base, pool->bytes / 4, HUGE_PAGE_BYTES / 4});
	pool->touch_s = clock_now_s() - start_s;
	pool->huge_bytes = huge_bytes_of(pool->base);
	cut_pool(pool);
	struct stream_call narrow = {harness->kernels->downscale[HALF_BF16], {.b = pool->g, .half = pool->g16}};
	team_run(team, &(struct team_work){stream_call_run, &narrow, pool->n, KERNEL_GRAIN});
	team_free(team);
	topology_bind_thread(&harness->topology, -1);
	return 0;
}

/* Not a multiple of a page: arrays that begin at the same place of their pages cost Adam 10 % (4 KiB aliasing). */
static size_t pool_elements(double params)
{
	return (size_t)params / 1024 * 1024 + 5 * KERNEL_GRAIN;
}

static int open_pool(struct harness *harness, struct err *err)
{
	struct pool *const pool = &harness->pool;
	const double cache_params =
	    harness->topology.cache_bytes * (harness->quick ? 4 : 8) / 16 * harness->topology.n_nodes;
	double params = harness->quick ? 16e6 : 96e6;
	params = cache_params > params ? cache_params : params;
	params = params > 512e6 ? 512e6 : params;
	pool->copy_bytes = (size_t)(harness->quick ? 256 : 1024) << 20;
	while (26 * params + 2 * (double)pool->copy_bytes > 0.4 * harness->topology.memory_bytes &&
	    pool->copy_bytes > 1 << 20) {
		params /= 2; /* a small machine: say so in the profile by the sizes kept there */
		pool->copy_bytes /= 2;
	}
	pool->n = pool_elements(params);
	return map_pool(pool, harness, harness->cpus, harness->n_cpus, err);
}

int harness_rank_cpus(int cpus[TOPOLOGY_CPUS_MAX], const struct harness *harness, int rank)
{
	return topology_slice(cpus, &harness->topology, rank, harness->n_gpus > 1 ? harness->n_gpus : 1);
}

int harness_rank_pools(struct harness *harness, struct err *err)
{
	int rc = 0;
	for (int i = 0; i < harness->n_gpus && rc == 0; i++) {
		struct pool *const pool = &harness->rank_pools[i];
		int cpus[TOPOLOGY_CPUS_MAX];
		if (pool->base)
			continue;
		pool->n = pool_elements((double)harness->pool.n / 2);
		pool->copy_bytes = harness->pool.copy_bytes / 4;
		rc = map_pool(pool, harness, cpus, harness_rank_cpus(cpus, harness, i), err);
		if (rc == 0)
			gpu_pin(harness->gpus[i], pool->base, pool->bytes);
	}
	return rc;
}

static void open_gpus(struct harness *harness)
{
	harness->n_gpus = gpu_count(harness->no_gpu, sizeof harness->no_gpu);
	if (harness->n_gpus > HARNESS_GPUS_MAX)
		harness->n_gpus = HARNESS_GPUS_MAX;
	for (int i = 0; i < harness->n_gpus; i++)
		harness->gpus[i] = gpu_open(i, 0);
	if (harness->n_gpus == 0)
		return;
	struct gpu *const gpu = harness->gpus[0];
	gpu_describe(gpu, &harness->gpu_info);
	harness->device_bytes = (size_t)(harness->quick ? 512 : 1536) << 20;
	char **const buffers[] = {&harness->dev_a, &harness->dev_b, &harness->dev_c, &harness->dev_d};
	for (size_t i = 0; i < 4; i++)
		*buffers[i] = gpu_alloc(gpu, harness->device_bytes);
	const double start_s = clock_now_s();
	gpu_pin(gpu, harness->pool.base, harness->pool.bytes);
	harness->pool.pin_s = clock_now_s() - start_s;
	/* Random data on the device too. */
	for (size_t i = 0; i < 4; i++)
		for (size_t at = 0; at < harness->device_bytes; at += 128 << 20)
			gpu_h2d(gpu, NULL, *buffers[i] + at, harness->pool.dma_in, 128 << 20);
	gpu_wait_all(gpu);
	if (gpu_error(gpu)) {
		snprintf(harness->no_gpu, sizeof harness->no_gpu, "%s", gpu_error(gpu));
		harness->n_gpus = 0;
	}
}

int harness_open(struct harness *harness, bool quick, FILE *progress, struct err *err)
{
	*harness =
	    (struct harness){.kernels = kernels_best(), .quick = quick, .progress = progress, .start_s = clock_now_s()};
	harness->n_rounds = quick ? 1 : FULL_ROUNDS;
	harness->results = xmalloc(HARNESS_RESULTS_MAX, sizeof harness->results[0]);
	topology_read(&harness->topology);
	char reason[256];
	const int n_gpus = gpu_count(reason, sizeof reason);
	harness->n_cpus = topology_slice(harness->cpus, &harness->topology, 0, n_gpus > 1 ? n_gpus : 1);
	if (n_gpus < 0)
		return err_set(err, STATUS_ENV, "%s", reason);
	const int rc = open_pool(harness, err);
	if (rc == 0)
		open_gpus(harness);
	return rc;
}

void harness_close(struct harness *harness)
{
	for (int i = 0; i < HARNESS_GPUS_MAX; i++) {
		struct pool *const pool = &harness->rank_pools[i];
		if (!pool->base)
			continue;
		gpu_unpin(harness->gpus[i], pool->base);
		munmap(pool->base, pool->bytes);
	}
	if (harness->gpus[0]) {
		if (harness->pool.base)
			gpu_unpin(harness->gpus[0], harness->pool.base);
		gpu_free(harness->gpus[0], harness->dev_a);
		gpu_free(harness->gpus[0], harness->dev_b);
		gpu_free(harness->gpus[0], harness->dev_c);
		gpu_free(harness->gpus[0], harness->dev_d);
	}
	for (int i = 0; i < HARNESS_GPUS_MAX; i++)
		gpu_close(harness->gpus[i]);
	if (harness->pool.base)
		munmap(harness->pool.base, harness->pool.bytes);
	free(harness->results);
}

/* ---- thread counts */

static size_t add_count(int counts[HARNESS_COUNTS_MAX], size_t n, int threads, int all)
{
	if (threads < 1 || threads > all || n == HARNESS_COUNTS_MAX || (n > 0 && counts[n - 1] >= threads))
		return n;
	counts[n] = threads;
	return n + 1;
}

size_t harness_thread_counts(int counts[HARNESS_COUNTS_MAX], const struct harness *harness)
{
	const int all = harness->n_cpus, parts = harness->quick ? 4 : 8;
	size_t n = add_count(counts, 0, 1, all);
	if (!harness->quick)
		n = add_count(counts, n, 2, all);
	for (int i = 1; i < parts; i++)
		n = add_count(counts, n, all * i / parts, all);
	n = add_count(counts, n, all - 1, all);
	return add_count(counts, n, all, all);
}

size_t harness_contention_threads(int counts[HARNESS_COUNTS_MAX], const struct harness *harness)
{
	const int all = harness->n_cpus;
	size_t n = 0;
	if (!harness->quick) {
		n = add_count(counts, n, all / 4, all);
		n = add_count(counts, n, all * 3 / 8, all);
	}
	n = add_count(counts, n, all / 2, all);
	if (!harness->quick) {
		n = add_count(counts, n, all * 3 / 4, all);
		n = add_count(counts, n, all * 7 / 8, all);
	}
	return add_count(counts, n, all, all);
}

/* ---- results */

static bool is_point(const struct result *result, const char *key, const char *label, const struct measured *measured)
{
	return strcmp(result->key, key) == 0 && strcmp(result->label, label) == 0 &&
	    strcmp(result->what, measured->what) == 0 && strcmp(result->with, measured->with ? measured->with : "") == 0 &&
	    result->x == measured->x && result->with_x == measured->with_x;
}

/* That of an earlier round, or NULL. */
static struct result *earlier(
    struct harness *harness, const struct probe_case *probe_case, const char *label, const struct measured *measured)
{
	for (size_t i = 0; i < harness->n_results; i++)
		if (is_point(&harness->results[i], probe_case->key, label, measured))
			return &harness->results[i];
	return NULL;
}

static struct result *append(
    struct harness *harness, const struct probe_case *probe_case, const char *label, const struct measured *measured)
{
	if (harness->n_results == HARNESS_RESULTS_MAX)
		abort(); /* the tables are fixed: enlarge HARNESS_RESULTS_MAX with them */
	struct result *const result = &harness->results[harness->n_results++];
	*result = (struct result){.key = probe_case->key, .what = "", .with = ""};
	snprintf(result->label, sizeof result->label, "%s", label);
	if (measured) {
		result->what = measured->what;
		result->with = measured->with ? measured->with : "";
		result->unit = measured->unit;
		result->x = measured->x;
		result->with_x = measured->with_x;
		result->bytes_per_unit = measured->bytes_per_unit;
		result->flop_per_unit = measured->flop_per_unit;
	}
	return result;
}

static const char *error_of(const struct harness *harness)
{
	for (int i = 0; i < harness->n_gpus; i++)
		if (gpu_error(harness->gpus[i]))
			return gpu_error(harness->gpus[i]);
	return NULL;
}

static struct result *record(struct harness *harness, const struct probe_case *probe_case, const char *label,
    const struct measured *measured, const double samples[], size_t n, double at_s)
{
	struct result *const before = earlier(harness, probe_case, label, measured);
	struct result *const result = before ? before : append(harness, probe_case, label, measured);
	const char *const error = error_of(harness);
	if (n == 0 || error) {
		result->status = RESULT_ERROR;
		snprintf(result->note, sizeof result->note, "%.150s", error ? error : "no progress");
		return result;
	}
	const size_t n_before = result->stats.n;
	if (result->status != RESULT_PASSED || n_before + n > STATS_SAMPLES_MAX || result->n_rounds == STATS_ROUNDS_MAX)
		return result;
	memcpy(result->samples + n_before, samples, n * sizeof samples[0]);
	result->at_s[result->n_rounds] = at_s;
	result->sizes[result->n_rounds++] = n;
	stats_of_rounds(&result->stats, result->samples, result->sizes, result->n_rounds);
	return result;
}

struct result *harness_record(struct harness *harness, const struct probe_case *probe_case, const char *label,
    const struct measured *measured, const double samples[], size_t n)
{
	return record(harness, probe_case, label, measured, samples, n, clock_now_s() - harness->start_s);
}

double harness_round_median(const struct result *result, size_t round)
{
	size_t first = 0;
	for (size_t i = 0; i < round; i++)
		first += result->sizes[i];
	return stats_median(result->samples + first, result->sizes[round]);
}

static const struct activity_plan *plan_of(const struct harness *harness, const struct probe_case *probe_case)
{
	if (harness->quick)
		return &quick_plan;
	return probe_case->kind == CASE_STEADY || harness->n_rounds < 2 ? &full_plan : &round_plan;
}

struct result *harness_measure(struct harness *harness, const struct probe_case *probe_case, const char *label,
    const struct measured measured[], size_t n)
{
	struct activity activities[ACTIVITIES_MAX];
	struct activity_result results[ACTIVITIES_MAX];
	struct result *first = NULL;
	if (interrupt_seen())
		return NULL;
	const double at_s = clock_now_s() - harness->start_s;
	if (harness->progress)
		fprintf(harness->progress, "\r\033[K%5.1f s  round %zu of %zu  %s %s", at_s, harness->round + 1,
		    harness->n_rounds, probe_case->key, label);
	for (size_t i = 0; i < n; i++)
		activities[i] = measured[i].activity;
	activity_measure(results, activities, n, plan_of(harness, probe_case));
	for (size_t i = 0; i < n; i++) {
		if (measured[i].is_hidden)
			continue;
		struct result *const result =
		    record(harness, probe_case, label, &measured[i], results[i].samples, results[i].n, at_s);
		first = first ? first : result;
	}
	return first;
}

void harness_waive(struct harness *harness, const struct probe_case *probe_case, const char *reason)
{
	for (size_t i = 0; i < harness->n_results; i++)
		if (harness->results[i].status == RESULT_WAIVED && strcmp(harness->results[i].key, probe_case->key) == 0)
			return;
	struct result *const result = append(harness, probe_case, "", NULL);
	result->status = RESULT_WAIVED;
	snprintf(result->note, sizeof result->note, "%.150s", reason);
}

const struct result *harness_find(
    const struct harness *harness, const char *key, const char *what, const char *with, double x, double with_x)
{
	for (size_t i = 0; i < harness->n_results; i++) {
		const struct result *const result = &harness->results[i];
		if (result->status == RESULT_PASSED && strcmp(result->key, key) == 0 && strcmp(result->what, what) == 0 &&
		    strcmp(result->with, with) == 0 && (x < 0 || result->x == x) &&
		    (with_x < 0 || result->with_x == with_x))
			return result;
	}
	return NULL;
}
