/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit_profile.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/study/fit_say.h"

/* ---- where numbers come from */

static bool is_estimated(const struct fit_constant *k)
{
	return k->finding.state == FIT_ESTIMATED || k->finding.state == FIT_WEAK || k->finding.state == FIT_AT_BOUND;
}

static const char *source_of(const struct fit_constant *k, struct arena *arena)
{
	return arena_printf(arena, "fitted from %.4g%s", k->start, k->finding.state == FIT_WEAK ? "; identified weakly" :
	    k->finding.state == FIT_AT_BOUND ? "; stopped by a bound" : "");
}

/* A member that moved by `factor` with its constant. */
static void mark(struct hw_meta *values, struct hw_meta *curves, const struct hwprofile *hw, const struct fit_constant *k,
    const char *name, const char *source, struct arena *arena)
{
	const size_t value = fit_value_index(name), curve = fit_curve_index(name);
	const double lo = k->lo / k->estimate, hi = k->hi / k->estimate;

	if (value != SIZE_MAX) {
		const struct hw_field *const field = &hw_value_fields[value];
		const double at = *(const double *)(const void *)((const char *)hw + field->offset);
		if (!(at > 0))
			return; /* "not used": no factor changes it */
		values[value] = (struct hw_meta){HW_KIND_FITTED, fmin(fmax(at * lo, field->min), at),
		    fmax(fmin(at * hi, field->max), at), NULL, 0, source};
	} else if (curve != SIZE_MAX && curves[curve].kind != HW_KIND_DEFAULT) {
		curves[curve] = (struct hw_meta){HW_KIND_FITTED, fmax(fmin(lo, 1), 0.01), fmin(fmax(hi, 1), 100), NULL, 0,
		    arena_printf(arena, "%s, shape kept", source)};
	}
}

static void mark_all(struct hwprofile *hw, const struct fit_result *r, struct arena *arena)
{
	struct hw_meta *const values = arena_alloc(arena, hw_n_value_fields, sizeof(*values));
	struct hw_meta *const curves = arena_alloc(arena, hw_n_curve_fields, sizeof(*curves));

	memcpy(values, hw->value_meta, hw_n_value_fields * sizeof(*values));
	memcpy(curves, hw->curve_meta, hw_n_curve_fields * sizeof(*curves));
	for (size_t i = 0; i < r->n_constants; i++) {
		const struct fit_constant *const k = &r->constants[i];
		const char *const source = source_of(k, arena);
		if (!is_estimated(k))
			continue;
		mark(values, curves, hw, k, k->param->name, source, arena);
		for (size_t f = 0; f < FIT_FOLLOWERS_MAX && k->param->followers[f]; f++)
			mark(values, curves, hw, k, k->param->followers[f], arena_printf(arena, "with %s, %s", k->param->name, source), arena);
	}
	hw->value_meta = values;
	hw->curve_meta = curves;
}

/* A typical value in place of none (--param), whether or not it was estimated, has a source too. A duplex rate that was pressed
 * down by its one-way rate is no longer what the file said. */
static void mark_changed(struct hwprofile *hw, const struct hwprofile *start, struct arena *arena)
{
	struct hw_meta *const values = arena_alloc(arena, hw_n_value_fields, sizeof(*values));

	memcpy(values, hw->value_meta, hw_n_value_fields * sizeof(*values));
	for (size_t i = 0; i < hw_n_value_fields; i++) {
		const double now = *(const double *)(const void *)((const char *)hw + hw_value_fields[i].offset);
		const double before = *(const double *)(const void *)((const char *)start + hw_value_fields[i].offset);
		if (values[i].kind == HW_KIND_FITTED && values[i].source != start->value_meta[i].source)
			continue;
		if (now != before)
			values[i] = (struct hw_meta){HW_KIND_FITTED, NAN, NAN, NULL, 0, "not above the one-way rate"};
		else if (values[i].kind == HW_KIND_DEFAULT && now != hw_value_fields[i].fallback && !isnan(hw_value_fields[i].fallback))
			values[i] = (struct hw_meta){HW_KIND_ASSUMED, NAN, NAN, NULL, 0, "typical; the start had none"};
	}
	hw->value_meta = values;
}

/* ---- head */

static void set_fitted_on(struct hwprofile *hw, const struct fit_cases *cases, struct arena *arena)
{
	const char **const ids = arena_alloc(arena, cases->n + hw->n_fitted_on + 1, sizeof(const char *));
	size_t n = 0;

	for (size_t c = 0; c < cases->n; c++)
		ids[n++] = cases->cases[c].id;
	for (size_t i = 0; i < hw->n_fitted_on; i++) {
		size_t c = 0;
		while (c < cases->n && strcmp(cases->cases[c].id, hw->fitted_on[i]) != 0)
			c++;
		if (c == cases->n)
			ids[n++] = hw->fitted_on[i];
	}
	hw->fitted_on = ids;
	hw->n_fitted_on = n;
}

static const char *note_of(const struct fit_result *r, struct arena *arena)
{
	const char **statements;
	const size_t n = fit_statements(&statements, r, arena);
	const char *note = "";

	for (size_t i = 0; i < n; i++)
		note = arena_printf(arena, "%s%s%s.", note, i ? " " : "", statements[i]);
	return note;
}

static int set_head(struct hwprofile *hw, const struct fit_result *r, const struct fit_cases *cases,
    const struct fit_profile_head *head, struct arena *arena, struct err *err)
{
	const char *const name = head->name ? head->name : arena_printf(arena, "%s-fit", r->start->name);
	const char **const sources = arena_alloc(arena, hw->provenance.n_sources + 1, sizeof(const char *));

	if (strlen(name) >= sizeof(hw->name))
		return err_set(err, STATUS_USAGE, "--name: %zu bytes long; at most %zu would be accepted", strlen(name), sizeof(hw->name) - 1);
	memcpy(hw->name, name, strlen(name) + 1);
	snprintf(hw->summary, sizeof(hw->summary), "Fitted on %zu recorded run%s, from %s", cases->n,
	    cases->n == 1 ? "" : "s", r->start->name);
	if (hw->provenance.n_sources)
		memcpy(sources, hw->provenance.sources, hw->provenance.n_sources * sizeof(*sources));
	sources[hw->provenance.n_sources++] = arena_printf(arena, "profile %s, for all that is not fitted", r->start->name);
	hw->provenance.sources = sources;
	hw->provenance.tool = "dos fit";
	hw->provenance.date = head->date;
	hw->provenance.command = head->command;
	hw->provenance.note = note_of(r, arena);
	set_fitted_on(hw, cases, arena);
	return 0;
}

int fit_profile(struct hwprofile *hw, const struct fit_result *r, const struct fit_cases *cases,
    const struct fit_profile_head *head, struct arena *arena, struct err *err)
{
	*hw = *r->hw;
	mark_all(hw, r, arena);
	mark_changed(hw, r->start, arena);
	const int code = set_head(hw, r, cases, head, arena, err);
	hwprofile_rehash(hw);
	return code ? code : hwprofile_check(hw, hw->name, err);
}

const char *fit_profile_date(struct arena *arena)
{
	const char *const epoch = getenv("SOURCE_DATE_EPOCH");
	char *end = NULL;
	const long long seconds = epoch ? strtoll(epoch, &end, 10) : 0;
	const time_t now = epoch && end != epoch && *end == '\0' ? (time_t)seconds : time(NULL);
	struct tm day;

	gmtime_r(&now, &day);
	return arena_printf(arena, "%04d-%02d-%02d", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}
