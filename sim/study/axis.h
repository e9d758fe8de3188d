/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * axis: the values that one option takes in a sweep, as given: single values and ranges. Nothing is expanded, so a million
 * values take no more memory than one.
 *
 * Invariant: n >= 1 after axis_parse; every value is within the option's limits. Values of words are their index.
 */
#ifndef SIM_STUDY_AXIS_H
#define SIM_STUDY_AXIS_H

#include "model/base/opt.h"

struct axis_piece {
	const char *text; /* as given, a whole range included */
	double first, step; /* step 0: a single value */
	size_t start; /* index of its first value in the axis */
};

struct axis {
	const struct opt *opt; /* borrowed; NULL: the axis was not given */
	struct axis_piece *pieces;
	size_t n_pieces;
	size_t n;
};

enum { AXIS_VALUES_MAX = 1000000000 };

/* "a,b" and "a..b[:step]" (inclusive; without a step 1 in the unit of the ends). Ranges of numbers only. STATUS_USAGE names
 * the option. opt->offset is not used. */
int axis_parse(struct axis *axis, const struct opt *opt, const char *text, char separator, struct arena *arena, struct err *err)
    MUST_CHECK;

/* A number, an index into opt->words, 0 or 1 of a flag; NAN for texts. */
double axis_value(const struct axis *axis, size_t index);

/* Sets the member of an option in params to a value, as if it had been given. */
void axis_set(void *params, const struct axis *axis, size_t index);

#endif
