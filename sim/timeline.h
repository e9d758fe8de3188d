/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * timeline: when every operation of a schedule ran, and why not earlier.
 */
#ifndef SIM_TIMELINE_H
#define SIM_TIMELINE_H

#include <stdint.h>

#include "sim/schedule.h"

struct timeline {
	size_t n_ops;
	double *ready_s; /* all dependencies ended */
	double *start_s;
	double *end_s;
	op_id *cause; /* the operation whose end let it start: last dependency or lane predecessor; NO_OP at time 0 */
	uint8_t *limit; /* enum res that slowed it most, else what limits its kind alone */
	uint32_t *order; /* 2 n_ops entries, chronological: op << 1 | is_end */
	double makespan_s;
	/* counts, for benchmarks */
	size_t n_allocations; /* rate vectors computed */
	size_t n_rate_changes; /* instants at which the set of running operations changed */
	double concurrency; /* mean number of running operations */
};

#endif
