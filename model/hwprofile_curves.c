/* SPDX-License-Identifier: GPL-3.0-or-later
 * Curves and the contention grid of a profile, from JSON. */
#include "model/hwprofile_reader.h"

#include <string.h>

static struct curve *curve_at(struct hwprofile *hw, size_t offset)
{
	return (struct curve *)(void *)((char *)hw + offset);
}

/* ---- curves */

static int read_point(struct curve *curve, const struct reader *r, const json_node *point)
{
	const size_t i = curve->n_points;
	const double x_max = curve->kind == CURVE_THREADS ? 4096 : 1e15;

	if (!json_is_array(point) || json_count(point) != 2)
		return json_fail(r->doc, point, r->err, "a pair [x, rate] is expected");
	int rc = json_number_of(&curve->x[i], r->doc, json_at(point, 0), 1, x_max, r->err);
	if (rc == 0)
		rc = json_number_of(&curve->rate[i], r->doc, json_at(point, 1), 1, 1e18, r->err);
	if (rc == 0 && i > 0 && !(curve->x[i] > curve->x[i - 1]))
		rc = json_fail(
		    r->doc, point, r->err, "x = %.10g after %.10g; x must increase", curve->x[i], curve->x[i - 1]);
	curve->n_points++;
	return rc;
}

/* Factors on the whole curve, both or none. */
static int read_factors(struct hw_meta *meta, const struct reader *r, const json_node *node)
{
	const double factor_max = 100;

	if (!json_get(node, "lo_frac") && !json_get(node, "hi_frac"))
		return 0;
	const int rc = json_number(&meta->lo, r->doc, node, "lo_frac", 1 / factor_max, 1, r->err);
	return rc ? rc : json_number(&meta->hi, r->doc, node, "hi_frac", 1, factor_max, r->err);
}

static int read_curve(struct curve *curve, const struct reader *r, const json_node *node, struct hw_meta *meta)
{
	static const char *const keys[] = {"kind", "lo_frac", "hi_frac", "source", "points", NULL};
	const json_node *points;
	int rc = json_only_keys(r->doc, node, keys, r->err);

	if (rc == 0)
		rc = reader_kind(&meta->kind, r, node);
	if (rc == 0)
		rc = read_factors(meta, r, node);
	if (rc == 0)
		rc = reader_optional_text(&meta->source, r, node, "source");
	if (rc == 0)
		rc = json_array(&points, r->doc, node, "points", r->err);
	if (rc)
		return rc;
	const size_t n = json_count(points);
	if (n < 1 || n > CURVE_POINTS_MAX)
		return json_fail(r->doc, points, r->err, "%zu points; 1 to %d would be accepted", n, (int)CURVE_POINTS_MAX);
	for (const json_node *point = json_first(points); point && rc == 0; point = json_next(point))
		rc = read_point(curve, r, point);
	return rc;
}

void hwprofile_fill_curves(struct hwprofile *hw)
{
	if (hw->cpu_adam_fused.n_points == 0)
		hw->cpu_adam_fused = hw->cpu_adam;
	if (hw->cpu_unscale.n_points == 0) {
		hw->cpu_unscale = hw->cpu_adam; /* as memory-bound as Adam: 28 bytes a parameter there, 8 here */
		curve_scale(&hw->cpu_unscale, 28.0 / 8.0);
	}
}

int reader_curves(const struct reader *r, const json_node *root)
{
	const char *keys[HW_N_CURVES + 1] = {NULL};
	const json_node *curves;
	struct hw_meta *const meta = reader_new_meta(r, HW_N_CURVES);
	int rc = json_object(&curves, r->doc, root, "curves", r->err);

	r->hw->curve_meta = meta;
	for (size_t i = 0; i < HW_N_CURVES; i++)
		keys[i] = hw_curve_fields[i].name;
	if (rc == 0)
		rc = json_only_keys(r->doc, curves, keys, r->err);
	for (size_t i = 0; rc == 0 && i < HW_N_CURVES; i++) {
		const struct hw_curve_field *const field = &hw_curve_fields[i];
		const json_node *const node = json_get(curves, field->name);
		struct curve *const curve = curve_at(r->hw, field->offset);
		curve->kind = field->kind;
		if (node)
			rc = read_curve(curve, r, node, &meta[i]);
		else if (field->is_required)
			rc = json_fail(r->doc, curves, r->err, "\"%s\" is missing: %s%s", field->name, field->text, reader_why_missing(r));
	}
	if (rc == 0)
		hwprofile_fill_curves(r->hw);
	return rc;
}

/* ---- contention grid */

static int read_activity(char *to, const struct reader *r, const json_node *cell, const char *key)
{
	static const char *const activities[] = {"cpu_adam", "cpu_downscale", "h2d", "d2h", "duplex", "gemm", "spin", NULL};
	const int rc = reader_short_text(to, sizeof(((struct hw_corun *)0)->first), r, cell, key);

	if (rc)
		return rc;
	for (size_t i = 0; activities[i]; i++)
		if (strcmp(to, activities[i]) == 0)
			return 0;
	return json_fail(r->doc, json_get(cell, key), r->err,
	    "\"%s\": cpu_adam, cpu_downscale, h2d, d2h, duplex, gemm or spin would be accepted", to);
}

/* Beside others at least a thousandth of alone: what stood still, or nearly, was not measured, and would never end. */
static int read_rate(double *rate, const struct reader *r, const json_node *node, const char *key, const double *alone)
{
	return json_number(rate, r->doc, node, key, alone ? 1e-3 * *alone : 1e-6, 1e18, r->err);
}

static int read_cell(struct hw_corun *cell, const struct reader *r, const json_node *node)
{
	static const char *const keys[] = {"first", "second", "first_threads", "second_threads", "first_alone",
	    "first_together", "second_alone", "second_together", "ranks", NULL};
	double *const threads[] = {&cell->first_threads, &cell->second_threads};
	double *const rates[] = {&cell->first_alone, &cell->first_together, &cell->second_alone, &cell->second_together};
	int rc = json_only_keys(r->doc, node, keys, r->err);

	if (rc == 0)
		rc = read_activity(cell->first, r, node, keys[0]);
	if (rc == 0)
		rc = read_activity(cell->second, r, node, keys[1]);
	for (size_t i = 0; rc == 0 && i < 2; i++)
		if (json_get(node, keys[i + 2])) /* optional: 0 for copies */
			rc = json_number(threads[i], r->doc, node, keys[i + 2], 0, 4096, r->err);
	for (size_t i = 0; rc == 0 && i < 4; i++)
		rc = read_rate(rates[i], r, node, keys[i + 4], i % 2 ? rates[i - 1] : NULL);
	if (rc == 0 && json_get(node, "ranks"))
		rc = json_number(&cell->ranks, r->doc, node, "ranks", 1, 4096, r->err);
	return rc;
}

int reader_corun(const struct reader *r, const json_node *root)
{
	const json_node *cells;

	if (!json_get(root, "corun"))
		return 0;
	int rc = json_array(&cells, r->doc, root, "corun", r->err);
	if (rc == 0 && json_count(cells) > HW_CORUN_MAX)
		rc = json_fail(
		    r->doc, cells, r->err, "%zu cells; at most %d would be accepted", json_count(cells), (int)HW_CORUN_MAX);
	for (const json_node *cell = rc ? NULL : json_first(cells); cell && rc == 0; cell = json_next(cell))
		rc = read_cell(&r->hw->corun[r->hw->n_corun++], r, cell);
	return rc;
}
