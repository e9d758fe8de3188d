/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/uncertainty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct uncertainty_options uncertainty_options_of(const struct common *c, const struct sharing *sharing)
{
	return (struct uncertainty_options){.sharing = sharing, .sync = (enum sync)c->sync, .n_samples = (size_t)c->uncertainty,
	    .seed = (unsigned long long)c->seed};
}

int uncertainty_of(struct uncertainty *u, const struct common *c, const struct sharing *sharing, struct arena *arena, struct err *err)
{
	const struct uncertainty_options options = uncertainty_options_of(c, sharing);
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	const int code = hwprofile_load(hw, c->hw, arena, err);

	return code ? code : uncertainty_init(u, hw, &options, arena, err);
}

/* ---- text */

/* Decimals of a printed number: those of "1.31" are 2. */
static int decimals_of(const char *text)
{
	const char *const point = strchr(text, '.');
	return point ? (int)strspn(point + 1, "0123456789") : 0;
}

const char *uncertainty_text(const struct interval *v, enum unit unit, struct arena *arena)
{
	char text[UNITS_TEXT_MAX];

	units_print(text, unit, v->predicted);
	const double shown = strtod(text, NULL);
	if (!(v->predicted > 0) || !(shown > 0))
		return arena_strdup(arena, text);
	const double half = interval_half_frac(v) * shown;
	const int decimals = decimals_of(text);
	return arena_printf(arena, "%s +- %.*f", text, half > 0 && half < 0.5 * pow(10, -decimals) ? decimals + 1 : decimals, half);
}

/* ---- JSON */

void uncertainty_json_interval(struct jsonw *w, const struct interval *v)
{
	jsonw_member_number(w, "lo", v->lo);
	jsonw_member_number(w, "hi", v->hi);
	jsonw_member_number(w, "parameter_frac", v->parameter_frac);
	jsonw_member_number(w, "discrepancy_frac", v->discrepancy_frac);
}

void uncertainty_json_intervals(struct jsonw *w, const struct interval of[QUANTITY_N])
{
	jsonw_key(w, "interval");
	jsonw_object(w);
	for (size_t q = 0; q < QUANTITY_N; q++) {
		jsonw_key(w, quantity_names[q]);
		jsonw_inline_object(w);
		uncertainty_json_interval(w, &of[q]);
		jsonw_end_object(w);
	}
	jsonw_end_object(w);
}

void uncertainty_json_about(struct jsonw *w, const struct uncertainty *u)
{
	jsonw_key(w, "uncertainty");
	jsonw_inline_object(w);
	jsonw_member_integer(w, "n", (long long)u->n_samples);
	jsonw_member_integer(w, "seed", (long long)u->seed);
	jsonw_member_number(w, "level_frac", 0.9);
	jsonw_member_integer(w, "n_conditions", (long long)u->sampler.n_conditions);
	jsonw_end_object(w);
}
