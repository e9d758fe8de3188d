/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Work of a simulation per subgroup, counted and not timed: operations, dependencies, instants and sets of running operations of 20,000
 * subgroups are those of 2,000 ten times over, or as many. `make linear` measures time.
 */
#include "sim/sharing.h"
#include "sim/study/trial.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

static const char *const policies[] = {"gpu-only", "zero3-offload", "twinflow:ratio=0.5", "dos:stride=2",
    "dos:stride=1,chain=serial", "dos:stride=3,chain=duplex,downscale=eager", "hybrid:fraction=0.5",
    "hybrid:fraction=0.3,chain=published,downscale=batch", "hybrid:fraction=1"};

static struct hwprofile hw;

struct work {
	double n_ops, n_deps, n_rate_changes, n_allocations;
};

static struct work work_of(const char *policy, double n_subgroups)
{
	struct arena arena = {0};
	struct err err = {0};
	static struct trial trial;
	const struct trial_input in = {.hw = &hw,
	    .policy = policy,
	    .sharing = &sharing_fluid,
	    .batch = {.gpus = 1, .subgroup_params = 1e7, .n_subgroups = n_subgroups}};
	ck_assert_msg(trial_run(&trial, &in, &arena, &err) == 0, "%s", err.text);
	const struct work work = {(double)trial.schedule.n_ops, (double)trial.schedule.n_deps,
	    (double)trial.timeline.n_rate_changes, (double)trial.timeline.n_allocations};
	arena_release(&arena);
	return work;
}

START_TEST(work_is_linear)
{
	plain_machine(&hw);
	const struct work few = work_of(policies[_i], 2000), many = work_of(policies[_i], 20000);
	assert_rel(many.n_ops, 10 * few.n_ops, 0.01);
	assert_rel(many.n_deps, 10 * few.n_deps, 0.01);
	assert_rel(many.n_rate_changes, 10 * few.n_rate_changes, 0.05);
	ck_assert(many.n_rate_changes <= many.n_ops);
	ck_assert_msg(many.n_allocations <= few.n_allocations + 2 && many.n_allocations < 50,
	    "%s: %.0f sets, of a tenth %.0f", policies[_i], many.n_allocations, few.n_allocations);
}
END_TEST

Suite *linear_suite(void);
Suite *linear_suite(void)
{
	Suite *const suite = suite_create("linear");
	TCase *const core = tcase_create("core");
	tcase_add_loop_test(core, work_is_linear, 0, (int)N_ELEMENTS(policies));
	suite_add_tcase(suite, core);
	return suite;
}
