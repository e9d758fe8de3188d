/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t seen;

static void note(int signal_number)
{
	seen = 1;
	signal(signal_number, SIG_DFL);
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
