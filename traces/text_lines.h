/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * text_lines: a text of any size, one line at a time: without its end, without terminal colours, cut at TEXT_LINE_MAX.
 */
#ifndef TRACES_TEXT_LINES_H
#define TRACES_TEXT_LINES_H

#include "traces/input.h"

enum { TEXT_LINE_MAX = 16384 };

struct text_lines {
	struct input *in; /* borrowed */
	uint64_t number; /* of the line at hand, from 1 */
	size_t n; /* its bytes */
	char text[TEXT_LINE_MAX + 1]; /* terminated; bytes 0 are spaces */
};

void text_lines_init(struct text_lines *lines, struct input *in);
bool text_lines_next(struct text_lines *lines);

#endif
