/* SPDX-License-Identifier: GPL-3.0-or-later
 * Are the intervals as sure as they say? Share of measurements inside central intervals over the probability of these, by quantity; and
 * how wide the 90 % intervals are, by part. */
#include <math.h>

#include "sim/study/coverage.h"
#include "sim/study/plot.h"

enum { LEVELS = 49 }; /* 2 % .. 98 % */
/* All but iterations, which are the phases and logging. */
static const struct {
	size_t quantity; /* QUANTITY_N: all of these */
	const char *title;
} curves[] = {{QUANTITY_N, "all"}, {QUANTITY_FORWARD, "forward"}, {QUANTITY_BACKWARD, "backward"}, {QUANTITY_UPDATE, "update"},
    {QUANTITY_SUM_PHASES, "sum of phases"}, {QUANTITY_GPU_PEAK, "GPU peak"}, {QUANTITY_HOST_PEAK, "host peak"}};
enum { N_CURVES = sizeof(curves) / sizeof(curves[0]) };

static int load(struct validation *v, const char **sets, const struct plot_source *source, struct arena *arena, struct err *err)
{
	const struct opt_list all = {0};
	const struct validate_options options = {.hw = source->hw, .ids = &all, .sharing = source->trial.sharing, .sync = source->trial.sync};
	int code = 0;

	*sets = "";
	for (size_t i = 0; !code && i < source->sets->n; i++) {
		struct rows *const rows = arena_alloc(arena, 1, sizeof(*rows));
		code = rows_load(rows, source->sets->items[i], arena, err);
		if (!code)
			code = validate_rows(v, rows, &options, arena, err);
		*sets = arena_printf(arena, "%s%s%s", *sets, i ? ", " : "", source->sets->items[i]);
	}
	return code;
}

/* A block of level and share inside, in percent; false without cases. */
static bool write_curve(struct plot *plot, const char **label, size_t curve, const struct coverage *c, const struct validation *v)
{
	struct coverage_counts counts;

	coverage_count(&counts, c, v, curves[curve].quantity, NULL, COVERAGE_COUNTED, plot->arena);
	if (counts.n == 0)
		return false;
	for (size_t i = 1; i <= LEVELS; i++) {
		const double level = (double)i / (LEVELS + 1);
		plot_line(plot, (const double[]){100 * level, 100 * coverage_at(c, v, curves[curve].quantity, level)}, 2);
	}
	plot_end_block(plot);
	*label = arena_printf(plot->arena, "%s: %zu, %.0f %% in 90 %%", curves[curve].title, counts.n,
	    100 * (double)counts.n_inside / (double)counts.n);
	return true;
}

/* Last block: y, half width of the whole, of the profile, of the model, in percent. */
static void write_widths(struct plot *plot, const size_t *drawn, size_t n, const struct coverage *c, const struct validation *v)
{
	const char *names[N_CURVES];

	for (size_t i = 0; i < n; i++) {
		struct coverage_counts counts;
		coverage_count(&counts, c, v, curves[drawn[i]].quantity, NULL, COVERAGE_COUNTED, plot->arena);
		plot_line(plot, (const double[]){(double)i + 1, 100 * counts.half_frac, 100 * counts.parameter_frac,
		    100 * counts.discrepancy_frac}, 4);
		names[i] = curves[drawn[i]].title;
	}
	plot_end_block(plot);
	plot_texts(plot, "row", names, n);
}

int plot_calibration(struct plot *plot, const struct plot_source *source, struct err *err)
{
	const struct uncertainty_options options = {.sharing = source->trial.sharing, .sync = source->trial.sync,
	    .n_samples = source->n_samples, .seed = source->seed};
	struct validation v = {0};
	struct coverage c;
	const char *sets, *labels[N_CURVES];
	size_t drawn[N_CURVES], n = 0;

	if (load(&v, &sets, source, plot->arena, err) || coverage_find(&c, &v, &options, plot->arena, err))
		return err->code;
	for (size_t i = 0; i < N_CURVES; i++)
		if (write_curve(plot, &labels[n], i, &c, &v))
			drawn[n++] = i;
	if (n == 0)
		return err_set(err, STATUS_NO, "plot calibration: no row of %s outside the fits has a measured value that is compared", sets);
	write_widths(plot, drawn, n, &c, &v);
	plot_texts(plot, "label", labels, n);
	plot_number(plot, "height", 500 + 22 * plot_legend(plot, labels, n, 1, 860));
	plot_heading(plot, "Are the intervals as sure as they say?",
	    arena_printf(plot->arena, "recorded runs: %s; %zu draws of each profile, and the model's errors on the other machines\n"
	        "rows that no constant was fitted on; below the diagonal: too sure", sets, c.n_samples),
	    source->hw ? arena_printf(plot->arena, "Profile %s for all rows", source->hw) : "Profiles as the rows name them", source);
	return 0;
}
