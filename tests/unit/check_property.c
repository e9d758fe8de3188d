/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What must hold for every registered policy on random machines, models and options. A failure prints its seed.
 */
#include "tests/unit/audit.h"
#include "tests/unit/expect.h"
#include "tests/unit/random_trial.h"
#include "tests/unit/test_util.h"

enum { N_SEEDS = 400 };

static struct random_trial r;
static struct expected expected;

static void setup(void)
{
	random_trial_init(&r);
}

static void teardown(void)
{
	random_trial_release(&r);
}

/* Calls check for N_SEEDS random trials of a policy. */
static void for_all(int policy, void (*check)(void))
{
	for (unsigned long seed = 1; seed <= N_SEEDS; seed++) {
		random_trial_draw(&r, policy_all[policy], seed);
		random_trial_run(&r);
		expect_trial(&expected, &r.trial, &r.arena);
		check();
	}
}

/* ---- timelines */

static void check_timeline(void)
{
	schedule_check(&r.trial.schedule);
	audit_timeline(&r.trial.schedule, &r.trial.timeline, r.in.sharing == &sharing_none, r.what);
	if (r.in.sharing == &sharing_fluid)
		audit_sharing(&r.trial.schedule, &r.trial.timeline, r.what);
}

START_TEST(timelines_are_sound)
{
	for_all(_i, check_timeline);
}
END_TEST

/* critical path <= makespan; without contention makespan <= the sum of a rank's operations */
static void check_bounds(void)
{
	const struct schedule *const s = &r.trial.schedule;
	const double makespan_s = r.trial.timeline.makespan_s, path_s = audit_critical_path_s(s, &r.arena);
	double sum_s = 0;
	for (size_t i = 0; i < s->n_ops; i++)
		sum_s += s->ops[i].rank == 0 ? s->ops[i].alone_s : 0;
	must(path_s <= makespan_s * (1 + 1e-12), "%s: critical path %.17g s, makespan %.17g s", r.what, path_s, makespan_s);
	if (r.in.sharing == &sharing_none)
		must(makespan_s <= sum_s * (1 + 1e-12), "%s: makespan %.17g s, all operations %.17g s", r.what, makespan_s,
		    sum_s);
}

START_TEST(makespan_is_bounded)
{
	for_all(_i, check_bounds);
}
END_TEST

/* ---- what a step does */

struct subject {
	size_t n_cpu_adam, n_gpu_adam, n_split_adam, n_unscale, n_downscale, n_push, n_cast;
	double up_bytes, down_bytes; /* fetched and written back, pushes apart */
	double adam_params;
	double adam_start_s, adam_end_s, fetch_end_s, write_back_start_s, push_start_s;
};

static void note_copy(struct subject *subject, const struct op *op, double start_s, double end_s)
{
	if (op->flags & OP_IS_PUSH) {
		subject->n_push++;
		subject->push_start_s = start_s;
	} else if (op->kind == OP_H2D) {
		subject->up_bytes += op->amount;
		subject->fetch_end_s = fmax(subject->fetch_end_s, end_s);
	} else {
		subject->down_bytes += op->amount;
		subject->write_back_start_s = fmin(subject->write_back_start_s, start_s);
	}
}

static void note(struct subject *subject, const struct op *op, double start_s, double end_s)
{
	const bool is_cpu = op->kind >= OP_CPU_ADAM && op->kind <= OP_CPU_ADAM_SPLIT_BF16;
	const bool is_gpu = op->kind == OP_GPU_ADAM || op->kind == OP_GPU_ADAM_SPLIT;
	if (is_cpu || is_gpu) {
		subject->n_cpu_adam += op->kind == expected.adam;
		subject->n_gpu_adam += is_gpu;
		subject->n_split_adam += op->kind == OP_GPU_ADAM_SPLIT;
		subject->adam_params += op->amount;
		subject->adam_start_s = start_s;
		subject->adam_end_s = end_s;
	} else if (op->kind == OP_H2D || op->kind == OP_D2H) {
		note_copy(subject, op, start_s, end_s);
	} else if (op->kind == OP_PUSH_PAGEABLE) {
		subject->n_push++;
		subject->push_start_s = start_s;
	} else {
		subject->n_unscale += op->kind == OP_CPU_UNSCALE;
		subject->n_downscale += op->kind == OP_CPU_DOWNSCALE;
		subject->n_cast += op->kind == OP_GPU_CAST;
	}
}

/* What happens to each subgroup: [rank][iteration][subgroup]. */
static struct subject *list_subjects(void)
{
	const struct schedule *const s = &r.trial.schedule;
	const size_t n = r.trial.workload.n_subgroups, n_subjects = s->n_ranks * s->n_iterations * n;
	struct subject *const subjects = arena_zalloc(&r.arena, n_subjects, sizeof *subjects);
	for (size_t i = 0; i < n_subjects; i++)
		subjects[i].write_back_start_s = INFINITY;
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *const op = &s->ops[i];
		if (op->subgroup >= 0)
			note(&subjects[(op->rank * s->n_iterations + op->iteration) * n + (size_t)op->subgroup], op,
			    r.trial.timeline.start_s[i], r.trial.timeline.end_s[i]);
	}
	return subjects;
}

#define subject_msg(condition) must(condition, "%s: iteration %zu, subgroup %zu: not " #condition, r.what, iteration, x)

/* By the CPU: unscaled where that is a pass of its own, updated, downscaled unless fused, pushed once, in this order. */
static void check_cpu_subgroup(const struct subject *s, size_t iteration, size_t x)
{
	const bool is_fused =
	    expected.is_split || expected.adam == OP_CPU_ADAM_FUSED || expected.adam == OP_CPU_ADAM_FUSED_BF16;
	const bool has_worker = r.trial.use.policy->workers;
	subject_msg(s->n_cpu_adam == 1 && s->n_gpu_adam == 0);
	subject_msg(s->n_unscale == (expected.has_unscale ? 1 : 0));
	subject_msg(s->n_downscale == (has_worker && !is_fused ? 1 : 0));
	subject_msg(s->n_push == 1 && s->push_start_s >= s->adam_end_s);
	subject_msg(s->up_bytes == 0 && s->down_bytes == 0 && s->n_cast == 0);
}

/* On the GPU: fetched, updated, written back (unless that is lost), nothing pushed. */
static void check_gpu_subgroup(const struct subject *s, size_t iteration, size_t x, bool is_lost)
{
	const bool is_streamed = expected.places[x] == PLACE_STREAMED;
	const bool is_split = is_streamed && expected.is_split;
	const double bytes = is_streamed ? (is_split ? 10 : 12) * r.trial.workload.subgroups[x].n_params : 0;
	subject_msg(s->n_cpu_adam == 0 && s->n_gpu_adam == 1 && s->n_split_adam == is_split);
	subject_msg(s->n_unscale == 0 && s->n_downscale == 0 && s->n_push == 0);
	subject_msg(fabs(s->up_bytes - bytes) <= 1e-12 * bytes && s->fetch_end_s <= s->adam_start_s);
	subject_msg(fabs(s->down_bytes - (is_lost ? 0 : bytes)) <= 1e-12 * bytes && s->write_back_start_s >= s->adam_end_s);
	subject_msg(s->n_cast == (is_streamed && !is_split ? is_lost ? 1 : 2 : 0));
}

static size_t last_streamed(void)
{
	size_t last = SIZE_MAX;
	for (size_t x = 0; x < r.trial.workload.n_subgroups; x++)
		if (expected.places[x] == PLACE_STREAMED)
			last = x;
	return last;
}

static void check_updates(void)
{
	const struct schedule *const s = &r.trial.schedule;
	const size_t n = r.trial.workload.n_subgroups;
	const struct subject *const subjects = list_subjects();
	for (size_t i = 0; i < s->n_iterations * n * s->n_ranks && expected.is_known; i++) {
		const size_t x = i % n, iteration = i / n % s->n_iterations;
		must(r.trial.places[x] == expected.places[x], "%s: subgroup %zu has place %d, want %d", r.what, x,
		    r.trial.places[x], expected.places[x]);
		subject_msg(subjects[i].adam_params == r.trial.workload.subgroups[x].n_params);
		if (expected.places[x] == PLACE_CPU)
			check_cpu_subgroup(&subjects[i], iteration, x);
		else
			check_gpu_subgroup(
			    &subjects[i], iteration, x, expected.has_lost_write_back && x == last_streamed());
	}
}

START_TEST(every_parameter_is_updated_once)
{
	for_all(_i, check_updates);
}
END_TEST

/* ---- bytes over PCIe: the metrics' and the sum over the operations of each iteration and rank */

static void check_bytes(void)
{
	const struct schedule *const s = &r.trial.schedule;
	const struct metrics *const m = &r.trial.metrics;
	const double tolerance = 1e-12 * (expected.h2d_bytes + expected.d2h_bytes);
	double up[8][256] = {{0}}, down[8][256] = {{0}};
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *const op = &s->ops[i];
		up[op->rank][op->iteration] += op->kind == OP_H2D ? op->amount
		    : op->kind == OP_PUSH_PAGEABLE                ? 2 * op->amount
								  : 0;
		down[op->rank][op->iteration] += op->kind == OP_D2H ? op->amount
		    : op->kind == OP_FLUSH_PAGEABLE                 ? 2 * op->amount
								    : 0;
	}
	for (size_t i = 0; i < s->n_iterations * s->n_ranks && expected.is_known; i++) {
		const size_t rank = i % s->n_ranks, iteration = i / s->n_ranks;
		must(fabs(up[rank][iteration] - expected.h2d_bytes) <= tolerance &&
			fabs(down[rank][iteration] - expected.d2h_bytes) <= tolerance,
		    "%s: %.17g B up, %.17g B down, want %.17g and %.17g", r.what, up[rank][iteration],
		    down[rank][iteration], expected.h2d_bytes, expected.d2h_bytes);
	}
	ck_assert(fabs(m->h2d_bytes - up[0][s->n_iterations - 1]) <= tolerance);
	ck_assert(fabs(m->d2h_bytes - down[0][s->n_iterations - 1]) <= tolerance);
}

START_TEST(bytes_equal_the_closed_form)
{
	for_all(_i, check_bytes);
}
END_TEST

/* ---- phases */

static void check_phases(void)
{
	const struct metrics *const m = &r.trial.metrics;
	const struct schedule *const s = &r.trial.schedule;
	const double *const end_s = r.trial.timeline.end_s;
	const op_id *const last = &s->marks[(s->n_iterations - 1) * PHASE_N], *const before = last - PHASE_N;
	const double begin_s = end_s[before[PHASE_OTHER]], finish_s = end_s[last[PHASE_OTHER]];
	ck_assert(m->forward_s + m->backward_s + m->update_s + m->other_s == m->iteration_s);
	must(fabs(m->iteration_s - (finish_s - begin_s)) <= 1e-12 * finish_s, "%s: phases add up to %.17g of %.17g s",
	    r.what, m->iteration_s, finish_s - begin_s);
	ck_assert(m->forward_s >= 0 && m->backward_s >= 0 && m->update_s > 0 && m->other_s >= 0);
	must(fabs(m->update_s - (end_s[last[PHASE_UPDATE]] - end_s[last[PHASE_BACKWARD]])) <= 1e-12 * finish_s,
	    "%s: update takes %.17g s, by its marks %.17g", r.what, m->update_s,
	    end_s[last[PHASE_UPDATE]] - end_s[last[PHASE_BACKWARD]]);
	must(fabs(m->other_s - (finish_s - end_s[last[PHASE_UPDATE]])) <= 1e-12 * finish_s, "%s: other", r.what);
	for (size_t lane = 0; lane < LANE_N; lane++)
		ck_assert(m->busy_frac[lane] >= 0 && m->busy_frac[lane] <= 1 + 1e-9);
	double path_s = 0;
	for (size_t res = 0; res < RES_N; res++)
		path_s += m->path_s[res];
	must(fabs(path_s - (end_s[last[PHASE_UPDATE]] - begin_s)) <= 1e-9 * finish_s,
	    "%s: the critical path explains %.17g of %.17g s", r.what, path_s, end_s[last[PHASE_UPDATE]] - begin_s);
}

START_TEST(phases_add_up_to_the_iteration)
{
	for_all(_i, check_phases);
}
END_TEST

/* ---- memory */

struct ledger {
	double held[POOL_N][MEM_N], most[POOL_N];
};

/* Position in order[] of each start and end of rank 0's operations, then the events there, in order of creation. */
static uint32_t *list_events(void)
{
	const struct schedule *const s = &r.trial.schedule;
	uint32_t *const first = arena_zalloc(&r.arena, 2 * s->n_ops + s->n_mem, sizeof *first),
			*const next = first + 2 * s->n_ops;
	for (size_t e = s->n_mem; e-- > 0;) {
		const size_t at = 2 * (size_t)s->mem[e].op + s->mem[e].at_end;
		next[e] = first[at];
		first[at] = (uint32_t)e + 1;
	}
	return first;
}

static void book(struct ledger *ledger, const struct mem_event *event)
{
	double *const held = ledger->held[event->pool];
	double sum = 0;
	held[event->mem] += event->bytes;
	must(held[event->mem] >= -1, "%s: %s falls to %.17g B below what is held for good", r.what, mem_names[event->mem],
	    held[event->mem]);
	for (size_t mem = 0; mem < MEM_N; mem++)
		sum += held[mem];
	ledger->most[event->pool] = fmax(ledger->most[event->pool], sum);
}

/* Walks the ledger in order: never below what is held for good, back there after the last iteration; the peak is the metrics'. */
static void check_memory(void)
{
	const struct schedule *const s = &r.trial.schedule;
	struct ledger ledger = {.most = {0}};
	double resident[POOL_N] = {0};
	const uint32_t *const events = list_events();
	for (size_t i = 0; i < 2 * s->n_ops; i++)
		for (uint32_t e = events[r.trial.timeline.order[i]]; e; e = events[2 * s->n_ops + e - 1])
			if (s->ops[s->mem[e - 1].op].rank == 0)
				book(&ledger, &s->mem[e - 1]);
	for (size_t i = 0; i < POOL_N * MEM_N; i++) {
		must(fabs(ledger.held[i / MEM_N][i % MEM_N]) <= 1, "%s: %.17g B of %s are left", r.what,
		    ledger.held[i / MEM_N][i % MEM_N], mem_names[i % MEM_N]);
		resident[i / MEM_N] += s->resident_bytes[i / MEM_N][i % MEM_N];
	}
	assert_rel(r.trial.metrics.gpu_peak_bytes, resident[POOL_GPU] + ledger.most[POOL_GPU], 1e-9);
	assert_rel(r.trial.metrics.host_peak_bytes,
	    (resident[POOL_HOST] + ledger.most[POOL_HOST]) * r.trial.workload.batch.gpus, 1e-9);
}

START_TEST(memory_returns_to_its_start)
{
	for_all(_i, check_memory);
}
END_TEST

Suite *property_suite(void);
Suite *property_suite(void)
{
	Suite *const suite = suite_create("property");
	TCase *const core = tcase_create("policies");
	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_loop_test(core, timelines_are_sound, 0, n_policies());
	tcase_add_loop_test(core, makespan_is_bounded, 0, n_policies());
	tcase_add_loop_test(core, every_parameter_is_updated_once, 0, n_policies());
	tcase_add_loop_test(core, bytes_equal_the_closed_form, 0, n_policies());
	tcase_add_loop_test(core, phases_add_up_to_the_iteration, 0, n_policies());
	tcase_add_loop_test(core, memory_returns_to_its_start, 0, n_policies());
	suite_add_tcase(suite, core);
	return suite;
}
