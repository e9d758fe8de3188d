/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/replay_what_if.h"

#include <math.h>
#include <string.h>

#include "model/split.h"
#include "sim/study/replay.h"
#include "traces/chrome_trace.h"

enum { ROWS_MAX = 4096 };

struct what_if {
	const struct recording *rec;
	const struct common *c;
	struct arena *arena;
	struct replay_update update;
	bool has_update;
	const char *policy; /* of the recording, NULL not known */
	struct hwprofile *own; /* the recorded machine; NULL not known */
	struct hwprofile *target;
	struct replay_passes passes; /* on the recorded machine */
	bool has_passes;
	struct trial_input input; /* policy and machine are filled in for each row */
	struct workload workload;
	struct replay_row *rows;
	size_t n_rows;
	const char *learned;
};

/* ---- workload: flags, else the log's shape, else the subgroups that the copies show */

static bool has_shape_flags(const struct common *c)
{
	return c->model || c->layers || c->hidden || c->heads || c->kv_heads || c->ffn || c->vocab || c->n_subgroups;
}

static void batch_flags(struct batch *batch, const struct common *c)
{
	const struct {
		long long given;
		double *member;
	} flags[] = {
	    {c->gpus, &batch->gpus}, {c->nodes, &batch->nodes}, {c->zero_stage, &batch->zero_stage}, {c->mbs, &batch->mbs},
	    {c->grad_accum, &batch->grad_accum}, {c->seq, &batch->seq}};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].given > 0)
			*flags[i].member = (double)flags[i].given;
	if (c->subgroup_params > 0)
		batch->subgroup_params = c->subgroup_params;
}

static int find_workload(struct what_if *f, struct err *err)
{
	const struct rec_facts *const facts = &f->rec->facts;
	struct batch batch = {
	    .gpus = 1, .mbs = 1, .grad_accum = facts->grad_accum > 0 ? facts->grad_accum : 1, .seq = 2048};

	if (has_shape_flags(f->c))
		return common_workload(&f->input.shape, &f->input.batch, f->c, f->arena, err);
	if (replay_shape(&f->input.shape, &f->input.batch, facts)) {
		batch_flags(&f->input.batch, f->c);
		return 0;
	}
	if (!f->has_update)
		return err_set(err, STATUS_USAGE,
		    "%s shows no offloaded update: give the model (--model, or --layers --hidden --heads --ffn "
		    "--vocab) for a what-if",
		    f->rec->file);
	batch_flags(&batch, f->c);
	replay_update_workload(&f->workload, &f->update, &batch, f->arena);
	f->input.workload = &f->workload;
	f->input.batch = batch;
	return 0;
}

/* ---- machines */

/* --from, else the nearest shipped profile of that GPU; with what the recording measures in place of its rates. */
static int find_own_machine(struct what_if *f, const char *from, struct err *err)
{
	struct replay_measured measured;

	replay_measured_take(&measured, f->rec, f->has_update ? &f->update : NULL);
	const char *const name = from ? from
	    : f->rec->facts.gpu[0]    ? replay_nearest_profile(f->rec->facts.gpu, &measured, f->arena)
				      : NULL;
	if (!name)
		return 0;
	f->own = arena_alloc(f->arena, 1, sizeof(*f->own));
	const int code = hwprofile_load(f->own, name, f->arena, err);
	if (code)
		return code;
	replay_measured_apply(f->own, &measured, (double)f->c->threads);
	f->learned = replay_measured_text(&measured, f->arena);
	common_note(f->c, "recorded machine: profile %s%s%s", f->own->name, *f->learned ? " with " : "", f->learned);
	return 0;
}

static int find_machines(struct what_if *f, const char *from, struct err *err)
{
	int code = find_own_machine(f, from, err);

	if (code)
		return code;
	f->target = arena_alloc(f->arena, 1, sizeof(*f->target));
	if (f->c->hw)
		return common_hw(f->target, f->c, f->arena, err);
	if (!f->own)
		return err_set(
		    err, STATUS_USAGE, "--hw is missing: %s does not name a GPU of a shipped profile", f->rec->file);
	*f->target = *f->own;
	return common_scale(f->target, f->c, f->arena, err);
}

/* Forward and backward on another machine. */
static struct replay_passes passes_on(const struct what_if *f, const struct hwprofile *hw)
{
	struct replay_passes passes = f->passes;
	double flop_per_s = 0, hbm_Bps = 0;

	if (f->own) {
		flop_per_s = f->own->gpu_flop_per_s;
		hbm_Bps = f->own->hbm_Bps;
	} else if (!replay_gpu_rates(&flop_per_s, &hbm_Bps, f->rec->facts.gpu)) {
		common_note(f->c,
		    "the recorded GPU is not known (--from PROFILE would name it): forward and backward are not scaled");
		return passes;
	}
	replay_passes_scale(&passes, hw->gpu_flop_per_s / flop_per_s, hw->hbm_Bps / hbm_Bps);
	return passes;
}

/* ---- rows */

static double median_s(const struct recording *rec, enum phase phase)
{
	const int64_t ns = recording_median_ns(rec, phase);
	return ns < 0 ? NAN : (double)ns * 1e-9;
}

static void add_recorded(struct what_if *f)
{
	f->rows[f->n_rows++] = (struct replay_row){.what = "recorded",
	    .hw = f->rec->facts.gpu,
	    .policy = f->policy ? f->policy : "",
	    .forward_s = median_s(f->rec, PHASE_FORWARD),
	    .backward_s = median_s(f->rec, PHASE_BACKWARD),
	    .update_s = median_s(f->rec, PHASE_UPDATE),
	    .other_s = median_s(f->rec, PHASE_OTHER),
	    .iteration_s = median_s(f->rec, PHASE_N)};
}

/* The profile's own other_s is of other recorded runs: what this one did besides its phases stays as it was. */
static int add_simulated(
    struct what_if *f, const char *what, const struct hwprofile *hw, const char *policy, const char *trace, struct err *err)
{
	const struct replay_passes passes = passes_on(f, hw);
	struct hwprofile *const used = arena_alloc(f->arena, 1, sizeof(*used));
	struct trial_input input = f->input;
	struct arena arena = {0};
	struct trial trial;

	*used = *hw;
	used->other_s = fmax(0, median_s(f->rec, PHASE_OTHER));
	input.hw = used;
	input.policy = policy;
	input.recorded = f->has_passes ? &passes.passes : NULL;
	int code = trial_run(&trial, &input, &arena, err);
	if (!code && f->n_rows < ROWS_MAX) {
		const struct metrics *const m = &trial.metrics;
		f->rows[f->n_rows++] = (struct replay_row){.what = what,
		    .hw = arena_strdup(f->arena, hw->name),
		    .policy = arena_strdup(f->arena, trial.policy),
		    .forward_s = m->forward_s,
		    .backward_s = m->backward_s,
		    .update_s = m->update_s,
		    .other_s = m->other_s,
		    .iteration_s = m->iteration_s};
	}
	if (!code && trace)
		code = chrome_trace_write(trace, &trial.schedule, &trial.timeline, trial.policy, err);
	arena_release(&arena);
	return code;
}

static int add_rows(struct what_if *f, const struct opt_list *specs, const char *trace, struct err *err)
{
	int code = 0;

	add_recorded(f);
	if (f->own && f->policy && f->c->nodes <= 1) /* what is recorded is one node */
		code = add_simulated(f, "simulated as recorded", f->own, f->policy, NULL, err);
	for (size_t i = 0; !code && i < specs->n; i++)
		code = add_simulated(f, "what if", f->target, specs->items[i], trace, err);
	return code;
}

static int prepare(struct what_if *f, const struct what_if_options *options, struct opt_list *specs, struct err *err)
{
	f->has_update = replay_update_find(&f->update, f->rec, f->arena);
	if (f->rec->facts.policy[0])
		f->policy = f->rec->facts.policy;
	else if (f->has_update)
		f->policy = replay_update_policy(&f->update, f->arena);
	int code = common_policies(specs, f->c, f->policy, f->arena, err);
	if (!code && options->trace && specs->n > 1)
		code = err_set(err, STATUS_USAGE, "--trace: one policy would be accepted, %zu are given", specs->n);
	if (!code)
		code = common_sharing(&f->input.sharing, f->c, f->arena, err);
	if (!code)
		code = find_workload(f, err);
	if (!code && (f->c->tp > 1 || batch_tp(&f->input.batch) > 1))
		code = err_set(err, STATUS_USAGE, "--tp: forward and backward are the recorded ones, which cannot be divided; 1 would be accepted");
	return code ? code : find_machines(f, options->from, err);
}

int replay_what_if(struct replay_report *report, const struct common *c, const struct what_if_options *options,
    struct arena *arena, struct err *err)
{
	struct what_if f = {.rec = report->rec,
	    .c = c,
	    .arena = arena,
	    .learned = "",
	    .input = {.threads = (double)c->threads, .sync = (enum sync)c->sync}};
	struct opt_list specs;

	int code = prepare(&f, options, &specs, err);
	if (code)
		return code;
	f.rows = arena_alloc(arena, ROWS_MAX, sizeof(*f.rows));
	if (f.has_update && !f.rec->facts.policy[0] && !f.update.has_round_trip)
		common_note(c,
		    "the recording flushes gradients without DeepSpeed's round trip (16 bit back to the GPU): its backward "
		    "is shorter "
		    "than the policies'");
	f.has_passes = replay_passes_take(&f.passes, f.rec, f.input.batch.grad_accum, f.input.batch.has_checkpointing);
	if (!f.has_passes)
		common_note(c, "no forward and backward in the recording: they are simulated%s",
		    f.input.workload ? " as nothing" : "");
	if (f.passes.is_backward_assumed)
		common_note(c,
		    "a log does not part backward's compute from its gradient flush: %s times forward is assumed",
		    f.input.batch.has_checkpointing ? "3 (recomputation)" : "2");
	code = add_rows(&f, &specs, options->trace, err);
	report->rows = f.rows;
	report->n_rows = f.n_rows;
	report->machine = f.learned;
	return code;
}
