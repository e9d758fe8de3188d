/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hwprofile: one state of one machine, as measured, fitted or from a data sheet. JSON "dos-hwprofile/1".
 *
 * Invariant (hwprofile_check): every quantity of the table is within its range; required curves have points.
 * Units are in the names. A profile is read once and immutable afterwards; a sampled or scaled profile is an ordinary
 * profile. All rates are of one rank (one GPU and its host threads) unless the name says node or domain.
 *
 * File layout:
 *   { "schema": "dos-hwprofile/1", "name": .., "summary": ..,
 *     "provenance": { "tool", "date", "machine", "command", "sources": [..], "fitted_on": ["row id", ..], "note",
 *                     "complete": true|false },
 *     "node":   { plain counts and switches, see HW_NODE },
 *     "values": { "NAME": number | { "value": x, "kind": "measured"|"fitted"|"datasheet"|"assumed",
 *                                    "lo": x, "hi": x, "samples": [..], "source": ".." }, .. },
 *     "curves": { "NAME": { "kind": .., "lo_frac": f, "hi_frac": f, "source": .., "points": [[x, rate], ..] }, .. },
 *     "corun":  [ raw contention grid, see struct hw_corun ],
 *     "extra":  anything }
 * lo .. hi is a 95 % interval of the value; lo_frac .. hi_frac one of a factor on all rates of a curve (0.95 .. 1.05), since
 * what changes them between processes moves them together. sim/study/sample.h draws from them.
 */
#ifndef MODEL_HWPROFILE_H
#define MODEL_HWPROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/base/arena.h"
#include "model/base/err.h"
#include "model/base/opt.h"
#include "model/base/units.h"
#include "model/curve.h"

/* Counts and switches: member, minimum, maximum, default (NAN: required), meaning. */
#define HW_NODE(X)                                                                                                       \
	X(gpus, 1, 1024, NAN, "GPUs of the node, one rank each")                                                         \
	X(numa_domains, 1, 64, 1, "NUMA domains; ranks are spread over them evenly")                                     \
	X(hw_threads_per_rank, 1, 4096, NAN, "hardware threads that a rank may use (its binding)")                       \
	X(threads_per_core, 1, 8, 1, "hardware threads of one core (SMT siblings)")                                      \
	X(ranks_per_core_set, 1, 64, 1, "ranks whose bindings are SMT siblings of the same cores")                       \
	X(threads, 1, 4096, NAN, "default OpenMP team of a rank's CPU Adam")                                             \
	X(workers, 1, 4096, 1, "default threads of a rank's downscale worker")                                           \
	X(spin_wait, 0, 1, 0, "1: a host thread that waits for the GPU spins on its core; 0: it sleeps")                 \
	X(gpus_per_pcie_root, 1, 64, 1, "GPUs that share one PCIe root of pcie_root_Bps, or what else limits their copies together")

/* Dimensioned values: member, unit, minimum, maximum, default (NAN: required), meaning. */
#define HW_VALUES(X)                                                                                                         \
	X(host_memory_bytes, UNIT_BYTES, 0, 1e18, NAN, "host memory of the node")                                            \
	X(gpu_memory_bytes, UNIT_BYTES, 0, 1e15, NAN, "memory of one GPU that an allocator can get")                         \
	X(pinned_max_bytes, UNIT_BYTES, 0, 1e18, INFINITY, "most host memory of the node that may be pinned")                \
	X(dram_Bps, UNIT_BYTES_PER_S, 1e6, 1e16, NAN, "host DRAM bandwidth of one NUMA domain, as mixed traffic gets it")    \
	X(dram_bytes_per_dma_byte, UNIT_NONE, 0, 16, 1, "host DRAM bytes per byte that a copy engine moves")                 \
	X(dma_weight, UNIT_NONE, 0.01, 100, 1, "share of a copy engine in a full DRAM, relative to CPU kernels")             \
	X(h2d_weight, UNIT_NONE, 0, 100, 0, "dma_weight of H2D copies; 0: dma_weight")                                       \
	X(d2h_weight, UNIT_NONE, 0, 100, 0, "dma_weight of D2H copies; 0: dma_weight")                                       \
	X(dram_latency_Bps, UNIT_BYTES_PER_S, 0, 1e16, 0, "load at which DRAM latency has no bound; 0: dram_Bps is divided")  \
	X(h2d_dram_load, UNIT_NONE, 0, 16, 1, "load of a byte of an H2D copy on DRAM, relative to CPU kernels")               \
	X(d2h_dram_load, UNIT_NONE, 0, 16, 1, "the same of D2H copies")                                                      \
	X(h2d_latency_frac, UNIT_FRAC, 0, 1, 0, "how far H2D copies follow DRAM latency; 1: as CPU kernels")                  \
	X(d2h_latency_frac, UNIT_FRAC, 0, 1, 0, "the same of D2H copies")                                                    \
	X(downscale_latency_frac, UNIT_FRAC, 0, 1, 1, "the same of the downscale worker")                                     \
	X(smt_gain, UNIT_NONE, 1, 8, 1, "throughput of a core with all siblings busy over one sibling alone")                \
	X(cpu_adam_bytes_per_param, UNIT_BYTES, 0, 1024, 28, "DRAM bytes of CPU Adam with fp32 gradients, no 16-bit output") \
	X(cpu_unscale_bytes_per_param, UNIT_BYTES, 0, 1024, 8, "DRAM bytes of the separate unscale of fp32 gradients")       \
	X(cpu_downscale_bytes_per_param, UNIT_BYTES, 0, 1024, 8, "DRAM bytes of the fp32 to 16-bit downscale into staging")  \
	X(adam_downscale_corun_frac, UNIT_FRAC, 0, 1, 0, "speed left to Adam and downscale on shared cores; 0: 1/m rule")         \
	X(push_pageable_params_per_s, UNIT_PARAMS_PER_S, 1, 1e15, NAN, "ZeRO-3 host cast and pageable H2D of 16-bit copies") \
	X(push_pageable_bytes_per_param, UNIT_BYTES, 0, 1024, 24, "DRAM bytes of that")                                      \
	X(flush_pageable_params_per_s, UNIT_PARAMS_PER_S, 1, 1e15, NAN, "ZeRO-3 pageable D2H of gradients into host fp32")   \
	X(flush_pageable_bytes_per_param, UNIT_BYTES, 0, 1024, 10, "DRAM bytes of that")                                     \
	X(h2d_duplex_Bps, UNIT_BYTES_PER_S, 1, 1e15, NAN, "pinned H2D rate while D2H runs too")                              \
	X(d2h_duplex_Bps, UNIT_BYTES_PER_S, 1, 1e15, NAN, "pinned D2H rate while H2D runs too")                              \
	X(pcie_root_Bps, UNIT_BYTES_PER_S, 1, 1e16, INFINITY, "copies of all GPUs of one PCIe root together, both directions") \
	X(hbm_Bps, UNIT_BYTES_PER_S, 1, 1e16, NAN, "GPU memory bandwidth of a copy, bytes read plus written")                \
	X(gpu_adam_params_per_s, UNIT_PARAMS_PER_S, 1, 1e15, NAN, "GPU Adam, fp32 states, 16-bit output")                    \
	X(gpu_flop_per_s, UNIT_FLOP_PER_S, 1, 1e18, NAN, "peak dense 16-bit FLOP/s (for utilisation only)")                  \
	X(softmax_bytes_per_score, UNIT_BYTES, 0, 1024, 0, "HBM bytes per attention score of the unfused softmax, forward")  \
	X(elementwise_passes, UNIT_NONE, 0, 1000, 0, "HBM passes over a layer's activations by memory-bound kernels")        \
	X(layer_forward_launch_s, UNIT_SECONDS, 0, 10, 0, "host time to launch one layer's forward, gather hooks included")  \
	X(layer_backward_launch_s, UNIT_SECONDS, 0, 10, 0, "host time to launch one layer's backward, no recomputation")     \
	X(all_gather_Bps, UNIT_BYTES_PER_S, 1, 1e16, INFINITY, "received bytes/s of one rank in an all-gather")              \
	X(reduce_params_per_s, UNIT_PARAMS_PER_S, 1, 1e18, INFINITY, "gradient buckets: copy, reduce-scatter; all params")   \
	X(network_Bps, UNIT_BYTES_PER_S, 0, 1e16, 0, "network of one node to others, bytes/s a direction; 0: not known")        \
	X(network_latency_s, UNIT_SECONDS, 0, 1, 0, "latency of a step of a ring between nodes")                             \
	X(ring_latency_s, UNIT_SECONDS, 0, 1, 0, "the same within a node; where there are several nodes")                    \
	X(step_fixed_s, UNIT_SECONDS, 0, 100, 0, "start of the step: cache emptied, synchronised")                           \
	X(step_subgroup_s, UNIT_SECONDS, 0, 100, 0, "start of the step, per subgroup: norm and small all-reduce")            \
	X(cpu_subgroup_s, UNIT_SECONDS, 0, 100, 0, "host overhead of one subgroup in the update loop")                       \
	X(stream_subgroup_s, UNIT_SECONDS, 0, 100, 0, "host overhead of one GPU-scheduled subgroup before its Adam")         \
	X(kernel_launch_s, UNIT_SECONDS, 0, 1, 5e-6, "launch of one GPU kernel or copy")                                     \
	X(other_s, UNIT_SECONDS, 0, 100, 0, "logging and reports of recorded runs per iteration")                            \
	X(live_params, UNIT_PARAMS, 0, 1e15, 1e9, "gathered parameters alive at once (stage3_max_live_parameters)")          \
	X(gpu_reserved_bytes, UNIT_BYTES, 0, 1e15, 0, "GPU memory of the framework besides the model")                       \
	X(host_overhead_bytes_per_param, UNIT_BYTES, 0, 1024, 4.5, "host bytes beside P, M, V, gradient and 16-bit copy")    \
	X(host_reserved_bytes, UNIT_BYTES, 0, 1e18, 0, "host memory of the processes besides the model, node")               \
	X(power_W, UNIT_WATT, 0, 1e9, 0, "power of the node, 0 unknown")                                                     \
	X(price_per_hour, UNIT_NONE, 0, 1e9, 0, "price of the node per hour, 0 unknown")

/* Curves: member, kind, required, meaning. */
#define HW_CURVES(X)                                                                                                  \
	X(h2d, CURVE_TRANSFER, true, "pinned H2D, bytes/s over bytes")                                                \
	X(d2h, CURVE_TRANSFER, true, "pinned D2H, bytes/s over bytes")                                                \
	X(cpu_adam, CURVE_THREADS, true, "CPU Adam alone, fp32 gradients, parameters/s over threads")                 \
	X(cpu_adam_fused, CURVE_THREADS, false, "CPU Adam with 16-bit output and 16-bit gradients; else cpu_adam")    \
	X(cpu_adam_split, CURVE_THREADS, false, "CPU Adam on split masters; else 28/26 of cpu_adam_fused")            \
	X(cpu_unscale, CURVE_THREADS, false, "unscale alone, parameters/s over threads; else 28/8 of cpu_adam")       \
	X(cpu_downscale, CURVE_THREADS, true, "fp32 to 16-bit downscale alone, parameters/s over threads")            \
	X(gemm, CURVE_SIZE, true, "16-bit GEMM, FLOP/s over (m n k)^(1/3)")

/* One cell of the contention grid: two activities measured alone and together. */
struct hw_corun {
	char first[32], second[32]; /* "cpu_adam", "cpu_downscale", "h2d", "d2h", "duplex", "gemm", "spin" */
	double first_threads, second_threads; /* 0 for copies */
	double first_alone, first_together; /* rates, unit of the activity; together at least a thousandth of alone */
	double second_alone, second_together;
	double ranks; /* that did the same at once, all of them; 0 or 1: one alone */
};

enum { HW_CORUN_MAX = 256, HW_TEXT_MAX = 128, HW_SUMMARY_MAX = 256 };

#define HW_COUNT(...) +1
enum { HW_N_NODE = 0 HW_NODE(HW_COUNT), HW_N_VALUES = 0 HW_VALUES(HW_COUNT), HW_N_CURVES = 0 HW_CURVES(HW_COUNT) };
#undef HW_COUNT

/* Where a value or curve comes from. A plain number, or an object without "kind", is assumed. */
enum hw_kind { HW_KIND_DEFAULT, HW_KIND_MEASURED, HW_KIND_FITTED, HW_KIND_DATASHEET, HW_KIND_ASSUMED };
extern const char *const hw_kind_names[]; /* "default" (not in the file), "measured", .., NULL */

struct hw_meta {
	enum hw_kind kind;
	double lo, hi; /* both NAN: no interval; of a curve: factors on its rates */
	const double *samples;
	size_t n_samples;
	const char *source; /* "" when not given */
};

/* Prose of the file, "" when not given. */
struct hw_provenance {
	const char *tool, *date, *machine, *command, *note;
	const char **sources;
	size_t n_sources;
};

struct hwprofile {
	char name[HW_TEXT_MAX];
	char summary[HW_SUMMARY_MAX];
#define HW_MEMBER_NODE(name, min, max, fallback, text) double name;
	HW_NODE(HW_MEMBER_NODE)
#undef HW_MEMBER_NODE
#define HW_MEMBER_VALUE(name, unit, min, max, fallback, text) double name;
	HW_VALUES(HW_MEMBER_VALUE)
#undef HW_MEMBER_VALUE
#define HW_MEMBER_CURVE(name, kind, required, text) struct curve name;
	HW_CURVES(HW_MEMBER_CURVE)
#undef HW_MEMBER_CURVE
	struct hw_corun corun[HW_CORUN_MAX];
	size_t n_corun;
	const char **fitted_on; /* ids of validation rows, in the arena */
	size_t n_fitted_on;
	bool complete; /* false: the probe saw no GPU, ran chosen cases only, or was interrupted */
	struct hw_provenance provenance; /* texts in the arena of hwprofile_load, like all pointers here */
	const struct hw_meta *value_meta; /* [HW_N_VALUES], as hw_value_fields */
	const struct hw_meta *curve_meta; /* [HW_N_CURVES], as hw_curve_fields */
	unsigned long long content_hash; /* of every number above, not of names or prose */
};

/* Reads a file, or a shipped name (looked for by hwprofile_find). STATUS_INPUT. Checks and hashes. */
int hwprofile_load(struct hwprofile *hw, const char *path, struct arena *arena, struct err *err) MUST_CHECK;

/* The same from text in memory; `name` is what messages call it. */
int hwprofile_parse(struct hwprofile *hw, const char *name, const char *text, size_t n_bytes, struct arena *arena,
    struct err *err) MUST_CHECK;

/* Ranges of all quantities, and what must hold between them. STATUS_INPUT; messages start with `name`. */
int hwprofile_check(const struct hwprofile *hw, const char *name, struct err *err) MUST_CHECK;

/* Curves without points that a file may leave out, from the others. cpu_adam_split stays without: it follows cpu_adam_fused in cost.h,
 * through draws and fits too. */
void hwprofile_fill_curves(struct hwprofile *hw);

/* Sets content_hash; whoever changes a number of a profile calls it. */
void hwprofile_rehash(struct hwprofile *hw);

/* True for what is a file by its spelling: "-", or with a '/', or ending in ".json". */
bool hwprofile_is_file(const char *text);
/* Path of the shipped profile `name`: beside the binary, then $DOS_DATA, then PREFIX/share/dos. STATUS_INPUT names the
 * nearest and lists what exists. */
int hwprofile_find(const char **path, const char *name, struct arena *arena, struct err *err) MUST_CHECK;
/* Names of all shipped profiles, sorted, each once; returns how many. */
size_t hwprofile_list(struct opt_list *names, struct arena *arena);

/* The resources that --scale knows; factors > 0 multiply speeds. */
#define HW_SCALES(X) X(cpu) X(dram) X(h2d) X(d2h) X(duplex) X(gpu) X(hbm) X(cores) X(net)
/* Multiplies one resource ("dram", 1.5). cpu: CPU kernel rates, pageable casts included; with dram_latency_Bps those in idle
 * memory, so that the rates alone grow less (E32), and with dram too; cores: hardware threads per rank;
 * gpu: GEMM, Adam and launch rates; h2d, d2h: that direction with its duplex rate; duplex: both duplex rates only (capped by
 * the one-way rates); net: all-gather, reduce and the network between nodes, not their latencies. Metadata stays that of the file. STATUS_USAGE on an unknown resource or
 * a factor that is not in 1e-6..1e6. */
int hwprofile_scale(struct hwprofile *hw, const char *resource, double factor, struct err *err) MUST_CHECK;

/* Table of the dimensioned values, for readers, writers, sampling and documentation. */
struct hw_field {
	const char *name;
	enum unit unit;
	size_t offset; /* of a double in struct hwprofile */
	double min, max, fallback; /* fallback NAN: required */
	const char *text;
};
extern const struct hw_field hw_node_fields[];
extern const size_t hw_n_node_fields;
extern const struct hw_field hw_value_fields[];
extern const size_t hw_n_value_fields;
/* Least positive value: min, or more where 0 says that there is none and less would be a rate at which nothing ends. */
double hw_value_least(const struct hw_field *field);
struct hw_curve_field {
	const char *name;
	enum curve_kind kind;
	bool is_required;
	size_t offset; /* of a struct curve in struct hwprofile */
	const char *text;
};
extern const struct hw_curve_field hw_curve_fields[];
extern const size_t hw_n_curve_fields;

#endif
