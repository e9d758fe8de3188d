/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/team.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/base/arena.h"
#include "probe/clock.h"

/* Long enough for the few microseconds between two regions of one loop, too short to disturb another team. */
#define TEAM_SPIN_S 20e-6

struct member {
	struct team *team;
	pthread_t thread;
	int index, cpu; /* cpu -1: not bound */
};

struct team {
	int n_members;
	struct member *members;
	const struct team_work *work; /* of the current generation */
	bool stop;
	_Alignas(64) atomic_uint generation; /* counts regions; members sleep on it */
	_Alignas(64) atomic_uint n_running; /* members other than the caller still at work; the caller sleeps on it */
};

static void futex_wait(atomic_uint *word, unsigned seen)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake_all(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* Returns when *word differs from `seen`, and its value. */
static unsigned wait_for_change(atomic_uint *word, unsigned seen)
{
	const double give_up_s = clock_now_s() + TEAM_SPIN_S;
	unsigned value;
	while ((value = atomic_load_explicit(word, memory_order_acquire)) == seen) {
		if (clock_now_s() < give_up_s)
			pause_briefly();
		else
			futex_wait(word, seen);
	}
	return value;
}

static void bind_to(int cpu)
{
	if (cpu < 0)
		return;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

void team_piece(size_t *begin, size_t *end, const struct team_work *work, int member, int n_members)
{
	const size_t grain = work->grain ? work->grain : 1;
	const size_t n_grains = (work->n + grain - 1) / grain;
	const size_t first = n_grains * (size_t)member / (size_t)n_members * grain;
	const size_t last = n_grains * (size_t)(member + 1) / (size_t)n_members * grain;
	*begin = first < work->n ? first : work->n;
	*end = last < work->n ? last : work->n;
}

static void run_piece(const struct team *team, int member)
{
	size_t begin, end;
	team_piece(&begin, &end, team->work, member, team->n_members);
	if (begin < end)
		team->work->run(team->work->context, begin, end);
}

static void *member_main(void *argument)
{
	const struct member *member = argument;
	struct team *team = member->team;
	unsigned seen = 0;
	bind_to(member->cpu);
	for (;;) {
		seen = wait_for_change(&team->generation, seen);
		if (team->stop)
			return NULL;
		run_piece(team, member->index);
		if (atomic_fetch_sub_explicit(&team->n_running, 1, memory_order_acq_rel) == 1)
			futex_wake_all(&team->n_running);
	}
}

static void start_region(struct team *team)
{
	atomic_store_explicit(&team->n_running, (unsigned)team->n_members - 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&team->generation, 1, memory_order_release);
	futex_wake_all(&team->generation);
}

struct team *team_new(int n_members, const int cpus[])
{
	struct team *team = aligned_alloc(64, (sizeof *team + 63) / 64 * 64);
	if (!team)
		abort();
	*team = (struct team){.n_members = n_members, .members = xmalloc((size_t)n_members, sizeof *team->members)};
	for (int i = 0; i < n_members; i++) {
		team->members[i] = (struct member){.team = team, .index = i, .cpu = cpus ? cpus[i] : -1};
		if (i > 0 && pthread_create(&team->members[i].thread, NULL, member_main, &team->members[i]) != 0)
			abort();
	}
	return team;
}

void team_bind_caller(const struct team *team)
{
	bind_to(team->members[0].cpu);
}

int team_size(const struct team *team)
{
	return team->n_members;
}

void team_run(struct team *team, const struct team_work *work)
{
	team->work = work;
	if (team->n_members > 1)
		start_region(team);
	run_piece(team, 0);
	unsigned running = atomic_load_explicit(&team->n_running, memory_order_acquire);
	while (team->n_members > 1 && running != 0)
		running = wait_for_change(&team->n_running, running);
}

void team_free(struct team *team)
{
	if (!team)
		return;
	team->stop = true;
	start_region(team);
	for (int i = 1; i < team->n_members; i++)
		pthread_join(team->members[i].thread, NULL);
	free(team->members);
	free(team);
}
