/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/bench_simulate.h"

#include <math.h>
#include <stdlib.h>

#include "sim/sharing.h"
#include "sim/study/trial.h"

struct simulation {
	struct trial_input input;
	struct arena arena;
	struct trial trial; /* the last one */
	bool counts_ops; /* work is counted in operations instead of simulations */
};

static void run_once(struct simulation *s)
{
	struct err err;

	arena_reset(&s->arena);
	if (trial_run(&s->trial, &s->input, &s->arena, &err) == 0)
		return;
	fprintf(stderr, "bench: %s\n", err.text);
	exit(EXIT_FAILURE);
}

static double simulate(void *context)
{
	struct simulation *const s = context;

	run_once(s);
	return s->counts_ops ? (double)s->trial.timeline.n_ops : 1;
}

/* 7B, subgroups of 10 M parameters, the published schedule. */
static struct simulation simulation_of(const struct hwprofile *hw, double gpus, bool is_unfolded)
{
	return (struct simulation){.input = {.hw = hw,
	    .shape = shape_preset_find("7b")->shape,
	    .batch = {.gpus = gpus, .has_checkpointing = true, .subgroup_params = 1e7},
	    .policy = "dos:stride=2",
	    .sharing = &sharing_fluid,
	    .is_unfolded = is_unfolded}};
}

static void describe(struct jsonw *w, const struct simulation *s)
{
	const struct timeline *const t = &s->trial.timeline;

	jsonw_member_number(w, "ranks", s->trial.workload.batch.gpus);
	jsonw_member_number(w, "ranks_written_out", (double)s->trial.schedule.n_ranks);
	jsonw_member_integer(w, "subgroups", (long long)s->trial.workload.n_subgroups);
	jsonw_member_integer(w, "ops", (long long)t->n_ops);
	jsonw_member_number(w, "mean_concurrency", t->concurrency);
	jsonw_member_integer(w, "rate_changes", (long long)t->n_rate_changes);
	jsonw_member_integer(w, "allocations", (long long)t->n_allocations);
}

static void bench_one(struct jsonw *w, const char *key, struct simulation s, const char *rate_key)
{
	const double budget_s = 0.2;
	const struct spread spread = spread_rate(simulate, &s, budget_s, false);

	jsonw_key(w, key);
	jsonw_object(w);
	describe(w, &s);
	spread_json(w, rate_key, &spread);
	jsonw_end_object(w);
	arena_release(&s.arena);
}

void bench_simulate(struct jsonw *w, const struct hwprofile *hw)
{
	struct simulation many = simulation_of(hw, hw->gpus, true);

	many.counts_ops = true;
	many.input.policy = "dos:stride=2,chain=duplex,downscale=eager";
	bench_one(w, "simulate_1_rank", simulation_of(hw, 1, false), "simulations_per_s");
	bench_one(w, "simulate_4_ranks", simulation_of(hw, 4, false), "simulations_per_s");
	bench_one(w, "simulate_4_ranks_written_out", simulation_of(hw, 4, true), "simulations_per_s");
	bench_one(w, "fluid_completions", many, "completions_per_s");
}

/* ---- growth */

enum { N_SIZES = 4 };
static const double sizes[N_SIZES] = {100, 1000, 10000, 100000};

/* Slope of log time over log size. */
static double exponent(const double seconds[N_SIZES])
{
	double x = 0, y = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < N_SIZES; i++) {
		const double log_size = log(sizes[i]), log_s = log(seconds[i]);
		x += log_size;
		y += log_s;
		xx += log_size * log_size;
		xy += log_size * log_s;
	}
	return (N_SIZES * xy - x * y) / (N_SIZES * xx - x * x);
}

void bench_growth(struct jsonw *w, const struct hwprofile *hw)
{
	double seconds[N_SIZES];

	jsonw_key(w, "update_over_subgroups");
	jsonw_object(w);
	jsonw_key(w, "sizes");
	jsonw_array(w);
	for (size_t i = 0; i < N_SIZES; i++) {
		struct simulation s = simulation_of(hw, 1, false);
		s.input.batch.n_subgroups = sizes[i];
		const struct spread rate = spread_rate(simulate, &s, 0.05, false);
		seconds[i] = 1 / rate.median;
		jsonw_inline_object(w);
		jsonw_member_number(w, "subgroups", sizes[i]);
		jsonw_member_number(w, "simulation_s", seconds[i]);
		jsonw_member_number(w, "ns_per_op", 1e9 * seconds[i] / (double)s.trial.timeline.n_ops);
		jsonw_end_object(w);
		arena_release(&s.arena);
	}
	jsonw_end_array(w);
	jsonw_member_number(w, "exponent", exponent(seconds));
	jsonw_end_object(w);
}

void bench_only_simulate(const struct hwprofile *hw, size_t n)
{
	struct simulation s = simulation_of(hw, 1, false);

	for (size_t i = 0; i < n; i++)
		run_once(&s);
	arena_release(&s.arena);
}
