/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * units: the one place where "80GiB", "55GB/s" and "100M" exist. Inside the program everything is SI base units:
 * bytes, bytes/s, parameters, parameters/s, FLOP, FLOP/s, seconds, fractions.
 */
#ifndef MODEL_BASE_UNITS_H
#define MODEL_BASE_UNITS_H

#include <stddef.h>

#include "model/base/err.h"

enum unit {
	UNIT_NONE, /* a plain number: 1e8, 100M, 2.5k (k M G T are decimal) */
	UNIT_BYTES, /* 512, 64kB, 80GB (1000), 80GiB (1024); a bare 80G is decimal */
	UNIT_BYTES_PER_S, /* the same with "/s" or without */
	UNIT_SECONDS, /* 1.5, 20ms, 3us, 10ns */
	UNIT_PARAMS, /* as UNIT_NONE */
	UNIT_PARAMS_PER_S, /* as UNIT_NONE, "/s" allowed */
	UNIT_FLOP,
	UNIT_FLOP_PER_S,
	UNIT_FRAC, /* 0.5 or 50% */
	UNIT_WATT,
};

/* Parses all of text; rejects trailing garbage, non-finite and negative values with a message naming what is accepted
 * (STATUS_USAGE). */
int units_parse(double *value, enum unit unit, const char *text, struct err *err) MUST_CHECK;

/* What a measured time or amount of memory may be: no recording's clock is finer than 1 ns, and 1e9 s are 30 years. */
struct units_range {
	double min, max;
};
extern const struct units_range units_measured_s, units_measured_bytes;

enum { UNITS_TEXT_MAX = 32 };
/* Prints for people: "1.30 s", "850 ms", "55.0 GB/s" (decimal), "80.0 GiB" (binary for capacity), "100 M", "12.5 %".
 * Returns text. */
char *units_print(char text[UNITS_TEXT_MAX], enum unit unit, double value);

#endif
