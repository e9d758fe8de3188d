/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/trial_print.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model/split.h"
#include "sim/cli/uncertainty.h"

enum { KEY_MAX = 32 };

/* "H2D" -> "h2d", "optimizer states" -> "optimizer_states" */
static const char *key_of(char key[KEY_MAX], const char *name)
{
	size_t n = 0;

	for (; name[n] && n + 1 < KEY_MAX; n++)
		key[n] = name[n] == ' ' ? '_' : (char)tolower((unsigned char)name[n]);
	key[n] = '\0';
	return key;
}

static const char *const lane_words[LANE_N] = {
#define LANE_WORD(name, text) #name,
    LANE_LIST(LANE_WORD)
#undef LANE_WORD
};

/* Share of model FLOPs that the GPUs' peak would do in the time of the iteration. */
static double utilization_frac(const struct trial *t, const struct trial_input *in)
{
	const double peak_flop_per_s = in->hw->gpu_flop_per_s * batch_ranks(&t->workload.batch);
	return t->metrics.iteration_s > 0 ? workload_model_flop(&t->workload) / t->metrics.iteration_s / peak_flop_per_s : 0;
}

static double tokens_per_s(const struct trial *t)
{
	if (t->workload.is_update_only || t->metrics.iteration_s <= 0)
		return 0;
	return batch_tokens(&t->workload.batch) / t->metrics.iteration_s;
}

/* ---- JSON */

void trial_json_parallel(struct jsonw *w, const struct batch *batch)
{
	if (batch_is_plain(batch))
		return;
	jsonw_member_integer(w, "zero", batch_zero_stage(batch));
	jsonw_member_number(w, "tp", batch_tp(batch));
}

static void json_input(struct jsonw *w, const struct trial *t, const struct trial_input *in, const char *scale)
{
	const struct workload *const workload = &t->workload;
	const struct batch *const b = &workload->batch;

	jsonw_member_string(w, "hw", in->hw->name);
	jsonw_member_string(w, "model", workload->shape.name);
	jsonw_member_number(w, "n_params", workload->n_params);
	jsonw_member_number(w, "gpus", b->gpus);
	jsonw_member_number(w, "nodes", b->nodes);
	trial_json_parallel(w, b);
	jsonw_member_number(w, "mbs", b->mbs);
	jsonw_member_number(w, "grad_accum", b->grad_accum);
	jsonw_member_number(w, "seq", b->seq);
	jsonw_member_bool(w, "checkpointing", b->has_checkpointing);
	jsonw_member_string(w, "precision", b->precision == PRECISION_FP16 ? "fp16" : "bf16");
	jsonw_member_number(w, "subgroup_params", b->subgroup_params);
	jsonw_member_integer(w, "n_subgroups", (long long)workload->n_subgroups);
	jsonw_member_bool(w, "update_only", workload->is_update_only);
	jsonw_member_number(w, "threads", t->cost.threads);
	jsonw_member_string(w, "contention", in->sharing->name);
	jsonw_member_string(w, "sync", sync_names[in->sync]);
	jsonw_member_string(w, "scale", scale);
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

static void json_times(struct jsonw *w, const struct metrics *m)
{
	jsonw_member_number(w, "forward_s", m->forward_s);
	jsonw_member_number(w, "backward_s", m->backward_s);
	jsonw_member_number(w, "update_s", m->update_s);
	jsonw_member_number(w, "other_s", m->other_s);
	jsonw_member_number(w, "iteration_s", m->iteration_s);
}

static void json_memory(struct jsonw *w, const struct trial *t, const struct hwprofile *hw)
{
	const struct metrics *const m = &t->metrics;

	jsonw_member_number(w, "gpu_peak_bytes", m->gpu_peak_bytes);
	jsonw_member_number(w, "host_peak_bytes", m->host_peak_bytes);
	jsonw_member_number(w, "gpu_memory_bytes", hw->gpu_memory_bytes);
	jsonw_member_number(w, "host_memory_bytes", hw->host_memory_bytes);
	json_peak(w, "gpu_peak_of", m->peak_bytes[POOL_GPU], 1);
	json_peak(w, "host_peak_of", m->peak_bytes[POOL_HOST], t->workload.batch.gpus);
	jsonw_member_bool(w, "fits", m->fits);
	jsonw_member_string(w, "reason", m->reason);
}

static void json_limits(struct jsonw *w, const struct metrics *m)
{
	char key[KEY_MAX];

	jsonw_member_string(w, "bottleneck", res_names[m->bottleneck]);
	jsonw_key(w, "critical_path_s");
	jsonw_inline_object(w);
	for (size_t r = 0; r < RES_N; r++)
		if (m->path_s[r] > 0)
			jsonw_member_number(w, res_names[r], m->path_s[r]);
	jsonw_end_object(w);
	jsonw_key(w, "busy_frac");
	jsonw_inline_object(w);
	for (size_t lane = 0; lane < LANE_N; lane++)
		jsonw_member_number(w, key_of(key, lane_words[lane]), m->busy_frac[lane]);
	jsonw_end_object(w);
}

void trial_json(struct jsonw *w, const struct shown_trial *shown, const char *scale)
{
	const struct trial *const t = shown->trial;
	const struct trial_input *const in = shown->input;

	jsonw_object(w);
	jsonw_member_string(w, "schema", "dos-simulate/1");
	jsonw_member_string(w, "policy", t->policy);
	json_input(w, t, in, scale);
	json_times(w, &t->metrics);
	json_memory(w, t, in->hw);
	jsonw_member_number(w, "gpu_fraction_frac", t->metrics.gpu_fraction_frac);
	json_limits(w, &t->metrics);
	jsonw_member_number(w, "h2d_bytes", t->metrics.h2d_bytes);
	jsonw_member_number(w, "d2h_bytes", t->metrics.d2h_bytes);
	jsonw_member_number(w, "tokens_per_s", tokens_per_s(t));
	jsonw_member_number(w, "flop_utilization_frac", utilization_frac(t, in));
	jsonw_member_integer(w, "n_ops", (long long)t->metrics.n_ops);
	if (shown->outcome) {
		uncertainty_json_about(w, shown->uncertainty);
		uncertainty_json_intervals(w, shown->outcome->of);
		jsonw_member_number(w, "p_best", shown->outcome->p_best);
		jsonw_member_number(w, "p_fits", shown->outcome->p_fits);
	}
	jsonw_end_object(w);
}

/* ---- rows */

static const struct table_column people_columns[] = {
    {"policy", NULL, UNIT_NONE},
    {"forward_s", "forward", UNIT_SECONDS},
    {"backward_s", "backward", UNIT_SECONDS},
    {"update_s", "update", UNIT_SECONDS},
    {"iteration_s", "iteration", UNIT_SECONDS},
    {"speedup", "speed-up", UNIT_NONE},
    {"gpu_peak_bytes", "gpu peak", UNIT_BYTES},
    {"host_peak_bytes", "host peak", UNIT_BYTES},
    {"fits", NULL, UNIT_NONE},
    {"gpu_fraction_frac", "on gpu", UNIT_FRAC},
    {"bottleneck", NULL, UNIT_NONE},
    {"p_best", "best", UNIT_FRAC},
};

static const struct table_column program_columns[] = {
    {"hw", NULL, UNIT_NONE},
    {"model", NULL, UNIT_NONE},
    {"policy", NULL, UNIT_NONE},
    {"gpus", NULL, UNIT_NONE},
    {"mbs", NULL, UNIT_NONE},
    {"grad_accum", NULL, UNIT_NONE},
    {"seq", NULL, UNIT_NONE},
    {"subgroup", NULL, UNIT_NONE},
    {"n_subgroups", NULL, UNIT_NONE},
    {"threads", NULL, UNIT_NONE},
    {"contention", NULL, UNIT_NONE},
    {"forward_s", NULL, UNIT_SECONDS},
    {"backward_s", NULL, UNIT_SECONDS},
    {"update_s", NULL, UNIT_SECONDS},
    {"other_s", NULL, UNIT_SECONDS},
    {"iteration_s", NULL, UNIT_SECONDS},
    {"gpu_peak_bytes", NULL, UNIT_BYTES},
    {"host_peak_bytes", NULL, UNIT_BYTES},
    {"fits", NULL, UNIT_NONE},
    {"reason", NULL, UNIT_NONE},
    {"gpu_fraction_frac", NULL, UNIT_FRAC},
    {"bottleneck", NULL, UNIT_NONE},
    {"n_ops", NULL, UNIT_NONE},
    {"nodes", NULL, UNIT_NONE},
    {"update_lo_s", NULL, UNIT_SECONDS},
    {"update_hi_s", NULL, UNIT_SECONDS},
    {"iteration_lo_s", NULL, UNIT_SECONDS},
    {"iteration_hi_s", NULL, UNIT_SECONDS},
    {"gpu_peak_lo_bytes", NULL, UNIT_BYTES},
    {"gpu_peak_hi_bytes", NULL, UNIT_BYTES},
    {"host_peak_lo_bytes", NULL, UNIT_BYTES},
    {"host_peak_hi_bytes", NULL, UNIT_BYTES},
    {"p_best", NULL, UNIT_FRAC},
};
enum { N_PEOPLE_MORE = 1, N_PROGRAM_MORE = 9 }; /* the last ones, with --uncertainty */
#define N_COLUMNS(columns) (sizeof(columns) / sizeof((columns)[0]))

/* Without intervals the last columns are left out. */
struct table *trial_table_new(enum format format, bool has_intervals)
{
	const bool is_full = format != FORMAT_TABLE;
	const size_t n = is_full ? N_COLUMNS(program_columns) : N_COLUMNS(people_columns);
	const size_t n_more = is_full ? N_PROGRAM_MORE : N_PEOPLE_MORE;

	return table_new(is_full ? program_columns : people_columns, has_intervals ? n : n - n_more);
}

static void row_input(struct table *table, const struct trial *t, const struct trial_input *in)
{
	const struct batch *const b = &t->workload.batch;
	struct arena arena = {0};

	table_text(table, in->hw->name);
	table_text(table, batch_model_name(t->workload.shape.name, b, &arena));
	arena_release(&arena);
	table_text(table, t->policy);
	table_number(table, b->gpus);
	table_number(table, b->mbs);
	table_number(table, b->grad_accum);
	table_number(table, b->seq);
	table_number(table, b->subgroup_params);
	table_integer(table, (long long)t->workload.n_subgroups);
	table_number(table, t->cost.threads);
	table_text(table, in->sharing->name);
}

/* The SPEC as given with the values it left to the optimum: short enough for a table. */
static void row_spec(struct table *table, const struct trial *t, const struct trial_input *in)
{
	static const char *const chosen[] = {"stride=", "fraction="};
	struct arena arena = {0};
	const char *text = in->policy;

	for (size_t i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++) {
		const char *const value = strstr(t->policy, chosen[i]);
		if (value && !strstr(text, chosen[i]))
			text = arena_printf(&arena, "%s%c%s%.3g", text, strchr(text, ':') ? ',' : ':', chosen[i],
			    strtod(value + strlen(chosen[i]), NULL));
	}
	table_text(table, text);
	arena_release(&arena);
}

/* A number for programs; for people with its interval. */
static void row_value(struct table *table, const struct shown_trial *shown, bool is_full, enum quantity q, double value)
{
	const bool is_bytes = q == QUANTITY_GPU_PEAK || q == QUANTITY_HOST_PEAK;
	struct arena arena = {0};

	if (is_full || !shown->outcome)
		table_number(table, value);
	else
		table_text(table, uncertainty_text(&shown->outcome->of[q], is_bytes ? UNIT_BYTES : UNIT_SECONDS, &arena));
	arena_release(&arena);
}

static void row_intervals(struct table *table, const struct outcome *outcome, bool is_full)
{
	static const enum quantity quantities[] = {QUANTITY_UPDATE, QUANTITY_ITERATION, QUANTITY_GPU_PEAK, QUANTITY_HOST_PEAK};

	for (size_t i = 0; is_full && i < N_COLUMNS(quantities); i++) {
		table_number(table, outcome->of[quantities[i]].lo);
		table_number(table, outcome->of[quantities[i]].hi);
	}
	table_number(table, outcome->p_best);
}

void trial_table_row(struct table *table, enum format format, const struct shown_trial *shown, double base_s)
{
	const struct metrics *const m = &shown->trial->metrics;
	const bool is_full = format != FORMAT_TABLE;
	char speedup[32];

	snprintf(speedup, sizeof(speedup), "%.2fx", m->iteration_s > 0 ? base_s / m->iteration_s : 0);
	if (is_full)
		row_input(table, shown->trial, shown->input);
	else
		row_spec(table, shown->trial, shown->input);
	row_value(table, shown, is_full, QUANTITY_FORWARD, m->forward_s);
	row_value(table, shown, is_full, QUANTITY_BACKWARD, m->backward_s);
	row_value(table, shown, is_full, QUANTITY_UPDATE, m->update_s);
	if (is_full)
		table_number(table, m->other_s);
	row_value(table, shown, is_full, QUANTITY_ITERATION, m->iteration_s);
	if (!is_full)
		table_text(table, speedup);
	row_value(table, shown, is_full, QUANTITY_GPU_PEAK, m->gpu_peak_bytes);
	row_value(table, shown, is_full, QUANTITY_HOST_PEAK, m->host_peak_bytes);
	table_text(table, m->fits ? "yes" : "no");
	if (is_full)
		table_text(table, m->reason);
	table_number(table, m->gpu_fraction_frac);
	table_text(table, res_names[m->bottleneck]);
	if (is_full) {
		table_integer(table, (long long)m->n_ops);
		table_number(table, shown->trial->workload.batch.nodes);
	}
	if (shown->outcome)
		row_intervals(table, shown->outcome, is_full);
}

/* ---- report */

static void report_phases(FILE *out, const struct metrics *m)
{
	const double phases_s[PHASE_N] = {m->forward_s, m->backward_s, m->update_s, m->other_s};
	char time[UNITS_TEXT_MAX], share[UNITS_TEXT_MAX];

	for (size_t i = 0; i < PHASE_N; i++)
		fprintf(out, "%-10s  %8s  %7s\n", phase_names[i], units_print(time, UNIT_SECONDS, phases_s[i]),
		    units_print(share, UNIT_FRAC, m->iteration_s > 0 ? phases_s[i] / m->iteration_s : 0));
	fprintf(out, "%-10s  %8s\n", "iteration", units_print(time, UNIT_SECONDS, m->iteration_s));
}

static void report_peak(FILE *out, const char *label, double peak_bytes, double room_bytes, const double parts[MEM_N], double n_ranks)
{
	char peak[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX], part[UNITS_TEXT_MAX];
	const char *separator = ": ";

	fprintf(out, "%-10s  %s of %s", label, units_print(peak, UNIT_BYTES, peak_bytes), units_print(room, UNIT_BYTES, room_bytes));
	for (size_t i = 0; i < MEM_N; i++)
		if (parts[i] > 0) {
			fprintf(out, "%s%s %s", separator, mem_names[i], units_print(part, UNIT_BYTES, n_ranks * parts[i]));
			separator = ", ";
		}
	putc('\n', out);
}

static void report_busy(FILE *out, const struct metrics *m)
{
	char share[UNITS_TEXT_MAX];
	const char *separator = "";

	fprintf(out, "%-10s  ", "busy");
	for (size_t lane = 0; lane < LANE_N; lane++)
		if (m->busy_frac[lane] > 0) {
			fprintf(out, "%s%s %s", separator, lane_names[lane], units_print(share, UNIT_FRAC, m->busy_frac[lane]));
			separator = ", ";
		}
	putc('\n', out);
}

/* "90 % intervals": the whole, and its two parts. */
static void report_intervals(FILE *out, const struct outcome *outcome, const struct uncertainty *u)
{
	struct arena arena = {0};
	char parameter[UNITS_TEXT_MAX], discrepancy[UNITS_TEXT_MAX];

	fprintf(out, "\n90 %% intervals of %zu draws: of the profile, and of the model on other machines\n", u->n_samples);
	for (size_t q = 0; q < QUANTITY_N; q++) {
		const bool is_bytes = q == QUANTITY_GPU_PEAK || q == QUANTITY_HOST_PEAK;
		const struct interval *const v = &outcome->of[q];
		if (v->predicted > 0 && q != QUANTITY_SUM_PHASES)
			fprintf(out, "%-15s  %-22s  profile %s, model %s\n", quantity_names[q],
			    uncertainty_text(v, is_bytes ? UNIT_BYTES : UNIT_SECONDS, &arena),
			    units_print(parameter, UNIT_FRAC, v->parameter_frac), units_print(discrepancy, UNIT_FRAC, v->discrepancy_frac));
	}
	arena_release(&arena);
}

void trial_report(FILE *out, const struct shown_trial *shown)
{
	const struct trial *const t = shown->trial;
	const struct trial_input *const in = shown->input;
	const struct metrics *const m = &t->metrics;
	char share[UNITS_TEXT_MAX];
	double path_s = 0;

	fprintf(out, "%-10s  %s\n\n", "policy", t->policy);
	report_phases(out, m);
	putc('\n', out);
	report_peak(out, "gpu peak", m->gpu_peak_bytes, in->hw->gpu_memory_bytes, m->peak_bytes[POOL_GPU], 1);
	report_peak(out, "host peak", m->host_peak_bytes, in->hw->host_memory_bytes, m->peak_bytes[POOL_HOST],
	    t->workload.batch.gpus);
	fprintf(out, "%-10s  %s%s\n", "fits", m->fits ? "yes" : "no: ", m->fits ? "" : m->reason);
	fprintf(out, "%-10s  %s of the parameters\n", "gpu update", units_print(share, UNIT_FRAC, m->gpu_fraction_frac));
	for (size_t r = 0; r < RES_N; r++)
		path_s += m->path_s[r];
	fprintf(out, "%-10s  %s, %s of the critical path\n", "bottleneck", res_names[m->bottleneck],
	    units_print(share, UNIT_FRAC, path_s > 0 ? m->path_s[m->bottleneck] / path_s : 0));
	report_busy(out, m);
	if (shown->outcome)
		report_intervals(out, shown->outcome, shown->uncertainty);
}
