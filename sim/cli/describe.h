/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * describe: what the commands accept, as they say themselves: completion, the manual and the configuration are made of it.
 *
 * Invariant: commands are in the order of `dos --help`, their tables and options in the order of `dos COMMAND --help`.
 */
#ifndef SIM_CLI_DESCRIBE_H
#define SIM_CLI_DESCRIBE_H

#include "model/base/opt.h"

struct description_table {
	const char *title; /* NULL: goes on with the table before */
	const struct opt *opts;
	size_t n_opts;
};

struct description {
	const char *name, *summary, *usage, *about;
	struct description_table *tables;
	size_t n_tables;
};

struct descriptions {
	struct description *items;
	size_t n;
};

/* Everything is copied into the arena. */
void describe_commands(struct descriptions *all, struct arena *arena);
/* The words that a command takes first ("query", "merge"), by its usage; NULL-terminated, NULL: it has none. */
const char *const *describe_words(const struct description *command, struct arena *arena);
const struct opt *describe_option(const struct description *command, const char *name);

#endif
