/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/fit_print.h"

#include <math.h>
#include <stdint.h>

#include "sim/study/fit_say.h"

/* ---- constants */

static const struct table_column constant_columns[] = {
    {"constant", NULL, UNIT_NONE},
    {"start", NULL, UNIT_NONE},
    {"estimate", NULL, UNIT_NONE},
    {"std_error_frac", "std. error", UNIT_FRAC},
    {"lo", "95 % from", UNIT_NONE},
    {"hi", "to", UNIT_NONE},
    {"identified", NULL, UNIT_NONE},
    {"correlation", "strongest correlation", UNIT_NONE},
    {"correlated_with", "with", UNIT_NONE},
};

static void number(struct table *table, enum format format, enum unit unit, double value)
{
	char text[UNITS_TEXT_MAX];

	if (format != FORMAT_TABLE || isnan(value))
		table_number(table, value);
	else
		table_text(table, units_print(text, unit, value));
}

static void constant_row(
    struct table *table, enum format format, const struct fit_result *r, const struct fit_constant *k, struct arena *arena)
{
	const struct fit_finding *const f = &k->finding;
	const enum unit unit = fit_param_unit(k->param);
	const bool is_held = k->log_sd == 0, has_partner = f->partner != SIZE_MAX && f->state != FIT_NO_EFFECT;

	table_text(table, k->param->name);
	number(table, format, unit, k->start);
	number(table, format, unit, k->estimate);
	table_number(table, is_held ? NAN : k->log_sd);
	number(table, format, unit, is_held ? NAN : k->lo);
	number(table, format, unit, is_held ? NAN : k->hi);
	table_text(table, fit_state_names[f->state]);
	if (format == FORMAT_TABLE)
		table_text(table, has_partner ? arena_printf(arena, "%+.2f", f->correlation) : NULL);
	else
		table_number(table, has_partner ? f->correlation : NAN);
	table_text(table, has_partner ? r->constants[f->partner].param->name : NULL);
}

static struct table *constants(enum format format, const struct fit_result *r, struct arena *arena)
{
	struct table *const table = table_new(constant_columns, sizeof(constant_columns) / sizeof(constant_columns[0]));

	for (size_t i = 0; i < r->n_constants; i++)
		constant_row(table, format, r, &r->constants[i], arena);
	return table;
}

/* ---- runs */

static const struct table_column run_columns[] = {
    {"id", "run", UNIT_NONE},
    {"quantity", NULL, UNIT_NONE},
    {"measured", NULL, UNIT_NONE},
    {"start", NULL, UNIT_NONE},
    {"fitted", NULL, UNIT_NONE},
    {"error_frac", "error", UNIT_FRAC},
    {"left_out", "left out", UNIT_NONE},
    {"left_out_error_frac", "its error", UNIT_FRAC},
};

static enum unit unit_of(enum quantity quantity)
{
	return quantity == QUANTITY_GPU_PEAK || quantity == QUANTITY_HOST_PEAK ? UNIT_BYTES : UNIT_SECONDS;
}

static void run_row(struct table *table, enum format format, const struct fit_residual *residual)
{
	const enum unit unit = unit_of(residual->quantity);

	table_text(table, residual->run->id);
	table_text(table, quantity_names[residual->quantity]);
	number(table, format, unit, residual->measured);
	number(table, format, unit, residual->start);
	number(table, format, unit, residual->fitted);
	table_number(table, residual->fitted / residual->measured - 1);
	number(table, format, unit, residual->left_out);
	table_number(table, residual->left_out / residual->measured - 1);
}

static struct table *runs(enum format format, const struct fit_result *r)
{
	struct table *const table = table_new(run_columns, sizeof(run_columns) / sizeof(run_columns[0]));

	for (size_t i = 0; i < r->n_residuals; i++)
		run_row(table, format, &r->residuals[i]);
	return table;
}

/* ---- errors by quantity */

struct error_mean {
	size_t n, n_left;
	double start_frac, fitted_frac, left_frac, left_max_frac; /* means; NAN when none */
};

static struct error_mean mean_of(const struct fit_result *r, enum quantity quantity)
{
	struct error_mean e = {0};

	for (size_t i = 0; i < r->n_residuals; i++) {
		const struct fit_residual *const residual = &r->residuals[i];
		const double left = fabs(residual->left_out / residual->measured - 1);
		if (residual->quantity != quantity)
			continue;
		e.n++;
		e.start_frac += fabs(residual->start / residual->measured - 1);
		e.fitted_frac += fabs(residual->fitted / residual->measured - 1);
		if (isnan(left))
			continue;
		e.n_left++;
		e.left_frac += left;
		e.left_max_frac = fmax(e.left_max_frac, left);
	}
	e.start_frac = e.n ? e.start_frac / (double)e.n : NAN;
	e.fitted_frac = e.n ? e.fitted_frac / (double)e.n : NAN;
	e.left_frac = e.n_left ? e.left_frac / (double)e.n_left : NAN;
	e.left_max_frac = e.n_left ? e.left_max_frac : NAN;
	return e;
}

static const struct table_column error_columns[] = {
    {"quantity", NULL, UNIT_NONE},
    {"n", NULL, UNIT_NONE},
    {"start_mape_frac", "start", UNIT_FRAC},
    {"fitted_mape_frac", "fitted", UNIT_FRAC},
    {"left_out_mape_frac", "left out", UNIT_FRAC},
    {"left_out_max_frac", "worst left out", UNIT_FRAC},
};

static struct table *errors(const struct fit_result *r)
{
	struct table *const table = table_new(error_columns, sizeof(error_columns) / sizeof(error_columns[0]));

	for (size_t q = 0; q < QUANTITY_N; q++) {
		const struct error_mean e = mean_of(r, (enum quantity)q);
		if (e.n == 0)
			continue;
		table_text(table, quantity_names[q]);
		table_integer(table, (long long)e.n);
		table_number(table, e.start_frac);
		table_number(table, e.fitted_frac);
		table_number(table, e.left_frac);
		table_number(table, e.left_max_frac);
	}
	return table;
}

/* ---- formats */

static void print_table(FILE *out, struct table *table)
{
	table_print(table, FORMAT_TABLE, out);
	table_free(table);
	putc('\n', out);
}

static size_t n_identified(const struct fit_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_singular; i++)
		n += r->singular_values[i] > 1;
	return n;
}

static void print_singular(FILE *out, const struct fit_result *r)
{
	fprintf(out,
	    "The runs know %zu of %zu combinations of the estimated constants better than the start does (singular values",
	    n_identified(r), r->n_singular);
	for (size_t i = 0; i < r->n_singular; i++)
		fprintf(out, " %.3g", r->singular_values[i]);
	fputs(").\n", out);
}

static void print_scatter(FILE *out, const struct fit_report *report)
{
	const struct fit_result *const r = report->result;

	if (isnan(r->noise_frac))
		fprintf(out, "As many constants as values: the scatter of the runs cannot be judged; %.3g %% is assumed.\n",
		    100 * report->options->noise_frac);
	else
		fprintf(out, "Scatter of the values about the fit: %.2f %%, %.3g %% assumed; standard errors are times %.3g.\n",
		    100 * r->noise_frac, 100 * report->options->noise_frac, r->inflation);
	if (!r->has_converged)
		fputs("The iterations ended before the solution was found to full precision.\n", out);
}

void fit_text(FILE *out, const struct fit_report *report, struct arena *arena)
{
	const struct fit_result *const r = report->result;
	const char **statements;
	const size_t n = fit_statements(&statements, r, arena);

	fprintf(out, "%s from %s: %zu run%s, %zu values, %zu of %zu constants estimated\n\n", report->profile,
	    r->start->name, report->cases->n, report->cases->n == 1 ? "" : "s", r->n_residuals, r->n_singular,
	    r->n_constants);
	print_table(out, constants(FORMAT_TABLE, r, arena));
	print_table(out, runs(FORMAT_TABLE, r));
	print_table(out, errors(r));
	if (r->n_singular)
		print_singular(out, r);
	print_scatter(out, report);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s.\n", statements[i]);
}

static void json_list(struct jsonw *w, const char *key, struct table *table)
{
	jsonw_key(w, key);
	table_json(table, w);
	table_free(table);
}

void fit_json(FILE *out, const struct fit_report *report, struct arena *arena)
{
	const struct fit_result *const r = report->result;
	const char **statements;
	const size_t n = fit_statements(&statements, r, arena);
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_member_string(&w, "schema", "dos-fit/1");
	jsonw_member_string(&w, "profile", report->profile);
	jsonw_member_string(&w, "start", r->start->name);
	jsonw_member_integer(&w, "n_runs", (long long)report->cases->n);
	jsonw_member_integer(&w, "n_values", (long long)r->n_residuals);
	jsonw_member_integer(&w, "n_estimated", (long long)r->n_singular);
	jsonw_member_number(&w, "noise_frac", report->options->noise_frac);
	jsonw_member_number(&w, "scatter_frac", r->noise_frac);
	jsonw_member_number(&w, "std_error_factor", r->inflation);
	jsonw_member_bool(&w, "has_converged", r->has_converged);
	jsonw_member_integer(&w, "n_fits_left_out", (long long)r->n_left_out);
	jsonw_key(&w, "singular_values");
	jsonw_inline_array(&w);
	for (size_t i = 0; i < r->n_singular; i++)
		jsonw_number(&w, r->singular_values[i]);
	jsonw_end_array(&w);
	json_list(&w, "constants", constants(FORMAT_JSON, r, arena));
	json_list(&w, "runs", runs(FORMAT_JSON, r));
	json_list(&w, "errors", errors(r));
	jsonw_key(&w, "statements");
	jsonw_array(&w);
	for (size_t i = 0; i < n; i++)
		jsonw_string(&w, statements[i]);
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	putc('\n', out);
}

void fit_csv(FILE *out, const struct fit_report *report, struct arena *arena)
{
	struct table *const table = constants(FORMAT_CSV, report->result, arena);

	table_print(table, FORMAT_CSV, out);
	table_free(table);
}
