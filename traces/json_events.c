/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/json_events.h"

#include <assert.h>
#include <string.h>

/* State of a scan for the end of one value; it survives a refill of the window. */
struct framing {
	size_t at; /* next byte to look at, from the start of the value */
	int depth;
	bool in_string, is_escaped, is_broken;
};

/* Bytes that matter: outside strings quotes and brackets, inside strings quotes, backslashes and line ends. */
static const unsigned char outside[256] = {['"'] = 1, ['{'] = 1, ['['] = 1, ['}'] = 1, [']'] = 1};
static const unsigned char inside[256] = {['"'] = 1, ['\\'] = 1, ['\n'] = 1};

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* One byte that matters inside a string; false: the string has a line end in it, which no JSON has. */
static bool step_inside(struct framing *f, char c)
{
	if (c == '\n')
		return false;
	f->is_escaped = c == '\\';
	f->in_string = c != '"';
	return true;
}

/* Goes on until the object or array that starts at text[0] closes; true when it does, f->at is behind it then. */
static bool frame(struct framing *f, const char *text, size_t n)
{
	const unsigned char *const bytes = (const unsigned char *)text;
	size_t i = f->at;

	for (; i < n; i++) {
		if (f->is_escaped) {
			f->is_escaped = false;
			continue;
		}
		const unsigned char *const matters = f->in_string ? inside : outside;
		while (i < n && !matters[bytes[i]])
			i++;
		if (i == n)
			break;
		if (f->in_string) {
			f->is_broken = !step_inside(f, text[i]);
			if (f->is_broken)
				break;
			continue;
		}
		f->in_string = text[i] == '"';
		f->depth += text[i] == '{' || text[i] == '[';
		f->depth -= text[i] == '}' || text[i] == ']';
		if (f->depth == 0 && !f->in_string) {
			f->at = i + 1;
			return true;
		}
	}
	f->at = i;
	return false;
}

/* Frames the bracketed value at the start of the window; *n is its length. False: broken, longer than a window may be, or cut. */
static bool frame_input(struct input *in, size_t *n, bool *is_broken)
{
	struct framing f = {0};
	size_t have = input_fill(in, 1);

	while (!frame(&f, input_text(in), have)) {
		if (f.is_broken || have > JSON_EVENT_MAX_BYTES || (in->is_ended && f.at >= have))
			break;
		const size_t more = input_fill(in, have + 1);
		if (more == have)
			break;
		have = more;
	}
	*n = f.at;
	*is_broken = f.is_broken || have > JSON_EVENT_MAX_BYTES;
	return f.depth == 0 && f.at > 0 && !f.in_string && !f.is_broken;
}

/* First byte that is no space, 0 at the end. */
static char peek(struct input *in)
{
	for (;;) {
		if (input_fill(in, 1) == 0)
			return 0;
		const char *const text = input_text(in);
		const size_t n = in->end - in->start;
		size_t i = 0;
		while (i < n && is_space(text[i]))
			i++;
		input_skip(in, i);
		if (i < n)
			return input_text(in)[0];
	}
}

/* Length of the string at the start of the window with its quotes, 0 when it does not end. */
static size_t string_length(struct input *in)
{
	size_t have = input_fill(in, 1);

	for (size_t i = 1;; i++) {
		if (i >= have && (have = input_fill(in, i + 4096)) <= i)
			return 0;
		const char c = input_text(in)[i];
		if (c == '"')
			return i + 1;
		if (c == '\\')
			i++;
		if (i > JSON_EVENT_MAX_BYTES)
			return 0;
	}
}

/* Length of a number or word at the start of the window. */
static size_t word_length(struct input *in)
{
	size_t have = input_fill(in, 64), i = 0;

	while (i < have && !is_space(input_text(in)[i]) && !strchr(",}]", input_text(in)[i]))
		i++;
	return i;
}

void json_events_init(struct json_events *e, struct input *in)
{
	*e = (struct json_events){.in = in};
}

/* Goes on at the next "},{" (spaces between) from the second byte on: the start of an event, as far as one can tell. */
static void resynchronise(struct input *in)
{
	char last[2] = {0, 0}; /* the last two bytes that are no spaces */

	input_skip(in, input_fill(in, 1) > 0);
	while (input_fill(in, 1) > 0) {
		const char *const text = input_text(in);
		const size_t n = in->end - in->start;
		for (size_t i = 0; i < n; i++) {
			if (is_space(text[i]))
				continue;
			if (text[i] == '{' && last[0] == '}' && last[1] == ',') {
				input_skip(in, i);
				return;
			}
			last[0] = last[1];
			last[1] = text[i];
		}
		input_skip(in, n);
	}
}

static enum json_item next_event(struct json_events *e)
{
	char c = peek(e->in);
	bool is_broken;
	size_t n;

	while (c == ',') {
		input_skip(e->in, 1);
		c = peek(e->in);
	}
	e->where = e->in->offset;
	if (c == ']') {
		input_skip(e->in, 1);
		e->is_in_events = false;
		e->has_end = true;
		e->is_over = e->is_bare;
		return JSON_AGAIN;
	}
	if (c == 0) {
		e->is_over = true;
		return JSON_END;
	}
	if (c == '{' && frame_input(e->in, &n, &is_broken)) {
		e->text = (struct json_text){input_text(e->in), n, '{'};
		e->used = n;
		return JSON_EVENT;
	}
	resynchronise(e->in);
	return JSON_BROKEN;
}

static bool read_key(struct json_events *e)
{
	const size_t n = string_length(e->in);

	if (n == 0)
		return false;
	const size_t kept = n - 2 < sizeof(e->key_buffer) ? n - 2 : sizeof(e->key_buffer);
	memcpy(e->key_buffer, input_text(e->in) + 1, kept);
	e->key = (struct json_text){e->key_buffer, kept, '"'};
	input_skip(e->in, n);
	if (peek(e->in) != ':')
		return false;
	input_skip(e->in, 1);
	return true;
}

static enum json_item read_value(struct json_events *e)
{
	const char c = peek(e->in);
	bool is_broken = false;
	size_t n;

	if (c == '[' && json_is(e->key, "traceEvents")) {
		input_skip(e->in, 1);
		e->is_in_events = true;
		return JSON_AGAIN;
	}
	e->where = e->in->offset;
	if (c == '{' || c == '[') {
		if (!frame_input(e->in, &n, &is_broken) && !is_broken) {
			e->is_over = true; /* cut inside a member */
			return JSON_END;
		}
		e->text = (struct json_text){input_text(e->in), n, c};
		e->used = n;
		return JSON_MEMBER;
	}
	n = c == '"' ? string_length(e->in) : word_length(e->in);
	if (n == 0) {
		e->is_over = true;
		return JSON_END;
	}
	e->text = c == '"' ? (struct json_text){input_text(e->in) + 1, n - 2, '"'}
			   : (struct json_text){input_text(e->in), n, 'v'};
	e->used = n;
	return JSON_MEMBER;
}

static enum json_item next_member(struct json_events *e)
{
	char c = peek(e->in);

	while (c == ',') {
		input_skip(e->in, 1);
		c = peek(e->in);
	}
	if (c == '"' && read_key(e))
		return read_value(e);
	e->has_end |= c == '}';
	e->is_over = true;
	return JSON_END;
}

enum json_item json_events_next(struct json_events *e)
{
	input_skip(e->in, e->used);
	e->used = 0;
	if (!e->has_started) {
		const char c = peek(e->in);
		e->has_started = true;
		e->is_bare = e->is_in_events = c == '[';
		e->is_over = c != '[' && c != '{';
		if (!e->is_over)
			input_skip(e->in, 1);
	}
	while (!e->is_over) {
		const enum json_item item = e->is_in_events ? next_event(e) : next_member(e);
		if (item != JSON_AGAIN)
			return item;
	}
	return JSON_END;
}
