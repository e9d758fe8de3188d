/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/interrupt.h"

#include <signal.h>
#include <time.h>

#include "model/base/leftovers.h"

static volatile sig_atomic_t seen;
static time_t first_s;

/* One Ctrl-C may arrive twice (to the process and to its group); only a later one ends the process. */
static void note(int signal_number)
{
	const time_t now_s = time(NULL);
	if (seen && now_s > first_s + 1) {
		leftovers_remove();
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
	if (!seen)
		first_s = now_s;
	seen = 1;
}

void interrupt_catch(void)
{
	signal(SIGINT, note);
	signal(SIGTERM, note);
}

bool interrupt_seen(void)
{
	return seen != 0;
}
