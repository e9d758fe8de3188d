/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/runs_csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/base/csv.h"
#include "model/base/file_replace.h"
#include "model/base/table.h"

#define RUN_COLUMNS(X) \
	X(id) \
	X(hw) \
	X(model) X(layers) X(hidden) X(heads) X(kv_heads) X(ffn) X(vocab) X(seq) X(gpus) X(mbs) X(grad_accum) \
	    X(checkpointing) X(policy) X(subgroup) X(n_subgroups) X(threads) X(forward_s) X(backward_s) X(update_s) \
		X(other_s) X(iteration_s) X(gpu_peak_bytes) X(host_peak_bytes) X(exclude) X(source)

enum run_column {
#define COLUMN_ENUM(name) RUN_##name,
	RUN_COLUMNS(COLUMN_ENUM)
#undef COLUMN_ENUM
	    N_RUN_COLUMNS
};

static const struct table_column run_columns[] = {
#define COLUMN_ENTRY(name) {.key = #name},
    RUN_COLUMNS(COLUMN_ENTRY)
#undef COLUMN_ENTRY
};

static const struct table_column sample_columns[] = {{.key = "policy"}, {.key = "subgroup"}, {.key = "n_subgroups"},
    {.key = "threads"}, {.key = "gpus"}, {.key = "repeat"}, {.key = "update_s"}, {.key = "complete_s"}, {.key = "verified"},
    {.key = "n_wrong"}, {.key = "n_differing_bits"}, {.key = "worst_relative_error"}};

static int save_table(const char *path, struct table *table, struct err *err)
{
	struct arena arena = {0};
	struct file_replace file;
	int rc = file_replace_open(&file, path, &arena, err);
	if (rc == 0) {
		table_print(table, FORMAT_CSV, file.out);
		rc = file_replace_commit(&file, err);
	}
	arena_release(&arena);
	return rc;
}

static void put_row(struct table *table, const char *const cells[N_RUN_COLUMNS])
{
	for (size_t i = 0; i < N_RUN_COLUMNS; i++)
		table_text(table, cells[i] && cells[i][0] ? cells[i] : NULL);
}

static const char not_verified[] = "not verified";

static const char *exclusion(const struct update_result *result)
{
	if (!result->verified)
		return not_verified;
	return result->check.n_wrong ? "wrong result" : NULL;
}

static void add_run(struct table *table, const struct update_job *job, size_t i, const struct runs_header *header)
{
	const struct update_point *const point = &job->points[i];
	const struct update_result *const result = &job->results[i];
	struct stats stats;
	char id[48], gpus[24], subgroup[24], n_subgroups[24], threads[24], update_s[32], source[512];
	stats_of(&stats, result->samples_s, result->n_samples);
	snprintf(id, sizeof id, "update-%03zu", i + 1);
	snprintf(gpus, sizeof gpus, "%d", job->n_ranks);
	snprintf(subgroup, sizeof subgroup, "%zu", point->layout.subgroup_params);
	snprintf(n_subgroups, sizeof n_subgroups, "%zu", point->layout.n_subgroups);
	snprintf(threads, sizeof threads, "%d", point->threads);
	snprintf(source, sizeof source, "dos-probe update: median of %zu, %.4g..%.4g s%s%s", stats.n, stats.min, stats.max,
	    header->note[0] ? "; " : "", header->note);
	const char *const cells[N_RUN_COLUMNS] = {[RUN_id] = id,
	    [RUN_hw] = header->hw,
	    [RUN_gpus] = gpus,
	    [RUN_policy] = point->policy.canonical,
	    [RUN_subgroup] = subgroup,
	    [RUN_n_subgroups] = n_subgroups,
	    [RUN_threads] = threads,
	    [RUN_update_s] = jsonw_double_text(update_s, stats.median),
	    [RUN_exclude] = exclusion(result),
	    [RUN_source] = source};
	put_row(table, cells);
}

int runs_csv_write(const char *path, const struct update_job *job, const struct runs_header *header, struct err *err)
{
	struct table *const table = table_new(run_columns, N_RUN_COLUMNS);
	for (size_t i = 0; i < job->n_points; i++)
		if (job->results[i].n_samples > 0)
			add_run(table, job, i, header);
	const int rc = save_table(path, table, err);
	table_free(table);
	return rc;
}

int runs_csv_write_samples(const char *path, const struct update_job *job, struct err *err)
{
	struct table *const table = table_new(sample_columns, sizeof sample_columns / sizeof sample_columns[0]);
	for (size_t i = 0; i < job->n_points; i++) {
		const struct update_point *const point = &job->points[i];
		const struct update_result *const result = &job->results[i];
		for (size_t repeat = 0; repeat < result->n_samples; repeat++) {
			table_text(table, point->policy.canonical);
			table_integer(table, (long long)point->layout.subgroup_params);
			table_integer(table, (long long)point->layout.n_subgroups);
			table_integer(table, point->threads);
			table_integer(table, job->n_ranks);
			table_integer(table, (long long)repeat + 1);
			table_number(table, result->samples_s[repeat]);
			table_number(table, result->complete_s[repeat]);
			table_text(table, repeat == 0 && result->verified ? "yes" : NULL);
			table_number(table, repeat == 0 ? (double)result->check.n_wrong : NAN);
			table_number(table, repeat == 0 ? (double)result->check.n_differing : NAN);
			table_number(table, repeat == 0 ? result->check.worst_relative : NAN);
		}
	}
	char name[4096];
	const size_t length = strlen(path),
		     stem = length > 4 && strcmp(path + length - 4, ".csv") == 0 ? length - 4 : length;
	snprintf(name, sizeof name, "%.*s.samples.csv", (int)stem, path);
	const int rc = save_table(name, table, err);
	table_free(table);
	return rc;
}

/* ---- merging */

struct merged_row {
	const char *cells[N_RUN_COLUMNS]; /* of the first file that has it; arena */
	double update_s[STATS_SAMPLES_MAX];
	size_t n;
	size_t n_unverified; /* of them, that nobody verified */
	const char *exclude; /* another reason, or NULL */
	size_t file, line; /* the last one that has it */
};

struct merged {
	struct merged_row *rows; /* arena */
	size_t n;
	size_t file; /* at hand */
};

static struct merged_row *find_row(struct merged *merged, const char *const cells[])
{
	static const enum run_column key[] = {RUN_hw, RUN_policy, RUN_subgroup, RUN_n_subgroups, RUN_threads, RUN_gpus};
	for (size_t row = 0; row < merged->n; row++) {
		size_t n_equal = 0;
		for (size_t i = 0; i < sizeof key / sizeof key[0]; i++)
			n_equal += strcmp(merged->rows[row].cells[key[i]], cells[key[i]]) == 0;
		if (n_equal == sizeof key / sizeof key[0])
			return &merged->rows[row];
	}
	return NULL;
}

static struct merged_row *add_row(struct merged *merged, const char *const cells[], struct arena *arena)
{
	if ((merged->n & (merged->n - 1)) == 0) {
		struct merged_row *const grown = arena_alloc(arena, merged->n ? 2 * merged->n : 1, sizeof *grown);
		if (merged->n)
			memcpy(grown, merged->rows, merged->n * sizeof *grown);
		merged->rows = grown;
	}
	struct merged_row *const row = &merged->rows[merged->n++];
	*row = (struct merged_row){0};
	memcpy(row->cells, cells, sizeof row->cells);
	return row;
}

static int check_header(const struct csv *csv, struct err *err)
{
	for (size_t i = 0; i < N_RUN_COLUMNS; i++)
		if (i >= csv->n_cells || strcmp(csv->cells[i], run_columns[i].key) != 0)
			return err_set(err, STATUS_INPUT,
			    "not a file of dos-probe update: column %zu is '%s'; '%s' would be accepted", i + 1,
			    i < csv->n_cells ? csv->cells[i] : "", run_columns[i].key);
	if (csv->n_cells > N_RUN_COLUMNS)
		return err_set(err, STATUS_INPUT, "%zu columns; %d would be accepted", csv->n_cells, (int)N_RUN_COLUMNS);
	return 0;
}

/* As `dos validate` judges a row of an update alone. */
static int check_cells(double *update_s, const struct csv *csv, struct err *err)
{
	static const enum run_column needed[] = {RUN_id, RUN_hw, RUN_policy},
				     counts[] = {RUN_gpus, RUN_subgroup, RUN_n_subgroups, RUN_threads};
	double count;
	if (csv->n_cells != N_RUN_COLUMNS)
		return err_set(err, STATUS_INPUT, "%zu columns; %d would be accepted", csv->n_cells, (int)N_RUN_COLUMNS);
	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if (!csv->cells[needed[i]][0])
			return err_set(err, STATUS_INPUT, "%s: is empty", run_columns[needed[i]].key);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		if (csv_count(&count, csv->cells[counts[i]], err))
			return err_wrap(err, "%s", run_columns[counts[i]].key);
	return csv_measured(update_s, UNIT_SECONDS, csv->cells[RUN_update_s], err) ? err_wrap(err, "update_s") : 0;
}

static int merge_record(struct merged *merged, const struct csv *csv, struct arena *arena, struct err *err)
{
	double update_s;
	const int rc = check_cells(&update_s, csv, err);
	if (rc)
		return rc;
	struct merged_row *row = find_row(merged, csv->cells);
	if (!row)
		row = add_row(merged, csv->cells, arena);
	else if (row->file == merged->file)
		return err_set(err, STATUS_INPUT, "this point is that of line %zu too; once a file would be accepted", row->line);
	if (row->n == STATS_SAMPLES_MAX)
		return err_set(err, STATUS_INPUT, "more than %d rows of one point", (int)STATS_SAMPLES_MAX);
	row->file = merged->file;
	row->line = csv->line;
	row->update_s[row->n++] = update_s;
	if (strcmp(csv->cells[RUN_exclude], not_verified) == 0)
		row->n_unverified++;
	else if (csv->cells[RUN_exclude][0])
		row->exclude = csv->cells[RUN_exclude];
	return 0;
}

static int merge_text(
    struct merged *merged, const char *name, const char *text, size_t n_bytes, struct arena *arena, struct err *err)
{
	struct csv csv;
	bool has_record;
	size_t n_rows = 0;
	csv_init(&csv, name, text, n_bytes);
	if (csv_read(&has_record, &csv, arena, err))
		return err->code;
	if (!has_record)
		return err_set(err, STATUS_INPUT, "%s: empty; a file of dos-probe update would be accepted", name);
	if (check_header(&csv, err))
		return err_wrap(err, "%s:%zu", name, csv.line);
	for (;; n_rows++) {
		if (csv_read(&has_record, &csv, arena, err))
			return err->code;
		if (!has_record)
			break;
		if (merge_record(merged, &csv, arena, err))
			return err_wrap(err, "%s:%zu", name, csv.line);
	}
	if (n_rows == 0)
		return err_set(err, STATUS_INPUT, "%s: no rows; one a point would be accepted below the names of the columns", name);
	return 0;
}

/* A file that is there twice would count its process twice, whatever its names are. */
static int merge_files(struct merged *merged, const char *const paths[], size_t n_paths, struct arena *arena, struct err *err)
{
	const char **const texts = arena_alloc(arena, n_paths, sizeof *texts);
	for (size_t i = 0; i < n_paths; i++) {
		size_t n_bytes;
		merged->file = i;
		if (csv_read_file(&texts[i], &n_bytes, paths[i], arena, err))
			return err->code;
		for (size_t before = 0; before < i; before++)
			if (strcmp(texts[before], texts[i]) == 0)
				return err_set(err, STATUS_INPUT, "%s: the same as %s; each process once would be accepted",
				    paths[i], paths[before]);
		if (merge_text(merged, paths[i], texts[i], n_bytes, arena, err))
			return err->code;
	}
	return 0;
}

static const char *merged_exclusion(const struct merged_row *row)
{
	return row->exclude ? row->exclude : row->n_unverified == row->n ? not_verified : "";
}

static const char *merged_source(const struct merged_row *row, const struct stats *stats, struct arena *arena)
{
	const char *const note = strstr(row->cells[RUN_source], "; ");
	char verified[64] = "";
	if (row->n_unverified > 0)
		snprintf(verified, sizeof verified, ", verified in %zu", row->n - row->n_unverified);
	return arena_printf(arena, "dos-probe update: median of %zu processes%s, %.4g..%.4g s%s", stats->n, verified,
	    stats->min, stats->max, note ? note : "");
}

int runs_csv_merge(const char *out_path, const char *const paths[], size_t n_paths, struct arena *arena, struct err *err)
{
	struct merged merged = {0};
	int rc = merge_files(&merged, paths, n_paths, arena, err);
	if (rc)
		return rc;
	struct table *const table = table_new(run_columns, N_RUN_COLUMNS);
	for (size_t i = 0; i < merged.n; i++) {
		struct merged_row *const row = &merged.rows[i];
		struct stats stats;
		char update_s[32];
		stats_of(&stats, row->update_s, row->n);
		row->cells[RUN_id] = arena_printf(arena, "update-%03zu", i + 1);
		row->cells[RUN_update_s] = jsonw_double_text(update_s, stats.median);
		row->cells[RUN_exclude] = merged_exclusion(row);
		row->cells[RUN_source] = merged_source(row, &stats, arena);
		put_row(table, row->cells);
	}
	rc = save_table(out_path, table, err);
	table_free(table);
	return rc;
}
