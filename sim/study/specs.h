/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * specs: policy SPECs with ranges and lists of values, as single ones: "dos:stride=2..4,chain=serial;duplex" is six. The
 * last option varies fastest.
 */
#ifndef SIM_STUDY_SPECS_H
#define SIM_STUDY_SPECS_H

#include "model/base/opt.h"

enum { SPECS_MAX = 100000 };

/* Splits a comma-separated list of SPECs and expands each; appends. STATUS_USAGE. */
int specs_expand(struct opt_list *specs, const char *text, struct arena *arena, struct err *err) MUST_CHECK;

#endif
