/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/replay_check.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* NAN of none. Sorts in place. */
static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	if (n == 0)
		return NAN;
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double seconds(const struct rec_iteration *it, size_t phase)
{
	return (phase < PHASE_N ? (double)it->phase_ns[phase] : (double)(it->end_ns - it->start_ns)) * 1e-9;
}

static bool is_held_out(const struct replay_check *check, size_t i)
{
	return !check->by_iteration || i % 2 == 1;
}

/* phase PHASE_N: the whole. simulated: [n] or NULL, a constant instead. */
static void compare_phase(struct replay_check *check, const struct recording *rec, size_t phase,
    const struct replay_graph *graph, double constant_s)
{
	double *const recorded = xmalloc(check->n_iterations + 1, sizeof(*recorded));
	double *const simulated = xmalloc(check->n_iterations + 1, sizeof(*simulated));
	size_t n = 0;

	for (size_t i = 0; i < check->n_iterations; i++) {
		if (!is_held_out(check, i) || (phase < PHASE_N && !rec->iterations[i].has_phase[phase]))
			continue;
		recorded[n] = seconds(&rec->iterations[i], phase);
		simulated[n++] = !graph ? constant_s : phase < PHASE_N ? graph->phase_s[i][phase] : graph->iteration_s[i];
	}
	*(phase < PHASE_N ? &check->recorded_s[phase] : &check->recorded_iteration_s) = median(recorded, n);
	*(phase < PHASE_N ? &check->simulated_s[phase] : &check->simulated_iteration_s) = median(simulated, n);
	check->n_held_out = phase == PHASE_N ? n : check->n_held_out;
	free(recorded);
	free(simulated);
}

static void run_timeline(struct replay_check *check, const struct recording *rec)
{
	struct arena arena = {0};
	struct replay_graph graph;

	replay_graph_run(&graph, rec, &arena);
	check->by_iteration = graph.by_iteration;
	check->n_iterations = graph.n_iterations;
	check->n_ops = graph.n_ops;
	check->single_frac = graph.single_frac;
	for (size_t phase = 0; phase <= PHASE_N; phase++)
		compare_phase(check, rec, phase, &graph, 0);
	arena_release(&arena);
	check->has_run = true;
}

static double fitted_mean(const struct recording *rec, size_t phase)
{
	double sum_s = 0;
	size_t n = 0;

	for (size_t i = 2; i < rec->n_iterations; i += 2) {
		sum_s += seconds(&rec->iterations[i], phase);
		n++;
	}
	return n > 0 ? sum_s / (double)n : NAN;
}

static void run_log(struct replay_check *check, const struct recording *rec)
{
	if (rec->n_iterations < 4)
		return;
	check->by_iteration = true;
	check->n_iterations = rec->n_iterations;
	check->n_ops = PHASE_N * rec->n_iterations;
	for (size_t phase = 0; phase <= PHASE_N; phase++)
		compare_phase(check, rec, phase, NULL, fitted_mean(rec, phase));
	check->has_run = true;
}

void replay_check_run(struct replay_check *check, const struct recording *rec)
{
	*check = (struct replay_check){.n_iterations = rec->n_iterations};
	if (rec->is_timeline)
		run_timeline(check, rec);
	else
		run_log(check, rec);
	if (check->has_run)
		check->error_frac = check->simulated_iteration_s / check->recorded_iteration_s - 1;
}
