/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * opt: one option table serves parsing, defaults, help and the canonical text: for command-line flags and for policy
 * SPECs ("dos:stride=2,chain=duplex"). Also the grammar of SPECs, lists and ranges.
 *
 * An option is a member of a params struct at `offset`. The table is the single place that says what is accepted.
 */
#ifndef MODEL_BASE_OPT_H
#define MODEL_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/base/arena.h"
#include "model/base/err.h"
#include "model/base/units.h"

enum opt_kind {
	OPT_FLAG, /* bool: no value on a command line, on|off in a SPEC */
	OPT_INT, /* long long within [min, max] */
	OPT_NUMBER, /* double within [min, max], read with `unit` */
	OPT_WORD, /* int: index into words[] */
	OPT_TEXT, /* const char *, copied into the arena */
	OPT_LIST, /* struct opt_list: repeatable; every use appends the text as it stands */
};

struct opt_list {
	const char **items;
	size_t n;
};

struct opt {
	const char *name; /* without dashes */
	char letter; /* one-letter form on a command line, 0 for none */
	enum opt_kind kind;
	enum unit unit; /* OPT_NUMBER */
	size_t offset; /* into the params struct */
	double min, max; /* OPT_INT, OPT_NUMBER: inclusive */
	const char *const *words; /* OPT_WORD: NULL-terminated */
	const char *fallback; /* default as text, parsed like input; NULL: member keeps its zero and is "not given" */
	const char *arg; /* name of the value in help: "N", "FILE" */
	const char *help; /* one line */
	const char *bare; /* value when the option stands alone on a command line: the next argument is its value only if it starts with
	                     a digit; NULL: a value must follow. No OPT_FLAG. */
	size_t given_offset; /* 0, or offset of a bool that is set when the user gave it (never the first member) */
};

/* Sets every default. Defaults must parse (asserted). */
void opt_defaults(void *params, const struct opt *opts, size_t n_opts, struct arena *arena);

/* Parses one value into its member (STATUS_USAGE; message names the option and what is accepted). */
int opt_set(void *params, const struct opt *opt, const char *text, struct arena *arena, struct err *err) MUST_CHECK;

const struct opt *opt_find(const struct opt *opts, size_t n_opts, const char *name, size_t name_length);

/* argv[1..]: --name value, --name=value, -o value, -ovalue, flags; "--" ends options. Positional arguments are collected
 * into `rest` (borrowed from argv). A list of tables, so that commands share flags. Unknown options name the nearest accepted
 * word. An option that is no OPT_LIST is given at most once; a value that starts with "--" needs --name=value. */
struct opt_table {
	void *params;
	const struct opt *opts;
	size_t n_opts;
	const char *title; /* heading in help */
};
int opt_parse_argv(const struct opt_table *tables, size_t n_tables, int argc, char **argv, struct opt_list *rest,
    struct arena *arena, struct err *err) MUST_CHECK;
/* The same; *seen: names of the options that were given. */
int opt_parse_argv_seen(const struct opt_table *tables, size_t n_tables, int argc, char **argv, struct opt_list *rest,
    struct opt_list *seen, struct arena *arena, struct err *err) MUST_CHECK;
void opt_help(const struct opt_table *tables, size_t n_tables, FILE *out);

/* The policy grammar. One SPEC is `name[:k=v[,k=v]..]`; in a list of SPECs separated by commas a token `k=v` belongs to the
 * policy before it, any other token starts a new one. Splits into single SPECs (arena copies). STATUS_USAGE on empty
 * names. */
int spec_split(struct opt_list *specs, const char *text, struct arena *arena, struct err *err) MUST_CHECK;

/* "name:k=v,.." -> name and its k=v pairs, no values interpreted. */
struct spec_pair {
	const char *key, *value;
};
struct spec {
	const char *name;
	struct spec_pair *pairs;
	size_t n_pairs;
};
int spec_parse(struct spec *spec, const char *text, struct arena *arena, struct err *err) MUST_CHECK;

/* Applies pairs to params through a table: unknown or repeated keys and bad values are STATUS_USAGE and name the
 * policy. */
int spec_apply(void *params, const struct opt *opts, size_t n_opts, const struct spec *spec, struct arena *arena,
    struct err *err) MUST_CHECK;

/* "name:k=v,..": every option in table order, values in canonical text (numbers shortest, words, on|off); options whose
 * `given_offset` flag is false are left out. */
char *spec_canonical(const char *name, const void *params, const struct opt *opts, size_t n_opts, struct arena *arena);

/* Values of an axis or of a SPEC pair: "a;b;c" or "a,b,c" (pass the separator), each item a value or a range "a..b[:step]" of
 * numbers (step 1; inclusive; at most 1e6 items). Ends and step that share a suffix keep it: "16GiB..64GiB:16GiB". Gives the
 * texts of the single values. */
int opt_expand(struct opt_list *values, const char *text, char separator, struct arena *arena, struct err *err) MUST_CHECK;

void opt_list_add(struct opt_list *list, const char *item, struct arena *arena);

#endif
