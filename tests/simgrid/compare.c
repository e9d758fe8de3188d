/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The engine with fluid sharing against SimGrid, an independent simulator, on random flows over DRAM, HBM and PCIe roots: E3 with weights
 * of one over the alone rate is max-min fairness of rates. `simgrid` compares, `simgrid bench` compares speeds, `simgrid flows RANKS N
 * few|many SEED` writes flows, ends and our speed for another simulator (tests/peers.sh).
 */
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/engine.h"
#include "tests/simgrid/oracle.h"

enum { N_CASES = 200, RANKS_MAX = 8, FLOWS_MAX = 400, BENCH_FLOWS = 50000, BENCH_RUNS = 7 };

struct node {
	gsl_rng *rng;
	struct arena arena;
	struct hwprofile hw;
	struct cost cost;
	struct schedule schedule;
	struct timeline timeline;
	size_t n_ranks, n_flows, n_links;
	bool has_few_kinds;
	double link_Bps[3 * RANKS_MAX];
	struct flow *flows;
	double *end_s; /* of SimGrid, and behind them its seconds, shared with the child that runs it */
};

static double between(struct node *node, double low, double high)
{
	return low * pow(high / low, gsl_rng_uniform(node->rng));
}

static size_t below(struct node *node, size_t n)
{
	return gsl_rng_uniform_int(node->rng, n);
}

/* Every kind is a flow with a cap of its own and some of the shared links. */
static void draw_classes(struct node *node)
{
	struct cost *const cost = &node->cost;
	const struct workload workload = {.batch = {.gpus = (double)node->n_ranks}, .is_update_only = true};
	node->hw.hw_threads_per_rank = node->hw.threads_per_core = node->hw.numa_domains = node->hw.gpus_per_pcie_root = 1;
	for (struct curve *curve = &node->hw.h2d; curve <= &node->hw.gemm; curve++)
		*curve = (struct curve){.n_points = 1, .x = {1}, .rate = {1}};
	node->hw.dma_weight = 1;
	cost_init(cost, &node->hw, &workload, 1, 1);
	for (size_t kind = 0; kind < OP_N; kind++) {
		const double cap_Bps = floor(between(node, 1e9, 100e9));
		cost->classes[kind] = (struct op_class){.lane = cost->classes[kind].lane,
		    .s_per_unit = 1 / cap_Bps,
		    .weight = 1e9 / cap_Bps,
		    .duplex_frac = 1,
		    .dram_Bps = below(node, 3) ? cap_Bps : 0,
		    .hbm_Bps = below(node, 2) ? cap_Bps : 0,
		    .root_Bps = below(node, 2) ? cap_Bps : 0};
	}
	cost->classes[OP_SYNC] = (struct op_class){.lane = LANE_MAIN, .weight = 1, .duplex_frac = 1};
}

/* Links: DRAM of each domain, root of each group, HBM of each rank. */
static void draw_links(struct node *node)
{
	struct cost *const cost = &node->cost;
	cost->ranks_per_domain = (double)((size_t)1 << below(node, 3));
	cost->ranks_per_root = (double)((size_t)1 << below(node, 2));
	cost->dram_Bps = floor(between(node, 20e9, 400e9));
	cost->root_Bps = floor(between(node, 20e9, 200e9));
	node->hw.hbm_Bps = floor(between(node, 20e9, 200e9));
	node->n_links = 3 * RANKS_MAX;
	for (size_t rank = 0; rank < RANKS_MAX; rank++) {
		node->link_Bps[rank] = cost->dram_Bps;
		node->link_Bps[RANKS_MAX + rank] = cost->root_Bps;
		node->link_Bps[2 * RANKS_MAX + rank] = node->hw.hbm_Bps;
	}
}

/* Any kind; or one a lane, as in a training iteration, where the same sets of kinds run again and again. */
static enum op_kind draw_kind(struct node *node)
{
	static const enum op_kind few[] = {
	    OP_CPU_ADAM, OP_CPU_DOWNSCALE, OP_GPU_ADAM, OP_H2D, OP_D2H, OP_GATHER, OP_REDUCE};
	return node->has_few_kinds ? few[below(node, LANE_N)] : (enum op_kind)(1 + below(node, OP_N - 1));
}

static void add_flow(struct node *node, long *last_of_lane)
{
	const struct cost *const cost = &node->cost;
	const size_t rank = below(node, node->n_ranks), id = node->n_flows++;
	const enum op_kind kind = draw_kind(node);
	const struct op_class *const class = &cost->classes[kind];
	long *const last = &last_of_lane[rank * LANE_N + class->lane];
	const long other = id > 0 && below(node, 3) == 0 ? (long)below(node, id) : -1;
	struct flow *const flow = &node->flows[id];
	*flow = (struct flow){.bytes = floor(between(node, 1e8, 1e11)), .cap_Bps = 1 / class->s_per_unit};
	flow->links[0] = class->dram_Bps > 0 ? (int)(rank / (size_t)cost->ranks_per_domain) : -1;
	flow->links[1] = class->root_Bps > 0 ? (int)(RANKS_MAX + rank / (size_t)cost->ranks_per_root) : -1;
	flow->links[2] = class->hbm_Bps > 0 ? (int)(2 * RANKS_MAX + rank) : -1;
	flow->after[0] = *last;
	flow->after[1] = other == *last ? -1 : other;
	const op_id deps[] = {*last < 0 ? NO_OP : (op_id)*last, flow->after[1] < 0 ? NO_OP : (op_id)flow->after[1]};
	node->schedule.rank = (uint16_t)rank;
	schedule_op(&node->schedule, kind, flow->bytes, deps, 2);
	*last = (long)id;
}

static void draw(struct node *node, unsigned long seed, size_t n_ranks, size_t n_flows)
{
	long last_of_lane[RANKS_MAX * LANE_N];
	for (size_t i = 0; i < RANKS_MAX * LANE_N; i++)
		last_of_lane[i] = -1;
	gsl_rng_set(node->rng, seed);
	arena_reset(&node->arena);
	node->n_ranks = n_ranks;
	draw_classes(node);
	draw_links(node);
	schedule_init(&node->schedule, &node->cost, &node->arena);
	node->schedule.n_ranks = n_ranks;
	for (node->n_flows = 0; node->n_flows < n_flows;)
		add_flow(node, last_of_lane);
}

static double cpu_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of SimGrid on the same flows; its platform is built in that time. */
static double simgrid_s(struct node *node)
{
	int status;
	double *const seconds = node->end_s + node->n_flows;
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0) {
		const double from_s = cpu_s();
		oracle_run(node->end_s, node->flows, node->n_flows, node->link_Bps, node->n_links);
		*seconds = cpu_s() - from_s;
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
		fprintf(stderr, "simgrid: a run of SimGrid failed\n");
		exit(1);
	}
	return *seconds;
}

static double worst_error(struct node *node)
{
	double worst = 0;
	for (size_t i = 0; i < node->n_flows; i++)
		worst = fmax(worst, fabs(node->timeline.end_s[i] / node->end_s[i] - 1));
	return worst;
}

/* One rank is a folded run, whose shares are those of ranks_per_domain: give SimGrid the same. */
static void fold(struct node *node)
{
	if (node->n_ranks > 1)
		return;
	node->link_Bps[0] /= node->cost.ranks_per_domain;
	node->link_Bps[RANKS_MAX] /= node->cost.ranks_per_root;
}

static int compare(struct node *node)
{
	double worst = 0;
	for (unsigned long seed = 1; seed <= N_CASES; seed++) {
		draw(node, seed, (size_t)1 << seed % 4, 1 + seed * FLOWS_MAX / N_CASES - 1);
		fold(node);
		engine_run(&node->timeline, &node->schedule, &sharing_fluid, &node->arena);
		simgrid_s(node);
		const double error = worst_error(node);
		worst = fmax(worst, error);
		if (!(error <= 1e-6)) {
			printf("simgrid: seed %lu, %zu ranks, %zu flows: a completion differs by %.3g\n", seed,
			    node->n_ranks, node->n_flows, error);
			return 1;
		}
	}
	printf(
	    "simgrid: %d cases of up to %d flows, completion times within %.1e of SimGrid's\n", N_CASES, FLOWS_MAX, worst);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Seconds of the engine on flows drawn anew, median of 5. */
static double engine_s(struct node *node, unsigned long seed, size_t n_ranks, size_t n_flows)
{
	double seconds[5];
	for (int i = 0; i < 5; i++) {
		draw(node, seed, n_ranks, n_flows);
		const double from_s = cpu_s();
		engine_run(&node->timeline, &node->schedule, &sharing_fluid, &node->arena);
		seconds[i] = cpu_s() - from_s;
	}
	qsort(seconds, 5, sizeof *seconds, by_value);
	return seconds[2];
}

static void print_spread(const char *name, double *values, const char *end)
{
	qsort(values, BENCH_RUNS, sizeof *values, by_value);
	printf("\"%s\": {\"median\": %.4g, \"min\": %.4g, \"max\": %.4g}%s", name, values[BENCH_RUNS / 2], values[0],
	    values[BENCH_RUNS - 1], end);
}

/* Completions a second of both on the same flows; each run draws its own machine and flows. Rounding of either grows along a chain of
 * contended flows: after tens of thousands the ends may differ by 1e-4, those of `compare` do not. */
static void bench(struct node *node, size_t n_ranks, bool has_few_kinds)
{
	double ours[BENCH_RUNS], theirs[BENCH_RUNS], ratio[BENCH_RUNS], concurrency[BENCH_RUNS], worst = 0;
	node->has_few_kinds = has_few_kinds;
	for (size_t run = 0; run < BENCH_RUNS; run++) {
		const double ours_s = engine_s(node, run + 1, n_ranks, BENCH_FLOWS);
		fold(node);
		const double theirs_s = simgrid_s(node);
		ours[run] = BENCH_FLOWS / ours_s;
		theirs[run] = BENCH_FLOWS / theirs_s;
		ratio[run] = theirs_s / ours_s;
		concurrency[run] = node->timeline.concurrency;
		worst = fmax(worst, worst_error(node));
	}
	printf("{\"bench\": \"simgrid\", \"ranks\": %zu, \"kinds\": %d, \"n_flows\": %d, \"runs\": %d, "
	       "\"worst_difference_frac\": %.2g,\n  ",
	    n_ranks, has_few_kinds ? LANE_N : OP_N - 1, BENCH_FLOWS, BENCH_RUNS, worst);
	print_spread("concurrency", concurrency, ",\n  ");
	print_spread("completions_per_s", ours, ",\n  ");
	print_spread("simgrid_completions_per_s", theirs, ",\n  ");
	print_spread("ratio", ratio, "}\n");
}

static void bench_all(struct node *node)
{
	for (size_t n_ranks = 1; n_ranks <= RANKS_MAX; n_ranks *= 2)
		for (int has_few_kinds = 1; has_few_kinds >= 0; has_few_kinds--)
			bench(node, n_ranks, has_few_kinds);
}

/* Our seconds; capacities; then bytes, cap, links, predecessors and end of each flow. */
static int write_flows(struct node *node, const char *n_ranks, const char *n_flows, const char *n_kinds, const char *seed)
{
	const size_t ranks = strtoul(n_ranks, NULL, 10), flows = strtoul(n_flows, NULL, 10);
	node->has_few_kinds = !strcmp(n_kinds, "few");
	if (ranks < 2 || ranks > RANKS_MAX || flows < 1 || flows > BENCH_FLOWS ||
	    (!node->has_few_kinds && strcmp(n_kinds, "many"))) {
		fprintf(stderr, "simgrid: 2 to %d ranks, 1 to %d flows, few or many kinds would be accepted\n", RANKS_MAX,
		    BENCH_FLOWS);
		return 2;
	}
	printf("%.17g\n", engine_s(node, strtoul(seed, NULL, 10), ranks, flows));
	for (size_t i = 0; i < node->n_links; i++)
		printf("%.17g ", node->link_Bps[i]);
	for (size_t i = 0; i < flows; i++) {
		const struct flow *const flow = &node->flows[i];
		printf("\n%.17g %.17g %d %d %d %ld %ld %.17g", flow->bytes, flow->cap_Bps, flow->links[0], flow->links[1],
		    flow->links[2], flow->after[0], flow->after[1], node->timeline.end_s[i]);
	}
	putchar('\n');
	return 0;
}

int main(int argc, char **argv)
{
	static struct node node;
	node.rng = gsl_rng_alloc(gsl_rng_taus2);
	node.flows = xmalloc(BENCH_FLOWS, sizeof *node.flows);
	node.end_s =
	    mmap(NULL, (BENCH_FLOWS + 1) * sizeof *node.end_s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (node.end_s == MAP_FAILED)
		return 1;
	int status = 0;
	if (argc > 1 && !strcmp(argv[1], "bench"))
		bench_all(&node);
	else if (argc == 6 && !strcmp(argv[1], "flows"))
		status = write_flows(&node, argv[2], argv[3], argv[4], argv[5]);
	else
		status = compare(&node);
	munmap(node.end_s, (BENCH_FLOWS + 1) * sizeof *node.end_s);
	free(node.flows);
	gsl_rng_free(node.rng);
	arena_release(&node.arena);
	return status;
}
