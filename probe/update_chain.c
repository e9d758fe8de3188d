/* SPDX-License-Identifier: GPL-3.0-or-later
 * The GPU side of update_run: copies and kernels of the GPU-scheduled subgroups, with the stream order of model/MODEL.md:
 * published: a stream per tensor; serial: one stream; duplex: a stream per direction. */
#include "probe/update_run.h"

static bool is_split(const struct update_run *run)
{
	return run->policy->downscale == DOWNSCALE_SPLIT;
}

/* The copies of one subgroup: three with `published`, else one of the state; where parameters are split it is without them,
 * and one of the low halves follows on the same stream. */
struct chain_copy {
	struct gpu_stream *stream;
	size_t offset, n; /* floats within the state */
};

static int copies_of(struct chain_copy copies[UPDATE_TENSORS], const struct update_run *run, bool is_fetch)
{
	const struct update_rank *const rank = run->rank;
	const size_t pitch = run->layout->pitch;
	if (run->policy->chain == CHAIN_PUBLISHED) {
		for (size_t t = 0; t < UPDATE_TENSORS; t++)
			copies[t] = (struct chain_copy){rank->tensor_stream[t], t * pitch, pitch};
		return UPDATE_TENSORS;
	}
	struct gpu_stream *const stream =
	    run->policy->chain == CHAIN_SERIAL || is_fetch ? rank->fetch_stream : rank->write_stream;
	copies[0] = (struct chain_copy){stream, 0, (is_split(run) ? 2 : UPDATE_TENSORS) * pitch};
	return 1;
}

static int slot_of(const struct update_run *run, size_t j)
{
	return (int)(j % (size_t)run->policy->buffers);
}

/* What the buffer set of y_j waits for: y_(j-B) written back and its parameters narrowed. */
static void wait_for_buffer(const struct update_run *run, size_t j, struct gpu_stream *stream)
{
	const size_t n_buffers = (size_t)run->policy->buffers;
	if (j < n_buffers)
		return;
	gpu_stream_wait(run->rank->gpu, stream, run->rank->narrowed[j - n_buffers]);
	gpu_stream_wait(run->rank->gpu, stream, run->rank->written[UPDATE_TENSORS * (j - n_buffers)]);
}

static void widen_gradients(const struct update_run *run, size_t x, int slot)
{
	const struct update_rank *const rank = run->rank;
	struct gpu *const gpu = rank->gpu;
	const size_t op =
	    update_trace_begin(run->trace, rank->rank, gpu, rank->compute_stream, LANE_GPU, "gradient cast", x);
	gpu_widen_bf16(gpu, rank->compute_stream, rank->dev_grads32[slot], rank->dev_grads16 + run->layout->pitch * x,
	    run->layout->subgroup_params);
	update_trace_end(run->trace, op, gpu, rank->compute_stream);
}

void update_chain_fetch(struct update_run *run, size_t j)
{
	struct update_rank *const rank = run->rank;
	struct gpu *const gpu = rank->gpu;
	const size_t x = run->gpu_subgroups[j], pitch = run->layout->pitch;
	const int slot = slot_of(run, j);
	struct chain_copy copies[UPDATE_TENSORS];
	const int n_copies = copies_of(copies, run, true);
	for (int i = 0; i < n_copies; i++) {
		struct gpu_stream *const stream = copies[i].stream;
		if (run->policy->chain != CHAIN_PUBLISHED || i == 0)
			wait_for_buffer(
			    run, j, stream); /* published: each tensor follows its own write-back on its stream */
		else if (j >= 1)
			gpu_stream_wait(gpu, stream, rank->narrowed[j - 1]);
		const size_t op = update_trace_begin(run->trace, rank->rank, gpu, stream, LANE_H2D, "fetch", x);
		gpu_h2d(gpu, stream, rank->dev_state[slot] + copies[i].offset,
		    update_state_of(rank, run->layout, x) + copies[i].offset, copies[i].n * sizeof(float));
		if (is_split(run))
			gpu_h2d(gpu, stream, rank->dev_lo[slot], rank->lo + pitch * x, 2 * pitch);
		update_trace_end(run->trace, op, gpu, stream);
		gpu_record(gpu, rank->fetched[UPDATE_TENSORS * j + (size_t)i], stream);
	}
	if (!is_split(run))
		widen_gradients(run, x, slot);
}

void update_chain_adam(struct update_run *run, size_t j)
{
	struct update_rank *const rank = run->rank;
	struct gpu *const gpu = rank->gpu;
	const size_t x = run->gpu_subgroups[j], pitch = run->layout->pitch;
	const int slot = slot_of(run, j), n_copies = run->policy->chain == CHAIN_PUBLISHED ? UPDATE_TENSORS : 1;
	for (int i = 0; i < n_copies; i++)
		gpu_stream_wait(gpu, rank->compute_stream, rank->fetched[UPDATE_TENSORS * j + (size_t)i]);
	float *const state = rank->dev_state[slot];
	struct adam_arrays arrays = {.m = state, .v = state + pitch, .step = run->step};
	arrays.step.inv_scale = run->scale; /* unscaling is part of the device's step in any case */
	const size_t op = update_trace_begin(run->trace, rank->rank, gpu, rank->compute_stream, LANE_GPU, "gpu adam", x);
	if (is_split(run)) {
		arrays.hi = rank->dev_half + pitch * x;
		arrays.lo = rank->dev_lo[slot];
		arrays.g = rank->dev_grads16 + pitch * x;
		gpu_adam_split(gpu, rank->compute_stream, &arrays, run->layout->subgroup_params);
	} else {
		arrays.p = state + 2 * pitch;
		arrays.g = rank->dev_grads32[slot];
		gpu_adam(gpu, rank->compute_stream, &arrays, run->layout->subgroup_params);
	}
	update_trace_end(run->trace, op, gpu, rank->compute_stream);
	gpu_record(gpu, rank->updated[j], rank->compute_stream);
}

static void narrow_parameters(const struct update_run *run, size_t x, int slot)
{
	const struct update_rank *const rank = run->rank;
	struct gpu *const gpu = rank->gpu;
	const size_t pitch = run->layout->pitch;
	const size_t op =
	    update_trace_begin(run->trace, rank->rank, gpu, rank->compute_stream, LANE_GPU, "parameter cast", x);
	gpu_narrow_bf16(gpu, rank->compute_stream, rank->dev_half + pitch * x, rank->dev_state[slot] + 2 * pitch,
	    run->layout->subgroup_params);
	update_trace_end(run->trace, op, gpu, rank->compute_stream);
}

void update_chain_write(struct update_run *run, size_t j)
{
	struct update_rank *const rank = run->rank;
	struct gpu *const gpu = rank->gpu;
	const size_t x = run->gpu_subgroups[j], pitch = run->layout->pitch;
	const int slot = slot_of(run, j);
	if (!is_split(run))
		narrow_parameters(run, x, slot);
	gpu_record(gpu, rank->narrowed[j], rank->compute_stream);
	struct chain_copy copies[UPDATE_TENSORS];
	const int n_copies = copies_of(copies, run, false);
	for (int i = 0; i < n_copies; i++) {
		struct gpu_stream *const stream = copies[i].stream;
		gpu_stream_wait(gpu, stream, rank->updated[j]);
		const size_t op = update_trace_begin(run->trace, rank->rank, gpu, stream, LANE_D2H, "write-back", x);
		gpu_d2h(gpu, stream, update_state_of(rank, run->layout, x) + copies[i].offset,
		    rank->dev_state[slot] + copies[i].offset, copies[i].n * sizeof(float));
		if (is_split(run))
			gpu_d2h(gpu, stream, rank->lo + pitch * x, rank->dev_lo[slot], 2 * pitch);
		update_trace_end(run->trace, op, gpu, stream);
		gpu_record(gpu, rank->written[UPDATE_TENSORS * j + (size_t)i], stream);
	}
	run->n_written = j + 1;
}

void update_chain_wait_fetch(struct update_run *run, size_t j)
{
	const int n_copies = run->policy->chain == CHAIN_PUBLISHED ? UPDATE_TENSORS : 1;
	for (int i = 0; i < n_copies; i++)
		gpu_wait(run->rank->gpu, run->rank->fetched[UPDATE_TENSORS * j + (size_t)i]);
}

void update_chain_wait_written(struct update_run *run)
{
	struct update_rank *const rank = run->rank;
	const int n_copies = run->policy->chain == CHAIN_PUBLISHED ? UPDATE_TENSORS : 1;
	for (int i = 0; i < n_copies && run->n_written > 0; i++)
		gpu_wait(rank->gpu, rank->written[UPDATE_TENSORS * (run->n_written - 1) + (size_t)i]);
	gpu_record(rank->gpu, rank->compute_event, rank->compute_stream);
	gpu_wait(rank->gpu, rank->compute_event);
}

void update_chain_resident(struct update_run *run, size_t x)
{
	struct update_rank *const rank = run->rank;
	const size_t pitch = run->layout->pitch;
	float *const state = update_resident_of(rank, run->layout, run->policy, x);
	widen_gradients(run, x, 0);
	struct adam_arrays arrays = {.m = state,
	    .v = state + pitch,
	    .p = state + 2 * pitch,
	    .g = rank->dev_grads32[0],
	    .out = rank->dev_half + pitch * x};
	arrays.step = run->step;
	arrays.step.inv_scale = run->scale;
	const size_t op =
	    update_trace_begin(run->trace, rank->rank, rank->gpu, rank->compute_stream, LANE_GPU, "gpu adam", x);
	gpu_adam(rank->gpu, rank->compute_stream, &arrays, run->layout->subgroup_params);
	update_trace_end(run->trace, op, rank->gpu, rank->compute_stream);
}
