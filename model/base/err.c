/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 63 };

/* One line, whatever a file or a command line put into the message. */
static void store_text(struct err *err, const char *text, bool truncated)
{
	const size_t room = sizeof(err->text) - 1;
	const size_t length = strnlen(text, room + 1);
	const size_t n = length > room ? room : length;

	memcpy(err->text, text, n);
	err->text[n] = '\0';
	if (truncated || length > room)
		memcpy(err->text + n - 3, "...", 3);
	for (char *c = err->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
}

int err_set(struct err *err, enum status code, const char *fmt, ...)
{
	char text[sizeof(err->text)]; /* not err->text: an argument may point into it */
	va_list args;

	assert(code != STATUS_OK);
	va_start(args, fmt);
	const int length = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	assert(length >= 0);
	store_text(err, text, (size_t)length >= sizeof(text));
	err->code = (int)code;
	return err->code;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char text[2 * sizeof(err->text)];
	va_list args;

	va_start(args, fmt);
	int length = vsnprintf(text, sizeof(err->text), fmt, args);
	va_end(args);
	assert(length >= 0);
	const size_t used = strlen(text);
	snprintf(text + used, sizeof(text) - used, ": %s", err->text);
	store_text(err, text, false);
	return err->code;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein, O(|a| |b|) with words of at most WORD_MAX letters. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1];
	const size_t n_a = strlen(a), n_b = strlen(b);

	for (size_t j = 0; j <= n_b; j++)
		row[j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			const size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			row[j] = min_size(substitute, min_size(row[j], row[j - 1]) + 1);
		}
	}
	return row[n_b];
}

const char *err_nearest(const char *word, const char *const words[])
{
	const char *nearest = NULL;
	size_t nearest_distance = WORD_MAX + 1;
	const size_t length = strnlen(word, WORD_MAX + 1);

	if (length > WORD_MAX)
		return NULL;
	for (; *words; words++) {
		const size_t candidate_length = strnlen(*words, WORD_MAX + 1);
		if (candidate_length > WORD_MAX)
			continue;
		const size_t distance = edit_distance(word, *words);
		const size_t longer = length > candidate_length ? length : candidate_length;
		if (2 * distance <= longer && distance < nearest_distance) {
			nearest = *words;
			nearest_distance = distance;
		}
	}
	return nearest;
}
