/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * audit: what must be true of every timeline, recomputed from schedule and timeline alone. Fails the running test, naming `what`.
 */
#ifndef TESTS_UNIT_AUDIT_H
#define TESTS_UNIT_AUDIT_H

#include <check.h>
#include <stdbool.h>

#include "sim/timeline.h"

/* For loops: ck_assert_msg notes every call in a file, this only a failure. */
#define must(condition, ...)                                                                                               \
	do {                                                                                                               \
		if (!(condition))                                                                                          \
			ck_abort_msg(__VA_ARGS__);                                                                         \
	} while (0)

/* Dependencies, lanes (one at a time, in order of readiness, never idle while something waits), waits for pushes, order[] and
 * causes; with is_alone every duration is the duration alone, exactly. */
void audit_timeline(const struct schedule *s, const struct timeline *t, bool is_alone, const char *what);

/* Fluid sharing: the speeds of every instant, by an allocator of its own, add up to each operation's work; and no resource moves
 * more between two instants than it can. */
void audit_sharing(const struct schedule *s, const struct timeline *t, const char *what);

/* Longest chain of dependencies at alone speed. */
double audit_critical_path_s(const struct schedule *s, struct arena *arena);

#endif
