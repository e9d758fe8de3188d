/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/steps.h"

#include <math.h>

#include "model/split.h"

const char *const flush_names[] = {"async", "blocking", NULL};
const char *const grads_names[] = {"fp32", "bf16", NULL};
const char *const unscale_names[] = {"fused", "separate", NULL};

static op_id reduce_stream(struct build *b, enum op_kind kind, double amount, op_id after)
{
	b->reduce_last = build_enqueue(b, kind, amount, b->reduce_last, after);
	b->schedule->ops[b->reduce_last].stream = STREAM_REDUCE;
	return b->reduce_last;
}

void steps_flush_none(struct build *b, const struct bucket *bucket)
{
	reduce_stream(b, OP_REDUCE, bucket->params, bucket->compute);
}

/* Adds this micro-batch to the sums that earlier ones left on the host: 2 B up, add, 2 B down. */
static void accumulate(struct build *b, const struct bucket *bucket)
{
	steps_flush_none(b, bucket);
	if (!bucket->is_first_micro_batch)
		reduce_stream(b, OP_H2D, 2 * bucket->rank_params, NO_OP);
}

static void hold_streamed(struct build *b, const struct bucket *bucket)
{
	if (bucket->streamed_params > 0)
		schedule_mem(b->schedule, b->reduce_last, false, POOL_GPU, MEM_GRADS, 2 * bucket->streamed_params);
}

void steps_flush_zero3(struct build *b, const struct bucket *bucket, enum flush flush, double host_bytes)
{
	const bool has_round_trip = batch_zero_stage(&b->workload->batch) == 3; /* stages 1 and 2 send what the update needs, once */
	accumulate(b, bucket);
	if (has_round_trip || !bucket->is_last_micro_batch)
		reduce_stream(b, OP_D2H, 2 * bucket->rank_params, NO_OP);
	if (!bucket->is_last_micro_batch)
		return;
	if (has_round_trip)
		reduce_stream(b, OP_H2D, 2 * bucket->rank_params, NO_OP);
	reduce_stream(b, OP_GPU_NORM, bucket->rank_params, NO_OP);
	hold_streamed(b, bucket);
	if (flush == FLUSH_BLOCKING) {
		build_wait(b, b->reduce_last);
		build_main(b, OP_FLUSH_PAGEABLE, bucket->cpu_params);
	} else if (bucket->cpu_params > 0) {
		reduce_stream(b, OP_D2H, host_bytes * bucket->cpu_params, NO_OP);
	}
}

void steps_flush_direct(struct build *b, const struct bucket *bucket, double host_bytes)
{
	accumulate(b, bucket);
	if (!bucket->is_last_micro_batch) {
		reduce_stream(b, OP_D2H, 2 * bucket->rank_params, NO_OP);
		return;
	}
	reduce_stream(b, OP_GPU_NORM, bucket->rank_params, NO_OP);
	hold_streamed(b, bucket);
	if (bucket->cpu_params > 0)
		reduce_stream(b, OP_D2H, host_bytes * bucket->cpu_params, NO_OP);
}

enum op_kind steps_adam_kind(enum grads grads, enum downscale downscale)
{
	const bool is_fp32 = grads == GRADS_FP32;
	if (downscale == DOWNSCALE_SPLIT)
		return is_fp32 ? OP_CPU_ADAM_SPLIT : OP_CPU_ADAM_SPLIT_BF16;
	if (downscale == DOWNSCALE_FUSED)
		return is_fp32 ? OP_CPU_ADAM_FUSED : OP_CPU_ADAM_FUSED_BF16;
	return is_fp32 ? OP_CPU_ADAM : OP_CPU_ADAM_BF16;
}

int steps_check_split(const char *policy, enum chain chain, enum downscale downscale, struct err *err)
{
	if (downscale != DOWNSCALE_SPLIT || chain != CHAIN_PUBLISHED)
		return 0;
	return err_set(err, STATUS_USAGE,
	    "%s: downscale=split: chain=published moves three whole fp32 tensors; chain=serial or chain=duplex would be accepted", policy);
}

const char *steps_needs_bf16(enum downscale downscale)
{
	return downscale == DOWNSCALE_SPLIT
	    ? "downscale=split: the upper half of an fp32 is a bf16, no fp16; --precision bf16 or downscale=fused would be accepted"
	    : NULL;
}

void steps_cpu_adam(struct build *b, size_t subgroup, enum op_kind adam, bool has_unscale)
{
	const double n_params = b->workload->subgroups[subgroup].n_params;
	if (b->schedule->cost->hw->cpu_subgroup_s > 0)
		build_main(b, OP_HOST, b->schedule->cost->hw->cpu_subgroup_s);
	if (has_unscale) {
		build_main(b, OP_CPU_UNSCALE, n_params);
		build_subject(b, subgroup);
	}
	build_main(b, adam, n_params);
	build_subject(b, subgroup);
}

void steps_cpu_zero3(struct build *b, size_t subgroup)
{
	steps_cpu_adam(b, subgroup, OP_CPU_ADAM, true);
	build_main(b, OP_PUSH_PAGEABLE, b->workload->subgroups[subgroup].n_params);
	build_subject(b, subgroup);
}

op_id steps_gpu_adam(struct build *b, size_t subgroup, op_id after)
{
	const op_id op = build_enqueue(b, OP_GPU_ADAM, b->workload->subgroups[subgroup].n_params, after, NO_OP);
	build_subject(b, subgroup);
	return op;
}

double steps_pinned_bytes(double bytes)
{
	return bytes > 0 ? exp2(ceil(log2(bytes))) : 0;
}

void steps_hold(struct build *b, enum pool pool, enum mem mem, double bytes)
{
	b->schedule->resident_bytes[pool][mem] += bytes;
}

/* Bytes a parameter: states of a streamed subgroup, and the 16-bit copy beside the states. */
static void hold_states(struct build *b, double streamed_bytes, double copy_bytes)
{
	for (size_t x = 0; x < b->workload->n_subgroups; x++) {
		const double n_params = b->workload->subgroups[x].n_params;
		if (b->places[x] == PLACE_GPU) {
			steps_hold(b, POOL_GPU, MEM_STATES, 16 * n_params); /* E23 */
			continue;
		}
		steps_hold(b, POOL_HOST, MEM_STATES, (b->places[x] == PLACE_STREAMED ? streamed_bytes : 12) * n_params); /* E24 */
		steps_hold(b, POOL_HOST, MEM_GRADS, 4 * n_params);
		steps_hold(b, POOL_HOST, MEM_PARAMS, copy_bytes * n_params);
		steps_hold(b, POOL_HOST, MEM_RESERVED, b->schedule->cost->hw->host_overhead_bytes_per_param * n_params);
	}
}

void steps_hold_states(struct build *b)
{
	hold_states(b, 12, 2);
}

void steps_hold_halves(struct build *b)
{
	hold_states(b, downscale_state_bytes(DOWNSCALE_SPLIT), 0); /* E34 */
}

void steps_memory_states(struct build *b, const void *params)
{
	(void)params;
	steps_hold_states(b);
}

void steps_hand_over(struct hand_over *h, struct build *b, size_t subgroup, bool is_window_end)
{
	if (!downscale_is_a_pass(h->mode)) {
		build_push(b, subgroup, NO_OP);
		h->first = subgroup + 1;
		return;
	}
	if (h->mode == DOWNSCALE_BATCH && !is_window_end)
		return;
	for (size_t x = h->first; x <= subgroup; x++) {
		if (b->places[x] != PLACE_CPU)
			continue;
		const op_id cast = build_worker(b, OP_CPU_DOWNSCALE, b->workload->subgroups[x].n_params);
		build_subject(b, x);
		build_push(b, x, cast);
	}
	h->first = subgroup + 1;
}
