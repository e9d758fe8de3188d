/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Device work of interleaved updates under the stream order of each chain. MODEL.md "Schedules", "Stream order".
 */
#include "sim/steps.h"

void steps_stream_init(struct stream_state *st, struct build *b, const struct interleave *how)
{
	struct arena *const arena = b->schedule->arena;
	size_t *const streamed = arena_alloc(arena, how->n_dynamic + 1, sizeof *streamed);
	size_t n = 0;
	for (size_t x = 0; x < how->n_dynamic; x++)
		if (b->places[x] == PLACE_STREAMED)
			streamed[n++] = x;
	*st = (struct stream_state){.chain = how->chain, .downscale = how->downscale, .buffers = how->buffers, .streamed = streamed,
	    .n_streamed = n, .tensor_last = {NO_OP, NO_OP, NO_OP}, .up_last = NO_OP, .down_last = NO_OP, .gpu_last = NO_OP};
	st->updated = arena_alloc(arena, n, sizeof *st->updated);
	st->flushed = arena_alloc(arena, n, sizeof *st->flushed);
	st->fetched = arena_alloc(arena, n, sizeof *st->fetched);
	for (size_t j = 0; j < n; j++) {
		st->updated[j] = st->flushed[j] = NO_OP;
		for (size_t i = 0; i < 3; i++)
			st->fetched[j][i] = NO_OP;
	}
}

static double params_of(const struct stream_state *st, const struct build *b, size_t j)
{
	return b->workload->subgroups[st->streamed[j]].n_params;
}

/* Device work of y_j, on the default stream. */
static op_id enqueue(struct stream_state *st, struct build *b, size_t j, enum op_kind kind, double amount, op_id after1, op_id after2)
{
	const op_id op = build_enqueue(b, kind, amount, after1, after2);
	build_subject(b, st->streamed[j]);
	return op;
}

/* A copy on the stream of tensor i, or on the one stream of its direction (0). */
static op_id copy(struct stream_state *st, struct build *b, size_t j, size_t i, enum op_kind kind, double bytes, op_id after1, op_id after2)
{
	const op_id op = enqueue(st, b, j, kind, bytes, after1, after2);
	b->schedule->ops[op].stream = (uint8_t)(STREAM_FETCH + i);
	return op;
}

/* All that is fetched, and written back, of y_j. */
static double state_bytes(const struct stream_state *st, const struct build *b, size_t j)
{
	return downscale_state_bytes(st->downscale) * params_of(st, b, j);
}

void steps_fetch(struct stream_state *st, struct build *b, size_t j)
{
	const double bytes = state_bytes(st, b, j);
	/* with one buffer set the stream order of published and serial already keeps a set until it is written back */
	const op_id is_free = j >= st->buffers && st->buffers > 1 ? st->flushed[j - st->buffers] : NO_OP;
	if (st->chain == CHAIN_PUBLISHED) {
		for (size_t i = 0; i < 3; i++)
			st->tensor_last[i] = st->fetched[j][i] =
			    copy(st, b, j, i, OP_H2D, bytes / 3, st->tensor_last[i], is_free);
	} else if (st->chain == CHAIN_SERIAL) {
		st->tensor_last[0] = st->fetched[j][0] = copy(st, b, j, 0, OP_H2D, bytes, st->tensor_last[0], is_free);
	} else {
		const op_id written_back = j >= st->buffers ? st->flushed[j - st->buffers] : NO_OP;
		st->up_last = st->fetched[j][0] = copy(st, b, j, 0, OP_H2D, bytes, st->up_last, written_back);
	}
}

/* The 16-bit gradient that is on the GPU since backward: gone when `op` has read it. */
static void release_gradient(const struct stream_state *st, struct build *b, size_t j, op_id op)
{
	if (!b->workload->is_update_only)
		schedule_mem(b->schedule, op, true, POOL_GPU, MEM_GRADS, -2 * params_of(st, b, j));
}

void steps_gradient_cast(struct stream_state *st, struct build *b, size_t j)
{
	if (st->downscale == DOWNSCALE_SPLIT)
		return;
	st->gpu_last = enqueue(st, b, j, OP_GPU_CAST, params_of(st, b, j), st->gpu_last, NO_OP);
	release_gradient(st, b, j, st->gpu_last);
}

void steps_gpu_update(struct stream_state *st, struct build *b, size_t j)
{
	const bool is_split = st->downscale == DOWNSCALE_SPLIT;
	const op_id op = enqueue(st, b, j, is_split ? OP_GPU_ADAM_SPLIT : OP_GPU_ADAM, params_of(st, b, j), st->gpu_last, NO_OP);
	for (size_t i = 0; i < 3; i++)
		if (st->fetched[j][i] != NO_OP)
			schedule_dep(b->schedule, st->fetched[j][i]);
	if (is_split)
		release_gradient(st, b, j, op);
	st->gpu_last = st->updated[j] = op;
}

void steps_write_back(struct stream_state *st, struct build *b, size_t j)
{
	const double bytes = state_bytes(st, b, j);
	if (st->downscale != DOWNSCALE_SPLIT)
		st->gpu_last = enqueue(st, b, j, OP_GPU_CAST, params_of(st, b, j), st->gpu_last, NO_OP);
	const op_id done = st->updated[j];
	if (st->chain == CHAIN_PUBLISHED) {
		for (size_t i = 0; i < 3; i++)
			st->tensor_last[i] = copy(st, b, j, i, OP_D2H, bytes / 3, st->tensor_last[i], done);
		st->flushed[j] = st->tensor_last[2];
	} else if (st->chain == CHAIN_SERIAL) {
		st->flushed[j] = st->tensor_last[0] = copy(st, b, j, 0, OP_D2H, bytes, st->tensor_last[0], done);
	} else {
		st->flushed[j] = st->down_last = copy(st, b, j, 0, OP_D2H, bytes, st->down_last, done);
	}
}

void steps_wait_fetch(const struct stream_state *st, struct build *b, size_t j)
{
	for (size_t i = 0; i < 3; i++)
		build_wait(b, st->fetched[j][i]);
}
