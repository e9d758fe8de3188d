/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos plan: what to run for a model on a machine within its memory, and why nothing else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/plan_config.h"
#include "sim/cli/plan_page.h"
#include "sim/cli/plan_report.h"
#include "sim/cli/uncertainty.h"
#include "sim/study/parallel.h"
#include "sim/study/report.h"

struct params {
	double allowance_frac, tokens_per_batch;
	long long jobs;
	bool has_explain, is_exhaustive;
	const char *report, *command; /* report: a page to write; command: as it was typed */
	struct plan_config_params config;
};

#define AT(member) offsetof(struct params, member)

static const struct opt opts[] = {
    {.name = "allowance", .kind = OPT_NUMBER, .unit = UNIT_FRAC, .offset = AT(allowance_frac), .min = 0, .max = 0.9, .fallback = "5%",
        .arg = "F", .help = "share of GPU memory kept free for fragmentation"},
    {.name = "tokens-per-batch", .kind = OPT_NUMBER, .unit = UNIT_NONE, .offset = AT(tokens_per_batch), .min = 1, .max = 1e15,
        .arg = "N", .help = "tokens of an iteration of all GPUs; searches micro-batch x accumulation (default: free, no accumulation)"},
    {.name = "explain", .kind = OPT_FLAG, .offset = AT(has_explain),
        .help = "also what each resource is worth, and where the best share on the GPU changes"},
    {.name = "exhaustive", .kind = OPT_FLAG, .offset = AT(is_exhaustive),
        .help = "simulate every alternative: the same answer, late; to check the bounds"},
    {.name = "report", .kind = OPT_TEXT, .offset = AT(report), .arg = "FILE", .help = "also one HTML page of the plan, such as plan.html"},
    {.name = "ds-config", .kind = OPT_TEXT, .offset = AT(config.ds_config), .arg = "FILE",
        .help = "DeepSpeed configuration to complete: with the recommended keys to -o, all else as it is"},
    {.name = "fork", .kind = OPT_FLAG, .offset = AT(config.has_fork),
        .help = "with --ds-config: also the keys of the published fork (stride, asynchronous gradients)"},
    {.name = "megatron", .kind = OPT_FLAG, .offset = AT(config.has_megatron), .help = "also print the flags for Megatron"},
    {.name = "jobs", .letter = 'j', .kind = OPT_INT, .offset = AT(jobs), .min = 1, .max = 1024, .arg = "N",
        .help = "threads (default: one a processor)"},
};

/* ---- the question */

static void limit_memory(struct hwprofile *limited, const struct hwprofile *hw, const struct params *p)
{
	*limited = *hw;
	limited->gpu_memory_bytes *= 1 - p->allowance_frac;
	hwprofile_rehash(limited);
}

static int make_query(struct plan_query *q, struct hwprofile *hw, struct opt_list *specs, struct common *c, const struct params *p,
    struct arena *arena, struct err *err)
{
	struct hwprofile *const limited = arena_alloc(arena, 1, sizeof(*limited));
	struct trial_input input;

	if (common_trial(&input, hw, c, arena, err))
		return err->code;
	limit_memory(limited, hw, p);
	*specs = c->policies;
	if (specs->n == 0)
		plan_config_policies(specs, &p->config, arena);
	*q = (struct plan_query){.hw = limited, .shape = input.shape, .batch = input.batch, .has_checkpointing = c->has_checkpointing,
	    .tokens_per_batch = p->tokens_per_batch, .specs = specs, .threads = input.threads, .sharing = input.sharing, .sync = input.sync,
	    .is_exhaustive = p->is_exhaustive, .n_workers = p->jobs ? (size_t)p->jobs : parallel_processors()};
	return plan_config_batch(q, &p->config, arena, err);
}

/* --workers in every SPEC whose policy has the option. */
static int apply_workers(struct opt_list *specs, const struct common *c, struct arena *arena, struct err *err)
{
	struct opt_list all = {0};
	bool is_used = false;

	if (c->workers == 0)
		return 0;
	for (size_t i = 0; specs->n == 0 && policy_all[i]; i++)
		opt_list_add(&all, policy_all[i]->name, arena);
	for (size_t i = 0; i < specs->n; i++)
		if (spec_split(&all, specs->items[i], arena, err))
			return err->code;
	for (size_t i = 0; i < all.n; i++) {
		const char *const spec = all.items[i];
		const struct policy *const policy = policy_find(arena_printf(arena, "%.*s", (int)strcspn(spec, ":"), spec));
		if (!policy || !opt_find(policy->opts, policy->n_opts, "workers", strlen("workers")) || strstr(spec, "workers="))
			continue;
		is_used = true;
		all.items[i] = arena_printf(arena, "%s%cworkers=%lld", spec, strchr(spec, ':') ? ',' : ':', c->workers);
	}
	*specs = all;
	return is_used ? 0 : err_set(err, STATUS_USAGE, "--workers: none of the policies has workers");
}

/* ---- the answer */

/* As many as end the search in a tenth of its time more; fewer where a simulation is long. Draws have four micro-batches and three of
 * them at the most. */
static size_t default_samples(const struct plan_report *r)
{
	const double most = 100, least = 20, operations = 2e7, micro_batches = 7;
	const double n_alternatives = (double)(r->near.n + r->plan->space.n_policies);
	const double share = fmin(1, micro_batches / r->trial.workload.batch.grad_accum);

	return (size_t)fmax(least, fmin(most, operations / (n_alternatives * share * (double)r->trial.schedule.n_ops)));
}

static int be_sure(struct plan_report *r, struct arena *arena, struct err *err)
{
	struct plan_sure *const sure = arena_alloc(arena, 1, sizeof(*sure));
	struct uncertainty *const u = arena_alloc(arena, 1, sizeof(*u));

	if (r->common->has_uncertainty && r->common->uncertainty == 0)
		return 0;
	const int code = uncertainty_of(u, r->common, r->plan->query.sharing, arena, err);
	if (code && !r->common->has_uncertainty) /* the plan is as good without */
		common_note(r->common, "no intervals: %s", err->text);
	if (code)
		return r->common->has_uncertainty ? code : 0;
	u->n_samples = r->common->has_uncertainty ? u->n_samples : default_samples(r);
	u->n_workers = r->plan->query.n_workers;
	u->gpu_kept_frac = r->allowance_frac;
	r->sure = sure;
	return plan_sure_find(sure, r->plan, &r->near, &r->pay, u, arena, err);
}

static int explain(struct plan_report *r, const struct params *p, struct arena *arena, struct err *err)
{
	const struct plan_choice *const best = &r->plan->policies[r->plan->best].best;
	struct sensitivities *const s = arena_alloc(arena, 1, sizeof(*s));

	int code = plan_input(&r->input, r->plan, best->batch, best->variant, arena, err);
	if (!code)
		code = trial_run(&r->trial, &r->input, arena, err);
	if (code)
		return code;
	phase_limits_find(&r->limits, &r->trial);
	code = plan_near_find(&r->near, r->plan, arena, err);
	if (!code)
		code = plan_pay_find(&r->pay, r->plan, arena, err);
	if (!code)
		code = be_sure(r, arena, err);
	if (!code && p->has_explain) {
		code = sensitivity_find(s, &r->input, true, r->plan->query.n_workers, arena, err);
		r->sensitivities = s;
	}
	if (p->config.has_megatron)
		r->megatron = plan_config_megatron(&r->trial, arena);
	return code;
}

/* The smallest of what is missing, over all policies. */
static int say_no(const struct plan_report *r, const char *ds_config, struct arena *arena, struct err *err)
{
	size_t *const order = arena_alloc(arena, r->plan->space.n_policies, sizeof(*order));

	plan_rank(order, r->plan);
	const struct plan_policy *const p = &r->plan->policies[order[0]];
	struct trial_input input;
	if (!p->has_misfit)
		return err_set(err, STATUS_NO, "nothing can run: %s", p->refusal);
	if (plan_input(&input, r->plan, p->misfit.batch, p->misfit.variant, arena, err))
		return err->code;
	return err_set(err, STATUS_NO, "nothing fits; nearest is %s with --mbs %.0f, which %s%s%s", plan_report_spec(input.policy, arena),
	    input.batch.mbs, plan_report_shortage(&p->misfit.metrics, r->plan->query.hw, arena), plan_report_more_host(r, arena),
	    ds_config ? arena_printf(arena, "; what %s fixes is not searched, and no new one is written", ds_config) : "");
}

static int print(const struct plan_report *r, const char *path, struct arena *arena, struct err *err)
{
	static void (*const printers[])(FILE *, const struct plan_report *, struct arena *) = {
	    [FORMAT_TABLE] = plan_report_text, [FORMAT_JSON] = plan_report_json, [FORMAT_CSV] = plan_report_csv};
	struct file_replace file;

	const int code = file_replace_open(&file, path, arena, err);
	if (code)
		return code;
	printers[r->common->format](file.out, r, arena);
	return file_replace_commit(&file, err);
}

static int plan(struct common *c, const struct params *p, struct arena *arena, struct err *err)
{
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct plan *const found = arena_alloc(arena, 1, sizeof(*found));
	struct plan_report *const r = arena_zalloc(arena, 1, sizeof(*r));
	struct opt_list specs;
	struct plan_query query;

	int code = plan_config_check(&p->config, c, err);
	if (!code)
		code = common_beside("--report", p->report, c->output, err);
	if (!code && p->config.ds_config)
		code = common_beside("--report", p->report, NULL, err);
	if (!code)
		code = file_replace_check(c->output, arena, err);
	if (!code)
		code = file_replace_check(p->report, arena, err);
	if (!code)
		code = make_query(&query, hw, &specs, c, p, arena, err);
	if (!code)
		code = apply_workers(&specs, c, arena, err);
	if (!code)
		code = plan_search(found, &query, arena, err);
	if (code)
		return code;
	*r = (struct plan_report){.common = c, .plan = found, .hw = hw, .allowance_frac = p->allowance_frac,
	    .scale = common_scale_text(c, arena)};
	const bool has_best = plan_report_has_best(r);
	code = has_best ? explain(r, p, arena, err) : 0;
	if (!code)
		code = print(r, p->config.ds_config ? NULL : c->output, arena, err);
	if (!code && p->report)
		code = plan_page_write(p->report, r, p->command, arena, err);
	if (!code && has_best && p->config.ds_config)
		code = plan_config_write(&p->config, &r->trial, c, arena, err);
	return code || has_best ? code : say_no(r, p->config.ds_config, arena, err);
}

int command_plan(int argc, char **argv, struct err *err)
{
	struct params params = {0};
	const struct command_line line = {.name = "plan",
	    .usage = "--hw H --model M [--gpu-mem BYTES] [--host-mem BYTES] [--tokens-per-batch N] [OPTION]..",
	    .about = "Searches policies, their options, subgroup size, micro-batch, accumulation and checkpointing for the least time per token\n"
	             "within the memory, and says why nothing else. What a flag or a SPEC fixes is not searched. Intervals are of 100 draws, down\n"
	             "to 20 where a simulation is long, unless --uncertainty gives another number; 0 leaves them out. Exit 1: nothing fits.",
	    .groups = COMMON_HW | COMMON_LIMITS | COMMON_MODEL | COMMON_POLICY | COMMON_BATCH | COMMON_CONTENTION | COMMON_SCALE | COMMON_SYNC |
	        COMMON_UNCERTAINTY,
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct arena arena = {0};
	struct common c;

	int code = common_parse(&c, &line, argc, argv, NULL, &arena, err);
	params.command = report_command_line(argc, argv, &arena);
	if (!code && !c.wants_help)
		code = plan(&c, &params, &arena, err);
	arena_release(&arena);
	return code;
}
