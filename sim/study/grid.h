/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * grid: all combinations of machines, scalings, models, flags and policies of a sweep, by index. A point is made when it is
 * asked for, so a grid takes the same memory whatever its length.
 *
 * Order, slowest first: machine, scaling, model, shape, batch, threads, contention, sync, policy, its options. An option of a
 * SPEC stands; an axis applies to the policies that have its option; the others get one point.
 *
 * Ownership: everything lives in the grid's arena; machines are borrowed. Immutable once finished: any number of
 * threads may read it.
 */
#ifndef SIM_STUDY_GRID_H
#define SIM_STUDY_GRID_H

#include "model/hwprofile.h"
#include "sim/iteration.h"
#include "sim/sharing.h"
#include "sim/study/axis.h"

/* Flags that are axes of every policy, slowest first. */
#define GRID_FLAGS(X)                                                                                                        \
	X(LAYERS, "layers") X(HIDDEN, "hidden") X(HEADS, "heads") X(KV_HEADS, "kv-heads") X(FFN, "ffn") X(VOCAB, "vocab")    \
	X(GPUS, "gpus") X(NODES, "nodes") X(ZERO, "zero") X(TP, "tp") X(MBS, "mbs") X(GRAD_ACCUM, "grad-accum")              \
	X(SEQ, "seq") X(SUBGROUP, "subgroup")                                                                                \
	X(N_SUBGROUPS, "n-subgroups") X(CHECKPOINTING, "checkpointing") X(PRECISION, "precision") X(THREADS, "threads")      \
	X(CONTENTION, "contention") X(SYNC, "sync")
enum grid_flag {
#define GRID_FLAG_ENUM(name, text) GRID_##name,
	GRID_FLAGS(GRID_FLAG_ENUM)
#undef GRID_FLAG_ENUM
	GRID_N_FLAGS
};
extern const char *const grid_flag_names[GRID_N_FLAGS + 1]; /* NULL-terminated */

/* One --scale: factors of some resources, each an axis of its own. */
struct grid_scale {
	const char **resources;
	struct axis *factors; /* [n] */
	size_t n;
	size_t n_settings, start; /* combinations; index of the first in the grid */
};

struct grid_policy {
	const struct policy *policy;
	void *base; /* params with all that has one value */
	bool *is_given; /* [policy->n_opts] by the SPEC, then by an axis */
	struct axis *axes; /* [n_axes] options with several */
	size_t n_axes;
	size_t n_variants, start;
};

/* An axis of policy options: --stride, --workers. */
struct grid_option {
	const char *name, *text;
	bool is_used;
};

enum { GRID_OPTIONS_MAX = 8 };

/* A model: its shape, and what its file says where the flags do not: precision, zero_stage, tp. */
struct grid_model {
	struct shape shape;
	struct batch batch;
};

struct grid {
	struct arena *arena; /* borrowed */
	const struct hwprofile **hws;
	size_t n_hws;
	struct grid_model *models;
	size_t n_models;
	struct grid_scale *scales;
	size_t n_scales, n_settings; /* settings: 1 without --scale */
	struct axis axes[GRID_N_FLAGS];
	bool has_shape_axes; /* a shape flag was given: points are named after it */
	struct grid_policy *policies;
	size_t n_policies, n_variants;
	struct grid_option options[GRID_OPTIONS_MAX];
	size_t n_options;
	size_t n_points;
};

/* Everything about one point but its profile's scaling and what follows from it. */
struct grid_point {
	size_t hw; /* index into hws */
	size_t setting; /* of --scale */
	size_t workload_id; /* points of one machine, setting and workload share it */
	struct shape shape; /* texts in the arena of grid_at */
	struct batch batch; /* 0: not given */
	double threads; /* 0: the profile's */
	const struct sharing *sharing;
	enum sync sync;
	struct policy_use use; /* not resolved, not checked; in the arena of grid_at */
};

void grid_init(struct grid *grid, struct arena *arena);
void grid_add_hw(struct grid *grid, const struct hwprofile *hw);
void grid_add_model(struct grid *grid, const struct shape *shape, const struct batch *batch);
/* A flag's values; opt says what is accepted (contention: opt is ignored). STATUS_USAGE. */
int grid_add_flag(struct grid *grid, enum grid_flag flag, const struct opt *opt, const char *text, struct err *err) MUST_CHECK;
/* RES=F[,..]: one setting. A value without RES= is one more of the RES before it, and a value may be a range or "a;b": then
 * all combinations. Repeated: further settings. STATUS_USAGE. */
int grid_add_scale(struct grid *grid, const char *text, struct err *err) MUST_CHECK;
/* An axis of the policies that have the option, once each. Judged by grid_finish. */
void grid_add_option(struct grid *grid, const char *name, const char *text);
/* SPEC[,SPEC..], with ranges and lists. STATUS_USAGE, also for a SPEC of single values that its policy refuses. */
int grid_add_policies(struct grid *grid, const char *text, struct err *err) MUST_CHECK;
/* Applies the axes of options and counts. STATUS_USAGE for an axis that no policy has and for more than 1e15 points. */
int grid_finish(struct grid *grid, struct err *err) MUST_CHECK;

/* index < n_points. */
void grid_at(struct grid_point *point, const struct grid *grid, size_t index, struct arena *arena);

/* Scales a copy of a machine by a setting; *text: "dram=1.5,cpu=2", "" for none. Factors were judged by grid_add_scale. */
void grid_scale(struct hwprofile *hw, const char **text, const struct grid *grid, size_t setting, struct arena *arena);

/* Steps of building, in files of their own: policies with the axes of options, counted. */
int grid_finish_policies(struct grid *grid, struct err *err) MUST_CHECK;
/* Sets the policy of a point to its variant. */
void grid_policy_at(struct policy_use *use, const struct grid *grid, size_t variant, struct arena *arena);

#endif
