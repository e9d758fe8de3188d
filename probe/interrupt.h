/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * interrupt: Ctrl-C as a flag, the only process-wide state of the probe (a signal handler has no other place).
 */
#ifndef PROBE_INTERRUPT_H
#define PROBE_INTERRUPT_H

#include <stdbool.h>

void interrupt_catch(void); /* SIGINT and SIGTERM set the flag; one that comes seconds later ends the process */
bool interrupt_seen(void);

#endif
