/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos profile check. */
#include <math.h>

#include "model/base/file_text.h"
#include "model/hwprofile.h"
#include "sim/cli/profile_call.h"

static const struct table_column check_columns[] = {
    {"file", NULL, UNIT_NONE},
    {"hw", NULL, UNIT_NONE},
    {"n_measured", "measured", UNIT_NONE},
    {"n_fitted", "fitted", UNIT_NONE},
    {"n_datasheet", "data sheet", UNIT_NONE},
    {"n_assumed", "assumed", UNIT_NONE},
    {"n_default", "default", UNIT_NONE},
    {"n_fitted_on", "rows of fit", UNIT_NONE},
    {"complete", NULL, UNIT_NONE},
};

/* Copies of one GPU, both directions at once, are limited by its own rates already. */
static void warn_of_root(const struct hwprofile *hw, const char *file, const struct common *c)
{
	const double own_Bps = hw->h2d_duplex_Bps + hw->d2h_duplex_Bps;
	char root[UNITS_TEXT_MAX], own[UNITS_TEXT_MAX];

	if (hw->gpus > 1 && hw->gpus_per_pcie_root == 1 && isfinite(hw->pcie_root_Bps) && hw->pcie_root_Bps >= own_Bps)
		common_note(c, "%s: /values/pcie_root_Bps limits nothing: a root has one GPU, whose copies get %s of its %s; "
		    "/node/gpus_per_pcie_root would say how many share it", file_text_name(file), units_print(own, UNIT_BYTES_PER_S, own_Bps),
		    units_print(root, UNIT_BYTES_PER_S, hw->pcie_root_Bps));
}

int profile_call_check(FILE *out, const struct profile_call *call, struct arena *arena, struct err *err)
{
	const struct opt_list *const files = call->files;
	const enum format format = call->format;
	static const enum hw_kind kinds[] = {HW_KIND_MEASURED, HW_KIND_FITTED, HW_KIND_DATASHEET, HW_KIND_ASSUMED, HW_KIND_DEFAULT};
	struct table *const table = table_new(check_columns, sizeof(check_columns) / sizeof(check_columns[0]));
	int code = 0;

	for (size_t i = 0; !code && i < files->n; i++) {
		struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
		code = hwprofile_load(hw, files->items[i], arena, err);
		if (code)
			break;
		warn_of_root(hw, files->items[i], call->common);
		table_text(table, files->items[i]);
		table_text(table, hw->name);
		for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
			long long n = 0;
			for (size_t v = 0; v < hw_n_value_fields; v++)
				n += hw->value_meta[v].kind == kinds[kind];
			for (size_t c = 0; c < hw_n_curve_fields; c++)
				n += hw->curve_meta[c].kind == kinds[kind];
			table_integer(table, n);
		}
		table_integer(table, (long long)hw->n_fitted_on);
		table_text(table, hw->complete ? "yes" : "no");
	}
	if (table_n_rows(table) > 0)
		table_print(table, format, out);
	table_free(table);
	return code;
}
