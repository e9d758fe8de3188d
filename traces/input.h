/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * input: a file, standard input or memory as a window of bytes that moves forward; gzip is told by its first bytes.
 *
 * Invariant: data[start..end) is what has been read and not consumed; offset is the place of data[start] in the (unpacked)
 * text. Memory: one window, which grows only as far as a caller asks for more at once.
 */
#ifndef TRACES_INPUT_H
#define TRACES_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/base/err.h"

struct gzFile_s;

struct input {
	const char *name; /* borrowed; for messages */
	struct gzFile_s *file; /* NULL: memory */
	const char *memory; /* borrowed */
	size_t n_memory;
	char *data; /* heap */
	size_t start, end, capacity;
	uint64_t offset;
	bool is_ended; /* nothing more will come */
	bool is_damaged; /* a gzip stream that is cut short or wrong: what came before was read */
};

/* "-" is standard input. STATUS_INPUT. */
int input_open(struct input *in, const char *path, struct err *err) MUST_CHECK;
void input_memory(struct input *in, const char *name, const void *data, size_t n_bytes);
void input_close(struct input *in);

/* Reads on until `wanted` bytes are there, or all; returns how many are. Moves data. */
size_t input_fill(struct input *in, size_t wanted);
static inline const char *input_text(const struct input *in)
{
	return in->data + in->start;
}
/* Drops the first n bytes of those that are there. */
void input_skip(struct input *in, size_t n);

#endif
