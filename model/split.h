/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * split: how a model is split over the ranks of a run: tensor parallelism divides its matrices, ZeRO partitions what is left
 * over the data-parallel ranks. MODEL.md E26-E29.
 *
 * Of a batch: gpus are the ranks of a node (memory, DRAM, cores, links); batch_dp (workload.h) counts those that train different
 * sequences and share one partition. A batch that was not filled has 0 for what is not given; these functions say what that stands for.
 */
#ifndef MODEL_SPLIT_H
#define MODEL_SPLIT_H

#include "model/workload.h"

double batch_tp(const struct batch *batch); /* 1 when not given */
int batch_zero_stage(const struct batch *batch); /* 3 when not given */
/* Stage 3 without tensor parallelism: what a batch is when nobody says. */
bool batch_is_plain(const struct batch *batch);
/* " ZeRO-2, tensor parallel 4" for people, "" when it is plain; ", " in front. */
const char *batch_parallel_text(const struct batch *batch, struct arena *arena);

/* What a table of runs calls a model of such a batch, the model itself when it is plain: "20b:zero=2,tp=4". */
const char *batch_model_name(const char *model, const struct batch *batch, struct arena *arena);

/* STATUS_USAGE, naming the flag: tp that does not divide gpus, heads, kv_heads, ffn or vocab, and tp of a mixture of experts. The
 * shape is not read for an update alone. */
int split_check(const struct shape *shape, const struct batch *batch, struct err *err) MUST_CHECK;

/* Bytes that a rank receives [bytes]; 0 where nothing is sent.
 * To gather n_params 16-bit parameters before a layer's forward or backward: stage 3 alone. E26 */
double split_gather_bytes(const struct workload *workload, double n_params);
/* After the update, all 16-bit parameters of a tensor-parallel rank: stages 1 and 2, 0 for an update alone. E26 */
double split_update_gather_bytes(const struct workload *workload);
/* One all-reduce of a micro-batch's activations, hidden wide, over the tensor-parallel ranks. E28 */
double split_reduce_bytes(const struct workload *workload);

#endif
