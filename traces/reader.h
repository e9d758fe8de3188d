/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reader: formats of recorded timelines. One reader a file, told apart by content; a new format is a new file and one line here.
 */
#ifndef TRACES_READER_H
#define TRACES_READER_H

#include "traces/input.h"
#include "traces/recording.h"

enum { READER_SNIFF_BYTES = 65536 };

struct trace_reader {
	const char *name; /* "PyTorch trace" */
	/* Judges the first bytes (unpacked). */
	bool (*detect)(const char *bytes, size_t n);
	/* Adds all that the input holds; bad parts are noted, not errors. STATUS_INPUT only when nothing can be read at all. */
	int (*read)(struct recording *rec, struct input *in, struct err *err);
};

extern const struct trace_reader trace_reader_own_json, trace_reader_own_csv, trace_reader_kineto, trace_reader_nsys,
    trace_reader_dslog;
extern const struct trace_reader *const trace_readers[]; /* in the order in which they are asked; NULL-terminated */

/* Opens, reads and finishes; "-" is standard input. The caller releases the recording, after a failure too. STATUS_INPUT. */
int recording_load(struct recording *rec, const char *path, struct err *err) MUST_CHECK;
/* The same for text in memory. */
int recording_parse(struct recording *rec, const char *name, const void *bytes, size_t n_bytes, struct err *err) MUST_CHECK;

#endif
