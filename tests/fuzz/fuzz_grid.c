/* SPDX-License-Identifier: GPL-3.0-or-later
 * The command line of a sweep: lines of `policy TEXT`, `scale TEXT`, `stride TEXT`, `mbs TEXT`, .. make a grid; what is accepted can be
 * enumerated from end to end, and its points have canonical policies that read back to themselves. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "sim/study/grid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static const struct opt count = {.name = "count", .kind = OPT_INT, .min = 1, .max = 1e9};

/* Applies one line; false when it is refused. */
static bool apply(struct grid *grid, char *line)
{
	char *const space = strchr(line, ' ');
	struct err err = {0};

	if (!space)
		return true;
	*space = '\0';
	if (strcmp(line, "policy") == 0)
		return grid_add_policies(grid, space + 1, &err) == 0;
	if (strcmp(line, "scale") == 0)
		return grid_add_scale(grid, space + 1, &err) == 0;
	for (int flag = 0; flag < GRID_CHECKPOINTING; flag++)
		if (strcmp(line, grid_flag_names[flag]) == 0)
			return grid_add_flag(grid, (enum grid_flag)flag, &count, space + 1, &err) == 0;
	if (strcmp(line, "contention") == 0)
		return grid_add_flag(grid, GRID_CONTENTION, &count, space + 1, &err) == 0;
	if (grid->n_options < GRID_OPTIONS_MAX)
		grid_add_option(grid, line, space + 1);
	return true;
}

static void check_point(const struct grid *grid, size_t index, const struct hwprofile *machine, struct arena *arena)
{
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct grid_point point;
	struct policy_use again;
	const char *scale;
	struct err err = {0};

	grid_at(&point, grid, index, arena);
	*hw = *machine;
	grid_scale(hw, &scale, grid, point.setting, arena);
	assert(point.use.policy && point.sharing && point.hw == 0);
	const char *const text = policy_use_canonical(&point.use, arena);
	if (policy_check(point.use.policy, point.use.params, &err))
		return;
	const int code = policy_use_parse(&again, text, arena, &err);
	assert(code == 0);
	assert(strcmp(text, policy_use_canonical(&again, arena)) == 0);
	(void)code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static struct hwprofile machine;
	struct arena arena = {0};
	struct grid grid;
	struct err err = {0};
	bool is_accepted = true;

	if (n_bytes > 512)
		return 0;
	char *const text = arena_zalloc(&arena, n_bytes + 1, 1);
	memcpy(text, data, n_bytes);
	grid_init(&grid, &arena);
	grid_add_hw(&grid, &machine);
	grid_add_model(&grid, &shape_presets[0].shape, &(struct batch){.precision = PRECISION_BF16});
	for (char *line = strtok(text, "\n"); line && is_accepted; line = strtok(NULL, "\n"))
		is_accepted = apply(&grid, line);
	if (is_accepted && grid.n_policies > 0 && grid_finish(&grid, &err) == 0) {
		assert(grid.n_points > 0);
		check_point(&grid, 0, &machine, &arena);
		check_point(&grid, grid.n_points / 2, &machine, &arena);
		check_point(&grid, grid.n_points - 1, &machine, &arena);
	}
	arena_release(&arena);
	return 0;
}
