/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * settings: values for options from outside of the command line. From the strongest: variables DOS_NAME of the environment, --config FILE
 * (or DOS_CONFIG), ./dos.json, $XDG_CONFIG_HOME/dos/config.json. A flag is stronger than all, a built-in default weaker.
 *
 * A file is a JSON object; its keys are the names of flags. A setting applies to every command that has the option, with a few
 * exceptions (settings_applies): what a command is asked to do is never changed by a file that lies about.
 */
#ifndef SIM_CLI_SETTINGS_H
#define SIM_CLI_SETTINGS_H

#include "sim/cli/describe.h"

struct setting {
	const char *key; /* "mbs" */
	struct opt_list texts; /* one, or the items of an array */
	const char *origin; /* "DOS_MBS", "./dos.json" */
	const char *where; /* for messages: "./dos.json: /mbs" */
	int code; /* of a value that is wrong: STATUS_USAGE, STATUS_INPUT */
};

struct settings {
	struct setting *items; /* the strongest first; of a key the first counts */
	size_t n, cap;
	const char *ignored; /* first variable DOS_* that names no option, NULL none */
};

/* config: what --config says, NULL nothing. STATUS_INPUT: a file that is missing or wrong; unknown keys are refused with the nearest. */
int settings_load(struct settings *settings, const char *config, const struct descriptions *commands, struct arena *arena, struct err *err)
    MUST_CHECK;
/* False for what is asked for, and for where the answer goes. */
bool settings_is_key(const char *key);
const struct setting *settings_find(const struct settings *settings, const char *key);
bool settings_applies(const char *command, const char *key);
/* Sets the options that are not in `seen`. */
int settings_apply(const struct settings *settings, const char *command, const struct opt_table *tables, size_t n_tables,
    const struct opt_list *seen, struct arena *arena, struct err *err) MUST_CHECK;
/* "a,b": the value as one text. */
const char *setting_text(const struct setting *setting, struct arena *arena);

#endif
