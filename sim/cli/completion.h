/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * completion: scripts that complete command lines of dos in a shell, made of what the commands accept.
 */
#ifndef SIM_CLI_COMPLETION_H
#define SIM_CLI_COMPLETION_H

#include "sim/cli/describe.h"

/* What may follow an option: words, and whether names of files too. */
struct completion_values {
	struct opt_list words;
	bool has_files, has_policies;
};
void completion_values(struct completion_values *values, const struct opt *opt, struct arena *arena);
/* In single quotes, as bash and zsh read it. */
const char *completion_quote(const char *text, struct arena *arena);

void completion_bash(FILE *out, const struct descriptions *commands, struct arena *arena);
void completion_zsh(FILE *out, const struct descriptions *commands, struct arena *arena);
void completion_fish(FILE *out, const struct descriptions *commands, struct arena *arena);

#endif
