/* SPDX-License-Identifier: GPL-3.0-or-later
 * A plan's report for programs. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "sim/cli/plan_report.h"
#include "sim/cli/trial_print.h"
#include "sim/cli/uncertainty.h"

enum { KEY_MAX = 32 };

static const char *key_of(char key[KEY_MAX], const char *name)
{
	size_t n = 0;

	for (; name[n] && n + 1 < KEY_MAX; n++)
		key[n] = name[n] == ' ' ? '_' : name[n];
	key[n] = '\0';
	return key;
}

/* ---- alternatives */

static void json_batch(struct jsonw *w, const struct workload *workload, double tokens)
{
	const struct batch *const b = &workload->batch;

	jsonw_member_number(w, "gpus", b->gpus);
	jsonw_member_number(w, "nodes", b->nodes);
	trial_json_parallel(w, b);
	jsonw_member_number(w, "mbs", b->mbs);
	jsonw_member_number(w, "grad_accum", b->grad_accum);
	jsonw_member_number(w, "seq", b->seq);
	jsonw_member_number(w, "tokens", tokens);
	jsonw_member_bool(w, "checkpointing", b->has_checkpointing);
	jsonw_member_number(w, "subgroup_params", b->subgroup_params);
	jsonw_member_integer(w, "n_subgroups", (long long)workload->n_subgroups);
}

static void json_peak(struct jsonw *w, const char *name, const double peak_bytes[MEM_N], double n_ranks)
{
	char key[KEY_MAX];

	jsonw_key(w, name);
	jsonw_inline_object(w);
	for (size_t i = 0; i < MEM_N; i++)
		if (peak_bytes[i] > 0)
			jsonw_member_number(w, key_of(key, mem_names[i]), n_ranks * peak_bytes[i]);
	jsonw_end_object(w);
}

static void json_metrics(struct jsonw *w, const struct metrics *m, double n_ranks)
{
	jsonw_member_number(w, "forward_s", m->forward_s);
	jsonw_member_number(w, "backward_s", m->backward_s);
	jsonw_member_number(w, "update_s", m->update_s);
	jsonw_member_number(w, "other_s", m->other_s);
	jsonw_member_number(w, "iteration_s", m->iteration_s);
	jsonw_member_number(w, "gpu_peak_bytes", m->gpu_peak_bytes);
	jsonw_member_number(w, "host_peak_bytes", m->host_peak_bytes);
	json_peak(w, "gpu_peak_of", m->peak_bytes[POOL_GPU], 1);
	json_peak(w, "host_peak_of", m->peak_bytes[POOL_HOST], n_ranks);
	jsonw_member_bool(w, "fits", m->fits);
	jsonw_member_string(w, "reason", m->reason);
	jsonw_member_number(w, "gpu_fraction_frac", m->gpu_fraction_frac);
	jsonw_member_string(w, "bottleneck", res_names[m->bottleneck]);
}

static const char *spec_of(const struct plan *plan, const struct plan_choice *choice, struct arena *arena)
{
	struct trial_input input;
	struct err err = {0};

	return plan_input(&input, plan, choice->batch, choice->variant, arena, &err) ? NULL : input.policy;
}

/* Nothing without --uncertainty. */
static void json_outcome(struct jsonw *w, const struct outcome *o, double tokens)
{
	if (!o)
		return;
	const struct interval *const v = &o->of[QUANTITY_ITERATION];
	uncertainty_json_intervals(w, o->of);
	jsonw_key(w, "tokens_per_s_interval");
	jsonw_inline_object(w);
	jsonw_member_number(w, "lo", tokens / v->hi);
	jsonw_member_number(w, "hi", tokens / v->lo);
	jsonw_end_object(w);
	jsonw_member_number(w, "p_best", o->p_best);
	jsonw_member_number(w, "p_faster", o->p_faster);
	jsonw_member_number(w, "p_fits", o->p_fits);
}

/* Members of an open object. */
static void json_choice(struct jsonw *w, const struct plan_report *r, const struct plan_choice *choice, const struct outcome *outcome,
    struct arena *arena)
{
	const struct plan_batch *const batch = &r->plan->space.batches[choice->batch];
	const struct metrics *const m = &choice->metrics;
	const struct hwprofile *const hw = r->plan->query.hw;

	jsonw_member_string(w, "policy", spec_of(r->plan, choice, arena));
	json_batch(w, &batch->workload, batch->tokens);
	json_metrics(w, m, batch->workload.batch.gpus);
	jsonw_member_number(w, "tokens_per_s", 1 / choice->s_per_token);
	jsonw_member_number(w, "flop_utilization_frac", plan_report_utilization(&batch->workload, hw, m->iteration_s));
	jsonw_member_number(w, "slower_frac", plan_report_has_best(r) ? plan_report_slower(r, choice) : NAN);
	jsonw_member_number(w, "gpu_short_bytes", plan_shortage(m, hw, POOL_GPU));
	jsonw_member_number(w, "host_short_bytes", plan_shortage(m, hw, POOL_HOST));
	json_outcome(w, outcome, batch->tokens);
}

static void json_policies(struct jsonw *w, const struct plan_report *r, struct arena *arena)
{
	size_t *const order = arena_alloc(arena, r->plan->space.n_policies, sizeof(*order));

	plan_rank(order, r->plan);
	jsonw_key(w, "policies");
	jsonw_array(w);
	for (size_t i = 0; i < r->plan->space.n_policies; i++) {
		const struct plan_policy *const p = &r->plan->policies[order[i]];
		jsonw_object(w);
		jsonw_member_string(w, "name", p->policy->name);
		if (p->has_best || p->has_misfit)
			json_choice(w, r, p->has_best ? &p->best : &p->misfit, plan_report_policy_outcome(r, order[i]), arena);
		else
			jsonw_member_string(w, "refusal", p->refusal);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void json_changes(struct jsonw *w, const struct plan_report *r, struct arena *arena)
{
	jsonw_key(w, "changes");
	jsonw_array(w);
	for (size_t i = 0; i < r->near.n; i++) {
		jsonw_object(w);
		jsonw_member_string(w, "change", r->near.changes[i].text);
		json_choice(w, r, &r->near.changes[i].choice, plan_report_change_outcome(r, i), arena);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

/* ---- the rest */

static void json_question(struct jsonw *w, const struct plan_report *r)
{
	const struct plan_query *const q = &r->plan->query;
	const struct workload *const workload = &r->plan->space.batches[0].workload;

	jsonw_member_string(w, "hw", q->hw->name);
	jsonw_member_string(w, "model", workload->shape.name);
	jsonw_member_number(w, "n_params", workload->n_params);
	jsonw_member_number(w, "tokens_per_batch", q->tokens_per_batch > 0 ? q->tokens_per_batch : NAN);
	jsonw_member_string(w, "contention", q->sharing->name);
	jsonw_member_string(w, "sync", sync_names[q->sync]);
	jsonw_member_string(w, "scale", r->scale);
	jsonw_member_number(w, "gpu_memory_bytes", r->hw->gpu_memory_bytes);
	jsonw_member_number(w, "allowance_frac", r->allowance_frac);
	jsonw_member_number(w, "host_memory_bytes", q->hw->host_memory_bytes);
	jsonw_member_number(w, "pinned_max_bytes", q->hw->pinned_max_bytes);
}

static void json_counts(struct jsonw *w, const struct plan_counts *n)
{
	jsonw_key(w, "alternatives");
	jsonw_inline_object(w);
	jsonw_member_integer(w, "n", (long long)n->n);
	jsonw_member_integer(w, "n_refused", (long long)n->n_refused);
	jsonw_member_integer(w, "n_unfit", (long long)n->n_unfit);
	jsonw_member_integer(w, "n_slower", (long long)n->n_slower + (long long)n->n_slower_batch);
	jsonw_member_integer(w, "n_simulated", (long long)n->n_simulated);
	jsonw_end_object(w);
}

static void json_limits(struct jsonw *w, const struct plan_report *r)
{
	jsonw_key(w, "limited_by");
	jsonw_object(w);
	for (enum phase phase = 0; phase < PHASE_N; phase++) {
		double share;
		if (phase_limits_worst(&share, &r->limits, phase) == RES_N)
			continue;
		jsonw_key(w, phase_names[phase]);
		jsonw_inline_object(w);
		for (size_t res = 0; res < RES_N; res++)
			if (r->limits.path_s[phase][res] > 0)
				jsonw_member_number(w, res_names[res], r->limits.path_s[phase][res]);
		jsonw_end_object(w);
	}
	jsonw_end_object(w);
}

static void json_pay(struct jsonw *w, const struct plan_report *r)
{
	const struct plan_pay *const pay = &r->pay;
	const double hours = 1e9 / 3600;

	jsonw_key(w, "without_offload");
	jsonw_object(w);
	jsonw_member_number(w, "gpus", pay->is_found ? pay->gpus : NAN);
	jsonw_member_number(w, "machines", pay->is_found ? pay->machines : NAN);
	jsonw_member_number(w, "gpus_tried", pay->gpus_tried);
	jsonw_member_number(w, "tokens_per_s", pay->is_found ? 1 / pay->s_per_token : NAN);
	jsonw_member_number(w, "gpu_hours_per_1e9_tokens", pay->is_found ? hours * pay->gpu_s_per_token : NAN);
	jsonw_member_number(w, "offload_gpu_hours_per_1e9_tokens", hours * pay->offload_gpu_s_per_token);
	jsonw_member_number(w, "mbs", pay->is_found ? pay->input.batch.mbs : NAN);
	jsonw_member_number(w, "grad_accum", pay->is_found ? pay->input.batch.grad_accum : NAN);
	jsonw_member_bool(w, "offload_pays", !pay->is_found || pay->offload_gpu_s_per_token <= pay->gpu_s_per_token);
	if (r->sure)
		jsonw_member_number(w, "p_pays", r->sure->p_pays);
	jsonw_end_object(w);
}

static void json_break_even(struct jsonw *w, const char *key, const struct break_even *point)
{
	jsonw_key(w, key);
	jsonw_inline_object(w);
	jsonw_member_number(w, "factor", point->factor);
	jsonw_member_number(w, "value", point->value);
	jsonw_end_object(w);
}

static void json_sensitivities(struct jsonw *w, const struct sensitivities *s)
{
	jsonw_key(w, "sensitivities");
	jsonw_object(w);
	jsonw_member_string(w, "option", s->option);
	jsonw_member_number(w, "best", s->best);
	jsonw_key(w, "resources");
	jsonw_array(w);
	for (size_t i = 0; i < SENSITIVITY_N; i++) {
		const struct sensitivity *const one = &s->all[i];
		jsonw_object(w);
		jsonw_member_string(w, "resource", one->resource);
		jsonw_member_number(w, "factor", one->step);
		jsonw_member_number(w, "iteration_s", one->stepped_s);
		jsonw_member_number(w, "elasticity", one->elasticity);
		json_break_even(w, "slower", &one->down);
		json_break_even(w, "faster", &one->up);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_end_object(w);
}

void plan_report_json(FILE *out, const struct plan_report *r, struct arena *arena)
{
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_member_string(&w, "schema", "dos-plan/1");
	json_question(&w, r);
	json_counts(&w, &r->plan->counts);
	if (r->sure)
		uncertainty_json_about(&w, r->sure->uncertainty);
	jsonw_member_bool(&w, "fits", plan_report_has_best(r));
	if (plan_report_has_best(r)) {
		jsonw_key(&w, "best");
		jsonw_object(&w);
		json_choice(&w, r, &r->plan->policies[r->plan->best].best, plan_report_policy_outcome(r, r->plan->best), arena);
		if (r->sure)
			jsonw_member_number(&w, "p_best_unchanged", r->sure->p_best_unchanged);
		jsonw_member_string(&w, "command", plan_report_command(r, arena));
		json_limits(&w, r);
		jsonw_member_string(&w, "megatron", r->megatron);
		jsonw_end_object(&w);
	}
	json_policies(&w, r, arena);
	if (plan_report_has_best(r)) {
		json_changes(&w, r, arena);
		json_pay(&w, r);
		if (r->sensitivities)
			json_sensitivities(&w, r->sensitivities);
	}
	jsonw_end_object(&w);
	putc('\n', out);
}

/* ---- CSV */

static const struct table_column columns[] = {{"role", NULL, UNIT_NONE}, {"change", NULL, UNIT_NONE}, {"policy", NULL, UNIT_NONE},
    {"gpus", NULL, UNIT_NONE}, {"mbs", NULL, UNIT_NONE}, {"grad_accum", NULL, UNIT_NONE}, {"seq", NULL, UNIT_NONE},
    {"checkpointing", NULL, UNIT_NONE}, {"subgroup", NULL, UNIT_NONE}, {"n_subgroups", NULL, UNIT_NONE},
    {"iteration_s", NULL, UNIT_SECONDS}, {"tokens_per_s", NULL, UNIT_NONE}, {"slower_frac", NULL, UNIT_FRAC},
    {"gpu_peak_bytes", NULL, UNIT_BYTES}, {"host_peak_bytes", NULL, UNIT_BYTES}, {"fits", NULL, UNIT_NONE},
    {"gpu_short_bytes", NULL, UNIT_BYTES}, {"host_short_bytes", NULL, UNIT_BYTES}, {"nodes", NULL, UNIT_NONE},
    {"iteration_lo_s", NULL, UNIT_SECONDS}, {"iteration_hi_s", NULL, UNIT_SECONDS}, {"parameter_frac", NULL, UNIT_FRAC},
    {"discrepancy_frac", NULL, UNIT_FRAC}, {"p_best", NULL, UNIT_FRAC}, {"p_faster", NULL, UNIT_FRAC}, {"p_fits", NULL, UNIT_FRAC}};
enum { N_SURE = 7 }; /* the last ones, with --uncertainty */

static void csv_outcome(struct table *table, const struct outcome *o)
{
	const struct interval *const v = o ? &o->of[QUANTITY_ITERATION] : NULL;

	table_number(table, v ? v->lo : NAN);
	table_number(table, v ? v->hi : NAN);
	table_number(table, v ? v->parameter_frac : NAN);
	table_number(table, v ? v->discrepancy_frac : NAN);
	table_number(table, o ? o->p_best : NAN);
	table_number(table, o ? o->p_faster : NAN);
	table_number(table, o ? o->p_fits : NAN);
}

static void csv_row(struct table *table, const struct plan_report *r, const char *role, const char *change,
    const struct plan_choice *choice, const struct outcome *outcome, struct arena *arena)
{
	const struct workload *const w = &r->plan->space.batches[choice->batch].workload;
	const struct metrics *const m = &choice->metrics;

	table_text(table, role);
	table_text(table, change);
	table_text(table, spec_of(r->plan, choice, arena));
	table_number(table, w->batch.gpus);
	table_number(table, w->batch.mbs);
	table_number(table, w->batch.grad_accum);
	table_number(table, w->batch.seq);
	table_text(table, w->batch.has_checkpointing ? "on" : "off");
	table_number(table, w->batch.subgroup_params);
	table_integer(table, (long long)w->n_subgroups);
	table_number(table, m->iteration_s);
	table_number(table, 1 / choice->s_per_token);
	table_number(table, plan_report_has_best(r) ? plan_report_slower(r, choice) : NAN);
	table_number(table, m->gpu_peak_bytes);
	table_number(table, m->host_peak_bytes);
	table_text(table, m->fits ? "yes" : "no");
	table_number(table, plan_shortage(m, r->plan->query.hw, POOL_GPU));
	table_number(table, plan_shortage(m, r->plan->query.hw, POOL_HOST));
	table_number(table, w->batch.nodes);
	if (r->sure)
		csv_outcome(table, outcome);
}

void plan_report_csv(FILE *out, const struct plan_report *r, struct arena *arena)
{
	struct table *const table = table_new(columns, sizeof(columns) / sizeof(columns[0]) - (r->sure ? 0 : N_SURE));
	size_t *const order = arena_alloc(arena, r->plan->space.n_policies, sizeof(*order));

	plan_rank(order, r->plan);
	for (size_t i = 0; i < r->plan->space.n_policies; i++) {
		const struct plan_policy *const p = &r->plan->policies[order[i]];
		if (p->has_best || p->has_misfit)
			csv_row(table, r, order[i] == r->plan->best ? "best" : "policy", NULL, p->has_best ? &p->best : &p->misfit,
			    plan_report_policy_outcome(r, order[i]), arena);
	}
	for (size_t i = 0; i < r->near.n; i++)
		csv_row(table, r, "change", r->near.changes[i].text, &r->near.changes[i].choice, plan_report_change_outcome(r, i), arena);
	table_print(table, FORMAT_CSV, out);
	table_free(table);
}
