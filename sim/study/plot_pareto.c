/* SPDX-License-Identifier: GPL-3.0-or-later
 * Time of a token against what it needs: GPUs, host memory, and price or power where the profile gives one. Each point is the best
 * that a plan of the policy finds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/split.h"
#include "sim/study/parallel.h"
#include "sim/study/plan.h"
#include "sim/study/plot.h"

enum { GPUS_MAX = 16, LIMITS = 10, POLICIES_MAX = 8 };
static const double GiB = 1073741824.0, million = 1e6;

struct pareto {
	const struct plot_source *source;
	struct plan_query query;
	double gpus[GPUS_MAX];
	size_t n_gpus;
	const char *names[POLICIES_MAX]; /* of policies */
	size_t n_policies;
	double time_s[GPUS_MAX][POLICIES_MAX]; /* of a million tokens; NAN: does not fit */
	double most_host_bytes; /* of any best with all GPUs */
	double hours_price, power_W; /* 0: not known */
	double least_s, most_s, most_cost, most_gib; /* of all points */
};

static void list_gpus(struct pareto *p)
{
	const double given = p->source->trial.batch.gpus, most = given > 0 ? given : p->source->trial.hw->gpus;

	for (double gpus = batch_tp(&p->source->trial.batch); gpus < most && p->n_gpus + 1 < GPUS_MAX; gpus *= 2)
		p->gpus[p->n_gpus++] = gpus;
	p->gpus[p->n_gpus++] = most;
}

static double n_nodes(const struct pareto *p)
{
	return fmax(1, p->source->trial.batch.nodes);
}

static void make_query(struct pareto *p)
{
	const struct plot_source *const source = p->source;

	p->query = (struct plan_query){.hw = source->trial.hw, .shape = source->shapes[0], .batch = source->trial.batch,
	    .has_checkpointing = true, .specs = source->specs, .keeps_words = true, .threads = source->trial.threads,
	    .sharing = source->trial.sharing, .sync = source->trial.sync, .n_workers = parallel_processors()};
	p->hours_price = source->trial.hw->price_per_hour;
	p->power_W = source->trial.hw->power_W;
}

static void take_names(struct pareto *p, const struct plan *plan)
{
	p->n_policies = plan->space.n_policies;
	for (size_t i = 0; i < p->n_policies; i++)
		p->names[i] = plan->policies[i].policy->name;
}

static int too_many(struct err *err)
{
	return err_set(err, STATUS_USAGE, "plot pareto: up to %d policies would be accepted", POLICIES_MAX);
}

/* ---- time over GPUs */

static int run_gpus(struct pareto *p, struct err *err)
{
	struct arena arena = {0};
	int code = 0;

	for (size_t i = 0; !code && i < p->n_gpus; i++) {
		struct plan plan;
		p->query.batch.gpus = p->gpus[i];
		arena_reset(&arena);
		code = plan_search(&plan, &p->query, &arena, err);
		if (!code && plan.space.n_policies > POLICIES_MAX)
			code = too_many(err);
		for (size_t j = 0; !code && j < plan.space.n_policies; j++) {
			const struct plan_policy *const policy = &plan.policies[j];
			p->time_s[i][j] = policy->has_best ? million * policy->best.s_per_token : NAN;
			if (policy->has_best && i + 1 == p->n_gpus)
				p->most_host_bytes = fmax(p->most_host_bytes, policy->best.metrics.host_peak_bytes);
		}
		if (!code)
			take_names(p, &plan);
	}
	arena_release(&arena);
	return code;
}

static void write_gpus(struct plot *plot, struct pareto *p)
{
	for (size_t i = 0; i < p->n_gpus; i++) {
		double line[2 * POLICIES_MAX + 1] = {n_nodes(p) * p->gpus[i]};
		for (size_t j = 0; j < p->n_policies; j++) {
			const double share = n_nodes(p) * p->gpus[i] / p->source->trial.hw->gpus; /* of a node, or several */
			const double hours = p->time_s[i][j] / 3600 * share;
			line[1 + j] = p->time_s[i][j];
			line[1 + p->n_policies + j] = p->hours_price > 0 ? hours * p->hours_price : hours * p->power_W / 1000;
			p->least_s = fmin(p->least_s, p->time_s[i][j]); /* of numbers: NAN is passed over */
			p->most_s = fmax(p->most_s, p->time_s[i][j]);
			p->most_cost = fmax(p->most_cost, line[1 + p->n_policies + j]);
		}
		plot_line(plot, line, 1 + 2 * p->n_policies);
	}
	plot_end_block(plot);
}

/* ---- time over host memory, with all GPUs */

struct front_point {
	double host_bytes, time_s;
};

/* Best times under limits of host memory from nothing to what the fastest of all need. */
static int run_front(struct front_point *points, size_t *n, struct pareto *p, const char *policy, struct err *err)
{
	struct arena arena = {0};
	int code = 0;

	*n = 0;
	for (size_t i = 0; !code && i <= LIMITS; i++) {
		struct hwprofile hw = *p->query.hw;
		struct plan_query query = p->query;
		struct opt_list specs = {0};
		struct plan plan;
		arena_reset(&arena);
		opt_list_add(&specs, policy, &arena);
		hw.host_memory_bytes = fmin(hw.host_memory_bytes, (double)i / LIMITS * p->most_host_bytes * 1.02 + 1);
		query.hw = &hw;
		query.specs = &specs;
		query.batch.gpus = p->gpus[p->n_gpus - 1];
		code = plan_search(&plan, &query, &arena, err);
		if (code || plan.best == plan.space.n_policies)
			continue;
		const struct plan_choice *const best = &plan.policies[plan.best].best;
		if (*n == 0 || million * best->s_per_token < points[*n - 1].time_s)
			points[(*n)++] = (struct front_point){best->metrics.host_peak_bytes, million * best->s_per_token};
	}
	arena_release(&arena);
	return code;
}

/* The SPEC of a policy as it was asked for, or its name. */
static const char *spec_of(const struct pareto *p, const char *name)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i < p->source->specs->n; i++)
		if (strncmp(p->source->specs->items[i], name, length) == 0 && strchr(":", p->source->specs->items[i][length]))
			return p->source->specs->items[i];
	return name;
}

static int write_fronts(struct plot *plot, struct pareto *p, struct err *err)
{
	for (size_t i = 0; i < p->n_policies; i++) {
		struct front_point points[LIMITS + 1];
		size_t n;
		if (run_front(points, &n, p, spec_of(p, p->names[i]), err))
			return err->code;
		for (size_t j = 0; j < n; j++) {
			plot_line(plot, (const double[]){points[j].host_bytes / GiB, points[j].time_s}, 2);
			p->most_gib = fmax(p->most_gib, points[j].host_bytes / GiB);
		}
		if (n == 0)
			plot_line(plot, (const double[]){NAN, NAN}, 2);
		plot_end_block(plot);
	}
	return 0;
}

/* ---- the plot */

/* Names for the legend: a policy without a point says so. */
static void mark_absent(struct pareto *p, struct arena *arena)
{
	for (size_t j = 0; j < p->n_policies; j++) {
		bool is_there = false;
		for (size_t i = 0; i < p->n_gpus; i++)
			is_there = is_there || !isnan(p->time_s[i][j]);
		if (!is_there)
			p->names[j] = arena_printf(arena, "%s (does not fit)", p->names[j]);
	}
}

static const char *subtitle(const struct pareto *p, struct arena *arena)
{
	const struct batch *const b = &p->source->trial.batch;

	const char *const cost = p->hours_price > 0 ? "; price by the share of the node's GPUs"
	    : p->power_W > 0                    ? "; energy: the GPUs' share of the node's power"
						: "";

	const char *const nodes = b->nodes > 1 ? arena_printf(arena, ", %.0f nodes", b->nodes) : "";
	return arena_printf(arena, "%s on %s%s, %.0f tokens a sequence, checkpointing %s\neach point: the best options%s of the policy that fit%s",
	    p->query.shape.name, p->query.hw->name, nodes, b->seq > 0 ? b->seq : 2048, b->has_checkpointing ? "on" : "off",
	    b->mbs > 0 ? "" : " and micro-batch", cost);
}

int plot_pareto(struct plot *plot, const struct plot_source *source, struct err *err)
{
	struct pareto *const p = arena_zalloc(plot->arena, 1, sizeof(*p));

	if (source->n_shapes > 1)
		return err_set(err, STATUS_USAGE, "plot pareto: one model would be accepted");
	p->source = source;
	p->least_s = INFINITY;
	list_gpus(p);
	make_query(p);
	if (run_gpus(p, err))
		return err->code;
	write_gpus(plot, p);
	if (p->most_s <= 0)
		return err_set(err, STATUS_NO, "plot pareto: %s fits on no number of GPUs of %s; dos plan says what is short", p->query.shape.name,
		    p->query.hw->name);
	if (write_fronts(plot, p, err))
		return err->code;
	mark_absent(p, plot->arena);
	plot_texts(plot, "label", p->names, p->n_policies);
	plot_legend(plot, p->names, p->n_policies, 0, 860);
	plot_number(plot, "has_cost", p->hours_price > 0 || p->power_W > 0);
	plot_text(plot, "cost", p->hours_price > 0 ? "price of 1e6 tokens" : "energy of 1e6 tokens (kWh)");
	plot_number(plot, "gpus", n_nodes(p) * p->gpus[p->n_gpus - 1]);
	plot_number(plot, "least_s", p->least_s);
	plot_number(plot, "most_s", p->most_s);
	plot_number(plot, "most_cost", p->most_cost);
	plot_number(plot, "most_gib", p->most_gib);
	plot_heading(plot, "Time against what it needs", subtitle(p, plot->arena),
	    arena_printf(plot->arena, "Profile %s: %s", source->trial.hw->name, source->trial.hw->summary), source);
	return 0;
}
