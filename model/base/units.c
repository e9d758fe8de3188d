/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct units_range units_measured_s = {1e-9, 1e9}, units_measured_bytes = {1, 1e18};

enum { NUMBER_MAX = 64 };

/* What may follow the number, and how values are shown. */
struct unit_type {
	const char *prefixes; /* of the list below */
	bool binary; /* Ki Mi Gi Ti too */
	const char *word; /* optional base word */
	bool per_s; /* optional "/s" */
	const char *accepted;
};

static const struct unit_type unit_types[] = {
    [UNIT_NONE] = {"kKMGTP", false, "", false, "a number such as 1e8, 100M or 2.5k"},
    [UNIT_BYTES] = {"kKMGTP", true, "B", false, "a size such as 512, 64kB, 80GB (1000) or 80GiB (1024)"},
    [UNIT_BYTES_PER_S] = {"kKMGTP", true, "B", true, "a rate such as 55GB/s or 51GiB/s"},
    [UNIT_SECONDS] = {"mun", false, "s", false, "a time such as 1.5, 1.5s, 20ms, 3us or 10ns"},
    [UNIT_PARAMS] = {"kKMGTP", false, "", false, "a number of parameters such as 1e8 or 100M"},
    [UNIT_PARAMS_PER_S] = {"kKMGTP", false, "", true, "parameters per second such as 2e9, 2G or 2G/s"},
    [UNIT_FLOP] = {"kKMGTP", false, "FLOP", false, "operations such as 1e12 or 1TFLOP"},
    [UNIT_FLOP_PER_S] = {"kKMGTP", false, "FLOP", true, "operations per second such as 9.8e14, 980T or 980TFLOP/s"},
    [UNIT_FRAC] = {"%", false, "", false, "a fraction such as 0.5 or 50%"},
    [UNIT_WATT] = {"kM", false, "W", false, "a power such as 700, 700W or 0.7kW"},
};

static const struct prefix {
	char letter;
	int exponent; /* of 10 */
	int bits; /* of the binary form */
} prefixes[] = {
    {'k', 3, 10}, {'K', 3, 10}, {'M', 6, 20}, {'G', 9, 30}, {'T', 12, 40}, {'P', 15, 50},
    {'m', -3, 0}, {'u', -6, 0}, {'n', -9, 0}, {'%', -2, 0},
};

/* Length of the plain decimal number at text (no sign, hexadecimal, inf or nan), 0 when there is none. */
static size_t number_length(const char *text, bool *has_exponent)
{
	const char *c = text;
	size_t n_digits = 0;

	for (; isdigit((unsigned char)*c); c++)
		n_digits++;
	if (*c == '.')
		for (c++; isdigit((unsigned char)*c); c++)
			n_digits++;
	if (n_digits == 0)
		return 0;
	*has_exponent = false;
	if (*c == 'e' || *c == 'E') {
		const char *digit = c + 1 + (c[1] == '+' || c[1] == '-');
		*has_exponent = isdigit((unsigned char)*digit);
		if (*has_exponent)
			for (c = digit; isdigit((unsigned char)*c); c++)
				;
	}
	return (size_t)(c - text);
}

static const struct prefix *prefix_at(const struct unit_type *type, char letter)
{
	if (letter == '\0' || !strchr(type->prefixes, letter))
		return NULL;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (prefixes[i].letter == letter)
			return &prefixes[i];
	return NULL;
}

/* Reads what follows the number: decimal exponent or binary shift. False when it is not a suffix of this unit. */
static bool read_suffix(const struct unit_type *type, const char *text, int *exponent, int *bits)
{
	const char *c = text + (*text == ' ' && text[1] != '\0');
	const struct prefix *const prefix = prefix_at(type, *c);

	*exponent = *bits = 0;
	if (prefix) {
		c++;
		if (type->binary && *c == 'i') {
			*bits = prefix->bits;
			if (c[1] != 'B')
				return false;
			c++;
		} else {
			*exponent = prefix->exponent;
		}
	}
	const size_t word_length = strlen(type->word);
	if (strncmp(c, type->word, word_length) == 0)
		c += word_length;
	else if (prefix && strchr("mun", prefix->letter))
		return false; /* "20m" could be minutes */
	if (type->per_s && strncmp(c, "/s", 2) == 0)
		c += 2;
	return *c == '\0';
}

/* Decimal prefixes go through strtod as an exponent: 2.3G is the double nearest to 2.3e9, not 2.3 * 1e9. */
static double scaled(const char *text, size_t length, bool has_exponent, int exponent, int bits)
{
	char number[NUMBER_MAX + 8];

	if (has_exponent || exponent == 0)
		snprintf(number, sizeof(number), "%.*s", (int)length, text);
	else
		snprintf(number, sizeof(number), "%.*se%d", (int)length, text, exponent);
	const double value = strtod(number, NULL);
	if (has_exponent && exponent < 0)
		return value / pow(10, -exponent);
	return has_exponent ? value * pow(10, exponent) : ldexp(value, bits);
}

int units_parse(double *value, enum unit unit, const char *text, struct err *err)
{
	const struct unit_type *const type = &unit_types[unit];
	bool has_exponent = false;
	const size_t length = number_length(text, &has_exponent);
	int exponent, bits;

	if (length == 0 || length > NUMBER_MAX || !read_suffix(type, text + length, &exponent, &bits))
		return err_set(err, STATUS_USAGE, "'%s' is not %s", text, type->accepted);
	const double parsed = scaled(text, length, has_exponent, exponent, bits);
	if (!isfinite(parsed))
		return err_set(err, STATUS_USAGE, "'%s' is too large; %s would be accepted", text, type->accepted);
	*value = parsed;
	return 0;
}

/* What people see, largest first; the last one takes all that is smaller. */
static const struct step {
	double size;
	const char *name;
} unit_steps[][6] = {
    [UNIT_NONE] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1, ""}},
    [UNIT_BYTES] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}},
    [UNIT_BYTES_PER_S] = {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}},
    [UNIT_SECONDS] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}},
    [UNIT_PARAMS] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}},
    [UNIT_PARAMS_PER_S] = {{1e12, "T/s"}, {1e9, "G/s"}, {1e6, "M/s"}, {1e3, "k/s"}, {1, "/s"}},
    [UNIT_FLOP] = {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}, {1, "FLOP"}},
    [UNIT_FLOP_PER_S] = {{1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}, {1, "FLOP/s"}},
    [UNIT_FRAC] = {{1e-2, "%"}},
    [UNIT_WATT] = {{1e6, "MW"}, {1e3, "kW"}, {1, "W"}},
};

/* Three significant digits: 1.30, 55.0, 850; whole counts and what has no larger step as they are. */
static int decimals_of(enum unit unit, double scaled_value, double size)
{
	const bool whole = size == 1 && unit != UNIT_SECONDS && scaled_value == floor(scaled_value);

	return whole || fabs(scaled_value) >= 99.95 ? 0 : fabs(scaled_value) >= 9.995 ? 1 : 2;
}

char *units_print(char text[UNITS_TEXT_MAX], enum unit unit, double value)
{
	const struct step *step = unit_steps[unit];

	if (!isfinite(value)) {
		snprintf(text, UNITS_TEXT_MAX, "%s", isnan(value) ? "-" : value > 0 ? "inf" : "-inf");
		return text;
	}
	/* 0.9995: 999.6 ms is 1.00 s, never 1000 ms */
	while (step[1].size > 0 && (value == 0 ? step->size > 1 : fabs(value) < 0.9995 * step->size))
		step++;
	const double scaled_value = value / step->size;
	const char *const space = *step->name ? " " : "";
	if (value == 0)
		snprintf(text, UNITS_TEXT_MAX, "0%s%s", space, step->name);
	else if (unit == UNIT_NONE && step->size == 1)
		snprintf(text, UNITS_TEXT_MAX, "%.6g", value);
	else if (fabs(scaled_value) >= 1e6 || fabs(scaled_value) < 0.01)
		snprintf(text, UNITS_TEXT_MAX, "%.3g%s%s", scaled_value, space, step->name);
	else
		snprintf(text, UNITS_TEXT_MAX, "%.*f%s%s", decimals_of(unit, scaled_value, step->size), scaled_value, space,
		    step->name);
	return text;
}
