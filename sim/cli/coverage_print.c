/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/coverage_print.h"

#include <math.h>
#include <string.h>

static const struct table_column columns[] = {
    {"what", "", UNIT_NONE},
    {"n", NULL, UNIT_NONE},
    {"covered_frac", "inside", UNIT_FRAC},
    {"median_half_frac", "half width", UNIT_FRAC},
    {"parameter_frac", "profile", UNIT_FRAC},
    {"discrepancy_frac", "model", UNIT_FRAC},
};

static double covered_frac(const struct coverage_counts *c)
{
	return c->n ? (double)c->n_inside / (double)c->n : NAN;
}

static void count(struct coverage_counts *c, const struct validate_report *r, size_t quantity, const char *hw, enum coverage_part part,
    struct arena *arena)
{
	coverage_count(c, r->coverage, r->validation, quantity, hw, part, arena);
}

/* Machines in order of appearance; NULL-terminated. */
static const char **machines_of(const struct validation *v, struct arena *arena)
{
	const char **const names = arena_zalloc(arena, v->n + 1, sizeof(*names));

	for (size_t i = 0, n = 0; i < v->n; i++) {
		size_t at = 0;
		while (at < n && strcmp(names[at], v->predictions[i].row->hw) != 0)
			at++;
		if (at == n)
			names[n++] = v->predictions[i].row->hw;
	}
	return names;
}

/* ---- text */

static void add_row(struct table *table, const char *what, const struct coverage_counts *c)
{
	if (c->n == 0)
		return;
	table_text(table, what);
	table_integer(table, (long long)c->n);
	table_number(table, covered_frac(c));
	table_number(table, c->half_frac);
	table_number(table, c->parameter_frac);
	table_number(table, c->discrepancy_frac);
}

/* By quantity; the last row is all of them, where no quantity is left out. */
static void add_rows(struct table *table, const struct validate_report *r, const char *hw, enum coverage_part part, struct arena *arena)
{
	struct coverage_counts c;
	bool has_all = true;

	for (size_t q = 0; q < QUANTITY_N; q++) {
		has_all = has_all && r->has_quantity[q];
		count(&c, r, q, hw, part, arena);
		if (r->has_quantity[q])
			add_row(table, hw ? arena_printf(arena, "%s %s", hw, quantity_names[q]) : quantity_names[q], &c);
	}
	count(&c, r, QUANTITY_N, hw, part, arena);
	if (has_all)
		add_row(table, hw ? arena_printf(arena, "%s all but iterations", hw) : "all but iterations", &c);
}

static void print_table(FILE *out, const char *title, struct table *table)
{
	if (table_n_rows(table) > 0) {
		fprintf(out, "\n%s\n", title);
		table_print(table, FORMAT_TABLE, out);
	}
	table_free(table);
}

void coverage_text(FILE *out, const struct validate_report *r, struct arena *arena)
{
	const char **const machines = machines_of(r->validation, arena);
	const size_t n_columns = sizeof(columns) / sizeof(columns[0]);
	struct table *table = table_new(columns, n_columns);

	add_rows(table, r, NULL, COVERAGE_COUNTED, arena);
	print_table(out, arena_printf(arena, "Measurements inside their 90 %% intervals, rows outside the fit (%zu draws; medians of half widths):",
	    r->coverage->n_samples), table);
	table = table_new(columns, n_columns);
	for (size_t i = 0; machines[i]; i++)
		add_rows(table, r, machines[i], COVERAGE_COUNTED, arena);
	print_table(out, "The same by machine:", table);
	table = table_new(columns, n_columns);
	add_rows(table, r, NULL, COVERAGE_IN_FIT, arena);
	print_table(out, "Rows in the fit:", table);
	table = table_new(columns, n_columns);
	for (size_t i = 0; machines[i]; i++)
		add_rows(table, r, machines[i], COVERAGE_OTHER, arena);
	print_table(out, "Not counted: recorded of a program that is not like any policy here in this:", table);
}

/* ---- JSON */

static void json_counts(struct jsonw *w, const char *key, const struct coverage_counts *c)
{
	jsonw_key(w, key);
	jsonw_inline_object(w);
	jsonw_member_integer(w, "n", (long long)c->n);
	jsonw_member_integer(w, "n_inside", (long long)c->n_inside);
	jsonw_member_number(w, "covered_frac", covered_frac(c));
	jsonw_member_number(w, "median_half_frac", c->half_frac);
	jsonw_member_number(w, "parameter_frac", c->parameter_frac);
	jsonw_member_number(w, "discrepancy_frac", c->discrepancy_frac);
	jsonw_end_object(w);
}

static void json_quantities(struct jsonw *w, const char *key, const struct validate_report *r, const char *hw, enum coverage_part part,
    struct arena *arena)
{
	struct coverage_counts c;

	jsonw_key(w, key);
	jsonw_object(w);
	for (size_t q = 0; q < QUANTITY_N; q++) {
		count(&c, r, q, hw, part, arena);
		if (r->has_quantity[q])
			json_counts(w, quantity_names[q], &c);
	}
	count(&c, r, QUANTITY_N, hw, part, arena);
	json_counts(w, "all", &c);
	jsonw_end_object(w);
}

void coverage_json(struct jsonw *w, const struct validate_report *r, struct arena *arena)
{
	const char **const machines = machines_of(r->validation, arena);

	jsonw_key(w, "uncertainty");
	jsonw_object(w);
	jsonw_member_integer(w, "n", (long long)r->coverage->n_samples);
	jsonw_member_integer(w, "seed", (long long)r->coverage->seed);
	jsonw_member_number(w, "level_frac", 0.9);
	json_quantities(w, "coverage", r, NULL, COVERAGE_COUNTED, arena);
	json_quantities(w, "coverage_in_fit", r, NULL, COVERAGE_IN_FIT, arena);
	json_quantities(w, "coverage_not_comparable", r, NULL, COVERAGE_OTHER, arena);
	jsonw_key(w, "by_hw");
	jsonw_object(w);
	for (size_t i = 0; machines[i]; i++)
		json_quantities(w, machines[i], r, machines[i], COVERAGE_COUNTED, arena);
	jsonw_end_object(w);
	jsonw_end_object(w);
}
