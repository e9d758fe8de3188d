/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/input.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "model/base/arena.h"

enum { WINDOW_BYTES = 256 * 1024 };

int input_open(struct input *in, const char *path, struct err *err)
{
	const bool is_stdin = strcmp(path, "-") == 0;
	struct stat info;

	*in = (struct input){.name = is_stdin ? "standard input" : path};
	if (!is_stdin && stat(path, &info) != 0)
		return err_set(err, STATUS_INPUT, "%s: %s", path, strerror(errno));
	if (!is_stdin && S_ISDIR(info.st_mode))
		return err_set(err, STATUS_INPUT, "%s: is a folder; a trace or a log would be accepted", path);
	in->file = is_stdin ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path, "rb");
	if (!in->file)
		return err_set(err, STATUS_INPUT, "%s: %s", in->name, strerror(errno));
	gzbuffer(in->file, WINDOW_BYTES);
	return 0;
}

void input_memory(struct input *in, const char *name, const void *data, size_t n_bytes)
{
	*in = (struct input){.name = name, .memory = data, .n_memory = n_bytes};
}

void input_close(struct input *in)
{
	if (in->file)
		gzclose(in->file);
	free(in->data);
	*in = (struct input){0};
}

/* Makes room for `wanted` bytes from data[start] on. */
static void make_room(struct input *in, size_t wanted)
{
	if (in->start > 0 && in->data) {
		memmove(in->data, in->data + in->start, in->end - in->start);
		in->end -= in->start;
		in->start = 0;
	}
	if (in->capacity >= wanted)
		return;
	while (in->capacity < wanted)
		in->capacity = in->capacity ? 2 * in->capacity : WINDOW_BYTES;
	in->data = xrealloc(in->data, in->capacity, 1);
}

static size_t read_some(struct input *in, char *to, size_t n_bytes)
{
	if (!in->file) {
		const size_t n = n_bytes < in->n_memory ? n_bytes : in->n_memory;
		memcpy(to, in->memory, n);
		in->memory += n;
		in->n_memory -= n;
		return n;
	}
	const int n = gzread(in->file, to, (unsigned)n_bytes);
	int code = Z_OK;
	gzerror(in->file, &code);
	in->is_damaged |= n < 0 || (code != Z_OK && code != Z_STREAM_END);
	return n > 0 ? (size_t)n : 0;
}

size_t input_fill(struct input *in, size_t wanted)
{
	if (in->end - in->start >= wanted || in->is_ended)
		return in->end - in->start;
	make_room(in, wanted);
	while (in->end < wanted && !in->is_ended) {
		const size_t n = read_some(in, in->data + in->end, in->capacity - in->end);
		in->end += n;
		in->is_ended = n == 0;
	}
	return in->end - in->start;
}

void input_skip(struct input *in, size_t n)
{
	assert(n <= in->end - in->start);
	in->start += n;
	in->offset += n;
}
