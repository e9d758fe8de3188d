/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/profile_save.h"

#include <math.h>

#include "model/base/jsonw.h"

static void optional_text(struct jsonw *w, const char *key, const char *text)
{
	if (text && *text)
		jsonw_member_string(w, key, text);
}

static void texts(struct jsonw *w, const char *key, const char *const *items, size_t n)
{
	jsonw_key(w, key);
	jsonw_array(w);
	for (size_t i = 0; i < n; i++)
		jsonw_string(w, items[i]);
	jsonw_end_array(w);
}

static void save_provenance(struct jsonw *w, const struct hwprofile *hw)
{
	const struct hw_provenance *const p = &hw->provenance;

	jsonw_key(w, "provenance");
	jsonw_object(w);
	optional_text(w, "tool", p->tool);
	optional_text(w, "date", p->date);
	optional_text(w, "machine", p->machine);
	optional_text(w, "command", p->command);
	texts(w, "sources", p->sources, p->n_sources);
	texts(w, "fitted_on", hw->fitted_on, hw->n_fitted_on);
	optional_text(w, "note", p->note);
	jsonw_member_bool(w, "complete", hw->complete);
	jsonw_end_object(w);
}

static double number_at(const struct hwprofile *hw, size_t offset)
{
	return *(const double *)(const void *)((const char *)hw + offset);
}

/* All of them: a count has no kind that would say whether a file gave it. */
static void save_node(struct jsonw *w, const struct hwprofile *hw)
{
	jsonw_key(w, "node");
	jsonw_inline_object(w);
	for (size_t i = 0; i < hw_n_node_fields; i++)
		jsonw_member_number(w, hw_node_fields[i].name, number_at(hw, hw_node_fields[i].offset));
	jsonw_end_object(w);
}

static void save_value(struct jsonw *w, const struct hw_field *field, double value, const struct hw_meta *meta)
{
	jsonw_key(w, field->name);
	jsonw_inline_object(w);
	jsonw_member_number(w, "value", value);
	jsonw_member_string(w, "kind", hw_kind_names[meta->kind]);
	if (!isnan(meta->lo)) {
		jsonw_member_number(w, "lo", meta->lo);
		jsonw_member_number(w, "hi", meta->hi);
	}
	if (meta->n_samples > 0) {
		jsonw_key(w, "samples");
		jsonw_inline_array(w);
		for (size_t i = 0; i < meta->n_samples; i++)
			jsonw_number(w, meta->samples[i]);
		jsonw_end_array(w);
	}
	optional_text(w, "source", meta->source);
	jsonw_end_object(w);
}

static void save_values(struct jsonw *w, const struct hwprofile *hw)
{
	jsonw_key(w, "values");
	jsonw_object(w);
	for (size_t i = 0; i < hw_n_value_fields; i++)
		if (hw->value_meta[i].kind != HW_KIND_DEFAULT)
			save_value(w, &hw_value_fields[i], number_at(hw, hw_value_fields[i].offset), &hw->value_meta[i]);
	jsonw_end_object(w);
}

static void save_curve(struct jsonw *w, const char *name, const struct curve *curve, const struct hw_meta *meta)
{
	jsonw_key(w, name);
	jsonw_object(w);
	jsonw_member_string(w, "kind", hw_kind_names[meta->kind]);
	if (!isnan(meta->lo)) {
		jsonw_member_number(w, "lo_frac", meta->lo);
		jsonw_member_number(w, "hi_frac", meta->hi);
	}
	optional_text(w, "source", meta->source);
	jsonw_key(w, "points");
	jsonw_inline_array(w);
	for (size_t i = 0; i < curve->n_points; i++) {
		jsonw_inline_array(w);
		jsonw_number(w, curve->x[i]);
		jsonw_number(w, curve->rate[i]);
		jsonw_end_array(w);
	}
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void save_curves(struct jsonw *w, const struct hwprofile *hw)
{
	jsonw_key(w, "curves");
	jsonw_object(w);
	for (size_t i = 0; i < hw_n_curve_fields; i++) {
		const struct curve *const curve = (const struct curve *)(const void *)((const char *)hw + hw_curve_fields[i].offset);
		if (curve->n_points > 0 && hw->curve_meta[i].kind != HW_KIND_DEFAULT)
			save_curve(w, hw_curve_fields[i].name, curve, &hw->curve_meta[i]);
	}
	jsonw_end_object(w);
}

static void save_corun(struct jsonw *w, const struct hwprofile *hw)
{
	if (hw->n_corun == 0)
		return;
	jsonw_key(w, "corun");
	jsonw_array(w);
	for (size_t i = 0; i < hw->n_corun; i++) {
		const struct hw_corun *const cell = &hw->corun[i];
		jsonw_inline_object(w);
		jsonw_member_string(w, "first", cell->first);
		jsonw_member_string(w, "second", cell->second);
		jsonw_member_number(w, "first_threads", cell->first_threads);
		jsonw_member_number(w, "second_threads", cell->second_threads);
		jsonw_member_number(w, "first_alone", cell->first_alone);
		jsonw_member_number(w, "first_together", cell->first_together);
		jsonw_member_number(w, "second_alone", cell->second_alone);
		jsonw_member_number(w, "second_together", cell->second_together);
		if (cell->ranks > 1)
			jsonw_member_number(w, "ranks", cell->ranks);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void profile_save(FILE *out, const struct hwprofile *hw)
{
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_member_string(&w, "schema", "dos-hwprofile/1");
	jsonw_member_string(&w, "name", hw->name);
	optional_text(&w, "summary", hw->summary);
	save_provenance(&w, hw);
	save_node(&w, hw);
	save_values(&w, hw);
	save_curves(&w, hw);
	save_corun(&w, hw);
	jsonw_end_object(&w);
	putc('\n', out);
}
