/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a resource is worth where the answer is known, and the largest model against trials on either side of it.
 */
#include "sim/sharing.h"
#include "sim/study/capacity.h"
#include "sim/study/phase_limits.h"
#include "sim/study/sensitivity.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

static struct hwprofile hw;
static struct trial_input in;
static struct arena arena;
static struct err err;

static void setup(void)
{
	plain_machine(&hw);
	in = (struct trial_input){.hw = &hw, .sharing = &sharing_none, .policy = "gpu-only",
	    .shape = {.name = "small", .arch = ARCH_LLAMA, .layers = 4, .hidden = 512, .heads = 8, .kv_heads = 8, .ffn = 2048, .vocab = 1000},
	    .batch = {.mbs = 1, .grad_accum = 1, .seq = 256, .subgroup_params = 1e6, .has_checkpointing = true}};
}

static void teardown(void)
{
	arena_release(&arena);
}

static const struct sensitivity *find(const struct sensitivities *s, const char *resource)
{
	for (size_t i = 0; i < SENSITIVITY_N; i++)
		if (strcmp(s->all[i].resource, resource) == 0)
			return &s->all[i];
	ck_abort_msg("no resource %s", resource);
}

/* ---- elasticities */

/* An update alone on the CPU is as long as its Adam, unscale and cast: all of it the CPU's. */
START_TEST(all_time_is_of_one_resource)
{
	struct sensitivities s;

	in.policy = "zero3-offload";
	in.batch.n_subgroups = 4;
	ck_assert_int_eq(sensitivity_find(&s, &in, false, 2, &arena, &err), 0);
	assert_rel(find(&s, "cpu")->elasticity, -1, 1e-9);
	assert_rel(find(&s, "cpu")->stepped_s, find(&s, "cpu")->base_s / 1.1, 1e-9);
	ck_assert_double_eq(find(&s, "gpu")->elasticity, 0);
	ck_assert_double_eq(find(&s, "h2d")->elasticity, 0);
	ck_assert_ptr_null(s.option);
}
END_TEST

/* At a break-even point the new value beats the old one, and half a percent before it it does not. */
START_TEST(break_even_is_where_the_best_changes)
{
	struct sensitivities s;
	size_t n_found = 0;

	in.policy = "dos:stride=2,chain=duplex,buffers=2,downscale=fused";
	in.batch.n_subgroups = 12;
	in.batch.subgroup_params = 1e8;
	ck_assert_int_eq(sensitivity_find(&s, &in, true, 2, &arena, &err), 0);
	ck_assert_str_eq(s.option, "stride");
	for (size_t i = 0; i < SENSITIVITY_N; i++) {
		const struct break_even *const points[] = {&s.all[i].up, &s.all[i].down};
		for (size_t side = 0; side < 2; side++) {
			double old_s, new_s;
			struct trial_input other = in;
			if (isnan(points[side]->factor))
				continue;
			n_found++;
			ck_assert((points[side]->factor > 1) == (side == 0));
			ck_assert_double_ne(points[side]->value, s.best);
			other.policy = arena_printf(&arena, "dos:stride=%.0f,chain=duplex,buffers=2,downscale=fused", points[side]->value);
			ck_assert_int_eq(sensitivity_time(&new_s, &other, s.all[i].resource, points[side]->factor, &err), 0);
			other.policy = arena_printf(&arena, "dos:stride=%.0f,chain=duplex,buffers=2,downscale=fused", s.best);
			ck_assert_int_eq(sensitivity_time(&old_s, &other, s.all[i].resource, points[side]->factor, &err), 0);
			ck_assert_msg(new_s < old_s, "%s at %g", s.all[i].resource, points[side]->factor);
		}
	}
	ck_assert_uint_gt(n_found, 0);
}
END_TEST

/* ---- phases */

START_TEST(phases_are_explained_whole)
{
	static const char *const specs[] = {"gpu-only", "zero3-offload", "dos:stride=2", "hybrid:fraction=0.5"};
	struct phase_limits limits;
	struct trial trial;

	in.policy = specs[_i];
	in.sharing = &sharing_fluid;
	ck_assert_int_eq(trial_run(&trial, &in, &arena, &err), 0);
	phase_limits_find(&limits, &trial);
	double sum_s = 0;
	for (size_t phase = 0; phase < PHASE_N; phase++)
		for (size_t r = 0; r < RES_N; r++)
			sum_s += limits.path_s[phase][r];
	assert_rel(sum_s, trial.metrics.iteration_s, 0.02); /* a path may start in what the iteration before left running */
}
END_TEST

/* ---- capacity */

static bool fits(const char *policy, double layers)
{
	struct trial trial;

	in.policy = policy;
	in.shape.layers = layers;
	ck_assert_int_eq(trial_run(&trial, &in, &arena, &err), 0);
	return trial.metrics.fits;
}

START_TEST(capacity_is_the_last_that_fits)
{
	static const char *const specs[] = {"gpu-only", "zero3-offload", "twinflow:ratio=0.5", "dos:stride=2,ratio=1,buffers=1",
	    "hybrid:fraction=0.5,buffers=2"};
	struct capacity capacity;

	hw.gpu_memory_bytes = 1.2e9;
	hw.host_memory_bytes = 3e9;
	in.policy = specs[_i];
	ck_assert_int_eq(capacity_find(&capacity, &in, &arena, &err), 0);
	ck_assert_double_gt(capacity.layers, 1);
	ck_assert(fits(specs[_i], capacity.layers));
	ck_assert(!fits(specs[_i], capacity.layers + 1));
}
END_TEST

START_TEST(open_options_hold_more)
{
	struct capacity fixed, open;

	hw.gpu_memory_bytes = 1.2e9;
	hw.host_memory_bytes = 1e9;
	in.policy = "twinflow:ratio=1";
	ck_assert_int_eq(capacity_find(&fixed, &in, &arena, &err), 0);
	in.policy = "twinflow";
	ck_assert_int_eq(capacity_find(&open, &in, &arena, &err), 0);
	ck_assert_double_gt(open.layers, fixed.layers);
	hw.gpu_memory_bytes = 1e6;
	ck_assert_int_eq(capacity_find(&open, &in, &arena, &err), 0);
	ck_assert_double_eq(open.layers, 0);
}
END_TEST

Suite *sensitivity_suite(void);
Suite *sensitivity_suite(void)
{
	Suite *const suite = suite_create("sensitivity");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_set_timeout(core, 60);
	tcase_add_test(core, all_time_is_of_one_resource);
	tcase_add_test(core, break_even_is_where_the_best_changes);
	tcase_add_loop_test(core, phases_are_explained_whole, 0, 4);
	tcase_add_loop_test(core, capacity_is_the_last_that_fits, 0, 5);
	tcase_add_test(core, open_options_hold_more);
	suite_add_tcase(suite, core);
	return suite;
}
