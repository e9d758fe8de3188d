/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cost: what one operation takes alone on this machine, and what it asks of shared resources while it runs.
 *
 * Only this file knows seconds. A schedule names an operation kind and an amount; cost_op_s gives its duration alone;
 * the sharing model slows it down by the demands of its class. Equations: MODEL.md E1-E6, E25.
 */
#ifndef MODEL_COST_H
#define MODEL_COST_H

#include <stdbool.h>
#include <stddef.h>

#include "model/hwprofile.h"
#include "model/workload.h"

/* What can limit: the words of --scale, plus MAIN (host work and blocking). */
#define RES_LIST(X)                                                                                                      \
	X(CPU, "cpu") X(DRAM, "dram") X(H2D, "h2d") X(D2H, "d2h") X(DUPLEX, "duplex") X(GPU, "gpu") X(HBM, "hbm")        \
	X(CORES, "cores") X(NET, "net") X(MAIN, "main")

enum res {
#define RES_ENUM(name, text) RES_##name,
	RES_LIST(RES_ENUM)
#undef RES_ENUM
	RES_N
};
extern const char *const res_names[RES_N + 1]; /* NULL-terminated */

/* Serial resources of a rank: one operation at a time each. */
#define LANE_LIST(X)                                                                                                     \
	X(MAIN, "host main") X(WORKER, "host worker") X(GPU, "gpu compute") X(H2D, "h2d engine") X(D2H, "d2h engine")    \
	X(NET, "all-gather") X(REDUCE, "gradient reduce")

enum lane {
#define LANE_ENUM(name, text) LANE_##name,
	LANE_LIST(LANE_ENUM)
#undef LANE_ENUM
	LANE_N
};
extern const char *const lane_names[LANE_N];

/* kind, lane, unit of its amount, what limits it alone, words for traces. MAIN's device-blocking copies are on MAIN. */
#define OP_LIST(X)                                                                                                       \
	X(SYNC, MAIN, NONE, MAIN, "wait")                                                                                \
	X(HOST, MAIN, SECONDS, MAIN, "host")                                                                             \
	X(LAUNCH, MAIN, SECONDS, MAIN, "launch")                                                                         \
	X(PUSH_PAGEABLE, MAIN, PARAMS, CPU, "cast and pageable push")                                                    \
	X(FLUSH_PAGEABLE, MAIN, PARAMS, MAIN, "pageable gradient flush")                                                 \
	X(CPU_UNSCALE, MAIN, PARAMS, CPU, "unscale")                                                                     \
	X(CPU_ADAM, MAIN, PARAMS, CPU, "cpu adam")                                                                       \
	X(CPU_ADAM_BF16, MAIN, PARAMS, CPU, "cpu adam, 16-bit gradients")                                                \
	X(CPU_ADAM_FUSED, MAIN, PARAMS, CPU, "cpu adam with 16-bit output")                                              \
	X(CPU_ADAM_FUSED_BF16, MAIN, PARAMS, CPU, "cpu adam, 16-bit gradients and output")                               \
	X(CPU_ADAM_SPLIT, MAIN, PARAMS, CPU, "cpu adam on split masters")                                                 \
	X(CPU_ADAM_SPLIT_BF16, MAIN, PARAMS, CPU, "cpu adam on split masters, 16-bit gradients")                          \
	X(CPU_DOWNSCALE, WORKER, PARAMS, CPU, "downscale")                                                               \
	X(COMPUTE, GPU, SECONDS, GPU, "compute")                                                                         \
	X(GPU_ADAM, GPU, PARAMS, HBM, "gpu adam")                                                                        \
	X(GPU_ADAM_SPLIT, GPU, PARAMS, HBM, "gpu adam on split masters")                                                  \
	X(GPU_CAST, GPU, PARAMS, HBM, "gpu cast")                                                                        \
	X(GPU_NORM, REDUCE, PARAMS, HBM, "gradient norm")                                                                   \
	X(H2D, H2D, BYTES, H2D, "h2d")                                                                                   \
	X(D2H, D2H, BYTES, D2H, "d2h")                                                                                   \
	X(GATHER, NET, BYTES, NET, "all-gather")                                                                         \
	X(REDUCE, REDUCE, PARAMS, NET, "reduce-scatter")                                                                    \
	X(TP_REDUCE, NET, BYTES, NET, "tensor-parallel all-reduce")

enum op_kind {
#define OP_ENUM(name, lane, unit, res, text) OP_##name,
	OP_LIST(OP_ENUM)
#undef OP_ENUM
	OP_N
};
extern const char *const op_names[OP_N];

/* What one operation of a kind asks at its alone speed, and how its duration follows from its amount. */
struct op_class {
	enum lane lane;
	enum unit unit;
	enum res res; /* what limits it alone */
	double s_per_unit; /* when transfer is NULL */
	double latency_s; /* of collectives over several nodes, else 0 */
	const struct curve *transfer; /* pinned copies: rate over bytes; borrowed from the profile */
	double dram_Bps; /* host DRAM traffic at alone speed */
	double dram_load_Bps; /* of dram_limit_Bps: its load on latency at alone speed (E32), else dram_Bps */
	double latency_frac; /* how far it follows DRAM latency */
	double hbm_Bps;
	double root_Bps; /* PCIe root traffic */
	double network_Bps; /* a rank's part of its node's traffic, each direction; 0 on one node */
	double host_threads; /* runnable host threads */
	double weight; /* of the weighted max-min */
	double duplex_frac; /* speed left while the opposite engine of the link is busy; 1 if not a copy */
};

struct cost {
	const struct hwprofile *hw; /* borrowed */
	struct op_class classes[OP_N];
	/* capacities, for the sharing model */
	double dram_Bps; /* of one NUMA domain */
	double dram_limit_Bps; /* loads stay below it: where latency has no bound (E32), else dram_Bps */
	double ranks_per_domain; /* ranks of this run in the fullest domain */
	double root_Bps;
	double ranks_per_root;
	double network_Bps; /* of one node, each direction; 0: one node alone */
	double ranks_per_node;
	double hw_threads; /* of one rank */
	double corun_adam_frac, corun_downscale_frac; /* measured speeds left while both run; 0: not measured, E4 decides */
	/* forward and backward of one layer and one micro-batch, GPU seconds without launch limits */
	double layer_forward_s, layer_backward_s, head_forward_s, head_backward_s;
	double threads, workers; /* teams used */
};

/* threads, workers: 0 takes the profile's. */
void cost_init(struct cost *cost, const struct hwprofile *hw, const struct workload *workload, double threads, double workers);

/* Seconds that `amount` of `kind` takes alone. E1, E2, E25 */
double cost_op_s(const struct cost *cost, enum op_kind kind, double amount);

/* Speed of each of n_threads_op's threads when n_runnable host threads of the rank are runnable, relative to the same team
 * alone on the rank's cores: the slowest member of a statically scheduled team decides. E4 */
double cost_core_frac(const struct cost *cost, double n_runnable, double n_threads_op);

#endif
