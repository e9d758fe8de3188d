/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * latency: a memory that grows slower with its load, long before it is full. MODEL.md E32
 *
 * A load of U bytes/s makes an access 1 / (1 - U / C) as long as in an idle memory. A CPU kernel keeps a fixed number of accesses
 * open, so its speed falls as latency grows; copy engines queue more of them, and writes are posted: they follow latency in part
 * or not at all, and load the memory less for a byte than a CPU kernel does.
 *
 * Source: closed queueing networks (Lazowska et al., Quantitative System Performance, 1984, 6: mean value analysis) with the open
 * M/M/1 law of response time for the memory; the constants are fitted to co-runs of two users.
 */
#ifndef MODEL_BASE_LATENCY_H
#define MODEL_BASE_LATENCY_H

#include <stdbool.h>
#include <stddef.h>

struct latency_user {
	double load_Bps; /* on the memory, when it runs alone; below the limit */
	double follows_frac; /* of the growth of latency that its own time grows by: 1 CPU kernel, 0 posted writes */
};

/* Speeds in (0, 1] of n users that share a memory of limit_Bps > 0, relative to each alone. n_copies >= 1: of every user, all alike. */
void latency_speeds(double *speeds, const struct latency_user *users, size_t n, double limit_Bps, double n_copies);

#endif
