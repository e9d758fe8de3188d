/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/sweep_flags.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct sweep_flags, member)

static const struct opt own_opts[] = {
    {.name = "db", .kind = OPT_TEXT, .offset = AT(db), .arg = "FILE", .help = "SQLite database; made, or added to"},
    {.name = "jobs", .letter = 'j', .kind = OPT_INT, .offset = AT(jobs), .min = 1, .max = 1024, .arg = "N",
        .help = "threads (default: the CPUs that are there)"},
    {.name = "closed-form", .kind = OPT_FLAG, .offset = AT(is_closed_form),
        .help = "update times in closed form, without simulation: a million points in seconds"},
    {.name = "shard", .kind = OPT_TEXT, .offset = AT(shard_text), .arg = "I/N",
        .help = "every N-th point from the I-th on, I from 1: one of N machines"},
    {.name = "limit", .kind = OPT_INT, .offset = AT(limit), .min = 1, .max = 1e15, .arg = "N", .help = "the first N points only"},
    {.name = "dry-run", .kind = OPT_FLAG, .offset = AT(is_dry_run), .help = "print how many points there are, and end"},
};
enum { N_OWN = sizeof(own_opts) / sizeof(own_opts[0]) };

/* Axes that only policies know. */
static const struct opt option_opts[] = {
    {.name = "stride", .arg = "K", .help = "of policies that have it and whose SPEC leaves it open"},
    {.name = "ratio", .arg = "R", .help = "likewise"},
    {.name = "fraction", .arg = "F", .help = "likewise"},
    {.name = "buffers", .arg = "B", .help = "likewise"},
};
static const enum common_group axis_groups[] = {COMMON_MODEL, COMMON_BATCH, COMMON_CONTENTION, COMMON_SYNC};

/* ---- parsing */

/* An option whose values are kept as a text. */
static void add_axis(struct sweep_flags *flags, struct opt *opts, const struct opt *opt, bool is_common, struct arena *arena)
{
	const size_t i = flags->n_axes++;

	assert(i < SWEEP_AXES_MAX);
	flags->axis_opts[i] = is_common ? opt : NULL;
	flags->axis_names[i] = opt->name;
	opts[N_OWN + i] = (struct opt){.name = opt->name,
	    .kind = OPT_TEXT,
	    .offset = AT(axis_texts) + i * sizeof(flags->axis_texts[0]),
	    .arg = arena_printf(arena, "%s,..", opt->arg),
	    .help = opt->help};
}

static const struct opt *list_opts(struct sweep_flags *flags, struct arena *arena)
{
	struct opt *const opts = arena_zalloc(arena, N_OWN + SWEEP_AXES_MAX, sizeof(*opts));

	memcpy(opts, own_opts, sizeof(own_opts));
	for (size_t i = 0; i < sizeof(option_opts) / sizeof(option_opts[0]); i++)
		add_axis(flags, opts, &option_opts[i], false, arena);
	for (size_t g = 0; g < sizeof(axis_groups) / sizeof(axis_groups[0]); g++) {
		size_t n;
		const struct opt *const group = common_opts(axis_groups[g], &n);
		for (size_t i = 0; i < n; i++)
			add_axis(flags, opts, &group[i], true, arena);
	}
	return opts;
}

/* "2/8": the second of eight. */
static int parse_shard(struct sweep_flags *flags, struct err *err)
{
	const char *const text = flags->shard_text;
	char *end = NULL;

	flags->n_shards = 1;
	if (!text)
		return 0;
	const long shard = strtol(text, &end, 10);
	const long n_shards = *end == '/' ? strtol(end + 1, &end, 10) : 0;
	if (*end != '\0' || shard < 1 || shard > n_shards)
		return err_set(err, STATUS_USAGE, "sweep: --shard %s: I/N would be accepted, I from 1 to N", text);
	flags->shard = (size_t)shard - 1;
	flags->n_shards = (size_t)n_shards;
	return 0;
}

int sweep_flags_parse(struct sweep_flags *flags, int argc, char **argv, struct arena *arena, struct err *err)
{
	*flags = (struct sweep_flags){.db = NULL};
	const struct opt *const opts = list_opts(flags, arena);
	const struct command_line line = {.name = "sweep",
	    .usage = "--hw H,.. --model M,.. --policy SPEC,.. [AXIS].. --db FILE",
	    .about = "Simulates every combination and stores it. What the database has already is not run again, so the same command\n"
	             "resumes. Values are lists a,b and ranges a..b[:step]; in a SPEC lists are a;b. An axis applies to the policies that\n"
	             "have its option. --scale RES=F,RES=F is one setting; a value without RES=, a range or a;b gives one more each, and\n"
	             "so does a further --scale.",
	    .groups = COMMON_HW | COMMON_POLICY | COMMON_SCALE,
	    .opts = opts,
	    .n_opts = N_OWN + flags->n_axes,
	    .params = flags};
	if (common_parse(&flags->common, &line, argc, argv, NULL, arena, err))
		return err->code;
	if (flags->common.wants_help)
		return 0;
	if (!flags->db && !flags->is_dry_run)
		return err_set(err, STATUS_USAGE, "sweep: --db is missing: a file for the results");
	return parse_shard(flags, err);
}

/* ---- the grid */

static const char *axis_text(const struct sweep_flags *flags, const char *name)
{
	for (size_t i = 0; i < flags->n_axes; i++)
		if (strcmp(flags->axis_names[i], name) == 0)
			return flags->axis_texts[i];
	return NULL;
}

static int add_hws(struct grid *grid, const struct sweep_flags *flags, struct arena *arena, struct err *err)
{
	struct opt_list names = {0};

	if (!flags->common.hw)
		return err_set(err, STATUS_USAGE, "sweep: --hw is missing: shipped profiles (dos list profiles) or files");
	if (opt_expand(&names, flags->common.hw, ',', arena, err))
		return err_wrap(err, "--hw");
	for (size_t i = 0; i < names.n; i++) {
		struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
		if (hwprofile_load(hw, names.items[i], arena, err))
			return err->code;
		grid_add_hw(grid, hw);
	}
	return 0;
}

static int flag_of(const char *name)
{
	for (int flag = 0; flag < GRID_N_FLAGS; flag++)
		if (strcmp(grid_flag_names[flag], name) == 0)
			return flag;
	return -1;
}

/* Messages name the flag as it is typed. */
static int add_flag(struct grid *grid, enum grid_flag flag, const struct opt *opt, const char *text, struct err *err)
{
	struct opt *const typed = arena_alloc(grid->arena, 1, sizeof(*typed));

	*typed = *opt;
	typed->name = arena_printf(grid->arena, "--%s", opt->name);
	return grid_add_flag(grid, flag, typed, text, err);
}

static int add_axes(struct grid *grid, const struct sweep_flags *flags, struct err *err)
{
	for (size_t i = 0; i < flags->n_axes; i++) {
		const char *const name = flags->axis_names[i], *const text = flags->axis_texts[i];
		const int flag = flag_of(name);
		if (!text || strcmp(name, "model") == 0)
			continue;
		if (flag < 0)
			grid_add_option(grid, name, text);
		else if (add_flag(grid, (enum grid_flag)flag, flags->axis_opts[i], text, err))
			return err->code;
	}
	if (grid->has_shape_axes && axis_text(flags, "n-subgroups"))
		return err_set(err, STATUS_USAGE, "--n-subgroups: an update alone has no shape (--layers --hidden --heads --kv-heads --ffn "
		    "--vocab)");
	if (flags->is_closed_form && axis_text(flags, "sync"))
		return err_set(err, STATUS_USAGE, "--sync: the closed form does not depend on it");
	return 0;
}

static long long first_value(const struct grid *grid, enum grid_flag flag)
{
	const struct axis *const axis = &grid->axes[flag];
	return axis->opt ? (long long)axis_value(axis, 0) : 0;
}

/* One model, with the first value of each shape flag: says what is missing. NULL: the shape by flags, or an update alone. */
static int add_model(struct grid *grid, const struct sweep_flags *flags, const char *model, struct arena *arena, struct err *err)
{
	struct common c = {.model = model, .is_quiet = flags->common.is_quiet};
	struct shape shape;
	struct batch batch;

	c.n_subgroups = first_value(grid, GRID_N_SUBGROUPS);
	if (!model) {
		c.layers = first_value(grid, GRID_LAYERS);
		c.hidden = first_value(grid, GRID_HIDDEN);
		c.heads = first_value(grid, GRID_HEADS);
		c.kv_heads = first_value(grid, GRID_KV_HEADS);
		c.ffn = first_value(grid, GRID_FFN);
		c.vocab = first_value(grid, GRID_VOCAB);
	}
	if (common_workload(&shape, &batch, &c, arena, err))
		return err->code;
	grid_add_model(grid, &shape, &batch);
	return 0;
}

static int add_models(struct grid *grid, const struct sweep_flags *flags, struct arena *arena, struct err *err)
{
	const char *const text = axis_text(flags, "model");
	struct opt_list models = {0};

	if (!text)
		return add_model(grid, flags, NULL, arena, err);
	if (opt_expand(&models, text, ',', arena, err))
		return err_wrap(err, "--model");
	for (size_t i = 0; i < models.n; i++)
		if (add_model(grid, flags, models.items[i], arena, err))
			return err->code;
	return 0;
}

static int add_policies(struct grid *grid, const struct sweep_flags *flags, struct err *err)
{
	const struct opt_list *const policies = &flags->common.policies;

	if (policies->n == 0)
		return err_set(err, STATUS_USAGE, "sweep: --policy is missing: SPEC[,SPEC..]; dos list policies has them");
	for (size_t i = 0; i < policies->n; i++)
		if (grid_add_policies(grid, policies->items[i], err))
			return err->code;
	return 0;
}

int sweep_flags_grid(struct grid *grid, const struct sweep_flags *flags, struct arena *arena, struct err *err)
{
	grid_init(grid, arena);
	if (add_policies(grid, flags, err) || add_axes(grid, flags, err))
		return err->code;
	for (size_t i = 0; i < flags->common.scales.n; i++)
		if (grid_add_scale(grid, flags->common.scales.items[i], err))
			return err->code;
	if (add_hws(grid, flags, arena, err) || add_models(grid, flags, arena, err))
		return err->code;
	return grid_finish(grid, err);
}
