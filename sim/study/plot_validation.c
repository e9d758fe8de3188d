/* SPDX-License-Identifier: GPL-3.0-or-later
 * Predicted against measured, and the errors of each quantity. From the JSON of dos validate, or validated here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/json.h"
#include "sim/study/plot.h"
#include "sim/study/validate.h"

struct comparison {
	size_t quantity; /* enum quantity */
	double measured, predicted; /* predicted NAN: refused */
	bool is_in_fit;
};
struct comparisons {
	struct comparison *all;
	size_t n, n_refused;
	const char *sets, *contention;
};

static const char *const titles[QUANTITY_N] = {"forward", "backward", "update", "sum of phases", "iteration", "GPU peak", "host peak"};
static const char *const short_titles[QUANTITY_N] = {"forward", "backward", "update", "phases", "iteration", "GPU peak", "host peak"};

static bool is_time(size_t quantity)
{
	return quantity != QUANTITY_GPU_PEAK && quantity != QUANTITY_HOST_PEAK;
}

static void add(struct comparisons *c, size_t quantity, double measured, double predicted, bool is_in_fit)
{
	c->n_refused += isnan(predicted) ? 1 : 0;
	if (!isnan(measured) && measured > 0)
		c->all[c->n++] = (struct comparison){quantity, measured, predicted, is_in_fit};
}

/* ---- validated here */

static int from_sets(struct comparisons *c, const struct plot_source *source, struct arena *arena, struct err *err)
{
	const struct opt_list all = {0};
	const struct validate_options options = {.hw = source->hw, .ids = &all, .sharing = source->trial.sharing, .sync = source->trial.sync};
	struct validation v = {0};
	int code = 0;

	for (size_t i = 0; !code && i < source->sets->n; i++) {
		struct rows rows;
		code = rows_load(&rows, source->sets->items[i], arena, err);
		if (!code)
			code = validate_rows(&v, &rows, &options, arena, err);
		c->sets = arena_printf(arena, "%s%s%s", c->sets, i ? ", " : "", source->sets->items[i]);
	}
	c->all = arena_alloc(arena, v.n * QUANTITY_N, sizeof(*c->all));
	for (size_t i = 0; !code && i < v.n; i++) {
		const struct prediction *const p = &v.predictions[i];
		for (size_t q = 0; q < QUANTITY_N && !p->is_excluded; q++)
			if (!isnan(p->row->measured[q]))
				add(c, q, p->row->measured[q], p->reason ? NAN : p->predicted[q], p->is_in_fit);
	}
	c->contention = source->trial.sharing->name;
	return code;
}

/* ---- from JSON */

static int read_case(struct comparisons *c, const struct json_doc *doc, const json_node *node, struct err *err)
{
	const char *name;
	double measured, predicted = NAN;
	bool is_in_fit;
	size_t q = 0;

	if (json_text(&name, doc, node, "quantity", err) || json_number(&measured, doc, node, "measured", 0, INFINITY, err) ||
	    json_flag(&is_in_fit, doc, node, "in_fit", err))
		return err->code;
	if (json_get(node, "excluded"))
		return 0;
	if (json_is_number(json_get(node, "predicted")) && !json_get(node, "reason") &&
	    json_number(&predicted, doc, node, "predicted", 0, INFINITY, err))
		return err->code;
	while (q < QUANTITY_N && strcmp(quantity_names[q], name) != 0)
		q++;
	if (q < QUANTITY_N)
		add(c, q, measured, predicted, is_in_fit);
	return 0;
}

static int read_cases(struct comparisons *c, const struct json_doc *doc, struct arena *arena, struct err *err)
{
	const json_node *const root = json_root(doc), *cases;
	const char *schema, *contention;
	const char *set;

	if (json_text(&schema, doc, root, "schema", err) || json_array(&cases, doc, root, "cases", err) ||
	    json_text(&contention, doc, root, "contention", err))
		return err->code;
	if (strcmp(schema, "dos-validate/1") != 0)
		return err_set(err, STATUS_INPUT, "%s: /schema: \"%s\"; the JSON of dos validate would be accepted", json_name(doc), schema);
	for (const json_node *node = json_first(json_get(root, "sets")); node; node = json_next(node)) {
		if (json_text_of(&set, doc, node, err))
			return err->code;
		c->sets = arena_printf(arena, "%s%s%s", c->sets, *c->sets ? ", " : "", set);
	}
	c->contention = arena_strdup(arena, contention);
	c->all = arena_alloc(arena, json_count(cases), sizeof(*c->all));
	for (const json_node *node = json_first(cases); node; node = json_next(node))
		if (read_case(c, doc, node, err))
			return err->code;
	return 0;
}

static int from_json(struct comparisons *c, const char *path, struct arena *arena, struct err *err)
{
	struct json_doc *doc;

	if (json_open(&doc, path, err))
		return err->code;
	const int code = read_cases(c, doc, arena, err);
	json_close(doc);
	return code;
}

/* ---- the picture */

struct summary {
	size_t n, n_fit;
	double sum_frac, max_frac; /* of those outside the fit */
};

static void summarise(struct summary sums[QUANTITY_N], const struct comparisons *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct summary *const s = &sums[c->all[i].quantity];
		const double error_frac = isnan(c->all[i].predicted) ? 1 : fabs(c->all[i].predicted / c->all[i].measured - 1);
		s->n_fit += c->all[i].is_in_fit;
		s->n += !c->all[i].is_in_fit;
		s->sum_frac += c->all[i].is_in_fit ? 0 : error_frac;
		s->max_frac = c->all[i].is_in_fit ? s->max_frac : fmax(s->max_frac, error_frac);
	}
}

/* Times: measured, predicted, quantity, in fit. */
static size_t write_times(struct plot *plot, const struct comparisons *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (is_time(c->all[i].quantity) && !isnan(c->all[i].predicted)) {
			plot_line(plot, (const double[]){c->all[i].measured, c->all[i].predicted, (double)c->all[i].quantity + 1,
			    c->all[i].is_in_fit}, 4);
			n++;
		}
	if (n == 0)
		plot_line(plot, (const double[]){NAN, NAN, 1, 0}, 4);
	plot_end_block(plot);
	return n;
}

/* Errors: column (with its rows side by side), error in percent, quantity, in fit. Returns the largest. */
static double write_errors(struct plot *plot, const struct comparisons *c, const double columns[QUANTITY_N],
    const struct summary sums[QUANTITY_N])
{
	size_t seen[QUANTITY_N] = {0};
	double most = 0;

	for (size_t i = 0; i < c->n; i++) {
		const size_t q = c->all[i].quantity;
		const double n = (double)(sums[q].n + sums[q].n_fit);
		const double error = 100 * (c->all[i].predicted / c->all[i].measured - 1);
		const double x = columns[q] + 0.7 * (((double)seen[q]++ + 0.5) / n - 0.5);
		plot_line(plot, (const double[]){x, error, (double)q + 1, c->all[i].is_in_fit}, 4);
		most = isnan(error) ? most : fmax(most, fabs(error));
	}
	plot_end_block(plot);
	return most;
}

/* Columns of the quantities that occur, with mean and worst error. */
static void write_columns(struct plot *plot, double columns[QUANTITY_N], const struct summary sums[QUANTITY_N])
{
	const char *names[QUANTITY_N], *texts[QUANTITY_N], *worst[QUANTITY_N];
	size_t n = 0;

	for (size_t q = 0; q < QUANTITY_N; q++) {
		if (sums[q].n + sums[q].n_fit == 0)
			continue;
		columns[q] = (double)n + 1;
		names[n] = short_titles[q];
		texts[n] = sums[q].n ? arena_printf(plot->arena, "%.1f %%", 100 * sums[q].sum_frac / (double)sums[q].n) : "fit only";
		worst[n] = sums[q].n ? arena_printf(plot->arena, "%.1f %%", 100 * sums[q].max_frac) : "";
		n++;
	}
	plot_texts(plot, "column_name", names, n);
	plot_texts(plot, "column_mean", texts, n);
	plot_texts(plot, "column_worst", worst, n);
}

static int draw(struct plot *plot, const struct comparisons *c, const struct plot_source *source)
{
	struct summary sums[QUANTITY_N] = {{0}};
	double columns[QUANTITY_N] = {0};

	summarise(sums, c);
	write_columns(plot, columns, sums);
	plot_number(plot, "n_times", (double)write_times(plot, c));
	plot_number(plot, "most", write_errors(plot, c, columns, sums));
	plot_texts(plot, "quantity", titles, QUANTITY_N);
	for (size_t q = 0; q < QUANTITY_N; q++)
		plot_number(plot, arena_printf(plot->arena, "has_%zu", q + 1), sums[q].n + sums[q].n_fit > 0);
	plot_heading(plot, "Predicted against measured",
	    arena_printf(plot->arena, "recorded runs: %s; contention %s; %zu values%s\nmean and worst |error| of what the profile was not fitted on",
	        c->sets, c->contention, c->n, c->n_refused ? arena_printf(plot->arena, ", %zu refused (error 100 %%)", c->n_refused) : ""),
	    source->input == PLOT_FROM_RUN ? arena_printf(plot->arena, "Validation %s", source->run) :
	    source->hw ? arena_printf(plot->arena, "Profile %s for all rows", source->hw) : "Profiles as the rows name them", source);
	return 0;
}

int plot_validation(struct plot *plot, const struct plot_source *source, struct err *err)
{
	struct comparisons c = {.sets = ""};
	const int code = source->input == PLOT_FROM_RUN ? from_json(&c, source->run, plot->arena, err) :
	                                                  from_sets(&c, source, plot->arena, err);

	if (code)
		return code;
	if (c.n == 0)
		return err_set(err, STATUS_NO, "plot validation: no row of %s has a measured value that is compared", c.sets);
	return draw(plot, &c, source);
}
