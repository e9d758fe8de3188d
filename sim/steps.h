/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * steps: pieces of backward and update that several policies share. MODEL.md "Schedules".
 */
#ifndef SIM_STEPS_H
#define SIM_STEPS_H

#include "model/closed_form.h"
#include "sim/build.h"

enum flush { FLUSH_ASYNC, FLUSH_BLOCKING, FLUSH_DIRECT };
extern const char *const flush_names[]; /* NULL-terminated option words: the two of DeepSpeed ZeRO-3 */

enum grads { GRADS_FP32, GRADS_BF16 };
extern const char *const grads_names[];

enum unscale { UNSCALE_FUSED, UNSCALE_SEPARATE };
extern const char *const unscale_names[];

/* Gradients of one bucket as DeepSpeed ZeRO-3 offload moves them, on the serial reduce stream: reduce-scatter, 16-bit round trip
 * over PCIe (accumulating with earlier micro-batches), then the host copy of the CPU-updated part: blocking pageable
 * conversion on MAIN, or asynchronous pinned D2H of `host_bytes` per parameter. Streamed parts stay on the GPU. Stages 1 and 2 have no
 * round trip beyond that of accumulation. */
void steps_flush_zero3(struct build *b, const struct bucket *bucket, enum flush flush, double host_bytes);
/* The same without the round trip: only what the CPU needs crosses PCIe. */
void steps_flush_direct(struct build *b, const struct bucket *bucket, double host_bytes);
/* Reduce-scatter alone. */
void steps_flush_none(struct build *b, const struct bucket *bucket);

/* MAIN updates one subgroup: host overhead, unscale if separate, Adam of the given kind. */
void steps_cpu_adam(struct build *b, size_t subgroup, enum op_kind adam, bool has_unscale);
/* The same as DeepSpeed ZeRO-3 does it, with the host cast and pageable push that follow. */
void steps_cpu_zero3(struct build *b, size_t subgroup);
/* Enqueues GPU Adam of a subgroup after `after`. */
op_id steps_gpu_adam(struct build *b, size_t subgroup, op_id after);
enum op_kind steps_adam_kind(enum grads grads, enum downscale downscale);

/* What DOWNSCALE_SPLIT does not go with: for policy.check and policy.needs_bf16. STATUS_USAGE. */
int steps_check_split(const char *policy, enum chain chain, enum downscale downscale, struct err *err) MUST_CHECK;
const char *steps_needs_bf16(enum downscale downscale);

/* Pinned allocators round up to powers of two. */
double steps_pinned_bytes(double bytes);
/* Memory held from start to end: GPU-resident subgroups 16 B per parameter; on the host fp32 P, M, V, gradient, 16-bit copy and
 * the profile's overhead of every other subgroup. */
void steps_hold_states(struct build *b);
/* The same with DOWNSCALE_SPLIT: the upper half of P is the 16-bit copy, and that of a streamed subgroup is on the GPU alone. */
void steps_hold_halves(struct build *b);
/* policy.memory of policies that hold nothing else. */
void steps_memory_states(struct build *b, const void *params);
void steps_hold(struct build *b, enum pool pool, enum mem mem, double bytes);

/* Interleaved updates (dos, hybrid): device work of GPU-scheduled subgroup number j under a chain's stream order. */
struct stream_state {
	enum chain chain;
	enum downscale downscale; /* how much of P is on the host, and what is cast on the GPU */
	size_t buffers;
	const size_t *streamed; /* subgroups that are GPU-scheduled, in order */
	size_t n_streamed;
	op_id *updated; /* [n_streamed] gpu adam */
	op_id *flushed; /* [n_streamed] last write-back copy */
	op_id (*fetched)[3]; /* [n_streamed] fetch copies, one per tensor stream or one */
	op_id tensor_last[3]; /* newest copy on each tensor stream; [0] alone with other chains */
	op_id up_last, down_last; /* newest copy per direction (duplex) */
	op_id gpu_last; /* newest operation on the default stream, which runs in order */
};
/* Lists the GPU-scheduled subgroups of the first n_dynamic. Reads chain, downscale, buffers and n_dynamic of `how`. */
void steps_stream_init(struct stream_state *st, struct build *b, const struct interleave *how);
void steps_fetch(struct stream_state *st, struct build *b, size_t j);
/* Nothing with DOWNSCALE_SPLIT, whose Adam reads the 16-bit gradient. */
void steps_gradient_cast(struct stream_state *st, struct build *b, size_t j);
void steps_gpu_update(struct stream_state *st, struct build *b, size_t j);
void steps_write_back(struct stream_state *st, struct build *b, size_t j);
/* MAIN waits for the fetch of j. */
void steps_wait_fetch(const struct stream_state *st, struct build *b, size_t j);

/* CPU-updated subgroups whose 16-bit copies are still to be made and pushed. */
struct hand_over {
	enum downscale mode;
	size_t first; /* first subgroup not yet handed over */
};
/* After MAIN updated `subgroup`; is_window_end: the next is GPU-scheduled or the loop ends. */
void steps_hand_over(struct hand_over *h, struct build *b, size_t subgroup, bool is_window_end);

#endif
