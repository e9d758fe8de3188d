/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trial_print: one simulated iteration as a JSON object, as a row of a table, or as a report for people.
 */
#ifndef SIM_CLI_TRIAL_PRINT_H
#define SIM_CLI_TRIAL_PRINT_H

#include "model/base/jsonw.h"
#include "model/base/table.h"
#include "sim/sharing.h"
#include "sim/study/interval.h"
#include "sim/study/trial.h"

/* A trial, what it was asked for, and how sure it is. */
struct shown_trial {
	const struct trial *trial;
	const struct trial_input *input;
	const struct outcome *outcome; /* NULL: no intervals */
	const struct uncertainty *uncertainty;
};

/* The object of `dos simulate --format json` (keys: DESIGN "Command line"). scale: --scale as given, "" none. */
void trial_json(struct jsonw *w, const struct shown_trial *shown, const char *scale);

/* Members "zero" and "tp", of a batch that is not ZeRO-3 without tensor parallelism; none of others. */
void trial_json_parallel(struct jsonw *w, const struct batch *batch);

/* A table for people has fewer columns than one for programs, and the speed-up over an iteration of base_s. */
struct table *trial_table_new(enum format format, bool has_intervals);
void trial_table_row(struct table *table, enum format format, const struct shown_trial *shown, double base_s);

/* Phases, memory and its composition, what limits, how busy. */
void trial_report(FILE *out, const struct shown_trial *shown);

#endif
