/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/iteration.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/split.h"

const char *const sync_names[] = {"phase", "all", NULL};

static const double reduce_bucket_params = 5e8; /* DeepSpeed's default reduce_bucket_size */

/* Gradient buckets in the order of backward; the same for every micro-batch. */
struct buckets {
	struct bucket *list;
	int *layer; /* layer whose backward completes it; TENSOR_NO_LAYER before any layer: the head */
	size_t n;
};

/* Of one layer, and of the head. backward_s holds the recomputation. */
struct layer_times {
	double forward_s, backward_s, head_forward_s, head_backward_s;
	double forward_launch_s, backward_launch_s;
};

struct pass {
	struct build b;
	const struct iteration_plan *plan;
	struct layer_times times;
	struct buckets buckets;
	size_t iteration;
	op_id tp_last; /* newest tensor-parallel collective: the default stream waits for it */
	double kept_grad_bytes; /* gradients that stay on the GPU until backward ends: stage 1 */
};

static void bucket_add(struct bucket *bucket, const struct tensor *tensor, enum place place)
{
	bucket->params += tensor->n_params;
	bucket->rank_params += tensor->rank_params;
	bucket->cpu_params += place == PLACE_CPU ? tensor->rank_params : 0;
	bucket->streamed_params += place == PLACE_STREAMED ? tensor->rank_params : 0;
	bucket->gpu_params += place == PLACE_GPU ? tensor->rank_params : 0;
}

/* Tensors from last to first; a bucket closes before the tensor that would overfill it. E7 */
static void list_buckets(struct buckets *buckets, const struct iteration_plan *plan, struct arena *arena)
{
	const struct workload *const w = plan->workload;
	const struct policy *const policy = plan->use->policy;
	const double bucket_params = policy->flushes_tensors && policy->flushes_tensors(plan->use->params) ? 0 : reduce_bucket_params;
	const size_t most = w->n_tensors + 1;
	buckets->list = arena_zalloc(arena, most, sizeof *buckets->list);
	buckets->layer = arena_alloc(arena, most, sizeof *buckets->layer);
	buckets->n = 0;
	struct bucket *open = NULL;
	int layer = TENSOR_NO_LAYER;
	for (size_t i = w->n_tensors; i-- > 0;) {
		const struct tensor *const tensor = &w->tensors[i];
		if (!open || open->params + tensor->n_params > bucket_params) {
			open = &buckets->list[buckets->n];
			open->index = buckets->n++;
		}
		if (tensor->layer != TENSOR_NO_LAYER)
			layer = tensor->layer;
		bucket_add(open, tensor, plan->places[tensor->subgroup]);
		buckets->layer[open->index] = layer;
	}
}

static struct layer_times times_from_cost(const struct cost *cost, bool has_ckpt)
{
	const struct hwprofile *const hw = cost->hw;
	return (struct layer_times){.forward_s = cost->layer_forward_s,
	    .backward_s = cost->layer_backward_s + (has_ckpt ? cost->layer_forward_s : 0),
	    .head_forward_s = cost->head_forward_s, .head_backward_s = cost->head_backward_s,
	    .forward_launch_s = hw->layer_forward_launch_s,
	    .backward_launch_s = hw->layer_backward_launch_s + (has_ckpt ? hw->layer_forward_launch_s : 0)};
}

static struct layer_times times_from_record(const struct recorded_passes *recorded, double n_layers)
{
	return (struct layer_times){.forward_s = recorded->forward_s / n_layers, .backward_s = recorded->backward_s / n_layers,
	    .forward_launch_s = recorded->forward_launch_s / n_layers, .backward_launch_s = recorded->backward_launch_s / n_layers};
}

static double activation_bytes(const struct workload *w, const struct hwprofile *hw)
{
	const struct shape *const s = &w->shape;
	const double tokens = w->batch.mbs * w->batch.seq;
	const double tp = batch_tp(&w->batch), heads = s->heads / tp;
	const double q = heads * s->head_dim, kv = s->kv_heads / tp * s->head_dim;
	const double n_up = s->arch == ARCH_LLAMA ? 2 : 1;
	const double scores = w->batch.mbs * heads * w->batch.seq * w->batch.seq;
	const double score_bytes = hw->softmax_bytes_per_score > 0 ? 4 * scores : 0; /* two 16-bit copies, unfused */
	return 2 * tokens * (4 * s->hidden + q + 2 * kv + (n_up + 1) * s->ffn / tp) + score_bytes; /* E29 */
}

/* fp32 logits and a 16-bit copy; tensor parallelism divides the vocabulary. */
static double logit_bytes(const struct workload *w)
{
	return 6 * w->batch.mbs * w->batch.seq * w->shape.vocab / batch_tp(&w->batch);
}

static op_id gather(struct build *b, double n_params)
{
	const struct batch *const batch = &b->workload->batch;
	if (batch_zero_stage(batch) < 3 || batch_dp(batch) <= 1)
		return NO_OP;
	return build_enqueue(b, OP_GATHER, split_gather_bytes(b->workload, n_params), NO_OP, NO_OP);
}

static op_id compute(struct pass *p, double alone_s, op_id gathered)
{
	struct build *const b = &p->b;
	b->compute_last = build_enqueue(b, OP_COMPUTE, alone_s, b->compute_last, gathered);
	if (p->tp_last != NO_OP)
		schedule_dep(b->schedule, p->tp_last);
	return b->compute_last;
}

/* n all-reduces of the activations that the newest compute made; the next compute waits for them. E28 */
static void tp_reduce(struct pass *p, double n)
{
	struct build *const b = &p->b;
	if (batch_tp(&b->workload->batch) > 1)
		p->tp_last = build_enqueue(b, OP_TP_REDUCE, n * split_reduce_bytes(b->workload), b->compute_last, p->tp_last);
}

static void hold(struct build *b, op_id op, bool at_end, enum mem mem, double bytes)
{
	schedule_mem(b->schedule, op, at_end, POOL_GPU, mem, bytes);
}

/* A layer's GPU work is enqueued when its launch begins and cannot end before it ends: the next layer's comes after its launch. */
static void forward(struct pass *p)
{
	struct build *const b = &p->b;
	const struct workload *const w = b->workload;
	const struct cost *const cost = b->schedule->cost;
	const int n_layers = (int)w->shape.layers;
	const double kept_bytes = w->batch.has_checkpointing ? 2 * w->batch.mbs * w->batch.seq * w->shape.hidden
							     : activation_bytes(w, cost->hw);
	const double layer_params = workload_layer_params(w, 0);
	op_id gathered = gather(b, layer_params);
	tp_reduce(p, 1); /* of the embedding */
	for (int layer = 0; layer < n_layers; layer++) {
		hold(b, compute(p, p->times.forward_s, gathered), false, MEM_ACTIVATIONS, kept_bytes);
		tp_reduce(p, 2);
		gathered = gather(b, layer + 1 < n_layers ? layer_params : w->shape.vocab * w->shape.hidden / batch_tp(&w->batch));
		build_main(b, OP_LAUNCH, p->times.forward_launch_s);
	}
	compute(p, p->times.head_forward_s, gathered);
	hold(b, b->compute_last, false, MEM_ACTIVATIONS, logit_bytes(w));
}

static void flush_buckets(struct pass *p, int layer, double micro_batch, size_t *next)
{
	struct build *const b = &p->b;
	const struct policy_use *const use = p->plan->use;
	const bool is_stage1 = batch_zero_stage(&b->workload->batch) == 1; /* adds up on the GPU, and reduces once */
	const bool is_last = micro_batch + 1 == b->workload->batch.grad_accum;
	for (; *next < p->buckets.n && p->buckets.layer[*next] == layer; ++*next) {
		struct bucket bucket = p->buckets.list[*next];
		bucket.compute = b->compute_last;
		bucket.is_first_micro_batch = is_stage1 || micro_batch == 0;
		bucket.is_last_micro_batch = is_last;
		if (is_last || !is_stage1)
			use->policy->flush(b, use->params, &bucket);
	}
}

/* Stage 1: every rank keeps all gradients, from the first micro-batch that has them until they are reduced. */
static void keep_gradients(struct pass *p, int layer, double micro_batch)
{
	struct build *const b = &p->b;
	if (batch_zero_stage(&b->workload->batch) != 1 || micro_batch > 0)
		return;
	const double bytes = 2 * workload_layer_params(b->workload, layer);
	hold(b, b->compute_last, false, MEM_GRADS, bytes);
	p->kept_grad_bytes += bytes;
}

static void drop_gradients(struct pass *p)
{
	if (p->kept_grad_bytes > 0)
		hold(&p->b, p->b.main_last, true, MEM_GRADS, -p->kept_grad_bytes);
	p->kept_grad_bytes = 0;
}

static void backward(struct pass *p, double micro_batch)
{
	struct build *const b = &p->b;
	const struct workload *const w = b->workload;
	const struct cost *const cost = b->schedule->cost;
	const bool has_ckpt = w->batch.has_checkpointing;
	const double all_bytes = activation_bytes(w, cost->hw), layer_params = workload_layer_params(w, 0);
	const double kept_bytes = has_ckpt ? 2 * w->batch.mbs * w->batch.seq * w->shape.hidden : all_bytes;
	const double working_bytes = (has_ckpt ? all_bytes : 0) + 2 * layer_params; /* recomputed, and the layer's gradients */
	size_t next = 0;
	op_id gathered = gather(b, layer_params);
	compute(p, p->times.head_backward_s, NO_OP);
	hold(b, b->compute_last, true, MEM_ACTIVATIONS, -logit_bytes(w));
	keep_gradients(p, TENSOR_NO_LAYER, micro_batch);
	tp_reduce(p, 1); /* of the head */
	flush_buckets(p, TENSOR_NO_LAYER, micro_batch, &next);
	for (int layer = (int)w->shape.layers - 1; layer >= 0; layer--) {
		const op_id op = compute(p, p->times.backward_s, gathered);
		hold(b, op, false, MEM_ACTIVATIONS, working_bytes);
		hold(b, op, true, MEM_ACTIVATIONS, -working_bytes - kept_bytes);
		keep_gradients(p, layer, micro_batch);
		tp_reduce(p, has_ckpt ? 4 : 2); /* recomputing repeats those of forward */
		gathered = layer > 0 ? gather(b, layer_params) : NO_OP;
		build_main(b, OP_LAUNCH, p->times.backward_launch_s);
		flush_buckets(p, layer, micro_batch, &next);
	}
}

/* Ends a phase: MAIN waits as DeepSpeed's timers do, or for everything. */
static void end_phase(struct pass *p, enum phase phase)
{
	struct build *const b = &p->b;
	if (p->plan->sync == SYNC_ALL) {
		build_wait_all(b);
	} else if (phase == PHASE_FORWARD || phase == PHASE_BACKWARD) {
		build_wait(b, b->compute_last);
		build_wait(b, p->tp_last);
		if (phase == PHASE_BACKWARD)
			build_wait(b, b->reduce_last);
	}
	if (b->main_last == NO_OP)
		build_main(b, OP_SYNC, 0);
	if (b->schedule->rank == 0)
		b->schedule->marks[p->iteration * PHASE_N + phase] = b->main_last;
	b->schedule->phase = (uint8_t)((phase + 1) % PHASE_N);
}

/* Overflow check (fp16), cache, norms and the small all-reduces before the first update. */
static void start_step(struct build *b)
{
	const struct hwprofile *const hw = b->schedule->cost->hw;
	if (b->workload->is_update_only)
		return;
	if (b->workload->batch.precision == PRECISION_FP16)
		build_wait(b, build_enqueue(b, OP_GPU_NORM, b->workload->rank_params, NO_OP, NO_OP));
	const double host_s = hw->step_fixed_s + hw->step_subgroup_s * (double)b->workload->n_subgroups;
	if (host_s > 0)
		build_main(b, OP_HOST, host_s);
}

/* Stages 1 and 2: every rank has all parameters, so the updated parts go to all, and MAIN waits. E26 */
static void gather_updated(struct build *b)
{
	const double bytes = split_update_gather_bytes(b->workload);
	if (bytes > 0)
		build_wait(b, build_enqueue(b, OP_GATHER, bytes, b->push_last, NO_OP));
}

static void one_iteration(struct pass *p)
{
	struct build *const b = &p->b;
	const struct policy_use *const use = p->plan->use;
	const bool has_passes = !b->workload->is_update_only;
	const double n_micro = has_passes ? b->workload->batch.grad_accum : 0;
	/* forward and backward alternate; the timers add up each, so earlier micro-batches are booked where they run */
	for (double m = 0; m < n_micro; m++) {
		b->schedule->phase = PHASE_FORWARD;
		forward(p);
		end_phase(p, PHASE_FORWARD);
		if (m + 1 == n_micro && use->policy->backward)
			use->policy->backward(b, use->params);
		backward(p, m);
		end_phase(p, PHASE_BACKWARD);
	}
	if (!has_passes) {
		end_phase(p, PHASE_FORWARD);
		end_phase(p, PHASE_BACKWARD);
	}
	drop_gradients(p);
	start_step(b);
	use->policy->update(b, use->params);
	gather_updated(b);
	b->policy_state = NULL;
	end_phase(p, PHASE_UPDATE);
	if (b->workload->is_update_only)
		build_wait_all(b); /* measured alone: what spilled ends before the next */
	else if (b->schedule->cost->hw->other_s > 0)
		build_main(b, OP_HOST, b->schedule->cost->hw->other_s);
	end_phase(p, PHASE_OTHER);
}

/* What is held from start to end whatever the policy. */
static void hold_common(struct build *b)
{
	const struct workload *const w = b->workload;
	const struct hwprofile *const hw = b->schedule->cost->hw;
	double *const gpu = b->schedule->resident_bytes[POOL_GPU];
	const bool is_partitioned = batch_zero_stage(&w->batch) == 3;
	gpu[MEM_PARAMS] += 2 * (is_partitioned ? w->rank_params : w->tp_params); /* E27 */
	gpu[MEM_RESERVED] += hw->gpu_reserved_bytes;
	b->schedule->resident_bytes[POOL_HOST][MEM_RESERVED] += hw->host_reserved_bytes / w->batch.gpus;
	if (w->is_update_only)
		return;
	gpu[MEM_BUCKETS] += 2 * fmin(reduce_bucket_params, w->tp_params);
	if (is_partitioned && batch_dp(&w->batch) > 1)
		gpu[MEM_GATHERED] += 2 * fmin(hw->live_params, w->tp_params);
}

void iteration_hold(struct schedule *schedule, const struct workload *workload, const struct policy_use *use, const enum place *places)
{
	struct build b = {.schedule = schedule, .workload = workload, .places = places};
	hold_common(&b);
	use->policy->memory(&b, use->params);
}

void iteration_build(struct schedule *schedule, const struct iteration_plan *plan)
{
	struct pass pass = {.plan = plan};
	if (plan->recorded)
		pass.times = times_from_record(plan->recorded, plan->workload->shape.layers);
	else
		pass.times = times_from_cost(schedule->cost, plan->workload->batch.has_checkpointing);
	assert(plan->n_iterations > 0 && plan->n_iterations <= UINT8_MAX + 1); /* as op.iteration counts them */
	schedule->n_iterations = plan->n_iterations;
	schedule->n_ranks = plan->n_ranks;
	schedule->marks = arena_alloc(schedule->arena, plan->n_iterations * PHASE_N, sizeof *schedule->marks);
	if (!plan->workload->is_update_only)
		list_buckets(&pass.buckets, plan, schedule->arena);
	for (size_t rank = 0; rank < plan->n_ranks; rank++) {
		pass.b = (struct build){.schedule = schedule, .workload = plan->workload, .places = plan->places,
		    .main_last = NO_OP, .worker_last = NO_OP, .push_last = NO_OP, .reduce_last = NO_OP, .compute_last = NO_OP};
		pass.tp_last = NO_OP;
		schedule->rank = (uint16_t)rank;
		schedule->phase = PHASE_FORWARD;
		if (rank == 0)
			iteration_hold(schedule, plan->workload, plan->use, plan->places);
		for (pass.iteration = 0; pass.iteration < plan->n_iterations; pass.iteration++) {
			schedule->iteration = (uint8_t)pass.iteration;
			one_iteration(&pass);
		}
	}
}
