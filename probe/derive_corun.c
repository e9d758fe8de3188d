/* SPDX-License-Identifier: GPL-3.0-or-later
 * The contention grid as rows "alone and together", and as cells for the fluid fit. Cells whose threads exceed the hardware
 * threads are rows but not cells: there cores, not DRAM, are shared.
 *
 * A machine with other users is faster in one minute than in the next. So a slowdown is the mean over the rounds of together over
 * alone, both of that moment; "together" of a row is that slowdown times what all rounds say of "alone". */
#include <math.h>
#include <string.h>

#include "probe/activities.h"
#include "probe/derive.h"

/* Which results say what `together` is alone. */
struct alone_filter {
	const char *key, *with; /* key NULL: any case */
	double x; /* negative: any */
};

static bool is_alone(const struct result *result, const struct result *together, const struct alone_filter *filter)
{
	return result->status == RESULT_PASSED && strcmp(result->what, together->what) == 0 &&
	    strcmp(result->with, filter->with) == 0 && (!filter->key || strcmp(result->key, filter->key) == 0) &&
	    (filter->x < 0 || result->x == filter->x);
}

/* Rate of the round measured alone that began nearest to at_s; 0 without one. */
static double nearest_alone(
    const struct harness *harness, const struct result *together, const struct alone_filter *filter, double at_s)
{
	double best_s = INFINITY, rate = 0;
	for (size_t i = 0; i < harness->n_results; i++) {
		const struct result *const result = &harness->results[i];
		for (size_t round = 0; round < result->n_rounds && is_alone(result, together, filter); round++) {
			const double distance_s = fabs(result->at_s[round] - at_s);
			if (distance_s < best_s) {
				best_s = distance_s;
				rate = harness_round_median(result, round);
			}
		}
	}
	return rate;
}

/* The mean over what was measured alone, each result as one. */
static double centre_alone(const struct harness *harness, const struct result *together, const struct alone_filter *filter)
{
	double sum = 0;
	size_t n = 0;
	for (size_t i = 0; i < harness->n_results; i++) {
		if (is_alone(&harness->results[i], together, filter)) {
			sum += harness->results[i].stats.centre;
			n++;
		}
	}
	return n ? sum / (double)n : 0;
}

static struct derived_slowdown slowdown_of(
    const struct harness *harness, const struct result *together, const struct alone_filter *filter)
{
	struct derived_slowdown out = {.alone = centre_alone(harness, together, filter)};
	double fracs[STATS_ROUNDS_MAX];
	struct stats stats = {0};
	for (size_t round = 0; round < together->n_rounds && out.alone > 0; round++)
		fracs[round] =
		    harness_round_median(together, round) / nearest_alone(harness, together, filter, together->at_s[round]);
	if (out.alone <= 0 || together->n_rounds == 0)
		return (struct derived_slowdown){0};
	stats_centre(&stats, fracs, together->n_rounds);
	out.frac = stats.centre;
	return out;
}

static struct derived_slowdown copy_slowdown(const struct harness *harness, const struct result *copy, bool is_duplex)
{
	const bool is_h2d = strcmp(copy->what, "h2d") == 0;
	const struct alone_filter duplex = {"bidirectional_memcpy_ce", is_h2d ? "d2h" : "h2d", -1};
	const struct alone_filter single = {is_h2d ? "host_to_device_memcpy_ce" : "device_to_host_memcpy_ce", "", 64 << 20};
	return slowdown_of(harness, copy, is_duplex ? &duplex : &single);
}

/* Where nobody measured this number of threads alone, against the curve. */
static struct derived_slowdown cpu_slowdown(const struct harness *harness, const struct result *cpu)
{
	const struct derived_slowdown out = slowdown_of(harness, cpu, &(struct alone_filter){NULL, "", cpu->x});
	if (out.alone > 0)
		return out;
	const double alone = derive_alone(harness, cpu->what, cpu->what, cpu->x);
	return (struct derived_slowdown){alone, alone > 0 ? cpu->stats.centre / alone : 0};
}

static void add_flow(struct fluid_cell *cell, const struct derived_slowdown *slowdown, double bytes, enum fluid_kind kind)
{
	if (slowdown->alone > 0 && cell->n_flows < FLUID_FLOWS_MAX)
		cell->flows[cell->n_flows++] = (struct fluid_flow){slowdown->alone * bytes, slowdown->frac, kind};
}

static enum fluid_kind kind_of(const struct result *copy)
{
	return strcmp(copy->what, "h2d") == 0 ? FLUID_H2D : FLUID_D2H;
}

/* The copies recorded right after results[i], under the same label. */
static size_t copies_after(const struct harness *harness, size_t i, const struct result *copies[2])
{
	size_t n = 0;
	for (size_t j = i + 1; j < harness->n_results && n < 2; j++) {
		const struct result *const next = &harness->results[j];
		if (next->key != harness->results[i].key || strcmp(next->label, harness->results[i].label) != 0)
			break;
		if (next->status == RESULT_PASSED && next->unit == UNIT_BYTES_PER_S)
			copies[n++] = next;
	}
	return n;
}

/* What nearly stood still was not measured; a profile with it would be refused. */
static bool has_run(double alone, double together)
{
	return alone > 0 && together >= 1e-3 * alone;
}

static void add_row(struct derived *derived, const struct derived_corun *row)
{
	if (derived->n_corun < DERIVED_CORUN_MAX && has_run(row->first_alone, row->first_together) &&
	    has_run(row->second_alone, row->second_together))
		derived->corun[derived->n_corun++] = *row;
}

/* `first` beside copies: one row; a cell when `first` is a CPU kernel. */
static size_t with_copies(struct derived *derived, struct fluid_cell *cell, const struct harness *harness, size_t i,
    const struct derived_slowdown *slowdown)
{
	const struct result *const first = &harness->results[i], *copies[2];
	const size_t n_copies = copies_after(harness, i, copies);
	struct derived_corun row = {
	    first->what, first->with, first->x, 0, slowdown->alone, slowdown->alone * slowdown->frac, 0, 0, 0};
	if (n_copies == 0 || slowdown->alone <= 0)
		return 0;
	*cell = (struct fluid_cell){0};
	add_flow(cell, slowdown, first->bytes_per_unit, FLUID_CPU);
	for (size_t j = 0; j < n_copies; j++) {
		const struct derived_slowdown copy = copy_slowdown(harness, copies[j], n_copies == 2);
		row.second_alone += copy.alone;
		row.second_together += copy.alone * copy.frac;
		add_flow(cell, &copy, 1, kind_of(copies[j]));
	}
	add_row(derived, &row);
	return 1;
}

static size_t copies_grid(struct derived *derived, struct fluid_cell cells[], size_t n_cells, const struct harness *harness)
{
	for (size_t i = 0; i < harness->n_results && n_cells < FLUID_CELLS_MAX; i++) {
		const struct result *const result = &harness->results[i];
		const bool is_grid =
		    strcmp(result->key, "contention_copies") == 0 || strcmp(result->key, "contention_fused") == 0;
		if (is_grid && result->status == RESULT_PASSED && result->unit == UNIT_PARAMS_PER_S && result->with[0]) {
			const struct derived_slowdown slowdown = cpu_slowdown(harness, result);
			n_cells += with_copies(derived, &cells[n_cells], harness, i, &slowdown);
		}
	}
	return n_cells;
}

/* Adam beside the downscale worker without copies: a row. With copies: a cell, where each thread has a hardware thread. */
static size_t downscale_grid(
    struct derived *derived, struct fluid_cell cells[], size_t n_cells, const struct harness *harness)
{
	for (size_t i = 0; i + 1 < harness->n_results && n_cells < FLUID_CELLS_MAX; i++) {
		const struct result *const adam = &harness->results[i], *const down = adam + 1, *copies[2];
		const bool with_both = strcmp(adam->key, "contention_all") == 0;
		if ((!with_both && strcmp(adam->key, "contention_downscale") != 0) || strcmp(adam->what, "cpu_adam") != 0 ||
		    !adam->with[0] || adam->status != RESULT_PASSED || down->status != RESULT_PASSED)
			continue;
		const struct derived_slowdown of_adam = cpu_slowdown(harness, adam), of_down = cpu_slowdown(harness, down);
		if (!with_both)
			add_row(derived,
			    &(struct derived_corun){"cpu_adam", "cpu_downscale", adam->x, down->x, of_adam.alone,
				of_adam.alone * of_adam.frac, of_down.alone, of_down.alone * of_down.frac, 0});
		if (!with_both || adam->x + down->x > harness->n_cpus)
			continue;
		struct fluid_cell *const cell = &cells[n_cells++];
		*cell = (struct fluid_cell){0};
		add_flow(cell, &of_adam, adam->bytes_per_unit, FLUID_CPU);
		add_flow(cell, &of_down, down->bytes_per_unit, FLUID_CPU);
		const size_t n_copies = copies_after(harness, i, copies);
		for (size_t j = 0; j < n_copies; j++) {
			const struct derived_slowdown copy = copy_slowdown(harness, copies[j], true);
			add_flow(cell, &copy, 1, kind_of(copies[j]));
		}
	}
	return n_cells;
}

/* The same as a row, of one rank in the mean; its copies together. Without copies it is Adam beside that of the others. */
static void gpus_row(struct derived *derived, const struct result *first, const struct fluid_flow sums[N_FLUID_KINDS],
    const size_t n_ranks[N_FLUID_KINDS])
{
	static const char *const seconds[] = {"cpu_adam", "h2d", "d2h", "duplex"};
	const double n_adam = (double)n_ranks[FLUID_CPU], bytes = first->bytes_per_unit;
	const bool has_h2d = n_ranks[FLUID_H2D] > 0, has_d2h = n_ranks[FLUID_D2H] > 0, has_copies = has_h2d || has_d2h;
	struct derived_corun row = {
	    .first = "cpu_adam", .second = seconds[has_h2d + 2 * has_d2h], .first_threads = first->x, .ranks = n_adam};
	if (n_adam <= 1 || strcmp(first->what, "cpu_adam") != 0)
		return;
	row.first_alone = sums[FLUID_CPU].demand_Bps / bytes / n_adam;
	row.first_together = row.first_alone * sums[FLUID_CPU].speed_frac / n_adam;
	for (int kind = FLUID_H2D; kind <= FLUID_D2H; kind++)
		if (n_ranks[kind] > 0) {
			const double alone = sums[kind].demand_Bps / (double)n_ranks[kind];
			row.second_alone += alone;
			row.second_together += alone * sums[kind].speed_frac / (double)n_ranks[kind];
		}
	row.second_threads = has_copies ? 0 : first->x;
	row.second_alone = has_copies ? row.second_alone : row.first_alone;
	row.second_together = has_copies ? row.second_together : row.first_together;
	add_row(derived, &row);
}

/* What ran on every GPU at once: the flows of all ranks as one of each kind, against one rank's alone. */
static size_t gpus_cell(struct derived *derived, struct fluid_cell *cell, const struct harness *harness, size_t i)
{
	const struct result *const first = &harness->results[i];
	const bool is_duplex = strcmp(first->with, "all+duplex") == 0;
	struct fluid_flow sums[N_FLUID_KINDS] = {0};
	size_t n_ranks[N_FLUID_KINDS] = {0}, n = 0;
	for (const struct result *one = first;
	     one < harness->results + harness->n_results && one->key == first->key && strcmp(one->label, first->label) == 0;
	     one++, n++) {
		const bool is_cpu = one->unit == UNIT_PARAMS_PER_S;
		const struct derived_slowdown slowdown =
		    is_cpu ? cpu_slowdown(harness, one) : copy_slowdown(harness, one, is_duplex);
		const enum fluid_kind kind = is_cpu ? FLUID_CPU : kind_of(one);
		sums[kind].demand_Bps += slowdown.alone * one->bytes_per_unit;
		sums[kind].speed_frac += slowdown.frac;
		n_ranks[kind]++;
	}
	*cell = (struct fluid_cell){0};
	for (int kind = 0; kind < N_FLUID_KINDS; kind++)
		if (sums[kind].demand_Bps > 0)
			cell->flows[cell->n_flows++] = (struct fluid_flow){
			    sums[kind].demand_Bps, sums[kind].speed_frac / (double)n_ranks[kind], (enum fluid_kind)kind};
	gpus_row(derived, first, sums, n_ranks);
	return n;
}

static size_t gpus_grid(struct derived *derived, struct fluid_cell cells[], size_t n_cells, const struct harness *harness)
{
	for (size_t i = 0; i < harness->n_results && n_cells < FLUID_CELLS_MAX;) {
		const struct result *const result = &harness->results[i];
		if (strcmp(result->key, "contention_gpus") == 0 && result->status == RESULT_PASSED)
			i += gpus_cell(derived, &cells[n_cells++], harness, i);
		else
			i++;
	}
	return n_cells;
}

static void gemm_row(struct derived *derived, const struct harness *harness, size_t i)
{
	const struct result *const gemm = &harness->results[i];
	const size_t n_before = derived->n_corun;
	struct fluid_cell unused;
	const struct derived_slowdown slowdown =
	    slowdown_of(harness, gemm, &(struct alone_filter){"gpu_gemm", "", gemm->x});
	with_copies(derived, &unused, harness, i, &slowdown);
	if (derived->n_corun > n_before)
		derived->corun[n_before].first_threads = 0;
}

static void gemm_and_spin(struct derived *derived, const struct harness *harness)
{
	for (size_t i = 0; i < harness->n_results; i++) {
		const struct result *const result = &harness->results[i];
		if (result->status != RESULT_PASSED)
			continue;
		if (strcmp(result->key, "contention_gemm") == 0 && strcmp(result->what, "gemm") == 0) {
			gemm_row(derived, harness, i);
		} else if (strcmp(result->key, "contention_spin") == 0 && result->with[0]) {
			const struct derived_slowdown slowdown = cpu_slowdown(harness, result);
			add_row(derived,
			    &(struct derived_corun){
				"cpu_adam", "spin", result->x, 1, slowdown.alone, slowdown.alone * slowdown.frac, 1, 1, 0});
		}
	}
}

size_t derive_corun(struct derived *derived, struct fluid_cell cells[FLUID_CELLS_MAX], const struct harness *harness)
{
	size_t n_cells = copies_grid(derived, cells, 0, harness);
	n_cells = downscale_grid(derived, cells, n_cells, harness);
	gemm_and_spin(derived, harness);
	const size_t n_single = n_cells;
	n_cells = gpus_grid(derived, cells, n_cells, harness);
	if (n_cells > n_single)
		(void)fluid_fit_of(&derived->gpus_fit, cells + n_single, n_cells - n_single);
	return n_cells;
}
