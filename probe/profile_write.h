/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profile_write: the dos-hwprofile/1 file of a run, with everything else that was measured under "extra".
 */
#ifndef PROBE_PROFILE_WRITE_H
#define PROBE_PROFILE_WRITE_H

#include "probe/derive.h"

struct profile_facts {
	const char *name, *command, *note;
	bool complete;
};

/* Completely or not at all (file_replace.h). STATUS_ENV. */
int profile_write(const char *path, const struct harness *harness, const struct derived *derived,
    const struct profile_facts *facts, struct err *err) MUST_CHECK;

#endif
