/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * update_worker: the downscale thread of a rank with its team: takes subgroups in order, calls back for each.
 *
 * Invariant: subgroups are handled in the order of update_worker_give; after update_worker_join all given ones are done.
 */
#ifndef PROBE_UPDATE_WORKER_H
#define PROBE_UPDATE_WORKER_H

#include <stddef.h>

#include "probe/team.h"

struct update_worker;

/* The worker thread is member 0 of its team; `begin` runs once in it first (may be NULL). Starts asleep. */
struct update_worker *update_worker_new(int n_threads, const int cpus[], size_t n_max,
    void (*handle)(void *context, struct team *team, size_t subgroup), void (*begin)(void *context), void *context);
void update_worker_give(struct update_worker *worker, const size_t subgroups[], size_t n);
void update_worker_join(struct update_worker *worker);
void update_worker_free(struct update_worker *worker); /* joins first; NULL is fine */

#endif
