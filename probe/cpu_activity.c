/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/activities.h"

#include <stdatomic.h>

#include "probe/clock.h"

/* Elements that one member does per step, as in a subgroup of 50 M or 100 M on a team of this size. Not a power of two: members
 * at equal places of equal DRAM banks run slower than those of a real update. */
enum { MEMBER_CHUNK = 97660 * KERNEL_GRAIN };

static const struct {
	const char *what;
	double bytes, flop;
} kernel_facts[N_CPU_KERNELS] = {
    [CPU_ADAM] = {"cpu_adam", KERNEL_ADAM_BYTES(1, 0), 15},
    [CPU_ADAM_FUSED] = {"cpu_adam_fused", KERNEL_ADAM_BYTES(0, 1), 15},
    [CPU_ADAM_SPLIT] = {"cpu_adam_split", KERNEL_ADAM_SPLIT_BYTES(0), 15},
    [CPU_ADAM_OUT] = {"cpu_adam_out", KERNEL_ADAM_BYTES(1, 1), 15},
    [CPU_STREAM] = {"adam_stream", KERNEL_ADAM_BYTES(1, 0), 3},
    [CPU_UNSCALE] = {"cpu_unscale", KERNEL_UNSCALE_BYTES, 1},
    [CPU_DOWNSCALE] = {"cpu_downscale", KERNEL_DOWNSCALE_BYTES, 0},
    [CPU_DOWNSCALE_FP16] = {"cpu_downscale_fp16", KERNEL_DOWNSCALE_BYTES, 0},
    [CPU_COPY] = {"copy", KERNEL_COPY_BYTES, 0},
    [CPU_TRIAD] = {"triad", KERNEL_TRIAD_BYTES, 2},
};

double cpu_kernel_bytes(enum cpu_kernel kernel)
{
	return kernel_facts[kernel].bytes;
}

static void choose_kernel(struct cpu_activity *activity, const struct kernel_set *kernels)
{
	const struct pool *const pool = activity->pool;
	activity->adam.arrays = (struct adam_arrays){
	    .m = pool->m, .v = pool->v, .p = pool->p, .g = pool->g, .out = pool->out, .hi = pool->out, .lo = pool->half};
	activity->adam.arrays.step = adam_step_of(10, 1.0F);
	activity->stream.arrays =
	    (struct stream_arrays){.a = pool->source, .b = pool->p, .c = pool->v, .half = pool->half, .factor = 0.5F};
	switch (activity->kernel) {
	case CPU_ADAM: activity->adam.kernel = kernels->adam[GRAD_FP32][0]; break;
	case CPU_ADAM_OUT: activity->adam.kernel = kernels->adam[GRAD_FP32][1]; break;
	case CPU_ADAM_FUSED:
		activity->adam.kernel = kernels->adam[GRAD_BF16][1];
		activity->adam.arrays.g = pool->g16;
		break;
	case CPU_ADAM_SPLIT:
		activity->adam.kernel = kernels->adam_split[GRAD_BF16];
		activity->adam.arrays.g = pool->g16;
		activity->stream.kernel = kernels->downscale[HALF_BF16]; /* see cpu_begin */
		activity->stream.arrays.half = pool->out;
		break;
	case CPU_STREAM: activity->adam.kernel = kernels->adam_stream; break;
	case CPU_UNSCALE: /* one array: the whole of m, v, p, g, so that it is several times the cache */
		activity->stream.kernel = kernels->unscale;
		activity->stream.arrays.a = pool->m;
		activity->stream.arrays.factor = 1.0F;
		activity->n = 4 * pool->n;
		break;
	case CPU_DOWNSCALE: /* from m and v to out and half, for the same reason; away from p beside Adam */
	case CPU_DOWNSCALE_FP16:
		activity->stream.kernel = kernels->downscale[activity->kernel == CPU_DOWNSCALE ? HALF_BF16 : HALF_FP16];
		activity->stream.arrays.b = pool->m;
		activity->stream.arrays.half = pool->out;
		activity->n = 2 * pool->n;
		break;
	case CPU_COPY: activity->stream.kernel = kernels->copy; break;
	default: activity->stream.kernel = kernels->triad;
	}
}

static void cpu_begin(void *context)
{
	struct cpu_activity *const activity = context;
	activity->team = team_new(activity->threads, activity->cpus);
	team_bind_caller(activity->team);
	const struct team_work make_halves = {stream_call_run, &activity->stream, activity->n, KERNEL_GRAIN};
	if (activity->kernel == CPU_ADAM_SPLIT) /* others left anything in place of the high ones; any low one will do */
		team_run(activity->team, &make_halves);
}

/* A step works on [at, at + chunk) of the arrays: the kernels take offsets, so the arrays are moved instead. */
static double cpu_step(void *context)
{
	struct cpu_activity *const activity = context;
	const size_t at = activity->at;
	struct adam_call adam = activity->adam;
	struct stream_call stream = activity->stream;
	if (adam.kernel) {
		adam.arrays.m += at;
		adam.arrays.v += at;
		adam.arrays.p += at;
		adam.arrays.out += at;
		adam.arrays.hi += at;
		adam.arrays.lo += at;
		adam.arrays.g = activity->adam.arrays.g == activity->pool->g16 ? (const void *)(activity->pool->g16 + at)
									       : activity->pool->g + at;
	} else {
		stream.arrays.a += at;
		stream.arrays.b += at;
		stream.arrays.c += at;
		stream.arrays.half += at;
	}
	const struct team_work work = {.run = adam.kernel ? adam_call_run : stream_call_run,
	    .context = adam.kernel ? (void *)&adam : &stream,
	    .n = activity->chunk,
	    .grain = KERNEL_GRAIN};
	team_run(activity->team, &work);
	activity->at = at + 2 * activity->chunk <= activity->n ? at + activity->chunk : 0;
	return (double)activity->chunk;
}

static void cpu_end(void *context)
{
	struct cpu_activity *const activity = context;
	team_free(activity->team);
}

/* On `threads` of n_cpus CPUs from place `first` on, wrapping round. */
static struct measured measured_on(struct cpu_activity *activity, const struct harness *harness, const struct pool *pool,
    enum cpu_kernel kernel, const int cpus[], int n_cpus, int first, int threads)
{
	*activity = (struct cpu_activity){.pool = pool, .kernel = kernel, .threads = threads, .n = pool->n};
	for (int i = 0; i < threads; i++)
		activity->cpus[i] = cpus[(first + i) % n_cpus];
	activity->chunk = (size_t)threads * MEMBER_CHUNK;
	if (activity->chunk > activity->n / 2)
		activity->chunk = activity->n / 2 / KERNEL_GRAIN * KERNEL_GRAIN;
	choose_kernel(activity, harness->kernels);
	return (struct measured){.activity = {cpu_begin, cpu_step, cpu_end, activity},
	    .what = kernel_facts[kernel].what,
	    .x = threads,
	    .bytes_per_unit = kernel_facts[kernel].bytes,
	    .flop_per_unit = kernel_facts[kernel].flop,
	    .unit = UNIT_PARAMS_PER_S};
}

struct measured cpu_measured(
    struct cpu_activity *activity, const struct harness *harness, enum cpu_kernel kernel, int first, int threads)
{
	return measured_on(activity, harness, &harness->pool, kernel, harness->cpus, harness->n_cpus, first, threads);
}

struct measured cpu_rank_measured(
    struct cpu_activity *activity, const struct harness *harness, enum cpu_kernel kernel, int rank, int threads)
{
	int cpus[TOPOLOGY_CPUS_MAX];
	const int n_cpus = harness_rank_cpus(cpus, harness, rank);
	return measured_on(activity, harness, &harness->rank_pools[rank], kernel, cpus, n_cpus, 0, threads);
}

static void spin_begin(void *context)
{
	const struct spin_activity *const activity = context;
	topology_bind_thread(activity->topology, activity->cpu);
}

static double spin_step(void *context)
{
	const double until_s = clock_now_s() + 1e-3;
	atomic_int turns = 0;
	(void)context;
	while (clock_now_s() < until_s)
		atomic_fetch_add(&turns, 1);
	return (double)atomic_load(&turns);
}

struct measured spin_measured(struct spin_activity *activity, const struct harness *harness, int first)
{
	*activity = (struct spin_activity){harness->cpus[first % harness->n_cpus], &harness->topology};
	return (struct measured){
	    .activity = {spin_begin, spin_step, NULL, activity}, .what = "spin", .x = 1, .is_hidden = true};
}
