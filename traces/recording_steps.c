/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/recording_steps.h"

#include <stdlib.h>
#include <string.h>

static bool has_marks(const struct recording *rec, enum rec_mark_kind kind)
{
	for (size_t i = 0; i < rec->n_marks; i++)
		if (rec->marks[i].kind == kind)
			return true;
	return false;
}

static void add_iteration(struct recording *rec, int64_t number, int64_t start_ns, int64_t end_ns)
{
	const int64_t phase_ns[PHASE_N] = {0};
	const bool has_phase[PHASE_N] = {false};

	if (end_ns > start_ns)
		recording_iteration(rec, number, start_ns, end_ns, phase_ns, has_phase);
}

/* ---- step ranges */

/* First event that starts at or after a time. */
static size_t first_event(const struct recording *rec, int64_t at_ns)
{
	size_t low = 0, high = rec->n_events;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (rec->events[middle].start_ns < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_events(const struct recording *rec, int64_t start_ns, int64_t end_ns)
{
	const size_t i = first_event(rec, start_ns);
	return i < rec->n_events && rec->events[i].start_ns < end_ns;
}

static void steps_from_ranges(struct recording *rec)
{
	int64_t until_ns = 0;

	for (size_t i = 0; i < rec->n_marks; i++) {
		const struct rec_mark *const mark = &rec->marks[i];
		if (mark->kind != REC_MARK_ITERATION || mark->end_ns <= until_ns)
			continue;
		const int64_t start_ns = mark->start_ns > until_ns ? mark->start_ns : until_ns;
		until_ns = mark->end_ns;
		if (has_events(rec, start_ns, until_ns))
			add_iteration(rec, mark->number, start_ns, until_ns);
		else
			recording_note(rec, "steps without GPU work are left out", 0, "");
	}
}

/* ---- forward .. update */

static void steps_from_phases(struct recording *rec)
{
	int64_t start_ns = -1, update_ns = -1, number = 0; /* update_ns: end of the last update of the open iteration */

	for (size_t i = 0; i < rec->n_marks; i++) {
		const struct rec_mark *const mark = &rec->marks[i];
		if (mark->kind == REC_MARK_FORWARD && (start_ns < 0 || update_ns >= 0)) {
			if (start_ns >= 0)
				add_iteration(rec, number++, start_ns, mark->start_ns);
			start_ns = mark->start_ns;
			update_ns = -1;
		}
		if (mark->kind == REC_MARK_UPDATE && start_ns >= 0 && mark->end_ns > update_ns)
			update_ns = mark->end_ns;
	}
	if (update_ns >= 0)
		add_iteration(rec, number, start_ns, update_ns);
	else if (start_ns >= 0)
		recording_note(rec, "a last iteration without its update is left out", 0, "");
}

/* ---- optimizer steps */

static int64_t first_time(const struct recording *rec)
{
	int64_t first_ns = rec->marks[0].start_ns;

	for (size_t i = 0; i < rec->n_calls; i++)
		if (rec->calls[i].start_ns < first_ns)
			first_ns = rec->calls[i].start_ns;
	return rec->n_events > 0 && rec->events[0].start_ns < first_ns ? rec->events[0].start_ns : first_ns;
}

static void steps_from_optimizers(struct recording *rec)
{
	int64_t start_ns = first_time(rec), end_ns = -1, number = 0;

	for (size_t i = 0; i < rec->n_marks; i++) {
		const struct rec_mark *const mark = &rec->marks[i];
		const bool is_optimizer = mark->kind == REC_MARK_OPTIMIZER || mark->kind == REC_MARK_UPDATE;
		if (is_optimizer && mark->end_ns > end_ns) {
			end_ns = mark->end_ns;
		} else if (!is_optimizer && end_ns >= 0 && mark->start_ns >= end_ns) {
			add_iteration(rec, number++, start_ns, end_ns);
			start_ns = end_ns;
			end_ns = -1;
		}
	}
	if (end_ns >= 0)
		add_iteration(rec, number, start_ns, end_ns);
}

void recording_find_steps(struct recording *rec)
{
	if (rec->n_marks == 0)
		return;
	if (has_marks(rec, REC_MARK_ITERATION))
		steps_from_ranges(rec);
	else if (has_marks(rec, REC_MARK_FORWARD) && has_marks(rec, REC_MARK_UPDATE))
		steps_from_phases(rec);
	else if (has_marks(rec, REC_MARK_OPTIMIZER) || has_marks(rec, REC_MARK_UPDATE))
		steps_from_optimizers(rec);
}

/* ---- phases */

/* Ranges of one iteration, before overlaps are resolved. */
struct ranges {
	struct rec_segment *list; /* heap */
	size_t n, capacity;
};

static void add_range(struct ranges *r, int64_t start_ns, int64_t end_ns, enum phase phase)
{
	if (end_ns <= start_ns)
		return;
	if (r->n == r->capacity) {
		r->capacity = 2 * r->capacity + 64;
		r->list = xrealloc(r->list, r->capacity, sizeof(*r->list));
	}
	r->list[r->n++] = (struct rec_segment){start_ns, end_ns, 0, (uint8_t)phase};
}

/* Ranges of marks of one kind; returns how many. */
static size_t add_marks(struct ranges *r, const struct rec_mark *marks, size_t n, enum rec_mark_kind kind, enum phase phase)
{
	size_t n_added = 0;

	for (size_t i = 0; i < n; i++)
		if (marks[i].kind == kind) {
			add_range(r, marks[i].start_ns, marks[i].end_ns, phase);
			n_added++;
		}
	return n_added;
}

/* Runs of autograd functions, parted by forward and update ranges; returns the start of the first, -1 none. */
static int64_t add_autograd(struct ranges *r, const struct rec_mark *marks, size_t n)
{
	int64_t first_ns = -1, start_ns = -1, end_ns = -1;

	for (size_t i = 0; i < n; i++) {
		const struct rec_mark *const mark = &marks[i];
		const bool parts =
		    mark->kind == REC_MARK_FORWARD || mark->kind == REC_MARK_UPDATE || mark->kind == REC_MARK_OPTIMIZER;
		if (parts && start_ns >= 0 && mark->start_ns >= end_ns) {
			add_range(r, start_ns, end_ns, PHASE_BACKWARD);
			start_ns = -1;
		}
		if (mark->kind != REC_MARK_AUTOGRAD)
			continue;
		if (start_ns < 0)
			start_ns = end_ns = mark->start_ns;
		if (first_ns < 0)
			first_ns = start_ns;
		end_ns = mark->end_ns > end_ns ? mark->end_ns : end_ns;
	}
	if (start_ns >= 0)
		add_range(r, start_ns, end_ns, PHASE_BACKWARD);
	return first_ns;
}

/* marks: those that start inside the iteration. */
static void list_ranges(struct ranges *r, const struct rec_iteration *it, const struct rec_mark *marks, size_t n)
{
	r->n = 0;
	if (add_marks(r, marks, n, REC_MARK_UPDATE, PHASE_UPDATE) == 0)
		add_marks(r, marks, n, REC_MARK_OPTIMIZER, PHASE_UPDATE);
	const size_t before = r->n;
	if (add_marks(r, marks, n, REC_MARK_BACKWARD, PHASE_BACKWARD) == 0)
		add_autograd(r, marks, n);
	int64_t backward_ns = -1;
	for (size_t i = before; i < r->n; i++)
		if (backward_ns < 0 || r->list[i].start_ns < backward_ns)
			backward_ns = r->list[i].start_ns;
	if (add_marks(r, marks, n, REC_MARK_FORWARD, PHASE_FORWARD) == 0)
		add_range(r, it->start_ns, backward_ns, PHASE_FORWARD);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct rec_segment *const x = a, *const y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return (int)x->phase - (int)y->phase;
}

static void add_segment(struct recording *rec, size_t iteration, int64_t start_ns, int64_t end_ns, uint8_t phase)
{
	struct rec_iteration *const it = &rec->iterations[iteration];
	struct rec_segment *const last = it->n_segments ? &rec->segments[rec->n_segments - 1] : NULL;

	if (end_ns <= start_ns)
		return;
	it->phase_ns[phase] += end_ns - start_ns;
	it->has_phase[phase] = true;
	if (last && last->phase == phase && last->end_ns == start_ns) {
		last->end_ns = end_ns;
		return;
	}
	if (rec->n_segments == rec->cap_segments) {
		rec->cap_segments += rec->cap_segments / 2 + 64;
		rec->segments = xrealloc(rec->segments, rec->cap_segments, sizeof(*rec->segments));
	}
	rec->segments[rec->n_segments++] = (struct rec_segment){start_ns, end_ns, (int32_t)iteration, phase};
	it->n_segments++;
}

/* Parts an iteration by its ranges; what began first keeps what overlaps. */
static void partition(struct recording *rec, size_t iteration, struct ranges *r)
{
	struct rec_iteration *const it = &rec->iterations[iteration];
	int64_t at_ns = it->start_ns;

	if (r->n > 1)
		qsort(r->list, r->n, sizeof(*r->list), compare_ranges);
	it->first_segment = rec->n_segments;
	for (size_t i = 0; i < r->n; i++) {
		const int64_t start_ns = r->list[i].start_ns > at_ns ? r->list[i].start_ns : at_ns;
		const int64_t end_ns = r->list[i].end_ns < it->end_ns ? r->list[i].end_ns : it->end_ns;
		if (end_ns <= start_ns)
			continue;
		add_segment(rec, iteration, at_ns, start_ns, PHASE_OTHER);
		add_segment(rec, iteration, start_ns, end_ns, r->list[i].phase);
		at_ns = end_ns;
	}
	add_segment(rec, iteration, at_ns, it->end_ns, PHASE_OTHER);
}

void recording_find_phases(struct recording *rec)
{
	struct ranges ranges = {0};
	size_t mark = 0;

	for (size_t i = 0; i < rec->n_iterations; i++) {
		const struct rec_iteration *const it = &rec->iterations[i];
		while (mark < rec->n_marks && rec->marks[mark].start_ns < it->start_ns)
			mark++;
		const size_t first = mark;
		while (mark < rec->n_marks && rec->marks[mark].start_ns < it->end_ns)
			mark++;
		list_ranges(&ranges, it, rec->marks + first, mark - first);
		partition(rec, i, &ranges);
	}
	free(ranges.list);
}
