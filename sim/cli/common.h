/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * common: the options that commands share, once: parsing, defaults, help; and what they mean: profile, shape, batch,
 * policies, output.
 *
 * Counts are 0 and texts NULL when not given. Everything lives in the arena of the command line.
 */
#ifndef SIM_CLI_COMMON_H
#define SIM_CLI_COMMON_H

#include "model/base/file_replace.h"
#include "model/base/opt.h"
#include "model/base/table.h"
#include "sim/sharing.h"
#include "sim/study/trial.h"

struct common {
	/* machine, model, policies */
	const char *hw;
	const char *model;
	struct opt_list policies;
	/* shape and batch */
	long long layers, hidden, heads, kv_heads, ffn, vocab;
	long long gpus, nodes, zero_stage, tp, mbs, grad_accum, seq, n_subgroups, threads, workers;
	double subgroup_params;
	int checkpointing; /* 0: on */
	bool has_checkpointing; /* --checkpointing is given */
	int precision; /* enum precision */
	bool has_precision;
	double gpu_mem_bytes, host_mem_bytes, pinned_max_bytes; /* limits; 0: the profile's */
	/* how it is simulated */
	const char *contention;
	int sync; /* enum sync */
	struct opt_list scales; /* RES=F[,..] */
	long long uncertainty, seed; /* draws; 0: no intervals */
	bool has_uncertainty; /* --uncertainty is given */
	/* output */
	int format; /* enum format */
	const char *output;
	const char *config;
	bool is_quiet, is_verbose, has_no_color;
	bool wants_help;
};

enum common_group {
	COMMON_HW = 1,
	COMMON_MODEL = 2, /* --model and the shape */
	COMMON_POLICY = 4,
	COMMON_BATCH = 8,
	COMMON_CONTENTION = 16,
	COMMON_SCALE = 32,
	COMMON_SYNC = 64,
	COMMON_OUTPUT = 128, /* always there */
	COMMON_UNCERTAINTY = 256,
	COMMON_LIMITS = 512, /* of memory */
};

/* What a command adds. */
struct command_line {
	const char *name; /* "simulate" */
	const char *usage; /* what follows the name */
	const char *about; /* one or two sentences */
	unsigned groups; /* enum common_group */
	const struct opt *opts; /* own options */
	size_t n_opts;
	void *params; /* of own options */
};

/* Parses and fills c; *rest are the arguments that are no options; NULL: there must be none. With --help prints it and sets c->wants_help: the
 * command returns 0 then. */
int common_parse(struct common *c, const struct command_line *line, int argc, char **argv, struct opt_list *rest,
    struct arena *arena, struct err *err) MUST_CHECK;

/* Has the command tell its options instead of running it. Not for two threads at once. */
struct command;
struct common_visitor {
	void (*visit)(void *context, const struct command_line *line, const struct opt_table *tables, size_t n_tables);
	void *context;
};
void common_describe(const struct command *command, const struct common_visitor *visitor);

/* The options of one group, for commands that take lists of values for them. */
const struct opt *common_opts(enum common_group group, size_t *n_opts);

/* Loads --hw (required), scales it, and sets the limits of memory that are given. */
int common_hw(struct hwprofile *hw, const struct common *c, struct arena *arena, struct err *err) MUST_CHECK;
/* --scale on a profile. */
int common_scale(struct hwprofile *hw, const struct common *c, struct arena *arena, struct err *err) MUST_CHECK;
/* Shape and batch from --model and flags; says what is missing. */
int common_workload(struct shape *shape, struct batch *batch, const struct common *c, struct arena *arena, struct err *err) MUST_CHECK;
/* --contention */
int common_sharing(const struct sharing **sharing, const struct common *c, struct arena *arena, struct err *err) MUST_CHECK;
/* --policy, lists split, ranges expanded, --workers applied; each parses. Required unless `fallback` is given. */
int common_policies(struct opt_list *specs, const struct common *c, const char *fallback, struct arena *arena,
    struct err *err) MUST_CHECK;
/* All of the above into one trial; its policy is left empty. hw must outlive it. */
int common_trial(struct trial_input *input, struct hwprofile *hw, const struct common *c, struct arena *arena, struct err *err) MUST_CHECK;

/* path, of `option`, takes a second result (NULL: none): it may not be where the first one goes (NULL: standard output). */
int common_beside(const char *option, const char *path, const char *output, struct err *err) MUST_CHECK;

/* "46 threads, ..": the context of a result, for people. */
const char *common_context(const struct trial *trial, const struct trial_input *input, struct arena *arena);
/* --scale as one text, "" when none. */
const char *common_scale_text(const struct common *c, struct arena *arena);

/* A remark on standard error, unless -q. */
void common_note(const struct common *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
