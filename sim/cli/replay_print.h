/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay_print: a recording, its unchanged replay and what-ifs, for people and programs.
 */
#ifndef SIM_CLI_REPLAY_PRINT_H
#define SIM_CLI_REPLAY_PRINT_H

#include "model/base/table.h"
#include "sim/cli/common.h"
#include "sim/study/replay_check.h"
#include "traces/measure.h"

/* One line of the comparison: recorded, simulated as recorded, what if. */
struct replay_row {
	const char *what, *hw, *policy;
	double forward_s, backward_s, update_s, other_s, iteration_s; /* NAN: not known */
};

struct replay_report {
	const struct recording *rec;
	struct measures measures;
	struct replay_check check;
	const struct replay_row *rows; /* what-if comparison; n_rows 0: none was asked for */
	size_t n_rows;
	const char *machine; /* what was learned of the recorded machine, "" */
};

/* What its reader stumbled over, on standard error; JSON has it as "warnings" too. */
void replay_notes(const struct recording *rec, const char *file, const struct common *c);
void replay_report_json(const struct replay_report *report, FILE *out);
/* The iterations, one a line. */
void replay_report_csv(const struct replay_report *report, FILE *out);
void replay_report_text(const struct replay_report *report, FILE *out, bool is_verbose);

/* The comparison alone as a table; columns as in JSON. */
struct table *replay_rows_table(const struct replay_report *report, enum format format);
struct table *replay_iterations_table(const struct replay_report *report, enum format format, size_t most);

#endif
