/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * notes: what a reader noted of a recording, for tests.
 */
#ifndef TESTS_UNIT_NOTES_H
#define TESTS_UNIT_NOTES_H

#include "traces/recording.h"

/* The first note whose text has `part`, NULL: none. */
const struct rec_note *note_with(const struct recording *rec, const char *part);

#endif
