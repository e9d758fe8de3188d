/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * range_names: what the name of a range means, in PyTorch, DeepSpeed, Megatron and common hand-written annotations.
 */
#ifndef TRACES_RANGE_NAMES_H
#define TRACES_RANGE_NAMES_H

#include "traces/recording.h"

/* False: nothing that matters. *number: of a step. */
bool range_name_mark(enum rec_mark_kind *kind, int64_t *number, const char *name, size_t n);
/* A range or operator whose time is CPU Adam. */
bool range_name_is_cpu_adam(const char *name, size_t n);

#endif
