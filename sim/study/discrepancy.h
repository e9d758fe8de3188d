/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * discrepancy: how far the model is off on machines that it is not asked about: the residuals log(measured / predicted) of the recorded
 * runs of all other machines, none of them a row of a fit. By quantity; each machine counts the same.
 *
 * A prediction of one alternative is off by all of it. Alternatives on the same machine, model and batch share a part, which cancels
 * when they are compared: own_log_sd is what differs between them.
 *
 * Residuals hold the parameter error of those machines' profiles and the noise of their runs too, so the joined intervals err on the
 * wide side. Two things recorded of h200-vm, a training loop of our own, are left out:
 *   the peak of GPU memory is no evidence and is not compared: the loop allocates both buffer sets and all 16-bit gradients before its
 *   first iteration, whatever the variant, and a plain loss; no policy here does
 *   its forward and backward (and so their sums) are compared, but are no evidence about other machines: phases of 11 to 67 ms, of one
 *   process each, in which two rows of the same work differ by up to 1.6 times. That is noise of a virtual machine
 */
#ifndef SIM_STUDY_DISCREPANCY_H
#define SIM_STUDY_DISCREPANCY_H

#include "sim/study/validate.h"

struct discrepancy {
	double log_sd[QUANTITY_N]; /* in all; 0 without evidence */
	double own_log_sd[QUANTITY_N]; /* at most log_sd */
	size_t n_rows[QUANTITY_N], n_machines[QUANTITY_N];
};

/* Residuals of one machine. */
struct evidence_machine {
	const char *hw;
	size_t n[QUANTITY_N];
	double square[QUANTITY_N]; /* mean square */
	double own_square[QUANTITY_N]; /* variance within the same setting */
	size_t n_own[QUANTITY_N]; /* degrees of freedom of that; 0: none */
};
enum { EVIDENCE_MACHINES_MAX = 8 };
struct evidence {
	struct evidence_machine machines[EVIDENCE_MACHINES_MAX];
	size_t n;
};

/* Validates the shipped sets. STATUS_INPUT when one is missing or wrong. */
int evidence_load(struct evidence *evidence, const struct sharing *sharing, enum sync sync, struct arena *arena, struct err *err) MUST_CHECK;
/* Adds a machine: the rows of a validation with that hw. quantities: mask of 1 << enum quantity. */
void evidence_add(struct evidence *evidence, const struct validation *validation, const char *hw, unsigned quantities,
    struct arena *arena);
/* False when what was recorded of the machine as this quantity is not what a policy predicts. */
bool discrepancy_compares(const char *hw, size_t quantity);
/* From all machines but that one. */
void discrepancy_without(struct discrepancy *discrepancy, const struct evidence *evidence, const char *hw);

#endif
