/* SPDX-License-Identifier: GPL-3.0-or-later
 * A hash of what a fixed set of trials gives: whoever changes results is told to raise RESULTS_VERSION. */
#include "sim/study/results.h"

#include "sim/study/runner.h"
#include "tests/unit/sweep_rig.h"
#include "tests/unit/test_util.h"

static unsigned long long hash_text(unsigned long long hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211ull;
	return hash;
}

/* Nine digits: libraries of mathematics differ in the last. */
static unsigned long long hash_trial(unsigned long long hash, const struct store_trial *t)
{
	const double numbers[] = {t->forward_s, t->backward_s, t->update_s, t->other_s, t->iteration_s, t->gpu_peak_bytes,
	    t->host_peak_bytes, t->gpu_fraction_frac};
	char text[32];

	for (size_t i = 0; i < N_ELEMENTS(numbers); i++) {
		snprintf(text, sizeof(text), "%.9g ", numbers[i]);
		hash = hash_text(hash, text);
	}
	return hash_text(hash_text(hash_text(hash, t->policy), t->reason), t->bottleneck);
}

static unsigned long long hash_grid(unsigned long long hash, struct sweep_rig *rig, bool is_closed_form)
{
	struct runner *const runner = arena_alloc(&rig->arena, 1, sizeof(*runner));
	struct row_done row;

	runner_init(runner, &rig->grid, is_closed_form);
	for (size_t index = 0; index < rig->grid.n_points; index++) {
		runner_prepare(&row, runner, index, &rig->arena);
		runner_run(&row, runner, &rig->arena);
		hash = hash_trial(hash, &row.trial);
	}
	runner_release(runner);
	return hash;
}

START_TEST(results_are_those_of_the_version)
{
	struct sweep_rig rig;

	sweep_rig_open(&rig);
	grid_add_model(&rig.grid, &shape_preset_find("7b")->shape, &(struct batch){.precision = PRECISION_FP16});
	sweep_rig_flag(&rig, GRID_SUBGROUP, "100k,100M");
	sweep_rig_flag(&rig, GRID_GPUS, "1,2");
	sweep_rig_flag(&rig, GRID_CONTENTION, "none,fluid,measured");
	sweep_rig_policies(&rig, "zero3-offload:flush=async;blocking,twinflow:ratio=0.5,mode=serial;parallel,gpu-only,"
	                         "dos:stride=0;2;3,chain=published;serial;duplex,dos:downscale=eager;fused,grads=bf16,hybrid,"
	                         "hybrid:fraction=0.3,prefetch=step;backward,dos:chain=duplex,downscale=split,hybrid:downscale=split");
	sweep_rig_finish(&rig);
	const unsigned long long digest = hash_grid(hash_grid(1469598103934665603ull, &rig, false), &rig, true);
	sweep_rig_close(&rig);
	ck_assert_msg(digest == RESULTS_DIGEST, "results changed: raise RESULTS_VERSION, and set RESULTS_DIGEST to 0x%016llxull "
	    "(sim/study/results.h)", digest);
}
END_TEST

Suite *results_suite(void);
Suite *results_suite(void)
{
	Suite *const suite = suite_create("results");
	TCase *const core = tcase_create("core");

	tcase_add_test(core, results_are_those_of_the_version);
	suite_add_tcase(suite, core);
	return suite;
}
