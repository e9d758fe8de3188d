/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * coverage_print: how many measurements lie in their 90 % intervals, as text and as members of the JSON of a validation.
 */
#ifndef SIM_CLI_COVERAGE_PRINT_H
#define SIM_CLI_COVERAGE_PRINT_H

#include "sim/cli/validate_print.h"

/* By quantity, and by machine and quantity; rows of the fit apart. */
void coverage_text(FILE *out, const struct validate_report *report, struct arena *arena);
/* "uncertainty": {n, seed, level_frac, coverage{quantity{..}}, coverage_in_fit{}, by_hw[]} */
void coverage_json(struct jsonw *w, const struct validate_report *report, struct arena *arena);

#endif
