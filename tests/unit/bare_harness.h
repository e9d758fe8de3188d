/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bare_harness: a harness without GPU, memory and kernels, of 16 hardware threads, to put results into by harness_record.
 */
#ifndef TESTS_UNIT_BARE_HARNESS_H
#define TESTS_UNIT_BARE_HARNESS_H

#include "probe/harness.h"

struct harness *harness_new(void);
void harness_free(struct harness *harness);

#endif
