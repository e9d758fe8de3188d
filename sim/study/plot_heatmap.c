/* SPDX-License-Identifier: GPL-3.0-or-later
 * The best stride for every pair of CPU rate and link rate: scaled profiles, simulated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/plot_model.h"

enum { N_FACTORS = 9, STRIDE_MAX = 8, AXIS_MAX = 24 };
static const char *const axes[] = {"stride", "scale", NULL};

/* ---- factors of a row */

/* "cpu=0.5,h2d=2,d2h=2": false when anything else is scaled, or the directions differ. */
static bool read_factors(double *cpu, double *link, const char *scale)
{
	double h2d = 1, d2h = 1;

	*cpu = 1;
	for (const char *at = scale; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
		double *const target = strncmp(at, "cpu=", 4) == 0 ? cpu : strncmp(at, "h2d=", 4) == 0 ? &h2d :
		    strncmp(at, "d2h=", 4) == 0 ? &d2h : NULL;
		if (!target)
			return false;
		*target = strtod(at + 4, NULL);
	}
	*link = h2d;
	return h2d == d2h || d2h == 1 || h2d == 1 ? (*link = h2d == 1 ? d2h : h2d, true) : false;
}

struct map {
	double cpu[AXIS_MAX], link[AXIS_MAX]; /* ascending factors */
	size_t n_cpu, n_link;
	const struct plot_row *best[AXIS_MAX][AXIS_MAX]; /* [cpu][link]; NULL: not run */
	const struct hwprofile *hw; /* unscaled; NULL: not known */
	double threads;
};

static int insert_factor(double *list, size_t *n, double value, struct err *err)
{
	size_t at = 0;

	while (at < *n && list[at] < value)
		at++;
	if (at < *n && list[at] == value)
		return 0;
	if (*n == AXIS_MAX)
		return err_set(err, STATUS_USAGE, "plot heatmap: more than %d rates on an axis; narrow --where", AXIS_MAX);
	memmove(&list[at + 1], &list[at], (*n - at) * sizeof(*list));
	list[at] = value;
	++*n;
	return 0;
}

static size_t index_of(const double *list, double value)
{
	size_t at = 0;

	while (list[at] != value)
		at++;
	return at;
}

static int make_map(struct map *map, const struct plot_rows *rows, struct err *err)
{
	double cpu, link;

	*map = (struct map){0};
	for (size_t i = 0; i < rows->n; i++)
		if (read_factors(&cpu, &link, rows->rows[i].scale) &&
		    (insert_factor(map->cpu, &map->n_cpu, cpu, err) || insert_factor(map->link, &map->n_link, link, err)))
			return err->code;
	if (map->n_cpu < 2 || map->n_link < 2)
		return err_set(err, STATUS_NO, "plot heatmap: the %zu selected runs have %zu CPU rates and %zu link rates; two of each would "
		    "be accepted (dos sweep --scale cpu=.. and h2d=..,d2h=..)", rows->n, map->n_cpu, map->n_link);
	for (size_t i = 0; i < rows->n; i++) {
		if (!read_factors(&cpu, &link, rows->rows[i].scale))
			continue;
		const struct plot_row **const best = &map->best[index_of(map->cpu, cpu)][index_of(map->link, link)];
		if (plot_row_is_better(&rows->rows[i], *best))
			*best = &rows->rows[i];
	}
	return 0;
}

/* ---- trials on scaled profiles */

static int run_cell(struct plot_rows *rows, const struct plot_source *source, const char *spec, double cpu, double link,
    struct arena *arena, struct err *err)
{
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct plot_source scaled = *source;
	struct opt_list specs = {0};
	struct plot_rows cell;

	*hw = *source->trial.hw;
	if (hwprofile_scale(hw, "cpu", cpu, err) || hwprofile_scale(hw, "h2d", link, err) || hwprofile_scale(hw, "d2h", link, err))
		return err->code;
	scaled.trial.hw = hw;
	scaled.scale = arena_printf(arena, "cpu=%.6g,h2d=%.6g,d2h=%.6g", cpu, link, link);
	for (int k = -1; k <= STRIDE_MAX; k++) /* first the closed form's choice */
		opt_list_add(&specs, k < 0 ? spec : arena_printf(arena, "%s%cstride=%d", spec, strchr(spec, ':') ? ',' : ':', k), arena);
	const int code = plot_rows_from_trials(&cell, &scaled, &specs, arena, err);
	for (size_t i = 0; !code && i < cell.n; i++)
		*plot_rows_add(rows, arena) = cell.rows[i];
	return code;
}

static int run_all(struct plot_rows *rows, const struct plot_source *source, struct arena *arena, struct err *err)
{
	const char *const spec = source->specs->n ? source->specs->items[0] : "dos";
	struct policy_use use;
	int code = policy_use_parse(&use, spec, arena, err);

	if (code)
		return code;
	if (source->specs->n > 1 || source->n_shapes > 1 || strstr(spec, "stride="))
		return err_set(err, STATUS_USAGE, "plot heatmap: one model and one policy without a stride would be accepted");
	if (!opt_find(use.policy->opts, use.policy->n_opts, "stride", strlen("stride")))
		return err_set(err, STATUS_USAGE, "plot heatmap: policy %s has no stride", use.policy->name);
	*rows = (struct plot_rows){.origin = arena_printf(arena, "Profile %s: %s", source->trial.hw->name, source->trial.hw->summary)};
	for (int i = 0; i < N_FACTORS; i++)
		for (int j = 0; !code && j < N_FACTORS; j++)
			code = run_cell(rows, source, spec, exp2((i - N_FACTORS / 2) / 2.0), exp2((j - N_FACTORS / 2) / 2.0), arena, err);
	return code;
}

/* ---- the picture */

/* Viridis, from few to many; 0 (all on the CPU) is grey. Text is light on the dark half. */
static const int paints[] = {0x440154, 0x46327e, 0x365c8d, 0x277f8e, 0x1fa187, 0x4ac16d, 0xa0da39, 0xfde725};
enum { N_PAINTS = sizeof(paints) / sizeof(paints[0]), GREY = 0xBDBDBD, LIGHT = 0xFFFFFF, DARK = 0x222222 };

static void write_cell(struct plot *plot, const struct plot_row *row, double x, double y)
{
	char time[UNITS_TEXT_MAX];
	const int step = row->stride < 1 ? -1 : (int)fmin(row->stride - 1, N_PAINTS - 1);
	const double paint = step < 0 ? GREY : paints[step], ink = step >= 0 && step < N_PAINTS / 2 ? LIGHT : DARK;

	plot_cell(plot, arena_printf(plot->arena, "%.0f%s", row->stride, row->feasible != 0 ? "" : " *"));
	plot_cell(plot, units_print(time, UNIT_SECONDS, row->update_s));
	plot_line(plot, (const double[]){x, y, paint, ink}, 4);
}

static size_t write_cells(struct plot *plot, const struct map *map)
{
	size_t n_misfits = 0;

	for (size_t i = 0; i < map->n_cpu; i++)
		for (size_t j = 0; j < map->n_link; j++)
			if (map->best[i][j]) {
				write_cell(plot, map->best[i][j], (double)j + 1, (double)i + 1);
				n_misfits += map->best[i][j]->feasible == 0;
			}
	plot_end_block(plot);
	return n_misfits;
}

/* Tick labels: rates where the machine is known, else factors. */
static void write_tics(struct plot *plot, const char *name, const double *factors, size_t n, double rate)
{
	const char *labels[AXIS_MAX];
	double own = 0;

	for (size_t i = 0; i < n; i++) {
		labels[i] = arena_printf(plot->arena, rate > 0 ? "%.3g" : "x %.3g", factors[i] * (rate > 0 ? rate : 1));
		if (factors[i] == 1)
			own = (double)i + 1;
	}
	plot_texts(plot, name, labels, n);
	plot_number(plot, arena_printf(plot->arena, "%s_own", name), own);
}

static void draw(struct plot *plot, const struct map *map, const struct plot_rows *rows, const struct plot_source *source)
{
	const double adam = map->hw ? curve_rate(&map->hw->cpu_adam, map->threads) / 1e9 : 0;
	const double link = map->hw ? curve_peak(&map->hw->h2d) / 1e9 : 0;
	const size_t n_misfits = write_cells(plot, map);
	const char *text = plot_rows_common(rows, axes, plot->arena);

	text = arena_printf(plot->arena, "%s\nnumber: stride with the shortest update (0: all on the CPU), its update time below%s", text,
	    n_misfits ? "; *: does not fit in memory" : "");
	write_tics(plot, "cpu", map->cpu, map->n_cpu, adam);
	write_tics(plot, "link", map->link, map->n_link, link);
	plot_number(plot, "has_rates", map->hw != NULL);
	plot_heading(plot, "Best update stride over CPU rate and link rate", text, rows->origin, source);
}

static int check_one_setting(const struct plot_rows *rows, struct arena *arena, struct err *err)
{
	const char **groups;
	const size_t n = plot_rows_groups(&groups, rows, arena);

	return n == 1 ? 0 : err_set(err, STATUS_USAGE, "plot heatmap: one setting would be accepted, %zu are selected (%s; %s%s): narrow "
	    "--where", n, groups[0], groups[1], n > 2 ? "; .." : "");
}

int plot_heatmap(struct plot *plot, const struct plot_source *source, struct err *err)
{
	struct hwprofile *const hw = arena_alloc(plot->arena, 1, sizeof(*hw));
	struct plot_rows rows;
	struct map map;
	struct err ignored;
	int code = source->input == PLOT_FROM_TRIALS ? run_all(&rows, source, plot->arena, err) :
	    plot_rows_from_db(&rows, source->db, source->where, "stride is not null and update_s is not null", plot->arena, err);

	if (code)
		return code;
	plot_rows_label(&rows, axes, plot->arena);
	code = make_map(&map, &rows, err);
	if (!code)
		code = check_one_setting(&rows, plot->arena, err);
	if (code)
		return code;
	map.threads = rows.rows[0].threads;
	map.hw = source->input == PLOT_FROM_TRIALS ? source->trial.hw :
	    hwprofile_load(hw, rows.rows[0].hw, plot->arena, &ignored) == 0 ? hw : NULL;
	draw(plot, &map, &rows, source);
	return 0;
}
