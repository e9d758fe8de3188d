/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * report_parts: the sections of a report's page, each written by a file of its own.
 */
#ifndef SIM_STUDY_REPORT_PARTS_H
#define SIM_STUDY_REPORT_PARTS_H

#include "sim/sharing.h"
#include "sim/study/html.h"
#include "sim/study/report.h"
#include "sim/study/report_groups.h"

struct report {
	const struct report_input *input; /* borrowed, like the rest */
	struct plot_rows rows; /* labelled by their policy's options */
	struct report_groups groups;
	FILE *out;
	struct arena *arena;
	struct opt_list *notes;
	bool is_sure; /* intervals of some are known */
};

/* What stands out is shown in full, the rest in tables. */
enum { REPORT_CARDS_MAX = 8, REPORT_FIGURES_MAX = 8, REPORT_ADVICE_MAX = 200, REPORT_SURE_MAX = 40 };

/* Fills the policies' `sure` of the first settings. STATUS_INPUT. */
int report_sure(struct report *report, struct err *err) MUST_CHECK;
/* Of a group's best, NULL not known. */
const struct outcome *report_group_sure(const struct report_group *group);

void report_advice(const struct report *report);
void report_policies(const struct report *report);
int report_figures(const struct report *report, struct err *err) MUST_CHECK;
void report_table(const struct report *report);
int report_sources(const struct report *report, struct err *err) MUST_CHECK;

/* A number in a table cell: value over one, 4 digits; nothing for NAN. */
void report_number_cell(FILE *out, double value, double one);
/* A word as a shell reads it. */
const char *report_shell_word(const char *word, struct arena *arena);
/* An SQL text literal. */
const char *report_sql_text(const char *text, struct arena *arena);

#endif
