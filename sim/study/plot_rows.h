/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plot_rows: runs as plots want them, from view v_runs of a database or from trials run on the spot, and the words that tell
 * them apart.
 *
 * A fact is one thing that was chosen for a run: machine, model, policy, one of its options, one of the batch. A fact varies when it
 * differs among runs of the same machine, model and policy (for these three: among all runs). Labels name what varies and options that
 * are not at their default, so they are short and equal exactly for runs that differ in nothing but the facts left out.
 */
#ifndef SIM_STUDY_PLOT_ROWS_H
#define SIM_STUDY_PLOT_ROWS_H

#include "sim/study/plot.h"

struct fact {
	const char *key, *value;
};
enum { PLOT_FACTS_MAX = 40, PLOT_VARYING_MAX = 200, PLOT_GROUPS_MAX = 64, PLOT_ROWS_MAX = 100000, PLOT_INTERVALS_MAX = 1000 };

struct plot_interval {
	double lo, hi; /* NAN: none */
};

struct plot_row {
	const char *hw, *model, *spec, *policy; /* spec: canonical; policy: its name */
	const char *scale, *contention, *reason, *bottleneck; /* "" when none */
	double stride, ratio, fraction; /* NAN: not of this policy */
	double gpus, nodes, zero, tp, mbs, grad_accum, seq, subgroup, n_subgroups, threads;
	double feasible; /* 1: it fits */
	double forward_s, backward_s, update_s, other_s, iteration_s; /* NAN when not simulated */
	double gpu_peak_bytes, host_peak_bytes;
	struct fact *facts;
	size_t n_facts, n_options; /* three names, then the options, then the batch */
	const char *label; /* by plot_rows_label */
	const char *role, *checkpointing; /* of a plan: "best", "stride=3"; "on"; NULL: not known */
	struct plot_interval update, iteration; /* seconds; by plot_rows_intervals */
};

struct plot_rows {
	struct plot_row *rows;
	size_t n, cap;
	const char *origin; /* "out.db, where ..", "profile h100-4x: .." */
	struct fact varying[PLOT_VARYING_MAX]; /* by plot_rows_label: key, and the policy whose option it is ("" of all) */
	size_t n_varying;
	size_t n_intervals; /* rows whose intervals are known */
};

/* Rows of the source, a database or trials of every shape and spec. needs: SQL that all rows must meet ("stride is not null"), for
 * databases. STATUS_NO when there are none: says what there is. */
int plot_rows_load(struct plot_rows *rows, const struct plot_source *source, const struct opt_list *specs, const char *needs,
    struct arena *arena, struct err *err) MUST_CHECK;
int plot_rows_from_db(struct plot_rows *rows, const char *path, const char *where, const char *needs, struct arena *arena,
    struct err *err) MUST_CHECK;
int plot_rows_from_trials(struct plot_rows *rows, const struct plot_source *source, const struct opt_list *specs, struct arena *arena,
    struct err *err) MUST_CHECK;
/* How sure rows of one machine, scale and contention are (interval.h). has[i] false: not known, since the machine or model of a stored
 * row is not at hand, or gives another time than is stored. The first known one is what the others are compared with. STATUS_INPUT. */
struct outcome;
int plot_rows_outcomes(struct outcome *outcomes, bool *has, const struct plot_row *const *rows, size_t n, const struct plot_source *source,
    struct arena *arena, struct err *err) MUST_CHECK;
/* 90 % intervals where the source asks for them; NAN where they are not known. STATUS_NO: of none of them. STATUS_INPUT;
 * STATUS_USAGE: too many rows. */
int plot_rows_intervals(struct plot_rows *rows, const struct plot_source *source, struct arena *arena, struct err *err) MUST_CHECK;
struct plot_row *plot_rows_add(struct plot_rows *rows, struct arena *arena);
/* Is its update shorter? What fits is better than what does not; NULL is worst. */
bool plot_row_is_better(const struct plot_row *row, const struct plot_row *than);

/* Labels every row by what varies, apart from the facts of `axes` (NULL-terminated keys). */
void plot_rows_label(struct plot_rows *rows, const char *const axes[], struct arena *arena);
/* Distinct labels in order of appearance; returns how many, at most PLOT_GROUPS_MAX. */
size_t plot_rows_groups(const char ***labels, const struct plot_rows *rows, struct arena *arena);
/* What does not vary: "20b on h100-4x, dos, 4 GPUs, .." */
const char *plot_rows_common(const struct plot_rows *rows, const char *const axes[], struct arena *arena);

/* The profile of that name: one of the source's, else a shipped one. STATUS_INPUT. */
int plot_machine(struct hwprofile *hw, const char *name, const struct plot_source *source, struct arena *arena, struct err *err) MUST_CHECK;
/* The trial behind a row: the source's own, or from names; STATUS_INPUT when its machine or model is not shipped. hw is filled. */
int plot_row_trial(struct trial_input *input, struct hwprofile *hw, const struct plot_row *row, const struct plot_source *source,
    struct arena *arena, struct err *err) MUST_CHECK;
/* True when the trial gives the row's update time again: the profile by that name is the one that was stored. */
bool plot_row_is_reproduced(const struct plot_row *row, const struct trial_input *input);

#endif
