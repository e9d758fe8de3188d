/* SPDX-License-Identifier: GPL-3.0-or-later
 * The SPEC, list and range half of opt.h. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/jsonw.h"
#include "model/base/opt.h"

enum { EXPAND_MAX = 1000000 };

static char *substring(const char *start, size_t length, struct arena *arena)
{
	char *const text = arena_alloc(arena, length + 1, 1);

	memcpy(text, start, length);
	text[length] = '\0';
	return text;
}

/* Pieces of text between separators, empty ones included. */
static struct opt_list split(const char *text, char separator, struct arena *arena)
{
	struct opt_list pieces = {0};

	for (;;) {
		const size_t length = (size_t)(strchrnul(text, separator) - text);
		opt_list_add(&pieces, substring(text, length, arena), arena);
		if (text[length] == '\0')
			return pieces;
		text += length + 1;
	}
}

/* "k=v", and not "name:k=v" */
static bool is_pair(const char *token)
{
	return token[strcspn(token, ":=")] == '=';
}

int spec_split(struct opt_list *specs, const char *text, struct arena *arena, struct err *err)
{
	const struct opt_list tokens = split(text, ',', arena);
	const size_t n_before = specs->n;

	for (size_t i = 0; i < tokens.n; i++) {
		const char *const token = tokens.items[i];
		if (*token == '\0' || *token == ':')
			return err_set(err, STATUS_USAGE, "policy '%s': a policy's name is empty", text);
		if (!is_pair(token)) {
			opt_list_add(specs, token, arena);
			continue;
		}
		if (specs->n == n_before)
			return err_set(err, STATUS_USAGE, "policy '%s': '%s' has no policy before it", text, token);
		const char **const last = &specs->items[specs->n - 1];
		*last = arena_printf(arena, "%s%c%s", *last, strchr(*last, ':') ? ',' : ':', token);
	}
	return 0;
}

static int parse_pair(struct spec_pair *pair, const struct spec *spec, const char *token, struct arena *arena, struct err *err)
{
	const size_t length = strcspn(token, "=");

	if (length == 0 || token[length] == '\0' || token[length + 1] == '\0')
		return err_set(err, STATUS_USAGE, "policy %s: '%s' is not option=value", spec->name, token);
	pair->key = substring(token, length, arena);
	pair->value = arena_strdup(arena, token + length + 1);
	return 0;
}

int spec_parse(struct spec *spec, const char *text, struct arena *arena, struct err *err)
{
	const size_t length = strcspn(text, ":");

	*spec = (struct spec){.name = substring(text, length, arena)};
	if (length == 0 || strpbrk(spec->name, "=, "))
		return err_set(err, STATUS_USAGE, "policy '%s': name[:option=value[,option=value]..] is expected", text);
	if (text[length] == '\0')
		return 0;
	const struct opt_list tokens = split(text + length + 1, ',', arena);
	spec->pairs = arena_alloc(arena, tokens.n, sizeof(*spec->pairs));
	for (; spec->n_pairs < tokens.n; spec->n_pairs++) {
		const int rc = parse_pair(&spec->pairs[spec->n_pairs], spec, tokens.items[spec->n_pairs], arena, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int unknown_key(const struct opt *opts, size_t n_opts, const char *key, struct arena *arena, struct err *err)
{
	struct opt_list names = {0};
	const char *accepted = n_opts ? opts[0].name : "no options";

	for (size_t i = 0; i < n_opts; i++) {
		opt_list_add(&names, opts[i].name, arena);
		if (i)
			accepted = arena_printf(arena, "%s, %s", accepted, opts[i].name);
	}
	opt_list_add(&names, NULL, arena);
	const char *const nearest = err_nearest(key, names.items);
	if (nearest)
		return err_set(err, STATUS_USAGE, "unknown option '%s'; did you mean '%s'?", key, nearest);
	return err_set(err, STATUS_USAGE, "unknown option '%s'; accepted: %s", key, accepted);
}

static bool key_stands_before(const struct spec *spec, size_t pair)
{
	for (size_t i = 0; i < pair; i++)
		if (strcmp(spec->pairs[i].key, spec->pairs[pair].key) == 0)
			return true;
	return false;
}

int spec_apply(void *params, const struct opt *opts, size_t n_opts, const struct spec *spec, struct arena *arena,
    struct err *err)
{
	for (size_t i = 0; i < spec->n_pairs; i++) {
		const struct spec_pair *const pair = &spec->pairs[i];
		const struct opt *const opt = opt_find(opts, n_opts, pair->key, strlen(pair->key));
		int rc;
		if (!opt)
			rc = unknown_key(opts, n_opts, pair->key, arena, err);
		else if (key_stands_before(spec, i))
			rc = err_set(err, STATUS_USAGE, "%s: given twice", pair->key);
		else
			rc = opt_set(params, opt, pair->value, arena, err);
		if (rc)
			return err_wrap(err, "policy %s", spec->name);
	}
	return 0;
}

static const char *joined(const struct opt_list *list, char separator, struct arena *arena)
{
	const char *text = NULL;

	for (size_t i = 0; i < list->n; i++)
		text = i ? arena_printf(arena, "%s%c%s", text, separator, list->items[i]) : list->items[i];
	return text;
}

/* Canonical text of one value; NULL: nothing to say. */
static const char *value_text(const void *member, const struct opt *opt, struct arena *arena)
{
	char text[32];

	switch (opt->kind) {
	case OPT_FLAG: return *(const bool *)member ? "on" : "off";
	case OPT_INT: return arena_printf(arena, "%lld", *(const long long *)member);
	case OPT_NUMBER: return arena_strdup(arena, jsonw_double_text(text, *(const double *)member));
	case OPT_WORD: return opt->words[*(const int *)member];
	case OPT_TEXT: return *(const char *const *)member;
	case OPT_LIST: return joined(member, ';', arena);
	}
	return NULL;
}

char *spec_canonical(const char *name, const void *params, const struct opt *opts, size_t n_opts, struct arena *arena)
{
	char *text = arena_strdup(arena, name);
	char separator = ':';

	for (size_t i = 0; i < n_opts; i++) {
		const struct opt *const opt = &opts[i];
		if (opt->given_offset && !*(const bool *)((const char *)params + opt->given_offset))
			continue;
		const char *const value = value_text((const char *)params + opt->offset, opt, arena);
		if (!value)
			continue;
		text = arena_printf(arena, "%s%c%s=%s", text, separator, opt->name, value);
		separator = ',';
	}
	return text;
}

/* ---- ranges */

struct range {
	double first, last, step;
	const char *suffix; /* written after each value: "GiB" */
};

/* Splits "16GiB" into 16 and "GiB". */
static bool read_mantissa(double *value, const char **suffix, const char *text)
{
	char *end;

	if ((!isdigit((unsigned char)text[0]) && text[0] != '.') || text[1] == 'x' || text[1] == 'X')
		return false;
	*value = strtod(text, &end);
	*suffix = end;
	return end != text && isfinite(*value);
}

/* The ends share a suffix ("10GiB..80GiB:10GiB", "1M..4M"): count in that suffix. */
static bool range_in_suffix(struct range *range, const char *first, const char *last, const char *step)
{
	const char *suffixes[3];

	if (!read_mantissa(&range->first, &suffixes[0], first) || !read_mantissa(&range->last, &suffixes[1], last))
		return false;
	range->step = 1;
	suffixes[2] = suffixes[0];
	if (step && !read_mantissa(&range->step, &suffixes[2], step))
		return false;
	range->suffix = suffixes[0];
	return strcmp(suffixes[0], suffixes[1]) == 0 && strcmp(suffixes[0], suffixes[2]) == 0;
}

/* Any mixture of plain numbers and k M G T: "500k..2M:500k". */
static int range_in_numbers(struct range *range, const char *first, const char *last, const char *step, struct err *err)
{
	*range = (struct range){.step = 1, .suffix = ""};
	int rc = units_parse(&range->first, UNIT_NONE, first, err);
	if (rc == 0)
		rc = units_parse(&range->last, UNIT_NONE, last, err);
	if (rc == 0 && step)
		rc = units_parse(&range->step, UNIT_NONE, step, err);
	return rc;
}

static int add_range(struct opt_list *values, const struct range *range, struct arena *arena, struct err *err)
{
	if (!(range->step > 0) || range->last < range->first)
		return err_set(err, STATUS_USAGE, "a range goes upwards, with a step above 0");
	const double n_steps = floor((range->last - range->first) / range->step + 1e-9);
	if (n_steps + 1 + (double)values->n > EXPAND_MAX)
		return err_set(err, STATUS_USAGE, "more than %d values", EXPAND_MAX);
	/* %.12g: 0.1 + 2 * 0.1 is written 0.3 */
	for (size_t i = 0; i <= (size_t)n_steps; i++)
		opt_list_add(values, arena_printf(arena, "%.12g%s", range->first + (double)i * range->step, range->suffix), arena);
	return 0;
}

/* "a..b[:step]" starts with a digit; "../x.json" and "a..b" do not and are plain values. */
static bool is_range(const char *item)
{
	return isdigit((unsigned char)item[0]) && strstr(item, "..");
}

static int expand_range(struct opt_list *values, const char *item, struct arena *arena, struct err *err)
{
	const char *const dots = strstr(item, "..");
	const char *const first = substring(item, (size_t)(dots - item), arena);
	const size_t last_length = strcspn(dots + 2, ":");
	const char *const last = substring(dots + 2, last_length, arena);
	const char *const step = dots[2 + last_length] == ':' ? dots + 3 + last_length : NULL;
	struct range range;
	int rc = 0;

	if (!range_in_suffix(&range, first, last, step))
		rc = range_in_numbers(&range, first, last, step, err);
	if (rc == 0)
		rc = add_range(values, &range, arena, err);
	return rc ? err_wrap(err, "range '%s'", item) : 0;
}

int opt_expand(struct opt_list *values, const char *text, char separator, struct arena *arena, struct err *err)
{
	const struct opt_list items = split(text, separator, arena);

	for (size_t i = 0; i < items.n; i++) {
		if (*items.items[i] == '\0')
			return err_set(err, STATUS_USAGE, "'%s': a value is empty", text);
		if (!is_range(items.items[i]))
			opt_list_add(values, items.items[i], arena);
		else if (expand_range(values, items.items[i], arena, err))
			return err->code;
	}
	return 0;
}
