/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/opt.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char *const on_off[] = {"on", "off", NULL};

static void *member_of(void *params, const struct opt *opt)
{
	return (char *)params + opt->offset;
}

void opt_list_add(struct opt_list *list, const char *item, struct arena *arena)
{
	/* Grows at powers of two; what is left behind dies with the arena. */
	if ((list->n & (list->n - 1)) == 0) {
		const char **const items = arena_alloc(arena, list->n ? 2 * list->n : 1, sizeof(*items));
		if (list->n)
			memcpy(items, list->items, list->n * sizeof(*items));
		list->items = items;
	}
	list->items[list->n++] = item;
}

/* "a, b or c" */
static const char *word_list(const char *const words[], struct arena *arena)
{
	const char *text = words[0];

	for (size_t i = 1; words[i]; i++)
		text = arena_printf(arena, "%s%s%s", text, words[i + 1] ? ", " : " or ", words[i]);
	return text;
}

static int word_index(int *index, const char *const words[], const char *text, struct arena *arena, struct err *err)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0) {
			*index = i;
			return 0;
		}
	const char *const nearest = err_nearest(text, words);
	if (nearest)
		return err_set(err, STATUS_USAGE, "'%s' is not %s; did you mean '%s'?", text, word_list(words, arena), nearest);
	return err_set(err, STATUS_USAGE, "'%s' is not %s", text, word_list(words, arena));
}

/* "at least 1", "at most 8", "1 to 8": what the table admits, in the digits a person would type. */
static const char *range_text(const struct opt *opt, struct arena *arena)
{
	if (opt->max == INFINITY)
		return arena_printf(arena, "at least %.15g", opt->min);
	if (opt->min == -INFINITY)
		return arena_printf(arena, "at most %.15g", opt->max);
	return arena_printf(arena, "%.15g to %.15g", opt->min, opt->max);
}

static int parse_number(double *value, const struct opt *opt, const char *text, struct arena *arena, struct err *err)
{
	const bool negative = text[0] == '-' && text[1] != '\0';
	double number;
	const int rc = units_parse(&number, opt->unit, text + negative, err);

	if (rc)
		return rc;
	if (negative)
		number = -number;
	if (opt->kind == OPT_INT && number != floor(number))
		return err_set(err, STATUS_USAGE, "'%s' is not a whole number", text);
	if (number < opt->min || number > opt->max)
		return err_set(err, STATUS_USAGE, "'%s' is out of range; %s would be accepted", text, range_text(opt, arena));
	*value = number + 0.0; /* -0 is 0: one canonical form */
	return 0;
}

static int parse_int(long long *value, const struct opt *opt, const char *text, struct arena *arena, struct err *err)
{
	double number;
	const int rc = parse_number(&number, opt, text, arena, err);

	if (rc)
		return rc;
	if (fabs(number) > 0x1p53)
		return err_set(err, STATUS_USAGE, "'%s' is too large; up to 2^53 would be accepted", text);
	*value = (long long)number;
	return 0;
}

static int parse_flag(bool *flag, const char *text, struct arena *arena, struct err *err)
{
	int index;
	const int rc = word_index(&index, on_off, text, arena, err);

	if (rc == 0)
		*flag = index == 0;
	return rc;
}

/* The message of a bad value, without the option's name. */
static int parse_value(void *member, const struct opt *opt, const char *text, struct arena *arena, struct err *err)
{
	switch (opt->kind) {
	case OPT_FLAG: return parse_flag(member, text, arena, err);
	case OPT_INT: return parse_int(member, opt, text, arena, err);
	case OPT_NUMBER: return parse_number(member, opt, text, arena, err);
	case OPT_WORD: return word_index(member, opt->words, text, arena, err);
	case OPT_TEXT: *(const char **)member = arena_strdup(arena, text); return 0;
	case OPT_LIST: opt_list_add(member, arena_strdup(arena, text), arena); return 0;
	}
	return err_set(err, STATUS_USAGE, "'%s' is not accepted", text);
}

void opt_defaults(void *params, const struct opt *opts, size_t n_opts, struct arena *arena)
{
	for (size_t i = 0; i < n_opts; i++) {
		struct err err;
		if (!opts[i].fallback)
			continue;
		const int rc = parse_value(member_of(params, &opts[i]), &opts[i], opts[i].fallback, arena, &err);
		assert(rc == 0);
		(void)rc;
	}
}

int opt_set(void *params, const struct opt *opt, const char *text, struct arena *arena, struct err *err)
{
	const int rc = parse_value(member_of(params, opt), opt, text, arena, err);

	if (rc)
		return err_wrap(err, "%s", opt->name);
	if (opt->given_offset)
		*(bool *)((char *)params + opt->given_offset) = true;
	return 0;
}

const struct opt *opt_find(const struct opt *opts, size_t n_opts, const char *name, size_t name_length)
{
	for (size_t i = 0; i < n_opts; i++)
		if (strncmp(opts[i].name, name, name_length) == 0 && opts[i].name[name_length] == '\0')
			return &opts[i];
	return NULL;
}

/* ---- help */

static const char *usage_of(const struct opt *opt, struct arena *arena)
{
	const char *const letter = opt->letter ? arena_printf(arena, "-%c, ", opt->letter) : "    ";
	const char *const arg = opt->kind == OPT_FLAG ? NULL : opt->arg ? opt->arg : opt->kind == OPT_WORD ? "WORD" : "VALUE";

	return arena_printf(arena, opt->bare ? "%s--%s%s[%s]" : "%s--%s%s%s", letter, opt->name, arg ? " " : "", arg ? arg : "");
}

static const char *note_of(const struct opt *opt, struct arena *arena)
{
	const char *const words = opt->kind == OPT_WORD ? word_list(opt->words, arena) : NULL;
	const char *const fallback = opt->kind == OPT_FLAG ? NULL : opt->bare ? opt->bare : opt->fallback;

	if (words && fallback)
		return arena_printf(arena, " (%s; default %s)", words, fallback);
	if (words || fallback)
		return arena_printf(arena, " (%s%s)", words ? "" : "default ", words ? words : fallback);
	return "";
}

void opt_help(const struct opt_table *tables, size_t n_tables, FILE *out)
{
	struct arena arena = {0};
	size_t width = 0;

	for (size_t table = 0; table < n_tables; table++)
		for (size_t i = 0; i < tables[table].n_opts; i++) {
			const size_t length = strlen(usage_of(&tables[table].opts[i], &arena));
			width = length > width ? length : width;
		}
	for (size_t table = 0; table < n_tables; table++) {
		if (tables[table].title)
			fprintf(out, "%s%s\n", table ? "\n" : "", tables[table].title);
		for (size_t i = 0; i < tables[table].n_opts; i++) {
			const struct opt *const opt = &tables[table].opts[i];
			fprintf(out, "  %-*s  %s%s\n", (int)width, usage_of(opt, &arena), opt->help, note_of(opt, &arena));
		}
	}
	arena_release(&arena);
}
