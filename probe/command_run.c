/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos-probe list, dos-probe run. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/base/file_replace.h"
#include "model/base/table.h"
#include "probe/commands.h"
#include "probe/interrupt.h"
#include "probe/profile_write.h"
#include "probe/rounds.h"
#include "probe/run_table.h"

struct run_options {
	int unused; /* offset 0 means "not given" in struct opt */
	struct opt_list tests;
	long long seed;
	bool quick, quiet;
	const char *out, *name, *note;
};

#define AT(member) offsetof(struct run_options, member)
static const struct opt run_opts[] = {
    {.name = "test",
	.letter = 't',
	.kind = OPT_LIST,
	.offset = AT(tests),
	.arg = "NAME",
	.help = "only cases whose name begins so (repeatable)"},
    {.name = "quick", .kind = OPT_FLAG, .offset = AT(quick), .help = "one round, fewer points: under 30 s"},
    {.name = "seed",
	.kind = OPT_INT,
	.offset = AT(seed),
	.min = 0,
	.max = 1000000000,
	.fallback = "1",
	.arg = "N",
	.help = "of the order of the cases in the rounds"},
    {.name = "output", .letter = 'o', .kind = OPT_TEXT, .offset = AT(out), .arg = "FILE", .help = "write the profile here"},
    {.name = "name",
	.kind = OPT_TEXT,
	.offset = AT(name),
	.fallback = "probed",
	.arg = "NAME",
	.help = "name of the profile"},
    {.name = "note", .kind = OPT_TEXT, .offset = AT(note), .arg = "TEXT", .help = "note kept in the profile"},
    {.name = "quiet", .letter = 'q', .kind = OPT_FLAG, .offset = AT(quiet), .help = "no progress on stderr"},
};

static bool is_chosen(const struct probe_case *probe_case, const struct opt_list *tests)
{
	for (size_t i = 0; i < tests->n; i++)
		if (strncmp(probe_case->key, tests->items[i], strlen(tests->items[i])) == 0)
			return true;
	return tests->n == 0;
}

/* Every -t must choose something. */
static int check_tests(const struct opt_list *tests, struct arena *arena, struct err *err)
{
	struct opt_list names = {0};
	for (size_t i = 0; i < n_probe_cases; i++)
		opt_list_add(&names, probe_cases[i]->key, arena);
	opt_list_add(&names, NULL, arena);
	for (size_t i = 0; i < tests->n; i++) {
		const struct opt_list one = {&tests->items[i], 1};
		size_t n_chosen = 0;
		for (size_t j = 0; j < n_probe_cases; j++)
			n_chosen += is_chosen(probe_cases[j], &one);
		const char *const nearest = err_nearest(tests->items[i], names.items);
		if (n_chosen == 0)
			return err_set(err, STATUS_USAGE, "no case begins with '%s'%s%s%s", tests->items[i],
			    nearest ? "; did you mean '" : "; 'dos-probe list' names them", nearest ? nearest : "",
			    nearest ? "'?" : "");
	}
	return 0;
}

/* Rates that no machine can have are an error of the probe, not a record. */
static void gate(struct result *result, const struct harness *harness)
{
	const double rate_Bps = result->stats.centre * result->bytes_per_unit;
	const bool is_link = strcmp(result->what, "h2d") == 0 || strcmp(result->what, "d2h") == 0;
	const double link_Bps =
	    harness->gpu_info.link_Bps > 0 ? harness->gpu_info.link_Bps : 450e9; /* NVLink to the host */
	double limit_Bps = 50e12; /* of any memory; caches of small cases included */
	if (result->status != RESULT_PASSED)
		return;
	if (is_link)
		limit_Bps = link_Bps;
	else if (strncmp(result->key, "device_local", 12) == 0)
		limit_Bps = 16e12;
	if (result->stats.centre > 0 && rate_Bps <= limit_Bps)
		return;
	result->status = RESULT_ERROR;
	snprintf(result->note, sizeof result->note, "implausible: %.4g B/s, the limit is %.4g B/s", rate_Bps, limit_Bps);
}

static void run_cases(struct harness *harness, const struct opt_list *tests, struct arena *arena)
{
	const struct probe_case **const chosen = arena_alloc(arena, n_probe_cases, sizeof *chosen);
	size_t n = 0;
	for (size_t i = 0; i < n_probe_cases; i++)
		if (is_chosen(probe_cases[i], tests))
			chosen[n++] = probe_cases[i];
	rounds_run(harness, chosen, n);
	for (size_t i = 0; i < harness->n_results; i++)
		gate(&harness->results[i], harness);
	if (harness->progress)
		fprintf(harness->progress, "\r\033[K");
}

static int finish(const struct harness *harness, const struct run_options *options, const char *command, struct err *err)
{
	static struct derived derived; /* large; once a process */
	const struct profile_facts facts = {
	    options->name, command, options->note ? options->note : "", !interrupt_seen() && options->tests.n == 0 && harness->n_gpus > 0};
	size_t n_errors = 0;
	derive(&derived, harness);
	run_table_print(harness, &derived);
	for (size_t i = 0; i < harness->n_results; i++)
		n_errors += harness->results[i].status == RESULT_ERROR;
	if (options->out) {
		const int rc = profile_write(options->out, harness, &derived, &facts, err);
		if (rc)
			return rc;
	}
	if (interrupt_seen())
		return err_set(err, STATUS_INTERRUPTED, "interrupted; the profile says \"complete\": false");
	if (options->out && !options->quiet && harness->n_gpus == 0)
		fprintf(stderr, "dos-probe: no GPU here: %s has values of the host alone, which dos does not accept as a machine; run it "
				"where the GPU is\n", options->out);
	return n_errors ? err_set(err, STATUS_NO, "%zu measurements failed", n_errors) : 0;
}

int command_run(int argc, char **argv, struct arena *arena, struct err *err)
{
	struct run_options options = {0};
	const struct opt_table table = {&options, run_opts, sizeof run_opts / sizeof run_opts[0], NULL};
	struct opt_list rest = {0};
	struct harness harness;
	bool done;
	int rc =
	    command_parse(&table, "dos-probe run [-t NAME..] [--quick] [-o FILE]", argc, argv, &rest, &done, arena, err);
	for (size_t i = 0; rc == 0 && i < rest.n && options.tests.n > 0; i++)
		opt_list_add(&options.tests, rest.items[i], arena);
	if (rc == 0 && !done && rest.n > 0 && options.tests.n == 0)
		rc = err_set(err, STATUS_USAGE, "unexpected '%s'; cases are chosen by -t NAME", rest.items[0]);
	if (rc == 0 && !done)
		rc = check_tests(&options.tests, arena, err);
	if (rc == 0 && !done)
		rc = file_replace_check(options.out, arena, err);
	if (rc || done)
		return rc;
	interrupt_catch();
	rc = harness_open(&harness, options.quick, isatty(STDERR_FILENO) && !options.quiet ? stderr : NULL, err);
	if (rc == 0) {
		harness.seed = (uint64_t)options.seed;
		run_cases(&harness, &options.tests, arena);
		rc = finish(&harness, &options, command_text(argc, argv, arena), err);
	}
	harness_close(&harness);
	return rc;
}

int command_list(int argc, char **argv, struct arena *arena, struct err *err)
{
	static const struct table_column columns[] = {
	    {"case", "case", UNIT_NONE}, {"status", "here", UNIT_NONE}, {"what", "what", UNIT_NONE}};
	const struct opt_table none = {NULL, NULL, 0, NULL};
	struct opt_list rest = {0};
	char reason[256] = "";
	bool done;
	int rc = command_parse(&none, "dos-probe list", argc, argv, &rest, &done, arena, err);
	if (rc == 0 && !done && rest.n > 0)
		rc = err_set(err, STATUS_USAGE, "unexpected '%s'", rest.items[0]);
	if (rc || done)
		return rc;
	const bool has_gpu = gpu_count(reason, sizeof reason) > 0;
	struct table *const table = table_new(columns, 3);
	for (size_t i = 0; i < n_probe_cases; i++) {
		table_text(table, probe_cases[i]->key);
		table_text(table, probe_cases[i]->kind == CASE_HOST || has_gpu ? "runs" : "waived");
		table_text(table, probe_cases[i]->what);
	}
	table_print(table, FORMAT_TABLE, stdout);
	table_free(table);
	if (!has_gpu)
		fprintf(stderr, "dos-probe: GPU cases are waived: %s\n", reason);
	return 0;
}
