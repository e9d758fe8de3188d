/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/measure.h"

#include <stdlib.h>
#include <string.h>

enum { N_LANES = 4 };

struct sweep {
	const struct recording *rec;
	struct measures *measures;
	int64_t now_ns;
	int64_t busy_until_ns[N_LANES];
	size_t segment;
	int64_t gap_ns; /* of the gap at hand */
};

static int lane_of(enum rec_kind kind)
{
	switch (kind) {
	case REC_H2D: return 1;
	case REC_D2H: return 2;
	case REC_HOST: return 3;
	default: return 0;
	}
}

static struct measure *at_segment(const struct sweep *s, const struct rec_segment *segment)
{
	return &s->measures->of_phase[(size_t)segment->iteration * PHASE_N + segment->phase];
}

/* Books one stretch without a change of lanes or segment; returns its end. */
static int64_t book(struct sweep *s, const struct rec_segment *segment, int64_t to_ns)
{
	struct measure *const m = at_segment(s, segment);
	unsigned mask = 0;
	int64_t end_ns = to_ns < segment->end_ns ? to_ns : segment->end_ns;

	for (int lane = 0; lane < N_LANES; lane++) {
		if (s->busy_until_ns[lane] <= s->now_ns)
			continue;
		mask |= 1u << lane;
		end_ns = s->busy_until_ns[lane] < end_ns ? s->busy_until_ns[lane] : end_ns;
	}
	m->time_ns[mask] += end_ns - s->now_ns;
	s->gap_ns = mask ? 0 : s->gap_ns + (end_ns - s->now_ns);
	if (s->gap_ns > m->longest_gap_ns)
		m->longest_gap_ns = s->gap_ns;
	return end_ns;
}

static void advance(struct sweep *s, int64_t to_ns)
{
	while (s->now_ns < to_ns && s->segment < s->rec->n_segments) {
		const struct rec_segment *const segment = &s->rec->segments[s->segment];
		if (segment->end_ns <= s->now_ns) {
			s->segment++;
		} else if (segment->start_ns > s->now_ns) {
			s->now_ns = segment->start_ns < to_ns ? segment->start_ns : to_ns;
			s->gap_ns = 0;
		} else {
			s->now_ns = book(s, segment, to_ns);
		}
	}
	s->now_ns = to_ns > s->now_ns ? to_ns : s->now_ns;
}

static void count_bytes(struct sweep *s, const struct rec_event *event)
{
	const struct rec_segment *const segment =
	    event->kind == REC_H2D || event->kind == REC_D2H ? recording_segment(s->rec, event->start_ns) : NULL;

	if (!segment)
		return;
	struct measure *const m = at_segment(s, segment);
	*(event->kind == REC_H2D ? &m->h2d_bytes : &m->d2h_bytes) += event->bytes;
	m->pageable_bytes += event->memory == REC_PAGEABLE ? event->bytes : 0;
	m->n_unsized += event->is_unsized;
}

void measures_take(struct measures *measures, const struct recording *rec)
{
	struct sweep s = {.rec = rec, .measures = measures};

	measures->n_iterations = rec->n_iterations;
	measures->of_phase = xmalloc(rec->n_iterations * PHASE_N + 1, sizeof(*measures->of_phase));
	memset(measures->of_phase, 0, rec->n_iterations * PHASE_N * sizeof(*measures->of_phase));
	for (size_t i = 0; i < rec->n_events; i++) {
		const struct rec_event *const event = &rec->events[i];
		int64_t *const until_ns = &s.busy_until_ns[lane_of((enum rec_kind)event->kind)];
		advance(&s, event->start_ns);
		if (rec_end_ns(event) > *until_ns)
			*until_ns = rec_end_ns(event);
		count_bytes(&s, event);
	}
	if (rec->n_segments > 0)
		advance(&s, rec->segments[rec->n_segments - 1].end_ns);
}

void measures_release(struct measures *measures)
{
	free(measures->of_phase);
	*measures = (struct measures){0};
}

void measure_add(struct measure *a, const struct measure *b)
{
	for (size_t i = 0; i < BUSY_N; i++)
		a->time_ns[i] += b->time_ns[i];
	a->h2d_bytes += b->h2d_bytes;
	a->d2h_bytes += b->d2h_bytes;
	a->pageable_bytes += b->pageable_bytes;
	a->n_unsized += b->n_unsized;
	if (b->longest_gap_ns > a->longest_gap_ns)
		a->longest_gap_ns = b->longest_gap_ns;
}

struct measure measure_iteration(const struct measures *measures, size_t iteration)
{
	struct measure sum = {.h2d_bytes = 0};

	for (size_t phase = 0; phase < PHASE_N; phase++)
		measure_add(&sum, &measures->of_phase[iteration * PHASE_N + phase]);
	return sum;
}

struct measure measure_phase(const struct measures *measures, enum phase phase)
{
	struct measure sum = {.h2d_bytes = 0};

	for (size_t i = 0; i < measures->n_iterations; i++)
		measure_add(&sum, &measures->of_phase[i * PHASE_N + phase]);
	return sum;
}

int64_t measure_total_ns(const struct measure *m)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < BUSY_N; i++)
		sum_ns += m->time_ns[i];
	return sum_ns;
}

int64_t measure_busy_ns(const struct measure *m, unsigned any_of, unsigned none_of)
{
	int64_t sum_ns = 0;

	for (unsigned mask = 0; mask < BUSY_N; mask++)
		if ((mask & any_of) && !(mask & none_of))
			sum_ns += m->time_ns[mask];
	return sum_ns;
}

int64_t measure_exposed_ns(const struct measure *m)
{
	return measure_busy_ns(m, BUSY_H2D | BUSY_D2H, BUSY_COMPUTE | BUSY_HOST);
}

int64_t measure_gap_ns(const struct measure *m)
{
	return m->time_ns[0];
}

const char *measure_limit(const struct measure *m)
{
	const int64_t h2d_ns = measure_busy_ns(m, BUSY_H2D, BUSY_COMPUTE | BUSY_HOST);
	const int64_t d2h_ns = measure_busy_ns(m, BUSY_D2H, BUSY_COMPUTE | BUSY_HOST);
	const struct {
		const char *name;
		int64_t ns;
	} candidates[] = {
	    {"gpu", measure_busy_ns(m, BUSY_COMPUTE, 0)},
	    {h2d_ns >= d2h_ns ? "h2d" : "d2h", measure_exposed_ns(m)},
	    {"host", m->time_ns[0] + measure_busy_ns(m, BUSY_HOST, BUSY_COMPUTE)},
	};
	size_t best = 0;

	for (size_t i = 1; i < sizeof(candidates) / sizeof(candidates[0]); i++)
		if (candidates[i].ns > candidates[best].ns)
			best = i;
	return candidates[best].ns > 0 ? candidates[best].name : "";
}
