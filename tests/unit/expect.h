/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * expect: what the policies of MODEL.md "Schedules" are to do, from their canonical SPEC alone: where each subgroup is updated and what
 * crosses PCIe. Policies that are not described there are not judged.
 */
#ifndef TESTS_UNIT_EXPECT_H
#define TESTS_UNIT_EXPECT_H

#include <stdbool.h>

#include "sim/study/trial.h"

struct expected {
	bool is_known;
	enum place *places;
	enum op_kind adam; /* of CPU subgroups */
	bool is_split; /* masters in halves: 10 bytes a parameter cross PCIe, and the GPU casts nothing */
	double h2d_bytes, d2h_bytes; /* of a rank and an iteration */
	bool has_lost_write_back; /* dos, published: the last streamed subgroup is never written back */
	bool has_unscale;
};

void expect_trial(struct expected *e, const struct trial *trial, struct arena *arena);

#endif
