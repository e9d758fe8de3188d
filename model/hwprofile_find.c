/* SPDX-License-Identifier: GPL-3.0-or-later
 * Shipped profiles by name. */
#include "model/base/shipped.h"
#include "model/hwprofile.h"

static const struct shipped profiles = {.folder = "hwprofiles", .suffix = ".json", .what = "hardware profile"};

bool hwprofile_is_file(const char *text)
{
	return shipped_is_file(&profiles, text);
}

size_t hwprofile_list(struct opt_list *names, struct arena *arena)
{
	return shipped_list(names, &profiles, arena);
}

int hwprofile_find(const char **path, const char *name, struct arena *arena, struct err *err)
{
	return shipped_find(path, &profiles, name, arena, err);
}
