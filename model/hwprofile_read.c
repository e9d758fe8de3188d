/* SPDX-License-Identifier: GPL-3.0-or-later
 * Profiles from JSON. Every key is known, every number within its range, and what is wrong is said with its place. */
#include "model/hwprofile_reader.h"

#include <math.h>
#include <string.h>

static double *number_at(struct hwprofile *hw, size_t offset)
{
	return (double *)(void *)((char *)hw + offset);
}

/* ---- texts */

int reader_optional_text(const char **text, const struct reader *r, const json_node *parent, const char *key)
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
int reader_short_text(char *to, size_t size, const struct reader *r, const json_node *parent, const char *key)
{
	const char *text;
	const int rc = json_text(&text, r->doc, parent, key, r->err);

	if (rc)
		return rc;
	if (strlen(text) >= size)
		return json_fail(r->doc, json_get(parent, key), r->err, "%zu bytes long; at most %zu would be accepted",
		    strlen(text), size - 1);
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
	static const char *const keys[] = {
	    "tool", "date", "machine", "command", "sources", "fitted_on", "note", "complete", NULL};
	struct hw_provenance *const p = &r->hw->provenance;
	const struct {
		const char *key, **text;
	} texts[] = {
	    {"tool", &p->tool}, {"date", &p->date}, {"machine", &p->machine}, {"command", &p->command}, {"note", &p->note}};
	const json_node *const node = json_get(root, "provenance");
	int rc = node ? json_only_keys(r->doc, node, keys, r->err) : 0;

	for (size_t i = 0; rc == 0 && i < sizeof(texts) / sizeof(texts[0]); i++)
		rc = reader_optional_text(texts[i].text, r, node, texts[i].key);
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
			rc = json_fail(
			    r->doc, json_get(node, field->name), r->err, "%.10g: a whole number is expected", *value);
	}
	return rc;
}

/* ---- values */

int reader_kind(enum hw_kind *kind, const struct reader *r, const json_node *node)
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
	return json_fail(r->doc, json_get(node, "kind"), r->err,
	    "\"%s\": measured, fitted, datasheet or assumed would be accepted", word);
}

static int read_interval(
    struct hw_meta *meta, const struct reader *r, const json_node *node, double value, const struct hw_field *field)
{
	const bool has_lo = json_get(node, "lo") != NULL, has_hi = json_get(node, "hi") != NULL;

	if (!has_lo && !has_hi)
		return 0;
	int rc = json_number(&meta->lo, r->doc, node, "lo", field->min, field->max, r->err);
	if (rc == 0)
		rc = json_number(&meta->hi, r->doc, node, "hi", field->min, field->max, r->err);
	if (rc == 0 && !(meta->lo <= value && value <= meta->hi))
		rc = json_fail(
		    r->doc, node, r->err, "value %.10g is not between lo %.10g and hi %.10g", value, meta->lo, meta->hi);
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
		rc = reader_kind(&meta->kind, r, node);
	if (rc == 0)
		rc = read_interval(meta, r, node, *value, field);
	if (rc == 0)
		rc = read_samples(meta, r, node, field);
	return rc ? rc : reader_optional_text(&meta->source, r, node, "source");
}

const char *reader_why_missing(const struct reader *r)
{
	return r->hw->complete ? "" : " (\"complete\" is false: dos-probe saw no GPU, ran chosen cases only, or was interrupted)";
}

struct hw_meta *reader_new_meta(const struct reader *r, size_t n)
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
	struct hw_meta *const meta = reader_new_meta(r, HW_N_VALUES);
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
			rc = json_fail(r->doc, values, r->err, "\"%s\" is missing: %s%s", field->name, field->text, reader_why_missing(r));
	}
	return rc;
}

/* ---- the whole */

static int read_head(const struct reader *r, const json_node *root)
{
	static const char *const keys[] = {
	    "schema", "name", "summary", "provenance", "node", "values", "curves", "corun", NULL};
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
		rc = reader_short_text(r->hw->name, sizeof(r->hw->name), r, root, "name");
	if (rc == 0 && r->hw->name[0] == '\0')
		rc = json_fail(r->doc, json_get(root, "name"), r->err, "is empty; a name is expected");
	if (rc == 0 && json_get(root, "summary"))
		rc = reader_short_text(r->hw->summary, sizeof(r->hw->summary), r, root, "summary");
	return rc;
}

static int read_doc(struct hwprofile *hw, const struct json_doc *doc, struct arena *arena, struct err *err)
{
	const struct reader r = {.hw = hw, .doc = doc, .arena = arena, .err = err};
	static int (*const steps[])(const struct reader *, const json_node *) = {
	    read_head, read_provenance, read_node, read_values, reader_curves, reader_corun};
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

int hwprofile_parse(
    struct hwprofile *hw, const char *name, const char *text, size_t n_bytes, struct arena *arena, struct err *err)
{
	struct json_doc *doc;
	int rc = json_parse(&doc, name, text, n_bytes, err);

	if (rc)
		return rc;
	rc = read_doc(hw, doc, arena, err);
	json_close(doc);
	return rc;
}
