/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos profile merge. */
#include "sim/cli/profile_call.h"
#include "sim/study/profile_merge.h"
#include "sim/study/profile_save.h"

/* The same measurement twice would count twice, whatever its files are called. */
static int check_distinct(const struct profile_part parts[], size_t n, struct err *err)
{
	for (size_t i = 1; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (parts[i].hw->content_hash == parts[j].hw->content_hash)
				return err_set(err, STATUS_INPUT, "%s and %s have the same numbers: one measurement; each once would be accepted",
				    parts[j].file, parts[i].file);
	return 0;
}

int profile_call_merge(FILE *out, const struct profile_call *call, struct arena *arena, struct err *err)
{
	const size_t n = call->files->n;
	const struct profile_merge_head head = {call->name, call->command};
	struct hwprofile *const hw = arena_alloc(arena, n + 1, sizeof(*hw)), *const merged = &hw[n];
	struct profile_part *const parts = arena_alloc(arena, n, sizeof(*parts));

	if (n < 1)
		return err_set(err, STATUS_USAGE, "profile merge: one or more profiles would be accepted, %zu are given", n);
	if (call->format == FORMAT_CSV)
		return err_set(err, STATUS_USAGE, "profile merge: a profile is JSON, not csv");
	for (size_t i = 0; i < n; i++) {
		if (hwprofile_load(&hw[i], call->files->items[i], arena, err))
			return err->code;
		parts[i] = (struct profile_part){&hw[i], call->files->items[i]};
	}
	if (check_distinct(parts, n, err) || profile_merge(merged, parts, n, &head, arena, err))
		return err->code;
	profile_save(out, merged);
	return 0;
}
