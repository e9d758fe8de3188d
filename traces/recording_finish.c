/* SPDX-License-Identifier: GPL-3.0-or-later
 * From what a reader added to iterations, phases and sorted events of one GPU. */
#include <gsl/gsl_heapsort.h>
#include <stdlib.h>
#include <string.h>

#include "traces/recording.h"
#include "traces/recording_steps.h"

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* A total order of what differs: sorting in place keeps no order of its own. */
static int compare_start(const void *a, const void *b)
{
	const struct rec_event *const x = a, *const y = b;
	int order = by_number(x->start_ns, y->start_ns);

	order = order ? order : by_number(rec_end_ns(y), rec_end_ns(x));
	order = order ? order : by_number(x->kind, y->kind);
	order = order ? order : by_number(x->stream, y->stream);
	order = order ? order : by_number(x->link, y->link);
	order = order ? order : by_number(x->key, y->key);
	return order ? order : by_number((int64_t)x->bytes, (int64_t)y->bytes);
}

static int compare_link(const void *a, const void *b)
{
	const struct rec_event *const x = a, *const y = b;
	const int order = by_number(x->link, y->link);
	return order ? order : by_number(x->start_ns, y->start_ns);
}

static int compare_mark(const void *a, const void *b)
{
	const struct rec_mark *const x = a, *const y = b;
	int order = by_number(x->start_ns, y->start_ns);

	order = order ? order : by_number(y->end_ns, x->end_ns);
	order = order ? order : by_number(x->kind, y->kind);
	return order ? order : by_number(x->number, y->number);
}

/* In place and without a second copy of a large array. */
static void sort(void *array, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (n > 1)
		gsl_heapsort(array, n, size, compare);
}

/* ---- one GPU: the one with most events */

static int64_t busiest_device(const struct recording *rec)
{
	int64_t best = -1;
	size_t most = 0;

	for (size_t i = 0; i < rec->n_streams; i++) {
		size_t n = 0;
		for (size_t j = 0; j < rec->n_streams; j++)
			n += rec->streams[j].device == rec->streams[i].device ? rec->streams[j].n_events : 0;
		if (rec->streams[i].device >= 0 && n > most) {
			most = n;
			best = rec->streams[i].device;
		}
	}
	return best;
}

static void keep_one_device(struct recording *rec)
{
	const int64_t device = busiest_device(rec);
	size_t n = 0;

	for (size_t i = 0; i < rec->n_events; i++) {
		const int64_t of = rec->streams[rec->events[i].stream].device;
		if (of >= 0 && of != device)
			recording_note(rec, "events of other GPUs than the busiest are left out", 0, "");
		else
			rec->events[n++] = rec->events[i];
	}
	rec->n_events = n;
}

/* ---- phase of what a host call launched */

static const struct rec_event *find_call(const struct recording *rec, uint32_t link)
{
	size_t low = 0, high = rec->n_calls;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (rec->calls[middle].link < link)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rec->n_calls && rec->calls[low].link == link ? &rec->calls[low] : NULL;
}

static uint8_t phase_at(const struct recording *rec, int64_t at_ns)
{
	const struct rec_segment *const segment = recording_segment(rec, at_ns);
	return segment ? segment->phase : PHASE_N; /* PHASE_N: outside all iterations */
}

static void attribute(struct recording *rec)
{
	sort(rec->calls, rec->n_calls, sizeof(*rec->calls), compare_link);
	for (size_t i = 0; i < rec->n_events; i++) {
		struct rec_event *const event = &rec->events[i];
		const struct rec_event *const call = event->link ? find_call(rec, event->link) : NULL;
		event->phase = phase_at(rec, call ? call->start_ns : event->start_ns);
	}
	sort(rec->calls, rec->n_calls, sizeof(*rec->calls), compare_start);
	for (size_t i = 0; i < rec->n_calls; i++)
		rec->calls[i].phase = phase_at(rec, rec->calls[i].start_ns);
}

/* ---- the whole */

static int refuse_no_steps(const struct recording *rec, struct err *err)
{
	return err_set(err, STATUS_INPUT,
	    "%s: no training steps in this %s: no step, optimizer or forward/backward/update ranges; record "
	    "whole iterations (see traces/FORMATS.md)",
	    rec->file, rec->format);
}

static int finish_timeline(struct recording *rec, struct err *err)
{
	if (rec->n_events == 0)
		return err_set(err, STATUS_INPUT,
		    "%s: no kernels or copies of a GPU in this %s (CPU only): it cannot be a timeline of "
		    "offloaded training; record with the GPU's activities",
		    rec->file, rec->format);
	keep_one_device(rec);
	sort(rec->events, rec->n_events, sizeof(*rec->events), compare_start);
	sort(rec->marks, rec->n_marks, sizeof(*rec->marks), compare_mark);
	recording_find_steps(rec);
	if (rec->n_iterations == 0)
		return refuse_no_steps(rec, err);
	recording_find_phases(rec);
	attribute(rec);
	return 0;
}

int recording_finish(struct recording *rec, struct err *err)
{
	if (rec->is_timeline)
		return finish_timeline(rec, err);
	return rec->n_iterations == 0 ? refuse_no_steps(rec, err) : 0;
}
