/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/html.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

static size_t expected_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

size_t html_character(const char *text)
{
	const unsigned char *const c = (const unsigned char *)text;
	const size_t n = expected_length(*c);

	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, beyond the last code point */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return n;
}

/* C0, DEL and C1 controls, and what turns the direction of text (U+202A..E, U+2066..9), so that a name cannot rearrange its line. */
static int is_control(const char *text, size_t n)
{
	const unsigned char *const c = (const unsigned char *)text;

	if (n == 1)
		return *c < ' ' || *c == 0x7f;
	if (n == 2)
		return c[0] == 0xc2 && c[1] < 0xa0;
	return n == 3 && c[0] == 0xe2 && ((c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) || (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

void html_text(FILE *out, const char *text)
{
	while (*text) {
		const size_t n = html_character(text);
		if (n == 0)
			fputs("\xef\xbf\xbd", out); /* U+FFFD */
		else if (is_control(text, n))
			putc(' ', out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else if (*text == '\'')
			fputs("&#39;", out);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
}

void html_printf(FILE *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	for (const char *c = format; *c; c++) {
		if (*c != '%') {
			putc(*c, out);
			continue;
		}
		c++;
		assert(*c == 's');
		html_text(out, va_arg(args, const char *));
	}
	va_end(args);
}
