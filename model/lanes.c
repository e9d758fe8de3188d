/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/lanes.h"

#include <math.h>

#include "model/base/latency.h"
#include "model/base/maxmin.h"

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

/* What a team keeps of its speed beside another on the same cores, MAIN's single thread too: by what was measured of Adam and cast
 * together, or by the threads. E4 */
static double core_frac(const struct cost *cost, enum op_kind kind, enum op_kind beside)
{
	const double n_threads = cost->classes[kind].host_threads, n_runnable = n_threads + cost->classes[beside].host_threads;
	const bool is_cast = kind == OP_CPU_DOWNSCALE;
	const double measured = is_cast ? cost->corun_downscale_frac : cost->corun_adam_frac;
	const enum op_kind on_main = is_cast ? beside : kind;
	const bool is_pair = on_main != OP_HOST && on_main != OP_SYNC;
	if (is_pair && measured > 0)
		return measured;
	if (is_pair && cost->hw->adam_downscale_corun_frac > 0 && n_runnable > cost->hw_threads)
		return cost->hw->adam_downscale_corun_frac;
	return cost_core_frac(cost, n_runnable, n_threads);
}

/* Who may slow whom besides by DRAM: partners differ in the last bit. */
enum racer { RACER_ADAM, RACER_CAST, RACER_UP, RACER_DOWN, N_RACERS };

/* Work of one kind, one after the other. */
struct runner {
	enum racer racer;
	enum op_kind kind;
	double left_s; /* of the work, at alone speed */
	double *end_s; /* where its end goes */
	double cap_frac; /* speed that cores (E4) and link (E5) leave it beside its partner */
};

static double cap_beside(const struct cost *cost, enum op_kind kind, enum op_kind beside)
{
	return cost->classes[kind].transfer ? duplex_frac(cost, kind, true) : core_frac(cost, kind, beside);
}

static void set_caps(struct runner runners[], size_t n, const struct cost *cost)
{
	for (size_t i = 0; i < n; i++) {
		runners[i].cap_frac = 1;
		for (size_t j = 0; j < n; j++)
			if (runners[j].racer == (runners[i].racer ^ 1))
				runners[i].cap_frac = cap_beside(cost, runners[i].kind, runners[j].kind);
	}
}

/* Of capped speeds, by latency. E32 */
static void latency_shares(double speeds[], const struct runner runners[], size_t n, const struct cost *cost)
{
	struct latency_user users[N_RACERS];
	for (size_t i = 0; i < n; i++) {
		const struct op_class *const class = &cost->classes[runners[i].kind];
		users[i] = (struct latency_user){class->dram_load_Bps * runners[i].cap_frac, class->latency_frac};
	}
	latency_speeds(speeds, users, n, cost->dram_limit_Bps, cost->ranks_per_domain);
}

/* The root divides what is left of speeds until here, by weights. E3 */
static void root_shares(double speeds[], const struct runner runners[], size_t n, const struct cost *cost)
{
	struct maxmin_user users[N_RACERS] = {{0}};
	double shares[N_RACERS];
	for (size_t i = 0; i < n; i++) {
		const struct op_class *const class = &cost->classes[runners[i].kind];
		users[i] = (struct maxmin_user){class->root_Bps * runners[i].cap_frac * speeds[i], class->weight};
	}
	if (!maxmin_speeds(shares, users, n, cost->root_Bps / cost->ranks_per_root))
		return;
	for (size_t i = 0; i < n; i++)
		speeds[i] *= users[i].ask_Bps > 0 ? shares[i] : 1;
}

/* Root and DRAM by weights, which are of capped speeds: who is held by the root is held by DRAM no sooner. E3 */
static void weighted_shares(double speeds[], const struct runner runners[], size_t n, const struct cost *cost)
{
	struct maxmin_user users[N_RACERS] = {{0}};
	double shares[N_RACERS];
	for (size_t i = 0; i < n; i++)
		speeds[i] = 1;
	root_shares(speeds, runners, n, cost);
	for (size_t i = 0; i < n; i++) {
		const struct op_class *const class = &cost->classes[runners[i].kind];
		users[i] = (struct maxmin_user){class->dram_Bps * runners[i].cap_frac * speeds[i], class->weight / speeds[i]};
	}
	(void)maxmin_speeds(shares, users, n, cost->dram_Bps / cost->ranks_per_domain);
	for (size_t i = 0; i < n; i++)
		speeds[i] *= users[i].ask_Bps > 0 ? shares[i] : 1;
}

/* Speeds of all runners. */
static void shares_of(double speeds[], struct runner runners[], size_t n, const struct cost *cost)
{
	set_caps(runners, n, cost);
	if (cost->hw->dram_latency_Bps > 0) {
		latency_shares(speeds, runners, n, cost);
		root_shares(speeds, runners, n, cost);
	} else {
		weighted_shares(speeds, runners, n, cost);
	}
	for (size_t i = 0; i < n; i++)
		speeds[i] *= runners[i].cap_frac;
}

void lanes_speeds(double speeds[], const enum op_kind kinds[], const bool runs[], const struct cost *cost)
{
	struct runner runners[N_RACERS];
	double shares[N_RACERS];
	size_t n = 0;
	for (enum racer racer = 0; racer < N_RACERS; racer++)
		if (runs[racer])
			runners[n++] = (struct runner){.racer = racer, .kind = kinds[racer]};
	shares_of(shares, runners, n, cost);
	for (size_t i = 0; i < n; i++)
		speeds[runners[i].racer] = shares[i];
}

/* Until the next runner ends, which is moved to the end of the list; returns when. */
static double run(struct runner runners[], size_t n, const struct cost *cost, double now_s)
{
	double speeds[N_RACERS], passed_s = INFINITY;
	size_t first = 0;
	shares_of(speeds, runners, n, cost);
	for (size_t i = 0; i < n; i++)
		if (runners[i].left_s / speeds[i] < passed_s) {
			passed_s = runners[i].left_s / speeds[i];
			first = i;
		}
	for (size_t i = 0; i < n; i++)
		runners[i].left_s = fmax(0, runners[i].left_s - passed_s * speeds[i]);
	const struct runner ended = runners[first];
	runners[first] = runners[n - 1];
	runners[n - 1] = ended;
	return now_s + passed_s;
}

/* Lanes hold work at alone speed, and then ends: all start together, each runs at the speed that those still running leave it;
 * pushes run when all fetches have, and write-backs not before first_s of fetching. E33 */
static void race(struct lanes *lanes, const struct cost *cost, const struct interleave *how, double first_s)
{
	const double later_s = lanes->fetches_s - first_s, pushes_s = lanes->h2d_s - lanes->fetches_s;
	struct runner runners[N_RACERS] = {{RACER_UP, OP_H2D, first_s, &lanes->first_s, 1}};
	size_t n = 1;
	double now_s = 0;
	if (lanes->cpu_s > 0)
		runners[n++] = (struct runner){RACER_ADAM, interleave_adam_kind(how), lanes->cpu_s, &lanes->cpu_s, 1};
	if (lanes->cast_s > 0)
		runners[n++] = (struct runner){RACER_CAST, OP_CPU_DOWNSCALE, lanes->cast_s, &lanes->cast_s, 1};
	while (n > 0) {
		struct runner *const ended = &runners[n - 1];
		now_s = run(runners, n, cost, now_s);
		double *const end_s = ended->end_s;
		*end_s = now_s;
		if (end_s == &lanes->first_s) {
			*ended = (struct runner){RACER_UP, OP_H2D, later_s, &lanes->fetches_s, 1};
			if (lanes->d2h_s > 0)
				runners[n++] = (struct runner){RACER_DOWN, OP_D2H, lanes->d2h_s, &lanes->d2h_s, 1};
		} else if (end_s == &lanes->fetches_s) {
			*ended = (struct runner){RACER_UP, OP_H2D, pushes_s, &lanes->h2d_s, 1};
		} else {
			n--;
		}
	}
}

/* Windows follow each other without beginning and end: each lane beside its partner, and DRAM a lane of its own. E16 */
static void pair_up(struct lanes *lanes, const struct cost *cost)
{
	const struct lanes alone = *lanes;
	const double adam_frac = cap_beside(cost, OP_CPU_ADAM, OP_CPU_DOWNSCALE),
	             cast_frac = cap_beside(cost, OP_CPU_DOWNSCALE, OP_CPU_ADAM);
	const double up_frac = cap_beside(cost, OP_H2D, OP_D2H), down_frac = cap_beside(cost, OP_D2H, OP_H2D);
	lanes->cpu_s = lanes_beside_s(alone.cpu_s, adam_frac, alone.cast_s, cast_frac);
	lanes->cast_s = lanes_beside_s(alone.cast_s, cast_frac, alone.cpu_s, adam_frac);
	lanes->h2d_s = lanes_beside_s(alone.h2d_s, up_frac, alone.d2h_s, down_frac);
	lanes->d2h_s = lanes_beside_s(alone.d2h_s, down_frac, alone.h2d_s, up_frac);
}

void lanes_of(struct lanes *lanes, const struct cost *cost, const struct interleave *how, const struct lanes_split *split,
    bool is_contended)
{
	const struct subgroup_times *const cpu = &split->cpu, *const gpu = &split->gpu;
	const double n_cpu = split->n_cpu, n_gpu = split->n_gpu, fetches_s = n_gpu * gpu->n_copies * gpu->fetch_s;
	*lanes = (struct lanes){
	    /* E15 */
	    .cpu_s = n_cpu * cpu->cpu_s + n_gpu * gpu->stream_s,
	    .cast_s = n_cpu * cpu->downscale_s,
	    .fetches_s = fetches_s,
	    .h2d_s = fetches_s + n_cpu * cpu->push_s,
	    .d2h_s = n_gpu * gpu->n_copies * gpu->write_back_s,
	    .gpu_s = n_gpu * (gpu->gpu_adam_s + 2 * gpu->gpu_cast_s),
	    .chain_s = n_gpu * lanes_turn_s(cost, how, gpu, is_contended) / (double)interleave_n_buffers(how),
	};
	if (!is_contended)
		return;
	if (split->is_whole || cost->hw->dram_latency_Bps > 0)
		race(lanes, cost, how, split->is_whole ? fmin(1, n_gpu) * gpu->n_copies * gpu->fetch_s : 0);
	else
		pair_up(lanes, cost);
	if (cost->hw->dram_latency_Bps <= 0) /* by latency there is no time that DRAM as such takes */
		lanes->dram_s =
		    cost->ranks_per_domain * (n_cpu * cpu->cpu_dram_bytes + n_gpu * gpu->gpu_dram_bytes) / cost->dram_Bps; /* E17 */
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

void lanes_fraction(struct lanes *lanes, const struct cost *cost, const struct workload *workload,
    const struct interleave *how, double fraction, bool is_contended)
{
	const double n = (double)how->n_dynamic;
	struct lanes_split split = {.n_cpu = (1 - fraction) * n, .n_gpu = fraction * n, .is_whole = true};
	subgroup_times_init(&split.cpu, how, cost, lanes_mean_params(workload, how));
	split.gpu = split.cpu;
	lanes_of(lanes, cost, how, &split, is_contended); /* E21 */
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
