/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * interleave: the options on which the time of an interleaved update (`dos`, `hybrid`) depends, and what the operations of one
 * subgroup take alone under them.
 *
 * Shared by the recurrence (exact) and the lanes (steady state). Nothing here knows when an operation runs.
 */
#ifndef MODEL_INTERLEAVE_H
#define MODEL_INTERLEAVE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/cost.h"

enum chain { CHAIN_PUBLISHED, CHAIN_SERIAL, CHAIN_DUPLEX };
/* SPLIT: the fp32 master is kept as its upper half, which is the 16-bit parameter, and its lower one. */
enum downscale { DOWNSCALE_BATCH, DOWNSCALE_EAGER, DOWNSCALE_FUSED, DOWNSCALE_SPLIT };
extern const char *const chain_names[]; /* NULL-terminated, also the words of policy options */
extern const char *const downscale_names[];

/* Options of an interleaved update that its time depends on. */
struct interleave {
	enum chain chain;
	enum downscale downscale;
	size_t
	    buffers; /* device buffer sets, >= 1; read with CHAIN_DUPLEX only: the stream order of the others leaves one in use */
	bool has_bf16_grads; /* gradients on the host are 16 bit */
	bool has_separate_unscale; /* unscale is a pass of its own (fp32 gradients only) */
	bool waits_for_fetch; /* true: `dos` (windows, MAIN blocks); false: `hybrid` (all queued up front) */
	size_t stride; /* windows of `dos`; 0: none is GPU-scheduled */
	const bool *on_gpu; /* `hybrid`: [n_dynamic] GPU-scheduled subgroups, borrowed; NULL: none. `dos` goes by stride */
	size_t n_dynamic; /* subgroups that are not GPU-resident; the others follow them */
};

/* Is there a pass of its own that makes 16-bit copies? Else Adam leaves them, and casts nothing on the GPU either with SPLIT. */
bool downscale_is_a_pass(enum downscale downscale);
/* Bytes a parameter that a GPU-scheduled subgroup brings and takes back: M, V and P; of P the lower half where the GPU holds the upper. */
double downscale_state_bytes(enum downscale downscale);
/* Is subgroup x < n_dynamic streamed to the GPU? */
bool interleave_is_streamed(const struct interleave *how, size_t x);
/* Buffer sets in use. */
size_t interleave_n_buffers(const struct interleave *how);
/* Copies of one fetch or one write-back: one a tensor on three streams, or one for all. */
size_t interleave_n_copies(const struct interleave *how);
/* Bytes of one of them. */
double interleave_copy_bytes(const struct interleave *how, double n_params);
enum op_kind interleave_adam_kind(const struct interleave *how);
enum op_kind interleave_gpu_adam_kind(const struct interleave *how); /* of streamed subgroups */
/* MAIN's seconds for one CPU subgroup: host overhead, unscale, Adam. */
double interleave_cpu_s(const struct interleave *how, const struct cost *cost, double n_params);

/* Every operation of one subgroup of n_params, alone. */
struct subgroup_times {
	double cpu_s; /* MAIN, when it is updated by the CPU: see interleave_cpu_s */
	double overhead_s, unscale_s; /* of cpu_s, not Adam */
	double stream_s; /* MAIN, when it is streamed and MAIN waits for it */
	double downscale_s; /* 0 where it is no pass of its own */
	double push_s;
	double fetch_s, write_back_s; /* one copy of n_copies */
	double n_copies;
	double gpu_adam_s, gpu_cast_s; /* one cast of gradients, one of parameters; 0 with DOWNSCALE_SPLIT */
	double cpu_dram_bytes, gpu_dram_bytes; /* host DRAM traffic when it is updated by the CPU; when it is streamed */
	double cpu_root_bytes, gpu_root_bytes; /* PCIe root traffic, likewise */
};
void subgroup_times_init(
    struct subgroup_times *times, const struct interleave *how, const struct cost *cost, double n_params);

#endif
