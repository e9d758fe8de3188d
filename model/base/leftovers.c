/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/leftovers.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/err.h"

enum { PATHS_MAX = 16 };

static struct {
	atomic_bool is_noted; /* path is complete */
	char path[PATH_MAX];
} slots[PATHS_MAX];
static size_t n_slots; /* noted or free ones below it; changed by one thread, the one that writes files */
static _Atomic pid_t child;

void leftovers_add(const char *path)
{
	const size_t n = strlen(path);

	if (n >= PATH_MAX)
		return;
	while (n_slots > 0 && !atomic_load(&slots[n_slots - 1].is_noted))
		n_slots--;
	assert(n_slots < PATHS_MAX);
	memcpy(slots[n_slots].path, path, n + 1);
	atomic_store(&slots[n_slots++].is_noted, true);
}

void leftovers_drop(const char *path)
{
	for (size_t i = n_slots; i-- > 0;)
		if (atomic_load(&slots[i].is_noted) && strcmp(slots[i].path, path) == 0) {
			atomic_store(&slots[i].is_noted, false);
			return;
		}
}

char *leftovers_folder(char *template)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	char *const path = mkdtemp(template);
	if (path)
		leftovers_add(path);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return path;
}

void leftovers_child(pid_t pid)
{
	atomic_store(&child, pid);
}

void leftovers_remove(void)
{
	const pid_t pid = atomic_load(&child);

	if (pid > 0 && kill(pid, SIGKILL) == 0)
		waitpid(pid, NULL, 0); /* it writes nothing any more */
	for (size_t i = PATHS_MAX; i-- > 0;)
		if (atomic_load(&slots[i].is_noted) && unlink(slots[i].path) != 0)
			rmdir(slots[i].path);
}

static void on_signal(int number)
{
	static const char text[] = "dos: interrupted\n";

	(void)number;
	leftovers_remove();
	const ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)n; /* nobody is left to be told */
	_exit(STATUS_INTERRUPTED);
}

void leftovers_catch_signals(void)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction action = {.sa_handler = on_signal}, before;

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
}
