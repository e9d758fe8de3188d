/* SPDX-License-Identifier: GPL-3.0-or-later
 * The report for people. */
#include <math.h>
#include <string.h>

#include "sim/cli/coverage_print.h"

static const struct table_column error_columns[] = {
    {"what", "", UNIT_NONE},
    {"n", NULL, UNIT_NONE},
    {"mape_frac", "mean", UNIT_FRAC},
    {"median_ape_frac", "median", UNIT_FRAC},
    {"p90_ape_frac", "p90", UNIT_FRAC},
    {"max_ape_frac", "worst", UNIT_FRAC},
    {"bias_frac", "bias", UNIT_FRAC},
    {"worst", "worst row", UNIT_NONE},
};

static struct table *errors_table(void)
{
	return table_new(error_columns, sizeof(error_columns) / sizeof(error_columns[0]));
}

static void errors_row(struct table *table, const char *what, const struct errors *e)
{
	table_text(table, what);
	table_integer(table, (long long)e->n);
	table_number(table, e->mean_frac);
	table_number(table, e->median_frac);
	table_number(table, e->p90_frac);
	table_number(table, e->max_frac);
	table_number(table, e->bias_frac);
	table_text(table, e->worst);
}

static void print_and_free(FILE *out, const char *title, struct table *table)
{
	if (table_n_rows(table) > 0) {
		fprintf(out, "\n%s\n", title);
		table_print(table, FORMAT_TABLE, out);
	}
	table_free(table);
}

static void print_quantities(FILE *out, const char *title, const struct validate_report *r, bool is_in_fit, struct arena *arena)
{
	struct table *const table = errors_table();

	for (size_t q = 0; q < QUANTITY_N; q++) {
		struct errors e;
		validate_errors(&e, r->validation, (enum quantity)q, is_in_fit, NULL, NULL, arena);
		if (r->has_quantity[q] && e.n > 0)
			errors_row(table, quantity_names[q], &e);
	}
	print_and_free(out, title, table);
}

static void print_groups(FILE *out, const struct validate_report *r, struct arena *arena)
{
	struct table *const table = errors_table();
	size_t *first;
	const size_t n = validate_groups(&first, r->validation, arena);

	for (size_t i = 0; i < n; i++) {
		const struct prediction *const p = &r->validation->predictions[first[i]];
		for (size_t q = 0; q < QUANTITY_N; q++) {
			struct errors e;
			validate_errors(&e, r->validation, (enum quantity)q, false, p->row->hw, p->model, arena);
			if (r->has_quantity[q] && e.n > 0)
				errors_row(table, arena_printf(arena, "%s %s %s", p->row->hw, p->model, quantity_names[q]), &e);
		}
	}
	print_and_free(out, "By machine and model, rows outside the fit:", table);
}

static void print_speedups(FILE *out, const struct validate_report *r, struct arena *arena)
{
	static const enum quantity quantities[] = {QUANTITY_SUM_PHASES, QUANTITY_UPDATE};
	struct table *const table = errors_table();

	for (size_t i = 0; i < sizeof(quantities) / sizeof(quantities[0]); i++)
		for (int is_in_fit = 0; is_in_fit < 2; is_in_fit++) {
			struct errors e;
			validate_speedup_errors(&e, r, quantities[i], is_in_fit, arena);
			if (e.n > 0)
				errors_row(table, arena_printf(arena, "%s%s", quantity_names[quantities[i]],
				    is_in_fit ? ", in the fit" : ""), &e);
		}
	print_and_free(out, "Speed-up of dos over zero3-offload:", table);
}

static void print_ranking(FILE *out, const struct validate_report *r, struct arena *arena)
{
	static const struct table_column columns[] = {{"hw", NULL, UNIT_NONE}, {"model", NULL, UNIT_NONE}, {"gpus", NULL, UNIT_NONE},
	    {"option", NULL, UNIT_NONE}, {"n", NULL, UNIT_NONE}, {"n_in_fit", "in fit", UNIT_NONE}, {"best_measured", "measured", UNIT_NONE},
	    {"best_predicted", "predicted", UNIT_NONE}, {"loss_frac", "loss", UNIT_FRAC}, {"right", NULL, UNIT_NONE},
	    {"policy", NULL, UNIT_NONE}};
	struct table *const table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct sweep *sweeps;
	const size_t n = validate_sweeps(&sweeps, r->validation, arena);

	for (size_t i = 0; i < n; i++) {
		table_text(table, sweeps[i].hw);
		table_text(table, sweeps[i].model);
		table_number(table, sweeps[i].gpus > 0 ? sweeps[i].gpus : NAN);
		table_text(table, sweeps[i].key);
		table_integer(table, (long long)sweeps[i].n);
		table_integer(table, (long long)sweeps[i].n_in_fit);
		table_number(table, sweeps[i].best_measured);
		table_number(table, sweeps[i].best_predicted);
		table_number(table, sweeps[i].loss_frac);
		table_text(table, sweeps[i].is_right ? "yes" : "no");
		table_text(table, sweeps[i].family);
	}
	print_and_free(out, "Best value of a sweep by update_s; loss: what the predicted best costs:", table);
}

/* ---- single values */

static enum unit unit_of(size_t quantity)
{
	return quantity == QUANTITY_GPU_PEAK || quantity == QUANTITY_HOST_PEAK ? UNIT_BYTES : UNIT_SECONDS;
}

/* What is excluded counts nowhere: its error is that of the number beside it, refused or not. */
static double shown_error_frac(const struct prediction *p, enum quantity quantity)
{
	const double measured = p->row->measured[quantity], predicted = p->predicted[quantity];

	return p->is_excluded && isfinite(predicted) ? fabs(predicted / measured - 1) : prediction_error_frac(p, quantity);
}

/* Every compared value (-v), or the refused and excluded rows. */
static void print_cases(FILE *out, const struct validate_report *r)
{
	static const struct table_column columns[] = {{"id", NULL, UNIT_NONE}, {"quantity", NULL, UNIT_NONE}, {"measured", NULL, UNIT_NONE},
	    {"predicted", NULL, UNIT_NONE}, {"ape_frac", "error", UNIT_FRAC}, {"note", NULL, UNIT_NONE}};
	struct table *const table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	char measured[UNITS_TEXT_MAX], predicted[UNITS_TEXT_MAX];

	for (size_t i = 0; i < r->validation->n; i++) {
		const struct prediction *const p = &r->validation->predictions[i];
		for (size_t q = 0; q < QUANTITY_N; q++) {
			if (!r->has_quantity[q] || isnan(p->row->measured[q]) || (!r->is_verbose && !p->reason && !p->is_excluded))
				continue;
			table_text(table, p->row->id);
			table_text(table, quantity_names[q]);
			table_text(table, units_print(measured, unit_of(q), p->row->measured[q]));
			table_text(table, units_print(predicted, unit_of(q), p->predicted[q]));
			table_number(table, shown_error_frac(p, (enum quantity)q));
			table_text(table, p->is_excluded ? p->row->exclude : p->reason ? p->reason : p->is_in_fit ? "in the fit" : NULL);
		}
	}
	print_and_free(out, r->is_verbose ? "All values:" : "Refused and excluded:", table);
}

void validate_text(FILE *out, const struct validate_report *r, struct arena *arena)
{
	struct row_counts c;

	row_counts_of(&c, r->validation);
	fprintf(out, "%zu rows: %zu predicted, %zu refused, %zu excluded; %zu in the fit, %zu counted; contention %s\n", c.n_rows,
	    c.n_predicted, c.n_refused, c.n_excluded, c.n_in_fit, c.n_counted, r->contention);
	print_quantities(out, "Errors of rows outside the fit (iteration_s with the recorded other_s):", r, false, arena);
	print_quantities(out, "Errors of rows in the fit:", r, true, arena);
	print_groups(out, r, arena);
	print_speedups(out, r, arena);
	print_ranking(out, r, arena);
	if (r->coverage)
		coverage_text(out, r, arena);
	print_cases(out, r);
}
