/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * uncertainty: --uncertainty as commands mean it, and intervals as JSON, as cells of a table, and as text.
 */
#ifndef SIM_CLI_UNCERTAINTY_H
#define SIM_CLI_UNCERTAINTY_H

#include "model/base/jsonw.h"
#include "model/base/table.h"
#include "sim/cli/common.h"
#include "sim/study/interval.h"

/* Draws, seed and sharing of the command line. */
struct uncertainty_options uncertainty_options_of(const struct common *c, const struct sharing *sharing);
/* The machine of the command line, from its file: draws of it are scaled where hw is. STATUS_INPUT. */
int uncertainty_of(struct uncertainty *u, const struct common *c, const struct sharing *sharing, struct arena *arena, struct err *err)
    MUST_CHECK;

/* "1.31 s +- 0.05", in the unit that the value prints in. */
const char *uncertainty_text(const struct interval *interval, enum unit unit, struct arena *arena);

/* "interval": {quantity: {lo, hi, parameter_frac, discrepancy_frac}, ..} */
void uncertainty_json_intervals(struct jsonw *w, const struct interval of[QUANTITY_N]);
/* "lo": .., "hi": .., "parameter_frac": .., "discrepancy_frac": ..: into an open object */
void uncertainty_json_interval(struct jsonw *w, const struct interval *interval);
/* "uncertainty": {n, seed, level_frac, n_conditions} */
void uncertainty_json_about(struct jsonw *w, const struct uncertainty *u);

#endif
