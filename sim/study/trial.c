/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/trial.h"

#include "sim/engine.h"

/* Returns the parameters of a rank whose update runs on the GPU. */
static double place_all(struct trial *t, struct arena *arena)
{
	double gpu_params = 0;
	t->places = arena_alloc(arena, t->workload.n_subgroups, sizeof *t->places);
	t->use.policy->place(t->places, t->use.params, &t->workload);
	for (size_t x = 0; x < t->workload.n_subgroups; x++)
		gpu_params += t->places[x] == PLACE_CPU ? 0 : t->workload.subgroups[x].n_params;
	return gpu_params;
}

/* What lies between nodes must be known. */
static int check_nodes(const struct batch *batch, const struct hwprofile *hw, struct err *err)
{
	if (batch->nodes <= 1 || hw->network_Bps > 0)
		return 0;
	return err_set(err, STATUS_USAGE, "--nodes %.0f: %s does not say how fast its network is: \"network_Bps\": {\"value\": bytes/s of a "
	    "node, a direction, \"kind\": \"assumed\"} among the values of the profile would be accepted", batch->nodes, hw->name);
}

int trial_workload(struct workload *workload, const struct hwprofile *hw, const struct shape *shape, const struct batch *batch,
    struct arena *arena, struct err *err)
{
	struct batch filled = *batch;
	if (filled.gpus <= 0)
		filled.gpus = hw->gpus;
	if (filled.gpus > hw->gpus)
		return err_set(err, STATUS_USAGE, "--gpus %.0f: %s has %.0f; up to that would be accepted, and --nodes takes several of it%s", filled.gpus,
		    hw->name, hw->gpus, hw->network_Bps > 0 ? "" : " once it says network_Bps");
	if (check_nodes(&filled, hw, err))
		return err->code;
	return workload_build(workload, shape, &filled, arena, err);
}

/* All of it is written out, operation by operation: at the limit a run holds 5 GB. */
static int check_size(const struct workload *w, struct err *err)
{
	const double n_layers = w->is_update_only ? 0 : w->shape.layers * w->batch.grad_accum;
	if (n_layers + (double)w->n_subgroups <= TRIAL_PARTS_MAX)
		return 0;
	return err_set(err, STATUS_USAGE, "%.15g layers in micro-batches and %zu subgroups are too much to simulate; up to %d in sum would be "
	    "accepted (--grad-accum, --layers, --n-subgroups, --subgroup)", n_layers, w->n_subgroups, TRIAL_PARTS_MAX);
}

/* Up to the schedule, which is empty. */
static int prepare(struct trial *t, const struct trial_input *in, bool is_run, struct arena *arena, struct err *err)
{
	if (in->sharing == &sharing_measured && in->hw->n_corun == 0)
		return err_set(err, STATUS_USAGE, "--contention measured: %s has no contention grid (corun); accepted are fluid, none",
		    in->hw->name);
	int code = 0;
	if (in->workload) {
		t->workload = *in->workload;
		code = check_nodes(&t->workload.batch, in->hw, err);
	} else {
		code = trial_workload(&t->workload, in->hw, &in->shape, &in->batch, arena, err);
	}
	if (!code && is_run)
		code = check_size(&t->workload, err);
	if (!code)
		code = policy_use_parse(&t->use, in->policy, arena, err);
	if (!code)
		code = policy_check_batch(t->use.policy, t->use.params, &t->workload.batch, err);
	if (code)
		return code;
	const struct policy *const policy = t->use.policy;
	if (policy->resolve)
		policy->resolve(t->use.params, in->hw, &t->workload, in->threads);
	t->policy = policy_use_canonical(&t->use, arena);
	t->gpu_params = place_all(t, arena);
	cost_init(&t->cost, in->hw, &t->workload, in->threads, policy->workers ? policy->workers(t->use.params) : 0);
	schedule_init(&t->schedule, &t->cost, arena);
	return 0;
}

int trial_run(struct trial *t, const struct trial_input *in, struct arena *arena, struct err *err)
{
	if (prepare(t, in, true, arena, err))
		return err->code;
	const struct iteration_plan plan = {.workload = &t->workload, .use = &t->use, .places = t->places,
	    .recorded = in->recorded, .sync = in->sync,
	    .n_iterations = in->n_iterations ? in->n_iterations : ITERATIONS, .n_ranks = in->is_unfolded ? (size_t)t->workload.batch.gpus : 1};
	iteration_build(&t->schedule, &plan);
	engine_run(&t->timeline, &t->schedule, in->sharing, arena);
	metrics_compute(&t->metrics, &t->timeline, &t->schedule, &t->workload, t->gpu_params, arena);
	return 0;
}

int trial_memory(struct metrics *m, const struct trial_input *in, struct arena *arena, struct err *err)
{
	const bool is_update_only = in->workload ? in->workload->is_update_only : in->batch.n_subgroups > 0;
	struct trial t;

	if (is_update_only ? prepare(&t, in, false, arena, err) : trial_run(&t, in, arena, err))
		return err->code;
	if (is_update_only) {
		iteration_hold(&t.schedule, &t.workload, &t.use, t.places);
		metrics_held(&t.metrics, &t.schedule, &t.workload, arena);
	}
	*m = t.metrics;
	return 0;
}

static void add_micro_batches(struct metrics *m, const struct metrics *one_less, double n)
{
	m->forward_s += n * (m->forward_s - one_less->forward_s);
	m->backward_s += n * (m->backward_s - one_less->backward_s);
	m->iteration_s += n * (m->iteration_s - one_less->iteration_s);
}

int trial_run_short(
    struct metrics *m, const char **policy, const struct trial_input *in, struct arena *arena, struct err *err)
{
	enum { MICRO_BATCHES = 4 };
	const double n_more = in->batch.grad_accum - MICRO_BATCHES;
	struct trial_input input = *in;
	struct trial trial, less;

	if (n_more > 0)
		input.batch.grad_accum = MICRO_BATCHES;
	if (trial_run(&trial, &input, arena, err))
		return err->code;
	*m = trial.metrics;
	if (policy)
		*policy = trial.policy;
	input.batch.grad_accum = MICRO_BATCHES - 1;
	if (n_more > 0 && trial_run(&less, &input, arena, err))
		return err->code;
	if (n_more > 0)
		add_micro_batches(m, &less.metrics, n_more);
	return 0;
}
