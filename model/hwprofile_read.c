/* SPDX-License-Identifier: GPL-3.0-or-later
 * Profiles from JSON. Every key is known, every number within its range, and what is wrong is said with its place. */
#include "model/hwprofile.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/base/json.h"

/* What every reading step needs. */
struct reader {
	struct hwprofile *hw;
	const struct json_doc *doc;
	struct arena *arena;
	struct err *err;
};

static double *number_at(struct hwprofile *hw, size_t offset)
{
	return (double *)(void *)((char *)hw + offset);
}

static struct curve *curve_at(struct hwprofile *hw, size_t offset)
{
	return (struct curve *)(void *)((char *)hw + offset);
}

/* ---- texts */

static int optional_text(const char **text, const struct reader *r, const json_node *parent, const char *key)
{
	*text = "";
	if (!json_get(parent, key))
		return 0;
	const int rc = json_text(text, r->doc, parent, key, r->err);
	if (rc == 0)
		*text = arena_strdup(r->arena, *text);
	return rc;
}

/* Into a member of fixed size. */
static int short_text(char *to, size_t size, const struct reader *r, const json_node *parent, const char *key)
{
	const char *text;
	const int rc = json_text(&text, r->doc, parent, key, r->err);

	if (rc)
		return rc;
	if (strlen(text) >= size)
		return json_fail(r->doc, json_get(parent, key), r->err, "%zu bytes long; at most %zu would be accepted", strlen(text),
		    size - 1);
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

static int text_list(const char ***texts, size_t *n, const struct reader *r, const json_node *parent, const char *key)
{
	const json_node *array;

	*n = 0;
	if (!json_get(parent, key))
		return 0;
	int rc = json_array(&array, r->doc, parent, key, r->err);
	if (rc)
		return rc;
	*texts = arena_alloc(r->arena, json_count(array), sizeof(**texts));
	for (const json_node *item = json_first(array); item && rc == 0; item = json_next(item)) {
		const char *text;
		rc = json_text_of(&text, r->doc, item, r->err);
		if (rc == 0)
			(*texts)[(*n)++] = arena_strdup(r->arena, text);
	}
	return rc;
}

static int read_provenance(const struct reader *r, const json_node *root)
{
	static const char *const keys[] = {"tool", "date", "machine", "command", "sources", "fitted_on", "note", "complete", NULL};
	struct hw_provenance *const p = &r->hw->provenance;
	const struct {
		const char *key, **text;
	} texts[] = {
	    {"tool", &p->tool}, {"date", &p->date}, {"machine", &p->machine}, {"command", &p->command}, {"note", &p->note}};
	const json_node *const node = json_get(root, "provenance");
	int rc = node ? json_only_keys(r->doc, node, keys, r->err) : 0;

	for (size_t i = 0; rc == 0 && i < sizeof(texts) / sizeof(texts[0]); i++)
		rc = optional_text(texts[i].text, r, node, texts[i].key);
	if (rc == 0)
		rc = text_list(&p->sources, &p->n_sources, r, node, "sources");
	if (rc == 0)
		rc = text_list(&r->hw->fitted_on, &r->hw->n_fitted_on, r, node, "fitted_on");
	r->hw->complete = true;
	if (rc == 0 && json_get(node, "complete"))
		rc = json_flag(&r->hw->complete, r->doc, node, "complete", r->err);
	return rc;
}

/* ---- node */

static int read_node(const struct reader *r, const json_node *root)
{
	const char *keys[HW_N_NODE + 1] = {NULL};
	const json_node *node;
	int rc = json_object(&node, r->doc, root, "node", r->err);

	for (size_t i = 0; i < HW_N_NODE; i++)
		keys[i] = hw_node_fields[i].name;
	if (rc == 0)
		rc = json_only_keys(r->doc, node, keys, r->err);
	for (size_t i = 0; rc == 0 && i < HW_N_NODE; i++) {
		const struct hw_field *const field = &hw_node_fields[i];
		double *const value = number_at(r->hw, field->offset);
		*value = field->fallback;
		if (!isnan(field->fallback) && !json_get(node, field->name))
			continue;
		rc = json_number(value, r->doc, node, field->name, field->min, field->max, r->err);
		if (rc == 0 && *value != floor(*value))
			rc = json_fail(r->doc, json_get(node, field->name), r->err, "%.10g: a whole number is expected", *value);
	}
	return rc;
}

/* ---- values */

static int read_kind(enum hw_kind *kind, const struct reader *r, const json_node *node)
{
	const char *word;

	*kind = HW_KIND_ASSUMED;
	if (!json_get(node, "kind"))
		return 0;
	const int rc = json_text(&word, r->doc, node, "kind", r->err);
	if (rc)
		return rc;
	for (size_t i = HW_KIND_MEASURED; hw_kind_names[i]; i++) {
		if (strcmp(word, hw_kind_names[i]) == 0) {
			*kind = (enum hw_kind)i;
			return 0;
		}
	}
	return json_fail(r->doc, json_get(node, "kind"), r->err, "\"%s\": measured, fitted, datasheet or assumed would be accepted",
	    word);
}

static int read_interval(struct hw_meta *meta, const struct reader *r, const json_node *node, double value,
    const struct hw_field *field)
{
	const bool has_lo = json_get(node, "lo") != NULL, has_hi = json_get(node, "hi") != NULL;

	if (!has_lo && !has_hi)
		return 0;
	int rc = json_number(&meta->lo, r->doc, node, "lo", field->min, field->max, r->err);
	if (rc == 0)
		rc = json_number(&meta->hi, r->doc, node, "hi", field->min, field->max, r->err);
	if (rc == 0 && !(meta->lo <= value && value <= meta->hi))
		rc = json_fail(r->doc, node, r->err, "value %.10g is not between lo %.10g and hi %.10g", value, meta->lo, meta->hi);
	return rc;
}

static int read_samples(struct hw_meta *meta, const struct reader *r, const json_node *node, const struct hw_field *field)
{
	const json_node *array;

	if (!json_get(node, "samples"))
		return 0;
	int rc = json_array(&array, r->doc, node, "samples", r->err);
	if (rc)
		return rc;
	double *const samples = arena_alloc(r->arena, json_count(array), sizeof(*samples));
	for (const json_node *item = json_first(array); item && rc == 0; item = json_next(item))
		rc = json_number_of(&samples[meta->n_samples++], r->doc, item, field->min, field->max, r->err);
	meta->samples = samples;
	return rc;
}

static int read_value(const struct reader *r, const json_node *node, const struct hw_field *field, struct hw_meta *meta)
{
	static const char *const keys[] = {"value", "kind", "lo", "hi", "samples", "source", NULL};
	double *const value = number_at(r->hw, field->offset);

	if (!json_is_object(node)) {
		meta->kind = HW_KIND_ASSUMED;
		return json_number_of(value, r->doc, node, field->min, field->max, r->err);
	}
	int rc = json_only_keys(r->doc, node, keys, r->err);
	if (rc == 0)
		rc = json_number(value, r->doc, node, "value", field->min, field->max, r->err);
	if (rc == 0)
		rc = read_kind(&meta->kind, r, node);
	if (rc == 0)
		rc = read_interval(meta, r, node, *value, field);
	if (rc == 0)
		rc = read_samples(meta, r, node, field);
	return rc ? rc : optional_text(&meta->source, r, node, "source");
}

static struct hw_meta *new_meta(const struct reader *r, size_t n)
{
	struct hw_meta *const meta = arena_alloc(r->arena, n, sizeof(*meta));

	for (size_t i = 0; i < n; i++)
		meta[i] = (struct hw_meta){.kind = HW_KIND_DEFAULT, .lo = NAN, .hi = NAN, .source = ""};
	return meta;
}

static int read_values(const struct reader *r, const json_node *root)
{
	const char *keys[HW_N_VALUES + 1] = {NULL};
	const json_node *values;
	struct hw_meta *const meta = new_meta(r, HW_N_VALUES);
	int rc = json_object(&values, r->doc, root, "values", r->err);

	r->hw->value_meta = meta;
	for (size_t i = 0; i < HW_N_VALUES; i++)
		keys[i] = hw_value_fields[i].name;
	if (rc == 0)
		rc = json_only_keys(r->doc, values, keys, r->err);
	for (size_t i = 0; rc == 0 && i < HW_N_VALUES; i++) {
		const struct hw_field *const field = &hw_value_fields[i];
		const json_node *const node = json_get(values, field->name);
		*number_at(r->hw, field->offset) = field->fallback;
		if (node)
			rc = read_value(r, node, field, &meta[i]);
		else if (isnan(field->fallback))
			rc = json_fail(r->doc, values, r->err, "\"%s\" is missing: %s", field->name, field->text);
	}
	return rc;
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
		rc = json_fail(r->doc, point, r->err, "x = %.10g after %.10g; x must increase", curve->x[i], curve->x[i - 1]);
	curve->n_points++;
	return rc;
}

static int read_curve(struct curve *curve, const struct reader *r, const json_node *node, struct hw_meta *meta)
{
	static const char *const keys[] = {"kind", "source", "points", NULL};
	const json_node *points;
	int rc = json_only_keys(r->doc, node, keys, r->err);

	if (rc == 0)
		rc = read_kind(&meta->kind, r, node);
	if (rc == 0)
		rc = optional_text(&meta->source, r, node, "source");
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

/* Curves that a file may leave out. */
static void fill_curves(struct hwprofile *hw)
{
	if (hw->cpu_adam_fused.n_points == 0)
		hw->cpu_adam_fused = hw->cpu_adam;
	if (hw->cpu_unscale.n_points == 0) {
		hw->cpu_unscale = hw->cpu_adam; /* as memory-bound as Adam: 28 bytes a parameter there, 8 here */
		curve_scale(&hw->cpu_unscale, 28.0 / 8.0);
	}
}

static int read_curves(const struct reader *r, const json_node *root)
{
	const char *keys[HW_N_CURVES + 1] = {NULL};
	const json_node *curves;
	struct hw_meta *const meta = new_meta(r, HW_N_CURVES);
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
			rc = json_fail(r->doc, curves, r->err, "\"%s\" is missing: %s", field->name, field->text);
	}
	if (rc == 0)
		fill_curves(r->hw);
	return rc;
}

/* ---- contention grid */

static int read_activity(char *to, const struct reader *r, const json_node *cell, const char *key)
{
	static const char *const activities[] = {"cpu_adam", "cpu_downscale", "h2d", "d2h", "duplex", "gemm", "spin", NULL};
	const int rc = short_text(to, sizeof(((struct hw_corun *)0)->first), r, cell, key);

	if (rc)
		return rc;
	for (size_t i = 0; activities[i]; i++)
		if (strcmp(to, activities[i]) == 0)
			return 0;
	return json_fail(r->doc, json_get(cell, key), r->err,
	    "\"%s\": cpu_adam, cpu_downscale, h2d, d2h, duplex, gemm or spin would be accepted", to);
}

static int read_cell(struct hw_corun *cell, const struct reader *r, const json_node *node)
{
	static const char *const keys[] = {"first", "second", "first_threads", "second_threads", "first_alone", "first_together",
	    "second_alone", "second_together", NULL};
	double *const numbers[] = {&cell->first_threads, &cell->second_threads, &cell->first_alone, &cell->first_together,
	    &cell->second_alone, &cell->second_together};
	int rc = json_only_keys(r->doc, node, keys, r->err);

	if (rc == 0)
		rc = read_activity(cell->first, r, node, keys[0]);
	if (rc == 0)
		rc = read_activity(cell->second, r, node, keys[1]);
	for (size_t i = 0; rc == 0 && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const bool is_threads = i < 2; /* optional: 0 for copies */
		if (!is_threads || json_get(node, keys[i + 2]))
			rc = json_number(numbers[i], r->doc, node, keys[i + 2], 0, is_threads ? 4096 : 1e18, r->err);
	}
	return rc;
}

static int read_corun(const struct reader *r, const json_node *root)
{
	const json_node *cells;

	if (!json_get(root, "corun"))
		return 0;
	int rc = json_array(&cells, r->doc, root, "corun", r->err);
	if (rc == 0 && json_count(cells) > HW_CORUN_MAX)
		rc = json_fail(r->doc, cells, r->err, "%zu cells; at most %d would be accepted", json_count(cells), (int)HW_CORUN_MAX);
	for (const json_node *cell = rc ? NULL : json_first(cells); cell && rc == 0; cell = json_next(cell))
		rc = read_cell(&r->hw->corun[r->hw->n_corun++], r, cell);
	return rc;
}

/* ---- the whole */

static int read_head(const struct reader *r, const json_node *root)
{
	static const char *const keys[] = {"schema", "name", "summary", "provenance", "node", "values", "curves", "corun", NULL};
	static const char schema[] = "dos-hwprofile/1";
	const char *text;

	if (!json_is_object(root))
		return json_fail(r->doc, root, r->err, "an object is expected, with \"schema\": \"%s\"", schema);
	int rc = json_text(&text, r->doc, root, "schema", r->err); /* first: another kind of file says so */
	if (rc == 0 && strcmp(text, schema) != 0)
		rc = json_fail(r->doc, json_get(root, "schema"), r->err, "\"%s\": \"%s\" would be accepted", text, schema);
	if (rc == 0)
		rc = json_only_keys(r->doc, root, keys, r->err);
	if (rc == 0)
		rc = short_text(r->hw->name, sizeof(r->hw->name), r, root, "name");
	if (rc == 0 && r->hw->name[0] == '\0')
		rc = json_fail(r->doc, json_get(root, "name"), r->err, "is empty; a name is expected");
	if (rc == 0 && json_get(root, "summary"))
		rc = short_text(r->hw->summary, sizeof(r->hw->summary), r, root, "summary");
	return rc;
}

static int read_doc(struct hwprofile *hw, const struct json_doc *doc, struct arena *arena, struct err *err)
{
	const struct reader r = {.hw = hw, .doc = doc, .arena = arena, .err = err};
	static int (*const steps[])(const struct reader *, const json_node *) = {
	    read_head, read_provenance, read_node, read_values, read_curves, read_corun};
	int rc = 0;

	memset(hw, 0, sizeof(*hw));
	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		rc = steps[i](&r, json_root(doc));
	if (rc == 0)
		rc = hwprofile_check(hw, json_name(doc), err);
	if (rc == 0)
		hwprofile_rehash(hw);
	return rc;
}

int hwprofile_load(struct hwprofile *hw, const char *path, struct arena *arena, struct err *err)
{
	struct json_doc *doc;
	int rc = hwprofile_is_file(path) ? 0 : hwprofile_find(&path, path, arena, err);

	if (rc == 0)
		rc = json_open(&doc, path, err);
	if (rc)
		return rc;
	rc = read_doc(hw, doc, arena, err);
	json_close(doc);
	return rc;
}

int hwprofile_parse(struct hwprofile *hw, const char *name, const char *text, size_t n_bytes, struct arena *arena,
    struct err *err)
{
	struct json_doc *doc;
	int rc = json_parse(&doc, name, text, n_bytes, err);

	if (rc)
		return rc;
	rc = read_doc(hw, doc, arena, err);
	json_close(doc);
	return rc;
}
