/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/jsonw.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void jsonw_init(struct jsonw *w, FILE *out, bool pretty)
{
	*w = (struct jsonw){.out = out, .pretty = pretty};
}

static void new_line(struct jsonw *w)
{
	putc('\n', w->out);
	for (int level = 0; level < w->depth; level++)
		fputs("  ", w->out);
}

/* What stands before a key or an element: comma, and a new line or a space. */
static void separate(struct jsonw *w)
{
	if (w->depth == 0)
		return;
	const int level = w->depth - 1;
	if (w->has_items[level])
		putc(',', w->out);
	if (w->pretty && !w->inline_level[level])
		new_line(w);
	else if (w->pretty && w->has_items[level])
		putc(' ', w->out);
	w->has_items[level] = true;
}

static void before_value(struct jsonw *w)
{
	if (w->after_key)
		w->after_key = false;
	else
		separate(w);
}

static void open_level(struct jsonw *w, char bracket, bool on_one_line)
{
	before_value(w);
	assert(w->depth < JSONW_DEPTH_MAX);
	putc(bracket, w->out);
	w->inline_level[w->depth] = on_one_line || (w->depth > 0 && w->inline_level[w->depth - 1]);
	w->has_items[w->depth] = false;
	w->depth++;
}

static void close_level(struct jsonw *w, char bracket)
{
	assert(w->depth > 0 && !w->after_key);
	w->depth--;
	if (w->pretty && w->has_items[w->depth] && !w->inline_level[w->depth])
		new_line(w);
	putc(bracket, w->out);
}

void jsonw_object(struct jsonw *w)
{
	open_level(w, '{', false);
}

void jsonw_array(struct jsonw *w)
{
	open_level(w, '[', false);
}

void jsonw_inline_object(struct jsonw *w)
{
	open_level(w, '{', true);
}

void jsonw_inline_array(struct jsonw *w)
{
	open_level(w, '[', true);
}

void jsonw_end_object(struct jsonw *w)
{
	close_level(w, '}');
}

void jsonw_end_array(struct jsonw *w)
{
	close_level(w, ']');
}

/* Bytes of the UTF-8 sequence at c (RFC 3629: no overlong forms, no surrogates), 0 when it is not one. */
static size_t utf8_length(const unsigned char *c)
{
	if (c[0] < 0x80)
		return 1;
	const size_t n = c[0] >= 0xc2 && c[0] <= 0xdf ? 2 : (c[0] & 0xf0) == 0xe0 ? 3 : c[0] >= 0xf0 && c[0] <= 0xf4 ? 4 : 0;
	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f))
		return 0;
	if ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return n;
}

static void write_control(FILE *out, unsigned char c)
{
	switch (c) {
	case '\n': fputs("\\n", out); break;
	case '\t': fputs("\\t", out); break;
	case '\r': fputs("\\r", out); break;
	default: fprintf(out, "\\u%04x", c);
	}
}

/* Bytes that are not UTF-8 (file names) become U+FFFD, so that the output is always JSON. */
static void write_quoted(FILE *out, const char *text)
{
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c;) {
		const size_t n = utf8_length(c);
		if (n == 0)
			fputs("\xef\xbf\xbd", out);
		else if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < ' ' || *c == 0x7f)
			write_control(out, *c);
		else
			fwrite(c, 1, n, out);
		c += n ? n : 1;
	}
	putc('"', out);
}

void jsonw_key(struct jsonw *w, const char *key)
{
	assert(w->depth > 0 && !w->after_key);
	separate(w);
	write_quoted(w->out, key);
	fputs(w->pretty ? ": " : ":", w->out);
	w->after_key = true;
}

void jsonw_string(struct jsonw *w, const char *text)
{
	before_value(w);
	if (text)
		write_quoted(w->out, text);
	else
		fputs("null", w->out);
}

char *jsonw_double_text(char text[32], double value)
{
	if (!isfinite(value))
		return strcpy(text, "null");
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, 32, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}

void jsonw_number(struct jsonw *w, double value)
{
	char text[32];

	before_value(w);
	fputs(jsonw_double_text(text, value), w->out);
}

void jsonw_integer(struct jsonw *w, long long value)
{
	before_value(w);
	fprintf(w->out, "%lld", value);
}

void jsonw_bool(struct jsonw *w, bool value)
{
	before_value(w);
	fputs(value ? "true" : "false", w->out);
}

void jsonw_null(struct jsonw *w)
{
	jsonw_string(w, NULL);
}

void jsonw_member_string(struct jsonw *w, const char *key, const char *text)
{
	jsonw_key(w, key);
	jsonw_string(w, text);
}

void jsonw_member_number(struct jsonw *w, const char *key, double value)
{
	jsonw_key(w, key);
	jsonw_number(w, value);
}

void jsonw_member_integer(struct jsonw *w, const char *key, long long value)
{
	jsonw_key(w, key);
	jsonw_integer(w, value);
}

void jsonw_member_bool(struct jsonw *w, const char *key, bool value)
{
	jsonw_key(w, key);
	jsonw_bool(w, value);
}
