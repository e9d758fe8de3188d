/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/profile_write.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "model/base/file_replace.h"
#include "model/base/jsonw.h"
#include "probe/clock.h"
#include "probe/rounds.h"
#include "probe/run_table.h"

/* Six digits: a sample has no more, and a profile stays readable. */
static double rounded(double value)
{
	char text[32];
	snprintf(text, sizeof text, "%.6g", value);
	return strtod(text, NULL);
}

static void write_provenance(struct jsonw *w, const struct harness *harness, const struct profile_facts *facts)
{
	char date[32], machine[400];
	const time_t now = time(NULL);
	struct tm utc;
	strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	snprintf(machine, sizeof machine, "%.120s, %d hardware threads on %d cores, %d NUMA node(s)%s; %d x %.120s",
	    harness->topology.model, harness->topology.n_threads, harness->topology.n_cores, harness->topology.n_nodes,
	    harness->topology.hypervisor ? ", virtual" : "", harness->n_gpus,
	    harness->n_gpus ? harness->gpu_info.name : "GPU");
	jsonw_key(w, "provenance");
	jsonw_object(w);
	jsonw_member_string(w, "tool", "dos-probe " DOS_VERSION);
	jsonw_member_string(w, "date", date);
	jsonw_member_string(w, "machine", machine);
	jsonw_member_string(w, "command", facts->command);
	jsonw_key(w, "sources");
	jsonw_inline_array(w);
	jsonw_string(w, "measured on this machine; raw samples beside the values and in extra.results");
	jsonw_end_array(w);
	jsonw_key(w, "fitted_on");
	jsonw_inline_array(w);
	jsonw_end_array(w);
	jsonw_member_string(w, "note", facts->note);
	jsonw_member_bool(w, "complete", facts->complete);
	jsonw_end_object(w);
}

static void write_node(struct jsonw *w, const struct harness *harness, const struct derived *derived)
{
	jsonw_key(w, "node");
	jsonw_object(w);
	jsonw_member_integer(w, "gpus", harness->n_gpus > 0 ? harness->n_gpus : 1);
	jsonw_member_integer(w, "numa_domains", harness->topology.n_nodes);
	jsonw_member_integer(w, "hw_threads_per_rank", harness->n_cpus);
	jsonw_member_integer(w, "threads_per_core", harness->topology.threads_per_core);
	jsonw_member_number(w, "threads", derived->threads);
	jsonw_member_number(w, "workers", derived->workers);
	jsonw_member_integer(w, "spin_wait", 0);
	if (derived->gpus_per_pcie_root > 0)
		jsonw_member_number(w, "gpus_per_pcie_root", derived->gpus_per_pcie_root);
	jsonw_end_object(w);
}

static void write_value(struct jsonw *w, const struct derived_value *value)
{
	jsonw_key(w, value->name);
	jsonw_inline_object(w);
	jsonw_member_number(w, "value", rounded(value->value));
	jsonw_member_string(w, "kind", value->kind);
	if (isfinite(value->lo) && isfinite(value->hi)) {
		jsonw_member_number(w, "lo", rounded(value->lo));
		jsonw_member_number(w, "hi", rounded(value->hi));
	}
	if (value->from) {
		jsonw_key(w, "samples");
		jsonw_inline_array(w);
		for (size_t i = 0; i < value->from->stats.n; i++) {
			const double sample = value->from->samples[i];
			jsonw_number(w, rounded(value->is_inverse ? value->scale / sample : value->scale * sample));
		}
		jsonw_end_array(w);
	}
	jsonw_member_string(w, "source", value->source);
	jsonw_end_object(w);
}

static void write_curve(struct jsonw *w, const struct derived_curve *curve)
{
	jsonw_key(w, curve->name);
	jsonw_object(w);
	jsonw_member_string(w, "kind", "measured");
	jsonw_member_string(w, "source", curve->source);
	jsonw_key(w, "points");
	jsonw_inline_array(w);
	for (size_t i = 0; i < curve->n; i++) {
		jsonw_inline_array(w);
		jsonw_number(w, rounded(curve->x[i]));
		jsonw_number(w, rounded(curve->rate[i]));
		jsonw_end_array(w);
	}
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void write_corun(struct jsonw *w, const struct derived_corun *row)
{
	jsonw_inline_object(w);
	jsonw_member_string(w, "first", row->first);
	jsonw_member_string(w, "second", row->second);
	jsonw_member_number(w, "first_threads", row->first_threads);
	jsonw_member_number(w, "second_threads", row->second_threads);
	jsonw_member_number(w, "first_alone", rounded(row->first_alone));
	jsonw_member_number(w, "first_together", rounded(row->first_together));
	jsonw_member_number(w, "second_alone", rounded(row->second_alone));
	jsonw_member_number(w, "second_together", rounded(row->second_together));
	if (row->ranks > 1)
		jsonw_member_number(w, "ranks", row->ranks);
	jsonw_end_object(w);
}

/* ---- extra */

static void write_environment(struct jsonw *w, const struct harness *harness)
{
	const struct topology *const topology = &harness->topology;
	const struct gpu_info *const gpu = &harness->gpu_info;
	double load[1] = {NAN};
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	if (getloadavg(load, 1) != 1)
		load[0] = NAN;
	jsonw_key(w, "environment");
	jsonw_object(w);
	jsonw_member_string(w, "processor", topology->model);
	jsonw_member_string(w, "kernel", topology->kernel);
	jsonw_member_bool(w, "virtual", topology->hypervisor);
	jsonw_member_string(w, "cpu_kernels", harness->kernels->name);
	jsonw_member_number(w, "last_level_cache_bytes", topology->cache_bytes);
	jsonw_member_number(w, "load_average", load[0]);
	jsonw_member_integer(w, "involuntary_switches", usage.ru_nivcsw);
	jsonw_member_number(w, "host_pool_bytes", (double)harness->pool.bytes);
	jsonw_member_number(w, "huge_page_bytes", harness->pool.huge_bytes);
	jsonw_member_number(w, "first_touch_s", rounded(harness->pool.touch_s));
	jsonw_member_number(w, "pinning_s", rounded(harness->pool.pin_s));
	if (harness->n_gpus == 0) {
		jsonw_member_string(w, "no_gpu", harness->no_gpu);
	} else {
		jsonw_member_string(w, "gpu", gpu->name);
		jsonw_member_integer(w, "gpu_multiprocessors", gpu->multiprocessors);
		jsonw_member_integer(w, "cuda_driver", gpu->driver);
		jsonw_member_integer(w, "cuda_runtime", gpu->runtime);
		jsonw_member_integer(w, "gpu_clock_kHz", gpu->clock_kHz);
		jsonw_member_integer(w, "gpu_memory_clock_kHz", gpu->memory_clock_kHz);
		jsonw_member_bool(w, "gpu_ecc", gpu->ecc);
		jsonw_member_integer(w, "gpu_numa_node", gpu->numa_node);
		jsonw_member_string(w, "pcie", gpu->link);
	}
	jsonw_end_object(w);
}

static const char *status_text(const struct result *result)
{
	static const char *const texts[] = {"passed", "waived", "error"};
	return texts[result->status];
}

/* How many of the samples belong to each round, and when it began. */
static void write_rounds_of(struct jsonw *w, const struct result *result)
{
	jsonw_key(w, "round_samples");
	jsonw_inline_array(w);
	for (size_t i = 0; i < result->n_rounds; i++)
		jsonw_integer(w, (long long)result->sizes[i]);
	jsonw_end_array(w);
	jsonw_key(w, "round_at_s");
	jsonw_inline_array(w);
	for (size_t i = 0; i < result->n_rounds; i++)
		jsonw_number(w, rounded(result->at_s[i]));
	jsonw_end_array(w);
}

static const char *unit_text(char text[32], const struct result *result)
{
	const char *const counted = run_table_counted(result);
	snprintf(text, 32, "%s/s", counted ? counted : result->unit == UNIT_BYTES_PER_S ? "bytes" : "FLOP");
	return !counted && result->unit == UNIT_NONE ? "1" : text;
}

static void write_result(struct jsonw *w, const struct result *result)
{
	char unit[32];
	const struct stats *const stats = &result->stats;
	jsonw_inline_object(w);
	jsonw_member_string(w, "case", result->key);
	jsonw_member_string(w, "status", status_text(result));
	if (result->note[0])
		jsonw_member_string(w, "note", result->note);
	if (result->status == RESULT_PASSED) {
		jsonw_member_string(w, "point", result->label);
		jsonw_member_string(w, "what", result->what);
		if (result->with[0])
			jsonw_member_string(w, "with", result->with);
		jsonw_member_number(w, "x", result->x);
		if (result->with_x != 0)
			jsonw_member_number(w, "with_x", result->with_x);
		jsonw_member_string(w, "unit", unit_text(unit, result));
		jsonw_member_number(w, "bytes_per_unit", result->bytes_per_unit);
		jsonw_member_number(w, "centre", rounded(stats->centre));
		jsonw_member_number(w, "median", rounded(stats->median));
		jsonw_member_number(w, "lo", rounded(stats->lo));
		jsonw_member_number(w, "hi", rounded(stats->hi));
		jsonw_member_number(w, "mad", rounded(stats->mad));
		jsonw_member_number(w, "cv_frac", rounded(stats->cv_frac));
		jsonw_member_integer(w, "outliers", (long long)stats->n_outliers);
		jsonw_member_bool(w, "noisy", stats->noisy);
		jsonw_member_bool(w, "drifting", stats->drifting);
		jsonw_key(w, "samples");
		jsonw_inline_array(w);
		for (size_t i = 0; i < stats->n; i++)
			jsonw_number(w, rounded(result->samples[i]));
		jsonw_end_array(w);
		write_rounds_of(w, result);
	}
	jsonw_end_object(w);
}

static void write_fit(struct jsonw *w, const char *key, const struct fluid_constants *constants, double error_frac)
{
	jsonw_key(w, key);
	jsonw_inline_object(w);
	jsonw_member_number(w, "dram_Bps", rounded(constants->capacity_Bps));
	jsonw_member_number(w, "h2d_weight", rounded(constants->weights[FLUID_H2D]));
	jsonw_member_number(w, "d2h_weight", rounded(constants->weights[FLUID_D2H]));
	jsonw_member_number(w, "rms_error_frac", rounded(error_frac));
	jsonw_end_object(w);
}

static void write_rounds(struct jsonw *w, const struct harness *harness)
{
	double speed_frac[STATS_ROUNDS_MAX];
	const size_t n = rounds_speed(speed_frac, harness);
	jsonw_key(w, "rounds");
	jsonw_object(w);
	jsonw_member_integer(w, "planned", (long long)harness->n_rounds);
	jsonw_member_integer(w, "made", (long long)harness->round);
	jsonw_member_integer(w, "seed", (long long)harness->seed);
	jsonw_key(w, "start_s");
	jsonw_inline_array(w);
	for (size_t i = 0; i < harness->round; i++)
		jsonw_number(w, rounded(harness->round_start_s[i]));
	jsonw_end_array(w);
	jsonw_key(w, "speed_frac");
	jsonw_inline_array(w);
	for (size_t i = 0; i < n; i++)
		jsonw_number(w, rounded(speed_frac[i]));
	jsonw_end_array(w);
	if (n > 0)
		jsonw_member_number(w, "drift_frac", rounded(speed_frac[n - 1] / speed_frac[0] - 1));
	jsonw_end_object(w);
}

static void write_extra(struct jsonw *w, const struct harness *harness, const struct derived *derived)
{
	jsonw_key(w, "extra");
	jsonw_object(w);
	write_environment(w, harness);
	write_fit(w, "fluid_fit", &derived->fit.shared, derived->fit.shared_error_frac);
	write_fit(w, "fluid_fit_by_direction", &derived->fit.split, derived->fit.split_error_frac);
	if (derived->gpus_fit.split.capacity_Bps > 0)
		write_fit(w, "fluid_fit_all_gpus", &derived->gpus_fit.split, derived->gpus_fit.split_error_frac);
	write_rounds(w, harness);
	jsonw_member_number(w, "duration_s", rounded(clock_now_s() - harness->start_s));
	jsonw_key(w, "results");
	jsonw_array(w);
	for (size_t i = 0; i < harness->n_results; i++)
		write_result(w, &harness->results[i]);
	jsonw_end_array(w);
	jsonw_end_object(w);
}

/* The reader knows these activities; the others are in extra.results. */
static bool is_plain(const struct derived_corun *row)
{
	return strcmp(row->first, "cpu_adam") == 0 || strcmp(row->first, "gemm") == 0;
}

static void write_profile(
    struct jsonw *w, const struct harness *harness, const struct derived *derived, const struct profile_facts *facts)
{
	jsonw_object(w);
	jsonw_member_string(w, "schema", "dos-hwprofile/1");
	jsonw_member_string(w, "name", facts->name);
	jsonw_member_string(w, "summary", "probed machine; waiting host threads sleep, Adam threads are bound to cores");
	write_provenance(w, harness, facts);
	write_node(w, harness, derived);
	jsonw_key(w, "values");
	jsonw_object(w);
	for (size_t i = 0; i < derived->n_values; i++)
		write_value(w, &derived->values[i]);
	jsonw_end_object(w);
	jsonw_key(w, "curves");
	jsonw_object(w);
	for (size_t i = 0; i < derived->n_curves; i++)
		write_curve(w, &derived->curves[i]);
	jsonw_end_object(w);
	jsonw_key(w, "corun");
	jsonw_array(w);
	for (size_t i = 0; i < derived->n_corun; i++)
		if (is_plain(&derived->corun[i]))
			write_corun(w, &derived->corun[i]);
	jsonw_end_array(w);
	write_extra(w, harness, derived);
	jsonw_end_object(w);
}

int profile_write(const char *path, const struct harness *harness, const struct derived *derived,
    const struct profile_facts *facts, struct err *err)
{
	struct arena arena = {0};
	struct file_replace file;
	struct jsonw w;
	int rc = file_replace_open(&file, path, &arena, err);
	if (rc == 0) {
		jsonw_init(&w, file.out, true);
		write_profile(&w, harness, derived, facts);
		fputc('\n', file.out);
		rc = file_replace_commit(&file, err);
	}
	arena_release(&arena);
	return rc;
}
