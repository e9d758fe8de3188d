/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos model: the update in closed form, for every stride. */
#include <math.h>
#include <string.h>

#include "model/split.h"
#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/cli/trial_print.h"
#include "sim/cli/uncertainty.h"
#include "sim/study/estimate.h"
#include "sim/study/stride_interval.h"
#include "sim/study/use_interleave.h"

/* What is shown. */
struct subject {
	const struct hwprofile *hw;
	struct workload workload;
	const char *policy; /* canonical */
	struct cost cost;
	bool has_found; /* the stride of the policy was left open: it is the best */
	struct strides strides;
	const struct uncertainty *uncertainty; /* NULL: no intervals */
	const struct stride_outcome *outcomes; /* [strides.n] */
	const char *misfit; /* why the best stride (of hybrid: fraction) does not fit; NULL: it does */
};

/* ---- lanes by name */

static const struct lane_member {
	const char *key, *title;
	size_t offset;
} lane_members[] = {
    {"cpu_s", "cpu", offsetof(struct lanes, cpu_s)},
    {"cast_s", "downscale", offsetof(struct lanes, cast_s)},
    {"h2d_s", "h2d", offsetof(struct lanes, h2d_s)},
    {"d2h_s", "d2h", offsetof(struct lanes, d2h_s)},
    {"gpu_s", "gpu", offsetof(struct lanes, gpu_s)},
    {"chain_s", "chain", offsetof(struct lanes, chain_s)},
    {"dram_s", "dram", offsetof(struct lanes, dram_s)},
    {"root_s", "pcie root", offsetof(struct lanes, root_s)},
};
enum { N_LANE_MEMBERS = sizeof(lane_members) / sizeof(lane_members[0]) };

static double lane_s(const struct lanes *lanes, size_t i)
{
	return *(const double *)((const char *)lanes + lane_members[i].offset);
}

static void lanes_json(struct jsonw *w, const char *key, const struct lanes *lanes)
{
	const struct lanes_limit limit = lanes_max(lanes);

	jsonw_key(w, key);
	jsonw_inline_object(w);
	for (size_t i = 0; i < N_LANE_MEMBERS; i++)
		jsonw_member_number(w, lane_members[i].key, lane_s(lanes, i));
	jsonw_member_string(w, "limit", res_names[limit.res]);
	jsonw_end_object(w);
}

static void lanes_text(FILE *out, const char *label, const struct lanes *lanes)
{
	char time[UNITS_TEXT_MAX];
	const char *separator = "";

	fprintf(out, "%-16s", label);
	for (size_t i = 0; i < N_LANE_MEMBERS; i++)
		if (lane_s(lanes, i) > 0) {
			fprintf(out, "%s%s %s", separator, lane_members[i].title, units_print(time, UNIT_SECONDS, lane_s(lanes, i)));
			separator = ", ";
		}
	fprintf(out, "; %s limits\n", res_names[lanes_max(lanes).res]);
}

/* ---- strides */

static const struct table_column stride_columns[] = {
    {"stride", NULL, UNIT_NONE},
    {"gpu_fraction_frac", "on gpu", UNIT_FRAC},
    {"update_s", "T(k)", UNIT_SECONDS},
    {"limit", "limit", UNIT_NONE},
    {"idle_update_s", "T(k) no dram", UNIT_SECONDS},
    {"idle_limit", "limit", UNIT_NONE},
    {"recurrence_s", "recurrence", UNIT_SECONDS},
    {"update_lo_s", "T(k) 5 %", UNIT_SECONDS},
    {"update_hi_s", "95 %", UNIT_SECONDS},
    {"p_best", "best", UNIT_FRAC},
};
enum { N_INTERVAL_COLUMNS = 3 }; /* the last ones, with --uncertainty */

/* People see the first strides, the last and what is named below, unless -v. */
static bool is_shown(const struct strides *s, size_t k, bool has_all)
{
	return has_all || k <= 12 || k + 1 == s->n_all || k == s->stride_opt || (double)k == s->stride_balance;
}

static struct table *strides_table(const struct subject *m, bool has_all)
{
	const struct strides *const s = &m->strides;
	struct table *const table = table_new(stride_columns,
	    sizeof(stride_columns) / sizeof(stride_columns[0]) - (m->outcomes ? 0 : N_INTERVAL_COLUMNS));

	for (size_t i = 0; i < s->n; i++) {
		const struct stride_point *const p = &s->points[i];
		if (!is_shown(s, p->stride, has_all))
			continue;
		table_integer(table, (long long)p->stride);
		table_number(table, p->gpu_fraction_frac);
		table_number(table, p->update_s);
		table_text(table, res_names[p->limit]);
		table_number(table, p->idle_update_s);
		table_text(table, res_names[p->idle_limit]);
		table_number(table, p->recurrence_s);
		if (!m->outcomes)
			continue;
		table_number(table, m->outcomes[i].update.lo);
		table_number(table, m->outcomes[i].update.hi);
		table_number(table, m->outcomes[i].p_best);
	}
	return table;
}

/* ---- formats */

/* What a whole iteration's step begins with, the same before every stride. */
static double start_s(const struct subject *m)
{
	return estimate_start_s(&m->cost, &m->workload);
}

/* All-gather of the new parameters, the same behind every stride; 0 at stage 3. */
static double gather_s(const struct subject *m)
{
	return cost_op_s(&m->cost, OP_GATHER, split_update_gather_bytes(&m->workload));
}

/* Of the best stride; those of the others are in the list of strides. */
static void json_intervals(struct jsonw *w, const struct subject *m)
{
	const struct stride_outcome *const best = &m->outcomes[m->strides.opt];

	uncertainty_json_about(w, m->uncertainty);
	jsonw_key(w, "interval");
	jsonw_object(w);
	jsonw_key(w, "stride_opt_update_s");
	jsonw_inline_object(w);
	uncertainty_json_interval(w, &best->update);
	jsonw_end_object(w);
	jsonw_end_object(w);
	jsonw_member_number(w, "p_best", best->p_best);
}

static void text_interval(FILE *out, const struct subject *m)
{
	const struct stride_outcome *const best = &m->outcomes[m->strides.opt];
	struct arena arena = {0};
	char parameter[UNITS_TEXT_MAX], discrepancy[UNITS_TEXT_MAX], share[UNITS_TEXT_MAX];

	fprintf(out, "\n90 %% interval   %s: profile %s, model %s; stride_opt is the best with probability %s\n",
	    uncertainty_text(&best->update, UNIT_SECONDS, &arena), units_print(parameter, UNIT_FRAC, best->update.parameter_frac),
	    units_print(discrepancy, UNIT_FRAC, best->update.discrepancy_frac), units_print(share, UNIT_FRAC, best->p_best));
	arena_release(&arena);
}

static void print_json(FILE *out, const struct subject *m)
{
	const struct strides *const s = &m->strides;
	struct table *const table = strides_table(m, true);
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_member_string(&w, "schema", "dos-model/1");
	jsonw_member_string(&w, "hw", m->hw->name);
	jsonw_member_string(&w, "model", m->workload.shape.name);
	jsonw_member_string(&w, "policy", m->policy);
	jsonw_member_number(&w, "n_params", m->workload.n_params);
	jsonw_member_number(&w, "gpus", m->workload.batch.gpus);
	jsonw_member_number(&w, "nodes", m->workload.batch.nodes);
	trial_json_parallel(&w, &m->workload.batch);
	jsonw_member_number(&w, "threads", m->cost.threads);
	jsonw_member_number(&w, "subgroup_params", m->workload.batch.subgroup_params);
	jsonw_member_integer(&w, "n_subgroups", (long long)m->workload.n_subgroups);
	jsonw_member_integer(&w, "stride_opt", (long long)s->stride_opt);
	jsonw_member_number(&w, "stride_opt_update_s", s->points[s->opt].update_s);
	jsonw_member_bool(&w, "opt_fits", !m->misfit);
	jsonw_member_string(&w, "opt_reason", m->misfit);
	jsonw_member_number(&w, "fraction_opt_frac", s->fraction_opt_frac);
	jsonw_member_number(&w, "fraction_opt_update_s", s->fraction_opt_s);
	jsonw_member_number(&w, "stride_balance", s->stride_balance);
	jsonw_member_number(&w, "stride_balance_update_s", s->stride_balance_s);
	jsonw_member_number(&w, "stride_balance_loss_frac", s->stride_balance_loss_frac);
	if (start_s(m) > 0)
		jsonw_member_number(&w, "step_start_s", start_s(m));
	lanes_json(&w, "lanes", &s->lanes);
	lanes_json(&w, "idle_lanes", &s->idle_lanes);
	if (gather_s(m) > 0)
		jsonw_member_number(&w, "update_gather_s", gather_s(m));
	if (m->outcomes)
		json_intervals(&w, m);
	if (s->n < s->n_all)
		jsonw_member_integer(&w, "n_strides_left_out", (long long)(s->n_all - s->n));
	jsonw_key(&w, "strides");
	table_json(table, &w);
	jsonw_end_object(&w);
	putc('\n', out);
	table_free(table);
}

static void print_text(FILE *out, const struct subject *m, bool is_verbose)
{
	const struct strides *const s = &m->strides;
	struct table *const table = strides_table(m, is_verbose);
	char time[UNITS_TEXT_MAX], share[UNITS_TEXT_MAX];

	fprintf(out, "%s on %s, %s\n", m->workload.shape.name, m->hw->name, m->policy);
	fprintf(out, "Update of %zu subgroups; no dram: DRAM infinite, link idle; recurrence: exact without contention\n\n",
	    m->workload.n_subgroups);
	table_print(table, FORMAT_TABLE, out);
	table_free(table);
	fprintf(out, "\nstride_opt      %zu: %s\n", s->stride_opt,
	    units_print(time, UNIT_SECONDS, s->points[s->opt].update_s));
	fprintf(out, "fraction_opt    %.3f: %s\n", s->fraction_opt_frac, units_print(time, UNIT_SECONDS, s->fraction_opt_s));
	if (m->misfit)
		fprintf(out, "fits            no: %s\n", m->misfit);
	fprintf(out, "stride_balance  %.0f: %s, ", s->stride_balance, units_print(time, UNIT_SECONDS, s->stride_balance_s));
	fprintf(out, "%s over stride_opt\n", units_print(share, UNIT_FRAC, s->stride_balance_loss_frac));
	if (start_s(m) > 0)
		fprintf(out, "step start      %s more before every update: norms and small all-reduces of an iteration\n",
		    units_print(time, UNIT_SECONDS, start_s(m)));
	if (gather_s(m) > 0)
		fprintf(out, "all-gather      %s more behind every update: ZeRO-%d has all parameters on every rank\n",
		    units_print(time, UNIT_SECONDS, gather_s(m)), batch_zero_stage(&m->workload.batch));
	putc('\n', out);
	fprintf(out, "Lanes of %s:\n", s->stride_opt ? "a window of stride_opt" : "the update");
	lanes_text(out, "with dram", &s->lanes);
	lanes_text(out, "without", &s->idle_lanes);
	if (m->outcomes)
		text_interval(out, m);
}

static int print(const struct subject *m, const struct common *c, struct arena *arena, struct err *err)
{
	struct file_replace file;
	const int code = file_replace_open(&file, c->output, arena, err);

	if (code)
		return code;
	if (c->format == FORMAT_JSON) {
		print_json(file.out, m);
	} else if (c->format == FORMAT_CSV) {
		struct table *const table = strides_table(m, true);
		table_print(table, FORMAT_CSV, file.out);
		table_free(table);
	} else {
		print_text(file.out, m, c->is_verbose);
	}
	return file_replace_commit(&file, err);
}

/* ---- the command */

/* The options that decide the stride are not read: say so. */
static void note_unread(const struct common *c, const char *spec)
{
	static const char *const unread[] = {"stride=", "fraction=", "mask="};

	for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++)
		if (strstr(spec, unread[i]))
			common_note(c, "%.*s of the policy is not read: every stride is listed", (int)strcspn(unread[i], "="), unread[i]);
}

/* The policy's options, complete, as the closed form wants them. */
static int read_policy(struct interleave *how, double *workers, struct subject *m, const char *spec, double threads,
    struct arena *arena, struct err *err)
{
	struct policy_use use;

	if (policy_use_parse(&use, spec, arena, err))
		return err->code;
	m->has_found = use.policy->resolve && use_leaves_open(&use, "stride");
	if (use.policy->resolve)
		use.policy->resolve(use.params, m->hw, &m->workload, threads);
	m->policy = policy_use_canonical(&use, arena);
	*workers = use.policy->workers ? use.policy->workers(use.params) : 0;
	return use_interleave(how, &use, &m->workload, err);
}

/* The SPEC with the best value of what decides the share on the GPU. */
static const char *best_spec(const struct subject *m, struct arena *arena, struct err *err)
{
	const char *text = NULL;
	struct spec spec;

	if (spec_parse(&spec, m->policy, arena, err))
		return NULL;
	for (size_t i = 0; i < spec.n_pairs; i++) {
		const struct spec_pair *const pair = &spec.pairs[i];
		const char *value = pair->value;
		if (strcmp(pair->key, "mask") == 0)
			continue;
		if (strcmp(pair->key, "stride") == 0)
			value = arena_printf(arena, "%zu", m->strides.stride_opt);
		if (strcmp(pair->key, "fraction") == 0)
			value = arena_printf(arena, "%.17g", m->strides.fraction_opt_frac);
		text = arena_printf(arena, "%s%c%s=%s", text ? text : spec.name, text ? ',' : ':', pair->key, value);
	}
	return text ? text : spec.name;
}

/* The closed form knows no memory. */
static int judge_memory(struct subject *m, const struct common *c, struct arena *arena, struct err *err)
{
	struct trial_input input = {.hw = m->hw, .workload = &m->workload, .policy = best_spec(m, arena, err),
	    .threads = (double)c->threads, .sharing = &sharing_fluid};
	struct metrics metrics;

	if (!input.policy || trial_memory(&metrics, &input, arena, err))
		return err->code;
	m->misfit = metrics.fits ? NULL : metrics.reason;
	return 0;
}

/* Intervals of the closed form; the model's error is that of simulations, which it agrees with. */
static int find_outcomes(struct subject *m, const struct common *c, const struct interleave *how, double workers, struct arena *arena,
    struct err *err)
{
	const struct stride_source source = {m->hw, &m->workload, how, (double)c->threads, workers};
	struct uncertainty *const u = arena_alloc(arena, 1, sizeof(*u));

	if (uncertainty_of(u, c, &sharing_fluid, arena, err))
		return err->code;
	m->uncertainty = u;
	m->outcomes = stride_outcomes(u, &m->strides, &source, arena);
	return 0;
}

/* Draws are of what is listed: for them all, whatever is shown. */
static void list_strides(struct subject *m, const struct common *c, const struct interleave *how, struct arena *arena)
{
	const bool has_all = c->format != FORMAT_TABLE || c->is_verbose || c->uncertainty > 0;
	const struct strides_query query = {
	    .cost = &m->cost, .workload = &m->workload, .how = how, .listed = has_all ? STRIDES_ALL : STRIDES_SHOWN, .is_best = m->has_found};

	strides_init(&m->strides, &query, arena);
	if (has_all && m->strides.n < m->strides.n_all)
		common_note(c, "%zu of %zu strides are listed; the best is that of all", m->strides.n, m->strides.n_all);
}

static int model(const struct common *c, struct arena *arena, struct err *err)
{
	struct subject *const m = arena_zalloc(arena, 1, sizeof(*m));
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct opt_list specs;
	struct shape shape;
	struct batch batch;
	struct interleave how;
	double workers = 0;

	int code = common_policies(&specs, c, "dos", arena, err);
	if (!code && specs.n > 1)
		code = err_set(err, STATUS_USAGE, "model: one policy would be accepted, %zu are given", specs.n);
	if (!code)
		code = common_workload(&shape, &batch, c, arena, err);
	if (!code)
		code = common_hw(hw, c, arena, err);
	if (!code)
		code = trial_workload(&m->workload, hw, &shape, &batch, arena, err);
	m->hw = hw;
	if (!code)
		code = read_policy(&how, &workers, m, specs.items[0], (double)c->threads, arena, err);
	if (code)
		return code;
	note_unread(c, specs.items[0]);
	cost_init(&m->cost, hw, &m->workload, (double)c->threads, workers);
	list_strides(m, c, &how, arena);
	code = judge_memory(m, c, arena, err);
	if (!code && c->uncertainty > 0)
		code = find_outcomes(m, c, &how, workers, arena, err);
	return code ? code : print(m, c, arena, err);
}

int command_model(int argc, char **argv, struct err *err)
{
	const struct command_line line = {.name = "model",
	    .usage = "--hw H --model M [--policy SPEC] [OPTION]..",
	    .about = "Update time in closed form for every stride k: what limits, the best stride and fraction, and what the balance of an\n"
	             "idle link would lose. The policy (default dos) gives the schedule.",
	    .groups = COMMON_HW | COMMON_MODEL | COMMON_POLICY | COMMON_BATCH | COMMON_SCALE | COMMON_UNCERTAINTY};
	struct arena arena = {0};
	struct common c;

	int code = common_parse(&c, &line, argc, argv, NULL, &arena, err);
	if (!code && !c.wants_help)
		code = model(&c, &arena, err);
	arena_release(&arena);
	return code;
}
