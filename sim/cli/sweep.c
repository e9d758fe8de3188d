/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos sweep: a grid of trials into a database. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/command.h"
#include "sim/cli/sweep_flags.h"
#include "sim/study/sweep.h"

/* Set by SIGHUP, SIGINT and SIGTERM: a handler has no arguments. */
static atomic_int stop_signal;

static void on_signal(int number)
{
	atomic_store(&stop_signal, number);
}

/* The first signal ends the sweep in good order; the second, the process. */
static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, before;

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
		sigaction(SIGHUP, &action, NULL);
}

/* ---- talk */

static void print_progress(void *context, const struct sweep_counts *counts)
{
	char left[UNITS_TEXT_MAX] = "?";
	const double rate = counts->elapsed_s > 0 ? (double)counts->n_done / counts->elapsed_s : 0;

	(void)context;
	if (rate > 0)
		units_print(left, UNIT_SECONDS, (double)(counts->n_points - counts->n_done) / rate);
	fprintf(stderr, "\r%zu of %zu points, %.0f/s, %s left \033[K", counts->n_done, counts->n_points, rate, left);
	if (counts->n_done == counts->n_points)
		fputs("\r\033[K", stderr);
}

static bool has_terminal(const struct common *c)
{
	const char *const term = getenv("TERM");
	return !c->is_quiet && isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

/* A word as a shell reads it again. */
static void print_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@";

	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	}
	putc('\'', out);
}

static void print_resume(int argc, char **argv)
{
	fputs("dos: to go on: dos", stderr);
	for (int i = 0; i < argc; i++) {
		putc(' ', stderr);
		print_word(stderr, argv[i]);
	}
	putc('\n', stderr);
}

/* ---- the answer */

static void json_counts(FILE *out, const char *db, const struct sweep_counts *counts)
{
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_member_string(&w, "schema", "dos-sweep/1");
	jsonw_member_string(&w, "db", db);
	jsonw_member_integer(&w, "n_points", (long long)counts->n_points);
	jsonw_member_integer(&w, "n_new", (long long)counts->n_new);
	jsonw_member_integer(&w, "n_present", (long long)counts->n_present);
	jsonw_member_integer(&w, "n_unfit", (long long)counts->n_unfit);
	jsonw_member_integer(&w, "n_refused", (long long)counts->n_refused);
	jsonw_member_number(&w, "elapsed_s", counts->elapsed_s);
	jsonw_end_object(&w);
	putc('\n', out);
}

static void table_counts(FILE *out, enum format format, const struct sweep_counts *counts)
{
	static const struct table_column columns[] = {{"n_points", "points", UNIT_NONE}, {"n_new", "new", UNIT_NONE},
	    {"n_present", "already there", UNIT_NONE}, {"n_unfit", "do not fit", UNIT_NONE}, {"n_refused", "refused", UNIT_NONE}};
	struct table *const table = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	table_integer(table, (long long)counts->n_points);
	table_integer(table, (long long)counts->n_new);
	table_integer(table, (long long)counts->n_present);
	table_integer(table, (long long)counts->n_unfit);
	table_integer(table, (long long)counts->n_refused);
	table_print(table, format, out);
	table_free(table);
}

static void json_points(FILE *out, size_t n_points)
{
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_member_string(&w, "schema", "dos-sweep/1");
	jsonw_member_integer(&w, "n_points", (long long)n_points);
	jsonw_end_object(&w);
	putc('\n', out);
}

static void print_points(FILE *out, enum format format, size_t n_points)
{
	if (format == FORMAT_JSON)
		json_points(out, n_points);
	else
		fprintf(out, "%s%zu\n", format == FORMAT_CSV ? "n_points\n" : "", n_points);
}

static int print_answer(const struct sweep_flags *flags, const struct sweep_counts *counts, struct arena *arena, struct err *err)
{
	const enum format format = (enum format)flags->common.format;
	struct file_replace file;

	if (file_replace_open(&file, flags->common.output, arena, err))
		return err->code;
	if (flags->is_dry_run)
		print_points(file.out, format, counts->n_points);
	else if (format == FORMAT_JSON)
		json_counts(file.out, flags->db, counts);
	else
		table_counts(file.out, format, counts);
	return file_replace_commit(&file, err);
}

/* ---- running */

static size_t n_cpus(void)
{
	const long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 1 ? (size_t)n : 1;
}

static int sweep(const struct sweep_flags *flags, int argc, char **argv, struct arena *arena, struct err *err)
{
	struct grid grid;
	struct sweep_counts counts = {0};
	int code = sweep_flags_grid(&grid, flags, arena, err);

	if (code)
		return code;
	const struct sweep run = {.grid = &grid,
	    .db = flags->db,
	    .n_workers = flags->jobs ? (size_t)flags->jobs : n_cpus(),
	    .shard = flags->shard,
	    .n_shards = flags->n_shards,
	    .limit = (size_t)flags->limit,
	    .is_closed_form = flags->is_closed_form,
	    .stop = &stop_signal,
	    .progress = has_terminal(&flags->common) ? print_progress : NULL};
	if (flags->is_dry_run) {
		counts.n_points = sweep_n_points(&run);
		return print_answer(flags, &counts, arena, err);
	}
	if (file_replace_check(flags->common.output, arena, err))
		return err->code;
	catch_signals();
	code = sweep_run(&counts, &run, err);
	if (code && run.progress)
		fputs("\r\033[K", stderr);
	if (code == STATUS_INTERRUPTED || (code && counts.n_new > 0))
		print_resume(argc, argv);
	if (counts.n_refused > 0)
		common_note(&flags->common, "%zu points are refused; the first: %s", counts.n_refused, counts.refusal);
	return code ? code : print_answer(flags, &counts, arena, err);
}

int command_sweep(int argc, char **argv, struct err *err)
{
	struct arena arena = {0};
	struct sweep_flags flags;
	int code = sweep_flags_parse(&flags, argc, argv, &arena, err);

	if (!code && !flags.common.wants_help)
		code = sweep(&flags, argc, argv, &arena, err);
	arena_release(&arena);
	return code;
}
