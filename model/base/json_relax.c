/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/json_relax.h"

#include <stdbool.h>
#include <string.h>

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void blank(char *from, const char *to)
{
	for (; from < to; from++)
		if (*from != '\n' && *from != '\r')
			*from = ' ';
}

/* After the closing quote of the string at c. */
static char *string_end(char *c, char *end)
{
	for (c++; c < end && *c != '"'; c++)
		if (*c == '\\' && c + 1 < end)
			c++;
	return c < end ? c + 1 : end;
}

/* After the comment at c; NULL when there is none. A NUL byte ends no text here, so what has one is no comment. */
static char *comment_end(char *c, char *end)
{
	if (*c == '#' || (*c == '/' && c + 1 < end && c[1] == '/')) {
		char *const line_end = memchr(c, '\n', (size_t)(end - c));
		char *const after = line_end ? line_end : end;
		return memchr(c, '\0', (size_t)(after - c)) ? NULL : after;
	}
	if (*c != '/' || c + 1 == end || c[1] != '*')
		return NULL;
	for (c += 2; c + 1 < end && *c; c++)
		if (c[0] == '*' && c[1] == '/')
			return c + 2;
	return NULL;
}

static size_t line_of(const char *text, const char *where)
{
	size_t line = 1;

	for (; text < where; text++)
		line += *text == '\n';
	return line;
}

/* A comma is one too many when the next text, comments gone, closes what it is in. `open` is the last comma seen since. */
static char *drop_comma(struct json_relaxed *found, const char *text, char *open, char next)
{
	if (!open || (next != '}' && next != ']'))
		return NULL;
	if (found->n_commas++ == 0)
		found->comma_line = line_of(text, open);
	*open = ' ';
	return NULL;
}

void json_relax(struct json_relaxed *found, char *text, size_t n_bytes)
{
	char *const end = text + n_bytes, *comma = NULL;
	bool is_after_value = false; /* a comma after nothing is an error, not one too many */

	*found = (struct json_relaxed){0};
	for (char *c = text, *next; c < end; c = next) {
		next = comment_end(c, end);
		if (next) {
			if (found->n_comments++ == 0)
				found->comment_line = line_of(text, c);
			blank(c, next);
			continue;
		}
		next = *c == '"' ? string_end(c, end) : c + 1;
		if (is_space(*c))
			continue;
		if (*c == ',') {
			comma = is_after_value ? c : NULL;
			is_after_value = false;
			continue;
		}
		comma = drop_comma(found, text, comma, *c);
		is_after_value = *c != '{' && *c != '[' && *c != ':';
	}
}
