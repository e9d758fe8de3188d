/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rig: a schedule written by hand, run by the engine and compared with the times drawn beside it.
 *
 * Either on the plain machine (amounts in their units), or with rig_use_seconds on an abstract one: every amount is its duration
 * alone in seconds and nothing asks anything of a shared resource until the test says so.
 */
#ifndef TESTS_UNIT_RIG_H
#define TESTS_UNIT_RIG_H

#include "sim/engine.h"
#include "tests/unit/plain_machine.h"

struct rig {
	struct arena arena;
	struct hwprofile hw; /* change it, then rig_start */
	struct subgroup subgroup;
	struct workload workload;
	struct cost cost;
	struct schedule schedule;
	struct timeline timeline;
};

/* The plain machine, no schedule yet. */
void rig_init(struct rig *rig);
/* Costs of the machine as it stands and an empty schedule. */
void rig_start(struct rig *rig);
/* After rig_start. */
void rig_use_seconds(struct rig *rig);
void rig_release(struct rig *rig);

enum { NONE = -1, PUSH = OP_IS_PUSH, WAITS = OP_WAITS_PUSHES };
#define ON(stream) ((unsigned)(stream) << 8) /* beside the flags */

/* One operation with its drawn times; after, after2 and cause are rows of the same table, NONE: none. */
struct drawn {
	enum op_kind kind;
	double amount;
	int after, after2;
	double start_s, end_s;
	int cause;
	unsigned flags; /* PUSH, WAITS, ON(stream) */
	uint16_t rank;
};

/* Appends the rows, runs them and compares starts, ends (1e-12) and causes. The timeline is audited. */
void rig_check(struct rig *rig, const struct drawn *rows, size_t n_rows, const struct sharing *sharing);

#endif
