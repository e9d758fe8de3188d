/* SPDX-License-Identifier: GPL-3.0-or-later
 * A plan's report for people. */
#include <math.h>
#include <string.h>

#include "model/split.h"
#include "sim/cli/plan_report.h"
#include "sim/cli/uncertainty.h"

enum { LABEL = 12, CHANGES_SHOWN = 14 };

struct texts {
	char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX], d[UNITS_TEXT_MAX];
};

/* ---- the best */

static void print_counts(FILE *out, const struct plan *plan)
{
	const struct plan_counts *const n = &plan->counts;

	fprintf(out, "%-*s%zu alternatives: %zu do not fit by a bound on memory, %zu are slower by a bound on time, %zu simulated", LABEL,
	    "searched", n->n, n->n_unfit, n->n_slower + n->n_slower_batch, n->n_simulated);
	fprintf(out, n->n_refused ? ", %zu refused\n" : "\n", n->n_refused);
}

static void print_head(FILE *out, const struct plan_report *r, struct arena *arena)
{
	const struct workload *const w = &r->plan->space.batches[0].workload;
	const struct hwprofile *const hw = r->plan->query.hw;
	struct texts t;

	fprintf(out, "%-*s%s on %s: %s parameters, %s%s, %.0f tokens a sequence, contention %s\n", LABEL, "plan", w->shape.name,
	    hw->name, units_print(t.a, UNIT_PARAMS, w->n_params), batch_gpus_text(&w->batch, arena), batch_parallel_text(&w->batch, arena), w->batch.seq,
	    r->plan->query.sharing->name);
	fprintf(out, "%-*s%s of GPU memory", LABEL, "limits", units_print(t.a, UNIT_BYTES, hw->gpu_memory_bytes));
	if (r->allowance_frac > 0)
		fprintf(out, " (%s less %s for fragmentation)", units_print(t.b, UNIT_BYTES, r->hw->gpu_memory_bytes),
		    units_print(t.c, UNIT_FRAC, r->allowance_frac));
	fprintf(out, ", %s of host memory", units_print(t.a, UNIT_BYTES, hw->host_memory_bytes));
	if (hw->pinned_max_bytes < hw->host_memory_bytes)
		fprintf(out, ", %s pinned", units_print(t.b, UNIT_BYTES, hw->pinned_max_bytes));
	putc('\n', out);
	print_counts(out, r->plan);
	putc('\n', out);
}

static void print_phases(FILE *out, const struct plan_report *r)
{
	const struct metrics *const m = &r->trial.metrics;
	const double phases_s[PHASE_N] = {m->forward_s, m->backward_s, m->update_s, m->other_s};
	struct texts t;
	double share;

	fprintf(out, "%-*s%-10s %7s   limited by\n", LABEL, "phase", "time", "share");
	for (enum phase phase = 0; phase < PHASE_N; phase++) {
		const enum res res = phase_limits_worst(&share, &r->limits, phase);
		if (phases_s[phase] <= 0)
			continue;
		fprintf(out, "%-*s%-10s %7s   ", LABEL, phase_names[phase], units_print(t.a, UNIT_SECONDS, phases_s[phase]),
		    units_print(t.b, UNIT_FRAC, phases_s[phase] / m->iteration_s));
		if (res < RES_N)
			fprintf(out, "%s, %s of the phase's critical path", res_names[res], units_print(t.c, UNIT_FRAC, share));
		putc('\n', out);
	}
	putc('\n', out);
}

/* A column of print_memory. */
struct peak {
	double peak_bytes, limit_bytes; /* limit: before the allowance */
	double allowance_bytes; /* kept free for fragmentation */
	const double *parts; /* [MEM_N] of a rank */
	double n_ranks;
};

static void memory_line(FILE *out, const char *label, double gpu_bytes, double host_bytes)
{
	char gpu[UNITS_TEXT_MAX] = "", host[UNITS_TEXT_MAX] = "";

	if (gpu_bytes > 0)
		units_print(gpu, UNIT_BYTES, gpu_bytes);
	if (host_bytes > 0)
		units_print(host, UNIT_BYTES, host_bytes);
	fprintf(out, "%-24s%10s  %10s\n", label, gpu, host);
}

static double free_bytes(const struct peak *p)
{
	return fmax(0, p->limit_bytes - p->peak_bytes - p->allowance_bytes);
}

/* Every byte of both peaks, and what is left. */
static void print_memory(FILE *out, const struct peak *gpu, const struct peak *host)
{
	fprintf(out, "%-24s%10s  %10s\n", "memory at its peak", "one GPU", "host");
	for (size_t i = 0; i < MEM_N; i++)
		if (gpu->parts[i] > 0 || host->parts[i] > 0)
			memory_line(out, mem_names[i], gpu->n_ranks * gpu->parts[i], host->n_ranks * host->parts[i]);
	memory_line(out, "peak", gpu->peak_bytes, host->peak_bytes);
	if (gpu->allowance_bytes > 0)
		memory_line(out, "fragmentation allowance", gpu->allowance_bytes, 0);
	memory_line(out, "free", free_bytes(gpu), free_bytes(host));
	memory_line(out, "limit", gpu->limit_bytes, host->limit_bytes);
}

/* The interval of the best, and what it comes from. */
static void print_sure(FILE *out, const struct plan_report *r, struct arena *arena)
{
	const struct outcome *const o = plan_report_policy_outcome(r, r->plan->best);
	struct texts t;

	if (!o)
		return;
	const struct interval *const v = &o->of[QUANTITY_ITERATION];
	const double tokens = r->plan->space.batches[r->plan->policies[r->plan->best].best.batch].tokens;
	fprintf(out, "%-*s%s to %s", LABEL, "surely", units_print(t.a, UNIT_SECONDS, v->lo), units_print(t.b, UNIT_SECONDS, v->hi));
	fprintf(out, ", %s to %s tokens/s with 90 %% probability: profile +- %s, model +- %s\n", plan_report_rate(t.a, tokens / v->hi),
	    plan_report_rate(t.b, tokens / v->lo), units_print(t.c, UNIT_FRAC, v->parameter_frac),
	    units_print(t.d, UNIT_FRAC, v->discrepancy_frac));
	fprintf(out, "%-*sbest of the policies in %s of %zu draws, better than every change below in %s; fits with %s probability\n", LABEL, "",
	    outcome_share(o->p_best, arena), r->sure->uncertainty->n_samples, outcome_share(r->sure->p_best_unchanged, arena),
	    outcome_share(o->p_fits, arena));
}

static void print_best(FILE *out, const struct plan_report *r, struct arena *arena)
{
	const struct workload *const w = &r->trial.workload;
	const struct metrics *const m = &r->trial.metrics;
	const struct plan_choice *const best = &r->plan->policies[r->plan->best].best;
	const struct hwprofile *const hw = r->plan->query.hw;
	struct texts t;

	fprintf(out, "%-*s%s\n", LABEL, "best", plan_report_spec(r->trial.policy, arena));
	fprintf(out, "%-*s%.0f x %.0f sequences a GPU, subgroups of %s (%zu), checkpointing %s\n", LABEL, "", w->batch.mbs,
	    w->batch.grad_accum, units_print(t.a, UNIT_PARAMS, w->batch.subgroup_params), w->n_subgroups,
	    w->batch.has_checkpointing ? "on" : "off");
	fprintf(out, "%-*s%s\n", LABEL, "run", plan_report_command(r, arena));
	fprintf(out, "%-*s%s for %.0f tokens: %s tokens/s, %s of the GPUs' peak FLOPs\n", LABEL, "iteration",
	    units_print(t.a, UNIT_SECONDS, m->iteration_s), r->plan->space.batches[best->batch].tokens,
	    plan_report_rate(t.c, 1 / best->s_per_token), units_print(t.b, UNIT_FRAC, plan_report_utilization(w, hw, m->iteration_s)));
	print_sure(out, r, arena);
	if (r->sensitivities && plan_report_unchecked(r))
		fprintf(out, "%-*s%s\n", LABEL, "unchecked", plan_report_unchecked(r));
	putc('\n', out);
	print_phases(out, r);
	const struct peak gpu = {m->gpu_peak_bytes, r->hw->gpu_memory_bytes, r->allowance_frac * r->hw->gpu_memory_bytes,
	    m->peak_bytes[POOL_GPU], 1};
	const struct peak host = {m->host_peak_bytes, fmin(hw->host_memory_bytes, hw->pinned_max_bytes), 0, m->peak_bytes[POOL_HOST],
	    w->batch.gpus};
	print_memory(out, &gpu, &host);
	if (r->megatron)
		fprintf(out, "\n%-*s%s\n", LABEL, "megatron", r->megatron);
	putc('\n', out);
}

/* ---- the others */

static const char *verdict(const struct plan_report *r, const struct plan_choice *choice, const struct outcome *outcome, struct arena *arena)
{
	struct texts t;

	if (!choice->metrics.fits)
		return plan_report_shortage(&choice->metrics, r->plan->query.hw, arena);
	if (!plan_report_has_best(r))
		return "fits";
	const double slower_frac = plan_report_slower(r, choice);
	return fabs(slower_frac) < 1e-9 ? "as fast" : arena_printf(arena, "%s %s%s", units_print(t.a, UNIT_FRAC, fabs(slower_frac)),
						  slower_frac > 0 ? "slower" : "faster",
						  outcome && outcome_is_open(outcome) ? ", within the uncertainty" : "");
}

static const char *setting(const struct workload *w, struct arena *arena)
{
	struct texts t;

	return arena_printf(arena, "mbs %.0f x %.0f, S %s, ckpt %s", w->batch.mbs, w->batch.grad_accum,
	    units_print(t.a, UNIT_PARAMS, w->batch.subgroup_params), w->batch.has_checkpointing ? "on" : "off");
}

static const char *spec_of(const struct plan *plan, const struct plan_choice *choice, struct arena *arena)
{
	struct trial_input input;
	struct err err = {0};

	return plan_input(&input, plan, choice->batch, choice->variant, arena, &err) ? "" : plan_report_spec(input.policy, arena);
}

/* The last columns of both tables; without intervals the first two of these are one. */
static const struct table_column certain_columns[] = {{"iteration_s", "iteration", UNIT_SECONDS}, {"rate", "tokens/s", UNIT_NONE},
    {"verdict", "against the best", UNIT_NONE}};
static const struct table_column open_columns[] = {{"iteration_s", "iteration", UNIT_NONE}, {"rate", "tokens/s", UNIT_NONE},
    {"parameter_frac", "profile", UNIT_FRAC}, {"discrepancy_frac", "model", UNIT_FRAC}, {"p_best", "best", UNIT_NONE},
    {"verdict", "against the best", UNIT_NONE}};
enum { COLUMNS_MAX = 10, N_CERTAIN = sizeof(certain_columns) / sizeof(certain_columns[0]),
	N_OPEN = sizeof(open_columns) / sizeof(open_columns[0]) };

static struct table *choices_new(const struct plan_report *r, const struct table_column *first, size_t n_first, bool has_source,
    struct arena *arena)
{
	struct table_column *const columns = arena_alloc(arena, COLUMNS_MAX, sizeof(*columns));
	size_t n = 0;

	for (size_t i = 0; i < n_first; i++)
		columns[n++] = first[i];
	for (size_t i = 0; i < (r->sure ? N_OPEN : N_CERTAIN); i++)
		columns[n++] = r->sure ? open_columns[i] : certain_columns[i];
	if (has_source)
		columns[n++] = (struct table_column){"source", NULL, UNIT_NONE};
	return table_new(columns, n);
}

/* What does not fit in any draw is no candidate. */
static void open_cells(struct table *table, const struct plan_report *r, const struct plan_choice *choice, const struct outcome *o,
    struct arena *arena)
{
	const struct interval *const v = &o->of[QUANTITY_ITERATION];

	table_text(table, uncertainty_text(v, UNIT_SECONDS, arena));
	table_text(table, plan_report_rates(v, r->plan->space.batches[choice->batch].tokens, arena));
	table_number(table, v->parameter_frac);
	table_number(table, v->discrepancy_frac);
	table_text(table, choice->metrics.fits || o->p_best > 0 ? outcome_share(o->p_best, arena) : NULL);
}

static void choice_cells(struct table *table, const struct plan_report *r, const struct plan_choice *choice, const struct outcome *outcome,
    struct arena *arena)
{
	char text[UNITS_TEXT_MAX];

	if (outcome) {
		open_cells(table, r, choice, outcome, arena);
	} else if (r->sure) {
		table_text(table, units_print(text, UNIT_SECONDS, choice->metrics.iteration_s));
		table_text(table, plan_report_rate(text, 1 / choice->s_per_token));
		for (size_t i = 0; i < N_OPEN - N_CERTAIN; i++)
			table_number(table, NAN);
	} else {
		table_number(table, choice->metrics.iteration_s);
		table_text(table, plan_report_rate(text, 1 / choice->s_per_token));
	}
	table_text(table, verdict(r, choice, outcome, arena));
}

static void refusal_cells(struct table *table, const struct plan_report *r, const char *refusal, struct arena *arena)
{
	for (size_t i = 1; i < (r->sure ? N_OPEN : N_CERTAIN); i++)
		table_text(table, "");
	table_text(table, arena_printf(arena, "refused: %s", refusal));
}

static void print_policies(FILE *out, const struct plan_report *r, struct arena *arena)
{
	static const struct table_column first[] = {{"policy", "best of each policy", UNIT_NONE}, {"batch", NULL, UNIT_NONE}};
	struct table *const table = choices_new(r, first, 2, r->common->is_verbose, arena);
	size_t *const order = arena_alloc(arena, r->plan->space.n_policies, sizeof(*order));

	plan_rank(order, r->plan);
	for (size_t i = 0; i < r->plan->space.n_policies; i++) {
		const struct plan_policy *const p = &r->plan->policies[order[i]];
		const struct plan_choice *const choice = p->has_best ? &p->best : &p->misfit;
		const bool is_known = p->has_best || p->has_misfit;
		table_text(table, is_known ? spec_of(r->plan, choice, arena) : p->policy->name);
		table_text(table, is_known ? setting(&r->plan->space.batches[choice->batch].workload, arena) : "");
		if (is_known)
			choice_cells(table, r, choice, plan_report_policy_outcome(r, order[i]), arena);
		else
			refusal_cells(table, r, p->refusal, arena);
		if (r->common->is_verbose)
			table_text(table, p->policy->source);
	}
	table_print(table, FORMAT_TABLE, out);
	table_free(table);
	putc('\n', out);
}

static void print_changes(FILE *out, const struct plan_report *r, struct arena *arena)
{
	static const struct table_column first[] = {{"change", "one change of the best", UNIT_NONE}};
	struct table *const table = choices_new(r, first, 1, false, arena);

	for (size_t i = 0; i < r->near.n && i < CHANGES_SHOWN; i++) {
		table_text(table, r->near.changes[i].text);
		choice_cells(table, r, &r->near.changes[i].choice, plan_report_change_outcome(r, i), arena);
	}
	table_print(table, FORMAT_TABLE, out);
	table_free(table);
	putc('\n', out);
}

/* ---- does offload pay? */

/* What a profile without a network is taken to have between machines: what its GPUs have, and one GPU needs nothing. */
static const char *network_text(const struct plan_report *r)
{
	if (r->pay.has_network)
		return "";
	return isfinite(r->plan->query.hw->all_gather_Bps) ? ", network as fast as inside one" : ", network not in the profile: taken to be infinite";
}

static void print_pay(FILE *out, const struct plan_report *r, struct arena *arena)
{
	const struct plan_pay *const pay = &r->pay;
	const double own_gpus = batch_ranks(&r->trial.workload.batch), hours = 1e9 / 3600;
	struct texts t;

	fprintf(out, "%-*s", LABEL, "offload");
	if (!pay->is_found) {
		fprintf(out, "is needed: without it the model does not fit on %.0f GPUs either\n\n", pay->gpus_tried);
		return;
	}
	if (r->trial.metrics.host_peak_bytes <= 0) {
		fprintf(out, "is not used: the optimizer's states fit on the GPUs, and are fastest there\n\n");
		return;
	}
	const double more_frac = pay->offload_gpu_s_per_token / pay->gpu_s_per_token - 1;
	if (pay->gpus <= own_gpus)
		fprintf(out, "is not needed: the optimizer fits on %.0f GPU%s", pay->gpus, pay->gpus > 1 ? "s" : "");
	else
		fprintf(out, "saves %.0f GPU%s: without it %.0f are needed", pay->gpus - own_gpus, pay->gpus - own_gpus > 1 ? "s" : "",
		    pay->gpus);
	if (pay->machines > 1)
		fprintf(out, " (%.0f machines%s)", pay->machines, network_text(r));
	fprintf(out, ", %s tokens/s\n%-*s%.4g GPU-hours per 1e9 tokens with this plan, %.4g without offload: ", plan_report_rate(t.b, 1 / pay->s_per_token),
	    LABEL, "", hours * pay->offload_gpu_s_per_token, hours * pay->gpu_s_per_token);
	fprintf(out, "%s: %s %s GPU time a token\n", more_frac <= 0 ? "the plan pays" : "the plan does not pay in GPU time",
	    units_print(t.a, UNIT_FRAC, fabs(more_frac)), more_frac <= 0 ? "less" : "more");
	if (r->sure && !isnan(r->sure->p_pays))
		fprintf(out, "%-*sit pays with %s probability, by what the model is off on other machines\n", LABEL, "",
		    outcome_share(r->sure->p_pays, arena));
	putc('\n', out);
}

/* ---- sensitivities */

static const char *break_even_text(const struct break_even *point, struct arena *arena)
{
	return isnan(point->factor) ? "" : arena_printf(arena, "%.3g at x%.3g", point->value, point->factor);
}

/* Is the next value of the option as good as that of the best, for all that is known? */
static bool has_open_value(const struct plan_report *r, const char *option)
{
	const size_t length = strlen(option);

	for (size_t i = 0; r->sure && i < r->near.n; i++)
		if (strncmp(r->near.changes[i].text, option, length) == 0 && r->near.changes[i].text[length] == '=' &&
		    r->near.changes[i].choice.metrics.fits && outcome_is_open(&r->sure->changes[i]))
			return true;
	return false;
}

static void print_sensitivities(FILE *out, const struct plan_report *r, struct arena *arena)
{
	const struct sensitivities *const s = r->sensitivities;
	const char *const option = s->option ? s->option : "share";
	const struct table_column columns[] = {{"resource", "+10 % of", UNIT_NONE}, {"stepped_s", "iteration", UNIT_SECONDS},
	    {"change_frac", "change", UNIT_NONE}, {"elasticity", NULL, UNIT_NONE},
	    {"down", arena_printf(arena, "best %s when slower", option), UNIT_NONE},
	    {"up", arena_printf(arena, "best %s when faster", option), UNIT_NONE}};
	struct table *const table = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < SENSITIVITY_N; i++) {
		const struct sensitivity *const one = &s->all[i];
		table_text(table, one->resource);
		table_number(table, one->stepped_s);
		table_text(table, arena_printf(arena, "%+.2f %%", 100 * (one->stepped_s / one->base_s - 1)));
		table_text(table, arena_printf(arena, "%+.2f", one->elasticity));
		table_text(table, break_even_text(&one->down, arena));
		table_text(table, break_even_text(&one->up, arena));
	}
	table_print(table, FORMAT_TABLE, out);
	table_free(table);
	if (s->option)
		fprintf(out, "%s %.3g is best of those tried now%s; from the given factor of the resource on, within x0.25 to x4, the other is\n",
		    s->option, s->best, has_open_value(r, s->option) ? ", and its neighbour within the uncertainty" : "");
	putc('\n', out);
}

void plan_report_text(FILE *out, const struct plan_report *r, struct arena *arena)
{
	print_head(out, r, arena);
	if (plan_report_has_best(r))
		print_best(out, r, arena);
	print_policies(out, r, arena);
	if (!plan_report_has_best(r))
		return;
	print_changes(out, r, arena);
	print_pay(out, r, arena);
	if (r->sensitivities)
		print_sensitivities(out, r, arena);
}
