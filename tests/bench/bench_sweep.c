/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/bench_sweep.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/study/runner.h"
#include "sim/study/sweep.h"

enum { PATH_BYTES = 128 };

/* 49 strides x so many micro-batches of the 7B model, one rank, subgroups of 10 M parameters. */
struct bench_grid {
	struct arena arena;
	struct grid grid;
	struct runner *runner; /* of points that are not stored */
	char folder[64], db[PATH_BYTES];
	size_t n_workers, next;
	bool is_closed_form;
};

static void must(int code, const struct err *err)
{
	if (code == 0)
		return;
	fprintf(stderr, "bench: %s\n", err->text);
	exit(EXIT_FAILURE);
}

static void grid_open(struct bench_grid *b, const struct hwprofile *hw, const char *micro_batches, bool is_closed_form)
{
	static const struct opt count = {.name = "count", .kind = OPT_INT, .min = 1, .max = 1e9};
	struct err err;

	*b = (struct bench_grid){.folder = "/tmp/dos_bench.XXXXXX", .is_closed_form = is_closed_form};
	if (!mkdtemp(b->folder))
		exit(EXIT_FAILURE);
	snprintf(b->db, sizeof(b->db), "%s/runs.db", b->folder);
	grid_init(&b->grid, &b->arena);
	grid_add_hw(&b->grid, hw);
	grid_add_model(&b->grid, &shape_preset_find("7b")->shape, &(struct batch){.precision = PRECISION_BF16});
	must(grid_add_flag(&b->grid, GRID_GPUS, &count, "1", &err), &err);
	must(grid_add_flag(&b->grid, GRID_SUBGROUP, &count, "10M", &err), &err);
	must(grid_add_flag(&b->grid, GRID_MBS, &count, micro_batches, &err), &err);
	must(grid_add_policies(&b->grid, "dos:stride=2..50", &err), &err);
	must(grid_finish(&b->grid, &err), &err);
	b->runner = arena_alloc(&b->arena, 1, sizeof(*b->runner));
	runner_init(b->runner, &b->grid, is_closed_form);
}

static void grid_close(struct bench_grid *b)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char path[PATH_BYTES + 8];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", b->db, suffixes[i]);
		unlink(path);
	}
	rmdir(b->folder);
	runner_release(b->runner);
	arena_release(&b->arena);
}

/* A sweep of the whole grid into an empty store. */
static double store_all(void *context)
{
	struct bench_grid *const b = context;
	const struct sweep sweep = {
	    .grid = &b->grid, .db = b->db, .n_workers = b->n_workers, .n_shards = 1, .is_closed_form = b->is_closed_form};
	struct sweep_counts counts;
	struct err err;

	unlink(b->db);
	must(sweep_run(&counts, &sweep, &err), &err);
	return (double)counts.n_new;
}

static double one_point(void *context)
{
	enum { N_AT_ONCE = 64 };
	struct bench_grid *const b = context;
	struct arena texts = {0};
	struct row_done row;

	for (size_t i = 0; i < N_AT_ONCE; i++) {
		runner_prepare(&row, b->runner, b->next++ % b->grid.n_points, &texts);
		runner_run(&row, b->runner, &texts);
	}
	arena_release(&texts);
	return N_AT_ONCE;
}

void bench_points(struct jsonw *w, const struct hwprofile *hw)
{
	struct bench_grid b;

	grid_open(&b, hw, "1..1000", true);
	const struct spread rate = spread_rate(one_point, &b, 0.2, false);
	spread_json(w, "closed_form_points_per_s", &rate);
	grid_close(&b);
}

static void bench_into(struct jsonw *w, const char *key, const struct hwprofile *hw, const char *micro_batches, size_t n_workers,
    bool is_closed_form)
{
	struct bench_grid b;

	grid_open(&b, hw, micro_batches, is_closed_form);
	b.n_workers = n_workers;
	const struct spread rate = spread_rate(store_all, &b, 0, true);
	spread_json(w, key, &rate);
	grid_close(&b);
}

void bench_stored(struct jsonw *w, const struct hwprofile *hw)
{
	bench_into(w, "stored_trials_per_s_1_thread", hw, "1..20", 1, false);
	bench_into(w, "stored_trials_per_s_2_threads", hw, "1..20", 2, false);
	bench_into(w, "stored_closed_form_points_per_s_2_threads", hw, "1..2000", 2, true);
}

/* Peak memory of a child that sweeps. */
static double peak_bytes(const struct hwprofile *hw, const char *micro_batches, double *n_trials)
{
	struct bench_grid b;
	struct rusage usage;
	int status;

	grid_open(&b, hw, micro_batches, false);
	b.n_workers = 2;
	*n_trials = (double)b.grid.n_points;
	const pid_t child = fork();
	if (child == 0)
		_exit(store_all(&b) > 0 ? 0 : 1);
	wait4(child, &status, 0, &usage);
	if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		exit(EXIT_FAILURE);
	grid_close(&b);
	return 1024 * (double)usage.ru_maxrss;
}

void bench_memory(struct jsonw *w, const struct hwprofile *hw)
{
	static const char *const micro_batches[] = {"1..20", "1..204"};

	jsonw_key(w, "sweep_memory");
	jsonw_array(w);
	for (size_t i = 0; i < sizeof(micro_batches) / sizeof(micro_batches[0]); i++) {
		double n_trials;
		const double bytes = peak_bytes(hw, micro_batches[i], &n_trials);
		jsonw_inline_object(w);
		jsonw_member_number(w, "trials", n_trials);
		jsonw_member_number(w, "peak_bytes", bytes);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}
