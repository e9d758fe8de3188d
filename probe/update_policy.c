/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/update_policy.h"

#include <math.h>
#include <string.h>

#define AT(member) offsetof(struct update_policy, member)
#define N_OPTS(table) (sizeof(table) / sizeof((table)[0]))

static const char *const chain_words[] = {"published", "serial", "duplex", NULL};
static const char *const downscale_words[] = {"batch", "eager", "fused", "split", NULL};
static const char *const grads_words[] = {"fp32", "bf16", NULL};
static const char *const unscale_words[] = {"separate", "fused", NULL};
static const char *const flush_words[] = {"blocking", "async", NULL};
static const char *const prefetch_words[] = {"step", "backward", NULL};

enum { BUFFERS_MAX = 4, WORKERS_MAX = 4096, STRIDE_MAX = 1000000 };

/* The order of model/MODEL.md; it is the order of the canonical form. */
static const struct opt dos_opts[] = {
    {.name = "stride", .kind = OPT_INT, .offset = AT(stride), .max = STRIDE_MAX, .given_offset = AT(has_stride)},
    {.name = "chain", .kind = OPT_WORD, .offset = AT(chain), .words = chain_words, .fallback = "published"},
    {.name = "buffers",
	.kind = OPT_INT,
	.offset = AT(buffers),
	.min = 1,
	.max = BUFFERS_MAX,
	.given_offset = AT(has_buffers)},
    {.name = "downscale", .kind = OPT_WORD, .offset = AT(downscale), .words = downscale_words, .fallback = "batch"},
    {.name = "workers", .kind = OPT_INT, .offset = AT(workers), .min = 1, .max = WORKERS_MAX, .fallback = "1"},
    {.name = "grads", .kind = OPT_WORD, .offset = AT(grads), .words = grads_words, .fallback = "fp32"},
    {.name = "unscale", .kind = OPT_WORD, .offset = AT(unscale), .words = unscale_words, .given_offset = AT(has_unscale)},
    {.name = "flush", .kind = OPT_WORD, .offset = AT(flush), .words = flush_words, .fallback = "async"},
    {.name = "ratio", .kind = OPT_NUMBER, .unit = UNIT_FRAC, .offset = AT(ratio), .max = 1, .fallback = "1"},
};

static const struct opt hybrid_opts[] = {
    {.name = "fraction",
	.kind = OPT_NUMBER,
	.unit = UNIT_FRAC,
	.offset = AT(fraction),
	.max = 1,
	.given_offset = AT(has_fraction)},
    {.name = "mask", .kind = OPT_TEXT, .offset = AT(mask), .given_offset = AT(has_mask)},
    {.name = "chain", .kind = OPT_WORD, .offset = AT(chain), .words = chain_words, .fallback = "duplex"},
    {.name = "buffers",
	.kind = OPT_INT,
	.offset = AT(buffers),
	.min = 1,
	.max = BUFFERS_MAX,
	.given_offset = AT(has_buffers)},
    {.name = "downscale", .kind = OPT_WORD, .offset = AT(downscale), .words = downscale_words, .fallback = "fused"},
    {.name = "workers", .kind = OPT_INT, .offset = AT(workers), .min = 1, .max = WORKERS_MAX, .fallback = "1"},
    {.name = "grads", .kind = OPT_WORD, .offset = AT(grads), .words = grads_words, .fallback = "bf16"},
    {.name = "unscale", .kind = OPT_WORD, .offset = AT(unscale), .words = unscale_words, .given_offset = AT(has_unscale)},
    {.name = "flush", .kind = OPT_WORD, .offset = AT(flush), .words = flush_words, .fallback = "async"},
    {.name = "prefetch", .kind = OPT_WORD, .offset = AT(prefetch), .words = prefetch_words, .fallback = "step"},
};

static int check_dos(const struct update_policy *policy, struct err *err)
{
	if (!policy->has_stride)
		return err_set(
		    err, STATUS_USAGE, "dos: stride is needed here, as in dos:stride=2 ('dos model' finds the best one)");
	if (policy->chain == CHAIN_PUBLISHED && policy->stride == 1)
		return err_set(err, STATUS_USAGE,
		    "dos: stride=1 needs chain=serial or chain=duplex; the published code has no stride 1");
	return 0;
}

static int check_hybrid(const struct update_policy *policy, struct err *err)
{
	if (policy->has_fraction == policy->has_mask)
		return err_set(err, STATUS_USAGE, "hybrid: one of fraction=F and mask=0110.. is needed here");
	if (policy->has_mask && (!policy->mask[0] || strspn(policy->mask, "01") != strlen(policy->mask)))
		return err_set(err, STATUS_USAGE, "hybrid: mask '%s' is not a word of 0 (CPU) and 1 (GPU)", policy->mask);
	return 0;
}

static void fill_defaults(struct update_policy *policy)
{
	const bool is_hybrid = policy->kind == UPDATE_HYBRID;
	if (!policy->has_buffers)
		policy->buffers = policy->chain != CHAIN_DUPLEX ? 1 : is_hybrid ? 3 : 2;
	if (!policy->has_unscale)
		policy->unscale = !is_hybrid && policy->chain == CHAIN_PUBLISHED && policy->grads == UPDATE_GRADS_FP32
		    ? UNSCALE_SEPARATE
		    : UNSCALE_FUSED;
	policy->has_buffers = policy->has_unscale = true;
}

static int check_both(const struct update_policy *policy, const char *name, struct err *err)
{
	if (policy->chain != CHAIN_DUPLEX && policy->buffers != 1)
		return err_set(err, STATUS_USAGE, "%s: buffers=%lld needs chain=duplex; %s has one buffer set", name,
		    policy->buffers, chain_words[policy->chain]);
	if (policy->unscale == UNSCALE_SEPARATE && policy->grads == UPDATE_GRADS_BF16)
		return err_set(err, STATUS_USAGE, "%s: unscale=separate needs grads=fp32", name);
	if (policy->downscale == DOWNSCALE_SPLIT && policy->chain == CHAIN_PUBLISHED)
		return err_set(err, STATUS_USAGE,
		    "%s: downscale=split: chain=published moves three whole fp32 tensors; chain=serial or chain=duplex would "
		    "be accepted",
		    name);
	return 0;
}

int update_policy_parse(struct update_policy *policy, const char *text, struct arena *arena, struct err *err)
{
	struct spec spec;
	int rc = spec_parse(&spec, text, arena, err);
	if (rc)
		return rc;
	const bool is_hybrid = strcmp(spec.name, "hybrid") == 0;
	if (!is_hybrid && strcmp(spec.name, "dos") != 0)
		return err_set(err, STATUS_USAGE, "policy '%s' cannot be run by dos-probe; dos or hybrid would be accepted",
		    spec.name);
	const struct opt *const opts = is_hybrid ? hybrid_opts : dos_opts;
	const size_t n_opts = is_hybrid ? N_OPTS(hybrid_opts) : N_OPTS(dos_opts);
	*policy = (struct update_policy){.kind = is_hybrid ? UPDATE_HYBRID : UPDATE_DOS, .ratio = 1};
	opt_defaults(policy, opts, n_opts, arena);
	rc = spec_apply(policy, opts, n_opts, &spec, arena, err);
	if (rc == 0)
		rc = is_hybrid ? check_hybrid(policy, err) : check_dos(policy, err);
	fill_defaults(policy);
	if (rc == 0)
		rc = check_both(policy, spec.name, err);
	if (rc == 0)
		policy->canonical = spec_canonical(spec.name, policy, opts, n_opts, arena);
	return rc;
}

bool update_policy_has_worker(const struct update_policy *policy)
{
	return policy->downscale == DOWNSCALE_BATCH || policy->downscale == DOWNSCALE_EAGER;
}

enum update_place update_policy_place(const struct update_policy *policy, size_t x, size_t n)
{
	const size_t n_dynamic = (size_t)(policy->ratio * (double)n);
	const double f = policy->fraction;
	if (policy->kind == UPDATE_HYBRID && policy->has_mask)
		return policy->mask[x % strlen(policy->mask)] == '1' ? PLACE_GPU : PLACE_CPU;
	if (policy->kind == UPDATE_HYBRID)
		return floor((double)(x + 1) * f + 1e-6) > floor((double)x * f + 1e-6) ? PLACE_GPU : PLACE_CPU;
	if (x >= n_dynamic)
		return PLACE_RESIDENT;
	return policy->stride > 0 && (x + 1) % (size_t)policy->stride == 0 ? PLACE_GPU : PLACE_CPU;
}
