/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/arena.h"
#include "probe/clock.h"
#include "probe/interrupt.h"

/* A round is not begun when the longest so far would end it later than this. */
#define TIME_LIMIT_S 285

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
	uint64_t z = *state += 0x9e3779b97f4a7c15U;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
	z = (z ^ z >> 27) * 0x94d049bb133111ebU;
	return z ^ z >> 31;
}

static uint64_t seed_of(const struct harness *harness)
{
	uint64_t state = harness->seed + harness->round;
	return next_random(&state);
}

void harness_order(const struct harness *harness, int counts[], size_t n)
{
	uint64_t state = seed_of(harness);
	for (size_t i = n; i > 1 && harness->round > 0; i--) {
		const size_t j = next_random(&state) % i;
		const int swapped = counts[i - 1];
		counts[i - 1] = counts[j];
		counts[j] = swapped;
	}
}

static void run_case(struct harness *harness, const struct probe_case *probe_case)
{
	if (harness->n_gpus > 0)
		gpu_use(harness->gpus[0]); /* whatever the last case used */
	if (probe_case->kind != CASE_HOST && harness->n_gpus == 0)
		harness_waive(harness, probe_case, harness->no_gpu);
	else if (probe_case->kind != CASE_STEADY || harness->round == 0)
		probe_case->run(harness, probe_case);
}

static void run_round(struct harness *harness, const struct probe_case *const cases[], size_t n_cases)
{
	const struct probe_case **const order = xmalloc(n_cases, sizeof *order);
	uint64_t state = seed_of(harness);
	memcpy(order, cases, n_cases * sizeof *order);
	for (size_t i = n_cases; i > 0 && !interrupt_seen(); i--) {
		const size_t j = next_random(&state) % i;
		run_case(harness, order[j]);
		order[j] = order[i - 1];
	}
	free(order);
}

static void sort_results(struct harness *harness, const struct probe_case *const cases[], size_t n_cases)
{
	struct result *const sorted = xmalloc(HARNESS_RESULTS_MAX, sizeof *sorted);
	size_t n = 0;
	for (size_t c = 0; c < n_cases; c++)
		for (size_t i = 0; i < harness->n_results; i++)
			if (harness->results[i].key == cases[c]->key)
				sorted[n++] = harness->results[i];
	free(harness->results);
	harness->results = sorted;
}

void rounds_run(struct harness *harness, const struct probe_case *const cases[], size_t n_cases)
{
	const size_t n_planned = harness->n_rounds;
	double longest_s = 0;
	harness->round = 0;
	while (harness->round < n_planned && !interrupt_seen()) {
		const double start_s = clock_now_s() - harness->start_s;
		if (harness->round > 0 && start_s + longest_s > TIME_LIMIT_S)
			break;
		harness->round_start_s[harness->round] = start_s;
		run_round(harness, cases, n_cases);
		longest_s = fmax(longest_s, clock_now_s() - harness->start_s - start_s);
		harness->round++;
	}
	sort_results(harness, cases, n_cases);
}

size_t rounds_speed(double speed_frac[STATS_ROUNDS_MAX], const struct harness *harness)
{
	double logs[STATS_ROUNDS_MAX] = {0};
	size_t n = 0;
	if (harness->round < 2)
		return 0;
	for (size_t i = 0; i < harness->n_results; i++) {
		const struct result *const result = &harness->results[i];
		if (result->status != RESULT_PASSED || result->n_rounds != harness->round)
			continue;
		for (size_t round = 0; round < harness->round; round++)
			logs[round] += log(harness_round_median(result, round) / result->stats.centre);
		n++;
	}
	for (size_t round = 0; round < harness->round; round++)
		speed_frac[round] = n ? exp(logs[round] / (double)n) : 1;
	return n ? harness->round : 0;
}
