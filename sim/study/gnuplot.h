/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gnuplot: draws a plot with the program of that name: variables, then the templates style and KIND of plots/, as one script.
 *
 * Invariant: the output appears complete or not at all; temporary files are gone afterwards.
 */
#ifndef SIM_STUDY_GNUPLOT_H
#define SIM_STUDY_GNUPLOT_H

#include <stdbool.h>

#include "sim/study/plot.h"

struct gnuplot_job {
	const char *kind, *output;
	bool has_keep; /* leave script and data beside the output, with suffixes .gp and .dat */
};

/* By the output's suffix: "svg", "png" or "pdf". STATUS_USAGE lists them. */
int gnuplot_suffix(const char **suffix, const char *output, struct err *err) MUST_CHECK;
/* Makes a folder of this process alone in $TMPDIR or /tmp; the caller removes it. STATUS_ENV. */
int gnuplot_folder(char **folder, struct arena *arena, struct err *err) MUST_CHECK;
/* *warnings: what gnuplot said although it succeeded, "" nothing; arena. STATUS_ENV: no gnuplot, it failed, or a file cannot be
 * written. */
int gnuplot_draw(const char **warnings, struct plot *plot, const struct gnuplot_job *job, struct err *err) MUST_CHECK;

#endif
