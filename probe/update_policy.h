/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * update_policy: a SPEC of `dos` or `hybrid`, read by the same grammar and option order as the simulator's policies.
 *
 * Invariant: a policy that update_policy_parse accepted names a schedule of model/MODEL.md completely: `canonical` holds all its
 * options.
 */
#ifndef PROBE_UPDATE_POLICY_H
#define PROBE_UPDATE_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/base/arena.h"
#include "model/base/err.h"
#include "model/base/opt.h"

enum update_kind { UPDATE_DOS, UPDATE_HYBRID };
enum update_chain { CHAIN_PUBLISHED, CHAIN_SERIAL, CHAIN_DUPLEX };
enum update_downscale { DOWNSCALE_BATCH, DOWNSCALE_EAGER, DOWNSCALE_FUSED, DOWNSCALE_SPLIT };
enum update_grads { UPDATE_GRADS_FP32, UPDATE_GRADS_BF16 };
enum update_unscale { UNSCALE_SEPARATE, UNSCALE_FUSED };
enum update_prefetch { PREFETCH_STEP, PREFETCH_BACKWARD };

struct update_policy {
	enum update_kind kind;
	long long stride; /* dos: 0 none on the GPU, else >= 1 */
	double fraction; /* hybrid, unless mask is given */
	const char *mask; /* hybrid: "0110", repeated */
	bool has_stride, has_fraction, has_mask, has_buffers, has_unscale;
	int chain, downscale, grads, unscale, flush, prefetch; /* enums above; flush acts in backward only */
	long long buffers; /* sets of device buffers, 1..4 */
	long long workers; /* threads of the downscale worker */
	double ratio; /* dos: share of the subgroups that do not live on the GPU for ever */
	const char *canonical;
};

/* STATUS_USAGE with what would be accepted. */
int update_policy_parse(struct update_policy *policy, const char *spec, struct arena *arena, struct err *err) MUST_CHECK;

/* Whether a worker makes the 16-bit parameters; fused and split (kernels.h), Adam itself leaves them. */
bool update_policy_has_worker(const struct update_policy *policy);

enum update_place { PLACE_CPU, PLACE_GPU, PLACE_RESIDENT };
/* Where subgroup x of n is updated (resident: lives on the GPU). */
enum update_place update_policy_place(const struct update_policy *policy, size_t x, size_t n);

#endif
