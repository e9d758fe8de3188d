/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_util: what Check lacks. The tolerance of a comparison stands at the call.
 */
#ifndef TESTS_UNIT_TEST_UTIL_H
#define TESTS_UNIT_TEST_UTIL_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define N_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

/* |got - want| <= tol * |want|; exact for want == 0, inf and equal values. */
#define assert_rel(got, want, tol)                                                                                         \
	do {                                                                                                               \
		const double got_ = (got), want_ = (want), tol_ = (tol);                                                   \
		ck_assert_msg(got_ == want_ || fabs(got_ - want_) <= tol_ * fabs(want_),                                   \
		    "%s is %.17g, want %.17g, off by %.3g relative, tolerance %.3g", #got, got_, want_,                    \
		    fabs(got_ - want_) / fabs(want_), tol_);                                                               \
	} while (0)

/* text contains part */
#define assert_has(text, part)                                                                                             \
	do {                                                                                                               \
		const char *const text_ = (text), *const part_ = (part);                                                   \
		ck_assert_msg(strstr(text_, part_) != NULL, "\"%s\" does not contain \"%s\"", text_, part_);               \
	} while (0)

#endif
