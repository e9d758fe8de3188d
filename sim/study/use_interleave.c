/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/use_interleave.h"

#include <string.h>

static const void *member(const struct policy_use *use, const char *name)
{
	const struct opt *const opt = opt_find(use->policy->opts, use->policy->n_opts, name, strlen(name));
	return opt ? (const char *)use->params + opt->offset : NULL;
}

/* True when the option's word is `word`. */
static bool is_word(const struct policy_use *use, const char *name, const char *word)
{
	const struct opt *const opt = opt_find(use->policy->opts, use->policy->n_opts, name, strlen(name));
	return opt && opt->kind == OPT_WORD && strcmp(opt->words[*(const int *)((const char *)use->params + opt->offset)], word) == 0;
}

bool use_leaves_open(const struct policy_use *use, const char *name)
{
	const struct opt *const opt = opt_find(use->policy->opts, use->policy->n_opts, name, strlen(name));

	return opt && opt->given_offset && !*(const bool *)((const char *)use->params + opt->given_offset);
}

int use_interleave(struct interleave *how, const struct policy_use *use, const struct workload *workload, struct err *err)
{
	const int *const chain = member(use, "chain"), *const downscale = member(use, "downscale");
	const long long *const buffers = member(use, "buffers");
	const long long *const stride = member(use, "stride");
	const double *const ratio = member(use, "ratio");

	if (!chain || !downscale || !buffers)
		return err_set(err, STATUS_USAGE, "policy %s: the closed form is that of dos and hybrid", use->policy->name);
	if (policy_check_batch(use->policy, use->params, &workload->batch, err))
		return err->code;
	*how = (struct interleave){.chain = (enum chain)*chain,
	    .downscale = (enum downscale)*downscale,
	    .buffers = (size_t)*buffers,
	    .has_bf16_grads = is_word(use, "grads", "bf16"),
	    .has_separate_unscale = is_word(use, "unscale", "separate"),
	    .waits_for_fetch = stride != NULL,
	    .stride = stride ? (size_t)*stride : 0,
	    .n_dynamic = workload->n_subgroups};
	if (ratio)
		how->n_dynamic = (size_t)(*ratio * (double)workload->n_subgroups + 1e-9);
	return 0;
}
