/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * team: a fork-join team of pinned threads with a static schedule, as an OpenMP parallel region.
 *
 * Why not libgomp: its waiting policy is fixed by the environment before the program starts, and between regions its idle
 * members spin for milliseconds on cores that the other team needs. Here members spin for at most TEAM_SPIN_S and then sleep.
 * Invariant: team_run returns when all members have returned; the caller is member 0. One team_run at a time.
 */
#ifndef PROBE_TEAM_H
#define PROBE_TEAM_H

#include <stddef.h>

struct team;

/* Runs as member `member` of `n_members`. */
struct team_work {
	void (*run)(void *context, size_t begin, size_t end);
	void *context; /* borrowed during team_run */
	size_t n; /* items, split into contiguous pieces at multiples of `grain` */
	size_t grain;
};

/* cpus: one per member, or NULL for no binding. Binding of member 0 is the caller's business (team_bind_caller). */
struct team *team_new(int n_members, const int cpus[]);
void team_bind_caller(const struct team *team);
void team_run(struct team *team, const struct team_work *work);
int team_size(const struct team *team);
void team_free(struct team *team);

/* The piece of member `member`. */
void team_piece(size_t *begin, size_t *end, const struct team_work *work, int member, int n_members);

#endif
