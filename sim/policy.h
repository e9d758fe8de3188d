/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * policy: where the optimizer state of each subgroup lives, how gradients leave in backward and what the update does.
 *
 * One file a policy in sim/policy/, found by make; gpu_only.c is the template. A policy says what and after what; it
 * never sees seconds. MODEL.md "Schedules" describes each.
 */
#ifndef SIM_POLICY_H
#define SIM_POLICY_H

#include "model/base/opt.h"
#include "model/workload.h"
#include "sim/build.h"

struct policy {
	const char *name;
	const char *summary; /* one line */
	const char *source; /* paper, section; or code */
	const struct opt *opts; /* option table over the params struct */
	size_t n_opts;
	size_t params_size;
	/* Judges combinations of options only; NULL: all are good. STATUS_USAGE. Call policy_check. */
	int (*check)(const void *params, struct err *err);
	/* What it needs ZeRO-3 for with these options, and what would be accepted instead; its result or it NULL: runs at any stage. */
	const char *(*needs_zero3)(const void *params);
	/* What it needs bf16 for with these options, likewise; NULL: fp16 is as good. */
	const char *(*needs_bf16)(const void *params);
	/* Fills options that were not given and have no fixed default (stride_opt, workers of the profile). May be NULL. */
	void (*resolve)(void *params, const struct hwprofile *hw, const struct workload *workload, double threads);
	/* Where each subgroup's state lives and is updated. */
	void (*place)(enum place *places, const void *params, const struct workload *workload);
	/* Operations for one gradient bucket of one micro-batch, after its backward. */
	void (*flush)(struct build *b, const void *params, const struct bucket *bucket);
	/* True: each tensor is a bucket of its own. NULL: none is. */
	bool (*flushes_tensors)(const void *params);
	/* Operations that start with backward; NULL: none. */
	void (*backward)(struct build *b, const void *params);
	/* Operations of the step. */
	void (*update)(struct build *b, const void *params);
	/* What is held from start to end (schedule.resident_bytes), the states included. */
	void (*memory)(struct build *b, const void *params);
	/* threads of the downscale worker, 0: the policy has none */
	double (*workers)(const void *params);
};

extern const struct policy *const policy_all[]; /* sorted by name, NULL-terminated */
const struct policy *policy_find(const char *name);

int policy_check(const struct policy *policy, const void *params, struct err *err) MUST_CHECK;
/* Whether it runs at the ZeRO stage and in the 16-bit format of a batch. STATUS_USAGE, naming --zero or --precision. */
int policy_check_batch(const struct policy *policy, const void *params, const struct batch *batch, struct err *err) MUST_CHECK;

/* A policy with its options, as given on a command line. */
struct policy_use {
	const struct policy *policy;
	void *params;
};

/* Parses "name:k=v,..", checks it. STATUS_USAGE names the policy, the option and what is accepted. */
int policy_use_parse(struct policy_use *use, const char *spec, struct arena *arena, struct err *err) MUST_CHECK;
/* All options in fixed order; complete once resolved. */
char *policy_use_canonical(const struct policy_use *use, struct arena *arena);

#endif
