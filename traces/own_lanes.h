/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * own_lanes: what an operation of our own timelines is, by the names of its lane and kind.
 */
#ifndef TRACES_OWN_LANES_H
#define TRACES_OWN_LANES_H

#include "traces/recording.h"

/* Adds an operation of `dos simulate --trace`: lane and kind as written there. amount in unit ("bytes", "params", "s"). */
void own_lanes_add(struct recording *rec, const char *lane, const char *kind, int64_t rank, int64_t start_ns,
    int64_t duration_ns, double amount, const char *unit, uint64_t where, const char *where_unit);
/* Phases: united to marks of one iteration after the other. Keeps state in *open between calls; call with number -1 at the end. */
struct own_phases {
	bool is_open;
	int64_t number, start_ns, end_ns;
};
void own_phases_add(struct recording *rec, struct own_phases *open, const char *phase, int64_t number, int64_t start_ns,
    int64_t duration_ns);
void own_phases_end(struct recording *rec, struct own_phases *open);

#endif
