/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fit_say: what a fit's runs cannot tell, in sentences.
 */
#ifndef SIM_STUDY_FIT_SAY_H
#define SIM_STUDY_FIT_SAY_H

#include "sim/study/fit.h"

/* One a line, without full stop or line end; returns how many. In the arena. */
size_t fit_statements(const char ***statements, const struct fit_result *result, struct arena *arena);

#endif
