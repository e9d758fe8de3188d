/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/fit_say.h"

#include <math.h>
#include <stdint.h>

static const char *join(const char *list, const char *item, struct arena *arena)
{
	return *list ? arena_printf(arena, "%s, %s", list, item) : item;
}

static bool is_held(const struct fit_constant *k)
{
	return k->finding.state == FIT_HELD || k->finding.state == FIT_HELD_PAIR || k->finding.state == FIT_NO_EFFECT;
}

/* A pair whose other half was held later is identified no more than the rest. */
static enum fit_state state_of(const struct fit_result *r, size_t i)
{
	const struct fit_finding *const f = &r->constants[i].finding;
	const bool is_broken = f->state == FIT_HELD_PAIR && (f->partner == SIZE_MAX || is_held(&r->constants[f->partner]));

	return is_broken ? FIT_HELD : f->state;
}

static const char *names_of(const struct fit_result *r, enum fit_state state, struct arena *arena)
{
	const char *list = "";

	for (size_t i = 0; i < r->n_constants; i++)
		if (state_of(r, i) == state)
			list = join(list, r->constants[i].param->name, arena);
	return list;
}

static const char *pairs_of(const struct fit_result *r, struct arena *arena)
{
	const char *list = "";

	for (size_t i = 0; i < r->n_constants; i++) {
		const struct fit_finding *const f = &r->constants[i].finding;
		if (state_of(r, i) == FIT_HELD_PAIR)
			list = join(list, arena_printf(arena, "%s %c %s", r->constants[i].param->name, f->correlation > 0 ? '/' : '*',
			    r->constants[f->partner].param->name), arena);
	}
	return list;
}

/* Sum of squares by which another explanation may be worse and still be one: odds of about one in ten. */
static const double rival_excess_max = 5;

/* Constants of the other explanation, as factors on these; "" when there is none. */
static const char *rival_of(const struct fit_result *r, struct arena *arena)
{
	const double worth_saying = 0.15;
	const char *list = "";

	if (!(r->rival_excess < rival_excess_max))
		return "";
	for (size_t i = 0; i < r->n_constants; i++)
		if (fabs(r->rival_x[i] - r->x[i]) > worth_saying)
			list = join(list, arena_printf(arena, "%s times %.2f", r->constants[i].param->name, exp(r->rival_x[i] - r->x[i])), arena);
	return list;
}

size_t fit_statements(const char ***statements, const struct fit_result *r, struct arena *arena)
{
	const struct {
		const char *list, *text;
	} parts[] = {
	    {names_of(r, FIT_HELD, arena), "Not identified by these runs, left at the start:"},
	    {pairs_of(r, arena), "Only this ratio (/) or product (*) is identified; the first is left at the start:"},
	    {names_of(r, FIT_NO_EFFECT, arena), "No prediction of these runs changes with, left at the start:"},
	    {names_of(r, FIT_WEAK, arena), "Identified weakly, the start counts as well:"},
	    {names_of(r, FIT_AT_BOUND, arena), "Stopped by a bound:"},
	    {r->n_misfits ? arena_printf(arena, "%zu", r->n_misfits) : "",
	        "Memory is not fitted, and host_memory_bytes or gpu_memory_bytes of the start is too small. Runs that would not fit:"},
	    {rival_of(r, arena),
		"Another explanation fits nearly as well, which runs of other strides or sizes would tell from this one:"},
	};
	const size_t n_parts = sizeof(parts) / sizeof(parts[0]);
	size_t n = 0;

	*statements = arena_alloc(arena, n_parts, sizeof(**statements));
	for (size_t i = 0; i < n_parts; i++)
		if (*parts[i].list)
			(*statements)[n++] = arena_printf(arena, "%s %s", parts[i].text, parts[i].list);
	return n;
}
