/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/lanes.h"

#include <math.h>

#include "model/base/latency.h"

double lanes_beside_s(double alone_s, double kept_frac, double other_alone_s, double other_kept_frac)
{
	const double never_alone_s = alone_s / kept_frac;
	const double together_s = other_alone_s / other_kept_frac;
	return fmin(never_alone_s, alone_s + (1 - kept_frac) * together_s); /* E16 */
}

/* Until both have ended. */
static double pair_s(double first_s, double first_frac, double second_s, double second_frac)
{
	return fmax(lanes_beside_s(first_s, first_frac, second_s, second_frac),
	    lanes_beside_s(second_s, second_frac, first_s, first_frac));
}

static double duplex_frac(const struct cost *cost, enum op_kind kind, bool is_contended)
{
	return is_contended ? cost->classes[kind].duplex_frac : 1;
}

/* Three tensor streams on engines that run one copy at a time: D2H M | D2H V, H2D M | D2H P, H2D V | H2D P. One stream: all down,
 * then all up. One stream per direction: B sets take turns, and with B > 1 the other direction is busy meanwhile. */
double lanes_turn_s(
    const struct cost *cost, const struct interleave *how, const struct subgroup_times *times, bool is_contended)
{
	const double up_frac = duplex_frac(cost, OP_H2D, is_contended), down_frac = duplex_frac(cost, OP_D2H, is_contended);
	const double up_s = times->fetch_s, down_s = times->write_back_s, update_s = times->stream_s + times->gpu_adam_s;
	if (how->chain == CHAIN_PUBLISHED)
		return update_s + down_s + 2 * pair_s(up_s, up_frac, down_s, down_frac) + up_s; /* E15 */
	if (interleave_n_buffers(how) > 1)
		return update_s + down_s / down_frac + up_s / up_frac;
	return update_s + down_s + up_s;
}

/* Adam's team and the WORKER's on the same cores: what the team of `n_threads` keeps beside the other. */
static double core_frac(const struct cost *cost, double n_threads, bool is_contended)
{
	const double n_runnable = cost->threads + cost->workers;
	if (!is_contended)
		return 1;
	if (cost->hw->adam_downscale_corun_frac > 0 && n_runnable > cost->hw_threads)
		return cost->hw->adam_downscale_corun_frac;
	return cost_core_frac(cost, n_runnable, n_threads);
}

/* A lane that loads DRAM: speed left by its like on other ranks, and what of that while the other lanes load it too. E32 */
struct loaded {
	double alone, kept;
};

enum { LOADED_CPU, LOADED_UP, LOADED_DOWN, LOADED_N };

static void loaded_of(struct loaded loaded[LOADED_N], const struct cost *cost, const struct interleave *how)
{
	const enum op_kind kinds[] = {interleave_adam_kind(how), OP_H2D, OP_D2H};
	struct latency_user users[LOADED_N];
	double together[LOADED_N];
	for (size_t i = 0; i < LOADED_N; i++) {
		const struct op_class *const class = &cost->classes[kinds[i]];
		users[i] = (struct latency_user){class->dram_load_Bps * class->duplex_frac, class->latency_frac};
		latency_speeds(&loaded[i].alone, &users[i], 1, cost->dram_limit_Bps, cost->ranks_per_domain);
	}
	latency_speeds(together, users, LOADED_N, cost->dram_limit_Bps, cost->ranks_per_domain);
	for (size_t i = 0; i < LOADED_N; i++)
		loaded[i].kept = fmin(1, together[i] / loaded[i].alone);
}

/* The lanes that load DRAM, each slowed while others run; there is no time that DRAM as such takes then. E33 */
static void slow_down(struct lanes *lanes, const struct loaded loaded[LOADED_N])
{
	double *const lane[LOADED_N] = {&lanes->cpu_s, &lanes->h2d_s, &lanes->d2h_s};
	double alone_s[LOADED_N], most_s[LOADED_N];
	for (size_t i = 0; i < LOADED_N; i++) {
		alone_s[i] = *lane[i] / loaded[i].alone;
		most_s[i] = alone_s[i] / loaded[i].kept;
	}
	for (size_t i = 0; i < LOADED_N; i++) {
		const double others_s = fmax(most_s[(i + 1) % LOADED_N], most_s[(i + 2) % LOADED_N]);
		*lane[i] = lanes_beside_s(alone_s[i], loaded[i].kept, others_s, 1);
	}
	lanes->dram_s = 0;
}

void lanes_of(struct lanes *lanes, const struct cost *cost, const struct interleave *how, const struct lanes_split *split,
    bool is_contended)
{
	const struct subgroup_times *const cpu = &split->cpu, *const gpu = &split->gpu;
	const double n_cpu = split->n_cpu, n_gpu = split->n_gpu;
	const double adam_s = n_cpu * cpu->cpu_s + n_gpu * gpu->stream_s, cast_s = n_cpu * cpu->downscale_s; /* E15 */
	const double up_s = n_cpu * cpu->push_s + n_gpu * gpu->n_copies * gpu->fetch_s;
	const double down_s = n_gpu * gpu->n_copies * gpu->write_back_s;
	const double adam_frac = core_frac(cost, cost->threads, is_contended);
	const double cast_frac = core_frac(cost, cost->workers, is_contended);
	const double up_frac = duplex_frac(cost, OP_H2D, is_contended), down_frac = duplex_frac(cost, OP_D2H, is_contended);
	*lanes = (struct lanes){
	    .cpu_s = lanes_beside_s(adam_s, adam_frac, cast_s, cast_frac), /* E16 */
	    .cast_s = lanes_beside_s(cast_s, cast_frac, adam_s, adam_frac),
	    .h2d_s = lanes_beside_s(up_s, up_frac, down_s, down_frac),
	    .d2h_s = lanes_beside_s(down_s, down_frac, up_s, up_frac),
	    .gpu_s = n_gpu * (gpu->gpu_adam_s + 2 * gpu->gpu_cast_s),
	    .chain_s = n_gpu * lanes_turn_s(cost, how, gpu, is_contended) / (double)interleave_n_buffers(how),
	};
	if (!is_contended)
		return;
	lanes->dram_s =
	    cost->ranks_per_domain * (n_cpu * cpu->cpu_dram_bytes + n_gpu * gpu->gpu_dram_bytes) / cost->dram_Bps; /* E17 */
	if (cost->hw->dram_latency_Bps > 0) {
		struct loaded loaded[LOADED_N];
		loaded_of(loaded, cost, how);
		slow_down(lanes, loaded);
	}
	lanes->root_s = cost->ranks_per_root * (n_cpu * cpu->cpu_root_bytes + n_gpu * gpu->gpu_root_bytes) / cost->root_Bps;
}

double lanes_mean_params(const struct workload *workload, const struct interleave *how)
{
	if (how->n_dynamic == 0)
		return 0;
	if (how->n_dynamic == workload->n_subgroups)
		return workload->rank_params / (double)how->n_dynamic;
	double sum_params = 0;
	for (size_t x = 0; x < how->n_dynamic; x++)
		sum_params += workload->subgroups[x].n_params;
	return sum_params / (double)how->n_dynamic;
}

static void mean_split(struct lanes *lanes, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, double n_cpu, double n_gpu, bool is_contended)
{
	struct lanes_split split = {.n_cpu = n_cpu, .n_gpu = n_gpu};
	subgroup_times_init(&split.cpu, how, cost, lanes_mean_params(workload, how));
	split.gpu = split.cpu;
	lanes_of(lanes, cost, how, &split, is_contended);
}

void lanes_window(struct lanes *lanes, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, double stride, bool is_contended)
{
	mean_split(lanes, cost, workload, how, stride - 1, 1, is_contended);
}

void lanes_fraction(struct lanes *lanes, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, double fraction, bool is_contended)
{
	const double n = (double)how->n_dynamic;
	mean_split(lanes, cost, workload, how, (1 - fraction) * n, fraction * n, is_contended); /* E21 */
}

struct lanes_limit lanes_max(const struct lanes *lanes)
{
	const struct lanes_limit all[] = {{lanes->cpu_s, RES_CPU, "cpu"}, {lanes->cast_s, RES_CPU, "cast"},
	    {lanes->h2d_s, RES_H2D, "h2d"}, {lanes->d2h_s, RES_D2H, "d2h"}, {lanes->gpu_s, RES_GPU, "gpu"},
	    {lanes->chain_s, RES_H2D, "chain"}, {lanes->dram_s, RES_DRAM, "dram"}, {lanes->root_s, RES_H2D, "root"}};
	struct lanes_limit largest = all[0];
	for (size_t i = 1; i < sizeof all / sizeof *all; i++)
		if (all[i].s > largest.s)
			largest = all[i];
	return largest;
}
