/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/axis.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What opt_set writes, whatever the kind. */
union member {
	long long integer;
	double number;
	int word;
	bool flag;
	const char *text;
};

static bool is_number(const struct opt *opt)
{
	return opt->kind == OPT_INT || opt->kind == OPT_NUMBER;
}

static bool is_range(const struct opt *opt, const char *item)
{
	return is_number(opt) && isdigit((unsigned char)item[0]) && strstr(item, "..");
}

static int parse_single(double *value, const struct opt *opt, const char *text, struct arena *arena, struct err *err)
{
	struct opt alone = *opt;
	union member member = {0};

	alone.offset = alone.given_offset = 0;
	if (opt_set(&member, &alone, text, arena, err))
		return err->code;
	switch (opt->kind) {
	case OPT_INT: *value = (double)member.integer; break;
	case OPT_NUMBER: *value = member.number; break;
	case OPT_WORD: *value = member.word; break;
	case OPT_FLAG: *value = member.flag; break;
	case OPT_TEXT:
	case OPT_LIST: *value = NAN; break;
	}
	return 0;
}

static const char *suffix_of(const char *number)
{
	char *end;

	strtod(number, &end);
	return end;
}

/* The step of a range: as given, else one in the suffix that the ends share ("16GiB..64GiB"). */
static int parse_step(double *step, const struct opt *opt, const char *given, const char *first, const char *last, struct arena *arena,
    struct err *err)
{
	const char *const suffix = suffix_of(first);
	const char *const text = given ? given : strcmp(suffix, suffix_of(last)) == 0 ? arena_printf(arena, "1%s", suffix) : "1";

	return units_parse(step, opt->unit, text, err) ? err_wrap(err, "%s", opt->name) : 0;
}

static int parse_range(struct axis_piece *piece, size_t *n, const struct opt *opt, const char *item, struct arena *arena, struct err *err)
{
	char *const first = arena_strdup(arena, item);
	char *const last = strstr(first, "..") + 2;
	char *const colon = strchr(last, ':');
	double end;

	last[-2] = '\0';
	if (colon)
		*colon = '\0';
	if (parse_single(&piece->first, opt, first, arena, err) || parse_single(&end, opt, last, arena, err) ||
	    parse_step(&piece->step, opt, colon ? colon + 1 : NULL, first, last, arena, err))
		return err->code;
	if (!(piece->step > 0) || end < piece->first)
		return err_set(err, STATUS_USAGE, "%s: range '%s': a range goes upwards, with a step above 0", opt->name, item);
	if (opt->kind == OPT_INT && piece->step != floor(piece->step))
		return err_set(err, STATUS_USAGE, "%s: range '%s': the step is not a whole number", opt->name, item);
	const double n_steps = floor((end - piece->first) / piece->step + 1e-9);
	if (n_steps >= AXIS_VALUES_MAX)
		return err_set(err, STATUS_USAGE, "%s: range '%s': more than %d values", opt->name, item, AXIS_VALUES_MAX);
	*n = (size_t)n_steps + 1;
	return 0;
}

static int add_piece(struct axis *axis, const char *item, struct arena *arena, struct err *err)
{
	struct axis_piece *const piece = &axis->pieces[axis->n_pieces++];
	size_t n = 1;

	*piece = (struct axis_piece){.text = item, .start = axis->n};
	if (*item == '\0')
		return err_set(err, STATUS_USAGE, "%s: a value is empty", axis->opt->name);
	const int code = is_range(axis->opt, item) ? parse_range(piece, &n, axis->opt, item, arena, err)
	                                           : parse_single(&piece->first, axis->opt, item, arena, err);
	if (code)
		return code;
	axis->n += n;
	if (axis->n > AXIS_VALUES_MAX)
		return err_set(err, STATUS_USAGE, "%s: more than %d values", axis->opt->name, AXIS_VALUES_MAX);
	return 0;
}

int axis_parse(struct axis *axis, const struct opt *opt, const char *text, char separator, struct arena *arena, struct err *err)
{
	char *rest = arena_strdup(arena, text);
	size_t n_items = 1;

	for (const char *c = text; *c; c++)
		n_items += *c == separator;
	*axis = (struct axis){.opt = opt, .pieces = arena_alloc(arena, n_items, sizeof(*axis->pieces))};
	while (rest) {
		char *const item = rest;
		rest = strchr(item, separator);
		if (rest)
			*rest++ = '\0';
		if (add_piece(axis, item, arena, err))
			return err->code;
	}
	return 0;
}

/* The last piece that starts at or before the index. */
static const struct axis_piece *piece_of(const struct axis *axis, size_t index)
{
	size_t low = 0, high = axis->n_pieces;

	while (high - low > 1) {
		const size_t middle = (low + high) / 2;
		if (axis->pieces[middle].start <= index)
			low = middle;
		else
			high = middle;
	}
	return &axis->pieces[low];
}

/* 0.1 + 2 * 0.1 is 0.3: what a person would have written. */
static double written(double value)
{
	char text[32];

	if (value == floor(value))
		return value;
	snprintf(text, sizeof(text), "%.12g", value);
	return strtod(text, NULL);
}

double axis_value(const struct axis *axis, size_t index)
{
	const struct axis_piece *const piece = piece_of(axis, index);
	const double n_steps = (double)(index - piece->start);

	return piece->step > 0 ? written(piece->first + n_steps * piece->step) : piece->first;
}

void axis_set(void *params, const struct axis *axis, size_t index)
{
	const struct opt *const opt = axis->opt;
	void *const member = (char *)params + opt->offset;
	const double value = axis_value(axis, index);

	switch (opt->kind) {
	case OPT_INT: *(long long *)member = (long long)value; break;
	case OPT_NUMBER: *(double *)member = value; break;
	case OPT_WORD: *(int *)member = (int)value; break;
	case OPT_FLAG: *(bool *)member = value > 0; break;
	case OPT_TEXT: *(const char **)member = piece_of(axis, index)->text; break;
	case OPT_LIST: break; /* policies have none */
	}
	if (opt->given_offset)
		*(bool *)((char *)params + opt->given_offset) = true;
}
