/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan_page: a finished plan as one HTML page (report.h): the recommendation, where its time and memory go, every policy at its best,
 * each change of the best, figures, assumptions and provenance.
 */
#ifndef SIM_CLI_PLAN_PAGE_H
#define SIM_CLI_PLAN_PAGE_H

#include "sim/cli/plan_report.h"

/* command: as it was typed. STATUS_ENV: not writable, or no gnuplot. */
int plan_page_write(const char *path, const struct plan_report *report, const char *command, struct arena *arena,
    struct err *err) MUST_CHECK;

#endif
