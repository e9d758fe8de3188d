/* SPDX-License-Identifier: GPL-3.0-or-later
 * Update time over the GPU fraction: simulated points, the closed form, and every lane that bounds it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/plot_model.h"

enum { N_STEPS = 100, N_SIMULATED = 20 };
static const char *const axes[] = {"fraction", "mask", NULL};

static const struct {
	const char *title;
	size_t offset;
} lanes[] = {
    {"cpu: Adam on the host", offsetof(struct lanes, cpu_s)},
    {"cast: 16-bit copies on the host", offsetof(struct lanes, cast_s)},
    {"h2d: to the GPU", offsetof(struct lanes, h2d_s)},
    {"d2h: from the GPU", offsetof(struct lanes, d2h_s)},
    {"gpu: Adam on the GPU", offsetof(struct lanes, gpu_s)},
    {"chain: turns of the buffer sets", offsetof(struct lanes, chain_s)},
    {"dram: host memory", offsetof(struct lanes, dram_s)},
    {"root: PCIe root", offsetof(struct lanes, root_s)},
};
enum { N_LANES = sizeof(lanes) / sizeof(lanes[0]) };

static double lane_s(const struct lanes *l, size_t i)
{
	return *(const double *)((const char *)l + lanes[i].offset);
}

/* ---- what to run when no fraction is given */

static int make_specs(struct opt_list *specs, const struct plot_source *source, struct arena *arena, struct err *err)
{
	const char *const given = source->specs->n ? source->specs->items[0] : "hybrid";
	struct policy_use use;

	if (source->specs->n > 1 && strstr(given, "fraction=")) {
		*specs = *source->specs;
		return 0;
	}
	if (policy_use_parse(&use, given, arena, err))
		return err->code;
	if (!opt_find(use.policy->opts, use.policy->n_opts, "fraction", strlen("fraction")))
		return err_set(err, STATUS_USAGE, "plot fraction: policy %s has no fraction", use.policy->name);
	if (strstr(given, "fraction=") || strstr(given, "mask="))
		return err_set(err, STATUS_USAGE, "plot fraction: a policy without fraction or mask, or a range of fractions, would be accepted");
	for (size_t i = 0; i <= N_SIMULATED; i++)
		opt_list_add(specs, arena_printf(arena, "%s%cfraction=%.3g", given, strchr(given, ':') ? ',' : ':',
		    (double)i / N_SIMULATED), arena);
	return 0;
}

/* ---- blocks: simulated; closed form and its lanes */

static size_t write_simulated(struct plot *plot, const struct plot_rows *rows)
{
	size_t best = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (plot_row_is_better(&rows->rows[i], &rows->rows[best]))
			best = i;
	for (size_t i = 0; i < rows->n; i++) {
		const struct plot_row *const r = &rows->rows[i];
		plot_line(plot, (const double[]){r->fraction, r->update_s, r->feasible, i == best ? r->update_s : NAN}, 4);
	}
	plot_end_block(plot);
	return best;
}

static void write_lanes(struct plot *plot, const struct plot_model *m)
{
	double most_s[N_LANES] = {0};
	const char *titles[N_LANES];
	double columns[N_LANES], line[2 + N_LANES];
	size_t n = 0;

	for (size_t i = 0; i <= N_STEPS; i++) {
		struct lanes l;
		line[0] = (double)i / N_STEPS;
		line[1] = fraction_update_s(&m->cost, &m->workload, &m->how, line[0], m->is_contended);
		lanes_fraction(&l, &m->cost, &m->workload, &m->how, line[0], m->is_contended);
		for (size_t j = 0; j < N_LANES; j++) {
			line[2 + j] = lane_s(&l, j);
			most_s[j] = fmax(most_s[j], line[2 + j]);
		}
		plot_line(plot, line, 2 + N_LANES);
	}
	for (size_t j = 0; j < N_LANES; j++)
		if (most_s[j] > 0) {
			columns[n] = (double)j + 3;
			titles[n++] = lanes[j].title;
		}
	plot_end_block(plot);
	plot_texts(plot, "lane", titles, n);
	for (size_t j = 0; j < n; j++)
		plot_number(plot, arena_printf(plot->arena, "lane_column_%zu", j + 1), columns[j]);
}

static int check_one_setting(const struct plot_rows *rows, struct arena *arena, struct err *err)
{
	const char **groups;
	const size_t n = plot_rows_groups(&groups, rows, arena);

	if (n > 1)
		return err_set(err, STATUS_USAGE, "plot fraction: one setting would be accepted, %zu are selected (%s; %s%s): narrow --where, "
		    "--model or --policy", n, groups[0], groups[1], n > 2 ? "; .." : "");
	return 0;
}

static const char *subtitle(const struct plot_rows *rows, size_t best, const struct plot_model *model, struct arena *arena)
{
	char time[UNITS_TEXT_MAX];
	const char *text = plot_rows_common(rows, axes, arena);

	text = arena_printf(arena, "%s\nbest simulated%s: %s at %.3g", text, rows->rows[best].feasible != 0 ? "" : " (does not fit)",
	    units_print(time, UNIT_SECONDS, rows->rows[best].update_s), rows->rows[best].fraction);
	if (!model)
		return arena_printf(arena, "%s; no lanes: the stored machine or model is not a shipped one", text);
	double best_s;
	const double fraction = fraction_opt_frac(&best_s, &model->cost, &model->workload, &model->how);
	return arena_printf(arena, "%s; closed form: %s at %.3g", text, units_print(time, UNIT_SECONDS, best_s), fraction);
}

int plot_fraction(struct plot *plot, const struct plot_source *source, struct err *err)
{
	struct opt_list specs = {0};
	struct plot_model model;
	struct plot_rows rows;
	int code = source->input == PLOT_FROM_TRIALS ? make_specs(&specs, source, plot->arena, err) : 0;

	if (!code)
		code = plot_rows_load(&rows, source, &specs, "fraction is not null and update_s is not null", plot->arena, err);
	if (code)
		return code;
	plot_rows_label(&rows, axes, plot->arena);
	code = check_one_setting(&rows, plot->arena, err);
	if (code)
		return code;
	const size_t best = write_simulated(plot, &rows);
	const bool has_model = plot_model_of_row(&model, &rows.rows[0], source, plot->arena) &&
	    plot_model_of_row(&model, &rows.rows[rows.n - 1], source, plot->arena);
	plot_number(plot, "has_model", has_model);
	if (has_model)
		write_lanes(plot, &model);
	else
		plot_texts(plot, "lane", NULL, 0);
	plot_heading(plot, "Update time over the fraction updated on the GPU",
	    subtitle(&rows, best, has_model ? &model : NULL, plot->arena), rows.origin, source);
	return 0;
}
