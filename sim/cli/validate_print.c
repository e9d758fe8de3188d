/* SPDX-License-Identifier: GPL-3.0-or-later
 * Counts, CSV and JSON. */
#include "sim/cli/validate_print.h"

#include <math.h>
#include <string.h>

#include "sim/cli/coverage_print.h"
#include "sim/cli/uncertainty.h"

void row_counts_of(struct row_counts *c, const struct validation *v)
{
	*c = (struct row_counts){.n_rows = v->n};
	for (size_t i = 0; i < v->n; i++) {
		const struct prediction *const p = &v->predictions[i];
		c->n_excluded += p->is_excluded;
		c->n_refused += !p->is_excluded && p->reason;
		c->n_predicted += !p->is_excluded && !p->reason;
		c->n_in_fit += !p->is_excluded && p->is_in_fit;
		c->n_counted += !p->is_excluded && !p->is_in_fit;
	}
}

size_t validate_groups(size_t **first, const struct validation *v, struct arena *arena)
{
	size_t n = 0;

	*first = arena_alloc(arena, v->n + 1, sizeof(**first));
	for (size_t i = 0; i < v->n; i++) {
		const struct prediction *const p = &v->predictions[i];
		size_t group = 0;
		while (group < n && (strcmp(v->predictions[(*first)[group]].row->hw, p->row->hw) != 0 ||
		    strcmp(v->predictions[(*first)[group]].model, p->model) != 0))
			group++;
		if (group == n)
			(*first)[n++] = i;
	}
	return n;
}

/* ---- CSV */

static const struct table_column case_columns[] = {
    {"id", NULL, UNIT_NONE},
    {"set", NULL, UNIT_NONE},
    {"hw", NULL, UNIT_NONE},
    {"model", NULL, UNIT_NONE},
    {"policy", NULL, UNIT_NONE},
    {"quantity", NULL, UNIT_NONE},
    {"measured", NULL, UNIT_NONE},
    {"predicted", NULL, UNIT_NONE},
    {"ape_frac", NULL, UNIT_NONE},
    {"in_fit", NULL, UNIT_NONE},
    {"excluded", NULL, UNIT_NONE},
    {"reason", NULL, UNIT_NONE},
    {"lo", NULL, UNIT_NONE},
    {"hi", NULL, UNIT_NONE},
};
enum { N_INTERVAL_COLUMNS = 2 };

static void csv_interval(struct table *table, const struct validate_report *r, size_t row, size_t q)
{
	const bool has_interval = !isnan(r->coverage->rows[row].rank[q]);

	table_number(table, has_interval ? r->coverage->rows[row].of[q].lo : NAN);
	table_number(table, has_interval ? r->coverage->rows[row].of[q].hi : NAN);
}

static bool is_case(const struct validate_report *r, const struct prediction *p, size_t q)
{
	return r->has_quantity[q] && !isnan(p->row->measured[q]);
}

void validate_csv(FILE *out, const struct validate_report *r)
{
	struct table *const table = table_new(case_columns,
	    sizeof(case_columns) / sizeof(case_columns[0]) - (r->coverage ? 0 : N_INTERVAL_COLUMNS));

	for (size_t i = 0; i < r->validation->n; i++) {
		const struct prediction *const p = &r->validation->predictions[i];
		for (size_t q = 0; q < QUANTITY_N; q++) {
			if (!is_case(r, p, q))
				continue;
			table_text(table, p->row->id);
			table_text(table, p->set);
			table_text(table, p->row->hw);
			table_text(table, p->model);
			table_text(table, p->policy);
			table_text(table, quantity_names[q]);
			table_number(table, p->row->measured[q]);
			table_number(table, p->predicted[q]);
			table_number(table, prediction_error_frac(p, (enum quantity)q));
			table_text(table, p->is_in_fit ? "true" : "false");
			table_text(table, p->row->exclude);
			table_text(table, p->reason);
			if (r->coverage)
				csv_interval(table, r, i, q);
		}
	}
	table_print(table, FORMAT_CSV, out);
	table_free(table);
}

/* ---- JSON */

static void json_errors(struct jsonw *w, const char *key, const struct errors *e)
{
	if (key)
		jsonw_key(w, key);
	jsonw_inline_object(w);
	jsonw_member_integer(w, "n", (long long)e->n);
	jsonw_member_number(w, "mape_frac", e->mean_frac);
	jsonw_member_number(w, "max_ape_frac", e->max_frac);
	jsonw_member_number(w, "median_ape_frac", e->median_frac);
	jsonw_member_number(w, "p90_ape_frac", e->p90_frac);
	jsonw_member_number(w, "bias_frac", e->bias_frac);
	jsonw_member_string(w, "worst", e->worst);
	jsonw_end_object(w);
}

static void json_by_quantity(struct jsonw *w, const char *key, const struct validate_report *r, bool is_in_fit,
    const struct prediction *group, struct arena *arena)
{
	jsonw_key(w, key);
	jsonw_object(w);
	for (size_t q = 0; q < QUANTITY_N; q++) {
		struct errors e;
		if (!r->has_quantity[q])
			continue;
		validate_errors(&e, r->validation, (enum quantity)q, is_in_fit, group ? group->row->hw : NULL,
		    group ? group->model : NULL, arena);
		if (!group || e.n > 0)
			json_errors(w, quantity_names[q], &e);
	}
	jsonw_end_object(w);
}

static void json_groups(struct jsonw *w, const struct validate_report *r, struct arena *arena)
{
	size_t *first;
	const size_t n = validate_groups(&first, r->validation, arena);

	jsonw_key(w, "by_group");
	jsonw_array(w);
	for (size_t i = 0; i < n; i++) {
		const struct prediction *const p = &r->validation->predictions[first[i]];
		jsonw_object(w);
		jsonw_member_string(w, "hw", p->row->hw);
		jsonw_member_string(w, "model", p->model);
		json_by_quantity(w, "by_quantity", r, false, p, arena);
		json_by_quantity(w, "by_quantity_in_fit", r, true, p, arena);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void speedup_errors(struct errors *e, const struct speedup *speedups, size_t n, bool is_in_fit, struct arena *arena)
{
	struct error_case *const cases = arena_alloc(arena, n + 1, sizeof(*cases));
	size_t n_cases = 0;

	for (size_t i = 0; i < n; i++)
		if (speedups[i].prediction->is_in_fit == is_in_fit)
			cases[n_cases++] = (struct error_case){speedups[i].error_frac,
			    speedups[i].predicted / speedups[i].measured - 1, speedups[i].prediction->row->id};
	errors_of(e, cases, n_cases, arena);
}

void validate_speedup_errors(struct errors *e, const struct validate_report *r, enum quantity quantity, bool is_in_fit,
    struct arena *arena)
{
	struct speedup *speedups;
	const size_t n = validate_speedups(&speedups, r->validation, quantity, arena);

	speedup_errors(e, speedups, n, is_in_fit, arena);
}

static void json_speedup_of(struct jsonw *w, const struct validate_report *r, enum quantity quantity, struct arena *arena)
{
	struct speedup *speedups;
	struct errors counted, in_fit;
	const size_t n = validate_speedups(&speedups, r->validation, quantity, arena);

	speedup_errors(&counted, speedups, n, false, arena);
	speedup_errors(&in_fit, speedups, n, true, arena);
	jsonw_member_integer(w, "n", (long long)counted.n);
	jsonw_member_number(w, "mape_frac", counted.mean_frac);
	jsonw_member_number(w, "max_ape_frac", counted.max_frac);
	json_errors(w, "in_fit", &in_fit);
	jsonw_key(w, "cases");
	jsonw_array(w);
	for (size_t i = 0; i < n; i++) {
		jsonw_inline_object(w);
		jsonw_member_string(w, "id", speedups[i].prediction->row->id);
		jsonw_member_string(w, "over", speedups[i].base->row->id);
		jsonw_member_number(w, "measured", speedups[i].measured);
		jsonw_member_number(w, "predicted", speedups[i].predicted);
		jsonw_member_number(w, "ape_frac", speedups[i].error_frac);
		jsonw_member_bool(w, "in_fit", speedups[i].prediction->is_in_fit);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void json_speedup(struct jsonw *w, const struct validate_report *r, struct arena *arena)
{
	jsonw_key(w, "speedup");
	jsonw_object(w);
	jsonw_member_string(w, "quantity", quantity_names[QUANTITY_SUM_PHASES]);
	json_speedup_of(w, r, QUANTITY_SUM_PHASES, arena);
	jsonw_key(w, "update");
	jsonw_object(w);
	jsonw_member_string(w, "quantity", quantity_names[QUANTITY_UPDATE]);
	json_speedup_of(w, r, QUANTITY_UPDATE, arena);
	jsonw_end_object(w);
	jsonw_end_object(w);
}

static void json_sweep(struct jsonw *w, const struct sweep *s)
{
	jsonw_inline_object(w);
	jsonw_member_string(w, "hw", s->hw);
	jsonw_member_string(w, "model", s->model);
	jsonw_member_number(w, "gpus", s->gpus);
	jsonw_member_string(w, "policy", s->family);
	jsonw_member_string(w, "option", s->key);
	jsonw_member_integer(w, "n", (long long)s->n);
	jsonw_member_integer(w, "n_in_fit", (long long)s->n_in_fit);
	jsonw_member_number(w, "best_measured", s->best_measured);
	jsonw_member_number(w, "best_predicted", s->best_predicted);
	jsonw_member_number(w, "loss_frac", s->loss_frac);
	jsonw_member_bool(w, "right", s->is_right);
	jsonw_end_object(w);
}

static void json_ranking(struct jsonw *w, const struct validate_report *r, struct arena *arena)
{
	struct sweep *sweeps;
	const size_t n = validate_sweeps(&sweeps, r->validation, arena);
	size_t n_right = 0;
	double max_loss_frac = NAN;

	for (size_t i = 0; i < n; i++) {
		n_right += sweeps[i].is_right;
		max_loss_frac = fmax(max_loss_frac, sweeps[i].loss_frac);
	}
	jsonw_key(w, "ranking");
	jsonw_object(w);
	jsonw_member_string(w, "quantity", quantity_names[QUANTITY_UPDATE]);
	jsonw_member_integer(w, "n", (long long)n);
	jsonw_member_integer(w, "n_right", (long long)n_right);
	jsonw_member_number(w, "max_loss_frac", max_loss_frac);
	jsonw_key(w, "sweeps");
	jsonw_array(w);
	for (size_t i = 0; i < n; i++)
		json_sweep(w, &sweeps[i]);
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void json_case(struct jsonw *w, const struct validate_report *r, size_t row, size_t q)
{
	const struct prediction *const p = &r->validation->predictions[row];

	jsonw_inline_object(w);
	jsonw_member_string(w, "id", p->row->id);
	jsonw_member_string(w, "quantity", quantity_names[q]);
	jsonw_member_number(w, "measured", p->row->measured[q]);
	jsonw_member_number(w, "predicted", p->predicted[q]);
	jsonw_member_number(w, "ape_frac", prediction_error_frac(p, (enum quantity)q));
	jsonw_member_bool(w, "in_fit", p->is_in_fit);
	jsonw_member_string(w, "hw", p->row->hw);
	jsonw_member_string(w, "model", p->model);
	jsonw_member_string(w, "policy", p->policy);
	if (p->is_excluded)
		jsonw_member_string(w, "excluded", p->row->exclude);
	if (p->reason)
		jsonw_member_string(w, "reason", p->reason);
	if (r->coverage && !isnan(r->coverage->rows[row].rank[q]))
		uncertainty_json_interval(w, &r->coverage->rows[row].of[q]);
	jsonw_end_object(w);
}

static void json_cases(struct jsonw *w, const struct validate_report *r)
{
	jsonw_key(w, "cases");
	jsonw_array(w);
	for (size_t i = 0; i < r->validation->n; i++)
		for (size_t q = 0; q < QUANTITY_N; q++)
			if (is_case(r, &r->validation->predictions[i], q))
				json_case(w, r, i, q);
	jsonw_end_array(w);
}

void validate_json(FILE *out, const struct validate_report *r, struct arena *arena)
{
	struct row_counts counts;
	struct jsonw w;

	row_counts_of(&counts, r->validation);
	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_member_string(&w, "schema", "dos-validate/1");
	jsonw_key(&w, "sets");
	jsonw_inline_array(&w);
	for (size_t i = 0; i < r->sets->n; i++)
		jsonw_string(&w, r->sets->items[i]);
	jsonw_end_array(&w);
	jsonw_member_string(&w, "contention", r->contention);
	jsonw_member_string(&w, "iteration_s_is", "forward_s + backward_s + update_s + the recorded other_s");
	jsonw_member_integer(&w, "n_rows", (long long)counts.n_rows);
	jsonw_member_integer(&w, "n_predicted", (long long)counts.n_predicted);
	jsonw_member_integer(&w, "n_excluded", (long long)counts.n_excluded);
	jsonw_member_integer(&w, "n_refused", (long long)counts.n_refused);
	jsonw_member_integer(&w, "n_in_fit", (long long)counts.n_in_fit);
	jsonw_member_integer(&w, "n_counted", (long long)counts.n_counted);
	json_by_quantity(&w, "by_quantity", r, false, NULL, arena);
	json_by_quantity(&w, "by_quantity_in_fit", r, true, NULL, arena);
	json_groups(&w, r, arena);
	json_speedup(&w, r, arena);
	json_ranking(&w, r, arena);
	if (r->coverage)
		coverage_json(&w, r, arena);
	json_cases(&w, r);
	jsonw_end_object(&w);
	putc('\n', out);
}
