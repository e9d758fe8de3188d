/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/grid.h"

#include <assert.h>
#include <string.h>

#include "model/base/jsonw.h"

const char *const grid_flag_names[GRID_N_FLAGS + 1] = {
#define GRID_FLAG_NAME(name, text) text,
    GRID_FLAGS(GRID_FLAG_NAME)
#undef GRID_FLAG_NAME
    NULL};

static const double points_max = 1e15;

void grid_init(struct grid *grid, struct arena *arena)
{
	*grid = (struct grid){.arena = arena, .n_settings = 1};
}

/* A copy with one more element at the end; what is left behind dies with the arena. */
static void *grown(const void *list, size_t n, size_t size, struct arena *arena)
{
	char *const copy = arena_zalloc(arena, n + 1, size);

	if (n)
		memcpy(copy, list, n * size);
	return copy;
}

void grid_add_hw(struct grid *grid, const struct hwprofile *hw)
{
	grid->hws = grown(grid->hws, grid->n_hws, sizeof(*grid->hws), grid->arena);
	grid->hws[grid->n_hws++] = hw;
}

void grid_add_model(struct grid *grid, const struct shape *shape, const struct batch *batch)
{
	grid->models = grown(grid->models, grid->n_models, sizeof(*grid->models), grid->arena);
	grid->models[grid->n_models++] = (struct grid_model){.shape = *shape, .batch = *batch};
}

/* ---- flags */

/* The names of all sharing models, as an option of words. */
static const struct opt *contention_opt(struct arena *arena)
{
	struct opt *const opt = arena_zalloc(arena, 1, sizeof(*opt));
	size_t n = 0;

	while (sharing_all[n])
		n++;
	const char **const words = arena_zalloc(arena, n + 1, sizeof(*words));
	for (size_t i = 0; i < n; i++)
		words[i] = sharing_all[i]->name;
	*opt = (struct opt){.name = "--contention", .kind = OPT_WORD, .words = words};
	return opt;
}

int grid_add_flag(struct grid *grid, enum grid_flag flag, const struct opt *opt, const char *text, struct err *err)
{
	if (flag == GRID_CONTENTION)
		opt = contention_opt(grid->arena);
	if (axis_parse(&grid->axes[flag], opt, text, ',', grid->arena, err))
		return err->code;
	grid->has_shape_axes |= flag <= GRID_VOCAB;
	return 0;
}

/* ---- scalings */

static int parse_factors(struct axis *factors, const char *resource, const char *text, struct arena *arena, struct err *err)
{
	static const struct opt factor_opt = {.name = "factor", .kind = OPT_NUMBER, .unit = UNIT_NONE, .min = 1e-6, .max = 1e6};
	char *const list = arena_strdup(arena, text);
	struct hwprofile *const scratch = arena_zalloc(arena, 1, sizeof(*scratch));

	for (char *c = list; *c; c++)
		if (*c == ';')
			*c = ',';
	if (hwprofile_scale(scratch, resource, 1, err))
		return err->code;
	return axis_parse(factors, &factor_opt, list, ',', arena, err) ? err_wrap(err, "--scale %s", resource) : 0;
}

/* Where the values of a resource end: before the next RES=, or at the end. */
static const char *values_end(const char *values)
{
	const char *end = strchrnul(values, ',');

	while (*end && !memchr(end + 1, '=', strcspn(end + 1, ",")))
		end = strchrnul(end + 1, ',');
	return end;
}

static int add_resource(struct grid_scale *scale, const char **rest, struct arena *arena, struct err *err)
{
	const size_t length = strcspn(*rest, "=,;");
	const char *const values = *rest + length + 1;

	if (length == 0 || (*rest)[length] != '=')
		return err_set(err, STATUS_USAGE, "--scale %s: RES=F would be accepted, such as dram=1.5", *rest);
	const char *const end = values_end(values);
	const char *const resource = arena_printf(arena, "%.*s", (int)length, *rest);
	for (size_t i = 0; i < scale->n; i++)
		if (strcmp(scale->resources[i], resource) == 0)
			return err_set(err, STATUS_USAGE, "--scale: %s is given twice; one factor, or %s=F;F for several rows, would be accepted",
			    resource, resource);
	scale->resources = grown(scale->resources, scale->n, sizeof(*scale->resources), arena);
	scale->factors = grown(scale->factors, scale->n, sizeof(*scale->factors), arena);
	scale->resources[scale->n] = resource;
	const char *const text = arena_printf(arena, "%.*s", (int)(end - values), values);
	if (parse_factors(&scale->factors[scale->n], resource, text, arena, err))
		return err->code;
	scale->n_settings *= scale->factors[scale->n++].n;
	*rest = *end ? end + 1 : end;
	return scale->n_settings > AXIS_VALUES_MAX ? err_set(err, STATUS_USAGE, "--scale: more than %d settings", AXIS_VALUES_MAX) : 0;
}

int grid_add_scale(struct grid *grid, const char *text, struct err *err)
{
	struct grid_scale scale = {.n_settings = 1, .start = grid->n_scales ? grid->n_settings : 0};
	const char *rest = text;

	do {
		if (add_resource(&scale, &rest, grid->arena, err))
			return err->code;
	} while (*rest);
	grid->scales = grown(grid->scales, grid->n_scales, sizeof(*grid->scales), grid->arena);
	grid->scales[grid->n_scales++] = scale;
	grid->n_settings = scale.start + scale.n_settings;
	return 0;
}

void grid_scale(struct hwprofile *hw, const char **text, const struct grid *grid, size_t setting, struct arena *arena)
{
	size_t at = 0;
	char number[32];
	struct err err;

	*text = "";
	if (grid->n_scales == 0)
		return;
	while (at + 1 < grid->n_scales && grid->scales[at + 1].start <= setting)
		at++;
	const struct grid_scale *const scale = &grid->scales[at];
	size_t left = setting - scale->start, n_below = scale->n_settings;
	for (size_t i = 0; i < scale->n; i++) { /* the last resource varies fastest */
		n_below /= scale->factors[i].n;
		const double factor = axis_value(&scale->factors[i], left / n_below);
		left %= n_below;
		*text = arena_printf(arena, "%s%s%s=%s", *text, i ? "," : "", scale->resources[i], jsonw_double_text(number, factor));
		const int code = hwprofile_scale(hw, scale->resources[i], factor, &err);
		assert(code == 0);
		(void)code;
	}
}

/* ---- counting */

int grid_finish(struct grid *grid, struct err *err)
{
	double n_points = (double)grid->n_hws * (double)grid->n_settings * (double)grid->n_models;

	assert(grid->n_hws && grid->n_models && grid->n_policies);
	if (grid_finish_policies(grid, err))
		return err->code;
	for (size_t i = 0; i < GRID_N_FLAGS; i++)
		n_points *= grid->axes[i].opt ? (double)grid->axes[i].n : 1;
	n_points *= (double)grid->n_variants;
	if (n_points > points_max)
		return err_set(err, STATUS_USAGE, "%.4g points; up to %.4g would be accepted", n_points, points_max);
	grid->n_points = (size_t)n_points;
	return 0;
}

/* ---- points */

/* The lowest digit of *left to a base. */
static size_t take(size_t *left, size_t base)
{
	const size_t digit = *left % base;

	*left /= base;
	return digit;
}

struct shape_member {
	enum grid_flag flag;
	size_t offset; /* of a double in struct shape */
};

/* Named "7b:layers=24" after what differs from the model, "custom:layers=24" after what varies where there is none. */
static void override_shape(struct shape *shape, const struct grid *grid, const double values[GRID_N_FLAGS], struct arena *arena)
{
	static const struct shape_member members[] = {{GRID_LAYERS, offsetof(struct shape, layers)},
	    {GRID_HIDDEN, offsetof(struct shape, hidden)}, {GRID_HEADS, offsetof(struct shape, heads)},
	    {GRID_KV_HEADS, offsetof(struct shape, kv_heads)}, {GRID_FFN, offsetof(struct shape, ffn)},
	    {GRID_VOCAB, offsetof(struct shape, vocab)}};
	const bool is_custom = strcmp(shape->name, "custom") == 0;
	const char *name = shape->name;
	char separator = ':';

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const enum grid_flag flag = members[i].flag;
		if (!grid->axes[flag].opt)
			continue;
		*(double *)((char *)shape + members[i].offset) = values[flag];
		if (is_custom && grid->axes[flag].n == 1)
			continue;
		name = arena_printf(arena, "%s%c%s=%.15g", name, separator, grid_flag_names[flag], values[flag]);
		separator = ',';
	}
	shape->name = name;
}

static void fill_batch(struct batch *batch, const double values[GRID_N_FLAGS])
{
	*batch = (struct batch){.gpus = values[GRID_GPUS],
	    .nodes = values[GRID_NODES],
	    .zero_stage = values[GRID_ZERO],
	    .tp = values[GRID_TP],
	    .mbs = values[GRID_MBS],
	    .grad_accum = values[GRID_GRAD_ACCUM],
	    .seq = values[GRID_SEQ],
	    .has_checkpointing = values[GRID_CHECKPOINTING] == 0,
	    .precision = (enum precision)values[GRID_PRECISION],
	    .subgroup_params = values[GRID_SUBGROUP],
	    .n_subgroups = values[GRID_N_SUBGROUPS]};
}

void grid_at(struct grid_point *point, const struct grid *grid, size_t index, struct arena *arena)
{
	double values[GRID_N_FLAGS] = {0};

	assert(index < grid->n_points);
	*point = (struct grid_point){.hw = 0};
	grid_policy_at(&point->use, grid, take(&index, grid->n_variants), arena);
	for (size_t flag = GRID_N_FLAGS; flag-- > 0;) {
		if (flag == GRID_PRECISION)
			point->workload_id = index;
		const struct axis *const axis = &grid->axes[flag];
		if (axis->opt)
			values[flag] = axis_value(axis, take(&index, axis->n));
	}
	const struct grid_model *const model = &grid->models[take(&index, grid->n_models)];
	point->shape = model->shape;
	point->setting = take(&index, grid->n_settings);
	point->hw = index;
	if (grid->has_shape_axes)
		override_shape(&point->shape, grid, values, arena);
	fill_batch(&point->batch, values);
	if (!grid->axes[GRID_PRECISION].opt)
		point->batch.precision = model->batch.precision;
	if (!grid->axes[GRID_ZERO].opt)
		point->batch.zero_stage = model->batch.zero_stage;
	if (!grid->axes[GRID_TP].opt)
		point->batch.tp = model->batch.tp;
	point->threads = values[GRID_THREADS];
	point->sharing = grid->axes[GRID_CONTENTION].opt ? sharing_all[(size_t)values[GRID_CONTENTION]] : &sharing_fluid;
	point->sync = (enum sync)values[GRID_SYNC];
}
