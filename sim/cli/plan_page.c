/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/plan_page.h"

#include <math.h>
#include <string.h>

#include "sim/study/html.h"
#include "sim/study/plot_rows.h"
#include "sim/study/report.h"

/* ---- alternatives as rows */

struct page {
	const struct plan_report *plan;
	struct plot_rows rows;
	const struct outcome **sure; /* of each row */
	struct arena *arena;
};

static double option(const char *spec, const char *key, struct arena *arena)
{
	struct spec parsed;
	struct err err = {0};
	double value;

	if (spec_parse(&parsed, spec, arena, &err))
		return NAN;
	for (size_t i = 0; i < parsed.n_pairs; i++)
		if (strcmp(parsed.pairs[i].key, key) == 0)
			return units_parse(&value, UNIT_NONE, parsed.pairs[i].value, &err) ? (double)NAN : value;
	return NAN;
}

static const char *reason_of(const struct page *p, const struct metrics *m)
{
	static const char prefix[] = "does not fit: ";
	const char *const text = m->fits ? "" : plan_report_shortage(m, p->plan->plan->query.hw, p->arena);

	return strncmp(text, prefix, strlen(prefix)) == 0 ? text + strlen(prefix) : text;
}

static struct plot_row row_of(const struct page *p, const struct plan_choice *choice, const char *spec, const char *role)
{
	const struct plan_query *const q = &p->plan->plan->query;
	const struct workload *const w = &p->plan->plan->space.batches[choice->batch].workload;
	const struct metrics *const m = &choice->metrics;

	return (struct plot_row){.hw = q->hw->name,
	    .model = w->shape.name,
	    .spec = spec,
	    .scale = p->plan->scale,
	    .contention = q->sharing->name,
	    .reason = reason_of(p, m),
	    .bottleneck = res_names[m->bottleneck],
	    .role = role,
	    .checkpointing = w->batch.has_checkpointing ? "on" : "off",
	    .gpus = w->batch.gpus,
	    .nodes = w->batch.nodes,
	    .zero = w->batch.zero_stage,
	    .tp = w->batch.tp,
	    .mbs = w->batch.mbs,
	    .grad_accum = w->batch.grad_accum,
	    .seq = w->batch.seq,
	    .subgroup = w->batch.subgroup_params,
	    .n_subgroups = (double)w->n_subgroups,
	    .threads = q->threads > 0 ? q->threads : q->hw->threads,
	    .feasible = m->fits,
	    .forward_s = m->forward_s,
	    .backward_s = m->backward_s,
	    .update_s = m->update_s,
	    .other_s = m->other_s,
	    .iteration_s = m->iteration_s,
	    .gpu_peak_bytes = m->gpu_peak_bytes,
	    .host_peak_bytes = m->host_peak_bytes};
}

static int add_row(
    struct page *p, const struct plan_choice *choice, const char *role, const struct outcome *outcome, struct err *err)
{
	struct trial_input input;

	if (plan_input(&input, p->plan->plan, choice->batch, choice->variant, p->arena, err))
		return err->code;
	struct plot_row *const row = plot_rows_add(&p->rows, p->arena);
	*row = row_of(p, choice, input.policy, role);
	row->stride = option(row->spec, "stride", p->arena);
	row->ratio = option(row->spec, "ratio", p->arena);
	row->fraction = option(row->spec, "fraction", p->arena);
	row->update = row->iteration = (struct plot_interval){NAN, NAN};
	p->sure[p->rows.n - 1] = outcome;
	if (outcome) {
		row->update = (struct plot_interval){outcome->of[QUANTITY_UPDATE].lo, outcome->of[QUANTITY_UPDATE].hi};
		row->iteration =
		    (struct plot_interval){outcome->of[QUANTITY_ITERATION].lo, outcome->of[QUANTITY_ITERATION].hi};
	}
	return 0;
}

static int add_policies(struct page *p, struct err *err)
{
	const struct plan *const plan = p->plan->plan;
	size_t *const order = arena_alloc(p->arena, plan->space.n_policies, sizeof(*order));
	int code = 0;

	plan_rank(order, plan);
	for (size_t i = 0; !code && i < plan->space.n_policies; i++) {
		const struct plan_policy *const policy = &plan->policies[order[i]];
		const char *const role = order[i] == plan->best ? "best"
		    : policy->has_best                          ? "best of its policy"
								: "nearest to fitting";
		if (policy->has_best || policy->has_misfit)
			code = add_row(p, policy->has_best ? &policy->best : &policy->misfit, role,
			    plan_report_policy_outcome(p->plan, order[i]), err);
	}
	return code;
}

/* ---- sections of its own */

static const char *text_of(double value, enum unit unit, struct arena *arena)
{
	char text[UNITS_TEXT_MAX];

	return value > 0 ? arena_strdup(arena, units_print(text, unit, value)) : "";
}

static void write_time(FILE *out, const struct plan_report *r, struct arena *arena)
{
	const struct metrics *const m = &r->trial.metrics;
	const double phases_s[PHASE_N] = {m->forward_s, m->backward_s, m->update_s, m->other_s};

	fputs("<section id=\"spent\"><h2>Where the time goes</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Phases\"><table>"
	      "<thead><tr><th scope=\"col\" class=\"t\">phase<th scope=\"col\">time<th scope=\"col\">share<th "
	      "scope=\"col\" class=\"t\">limited by"
	      "</thead><tbody>\n",
	    out);
	for (enum phase phase = 0; phase < PHASE_N; phase++) {
		double share;
		const enum res res = phase_limits_worst(&share, &r->limits, phase);
		if (phases_s[phase] > 0)
			html_printf(out, "<tr><th scope=\"row\">%s<td>%s<td>%s<td class=\"t\">%s\n", phase_names[phase],
			    text_of(phases_s[phase], UNIT_SECONDS, arena),
			    text_of(phases_s[phase] / m->iteration_s, UNIT_FRAC, arena),
			    res == RES_N ? ""
					 : arena_printf(arena, "%s, %.0f %% of the phase's critical path", res_names[res],
					       100 * share));
	}
	fputs("</tbody></table></div></section>\n", out);
}

static void memory_row(FILE *out, const char *name, double gpu_bytes, double host_bytes, struct arena *arena)
{
	html_printf(out, "<tr><th scope=\"row\">%s<td>%s<td>%s\n", name, text_of(gpu_bytes, UNIT_BYTES, arena),
	    text_of(host_bytes, UNIT_BYTES, arena));
}

static void write_memory(FILE *out, const struct plan_report *r, struct arena *arena)
{
	const struct metrics *const m = &r->trial.metrics;
	const struct hwprofile *const hw = r->plan->query.hw;
	const double n_ranks = r->trial.workload.batch.gpus;

	fputs("<section id=\"memory\"><h2>Where the memory goes</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Memory\">"
	      "<table><thead><tr><th scope=\"col\" class=\"t\">at its peak<th scope=\"col\">one GPU<th "
	      "scope=\"col\">host</thead><tbody>\n",
	    out);
	for (size_t i = 0; i < MEM_N; i++)
		if (m->peak_bytes[POOL_GPU][i] > 0 || m->peak_bytes[POOL_HOST][i] > 0)
			memory_row(
			    out, mem_names[i], m->peak_bytes[POOL_GPU][i], n_ranks * m->peak_bytes[POOL_HOST][i], arena);
	memory_row(out, "peak", m->gpu_peak_bytes, m->host_peak_bytes, arena);
	memory_row(out, "fragmentation allowance", r->hw->gpu_memory_bytes - hw->gpu_memory_bytes, 0, arena);
	memory_row(out, "limit", r->hw->gpu_memory_bytes, fmin(hw->host_memory_bytes, hw->pinned_max_bytes), arena);
	fputs("</tbody></table></div></section>\n", out);
}

static void write_pay(FILE *out, const struct plan_report *r, struct arena *arena)
{
	const struct plan_pay *const pay = &r->pay;
	const double more_frac = pay->offload_gpu_s_per_token / pay->gpu_s_per_token - 1;
	char rate[UNITS_TEXT_MAX];

	fputs("<section id=\"pay\"><h2>Does offload pay?</h2>\n", out);
	if (!pay->is_found)
		html_printf(out, "<p>It is needed: without it the model does not fit on %s GPUs either.</p>",
		    arena_printf(arena, "%.0f", pay->gpus_tried));
	else if (r->trial.metrics.host_peak_bytes <= 0)
		fputs("<p>It is not used: the optimizer's states fit on the GPUs, and are fastest there.</p>", out);
	else
		html_printf(out,
		    "<p>Without it %s GPUs are needed, at %s tokens/s in all. This plan takes %s %s GPU time a "
		    "token.%s</p>",
		    arena_printf(arena, "%.0f", pay->gpus), plan_report_rate(rate, 1 / pay->s_per_token),
		    text_of(fabs(more_frac), UNIT_FRAC, arena), more_frac <= 0 ? "less" : "more",
		    r->sure && !isnan(r->sure->p_pays)
			? arena_printf(arena,
			      " That it takes less has %s probability, by what the model is off on other machines.",
			      outcome_share(r->sure->p_pays, arena))
			: "");
	fputs("\n</section>\n", out);
}

static void write_sections(FILE *out, const void *context, struct arena *arena)
{
	const struct page *const p = context;

	if (!plan_report_has_best(p->plan))
		return;
	write_time(out, p->plan, arena);
	write_memory(out, p->plan, arena);
	write_pay(out, p->plan, arena);
}

/* ---- the page */

static const char *remark(const struct page *p)
{
	const struct plan_counts *const n = &p->plan->plan->counts;
	const struct hwprofile *const hw = p->plan->plan->query.hw;
	const char *text = arena_printf(p->arena,
	    "Of %zu alternatives: %zu do not fit and %zu are slower by bounds, %zu were simulated. Limits: %s "
	    "of GPU memory",
	    n->n, n->n_unfit, n->n_slower + n->n_slower_batch, n->n_simulated,
	    text_of(hw->gpu_memory_bytes, UNIT_BYTES, p->arena));

	text = arena_printf(p->arena, "%s, %s of host memory.", text, text_of(hw->host_memory_bytes, UNIT_BYTES, p->arena));
	if (plan_report_unchecked(p->plan))
		text = arena_printf(p->arena, "%s Unchecked: %s.", text, plan_report_unchecked(p->plan));
	if (p->plan->sure && p->plan->near.n > 0)
		text = arena_printf(p->arena, "%s It is better than each single change of it in %s of the draws.", text,
		    outcome_share(p->plan->sure->p_best_unchanged, p->arena));
	return text;
}

static int fill(struct page *p, size_t *n_bests, struct err *err)
{
	const struct plan_report *const r = p->plan;
	int code = add_policies(p, err);

	*n_bests = p->rows.n;
	for (size_t i = 0; !code && i < r->near.n; i++)
		code =
		    add_row(p, &r->near.changes[i].choice, r->near.changes[i].text, plan_report_change_outcome(r, i), err);
	return code;
}

static int write_file(const char *path, const struct report_input *input, struct arena *arena, struct err *err)
{
	struct file_replace file;
	struct opt_list notes;

	if (file_replace_open(&file, path, arena, err))
		return err->code;
	const int code = report_write(file.out, &notes, input, arena, err);
	if (code == 0)
		return file_replace_commit(&file, err);
	file_replace_cancel(&file);
	return code;
}

int plan_page_write(
    const char *path, const struct plan_report *r, const char *command, struct arena *arena, struct err *err)
{
	const bool has_best = plan_report_has_best(r);
	struct page p = {.plan = r,
	    .arena = arena,
	    .rows = {.origin = arena_printf(arena, "Profile %s: %s", r->hw->name, r->hw->summary)},
	    .sure = arena_zalloc(arena, r->plan->space.n_policies + r->near.n + 1, sizeof(*p.sure))};
	struct report_given given = {.rows = &p.rows,
	    .sure = p.sure,
	    .hw = r->hw,
	    .write = write_sections,
	    .context = &p,
	    .links =
		has_best ? "<a href=\"#spent\">Time</a> <a href=\"#memory\">Memory</a> <a href=\"#pay\">Offload</a> " : ""};

	if (fill(&p, &given.n_bests, err))
		return err->code;
	if (p.rows.n == 0)
		return err_set(err, STATUS_NO, "--report: every policy is refused, so there is nothing to show");
	given.remark = remark(&p);
	given.command = has_best ? plan_report_command(r, arena) : NULL;
	given.best = has_best ? &r->input : NULL;
	const struct report_input input = {.given = &given,
	    .command = command,
	    .has_plots = true,
	    .title = arena_printf(arena, "Plan for %s on %s", p.rows.rows[0].model, r->hw->name),
	    .n_samples = r->sure ? r->sure->uncertainty->n_samples : 0};
	return write_file(path, &input, arena, err);
}
