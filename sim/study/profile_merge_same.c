/* SPDX-License-Identifier: GPL-3.0-or-later
 * What several profiles must agree in to be of one machine in one state. */
#include <string.h>

#include "sim/study/profile_merge_parts.h"

int profile_merge_differs(const struct merge *m, size_t part, const char *what, const char *detail)
{
	return err_set(m->err, STATUS_NO, "%s and %s differ in %s%s: not one machine in one state", m->parts[m->first].file,
	    m->parts[part].file, what, detail);
}

int profile_merge_differs_number(const struct merge *m, size_t part, const char *what, double first, double other)
{
	return profile_merge_differs(m, part, what, arena_printf(m->arena, ", %.10g and %.10g", first, other));
}

static double number_at(const struct hwprofile *hw, size_t offset)
{
	return *(const double *)(const void *)((const char *)hw + offset);
}

static int check_text(const struct merge *m, size_t part, const char *what, const char *first, const char *other)
{
	return strcmp(first, other) == 0 ? 0 : profile_merge_differs(m, part, what, arena_printf(m->arena, ", '%s' and '%s'", first, other));
}

static int check_fitted_on(const struct merge *m, size_t part)
{
	const struct hwprofile *const first = m->parts[0].hw, *const other = m->parts[part].hw;
	int code = first->n_fitted_on == other->n_fitted_on ? 0
	    : profile_merge_differs_number(m, part, "the number of rows fitted on", (double)first->n_fitted_on, (double)other->n_fitted_on);

	for (size_t i = 0; !code && i < first->n_fitted_on; i++)
		code = check_text(m, part, "the rows fitted on", first->fitted_on[i], other->fitted_on[i]);
	return code;
}

/* A count of GPUs on a root says nothing without the root's rate: there it is unknown, and the others say. */
static bool is_unknown(const struct hwprofile *hw, const struct hw_field *field)
{
	size_t root = 0;

	if (field->offset != offsetof(struct hwprofile, gpus_per_pcie_root))
		return false;
	while (hw_value_fields[root].offset != offsetof(struct hwprofile, pcie_root_Bps))
		root++;
	return hw->value_meta[root].kind == HW_KIND_DEFAULT;
}

static int check_count(const struct merge *m, const struct hw_field *field)
{
	struct merge own = *m;

	while (own.first + 1 < own.n_parts && is_unknown(own.parts[own.first].hw, field))
		own.first++;
	const double first = number_at(own.parts[own.first].hw, field->offset);
	for (size_t part = own.first + 1; part < own.n_parts; part++) {
		const double other = number_at(own.parts[part].hw, field->offset);
		if (other != first && !is_unknown(own.parts[part].hw, field))
			return profile_merge_differs_number(&own, part, field->name, first, other);
	}
	*(double *)(void *)((char *)own.merged + field->offset) = is_unknown(own.parts[own.first].hw, field) ? field->fallback : first;
	return 0;
}

int profile_merge_check_same(const struct merge *m, bool is_renamed)
{
	const struct hwprofile *const first = m->parts[0].hw;
	int code = 0;

	for (size_t part = 1; !code && part < m->n_parts; part++) {
		const struct hwprofile *const other = m->parts[part].hw;
		if (!is_renamed)
			code = check_text(m, part, "name", first->name, other->name);
		if (!code)
			code = check_text(m, part, "summary", first->summary, other->summary);
		if (!code)
			code = check_text(m, part, "tool", first->provenance.tool, other->provenance.tool);
		if (!code)
			code = check_text(m, part, "machine", first->provenance.machine, other->provenance.machine);
		if (!code)
			code = check_fitted_on(m, part);
	}
	for (size_t i = 0; !code && i < hw_n_node_fields; i++)
		code = check_count(m, &hw_node_fields[i]);
	return code;
}
