/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From results to the profile. The formulas, all of them:
 *   rates       the centre of the case over all rounds, its 95 % interval (stats.h)
 *   curves      at each point the mean of all that was measured alone there, by the case and beside co-runs
 *   dram_Bps, h2d_weight, d2h_weight   fitted to the contention grid, a copy weight per direction (fluid_fit.h)
 *   dram_latency_Bps, h2d_dram_load .. downscale_latency_frac   loaded latency, fitted to the rows of the grid, with intervals (latency_fit.h)
 *   dma_weight   the same fit with one weight for both, for who leaves the others out
 *               of weights that fit as well the nearest to 1; "assumed" where 1 itself does
 *   bytes per parameter    counted in the kernels, not measured (kernels.h)
 *   pcie_root_Bps   what copies both ways on all GPUs at once get together, also where nothing shows that they share anything;
 *               gpus_per_pcie_root is all of them: which of several roots a GPU is on, the case does not tell
 *   smt_gain    Adam in cache on all siblings of a core over one sibling
 *   adam_downscale_corun_frac   Adam on all hardware threads beside the worker: the geometric mean of the two remaining speeds
 *   cpu_subgroup_s, kernel_launch_s   one over their rates
 */
#include "probe/derive.h"

#include <math.h>
#include <string.h>

#include "model/base/latency_fit.h"
#include "probe/activities.h"

static struct derived_value *add(
    struct derived *derived, const char *name, const char *kind, double value, const char *source)
{
	struct derived_value *const out = &derived->values[derived->n_values];
	if (derived->n_values == DERIVED_VALUES_MAX || !isfinite(value))
		return out;
	derived->n_values++;
	*out = (struct derived_value){.name = name, .kind = kind, .value = value, .lo = NAN, .hi = NAN, .scale = 1};
	snprintf(out->source, sizeof out->source, "%s", source);
	return out;
}

/* value = scale * rate, or scale / rate. */
static void add_rate(struct derived *derived, const char *name, const struct result *from, double scale, bool is_inverse)
{
	if (!from)
		return;
	const struct stats *const stats = &from->stats;
	const double value = is_inverse ? scale / stats->centre : scale * stats->centre;
	struct derived_value *const out = add(derived, name, "measured", value, from->key);
	out->lo = is_inverse ? scale / stats->hi : scale * stats->lo;
	out->hi = is_inverse ? scale / stats->lo : scale * stats->hi;
	out->from = from;
	out->scale = scale;
	out->is_inverse = is_inverse;
	snprintf(out->source, sizeof out->source, "%s, %s", from->key, from->label);
}

/* Mean of all that was measured alone at x, beside co-runs too: the more moments, the better. */
static double centre_at(const struct harness *harness, const char *what, double x)
{
	double sum = 0;
	size_t n = 0;
	for (size_t i = 0; i < harness->n_results; i++) {
		const struct result *const result = &harness->results[i];
		if (result->status == RESULT_PASSED && strcmp(result->what, what) == 0 && !result->with[0] &&
		    result->x == x) {
			sum += result->stats.centre;
			n++;
		}
	}
	return sum / (double)n;
}

static size_t points_of(
    double x[], double rate[], size_t max, const struct harness *harness, const char *key, const char *what)
{
	size_t n = 0;
	for (size_t i = 0; i < harness->n_results && n < max; i++) {
		const struct result *const result = &harness->results[i];
		if (result->status != RESULT_PASSED || strcmp(result->key, key) != 0 || strcmp(result->what, what) != 0 ||
		    result->with[0] || (n > 0 && result->x <= x[n - 1]))
			continue;
		x[n] = result->x;
		rate[n++] = centre_at(harness, what, result->x);
	}
	return n;
}

double derive_alone(const struct harness *harness, const char *key, const char *what, double at)
{
	double x[DERIVED_POINTS_MAX], rate[DERIVED_POINTS_MAX];
	const size_t n = points_of(x, rate, DERIVED_POINTS_MAX, harness, key, what);
	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (x[i] >= at)
			return i == 0 || x[i] == at
			    ? rate[i]
			    : rate[i - 1] + (rate[i] - rate[i - 1]) * (at - x[i - 1]) / (x[i] - x[i - 1]);
	return rate[n - 1];
}

static void add_curve(
    struct derived *derived, const char *name, const struct harness *harness, const char *key, const char *what)
{
	struct derived_curve *const curve = &derived->curves[derived->n_curves];
	*curve = (struct derived_curve){.name = name, .source = key};
	curve->n = points_of(curve->x, curve->rate, DERIVED_POINTS_MAX, harness, key, what);
	if (curve->n > 0)
		derived->n_curves++;
}

static void add_curves(struct derived *derived, const struct harness *harness)
{
	add_curve(derived, "h2d", harness, "host_to_device_memcpy_ce", "h2d");
	add_curve(derived, "d2h", harness, "device_to_host_memcpy_ce", "d2h");
	add_curve(derived, "cpu_adam", harness, "cpu_adam", "cpu_adam");
	add_curve(derived, "cpu_adam_fused", harness, "cpu_adam_fused", "cpu_adam_fused");
	add_curve(derived, "cpu_adam_split", harness, "cpu_adam_split", "cpu_adam_split");
	add_curve(derived, "cpu_unscale", harness, "cpu_unscale", "cpu_unscale");
	add_curve(derived, "cpu_downscale", harness, "cpu_downscale", "cpu_downscale");
	add_curve(derived, "gemm", harness, "gpu_gemm", "gemm");
}

static void fit_source(
    char source[200], const char *weights, size_t n_cells, const struct fluid_fit *fit, double error_frac)
{
	snprintf(source, 200,
	    "fluid fit with %s to %zu co-runs of CPU Adam and copies, %zu of them full, rms error %.1f %% "
	    "(waiting threads sleep)",
	    weights, n_cells, fit->n_full, 100 * error_frac);
}

/* A weight that the grid cannot tell from 1 is not measured. */
static void add_weight(struct derived *derived, const char *name, double weight, const struct fluid_range *range, const char *source)
{
	struct derived_value *const out = add(derived, name, fluid_is_open(range) ? "assumed" : "measured", weight, source);
	const size_t length = strlen(out->source);
	if (range->lo < range->hi)
		snprintf(out->source + length, sizeof out->source - length, "; %g to %g fit as well", range->lo, range->hi);
}

static void add_weights(struct derived *derived, size_t n_cells)
{
	const struct fluid_fit *const fit = &derived->fit;
	const double capacity_Bps = fit->split.capacity_Bps;
	char split[200], shared[200];
	fit_source(split, "a copy weight per direction", n_cells, fit, fit->split_error_frac);
	fit_source(shared, "one copy weight", n_cells, fit, fit->shared_error_frac);
	struct derived_value *const dram = add(derived, "dram_Bps", "measured", capacity_Bps, split);
	dram->lo = fmin(capacity_Bps, fit->capacity_lo_Bps);
	dram->hi = fmax(capacity_Bps, fit->capacity_hi_Bps);
	add_weight(derived, "dma_weight", fit->shared.weights[FLUID_H2D], &fit->shared_weight, shared);
	add_weight(derived, "h2d_weight", fit->split.weights[FLUID_H2D], &fit->split_weights[FLUID_H2D], split);
	add_weight(derived, "d2h_weight", fit->split.weights[FLUID_D2H], &fit->split_weights[FLUID_D2H], split);
}

static void add_latency(struct derived *derived, double n_cpus)
{
	struct latency_pair pairs[DERIVED_CORUN_MAX];
	struct latency_constants c, lo, hi;
	double error_frac;
	char source[200];
	size_t n = 0;
	for (size_t i = 0; i < derived->n_corun; i++) {
		const struct derived_corun *const row = &derived->corun[i];
		const struct latency_cell cell = {row->first, row->second, row->first_threads, row->second_threads, row->first_alone,
		    row->first_together, row->second_alone, row->second_together, row->ranks,
		    derived->pcie_root_Bps, derived->gpus_per_pcie_root};
		n += latency_pair_of(&pairs[n], &cell, n_cpus, KERNEL_ADAM_BYTES(1, 0), KERNEL_DOWNSCALE_BYTES);
	}
	if (!latency_fit(&c, &error_frac, pairs, n))
		return;
	snprintf(source, sizeof source, LATENCY_SOURCE, n, 100 * error_frac);
	latency_intervals(&lo, &hi, &c, pairs, n);
	for (size_t i = 0; i < LATENCY_CONSTANTS_N; i++) {
		struct derived_value *const out = add(derived, latency_members[i].name, "measured", latency_constant(&c, i), source);
		out->lo = latency_constant(&lo, i);
		out->hi = latency_constant(&hi, i);
	}
}

static void add_dram(struct derived *derived, const struct harness *harness)
{
	struct fluid_cell cells[FLUID_CELLS_MAX];
	const size_t n_cells = derive_corun(derived, cells, harness);
	if (!fluid_fit_of(&derived->fit, cells, n_cells)) {
		const double copy = derive_alone(harness, "cpu_copy", "copy", harness->n_cpus) * KERNEL_COPY_BYTES;
		const double adam =
		    derive_alone(harness, "cpu_adam", "cpu_adam", harness->n_cpus) * KERNEL_ADAM_BYTES(1, 0);
		const double best = fmax(derived->fit.shared.capacity_Bps, fmax(copy, adam));
		if (best > 0)
			add(derived, "dram_Bps", "measured", best, "largest traffic seen; no co-run filled DRAM");
		return;
	}
	add_weights(derived, n_cells);
}

static void add_counted(struct derived *derived)
{
	static const char counted[] =
	    "counted in the kernel: loads, and stores once (to lines just loaded, or past the cache)";
	add(derived, "cpu_adam_bytes_per_param", "assumed", KERNEL_ADAM_BYTES(1, 0), counted);
	add(derived, "cpu_unscale_bytes_per_param", "assumed", KERNEL_UNSCALE_BYTES, counted);
	add(derived, "cpu_downscale_bytes_per_param", "assumed", KERNEL_DOWNSCALE_BYTES, counted);
	add(derived, "dram_bytes_per_dma_byte", "assumed", 1, "a copy engine reads or writes each byte once");
}

static void add_cores(struct derived *derived, const struct harness *harness)
{
	const struct result *const one = harness_find(harness, "cpu_smt", "sibling", "", 1, -1);
	const struct result *const all =
	    harness_find(harness, "cpu_smt", "sibling", "", harness->topology.threads_per_core, -1);
	if (one && all && all != one)
		add(derived, "smt_gain", "measured", fmax(1, all->stats.centre / one->stats.centre), "cpu_smt");
	else
		add(derived, "smt_gain", "assumed", 1, "no siblings visible");
	double fracs[16];
	size_t n = 0;
	for (size_t i = 0; i < derived->n_corun && n < 16; i++) {
		const struct derived_corun *const row = &derived->corun[i];
		if (strcmp(row->second, "cpu_downscale") == 0 && row->first_threads + row->second_threads > harness->n_cpus)
			fracs[n++] =
			    sqrt(row->first_together / row->first_alone * row->second_together / row->second_alone);
	}
	if (n > 0) {
		struct derived_value *const out =
		    add(derived, "adam_downscale_corun_frac", "measured", fmin(1, stats_median(fracs, n)),
			"contention_downscale, all hardware threads for Adam: geometric mean of both speeds");
		struct stats stats;
		stats_of(&stats, fracs, n);
		out->lo = fmin(1, stats.min);
		out->hi = fmin(1, stats.max);
	}
	add_rate(derived, "cpu_subgroup_s", harness_find(harness, "cpu_subgroup", "region", "", -1, -1), 1, true);
}

static void add_link(struct derived *derived, const struct harness *harness)
{
	add_rate(
	    derived, "h2d_duplex_Bps", harness_find(harness, "bidirectional_memcpy_ce", "h2d", "d2h", -1, -1), 1, false);
	add_rate(
	    derived, "d2h_duplex_Bps", harness_find(harness, "bidirectional_memcpy_ce", "d2h", "h2d", -1, -1), 1, false);
	add_rate(derived, "push_pageable_params_per_s", harness_find(harness, "push_pageable", "push_pageable", "", -1, -1),
	    1, false);
	add_rate(derived, "flush_pageable_params_per_s",
	    harness_find(harness, "flush_pageable", "flush_pageable", "", -1, -1), 1, false);
}

/* Both ways on one GPU; 0: not measured. */
static double duplex_sum(const struct harness *harness)
{
	const struct result *const up = harness_find(harness, "bidirectional_memcpy_ce", "h2d", "d2h", -1, -1);
	const struct result *const down = harness_find(harness, "bidirectional_memcpy_ce", "d2h", "h2d", -1, -1);
	return up && down ? up->stats.centre + down->stats.centre : 0;
}

/* Rates of one moment, so their intervals are added up too. All GPUs that together get less than half of what one gets were in each
 * other's way (two early probes: 6 of 101 GB/s, on the same lines of memory); as a root it would hold back that one, too. */
static void add_root(struct derived *derived, const struct harness *harness)
{
	static const char key[] = "all_gpus_bidirectional_memcpy_ce";
	double sum = 0, lo = 0, hi = 0;
	size_t n = 0;
	for (size_t i = 0; i < harness->n_results; i++) {
		const struct result *const result = &harness->results[i];
		if (result->status != RESULT_PASSED || strcmp(result->key, key) != 0 || strcmp(result->with, "all") != 0)
			continue;
		sum += result->stats.centre;
		lo += result->stats.lo;
		hi += result->stats.hi;
		n++;
	}
	if (n < 4 || n != 2 * (size_t)harness->n_gpus || sum < duplex_sum(harness) / 2)
		return;
	struct derived_value *const out = add(derived, "pcie_root_Bps", "measured", sum, "");
	out->lo = lo;
	out->hi = hi;
	snprintf(out->source, sizeof out->source, "%s, 64 MiB both ways on all GPUs at once, added up", key);
	derived->gpus_per_pcie_root = harness->n_gpus;
	derived->pcie_root_Bps = sum;
}

static void add_gpu(struct derived *derived, const struct harness *harness)
{
	static const struct {
		const char *part;
		double flop_per_s;
	} datasheet[] = {{"H200", 989.5e12}, {"H100", 989.5e12}, {"A100", 312e12}};
	if (harness->n_gpus == 0)
		return;
	add(derived, "gpu_memory_bytes", "measured", harness->gpu_info.free_bytes, "free after the context was made");
	add_rate(derived, "hbm_Bps", harness_find(harness, "device_local_copy", "hbm_copy", "", -1, -1), 8, false);
	add_rate(derived, "gpu_adam_params_per_s", harness_find(harness, "gpu_adam", "gpu_adam", "", -1, -1), 1, false);
	add_rate(derived, "kernel_launch_s", harness_find(harness, "gpu_launch", "launch", "", -1, -1), 1, true);
	add(derived, "layer_forward_launch_s", "assumed", 3e-4,
	    "eager framework: about 40 launches and their host code a layer");
	add(derived, "layer_backward_launch_s", "assumed", 6e-4, "twice the forward");
	for (size_t i = 0; i < sizeof datasheet / sizeof datasheet[0]; i++) {
		if (strstr(harness->gpu_info.name, datasheet[i].part)) {
			add(derived, "gpu_flop_per_s", "datasheet", datasheet[i].flop_per_s,
			    "vendor, SXM part, dense 16 bit");
			return;
		}
	}
	double peak = 0;
	for (size_t i = 0; i < harness->n_results; i++)
		if (strcmp(harness->results[i].what, "gemm") == 0 && !harness->results[i].with[0])
			peak = fmax(peak, harness->results[i].stats.centre);
	if (peak > 0)
		add(derived, "gpu_flop_per_s", "measured", peak, "largest GEMM rate");
}

void derive(struct derived *derived, const struct harness *harness)
{
	const int all = harness->n_cpus, workers = all >= 16 ? all / 8 : 1;
	memset(derived, 0, sizeof *derived);
	derived->workers = workers;
	derived->threads = all > workers ? all - workers : all;
	add_curves(derived, harness);
	add_dram(derived, harness);
	add_root(derived, harness);
	add_latency(derived, (double)harness->n_cpus);
	add_counted(derived);
	add_cores(derived, harness);
	add(derived, "host_memory_bytes", "measured", harness->topology.memory_bytes,
	    "physical memory or the cgroup's limit");
	if (harness->n_gpus > 0)
		add_link(derived, harness);
	add_gpu(derived, harness);
}
