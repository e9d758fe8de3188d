/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace_target: one reader on arbitrary bytes, then all that is done with a recording; its invariants.
 */
#ifndef TESTS_FUZZ_TRACE_TARGET_H
#define TESTS_FUZZ_TRACE_TARGET_H

#include <stdint.h>
#include <stdlib.h>

#include "sim/study/replay_check.h"
#include "sim/study/replay_workload.h"
#include "traces/measure.h"
#include "traces/reader.h"

static inline void trace_target_judge(const struct recording *rec)
{
	int64_t last_ns = 0;

	for (size_t i = 0; i < rec->n_iterations; i++) {
		const struct rec_iteration *const it = &rec->iterations[i];
		int64_t sum_ns = 0;
		for (size_t phase = 0; phase < PHASE_N; phase++)
			sum_ns += it->phase_ns[phase];
		if (sum_ns != it->end_ns - it->start_ns || (rec->is_timeline && it->start_ns < last_ns))
			abort();
		last_ns = it->end_ns;
	}
	for (size_t i = 1; i < rec->n_events; i++)
		if (rec->events[i].start_ns < rec->events[i - 1].start_ns)
			abort();
}

static inline void trace_target_use(const struct recording *rec)
{
	struct arena arena = {0};
	struct measures measures;
	struct replay_check check;
	struct replay_update update;

	measures_take(&measures, rec);
	for (size_t i = 0; i < rec->n_iterations && rec->is_timeline; i++) {
		const struct measure m = measure_iteration(&measures, i);
		if (measure_total_ns(&m) != rec->iterations[i].end_ns - rec->iterations[i].start_ns)
			abort();
	}
	measures_release(&measures);
	replay_check_run(&check, rec);
	if (replay_update_find(&update, rec, &arena))
		replay_update_policy(&update, &arena);
	arena_release(&arena);
}

static inline void trace_target_run(const struct trace_reader *reader, const uint8_t *data, size_t n_bytes)
{
	static struct recording rec;
	struct input in;
	struct err err = {0};

	input_memory(&in, "fuzz", data, n_bytes);
	recording_init(&rec, in.name, reader->name);
	if (reader->read(&rec, &in, &err) == 0 && recording_finish(&rec, &err) == 0) {
		trace_target_judge(&rec);
		trace_target_use(&rec);
	}
	recording_release(&rec);
	input_close(&in);
}

#endif
