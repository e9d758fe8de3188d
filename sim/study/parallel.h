/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * parallel: a loop over independent items on several threads. Results go by item, so they do not depend on the threads.
 */
#ifndef SIM_STUDY_PARALLEL_H
#define SIM_STUDY_PARALLEL_H

#include <stddef.h>

/* worker: 0..n_workers-1, for what each thread has of its own. */
typedef void parallel_body(void *context, size_t item, size_t worker);

/* Calls body for 0..n_items-1 and returns when all are done; on fewer threads where the system gives no more. */
void parallel_for(size_t n_items, size_t n_workers, parallel_body *body, void *context);
/* Processors that this process may use. */
size_t parallel_processors(void);

#endif
