/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Masters kept as two 16-bit halves (downscale=split, E34), by hand: bytes, memory, schedules. The plain machine with Adam at 4 G/s and
 * GPU Adam so that subgroups of 100 M parameters take: CPU Adam 25, push 4, fetch and write-back of 10 bytes a parameter 20, GPU Adam
 * 1 ms, and no cast.
 */
#include <dirent.h>

#include "model/closed_form.h"
#include "model/lanes.h"
#include "sim/engine.h"
#include "sim/study/trial.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

static const double exact = 1e-12;
static struct plain plain;
static struct arena arena;
static struct trial trial;
static struct err err;

static void setup(void)
{
	plain_machine(&plain.hw);
	plain.workload.batch.gpus = 1;
	plain_curve(&plain.hw.cpu_adam_split, CURVE_THREADS, 4e9);
	plain.hw.gpu_adam_params_per_s = 26e11 / 30;
	plain_set(&plain, 4);
}

static void teardown(void)
{
	arena_release(&arena);
}

static struct interleave halves(size_t n_dynamic, const bool *on_gpu)
{
	struct interleave how = plain_hybrid(n_dynamic, 2, on_gpu);
	how.downscale = DOWNSCALE_SPLIT;
	return how;
}

/* ---- costs */

START_TEST(adam_by_bytes) /* E34 */
{
	const struct op_class *const classes = plain.cost.classes;
	assert_rel(cost_op_s(&plain.cost, OP_CPU_ADAM_SPLIT_BF16, 100e6), 0.025, exact);
	assert_rel(classes[OP_CPU_ADAM_SPLIT_BF16].dram_Bps, 26 * 4e9, exact); /* reads M 4, V 4, hi 2, lo 2, g 2; writes all but g */
	assert_rel(classes[OP_CPU_ADAM_SPLIT].dram_Bps, 28 * 4e9, exact); /* g 4 */
	assert_rel(cost_op_s(&plain.cost, OP_GPU_ADAM_SPLIT, 100e6), 0.001, exact);
	assert_rel(classes[OP_GPU_ADAM_SPLIT].hbm_Bps, 26 * 1e11, exact);
	plain.hw.cpu_adam_bytes_per_param = 42; /* effective bytes half as many again */
	plain_refresh(&plain);
	assert_rel(classes[OP_CPU_ADAM_SPLIT_BF16].dram_Bps, 39 * 4e9, exact);
}
END_TEST

/* Not measured: as many bytes a second as the fused one, or as the plain one where that is not there either. */
START_TEST(rate_from_the_fused_one)
{
	plain.hw.cpu_adam_split.n_points = 0;
	plain_curve(&plain.hw.cpu_adam_fused, CURVE_THREADS, 2.6e9);
	plain_refresh(&plain);
	assert_rel(cost_op_s(&plain.cost, OP_CPU_ADAM_SPLIT, 2.8e9), 1, exact);
	assert_rel(plain.cost.classes[OP_CPU_ADAM_SPLIT_BF16].dram_Bps, plain.cost.classes[OP_CPU_ADAM_FUSED_BF16].dram_Bps, exact);
	plain.hw.cpu_adam_fused.n_points = 0;
	plain_refresh(&plain);
	assert_rel(cost_op_s(&plain.cost, OP_CPU_ADAM_SPLIT, 2.8e9), 1.04, exact); /* 2.5e9 * 28/26 */
}
END_TEST

START_TEST(traffic_of_a_subgroup)
{
	const struct interleave how = halves(4, NULL);
	struct subgroup_times times;
	subgroup_times_init(&times, &how, &plain.cost, 100e6);
	assert_rel(times.cpu_dram_bytes, 28 * 100e6, exact); /* 26, and 2 of the push */
	assert_rel(times.gpu_dram_bytes, 20 * 100e6, exact);
	assert_rel(times.fetch_s, 0.020, exact);
	assert_rel(times.write_back_s, 0.020, exact);
	assert_rel(times.push_s, 0.004, exact);
	ck_assert(times.downscale_s == 0 && times.gpu_cast_s == 0 && times.n_copies == 1);
}
END_TEST

/* ---- schedules */

struct line {
	enum op_kind kind;
	int subgroup;
	double start_ms, end_ms;
};

static void run(const char *spec, size_t n_subgroups, const struct sharing *sharing)
{
	const struct trial_input in = {.hw = &plain.hw, .workload = &plain.workload, .policy = spec, .sharing = sharing, .n_iterations = 1};
	plain_set(&plain, n_subgroups);
	ck_assert_msg(trial_run(&trial, &in, &arena, &err) == 0, "%s", err.text);
}

static void check(const char *spec, size_t n_subgroups, const struct line *lines, size_t n_lines, double end_ms)
{
	size_t n_ops = 0;
	run(spec, n_subgroups, &sharing_none);
	for (size_t i = 0; i < trial.schedule.n_ops; i++)
		n_ops += trial.schedule.ops[i].kind != OP_SYNC;
	ck_assert_msg(n_ops == n_lines, "%s: %zu operations, drawn %zu", spec, n_ops, n_lines);
	for (size_t line = 0; line < n_lines; line++) {
		bool is_found = false;
		for (size_t i = 0; i < trial.schedule.n_ops; i++)
			is_found |= trial.schedule.ops[i].kind == lines[line].kind && trial.schedule.ops[i].subgroup == lines[line].subgroup &&
			    fabs(trial.timeline.start_s[i] * 1e3 - lines[line].start_ms) < 1e-9 &&
			    fabs(trial.timeline.end_s[i] * 1e3 - lines[line].end_ms) < 1e-9;
		ck_assert_msg(is_found, "%s: no %s of %d at %g to %g ms", spec, op_names[lines[line].kind], lines[line].subgroup,
		    lines[line].start_ms, lines[line].end_ms);
	}
	assert_rel(trial.metrics.update_s, end_ms * 1e-3, exact);
}

/* The push, ready at 25, goes between the fetches: the third one's set is free at 41. */
START_TEST(hybrid_queued)
{
	static const bool on_gpu[] = {true, false, true, true};
	static const struct line lines[] = {{OP_H2D, 0, 0, 20}, {OP_H2D, 2, 20, 40}, {OP_H2D, 1, 40, 44}, {OP_H2D, 3, 44, 64},
	    {OP_CPU_ADAM_SPLIT_BF16, 1, 0, 25}, {OP_GPU_ADAM_SPLIT, 0, 20, 21}, {OP_GPU_ADAM_SPLIT, 2, 40, 41},
	    {OP_GPU_ADAM_SPLIT, 3, 64, 65}, {OP_D2H, 0, 21, 41}, {OP_D2H, 2, 41, 61}, {OP_D2H, 3, 65, 85}};
	const struct interleave how = halves(4, on_gpu);
	check("hybrid:mask=1011,buffers=2,downscale=split", 4, lines, N_ELEMENTS(lines), 85);
	assert_rel(plain_interleave_s(&plain, &how), 0.085, exact);
}
END_TEST

/* MAIN waits for the push of 0, behind both fetches, until 44, and for that of 2 until 73. */
START_TEST(dos_in_windows)
{
	static const struct line lines[] = {{OP_H2D, 1, 0, 20}, {OP_H2D, 3, 20, 40}, {OP_CPU_ADAM_SPLIT, 0, 0, 25}, {OP_H2D, 0, 40, 44},
	    {OP_GPU_ADAM_SPLIT, 1, 25, 26}, {OP_D2H, 1, 26, 46}, {OP_CPU_ADAM_SPLIT, 2, 44, 69}, {OP_H2D, 2, 69, 73},
	    {OP_GPU_ADAM_SPLIT, 3, 69, 70}, {OP_D2H, 3, 70, 90}, {OP_CPU_ADAM_SPLIT, 4, 73, 98}, {OP_H2D, 4, 98, 102}};
	const struct interleave how = {.chain = CHAIN_DUPLEX, .downscale = DOWNSCALE_SPLIT, .buffers = 2, .waits_for_fetch = true,
	    .stride = 2, .n_dynamic = 5};
	check("dos:stride=2,chain=duplex,downscale=split", 5, lines, N_ELEMENTS(lines), 102);
	assert_rel(plain_interleave_s(&plain, &how), 0.102, exact);
}
END_TEST

/* Residents keep whole masters on the GPU: the ordinary Adam, 30 bytes at the same bandwidth. */
START_TEST(residents_are_whole)
{
	static const struct line lines[] = {{OP_H2D, 0, 0, 20}, {OP_GPU_ADAM_SPLIT, 0, 20, 21}, {OP_D2H, 0, 21, 41},
	    {OP_GPU_ADAM, 1, 21, 21 + 30.0 / 26}};
	check("dos:stride=1,chain=serial,ratio=0.5,downscale=split", 2, lines, N_ELEMENTS(lines), 41);
}
END_TEST

/* Beside a push, Adam asks 26 x 4 and the push 50 of 150 GB/s: both run at 150/154, and the 4 ms take 4.107. Fused it is 28 x 4. */
START_TEST(shared_memory)
{
	plain.hw.dram_Bps = 150e9;
	run("hybrid:mask=0,downscale=split", 2, &sharing_fluid);
	assert_rel(trial.metrics.update_s, 0.054 + 0.004 * 4 / 150, exact);
	plain_curve(&plain.hw.cpu_adam_fused, CURVE_THREADS, 4e9);
	run("hybrid:mask=0,downscale=fused", 2, &sharing_fluid);
	assert_rel(trial.metrics.update_s, 0.054 + 0.004 * 12 / 150, exact);
}
END_TEST

/* ---- closed form */

START_TEST(lanes_of_halves)
{
	struct lanes lanes;
	const struct interleave how = halves(4, NULL);
	plain_window(&lanes, &plain, &how, 3, false);
	assert_rel(lanes.cpu_s, 0.050, exact);
	assert_rel(lanes.h2d_s, 0.028, exact);
	assert_rel(lanes.d2h_s, 0.020, exact);
	assert_rel(lanes.gpu_s, 0.001, exact);
	assert_rel(lanes.chain_s, 0.0205, exact); /* 20 + 1 + 20 over two sets */
	ck_assert(lanes.cast_s == 0);
	plain_window(&lanes, &plain, &how, 3, true);
	assert_rel(lanes.dram_s, 100e6 * (2 * 28 + 20) / 200e9, exact);
}
END_TEST

/* Evenly spread over many subgroups, the fraction's time is the recurrence's. */
START_TEST(fraction_is_the_recurrence)
{
	enum { N = 200 };
	static bool on_gpu[N];
	for (size_t percent = 5; percent < 100; percent += 5) {
		const double fraction = (double)percent / 100;
		for (size_t x = 0; x < N; x++)
			on_gpu[x] = floor((double)(x + 1) * fraction + 1e-6) > floor((double)x * fraction + 1e-6);
		plain_set(&plain, N);
		const struct interleave how = halves(N, on_gpu);
		assert_rel(fraction_update_s(&plain.cost, &plain.workload, &how, fraction, false), plain_interleave_s(&plain, &how), 0.02);
	}
}
END_TEST

/* ---- memory */

static double held_bytes(const char *spec, enum pool pool)
{
	double sum = 0;
	run(spec, 4, &sharing_none);
	for (size_t mem = 0; mem < MEM_N; mem++)
		sum += trial.schedule.resident_bytes[pool][mem];
	return sum;
}

/* 16-bit parameters 2, two sets of 10. Host: M, V, lo, a gradient of 4, overhead 4.5; what the CPU updates also holds hi. */
START_TEST(memory)
{
	plain.hw.host_overhead_bytes_per_param = 4.5;
	assert_rel(held_bytes("hybrid:mask=0011,buffers=2,downscale=split", POOL_GPU), 4 * 0.2e9 + 2 * 1e9, exact);
	assert_rel(held_bytes("hybrid:mask=0011,buffers=2,downscale=split", POOL_HOST), 2 * 1.85e9 + 2 * 2.05e9, exact);
	assert_rel(held_bytes("dos:stride=2,chain=duplex,downscale=split", POOL_GPU), 4 * 0.2e9 + 2 * 1e9, exact);
	assert_rel(held_bytes("dos:stride=2,chain=duplex,downscale=split", POOL_HOST), 2 * 1.85e9 + 2 * 2.05e9, exact);
	/* fused: 12 and a 16-bit copy everywhere, and a staging buffer of 2^28 for each that the CPU updates */
	assert_rel(held_bytes("hybrid:mask=0011,buffers=2", POOL_GPU), 4 * 0.2e9 + 2 * 1.2e9, exact);
	assert_rel(held_bytes("hybrid:mask=0011,buffers=2", POOL_HOST), 4 * 2.25e9 + 2 * 268435456.0, exact);
}
END_TEST

/* A 16-bit gradient is on the GPU until Adam has read it: no cast lets it go before. */
START_TEST(gradients_until_adam)
{
	const struct trial_input in = {.hw = &plain.hw, .policy = "hybrid:fraction=1,downscale=split", .sharing = &sharing_none,
	    .shape = {.name = "small", .arch = ARCH_GPT, .layers = 2, .hidden = 1024, .heads = 16, .vocab = 50000},
	    .batch = {.gpus = 1, .mbs = 1, .seq = 512, .subgroup_params = 20e6}, .n_iterations = 1};
	double held = 0, freed = 0;
	ck_assert_msg(trial_run(&trial, &in, &arena, &err) == 0, "%s", err.text);
	for (size_t i = 0; i < trial.schedule.n_mem; i++) {
		const struct mem_event *const event = &trial.schedule.mem[i];
		if (event->mem != MEM_GRADS || event->pool != POOL_GPU)
			continue;
		*(event->bytes > 0 ? &held : &freed) += event->bytes;
		if (event->bytes < 0)
			ck_assert_int_eq(trial.schedule.ops[event->op].kind, OP_GPU_ADAM_SPLIT);
	}
	assert_rel(held, 2 * trial.workload.rank_params, exact);
	assert_rel(freed, -held, exact);
}
END_TEST

/* ---- refusals */

static void check_refused(const char *spec, enum precision precision, const char *text)
{
	const struct trial_input in = {.hw = &plain.hw, .policy = spec, .sharing = &sharing_none,
	    .batch = {.gpus = 1, .precision = precision, .n_subgroups = 4, .subgroup_params = 1e8}};
	ck_assert_int_eq(trial_run(&trial, &in, &arena, &err), STATUS_USAGE);
	assert_has(err.text, text);
}

START_TEST(refusals)
{
	check_refused("dos:stride=2,downscale=split", PRECISION_BF16, "chain=serial or chain=duplex would be accepted");
	check_refused("hybrid:chain=published,downscale=split", PRECISION_BF16, "hybrid: downscale=split: chain=published");
	check_refused("hybrid:downscale=split", PRECISION_FP16, "--precision fp16: hybrid: downscale=split");
	check_refused("dos:chain=serial,downscale=split", PRECISION_FP16, "--precision bf16 or downscale=fused would be accepted");
}
END_TEST

/* ---- every shipped machine */

static double update_s(const struct hwprofile *hw, const char *spec, const struct sharing *sharing)
{
	const struct trial_input in = {.hw = hw, .policy = spec, .sharing = sharing, .n_iterations = 1,
	    .batch = {.gpus = hw->gpus, .n_subgroups = 12, .subgroup_params = 1e8}};
	ck_assert_msg(trial_run(&trial, &in, &arena, &err) == 0, "%s: %s", spec, err.text);
	return trial.metrics.update_s;
}

/* Every operation is as long or shorter, none by more than 12/10 but the casts, which are gone. */
static void compare_on(const struct hwprofile *hw, const char *spec, const struct sharing *sharing)
{
	struct arena own = {0};
	const double fused_s = update_s(hw, arena_printf(&own, "%s,downscale=fused", spec), sharing);
	const double split_s = update_s(hw, arena_printf(&own, "%s,downscale=split", spec), sharing);
	ck_assert_msg(split_s <= fused_s * (1 + 1e-9), "%s, %s: split %.9g s, fused %.9g s", hw->name, spec, split_s, fused_s);
	ck_assert_msg(split_s >= fused_s / 1.21, "%s, %s: split %.9g s, fused %.9g s", hw->name, spec, split_s, fused_s);
	arena_release(&own);
}

static void compare_all(const char *path)
{
	static struct hwprofile hw;
	for (size_t i = 0; i <= 12; i++) {
		arena_reset(&arena);
		ck_assert_msg(hwprofile_load(&hw, path, &arena, &err) == 0, "%s", err.text);
		for (size_t is_fluid = 0; is_fluid < 2; is_fluid++) {
			const struct sharing *const sharing = is_fluid ? &sharing_fluid : &sharing_none;
			compare_on(&hw, arena_printf(&arena, "hybrid:fraction=%.3f", (double)i / 12), sharing);
			compare_on(&hw, arena_printf(&arena, "dos:stride=%zu,chain=serial,grads=bf16", i), sharing);
			compare_on(&hw, arena_printf(&arena, "dos:stride=%zu,chain=duplex", i), sharing);
		}
	}
}

START_TEST(never_slower_on_shipped_machines)
{
	DIR *const folder = opendir("hwprofiles"); /* tests run in the root of the tree */
	size_t n = 0;
	ck_assert_ptr_nonnull(folder);
	for (const struct dirent *entry; (entry = readdir(folder));) {
		char path[512];
		snprintf(path, sizeof path, "hwprofiles/%s", entry->d_name);
		if (!strstr(entry->d_name, ".json"))
			continue;
		compare_all(path);
		n++;
	}
	closedir(folder);
	ck_assert_uint_ge(n, 10);
}
END_TEST

Suite *halves_suite(void);
Suite *halves_suite(void)
{
	Suite *const suite = suite_create("halves");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors"), *const shipped = tcase_create("shipped");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, adam_by_bytes);
	tcase_add_test(core, rate_from_the_fused_one);
	tcase_add_test(core, traffic_of_a_subgroup);
	tcase_add_test(core, hybrid_queued);
	tcase_add_test(core, dos_in_windows);
	tcase_add_test(core, residents_are_whole);
	tcase_add_test(core, shared_memory);
	tcase_add_test(core, lanes_of_halves);
	tcase_add_test(core, fraction_is_the_recurrence);
	tcase_add_test(core, memory);
	tcase_add_test(core, gradients_until_adam);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, setup, teardown);
	tcase_add_test(errors, refusals);
	suite_add_tcase(suite, errors);
	tcase_add_checked_fixture(shipped, NULL, teardown);
	tcase_add_test(shipped, never_slower_on_shipped_machines);
	suite_add_tcase(suite, shipped);
	return suite;
}
