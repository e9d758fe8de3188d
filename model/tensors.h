/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tensors: the parameters of a shape, tensor by tensor, in the order in which a model registers them: embedding, layers, end.
 *
 * Tensor parallelism as in Megatron-LM (arXiv 1909.08053, section 3): matrices, their biases at the divided side and the embedding
 * are divided; norms, positions and the other biases are on every rank. E27
 *
 * Invariant: making a list twice gives the same; with tensors NULL it is only counted. The shape is complete (workload.h says
 * what 0 stands for).
 */
#ifndef MODEL_TENSORS_H
#define MODEL_TENSORS_H

#include "model/workload.h"

struct tensor_list {
	struct tensor *tensors; /* borrowed, room for all; NULL: count only */
	size_t n;
	double n_params; /* of the whole model */
	double tp_params; /* of one tensor-parallel rank */
	double dp, tp; /* a rank's share is 1/dp of a tensor-parallel rank's part, rounded up */
};

double tensors_head_dim(const struct shape *shape);
bool tensors_is_moe_layer(const struct shape *shape, int layer);
double tensors_moe_layers(const struct shape *shape); /* how many layers have experts */

/* Append. `layer` is what the tensors say. */
void tensors_start(struct tensor_list *list, const struct shape *shape);
void tensors_dense_layer(struct tensor_list *list, const struct shape *shape, int layer);
void tensors_moe_layer(struct tensor_list *list, const struct shape *shape, int layer);
void tensors_end(struct tensor_list *list, const struct shape *shape);
/* All layers; the list is not only counted. */
void tensors_layers(struct tensor_list *list, const struct shape *shape);

#endif
