/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fit_print: what a fit found, as text, JSON or CSV: constants, errors of each run, and what the runs cannot tell.
 */
#ifndef SIM_CLI_FIT_PRINT_H
#define SIM_CLI_FIT_PRINT_H

#include "model/base/table.h"
#include "sim/study/fit.h"

struct fit_report {
	const struct fit_result *result;
	const struct fit_cases *cases;
	const struct fit_options *options;
	const char *profile; /* name of the profile that was made */
};

void fit_text(FILE *out, const struct fit_report *report, struct arena *arena);
void fit_json(FILE *out, const struct fit_report *report, struct arena *arena);
/* One line a constant. */
void fit_csv(FILE *out, const struct fit_report *report, struct arena *arena);

#endif
