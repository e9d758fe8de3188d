/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Updates of every policy against timelines drawn by hand, operation by operation, on the plain machine without contention. Subgroups of
 * 100 M parameters: unscale 10, Adam 40, downscale 20, push 4, fetch and write-back 24 (three of 8 with chain=published), GPU Adam 1,
 * cast 0.2, pageable push 20 ms. Times in ms; waits are not listed.
 */
#include "sim/engine.h"
#include "sim/iteration.h"
#include "tests/unit/audit.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

enum { N_MAX = 8 };

struct line {
	enum op_kind kind;
	int subgroup;
	double start_ms, end_ms;
};

static struct arena arena;
static struct hwprofile hw;
static struct cost cost;
static struct workload workload;
static struct subgroup subgroups[N_MAX];
static struct schedule schedule;
static struct timeline timeline;
static struct policy_use use;
static enum place places[N_MAX];

static void setup(void)
{
	plain_machine(&hw);
	hw.threads = hw.workers = 8;
}

static void teardown(void)
{
	arena_release(&arena);
}

static void run(const char *spec, size_t n_subgroups, size_t n_iterations)
{
	struct err err = {0};
	plain_subgroups(subgroups, n_subgroups, 1e8);
	plain_update(&workload, subgroups, n_subgroups);
	ck_assert_msg(policy_use_parse(&use, spec, &arena, &err) == 0, "%s", err.text);
	if (use.policy->resolve)
		use.policy->resolve(use.params, &hw, &workload, 0);
	use.policy->place(places, use.params, &workload);
	cost_init(&cost, &hw, &workload, 0, 0);
	schedule_init(&schedule, &cost, &arena);
	const struct iteration_plan plan = {.workload = &workload,
	    .use = &use,
	    .places = places,
	    .sync = SYNC_PHASE,
	    .n_iterations = n_iterations,
	    .n_ranks = 1};
	iteration_build(&schedule, &plan);
	engine_run(&timeline, &schedule, &sharing_none, &arena);
	audit_timeline(&schedule, &timeline, true, spec);
}

static bool is_line(const struct line *line, size_t id)
{
	return schedule.ops[id].kind == line->kind && schedule.ops[id].subgroup == line->subgroup &&
	    fabs(timeline.start_s[id] * 1e3 - line->start_ms) < 1e-9 &&
	    fabs(timeline.end_s[id] * 1e3 - line->end_ms) < 1e-9;
}

static void print_timeline(void)
{
	for (size_t i = 0; i < 2 * schedule.n_ops; i++) {
		const op_id id = timeline.order[i] >> 1;
		if (!(timeline.order[i] & 1) && schedule.ops[id].kind != OP_SYNC)
			fprintf(stderr, "%-36s %2d %8.1f %8.1f\n", op_names[schedule.ops[id].kind],
			    schedule.ops[id].subgroup, timeline.start_s[id] * 1e3, timeline.end_s[id] * 1e3);
	}
}

/* Each of these operations is in the timeline. */
static void assert_lines(const struct line *lines, size_t n_lines)
{
	for (size_t line = 0; line < n_lines; line++) {
		bool is_found = false;
		for (size_t i = 0; i < schedule.n_ops && !is_found; i++)
			is_found = is_line(&lines[line], i);
		if (!is_found)
			print_timeline();
		ck_assert_msg(is_found, "no %s of %d at %g to %g ms", op_names[lines[line].kind], lines[line].subgroup,
		    lines[line].start_ms, lines[line].end_ms);
	}
}

/* The update has these operations, at these times, and no others, and ends when drawn. */
static void check(const char *spec, size_t n_subgroups, const struct line *lines, size_t n_lines, double end_ms)
{
	size_t n_ops = 0;
	run(spec, n_subgroups, 1);
	for (size_t i = 0; i < schedule.n_ops; i++)
		n_ops += schedule.ops[i].kind != OP_SYNC;
	assert_lines(lines, n_lines);
	const double update_s = timeline.end_s[schedule.marks[PHASE_UPDATE]];
	ck_assert_msg(n_ops == n_lines, "%s: %zu operations, drawn %zu", spec, n_ops, n_lines);
	ck_assert_msg(fabs(update_s * 1e3 - end_ms) < 1e-9, "%s: ends at %.12g ms, drawn %g", spec, update_s * 1e3, end_ms);
}

/* ---- dos */

/* Window 1 starts at 50: down M V P, then up M V P, each up copy after its down copy. The push of 0 (ready at 70) goes before the third up
 * copy (ready at 75). MAIN's wait at 50 finds no push. 4 mod 2 = 0: subgroup 3 is never written back. */
START_TEST(dos_published)
{
	static const struct line lines[] = {
	    {OP_GPU_CAST, 1, 0, 0.2},
	    {OP_H2D, 1, 0, 8},
	    {OP_H2D, 1, 8, 16},
	    {OP_H2D, 1, 16, 24},
	    {OP_CPU_UNSCALE, 0, 0, 10},
	    {OP_CPU_ADAM, 0, 10, 50},
	    {OP_CPU_DOWNSCALE, 0, 50, 70},
	    {OP_GPU_ADAM, 1, 50, 51},
	    {OP_GPU_CAST, 1, 51, 51.2},
	    {OP_D2H, 1, 51, 59},
	    {OP_D2H, 1, 59, 67},
	    {OP_D2H, 1, 67, 75},
	    {OP_GPU_CAST, 3, 51.2, 51.4},
	    {OP_H2D, 3, 59, 67},
	    {OP_H2D, 3, 67, 75},
	    {OP_H2D, 0, 75, 79},
	    {OP_H2D, 3, 79, 87},
	    {OP_CPU_UNSCALE, 2, 50, 60},
	    {OP_CPU_ADAM, 2, 60, 100},
	    {OP_CPU_DOWNSCALE, 2, 100, 120},
	    {OP_H2D, 2, 120, 124},
	    {OP_GPU_ADAM, 3, 100, 101},
	};
	check("dos:stride=2", 4, lines, N_ELEMENTS(lines), 124);
}
END_TEST

/* With a fifth subgroup window 2 starts at 100 and writes 3 back; MAIN's wait there is for no push (2's is enqueued at 120). */
START_TEST(dos_published_with_a_rest)
{
	run("dos:stride=2", 5, 1);
	const struct line lines[] = {
	    {OP_D2H, 3, 101, 109}, {OP_D2H, 3, 117, 125}, {OP_CPU_UNSCALE, 4, 100, 110}, {OP_H2D, 4, 170, 174}};
	assert_lines(lines, N_ELEMENTS(lines));
	ck_assert_double_eq_tol(timeline.end_s[schedule.marks[PHASE_UPDATE]], 0.174, 1e-12);
}
END_TEST

/* Adam of 20 ms: MAIN blocks until the fetches are there, at 24, 61 and 94, and what it does next waits with it. The push of 0 (ready at 40)
 * goes before the second copy of the second fetch (ready at 41). */
START_TEST(dos_blocks_until_the_fetch_is_there)
{
	static const struct line lines[] = {{OP_CPU_ADAM, 2, 24, 44}, {OP_H2D, 0, 41, 45}, {OP_H2D, 3, 53, 61},
	    {OP_GPU_ADAM, 3, 61, 62}, {OP_H2D, 2, 64, 68}, {OP_CPU_ADAM, 4, 61, 81}, {OP_H2D, 5, 86, 94},
	    {OP_GPU_ADAM, 5, 94, 95}};
	plain_curve(&hw.cpu_adam, CURVE_THREADS, 5e9);
	run("dos:stride=2,unscale=fused", 6, 1);
	assert_lines(lines, N_ELEMENTS(lines));
	ck_assert_double_eq_tol(timeline.end_s[schedule.marks[PHASE_UPDATE]], 0.105, 1e-12);
}
END_TEST

/* Two buffer sets: both fetched at once. The push of 0, enqueued at 40, waits for the second fetch; MAIN waits for it until 52. */
START_TEST(dos_duplex_fused)
{
	static const struct line lines[] = {
	    {OP_GPU_CAST, 1, 0, 0.2},
	    {OP_GPU_CAST, 3, 0.2, 0.4},
	    {OP_H2D, 1, 0, 24},
	    {OP_H2D, 3, 24, 48},
	    {OP_CPU_ADAM_FUSED, 0, 0, 40},
	    {OP_H2D, 0, 48, 52},
	    {OP_GPU_ADAM, 1, 40, 41},
	    {OP_GPU_CAST, 1, 41, 41.2},
	    {OP_D2H, 1, 41, 65},
	    {OP_CPU_ADAM_FUSED, 2, 52, 92},
	    {OP_H2D, 2, 92, 96},
	    {OP_GPU_ADAM, 3, 92, 93},
	    {OP_GPU_CAST, 3, 93, 93.2},
	    {OP_D2H, 3, 93, 117},
	    {OP_CPU_ADAM_FUSED, 4, 96, 136},
	    {OP_H2D, 4, 136, 140},
	};
	check("dos:stride=2,chain=duplex,downscale=fused", 5, lines, N_ELEMENTS(lines), 140);
}
END_TEST

/* Every subgroup streamed through one set: a fetch waits for the write-back that frees its set, on one stream or two; the last
 * write-back is waited for. */
START_TEST(dos_duplex_one_buffer)
{
	static const struct line lines[] = {
	    {OP_GPU_CAST, 0, 0, 0.2},
	    {OP_H2D, 0, 0, 24},
	    {OP_GPU_ADAM, 0, 24, 25},
	    {OP_GPU_CAST, 0, 25, 25.2},
	    {OP_D2H, 0, 25, 49},
	    {OP_GPU_CAST, 1, 25.2, 25.4},
	    {OP_H2D, 1, 49, 73},
	    {OP_GPU_ADAM, 1, 73, 74},
	    {OP_GPU_CAST, 1, 74, 74.2},
	    {OP_D2H, 1, 74, 98},
	};
	check("dos:stride=1,chain=duplex,buffers=1", 2, lines, N_ELEMENTS(lines), 98);
	check("dos:stride=1,chain=serial", 2, lines, N_ELEMENTS(lines), 98);
}
END_TEST

START_TEST(dos_serial_eager)
{
	static const struct line lines[] = {
	    {OP_GPU_CAST, 2, 0, 0.2},
	    {OP_H2D, 2, 0, 24},
	    {OP_CPU_ADAM_BF16, 0, 0, 40},
	    {OP_CPU_DOWNSCALE, 0, 40, 60},
	    {OP_H2D, 0, 60, 64},
	    {OP_CPU_ADAM_BF16, 1, 40, 80},
	    {OP_CPU_DOWNSCALE, 1, 80, 100},
	    {OP_H2D, 1, 100, 104},
	    {OP_GPU_ADAM, 2, 80, 81},
	    {OP_GPU_CAST, 2, 81, 81.2},
	    {OP_D2H, 2, 81, 105},
	    {OP_CPU_ADAM_BF16, 3, 80, 120},
	    {OP_CPU_DOWNSCALE, 3, 120, 140},
	    {OP_H2D, 3, 140, 144},
	};
	check("dos:stride=3,chain=serial,downscale=eager,grads=bf16", 4, lines, N_ELEMENTS(lines), 144);
}
END_TEST

/* ratio 0.5 of 4: 0 and 1 take part, 2 and 3 live on the GPU and follow at the end. */
START_TEST(dos_with_residents)
{
	static const struct line lines[] = {
	    {OP_GPU_CAST, 1, 0, 0.2},
	    {OP_H2D, 1, 0, 24},
	    {OP_CPU_ADAM, 0, 0, 40},
	    {OP_CPU_DOWNSCALE, 0, 40, 60},
	    {OP_H2D, 0, 60, 64},
	    {OP_GPU_ADAM, 1, 40, 41},
	    {OP_GPU_ADAM, 2, 41, 42},
	    {OP_GPU_ADAM, 3, 42, 43},
	    {OP_GPU_CAST, 1, 43, 43.2},
	    {OP_D2H, 1, 41, 65},
	};
	check("dos:stride=2,chain=serial,ratio=0.5", 4, lines, N_ELEMENTS(lines), 65);
}
END_TEST

/* ---- hybrid: all queued up front */

START_TEST(hybrid_one_buffer)
{
	static const struct line lines[] = {
	    {OP_GPU_CAST, 0, 0, 0.2},
	    {OP_H2D, 0, 0, 24},
	    {OP_GPU_ADAM, 0, 24, 25},
	    {OP_GPU_CAST, 0, 25, 25.2},
	    {OP_D2H, 0, 25, 49},
	    {OP_GPU_CAST, 2, 25.2, 25.4},
	    {OP_H2D, 2, 49, 73},
	    {OP_GPU_ADAM, 2, 73, 74},
	    {OP_GPU_CAST, 2, 74, 74.2},
	    {OP_D2H, 2, 74, 98},
	    {OP_CPU_ADAM_FUSED_BF16, 1, 0, 40},
	    {OP_H2D, 1, 40, 44},
	};
	check("hybrid:mask=101,buffers=1", 3, lines, N_ELEMENTS(lines), 98);
}
END_TEST

/* A second set: the second fetch follows the first; the push goes between (ready at 40, before the third fetch, at 49). */
START_TEST(hybrid_two_buffers)
{
	static const struct line lines[] = {
	    {OP_GPU_CAST, 0, 0, 0.2},
	    {OP_H2D, 0, 0, 24},
	    {OP_GPU_ADAM, 0, 24, 25},
	    {OP_GPU_CAST, 0, 25, 25.2},
	    {OP_D2H, 0, 25, 49},
	    {OP_GPU_CAST, 2, 25.2, 25.4},
	    {OP_H2D, 2, 24, 48},
	    {OP_GPU_ADAM, 2, 48, 49},
	    {OP_GPU_CAST, 2, 49, 49.2},
	    {OP_D2H, 2, 49, 73},
	    {OP_CPU_ADAM_FUSED_BF16, 1, 0, 40},
	    {OP_H2D, 1, 48, 52},
	    {OP_GPU_CAST, 3, 49.2, 49.4},
	    {OP_H2D, 3, 52, 76},
	    {OP_GPU_ADAM, 3, 76, 77},
	    {OP_GPU_CAST, 3, 77, 77.2},
	    {OP_D2H, 3, 77, 101},
	};
	check("hybrid:mask=1011,buffers=2", 4, lines, N_ELEMENTS(lines), 101);
}
END_TEST

/* All or nothing: no MAIN, no device. Batch hands everything over at the end of the loop. */
START_TEST(hybrid_of_one_kind)
{
	static const struct line gpu[] = {
	    {OP_GPU_CAST, 0, 0, 0.2},
	    {OP_H2D, 0, 0, 24},
	    {OP_GPU_ADAM, 0, 24, 25},
	    {OP_GPU_CAST, 0, 25, 25.2},
	    {OP_D2H, 0, 25, 49},
	};
	static const struct line cpu[] = {
	    {OP_CPU_ADAM_BF16, 0, 0, 40},
	    {OP_CPU_ADAM_BF16, 1, 40, 80},
	    {OP_CPU_DOWNSCALE, 0, 80, 100},
	    {OP_H2D, 0, 100, 104},
	    {OP_CPU_DOWNSCALE, 1, 100, 120},
	    {OP_H2D, 1, 120, 124},
	};
	check("hybrid:mask=1", 1, gpu, N_ELEMENTS(gpu), 49);
	check("hybrid:fraction=1", 1, gpu, N_ELEMENTS(gpu), 49);
	check("hybrid:mask=0,downscale=batch", 2, cpu, N_ELEMENTS(cpu), 124);
	check("hybrid:fraction=0,downscale=batch", 2, cpu, N_ELEMENTS(cpu), 124);
}
END_TEST

/* ---- the others */

START_TEST(serial_policies)
{
	static const struct line zero3[] = {
	    {OP_CPU_UNSCALE, 0, 0, 10},
	    {OP_CPU_ADAM, 0, 10, 50},
	    {OP_PUSH_PAGEABLE, 0, 50, 70},
	    {OP_CPU_UNSCALE, 1, 70, 80},
	    {OP_CPU_ADAM, 1, 80, 120},
	    {OP_PUSH_PAGEABLE, 1, 120, 140},
	};
	static const struct line gpu[] = {{OP_GPU_ADAM, 0, 0, 1}, {OP_GPU_ADAM, 1, 1, 2}};
	struct line both[7] = {[6] = {OP_GPU_ADAM, 2, 140, 141}};
	memcpy(both, zero3, sizeof zero3);
	check("zero3-offload", 2, zero3, N_ELEMENTS(zero3), 140);
	check("twinflow", 2, zero3, N_ELEMENTS(zero3), 140);
	check("twinflow:ratio=0", 2, gpu, N_ELEMENTS(gpu), 2);
	check("gpu-only", 2, gpu, N_ELEMENTS(gpu), 2);
	check("twinflow:ratio=0.67", 3, both, N_ELEMENTS(both), 141);
	both[6] = (struct line){OP_GPU_ADAM, 2, 0, 1};
	check("twinflow:ratio=0.67,mode=parallel", 3, both, N_ELEMENTS(both), 140);
}
END_TEST

/* Measured alone, an update starts when all of the one before it has ended: the spilled write-back before the second update. */
START_TEST(updates_alone_do_not_overlap)
{
	plain_curve(&hw.cpu_adam, CURVE_THREADS, 100e9);
	plain_curve(&hw.cpu_downscale, CURVE_THREADS, 100e9);
	run("dos:stride=2,unscale=fused", 3, 2);
	ck_assert(timeline.end_s[schedule.marks[PHASE_OTHER]] > timeline.end_s[schedule.marks[PHASE_UPDATE]]);
	double first_end_s = 0, second_start_s = INFINITY;
	for (size_t i = 0; i < schedule.n_ops; i++) {
		if (schedule.ops[i].iteration == 0)
			first_end_s = fmax(first_end_s, timeline.end_s[i]);
		else if (schedule.ops[i].alone_s > 0)
			second_start_s = fmin(second_start_s, timeline.start_s[i]);
	}
	ck_assert(second_start_s >= first_end_s);
}
END_TEST

Suite *steps_suite(void);
Suite *steps_suite(void)
{
	Suite *const suite = suite_create("steps");
	TCase *const core = tcase_create("core");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, dos_published);
	tcase_add_test(core, dos_published_with_a_rest);
	tcase_add_test(core, dos_blocks_until_the_fetch_is_there);
	tcase_add_test(core, dos_duplex_fused);
	tcase_add_test(core, dos_duplex_one_buffer);
	tcase_add_test(core, dos_serial_eager);
	tcase_add_test(core, dos_with_residents);
	tcase_add_test(core, hybrid_one_buffer);
	tcase_add_test(core, hybrid_two_buffers);
	tcase_add_test(core, hybrid_of_one_kind);
	tcase_add_test(core, serial_policies);
	tcase_add_test(core, updates_alone_do_not_overlap);
	suite_add_tcase(suite, core);
	return suite;
}
