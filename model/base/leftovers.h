/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * leftovers: what a program that is interrupted must not leave behind: temporary files and folders, and a child that would go on
 * writing them. Process-wide, because a signal handler has no arguments.
 *
 * Invariant: a path is noted before it can exist and until it is gone or renamed; paths are removed last noted first, so a folder
 * is noted before what it holds.
 */
#ifndef MODEL_BASE_LEFTOVERS_H
#define MODEL_BASE_LEFTOVERS_H

#include <sys/types.h>

void leftovers_add(const char *path); /* copied; one longer than PATH_MAX cannot exist */
void leftovers_drop(const char *path);
/* mkdtemp that no signal comes between; NULL and errno when it fails. */
char *leftovers_folder(char *template);
void leftovers_child(pid_t pid); /* 0: it has ended */

/* Ends the child and removes what is noted; may be called by a signal handler. */
void leftovers_remove(void);
/* From here on SIGHUP, SIGINT and SIGTERM, unless ignored, do so and end with STATUS_INTERRUPTED. */
void leftovers_catch_signals(void);

#endif
