/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * update_rank: what one rank of `dos-probe update` owns: a GPU, its CPUs, one pinned allocation, device buffers, streams.
 *
 * Invariant: after update_rank_reset the state, the gradients and the poisoned 16-bit parameters depend only on rank, layout and
 * position, so that update_rank_verify can make the all-CPU reference of any block without a second copy of the model.
 * A tensor of a subgroup starts at a multiple of 64 elements; the state of a subgroup is momentum, variance, parameters.
 * With downscale=split the parameters of a subgroup that is not resident are halves (kernels.h): lo in `lo`, hi in dev_half
 * and, where the CPU updates it, in `stage`; those of the state keep what they were.
 */
#ifndef PROBE_UPDATE_RANK_H
#define PROBE_UPDATE_RANK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/base/err.h"
#include "probe/cuda/cuda_cases.h"
#include "probe/kernels.h"
#include "probe/topology.h"
#include "probe/update_policy.h"

enum { UPDATE_BUFFERS_MAX = 4, UPDATE_TENSORS = 3 };

/* n subgroups of S parameters; `pitch` is S rounded up to whole grains. */
struct update_layout {
	size_t subgroup_params, n_subgroups, pitch;
};
struct update_layout update_layout_of(size_t subgroup_params, size_t n_subgroups);

/* What the largest of the points to come needs. */
struct update_needs {
	size_t elements; /* n_subgroups pitch */
	size_t pitch, n_subgroups, n_resident_elements;
	int buffers;
	bool grads_fp32, split;
};

struct update_rank {
	int rank;
	struct gpu *gpu;
	int cpus[TOPOLOGY_CPUS_MAX], n_cpus;
	const struct kernel_set *kernels;
	struct update_needs needs;
	/* host, pinned, one mapping */
	void *host;
	size_t host_bytes;
	float *state, *grads32; /* grads32 NULL where no point uses fp32 gradients */
	uint16_t *grads16, *stage, *lo; /* lo NULL where no point is split */
	/* device */
	float *dev_state[UPDATE_BUFFERS_MAX], *dev_grads32[UPDATE_BUFFERS_MAX], *dev_resident;
	uint16_t *dev_lo[UPDATE_BUFFERS_MAX];
	uint16_t *dev_grads16, *dev_half;
	struct gpu_stream *tensor_stream[UPDATE_TENSORS], *fetch_stream, *write_stream, *compute_stream, *push_stream;
	struct gpu_event **fetched, **written; /* [UPDATE_TENSORS * subgroup] */
	struct gpu_event **updated, **narrowed; /* [subgroup] */
	struct gpu_event *push_event, *compute_event;
	pthread_mutex_t push_mutex; /* the push stream is used by MAIN and by the worker */
	size_t n_pushed;
	/* the layout whose gradients are in place; in grads32 only while nobody unscaled them */
	struct update_layout grads_layout;
	bool grads32_fresh;
	bool halves_made; /* stage and lo of that layout hold halves */
};

/* Allocates, touches and pins. STATUS_ENV. Call it in the rank's own thread. */
int update_rank_open(struct update_rank *rank, const struct topology *topology, int index, int n_ranks,
    const struct update_needs *needs, struct err *err) MUST_CHECK;
void update_rank_close(struct update_rank *rank);

struct update_check {
	size_t n_wrong; /* elements beyond the tolerance */
	size_t n_differing; /* elements that differ in a bit */
	double worst_relative; /* |got - want| / max(|want|, 1e-8) */
};

/* Initial state of a point; grads are made again only where they are not in place. */
void update_rank_reset(struct update_rank *rank, const struct update_layout *layout, const struct update_policy *policy);
/* Whether the last reset was for this layout, and made halves if the policy needs them. */
bool update_rank_holds(
    const struct update_rank *rank, const struct update_layout *layout, const struct update_policy *policy);
/* After one step with update_first_step: every state and 16-bit parameter against the all-CPU reference. */
void update_rank_verify(struct update_rank *rank, const struct update_layout *layout, const struct update_policy *policy,
    struct update_check *check);

/* The gradient scale of the verified first step and of the others (a power of two: exact in either place). */
#define UPDATE_FIRST_SCALE 0.5F

float *update_state_of(const struct update_rank *rank, const struct update_layout *layout, size_t x);
/* Place of resident subgroup x on the device. */
float *update_resident_of(
    const struct update_rank *rank, const struct update_layout *layout, const struct update_policy *policy, size_t x);

#endif
