/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_events: the events of a Chrome trace of any size, one at a time, in bounded memory.
 *
 * Frames the members of the top object and the objects of its "traceEvents" array (or of a bare array) without building a tree; the
 * caller walks the members of one event and reads numbers from their text. What is broken is skipped: after an event whose quotes or
 * braces do not match, reading goes on at the next "},{". A missing end is accepted.
 */
#ifndef TRACES_JSON_EVENTS_H
#define TRACES_JSON_EVENTS_H

#include "traces/input.h"

enum { JSON_EVENT_MAX_BYTES = 1 << 20 };

/* A run of text: of an event, a key or a value. Strings are without their quotes and still escaped. */
struct json_text {
	const char *at;
	size_t n;
	char kind; /* of a value: '{' '[' '"' or 'v' for numbers and words */
};

enum json_item {
	JSON_END,
	JSON_EVENT, /* text: an object of traceEvents */
	JSON_MEMBER, /* key, text: another member of the top object; cut where it is longer than JSON_EVENT_MAX_BYTES */
	JSON_BROKEN, /* an event that cannot be framed; reading goes on behind it */
	JSON_AGAIN, /* never handed out */
};

struct json_events {
	struct input *in; /* borrowed */
	bool has_started, is_bare, is_in_events, is_over;
	bool has_end; /* the closing bracket was seen: not cut short */
	size_t used; /* bytes of the item handed out last */
	struct json_text key, text; /* of the item at hand: valid until the next call */
	uint64_t where; /* its place in the file */
	char key_buffer[64];
};

void json_events_init(struct json_events *events, struct input *in);
enum json_item json_events_next(struct json_events *events);

/* Walks the members of an object's text, or the elements of an array's (key empty). False at the end and where it is broken
 * (*is_broken set). */
struct json_walk {
	const char *at, *end;
	bool is_broken;
};
void json_walk_init(struct json_walk *walk, struct json_text object);
bool json_walk_next(struct json_walk *walk, struct json_text *key, struct json_text *value);

bool json_is(struct json_text text, const char *word);
bool json_starts(struct json_text text, const char *word);
/* Decimal text to an integer, exact up to 2^62; false for what is none or out of range. Fractions are rounded. */
bool json_integer(int64_t *value, struct json_text text);
/* Microseconds as text to nanoseconds, rounded to the nearest; 0 to 4e18. */
bool json_us_to_ns(int64_t *ns, struct json_text text);
bool json_double(double *value, struct json_text text);
/* Copies a string value unescaped (\" \\ \/ \uXXXX as '?'), cut to size. */
char *json_copy(char *to, size_t size, struct json_text text);

#endif
