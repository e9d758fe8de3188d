/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How time and memory of a simulation grow with the number of subgroups: one JSON line a policy. The exponent is the slope of log time
 * over log n from 100 to 100,000; times are the median of 5 of the process's CPU time.
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/sharing.h"
#include "sim/study/trial.h"
#include "tests/unit/plain_machine.h"

enum { N_SIZES = 7, N_REPEATS = 5 };

static struct hwprofile hw;
static struct trial trial;

static double cpu_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Seconds of one simulation, over at least 20 ms. */
static double once_s(const struct trial_input *in, struct arena *arena)
{
	struct err err = {0};
	const double from_s = cpu_s();
	for (size_t n = 1;; n++) {
		arena_reset(arena);
		if (trial_run(&trial, in, arena, &err)) {
			fprintf(stderr, "linear: %s\n", err.text);
			exit(1);
		}
		if (cpu_s() - from_s >= 0.02)
			return (cpu_s() - from_s) / (double)n;
	}
}

static double median_s(const struct trial_input *in, struct arena *arena)
{
	double times_s[N_REPEATS];
	for (int i = 0; i < N_REPEATS; i++)
		times_s[i] = once_s(in, arena);
	qsort(times_s, N_REPEATS, sizeof *times_s, by_value);
	return times_s[N_REPEATS / 2];
}

static double allocated_bytes(void)
{
	const struct mallinfo2 info = mallinfo2();
	return (double)(info.uordblks + info.hblkhd);
}

/* Slope of a straight line through the points, least squares. */
static double slope(const double *x, const double *y, int n)
{
	double mean_x = 0, mean_y = 0, xy = 0, xx = 0;
	for (int i = 0; i < n; i++) {
		mean_x += x[i] / n;
		mean_y += y[i] / n;
	}
	for (int i = 0; i < n; i++) {
		xy += (x[i] - mean_x) * (y[i] - mean_y);
		xx += (x[i] - mean_x) * (x[i] - mean_x);
	}
	return xy / xx;
}

/* 0 if the exponent is at most 1.05. */
static int measure(const char *policy)
{
	double log_n[N_SIZES], log_s[N_SIZES], last_s = 0, bytes_per_op = 0;
	struct trial_input in = {
	    .hw = &hw, .policy = policy, .sharing = &sharing_fluid, .batch = {.gpus = 1, .subgroup_params = 1e7}};
	for (int i = 0; i < N_SIZES; i++) {
		struct arena arena = {0};
		const double before_bytes = allocated_bytes();
		in.batch.n_subgroups = floor(100 * pow(10, i / 2.));
		last_s = median_s(&in, &arena);
		bytes_per_op = (allocated_bytes() - before_bytes) / (double)trial.schedule.n_ops;
		log_n[i] = log(in.batch.n_subgroups);
		log_s[i] = log(last_s);
		arena_release(&arena);
	}
	const double exponent = slope(log_n, log_s, N_SIZES);
	printf("{\"policy\": \"%s\", \"exponent\": %.3f, \"ops_per_s\": %.4g, \"bytes_per_op\": %.0f, \"n_ops\": %zu, "
	       "\"concurrency\": %.2f, "
	       "\"n_allocations\": %zu}\n",
	    policy, exponent, (double)trial.schedule.n_ops / last_s, bytes_per_op, trial.schedule.n_ops,
	    trial.timeline.concurrency, trial.timeline.n_allocations);
	return exponent > 1.05;
}

int main(void)
{
	static const char *const policies[] = {"gpu-only", "zero3-offload", "twinflow:ratio=0.5,mode=parallel",
	    "dos:stride=2", "dos:stride=3,chain=duplex,downscale=eager", "dos:stride=1,chain=serial", "hybrid:fraction=0.5",
	    "hybrid:fraction=0.3,chain=published,downscale=batch"};
	int status = 0;
	plain_machine(&hw);
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
		status |= measure(policies[i]);
	return status;
}
