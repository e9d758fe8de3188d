/* SPDX-License-Identifier: GPL-3.0-or-later
 * Members of one event, and its numbers, from their text. */
#include "traces/json_events.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t time_max_ns = 4000000000000000000;

void json_walk_init(struct json_walk *w, struct json_text object)
{
	*w = (struct json_walk){.at = "", .end = ""};
	if (object.n == 0)
		return;
	*w = (struct json_walk){.at = object.at, .end = object.at + object.n};
	if (*w->at == '{' || *w->at == '[')
		w->at++;
}

static void skip_spaces(struct json_walk *w)
{
	while (w->at < w->end && isspace((unsigned char)*w->at))
		w->at++;
}

/* At a quote: the text up to the closing one. */
static bool take_string(struct json_walk *w, struct json_text *text)
{
	const char *const from = ++w->at;

	while (w->at < w->end && *w->at != '"')
		w->at += *w->at == '\\' ? 2 : 1;
	if (w->at >= w->end)
		return false;
	*text = (struct json_text){from, (size_t)(w->at++ - from), '"'};
	return true;
}

/* At a bracket: up to the one that closes it. */
static bool take_nested(struct json_walk *w, struct json_text *text)
{
	const char *const from = w->at;
	const char kind = *from;
	int depth = 0;
	struct json_text skipped;

	while (w->at < w->end) {
		const char c = *w->at;
		if (c == '"') {
			if (!take_string(w, &skipped))
				return false;
			continue;
		}
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		w->at++;
		if (depth == 0) {
			*text = (struct json_text){from, (size_t)(w->at - from), kind};
			return true;
		}
	}
	return false;
}

static bool take_word(struct json_walk *w, struct json_text *text)
{
	const char *const from = w->at;

	while (w->at < w->end && *w->at != ',' && *w->at != '}' && *w->at != ']' && !isspace((unsigned char)*w->at))
		w->at++;
	*text = (struct json_text){from, (size_t)(w->at - from), 'v'};
	return text->n > 0;
}

static bool take_value(struct json_walk *w, struct json_text *value)
{
	skip_spaces(w);
	if (w->at >= w->end)
		return false;
	if (*w->at == '"')
		return take_string(w, value);
	return *w->at == '{' || *w->at == '[' ? take_nested(w, value) : take_word(w, value);
}

static bool take_key(struct json_walk *w, struct json_text *key)
{
	*key = (struct json_text){"", 0, '"'};
	if (*w->at != '"')
		return true; /* an element */
	const char *const from = w->at;
	if (!take_string(w, key))
		return false;
	skip_spaces(w);
	if (w->at < w->end && *w->at == ':') {
		w->at++;
		return true;
	}
	w->at = from; /* a string element */
	*key = (struct json_text){"", 0, '"'};
	return true;
}

bool json_walk_next(struct json_walk *w, struct json_text *key, struct json_text *value)
{
	skip_spaces(w);
	if (w->at >= w->end || *w->at == '}' || *w->at == ']')
		return false;
	w->is_broken = !take_key(w, key) || !take_value(w, value);
	skip_spaces(w);
	if (!w->is_broken && w->at < w->end && *w->at != '}' && *w->at != ']') {
		w->is_broken = *w->at != ',';
		w->at += !w->is_broken;
	}
	return !w->is_broken;
}

bool json_is(struct json_text text, const char *word)
{
	return text.n > 0 && strlen(word) == text.n && memcmp(text.at, word, text.n) == 0;
}

bool json_starts(struct json_text text, const char *word)
{
	const size_t n = strlen(word);
	return n > 0 && n <= text.n && memcmp(text.at, word, n) == 0;
}

/* Decimal digits with a fraction, times 10^n_decimals, rounded. No exponent. */
static bool fixed_point(int64_t *value, struct json_text text, int n_decimals)
{
	const bool is_negative = text.n > 0 && text.at[0] == '-';
	int64_t sum = 0;
	int n_after = -1;
	size_t i = is_negative;
	bool rounds_up = false;

	for (; i < text.n && (n_after < n_decimals || n_after < 0); i++) {
		if (text.at[i] == '.' && n_after < 0) {
			n_after = 0;
			if (n_decimals == 0)
				break;
			continue;
		}
		if (!isdigit((unsigned char)text.at[i]) || sum > INT64_MAX / 10 - 1)
			return false;
		sum = 10 * sum + (text.at[i] - '0');
		n_after += n_after >= 0;
	}
	if (i < text.n && text.at[i] == '.')
		i++;
	rounds_up = i < text.n && text.at[i] >= '5' && text.at[i] <= '9';
	for (; i < text.n; i++)
		if (!isdigit((unsigned char)text.at[i]))
			return false;
	for (int n = n_after < 0 ? 0 : n_after; n < n_decimals; n++)
		if (sum > INT64_MAX / 10 - 1)
			return false;
		else
			sum *= 10;
	*value = is_negative ? -(sum + rounds_up) : sum + rounds_up;
	return text.n > is_negative;
}

bool json_double(double *value, struct json_text text)
{
	char copy[64];
	char *end;

	if (text.n == 0 || text.n >= sizeof(copy))
		return false;
	memcpy(copy, text.at, text.n);
	copy[text.n] = '\0';
	*value = strtod(copy, &end);
	return end == copy + text.n && isfinite(*value);
}

bool json_integer(int64_t *value, struct json_text text)
{
	double number;

	if (fixed_point(value, text, 0))
		return true;
	if (!json_double(&number, text) || !(fabs(number) < 4e18))
		return false;
	*value = (int64_t)number;
	return true;
}

bool json_us_to_ns(int64_t *ns, struct json_text text)
{
	double us;

	if (fixed_point(ns, text, 3))
		return *ns >= 0 && *ns <= time_max_ns;
	if (!json_double(&us, text) || !(us >= 0 && us < 4e15))
		return false;
	*ns = (int64_t)llround(us * 1e3);
	return true;
}

char *json_copy(char *to, size_t size, struct json_text text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n && n + 1 < size; i++) {
		if (text.at[i] == '\\' && i + 1 < text.n && text.at[++i] == 'u') {
			to[n++] = '?';
			i += i + 4 < text.n ? 4 : text.n - i - 1;
			continue;
		}
		to[n++] = (unsigned char)text.at[i] < ' ' ? ' ' : text.at[i];
	}
	to[n] = '\0';
	return to;
}
