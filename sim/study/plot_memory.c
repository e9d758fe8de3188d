/* SPDX-License-Identifier: GPL-3.0-or-later
 * GPU and host memory of a rank over one iteration. */
#include <math.h>
#include <string.h>

#include "sim/study/plot_trace.h"

static const double GiB = 1073741824.0;

/* Steps, closed at the end of the iteration; returns the peak. */
static double write_samples(struct plot *plot, const struct plot_trace *t, enum pool pool)
{
	const struct plot_sample *const samples = t->memory[pool];
	const size_t n = t->n_samples[pool];
	double peak_bytes = 0;

	for (size_t i = 0; i < n; i++) {
		plot_line(plot, (const double[]){samples[i].at_s, samples[i].bytes / GiB}, 2);
		peak_bytes = fmax(peak_bytes, samples[i].bytes);
	}
	if (n > 0)
		plot_line(plot, (const double[]){t->length_s, samples[n - 1].bytes / GiB}, 2);
	else
		plot_line(plot, (const double[]){NAN, NAN}, 2);
	plot_end_block(plot);
	return peak_bytes;
}

static void write_phases(struct plot *plot, const struct plot_trace *t)
{
	for (size_t i = 0; i < t->n_phases; i++) {
		plot_cell(plot, t->phases[i].name);
		plot_line(plot, (const double[]){t->phases[i].start_s, t->phases[i].end_s, (double)(i % 2)}, 3);
	}
	plot_end_block(plot);
}

/* "18.2 GiB of 79.2 GiB" */
static const char *share(double peak_bytes, double capacity_bytes, struct arena *arena)
{
	char peak[UNITS_TEXT_MAX], capacity[UNITS_TEXT_MAX];

	units_print(peak, UNIT_BYTES, peak_bytes);
	return isnan(capacity_bytes) ? arena_strdup(arena, peak) :
	                               arena_printf(arena, "%s of %s", peak, units_print(capacity, UNIT_BYTES, capacity_bytes));
}

int plot_memory(struct plot *plot, const struct plot_source *source, struct err *err)
{
	struct plot_trace t;
	const int code = plot_trace_load(&t, source, plot->arena, err);

	if (code)
		return code;
	const double gpus = source->trial.batch.gpus > 0 ? source->trial.batch.gpus : t.hw ? t.hw->gpus : 1;
	const double capacities[POOL_N] = {
	    [POOL_GPU] = t.hw ? t.hw->gpu_memory_bytes : NAN, [POOL_HOST] = t.hw ? t.hw->host_memory_bytes / gpus : NAN};
	double peaks[POOL_N];

	write_phases(plot, &t);
	for (size_t pool = 0; pool < POOL_N; pool++)
		peaks[pool] = write_samples(plot, &t, (enum pool)pool);
	plot_number(plot, "length_s", t.length_s);
	plot_number(plot, "gpu_peak_gib", peaks[POOL_GPU] / GiB);
	plot_number(plot, "host_peak_gib", peaks[POOL_HOST] / GiB);
	plot_number(plot, "gpu_capacity_gib", capacities[POOL_GPU] / GiB);
	plot_number(plot, "host_capacity_gib", capacities[POOL_HOST] / GiB);
	plot_text(plot, "gpu_share", share(peaks[POOL_GPU], capacities[POOL_GPU], plot->arena));
	plot_text(plot, "host_share", share(peaks[POOL_HOST], capacities[POOL_HOST], plot->arena));
	plot_heading(plot, "Memory over one iteration",
	    arena_printf(plot->arena, "%s%srank 0; host memory without the operating system\n%s", t.about, *t.about ? ", " : "", t.policy),
	    t.origin, source);
	return 0;
}
