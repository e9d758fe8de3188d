/* SPDX-License-Identifier: GPL-3.0-or-later
 * Initial data of the update and its verification (update_rank.h). Values come from tables of random numbers, one offset a
 * block: as fast as a copy, and any block can be made again. */
#include <math.h>
#include <string.h>

#include "probe/team.h"
#include "probe/update_rank.h"

enum { BLOCK = 4096, TABLE = 1 << 16 };

enum { TABLE_M, TABLE_V, TABLE_P, TABLE_G, N_TABLES };

static float tables[N_TABLES][TABLE + BLOCK];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static uint64_t mix(uint64_t x) /* splitmix64 */
{
	x += 0x9e3779b97f4a7c15U;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
	x = (x ^ x >> 27) * 0x94d049bb133111ebU;
	return x ^ x >> 31;
}

static void make_tables(void)
{
	static const double scale[N_TABLES] = {1e-3, 1e-6, 2e-2, 1e-3};
	for (size_t t = 0; t < N_TABLES; t++) {
		for (size_t i = 0; i < TABLE + BLOCK; i++) {
			const double uniform = (double)(mix(t << 32 | i) >> 11) * 0x1p-53;
			tables[t][i] = (float)(scale[t] * (t == TABLE_V ? uniform : 2 * uniform - 1));
		}
	}
	for (size_t i = 0; i < TABLE + BLOCK; i++) /* so that fp32 and bf16 gradients are the same numbers */
		tables[TABLE_G][i] = float_of_bf16(bf16_of_float(tables[TABLE_G][i]));
}

struct data_job {
	struct update_rank *rank;
	const struct update_layout *layout;
	const struct update_policy *policy;
	bool fill_grads16, fill_grads32;
	struct update_check check;
	pthread_mutex_t mutex;
};

/* One block of one subgroup: `n` elements from `at`. */
struct block {
	size_t x, at, n;
	const float *table[N_TABLES];
};

static size_t blocks_per_subgroup(const struct update_layout *layout)
{
	return (layout->subgroup_params + BLOCK - 1) / BLOCK;
}

static struct block block_of(const struct data_job *job, size_t index)
{
	const size_t per_subgroup = blocks_per_subgroup(job->layout);
	struct block block = {.x = index / per_subgroup, .at = index % per_subgroup * BLOCK};
	const size_t left = job->layout->subgroup_params - block.at;
	block.n = left < BLOCK ? left : BLOCK;
	for (size_t t = 0; t < N_TABLES; t++)
		block.table[t] = tables[t] + mix((uint64_t)job->rank->rank << 48 | index << 2 | t) % TABLE;
	return block;
}

static void narrow_gradients(uint16_t *to, const float *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = bf16_of_float(from[i]);
}

static void fill_blocks(void *context, size_t begin, size_t end)
{
	const struct data_job *const job = context;
	const struct update_layout *const layout = job->layout;
	for (size_t index = begin; index < end; index++) {
		const struct block block = block_of(job, index);
		float *const state = update_state_of(job->rank, layout, block.x) + block.at;
		const size_t at = block.x * layout->pitch + block.at;
		for (size_t t = 0; t < UPDATE_TENSORS; t++)
			memcpy(state + t * layout->pitch, block.table[t], block.n * sizeof(float));
		if (job->fill_grads32)
			memcpy(job->rank->grads32 + at, block.table[TABLE_G], block.n * sizeof(float));
		if (job->fill_grads16)
			narrow_gradients(job->rank->grads16 + at, block.table[TABLE_G], block.n);
		memset(job->rank->stage + at, 0xff, block.n * sizeof(uint16_t)); /* poison: NaN */
	}
}

static void split_blocks(void *context, size_t begin, size_t end)
{
	const struct data_job *const job = context;
	for (size_t index = begin; index < end; index++) {
		const struct block block = block_of(job, index);
		const size_t at = block.x * job->layout->pitch + block.at;
		for (size_t i = 0; i < block.n; i++) {
			job->rank->stage[at + i] = split_hi(block.table[TABLE_P][i]);
			job->rank->lo[at + i] = split_lo(block.table[TABLE_P][i]);
		}
	}
}

static void run_blocks(struct data_job *job, void (*run)(void *, size_t, size_t))
{
	pthread_once(&tables_once, make_tables);
	struct team *const team = team_new(job->rank->n_cpus, job->rank->cpus);
	const struct team_work work = {run, job, blocks_per_subgroup(job->layout) * job->layout->n_subgroups, 1};
	team_run(team, &work);
	team_free(team);
}

static bool same_layout(const struct update_layout *a, const struct update_layout *b)
{
	return a->subgroup_params == b->subgroup_params && a->n_subgroups == b->n_subgroups;
}

bool update_rank_holds(
    const struct update_rank *rank, const struct update_layout *layout, const struct update_policy *policy)
{
	return same_layout(&rank->grads_layout, layout) && (policy->downscale != DOWNSCALE_SPLIT || rank->halves_made);
}

/* Poisons the device's 16-bit parameters, sends gradients and resident state. */
static void fill_device(
    struct update_rank *rank, const struct update_layout *layout, const struct update_policy *policy, bool send_grads)
{
	struct gpu *const gpu = rank->gpu;
	const size_t n = layout->pitch * layout->n_subgroups;
	gpu_h2d(gpu, rank->push_stream, rank->dev_half, rank->stage, 2 * n);
	if (send_grads)
		gpu_h2d(gpu, rank->push_stream, rank->dev_grads16, rank->grads16, 2 * n);
	for (size_t x = 0; x < layout->n_subgroups; x++)
		if (update_policy_place(policy, x, layout->n_subgroups) == PLACE_RESIDENT)
			gpu_h2d(gpu, rank->push_stream, update_resident_of(rank, layout, policy, x),
			    update_state_of(rank, layout, x), 12 * layout->pitch);
	gpu_wait_all(gpu);
}

/* After fill_device: the GPU holds hi of what it will update, and poison of what the CPU has to push. */
static void fill_halves(struct data_job *job)
{
	struct update_rank *const rank = job->rank;
	const struct update_layout *const layout = job->layout;
	run_blocks(job, split_blocks);
	for (size_t x = 0; x < layout->n_subgroups; x++)
		if (update_policy_place(job->policy, x, layout->n_subgroups) == PLACE_GPU)
			gpu_h2d(rank->gpu, rank->push_stream, rank->dev_half + layout->pitch * x,
			    rank->stage + layout->pitch * x, 2 * layout->pitch);
	gpu_wait_all(rank->gpu);
}

void update_rank_reset(struct update_rank *rank, const struct update_layout *layout, const struct update_policy *policy)
{
	const bool same = same_layout(&rank->grads_layout, layout), wants_fp32 = policy->grads == UPDATE_GRADS_FP32;
	struct data_job job = {.rank = rank,
	    .layout = layout,
	    .policy = policy,
	    .fill_grads16 = !same,
	    .fill_grads32 = wants_fp32 && !(same && rank->grads32_fresh)};
	run_blocks(&job, fill_blocks);
	if (wants_fp32)
		rank->grads32_fresh = policy->unscale == UNSCALE_FUSED;
	else if (!same)
		rank->grads32_fresh = false;
	rank->grads_layout = *layout;
	fill_device(rank, layout, policy, !same);
	rank->halves_made = policy->downscale == DOWNSCALE_SPLIT;
	if (rank->halves_made)
		fill_halves(&job);
}

/* The reference: the same step by the CPU kernel, on a copy of the block in cache. */
struct reference {
	_Alignas(64) float tensor[UPDATE_TENSORS][BLOCK];
	_Alignas(64) float grads[BLOCK];
};

static void make_reference(struct reference *reference, const struct data_job *job, const struct block *block)
{
	for (size_t t = 0; t < UPDATE_TENSORS; t++)
		memcpy(reference->tensor[t], block->table[t], block->n * sizeof(float));
	memcpy(reference->grads, block->table[TABLE_G], block->n * sizeof(float));
	const struct adam_arrays arrays = {.m = reference->tensor[TABLE_M],
	    .v = reference->tensor[TABLE_V],
	    .p = reference->tensor[TABLE_P],
	    .g = reference->grads,
	    .step = adam_step_of(1, UPDATE_FIRST_SCALE)};
	job->rank->kernels->adam[GRAD_FP32][0](&arrays, 0, block->n);
}

static void compare_tensor(struct update_check *check, const float *got, const float *want, size_t n, bool exact)
{
	if (memcmp(got, want, n * sizeof got[0]) == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const double error = fabs((double)got[i] - (double)want[i]);
		const double relative = error / fmax(fabs((double)want[i]), 1e-8);
		if (memcmp(&got[i], &want[i], sizeof got[i]) == 0)
			continue;
		check->n_differing++;
		check->n_wrong += exact || !(relative <= 1e-6);
		if (!(relative <= check->worst_relative))
			check->worst_relative = relative;
	}
}

/* The 16-bit copy must be exactly the final parameters, rounded. */
static void compare_half(struct update_check *check, const uint16_t *got, const float *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check->n_wrong += got[i] != bf16_of_float(p[i]);
}

/* The halves in `stage` and `lo` must be exactly the final parameters. */
static void compare_halves(
    struct update_check *check, const struct data_job *job, const struct block *block, const struct reference *reference)
{
	const size_t at = block->x * job->layout->pitch + block->at;
	float joined[BLOCK];
	for (size_t i = 0; i < block->n; i++)
		joined[i] = split_join(job->rank->stage[at + i], job->rank->lo[at + i]);
	compare_tensor(check, joined, reference->tensor[TABLE_P], block->n, true);
}

static void add_check(struct data_job *job, const struct update_check *check)
{
	pthread_mutex_lock(&job->mutex);
	job->check.n_wrong += check->n_wrong;
	job->check.n_differing += check->n_differing;
	if (!(check->worst_relative <= job->check.worst_relative))
		job->check.worst_relative = check->worst_relative;
	pthread_mutex_unlock(&job->mutex);
}

static enum update_place place_of(const struct data_job *job, const struct block *block)
{
	return update_policy_place(job->policy, block->x, job->layout->n_subgroups);
}

/* What the CPU left in `stage`, before the device's copy of it comes there. */
static void verify_staged(void *context, size_t begin, size_t end)
{
	struct data_job *const job = context;
	struct update_check check = {0};
	struct reference reference;
	for (size_t index = begin; index < end; index++) {
		const struct block block = block_of(job, index);
		if (place_of(job, &block) != PLACE_CPU)
			continue;
		make_reference(&reference, job, &block);
		compare_halves(&check, job, &block, &reference);
	}
	add_check(job, &check);
}

static void verify_blocks(void *context, size_t begin, size_t end)
{
	struct data_job *const job = context;
	const size_t pitch = job->layout->pitch;
	struct update_check check = {0};
	struct reference reference;
	for (size_t index = begin; index < end; index++) {
		const struct block block = block_of(job, index);
		const float *const state = update_state_of(job->rank, job->layout, block.x) + block.at;
		const float *const p = state + TABLE_P * pitch;
		const enum update_place place = place_of(job, &block);
		const bool split = job->policy->downscale == DOWNSCALE_SPLIT && place != PLACE_RESIDENT;
		const bool exact = split || place == PLACE_CPU;
		make_reference(&reference, job, &block);
		for (size_t t = TABLE_M; t <= TABLE_V; t++)
			compare_tensor(&check, state + t * pitch, reference.tensor[t], block.n, exact);
		if (split) {
			compare_halves(&check, job, &block, &reference);
			compare_tensor(&check, p, block.table[TABLE_P], block.n, true); /* not touched */
		} else {
			compare_tensor(&check, p, reference.tensor[TABLE_P], block.n, exact);
			compare_half(&check, job->rank->stage + block.x * pitch + block.at, p, block.n);
		}
	}
	add_check(job, &check);
}

void update_rank_verify(struct update_rank *rank, const struct update_layout *layout, const struct update_policy *policy,
    struct update_check *check)
{
	struct gpu *const gpu = rank->gpu;
	struct data_job job = {.rank = rank, .layout = layout, .policy = policy};
	pthread_mutex_init(&job.mutex, NULL);
	if (policy->downscale == DOWNSCALE_SPLIT)
		run_blocks(&job, verify_staged);
	gpu_d2h(gpu, rank->push_stream, rank->stage, rank->dev_half, 2 * layout->pitch * layout->n_subgroups);
	for (size_t x = 0; x < layout->n_subgroups; x++) {
		const enum update_place place = update_policy_place(policy, x, layout->n_subgroups);
		if (place == PLACE_RESIDENT) {
			gpu_d2h(gpu, rank->push_stream, update_state_of(rank, layout, x),
			    update_resident_of(rank, layout, policy, x), 12 * layout->pitch);
		}
	}
	gpu_wait_all(gpu);
	run_blocks(&job, verify_blocks);
	pthread_mutex_destroy(&job.mutex);
	*check = job.check;
}
