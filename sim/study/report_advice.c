/* SPDX-License-Identifier: GPL-3.0-or-later
 * The first section of a report: the best configuration that fits, for each machine and model. */
#include <math.h>
#include <string.h>

#include "sim/study/report_parts.h"

/* The words of a bottleneck. */
static const struct {
	const char *name, *meaning;
} limits[] = {
    {"cpu", "Adam and casts on the CPU"},
    {"dram", "host memory bandwidth"},
    {"h2d", "copies to the GPU"},
    {"d2h", "copies from the GPU"},
    {"duplex", "copies in both directions at once"},
    {"gpu", "GPU compute"},
    {"hbm", "GPU memory bandwidth"},
    {"cores", "CPU cores that threads share"},
    {"net", "collectives between GPUs"},
    {"main", "host work and blocking of the main thread"},
};

static const char *limit_text(const char *name, struct arena *arena)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (strcmp(limits[i].name, name) == 0)
			return arena_printf(arena, "%s: %s", name, limits[i].meaning);
	return *name ? name : "not known (closed form)";
}

static const char *rate_text(const struct plot_row *row, struct arena *arena)
{
	char time[UNITS_TEXT_MAX];

	if (report_has_tokens(row))
		return arena_printf(arena, report_rate(row) < 1000 ? "%.4g tokens/s" : "%.0f tokens/s", report_rate(row));
	return arena_printf(arena, "%s an update", units_print(time, UNIT_SECONDS, row->update_s));
}

/* "1.58 times zero3-offload", and what that was. */
static const char *speedup_text(const struct report_group *group, struct arena *arena)
{
	const struct report_policy *const base = report_group_baseline(group);

	if (!base)
		return "no run of zero3-offload to compare with";
	if (!base->best)
		return "zero3-offload does not fit";
	if (base->best == group->best)
		return "zero3-offload is the best here";
	return arena_printf(arena, "%.2f times zero3-offload (%s)", report_rate(group->best) / report_rate(base->best),
	    rate_text(base->best, arena));
}

static const char *bytes_text(double bytes, struct arena *arena)
{
	char text[UNITS_TEXT_MAX];

	return isnan(bytes) ? "not known" : arena_strdup(arena, units_print(text, UNIT_BYTES, bytes));
}

static const char *flag(const char *command, const char *name, double value, double usual, struct arena *arena)
{
	return isnan(value) || value == usual ? command : arena_printf(arena, "%s --%s %.15g", command, name, value);
}

/* The run again. */
static const char *command_text(const struct plot_row *row, struct arena *arena)
{
	const bool is_update = strcmp(row->model, "update") == 0;
	const char *text = arena_printf(arena, "dos simulate --hw %s", report_shell_word(row->hw, arena));

	text = is_update ? flag(text, "n-subgroups", row->n_subgroups, 0, arena)
	                 : arena_printf(arena, "%s --model %s", text, report_shell_word(row->model, arena));
	text = arena_printf(arena, "%s --policy %s", text, report_shell_word(report_spec(row, arena), arena));
	text = flag(text, "gpus", row->gpus, 0, arena);
	text = flag(text, "nodes", fmax(1, row->nodes), 1, arena);
	text = flag(text, "zero", row->zero > 0 ? row->zero : 3, 3, arena);
	text = flag(text, "tp", fmax(1, row->tp), 1, arena);
	text = flag(text, "mbs", row->mbs, 1, arena);
	text = flag(text, "grad-accum", row->grad_accum, 1, arena);
	text = flag(text, "seq", row->seq, 2048, arena);
	text = flag(text, "subgroup", row->subgroup, 100e6, arena);
	text = flag(text, "threads", row->threads, 0, arena);
	if (*row->contention && strcmp(row->contention, "fluid") != 0 && sharing_find(row->contention))
		text = arena_printf(arena, "%s --contention %s", text, row->contention);
	return *row->scale ? arena_printf(arena, "%s --scale %s", text, report_shell_word(row->scale, arena)) : text;
}

/* Lines break between words only. */
static void write_command(FILE *out, const char *text, struct arena *arena)
{
	fputs("<pre tabindex=\"0\">", out);
	while (*text) {
		const size_t n = strcspn(text, " ");
		html_printf(out, "<span>%s</span>%s", arena_printf(arena, "%.*s", (int)n, text), text[n] ? " " : "");
		text += n + (text[n] == ' ');
	}
	fputs("</pre>\n", out);
}

/* ---- cards */

static void fact(FILE *out, const char *name, const char *value)
{
	html_printf(out, "<div><dt>%s</dt><dd>%s</dd></div>", name, value);
}

static void times(const struct report *r, const struct plot_row *row)
{
	char time[UNITS_TEXT_MAX];

	if (!report_has_tokens(row))
		return;
	fact(r->out, "iteration", units_print(time, UNIT_SECONDS, row->iteration_s));
	fact(r->out, "of it update", units_print(time, UNIT_SECONDS, row->update_s));
}

/* "8604 to 10112" tokens/s */
static const char *range_text(const struct plot_row *row, const struct interval *v, struct arena *arena)
{
	const double tokens = report_rate(row) * row->iteration_s;

	return arena_printf(arena, tokens / v->hi < 1000 ? "%.4g to %.4g" : "%.0f to %.0f", tokens / v->hi, tokens / v->lo);
}

static void write_sure(const struct report *r, const struct report_group *group)
{
	const struct outcome *const o = report_group_sure(group);
	char lo[UNITS_TEXT_MAX], hi[UNITS_TEXT_MAX], profile[UNITS_TEXT_MAX], model[UNITS_TEXT_MAX];
	const double surely = 0.99;

	if (!o)
		return;
	const struct interval *const v = &o->of[QUANTITY_ITERATION];
	fputs("<p class=\"gain\">With 90 % probability ", r->out);
	html_printf(r->out, "%s tokens/s, %s to %s an iteration: profile &plusmn;%s, model &plusmn;%s.",
	    range_text(group->best, v, r->arena), units_print(lo, UNIT_SECONDS, v->lo), units_print(hi, UNIT_SECONDS, v->hi),
	    units_print(profile, UNIT_FRAC, v->parameter_frac), units_print(model, UNIT_FRAC, v->discrepancy_frac));
	if (group->n_policies > 1)
		html_printf(r->out, " The best of the policies in %s of %s draws.", outcome_share(o->p_best, r->arena),
		    arena_printf(r->arena, "%zu", group->n_samples));
	if (o->p_fits < surely)
		html_printf(r->out, " It fits with %s probability, by what the model is off in memory on other machines.", outcome_share(o->p_fits, r->arena));
	fputs("</p>\n", r->out);
}

/* Two cells: interval, and how surely it is the best. */
static void write_sure_cells(const struct report *r, const struct plot_row *row, const struct outcome *o)
{
	if (o)
		html_printf(r->out, "<td>%s<td class=\"t\">%s%s", range_text(row, &o->of[QUANTITY_ITERATION], r->arena),
		    outcome_share(o->p_best, r->arena), outcome_is_open(o) ? "; within the uncertainty" : "");
	else
		fputs("<td><td>", r->out);
}

static const char sure_heads[] = "<th scope=\"col\">tokens/s, 90 %<th scope=\"col\" class=\"t\">is the best";

/* Where all of it fits on the GPUs: what offload would give all the same. */
static void write_offload(const struct report *r, const struct report_group *group)
{
	if (group->offload && group->best->host_peak_bytes == 0)
		html_printf(r->out, "<p class=\"gain\">It fits without offload. Best with: <code>%s</code>, %s.</p>\n",
		    report_spec(group->offload, r->arena), rate_text(group->offload, r->arena));
}

static void write_batch(const struct report *r, const struct plot_row *row)
{
	if (!report_has_tokens(row))
		return;
	fact(r->out, "tokens a step", arena_printf(r->arena, "%.6g (micro-batch %.6g%s)", report_tokens(row), row->mbs,
	    row->grad_accum > 1 ? arena_printf(r->arena, " x %.6g", row->grad_accum) : ""));
}

static void write_best(const struct report *r, const struct report_group *group)
{
	const struct plot_row *const best = group->best;

	html_printf(r->out, "<p class=\"pick\"><code>%s</code></p><p class=\"gain\">%s, %s.</p>\n", report_spec(best, r->arena),
	    rate_text(best, r->arena), speedup_text(group, r->arena));
	write_sure(r, group);
	write_offload(r, group);
	fputs("<dl>", r->out);
	fact(r->out, "limited by", limit_text(best->bottleneck, r->arena));
	times(r, best);
	fact(r->out, "GPU memory", bytes_text(best->gpu_peak_bytes, r->arena));
	fact(r->out, "host memory", bytes_text(best->host_peak_bytes, r->arena));
	write_batch(r, best);
	if (!r->input->given)
		fact(r->out, "runs compared", arena_printf(r->arena, "%zu, of which %zu fit", group->n, group->n_fit));
	fputs("</dl>\n", r->out);
	if (r->input->given)
		html_printf(r->out, "<p>%s</p>\n", r->input->given->remark);
	write_command(r->out, r->input->given ? r->input->given->command : command_text(best, r->arena), r->arena);
}

/* Of the run with the least GPU memory, wherever it is said; else of the first one, which was refused like all. */
static const char *misfit_reason(const struct report_group *group)
{
	return group->smallest ? group->smallest->reason : group->first->reason;
}

static void write_misfit(const struct report *r, const struct report_group *group)
{
	const struct plot_row *const row = group->smallest;

	fputs("<p class=\"pick none\">nothing fits</p>\n", r->out);
	if (row)
		html_printf(r->out, "<p>With the least GPU memory, <code>%s</code>: %s</p>\n", report_spec(row, r->arena),
		    *row->reason ? row->reason : "no reason is stored");
	else
		html_printf(r->out, "<p>All %s runs were refused: %s</p>\n", arena_printf(r->arena, "%zu", group->n), misfit_reason(group));
	if (!r->input->given)
		fputs("<p>That is of the stored runs; <code>dos plan</code> searches every option.</p>\n", r->out);
}

static void write_card(const struct report *r, const struct report_group *group)
{
	html_printf(r->out, "<article><h3>%s</h3>\n", report_group_name(&r->groups, group, r->arena));
	if (group->best)
		write_best(r, group);
	else
		write_misfit(r, group);
	fputs("</article>\n", r->out);
}

/* ---- table */

static void write_line(const struct report *r, const struct report_group *group)
{
	const struct plot_row *const best = group->best;
	const struct report_policy *const base = report_group_baseline(group);

	html_printf(r->out, "<tr><th scope=\"row\">%s", report_group_name(&r->groups, group, r->arena));
	if (!best) {
		html_printf(r->out, "<td class=\"t\">nothing fits<td><td><td><td class=\"t\">%s<td>\n", misfit_reason(group));
		return;
	}
	html_printf(r->out, "<td class=\"t\"><code>%s</code>", report_spec(best, r->arena));
	report_number_cell(r->out, report_has_tokens(best) ? report_rate(best) : (double)NAN, 1);
	report_number_cell(r->out, report_has_tokens(best) ? best->iteration_s : best->update_s, 1);
	report_number_cell(r->out, base && base->best ? report_rate(best) / report_rate(base->best) : (double)NAN, 1);
	html_printf(r->out, "<td class=\"t\">%s", best->bottleneck);
	report_number_cell(r->out, best->gpu_peak_bytes, 0x1p30);
	if (r->is_sure)
		write_sure_cells(r, best, report_group_sure(group));
	putc('\n', r->out);
}

static void write_lines(const struct report *r)
{
	const size_t n = r->groups.n < REPORT_ADVICE_MAX ? r->groups.n : REPORT_ADVICE_MAX;

	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Best configurations\"><table><thead><tr><th scope=\"col\" class=\"t\">given"
	      "<th scope=\"col\" class=\"t\">best that fits<th scope=\"col\">tokens/s<th scope=\"col\">iteration or update (s)<th scope=\"col\">times zero3-offload"
	      "<th scope=\"col\" class=\"t\">limited by<th scope=\"col\">GPU memory (GiB)", r->out);
	fputs(r->is_sure ? sure_heads : "", r->out);
	fputs("</thead><tbody>\n", r->out);
	for (size_t i = 0; i < n; i++)
		write_line(r, &r->groups.groups[i]);
	fputs("</tbody></table></div>\n", r->out);
	if (n < r->groups.n)
		fprintf(r->out, "<p>The first %zu of %zu; all runs are in the table below.</p>\n", n, r->groups.n);
}

void report_advice(const struct report *r)
{
	fputs("<section id=\"advice\"><h2>What to run</h2>\n", r->out);
	if (r->groups.n <= REPORT_CARDS_MAX) {
		fputs("<div class=\"cards\">\n", r->out);
		for (size_t i = 0; i < r->groups.n; i++)
			write_card(r, &r->groups.groups[i]);
		fputs("</div>\n", r->out);
	} else {
		write_lines(r);
	}
	fputs("</section>\n", r->out);
}

/* ---- every policy at its best */

static void write_policy(const struct report *r, const struct report_group *group, const struct report_policy *policy)
{
	const struct plot_row *const row = policy->best;

	fputs(row && row == group->best ? "<tr class=\"best\">" : "<tr>", r->out);
	html_printf(r->out, "<th scope=\"row\">%s", policy->name);
	if (!row) {
		html_printf(r->out, "<td class=\"t\" colspan=\"%s\">does not fit: %s\n", r->is_sure ? "9" : "7",
		    policy->smallest && *policy->smallest->reason ? policy->smallest->reason : "refused");
		return;
	}
	html_printf(r->out, "<td class=\"t\"><code>%s</code>", report_spec(row, r->arena));
	report_number_cell(r->out, report_has_tokens(row) ? report_rate(row) : (double)NAN, 1);
	if (r->is_sure)
		write_sure_cells(r, row, policy->sure);
	report_number_cell(r->out, report_rate(row) / report_rate(group->best), 1);
	report_number_cell(r->out, row->iteration_s, 1);
	report_number_cell(r->out, row->update_s, 1);
	report_number_cell(r->out, row->gpu_peak_bytes, 0x1p30);
	html_printf(r->out, "<td class=\"t\">%s\n", row->bottleneck);
}

void report_policies(const struct report *r)
{
	const size_t n = r->groups.n < REPORT_CARDS_MAX ? r->groups.n : REPORT_CARDS_MAX;

	fputs("<section id=\"policies\"><h2>Every policy at its best</h2>\n", r->out);
	if (n < r->groups.n)
		fprintf(r->out, "<p>For the first %zu of %zu settings.</p>\n", n, r->groups.n);
	for (size_t i = 0; i < n; i++) {
		const struct report_group *const group = &r->groups.groups[i];
		html_printf(r->out, "<h3>%s</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Policies\"><table><thead><tr>"
		    "<th scope=\"col\" class=\"t\">policy<th scope=\"col\" class=\"t\">best that fits<th scope=\"col\">tokens/s",
		    report_group_name(&r->groups, group, r->arena));
		fputs(r->is_sure ? sure_heads : "", r->out);
		fputs("<th scope=\"col\">of the best<th scope=\"col\">iteration (s)<th scope=\"col\">update (s)<th scope=\"col\">GPU memory (GiB)"
		      "<th scope=\"col\" class=\"t\">limited by</thead><tbody>\n", r->out);
		for (size_t j = 0; j < group->n_policies; j++)
			write_policy(r, group, &group->policies[j]);
		fputs("</tbody></table></div>\n", r->out);
	}
	fputs("</section>\n", r->out);
}
