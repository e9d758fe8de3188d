/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/policy.h"

#include <string.h>

#include "model/split.h"

#define POLICY(name) extern const struct policy policy_##name;
#include "policy_list.inc"
#undef POLICY

const struct policy *const policy_all[] = {
#define POLICY(name) &policy_##name,
#include "policy_list.inc"
#undef POLICY
    NULL};

const struct policy *policy_find(const char *name)
{
	for (size_t i = 0; policy_all[i]; i++)
		if (!strcmp(policy_all[i]->name, name))
			return policy_all[i];
	return NULL;
}

static int unknown_policy(const char *name, struct arena *arena, struct err *err)
{
	size_t n = 0;
	while (policy_all[n])
		n++;
	const char **const words = arena_zalloc(arena, n + 1, sizeof *words);
	char *list = arena_strdup(arena, "");
	for (size_t i = 0; i < n; i++) {
		words[i] = policy_all[i]->name;
		list = arena_printf(arena, "%s%s%s", list, i ? " " : "", words[i]);
	}
	const char *const near = err_nearest(name, words);
	return err_set(err, STATUS_USAGE, "unknown policy '%s'%s%s%s; accepted are %s", name, near ? ", did you mean '" : "",
	    near ? near : "", near ? "'" : "", list);
}

int policy_check(const struct policy *policy, const void *params, struct err *err)
{
	return policy->check ? policy->check(params, err) : 0;
}

int policy_check_batch(const struct policy *policy, const void *params, const struct batch *batch, struct err *err)
{
	const int stage = batch_zero_stage(batch);
	const char *need = stage < 3 && policy->needs_zero3 ? policy->needs_zero3(params) : NULL;
	if (need)
		return err_set(err, STATUS_USAGE, "--zero %d: %s: %s", stage, policy->name, need);
	need = batch->precision == PRECISION_FP16 && policy->needs_bf16 ? policy->needs_bf16(params) : NULL;
	return need ? err_set(err, STATUS_USAGE, "--precision fp16: %s: %s", policy->name, need) : 0;
}

int policy_use_parse(struct policy_use *use, const char *text, struct arena *arena, struct err *err)
{
	struct spec spec;
	int code = spec_parse(&spec, text, arena, err);
	if (code)
		return code;
	use->policy = policy_find(spec.name);
	if (!use->policy)
		return unknown_policy(spec.name, arena, err);
	use->params = arena_zalloc(arena, 1, use->policy->params_size + 1);
	opt_defaults(use->params, use->policy->opts, use->policy->n_opts, arena);
	code = spec_apply(use->params, use->policy->opts, use->policy->n_opts, &spec, arena, err);
	return code ? code : policy_check(use->policy, use->params, err);
}

char *policy_use_canonical(const struct policy_use *use, struct arena *arena)
{
	return spec_canonical(use->policy->name, use->params, use->policy->opts, use->policy->n_opts, arena);
}
