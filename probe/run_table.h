/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_table: what `dos-probe run` prints: a row per result with its units, the rounds, the fit of DRAM.
 */
#ifndef PROBE_RUN_TABLE_H
#define PROBE_RUN_TABLE_H

#include "probe/derive.h"

/* What is counted per second: "params", "elements", "launches"; NULL where the unit says it (bytes, FLOP) or nothing is. */
const char *run_table_counted(const struct result *result);

void run_table_print(const struct harness *harness, const struct derived *derived);

#endif
