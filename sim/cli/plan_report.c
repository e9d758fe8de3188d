/* SPDX-License-Identifier: GPL-3.0-or-later
 * What all forms of a plan's report share. */
#include "sim/cli/plan_report.h"

#include <math.h>
#include <string.h>

#include "model/split.h"

bool plan_report_has_best(const struct plan_report *r)
{
	return r->plan->best < r->plan->space.n_policies;
}

double plan_report_utilization(const struct workload *workload, const struct hwprofile *hw, double iteration_s)
{
	return workload_model_flop(workload) / iteration_s / (batch_ranks(&workload->batch) * hw->gpu_flop_per_s);
}

char *plan_report_rate(char text[UNITS_TEXT_MAX], double tokens_per_s)
{
	snprintf(text, UNITS_TEXT_MAX, tokens_per_s >= 1000 ? "%.0f" : "%.4g", tokens_per_s);
	return text;
}

double plan_report_slower(const struct plan_report *r, const struct plan_choice *choice)
{
	return choice->s_per_token / r->plan->policies[r->plan->best].best.s_per_token - 1;
}

const char *plan_report_rates(const struct interval *iteration, double tokens, struct arena *arena)
{
	const double most = tokens / iteration->lo, least = tokens / iteration->hi, predicted = tokens / iteration->predicted;
	const double half_width = (most - least) / 2;
	char rate[UNITS_TEXT_MAX];

	return arena_printf(arena, predicted >= 1000 || half_width >= 99.5 ? "%s +- %.0f" : "%s +- %.2g", plan_report_rate(rate, predicted), half_width);
}

const struct outcome *plan_report_policy_outcome(const struct plan_report *r, size_t policy)
{
	return r->sure && r->plan->policies[policy].has_best ? &r->sure->policies[policy] : NULL;
}

const struct outcome *plan_report_change_outcome(const struct plan_report *r, size_t change)
{
	return r->sure ? &r->sure->changes[change] : NULL;
}

const char *plan_report_spec(const char *canonical, struct arena *arena)
{
	struct policy_use use;
	struct spec spec;
	struct err err = {0};

	if (policy_use_parse(&use, canonical, arena, &err) || spec_parse(&spec, canonical, arena, &err))
		return canonical;
	const char *text = spec.name;
	for (size_t i = 0; i < spec.n_pairs; i++) {
		const struct spec_pair *const pair = &spec.pairs[i];
		const struct opt *const opt = opt_find(use.policy->opts, use.policy->n_opts, pair->key, strlen(pair->key));
		if (!opt->fallback || strcmp(opt->fallback, pair->value) != 0)
			text = arena_printf(arena, "%s%c%s=%s", text, text == spec.name ? ':' : ',', pair->key, pair->value);
	}
	return text;
}

const char *plan_report_shortage(const struct metrics *m, const struct hwprofile *hw, struct arena *arena)
{
	const double gpu_bytes = plan_shortage(m, hw, POOL_GPU), host_bytes = plan_shortage(m, hw, POOL_HOST);
	const bool is_pinned = m->host_peak_bytes <= hw->host_memory_bytes;
	char size[UNITS_TEXT_MAX];
	const char *text = "does not fit:";

	if (gpu_bytes > 0)
		text = arena_printf(arena, "%s %s of GPU memory short", text, units_print(size, UNIT_BYTES, gpu_bytes));
	if (host_bytes > 0)
		text = arena_printf(arena, "%s%s %s of %s memory short", text, gpu_bytes > 0 ? "," : "",
		    units_print(size, UNIT_BYTES, host_bytes), is_pinned ? "pinned" : "host");
	return text;
}

const char *plan_report_more_host(const struct plan_report *r, struct arena *arena)
{
	const struct plan *const plan = r->plan;
	const struct hwprofile *const hw = plan->query.hw;
	const struct plan_choice *least = NULL;
	struct trial_input input;
	struct err err = {0};

	for (size_t i = 0; i < plan->space.n_policies; i++) {
		const struct plan_choice *const choice = &plan->policies[i].misfit;
		if (plan->policies[i].has_misfit && plan_shortage(&choice->metrics, hw, POOL_GPU) <= 0 &&
		    (!least || choice->metrics.host_peak_bytes < least->metrics.host_peak_bytes))
			least = choice;
	}
	if (!least || plan_input(&input, plan, least->batch, least->variant, arena, &err))
		return "";
	const double peak_bytes = least->metrics.host_peak_bytes, gib = ceil(peak_bytes / 0x1p30);
	const bool is_host = peak_bytes > hw->host_memory_bytes, is_pinned = peak_bytes > hw->pinned_max_bytes;
	return arena_printf(arena, "; %s%s%s%.0fGiB would do for %s with --mbs %.0f", is_host ? "--host-mem " : "",
	    is_host && is_pinned ? arena_printf(arena, "%.0fGiB --pinned-max ", gib) : "", is_host || !is_pinned ? "" : "--pinned-max ", gib,
	    plan_report_spec(input.policy, arena), input.batch.mbs);
}

const char *plan_report_unchecked(const struct plan_report *r)
{
	const bool is_probed = strncmp(r->hw->provenance.tool, "dos-probe", strlen("dos-probe")) == 0;

	return is_probed && r->hw->n_fitted_on == 0
	    ? "of probed machines only updates were compared with runs, forward and backward never; dos fit with runs of this one corrects them"
	    : NULL;
}

/* ---- the command */

static const char *add_count(const char *text, const char *flag, double value, struct arena *arena)
{
	return value > 0 ? arena_printf(arena, "%s --%s %.15g", text, flag, value) : text;
}

/* "8GiB" where that is what it is. */
static const char *add_size(const char *text, const char *flag, double bytes, struct arena *arena)
{
	const double gib = bytes / 0x1p30;

	if (bytes <= 0)
		return text;
	return gib == floor(gib) ? arena_printf(arena, "%s --%s %.0fGiB", text, flag, gib) : arena_printf(arena, "%s --%s %.15g", text, flag, bytes);
}

static const char *model_flags(const struct common *c, struct arena *arena)
{
	const char *text = c->model ? arena_printf(arena, " --model %s", c->model) : "";

	text = add_count(text, "layers", (double)c->layers, arena);
	text = add_count(text, "hidden", (double)c->hidden, arena);
	text = add_count(text, "heads", (double)c->heads, arena);
	text = add_count(text, "kv-heads", (double)c->kv_heads, arena);
	text = add_count(text, "ffn", (double)c->ffn, arena);
	return add_count(text, "vocab", (double)c->vocab, arena);
}

const char *plan_report_command(const struct plan_report *r, struct arena *arena)
{
	const struct common *const c = r->common;
	const struct batch *const b = &r->trial.workload.batch;
	const char *text = arena_printf(arena, "dos simulate --hw %s%s --policy %s", c->hw, model_flags(c, arena),
	    plan_report_spec(r->trial.policy, arena));

	text = arena_printf(arena, "%s --gpus %.0f --mbs %.0f --grad-accum %.0f --seq %.0f --subgroup %.15g --checkpointing %s", text,
	    b->gpus, b->mbs, b->grad_accum, b->seq, b->subgroup_params, b->has_checkpointing ? "on" : "off");
	text = add_count(text, "nodes", (double)c->nodes, arena);
	if (!batch_is_plain(b))
		text = arena_printf(arena, "%s --zero %d --tp %.0f", text, batch_zero_stage(b), batch_tp(b));
	text = add_count(text, "threads", (double)c->threads, arena);
	text = add_size(text, "gpu-mem", c->gpu_mem_bytes, arena);
	text = add_size(text, "host-mem", c->host_mem_bytes, arena);
	text = add_size(text, "pinned-max", c->pinned_max_bytes, arena);
	if (c->has_precision || b->precision == PRECISION_FP16)
		text = arena_printf(arena, "%s --precision %s", text, b->precision == PRECISION_FP16 ? "fp16" : "bf16");
	if (strcmp(c->contention, "fluid") != 0)
		text = arena_printf(arena, "%s --contention %s", text, c->contention);
	if (c->sync != SYNC_PHASE)
		text = arena_printf(arena, "%s --sync %s", text, sync_names[c->sync]);
	return *r->scale ? arena_printf(arena, "%s --scale %s", text, r->scale) : text;
}
