/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/plan_sure.h"

#include <math.h>

struct field {
	struct trial_input *inputs;
	size_t *item; /* whose input it is */
	size_t n;
};

static void field_init(struct field *f, size_t most, struct arena *arena)
{
	*f = (struct field){
	    .inputs = arena_alloc(arena, most, sizeof(*f->inputs)), .item = arena_alloc(arena, most, sizeof(*f->item))};
}

static int add(struct field *f, const struct plan *plan, const struct plan_choice *choice, size_t item, struct arena *arena,
    struct err *err)
{
	f->item[f->n] = item;
	return plan_input(&f->inputs[f->n++], plan, choice->batch, choice->variant, arena, err);
}

/* The best first: the others are compared with it. */
static int add_policies(struct field *f, const struct plan *plan, struct arena *arena, struct err *err)
{
	int code = add(f, plan, &plan->policies[plan->best].best, plan->best, arena, err);

	for (size_t i = 0; !code && i < plan->space.n_policies; i++)
		if (i != plan->best && plan->policies[i].has_best)
			code = add(f, plan, &plan->policies[i].best, i, arena, err);
	return code;
}

static int judge_policies(struct plan_sure *sure, const struct plan *plan, struct arena *arena, struct err *err)
{
	const size_t n = plan->space.n_policies;
	struct outcome *const all = arena_zalloc(arena, n, sizeof(*all)),
			      *const found = arena_zalloc(arena, n, sizeof(*found));
	struct field f;

	field_init(&f, n, arena);
	if (add_policies(&f, plan, arena, err) || outcomes_find(found, sure->uncertainty, f.inputs, f.n, arena, err))
		return err->code;
	for (size_t i = 0; i < f.n; i++)
		all[f.item[i]] = found[i];
	sure->policies = all;
	return 0;
}

static int judge_changes(
    struct plan_sure *sure, const struct plan *plan, const struct plan_near *near, struct arena *arena, struct err *err)
{
	struct outcome *const found = arena_zalloc(arena, near->n + 1, sizeof(*found));
	struct field f;

	field_init(&f, near->n + 1, arena);
	int code = add(&f, plan, &plan->policies[plan->best].best, 0, arena, err);
	for (size_t i = 0; !code && i < near->n; i++)
		code = add(&f, plan, &near->changes[i].choice, i, arena, err);
	if (!code)
		code = outcomes_find(found, sure->uncertainty, f.inputs, f.n, arena, err);
	sure->p_best_unchanged = found[0].p_best;
	sure->changes = found + 1;
	return code;
}

/* Another number of GPUs is another setting: both sides are off by all of the model's error, each by its own. What the profile is off
 * by is common to them, and left out. */
static double p_pays(const struct plan_sure *sure, const struct plan_pay *pay)
{
	const double sd = M_SQRT2 * sure->uncertainty->discrepancy.log_sd[QUANTITY_ITERATION];

	if (!pay->is_found || !(sd > 0))
		return NAN;
	return 0.5 * erfc(log(pay->offload_gpu_s_per_token / pay->gpu_s_per_token) / sd * M_SQRT1_2);
}

int plan_sure_find(struct plan_sure *sure, const struct plan *plan, const struct plan_near *near,
    const struct plan_pay *pay, const struct uncertainty *u, struct arena *arena, struct err *err)
{
	*sure = (struct plan_sure){.uncertainty = u};
	sure->p_pays = p_pays(sure, pay);
	const int code = judge_policies(sure, plan, arena, err);
	return code ? code : judge_changes(sure, plan, near, arena, err);
}
