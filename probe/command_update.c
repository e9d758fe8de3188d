/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos-probe update, dos-probe merge. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/base/file_replace.h"
#include "model/base/table.h"
#include "probe/commands.h"
#include "probe/interrupt.h"
#include "probe/runs_csv.h"
#include "probe/update_points.h"

struct update_options {
	int unused; /* offset 0 means "not given" in struct opt */
	struct opt_list policies;
	double subgroup, subgroups;
	long long threads, gpus, repeats;
	const char *points, *out, *trace, *hw, *note;
	bool quiet, no_verify;
};

#define AT(member) offsetof(struct update_options, member)
static const struct opt update_opts[] = {
    {.name = "policy",
	.kind = OPT_LIST,
	.offset = AT(policies),
	.arg = "SPEC",
	.help = "dos:.. or hybrid:.., lists and ranges in it allowed (repeatable)"},
    {.name = "points",
	.kind = OPT_TEXT,
	.offset = AT(points),
	.arg = "FILE",
	.help = "lines 'SPEC [subgroup [subgroups [threads]]]'; - is stdin"},
    {.name = "subgroup",
	.kind = OPT_NUMBER,
	.unit = UNIT_PARAMS,
	.offset = AT(subgroup),
	.min = 1,
	.max = 1e11,
	.fallback = "100M",
	.arg = "S",
	.help = "parameters of a subgroup"},
    {.name = "subgroups",
	.kind = OPT_NUMBER,
	.offset = AT(subgroups),
	.min = 1,
	.max = 1e6,
	.fallback = "12",
	.arg = "N",
	.help = "subgroups of a rank"},
    {.name = "threads",
	.kind = OPT_INT,
	.offset = AT(threads),
	.min = 1,
	.max = 4096,
	.arg = "T",
	.help = "CPU Adam threads of a rank (all, less the workers)"},
    {.name = "gpus",
	.kind = OPT_INT,
	.offset = AT(gpus),
	.min = 1,
	.max = 64,
	.fallback = "1",
	.arg = "R",
	.help = "GPUs at once, one rank each"},
    {.name = "repeats",
	.letter = 'n',
	.kind = OPT_INT,
	.offset = AT(repeats),
	.min = 1,
	.max = STATS_SAMPLES_MAX,
	.fallback = "5",
	.arg = "REPEATS",
	.help = "updates of every point, interleaved"},
    {.name = "output",
	.letter = 'o',
	.kind = OPT_TEXT,
	.offset = AT(out),
	.arg = "FILE",
	.help = "validation rows (CSV); raw samples beside it in .samples.csv"},
    {.name = "trace",
	.kind = OPT_TEXT,
	.offset = AT(trace),
	.arg = "FILE",
	.help = "Chrome trace of one more update of every point"},
    {.name = "hw",
	.kind = OPT_TEXT,
	.offset = AT(hw),
	.fallback = "probed",
	.arg = "NAME",
	.help = "profile name for the hw column"},
    {.name = "note", .kind = OPT_TEXT, .offset = AT(note), .arg = "TEXT", .help = "kept in the source column"},
    {.name = "no-verify",
	.kind = OPT_FLAG,
	.offset = AT(no_verify),
	.help = "do not verify the results; rows are excluded unless another file of a merge verifies them"},
    {.name = "quiet", .letter = 'q', .kind = OPT_FLAG, .offset = AT(quiet), .help = "no progress on stderr"},
};

struct report {
	struct update_job *job;
	const struct update_options *options;
	struct err err;
};

static int write_rows(const struct update_job *job, const struct update_options *options, struct err *err)
{
	const struct runs_header header = {options->hw, options->note ? options->note : ""};
	if (!options->out)
		return 0;
	const int rc = runs_csv_write(options->out, job, &header, err);
	return rc ? rc : runs_csv_write_samples(options->out, job, err);
}

/* Finished repeats are on disk before the next one begins. */
static void report_repeat(void *context, size_t n_done)
{
	struct report *const report = context;
	if (report->err.code == 0 && write_rows(report->job, report->options, &report->err))
		fprintf(stderr, "dos-probe: %s\n", report->err.text);
	if (!report->options->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "repeat %zu of %zu\n", n_done, report->job->n_repeats);
}

static int collect_points(struct update_points *points, const struct update_options *options, const struct opt_list *rest,
    const struct topology *topology, struct arena *arena, struct err *err)
{
	int cpus[TOPOLOGY_CPUS_MAX];
	const struct update_defaults defaults = {.subgroup_params = (size_t)options->subgroup,
	    .n_subgroups = (size_t)options->subgroups,
	    .threads = (int)options->threads,
	    .n_cpus = topology_slice(cpus, topology, 0, (int)options->gpus)};
	int rc = 0;
	if (options->policies.n == 0 && !options->points)
		return err_set(
		    err, STATUS_USAGE, "--policy is needed: dos:stride=2, hybrid:fraction=0.5, or --points FILE");
	for (size_t i = 0; i < options->policies.n && rc == 0; i++)
		rc = update_points_add(points, options->policies.items[i], &defaults, arena, err);
	for (size_t i = 0; i < rest->n && rc == 0; i++)
		rc = update_points_add(points, rest->items[i], &defaults, arena, err);
	if (rc == 0 && options->points)
		rc = update_points_load(points, options->points, &defaults, arena, err);
	if (rc == 0 && points->n == 0)
		rc = err_set(err, STATUS_INPUT, "%s: no points", options->points);
	return rc;
}

static int check_device(const struct update_options *options, const struct update_points *points,
    const struct topology *topology, struct err *err)
{
	char reason[256];
	const int n_gpus = gpu_count(reason, sizeof reason);
	if (n_gpus <= 0)
		return err_set(err, STATUS_ENV, "update needs a GPU: %s", reason);
	if (n_gpus < options->gpus)
		return err_set(err, STATUS_ENV, "%lld GPUs asked for, %d here", options->gpus, n_gpus);
	const double need_bytes = (double)options->gpus * update_host_bytes(points->points, points->n);
	/* A virtual machine's memory may grow as it is used; there the allocation itself decides. */
	if (!topology->hypervisor && need_bytes > 0.9 * topology->memory_bytes)
		return err_set(err, STATUS_ENV, "%.1f GiB of host memory are needed, %.1f GiB are here",
		    need_bytes / 0x1p30, topology->memory_bytes / 0x1p30);
	return 0;
}

static size_t print_summary(const struct update_job *job)
{
	static const struct table_column columns[] = {{"policy", "policy", UNIT_NONE},
	    {"subgroup", "subgroup", UNIT_PARAMS}, {"n_subgroups", "n", UNIT_NONE}, {"threads", "threads", UNIT_NONE},
	    {"update_s", "update", UNIT_SECONDS}, {"min_s", "min", UNIT_SECONDS}, {"max_s", "max", UNIT_SECONDS},
	    {"complete_s", "complete", UNIT_SECONDS}, {"rate", "rate", UNIT_PARAMS_PER_S}, {"check", "result", UNIT_NONE}};
	struct table *const table = table_new(columns, sizeof columns / sizeof columns[0]);
	size_t n_wrong = 0;
	for (size_t i = 0; i < job->n_points; i++) {
		const struct update_point *const point = &job->points[i];
		const struct update_result *const result = &job->results[i];
		struct stats stats;
		if (result->n_samples == 0)
			continue;
		stats_of(&stats, result->samples_s, result->n_samples);
		n_wrong += result->verified && result->check.n_wrong > 0;
		table_text(table, point->policy.canonical);
		table_number(table, (double)point->layout.subgroup_params);
		table_integer(table, (long long)point->layout.n_subgroups);
		table_integer(table, point->threads);
		table_number(table, stats.median);
		table_number(table, stats.min);
		table_number(table, stats.max);
		table_number(table, stats_median(result->complete_s, result->n_samples));
		table_number(table,
		    (double)(point->layout.subgroup_params * point->layout.n_subgroups) * job->n_ranks / stats.median);
		table_text(table, !result->verified ? "not verified" : result->check.n_wrong ? "WRONG" : "verified");
	}
	table_print(table, FORMAT_TABLE, stdout);
	table_free(table);
	return n_wrong;
}

static int measure(struct update_job *job, const struct update_options *options, struct err *err)
{
	struct report report = {.job = job, .options = options};
	struct jsonw w;
	FILE *trace = NULL;
	if (options->trace) {
		trace = fopen(options->trace, "w");
		if (!trace)
			return err_set(err, STATUS_ENV, "%s: %s", options->trace, strerror(errno));
		jsonw_init(&w, trace, true);
		jsonw_object(&w);
		jsonw_member_string(&w, "displayTimeUnit", "ms");
		jsonw_key(&w, "traceEvents");
		jsonw_array(&w);
		job->trace = &w;
	}
	job->report = report_repeat;
	job->context = &report;
	int rc = update_measure(job, err);
	if (trace) {
		jsonw_end_array(&w);
		jsonw_end_object(&w);
		fputc('\n', trace);
		if (fclose(trace) != 0 && rc == 0)
			rc = err_set(err, STATUS_ENV, "%s: %s", options->trace, strerror(errno));
	}
	if (report.err.code && rc == 0) {
		*err = report.err;
		rc = err->code;
	}
	return rc;
}

int command_update(int argc, char **argv, struct arena *arena, struct err *err)
{
	struct update_options options = {0};
	const struct opt_table table = {&options, update_opts, sizeof update_opts / sizeof update_opts[0], NULL};
	struct opt_list rest = {0};
	struct update_points points = {0};
	struct topology topology;
	bool done;
	int rc = command_parse(&table, "dos-probe update --policy SPEC.. [options]", argc, argv, &rest, &done, arena, err);
	if (rc || done)
		return rc;
	topology_read(&topology);
	rc = collect_points(&points, &options, &rest, &topology, arena, err);
	if (rc == 0)
		rc = file_replace_check(options.out, arena, err);
	if (rc == 0)
		rc = check_device(&options, &points, &topology, err);
	if (rc)
		return rc;
	struct update_job job = {.topology = &topology,
	    .points = points.points,
	    .n_points = points.n,
	    .results = arena_zalloc(arena, points.n, sizeof(struct update_result)),
	    .n_ranks = (int)options.gpus,
	    .n_repeats = (size_t)options.repeats,
	    .skip_check = options.no_verify};
	interrupt_catch();
	rc = measure(&job, &options, err);
	struct err write_err = {0};
	if (write_rows(&job, &options, &write_err) && rc == 0) {
		*err = write_err;
		rc = err->code;
	}
	const size_t n_wrong = print_summary(&job);
	if (rc == 0 && n_wrong > 0)
		rc = err_set(err, STATUS_NO, "%zu schedules gave wrong results; their rows are marked exclude", n_wrong);
	return rc;
}

/* ---- merge */

struct merge_options {
	int unused;
	const char *out;
};

int command_merge(int argc, char **argv, struct arena *arena, struct err *err)
{
	static const struct opt opts[] = {{.name = "output",
	    .letter = 'o',
	    .kind = OPT_TEXT,
	    .offset = offsetof(struct merge_options, out),
	    .arg = "FILE",
	    .help = "medians over the files, a row a point"}};
	struct merge_options options = {0};
	const struct opt_table table = {&options, opts, 1, NULL};
	struct opt_list rest = {0};
	bool done;
	const int rc = command_parse(&table, "dos-probe merge RUNS.csv.. -o FILE", argc, argv, &rest, &done, arena, err);
	if (rc || done)
		return rc;
	if (!options.out || rest.n == 0)
		return err_set(err, STATUS_USAGE, "runs.csv files and -o FILE are needed");
	return runs_csv_merge(options.out, rest.items, rest.n, arena, err);
}
