/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/text_lines.h"

#include <string.h>

void text_lines_init(struct text_lines *lines, struct input *in)
{
	lines->in = in;
	lines->number = lines->n = 0;
	lines->text[0] = '\0';
}

/* Bytes of an escape sequence at text[0], 0 when there is none: ESC [ .. letter. Also "[92m" whose ESC was lost. */
static size_t colour_length(const char *text, size_t n)
{
	size_t i = text[0] == '\033' ? 1 : 0;

	if (i >= n || text[i] != '[')
		return i;
	const size_t digits = ++i;
	while (i < n && ((text[i] >= '0' && text[i] <= '9') || text[i] == ';'))
		i++;
	if (i >= n || (text[0] != '\033' && (i == digits || text[i] != 'm' || i - digits > 5)))
		return text[0] == '\033' ? 1 : 0;
	return i + 1;
}

static void strip(struct text_lines *lines)
{
	size_t n = 0;

	for (size_t i = 0; i < lines->n;) {
		const size_t skipped =
		    lines->text[i] == '\033' || lines->text[i] == '[' ? colour_length(lines->text + i, lines->n - i) : 0;
		if (skipped == 0)
			lines->text[n++] = lines->text[i] && lines->text[i] != '\r' ? lines->text[i] : ' ';
		i += skipped ? skipped : 1;
	}
	lines->n = n;
	lines->text[n] = '\0';
}

bool text_lines_next(struct text_lines *lines)
{
	bool has_any = false;

	lines->n = 0;
	for (;;) {
		const size_t have = input_fill(lines->in, 1);
		if (have == 0)
			break;
		has_any = true;
		const char *const text = input_text(lines->in), *const end = memchr(text, '\n', have);
		const size_t n = end ? (size_t)(end - text) : have;
		const size_t kept = n < TEXT_LINE_MAX - lines->n ? n : TEXT_LINE_MAX - lines->n;
		memcpy(lines->text + lines->n, text, kept);
		lines->n += kept;
		input_skip(lines->in, end ? n + 1 : n);
		if (end)
			break;
	}
	lines->number += has_any;
	strip(lines);
	return has_any;
}
