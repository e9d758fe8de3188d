/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/run_table.h"

#include <math.h>
#include <string.h>

#include "model/base/table.h"
#include "probe/rounds.h"

const char *run_table_counted(const struct result *result)
{
	static const struct {
		const char *what, *counted;
	} others[] = {{"copy", "elements"}, {"triad", "elements"}, {"hbm_copy", "elements"}, {"hbm_triad", "elements"},
	    {"region", "regions"}, {"launch", "launches"}};
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(result->what, others[i].what) == 0)
			return others[i].counted;
	return result->unit == UNIT_PARAMS_PER_S ? "params" : NULL;
}

/* "5.79 G params/s", "55.0 GB/s", "0.333". */
static const char *rate_text(char text[2 * UNITS_TEXT_MAX], const struct result *result, double value)
{
	const char *const counted = run_table_counted(result);
	char plain[UNITS_TEXT_MAX];
	units_print(plain, counted ? UNIT_PARAMS_PER_S : result->unit, value);
	plain[counted ? strcspn(plain, "/") : strlen(plain)] = '\0';
	snprintf(text, 2 * UNITS_TEXT_MAX, counted ? "%s%s%s/s" : "%s", plain,
	    counted && plain[strlen(plain) - 1] != ' ' ? " " : "", counted);
	return text;
}

static const char *interval_text(char text[80], const struct result *result)
{
	const enum unit unit = run_table_counted(result) ? UNIT_PARAMS_PER_S : result->unit;
	char lo[UNITS_TEXT_MAX], hi[UNITS_TEXT_MAX];
	snprintf(text, 80, "%s .. %s", units_print(lo, unit, result->stats.lo), units_print(hi, unit, result->stats.hi));
	return text;
}

static const char *flags_of(const struct result *result)
{
	if (result->status != RESULT_PASSED)
		return result->note;
	if (result->stats.noisy)
		return result->stats.drifting ? "noisy drifting" : "noisy";
	return result->stats.drifting ? "drifting" : result->note;
}

static void add_row(struct table *table, const struct result *result)
{
	const bool passed = result->status == RESULT_PASSED;
	char rate[2 * UNITS_TEXT_MAX] = "", interval[80] = "", memory[UNITS_TEXT_MAX] = "";
	if (passed) {
		rate_text(rate, result, result->stats.centre);
		interval_text(interval, result);
		if (result->bytes_per_unit > 1)
			units_print(memory, UNIT_BYTES_PER_S, result->stats.centre * result->bytes_per_unit);
	}
	table_text(table, result->key);
	table_text(table, result->label);
	table_text(table, passed ? result->what : result->status == RESULT_WAIVED ? "waived" : "error");
	table_text(table, rate);
	table_text(table, interval);
	table_text(table, memory);
	table_integer(table, (long long)result->n_rounds);
	table_integer(table, (long long)result->stats.n);
	table_text(table, flags_of(result));
}

static void print_rounds(const struct harness *harness)
{
	double speed_frac[STATS_ROUNDS_MAX], least = INFINITY, most = 0;
	const size_t n = rounds_speed(speed_frac, harness);
	for (size_t i = 0; i < n; i++) {
		least = fmin(least, speed_frac[i]);
		most = fmax(most, speed_frac[i]);
	}
	if (n > 0)
		printf("\n%zu of %zu rounds; the slowest ran at %.1f %%, the fastest at %.1f %% of the mean speed\n",
		    harness->round, harness->n_rounds, 100 * least, 100 * most);
}

static void print_fit(const struct fluid_fit *fit)
{
	printf(
	    "\nDRAM: %.4g GB/s, copies weigh %.3g (fluid fit, rms error %.1f %%); by direction: %.4g GB/s, H2D %.3g, D2H "
	    "%.3g (%.1f %%)\n",
	    fit->shared.capacity_Bps / 1e9, fit->shared.weights[FLUID_H2D], 100 * fit->shared_error_frac,
	    fit->split.capacity_Bps / 1e9, fit->split.weights[FLUID_H2D], fit->split.weights[FLUID_D2H],
	    100 * fit->split_error_frac);
}

void run_table_print(const struct harness *harness, const struct derived *derived)
{
	static const struct table_column columns[] = {{"case", "case", UNIT_NONE}, {"point", "point", UNIT_NONE},
	    {"what", "what", UNIT_NONE}, {"centre", "centre", UNIT_NONE}, {"interval", "95 % interval", UNIT_NONE},
	    {"memory", "memory", UNIT_NONE}, {"rounds", "rounds", UNIT_NONE}, {"n", "n", UNIT_NONE},
	    {"flags", "flags", UNIT_NONE}};
	struct table *const table = table_new(columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < harness->n_results; i++)
		add_row(table, &harness->results[i]);
	table_print(table, FORMAT_TABLE, stdout);
	table_free(table);
	print_rounds(harness);
	if (derived->fit.n_full > 0)
		print_fit(&derived->fit);
}
