/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/reader.h"

#include <string.h>

const struct trace_reader *const trace_readers[] = {
    &trace_reader_nsys, &trace_reader_own_json, &trace_reader_own_csv, &trace_reader_kineto, &trace_reader_dslog, NULL};

static int unknown(const struct input *in, struct err *err)
{
	return err_set(err, STATUS_INPUT,
	    "%s: not a recorded timeline that is known; accepted: PyTorch (Kineto) Chrome trace, Nsight "
	    "Systems sqlite export, DeepSpeed log with wall_clock_breakdown, dos trace (JSON or CSV), dos-probe update "
	    "trace; plain or "
	    "gzip",
	    in->name);
}

static int load(struct recording *rec, struct input *in, struct err *err)
{
	const size_t n = input_fill(in, READER_SNIFF_BYTES);
	const size_t sniffed = n < READER_SNIFF_BYTES ? n : READER_SNIFF_BYTES;
	size_t i = 0;

	recording_init(rec, in->name, "");
	if (n == 0)
		return err_set(err, STATUS_INPUT, "%s: %s", in->name, in->is_damaged ? "a damaged gzip file" : "is empty");
	while (trace_readers[i] && !trace_readers[i]->detect(input_text(in), sniffed))
		i++;
	if (!trace_readers[i])
		return unknown(in, err);
	rec->format = trace_readers[i]->name;
	const int code = trace_readers[i]->read(rec, in, err);
	if (in->is_damaged)
		recording_note(
		    rec, "the gzip stream is cut short or damaged: what came before was read", in->offset, "byte");
	return code ? code : recording_finish(rec, err);
}

int recording_load(struct recording *rec, const char *path, struct err *err)
{
	struct input in;

	recording_init(rec, path, "");
	int code = input_open(&in, path, err);
	if (code)
		return code;
	code = load(rec, &in, err);
	input_close(&in);
	return code;
}

int recording_parse(struct recording *rec, const char *name, const void *bytes, size_t n_bytes, struct err *err)
{
	struct input in;

	input_memory(&in, name, bytes, n_bytes);
	const int code = load(rec, &in, err);
	input_close(&in);
	return code;
}
