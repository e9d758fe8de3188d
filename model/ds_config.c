/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/ds_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/file_text.h"
#include "model/ds_keys.h"

struct field {
	const char *path;
	enum ds_kind kind;
	double least, most, fallback;
	size_t offset; /* of a struct ds_value */
};

static const struct field fields[] = {
#define DS_FIELD(member, path, kind, least, most, fallback) \
	{path, kind, least, most, fallback, offsetof(struct ds_config, member)},
    DS_VALUES(DS_FIELD)
#undef DS_FIELD
};
enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]), KEY_MAX = 64 };

struct reader {
	const struct json_doc *doc;
	struct arena *arena;
	struct err *err;
};

/* ---- nodes by path */

/* The member at "a/b/c"; NULL when any step is missing or null. */
static const json_node *node_at(const json_node *node, const char *path)
{
	char key[KEY_MAX];

	while (node && *path) {
		const size_t length = strcspn(path, "/");
		memcpy(key, path, length);
		key[length] = '\0';
		node = json_get(node, key);
		path += length + (path[length] == '/');
	}
	return node && !json_is_null(node) ? node : NULL;
}

static bool is_word(const json_node *node, const char *word, const struct reader *r)
{
	struct err ignored = {0};
	const char *text;

	return json_is_string(node) && json_text_of(&text, r->doc, node, &ignored) == 0 && strcmp(text, word) == 0;
}

/* ---- values */

static int read_flag(double *value, const struct reader *r, const json_node *node)
{
	struct err ignored = {0};
	double number;

	if (json_is_bool(node)) {
		*value = json_is_true(node);
		return 0;
	}
	if (json_number_of(&number, r->doc, node, 0, 1, &ignored) || (number != 0 && number != 1))
		return json_fail(r->doc, node, r->err, "true, false, 1, 0 or \"auto\" would be accepted");
	*value = number;
	return 0;
}

static int read_field(struct ds_config *config, const struct field *field, const struct reader *r)
{
	struct ds_value *const value = (struct ds_value *)((char *)config + field->offset);
	const json_node *const node = node_at(json_root(r->doc), field->path);

	*value = (struct ds_value){.value = field->fallback};
	if (!node)
		return 0;
	value->is_auto = is_word(node, "auto", r);
	if (value->is_auto)
		return 0;
	value->is_given = true;
	if (field->kind == DS_FLAG)
		return read_flag(&value->value, r, node);
	if (!json_is_number(node))
		return json_fail(r->doc, node, r->err, "a number or \"auto\" would be accepted");
	if (json_number_of(&value->value, r->doc, node, field->least, field->most, r->err))
		return r->err->code;
	if (field->kind == DS_COUNT && value->value != floor(value->value))
		return json_fail(r->doc, node, r->err, "%.15g: a whole number is expected", value->value);
	return 0;
}

static int read_device(enum ds_device *device, const char *path, const struct reader *r)
{
	static const char *const words[] = {"none", "cpu", "nvme", NULL};
	const json_node *const node = node_at(json_root(r->doc), path);

	*device = DS_DEVICE_NONE;
	for (size_t i = 0; node && words[i]; i++)
		if (is_word(node, words[i], r)) {
			*device = (enum ds_device)i;
			return 0;
		}
	return node ? json_fail(r->doc, node, r->err, "\"none\", \"cpu\" or \"nvme\" would be accepted") : 0;
}

/* ---- unknown keys */

static bool is_one_of(const char *key, const char *const keys[])
{
	for (; *keys; keys++)
		if (strcmp(key, *keys) == 0)
			return true;
	return false;
}

static void list_unknown(struct ds_config *config, const struct ds_object *object, const struct reader *r)
{
	const json_node *const node = node_at(json_root(r->doc), object->path);
	size_t capacity = 0;

	if (!json_is_object(node))
		return;
	struct ds_unknown *const list = arena_alloc(r->arena, config->n_unknown + json_count(node), sizeof(*list));
	for (; capacity < config->n_unknown; capacity++)
		list[capacity] = config->unknown[capacity];
	config->unknown = list;
	for (const json_node *child = json_first(node); child; child = json_next(child)) {
		const char *const key = json_key(child);
		if (is_one_of(key, object->keys) || key[0] == '_') /* "_comment" */
			continue;
		list[config->n_unknown++] =
		    (struct ds_unknown){arena_printf(r->arena, "%s%s/%s", *object->path ? "/" : "", object->path, key),
			err_nearest(key, object->keys)};
	}
}

/* ---- the whole */

/* Keys of older versions stand for the newer ones. */
static void apply_legacy(struct ds_config *config, const json_node *root)
{
	if (config->legacy_optimizer.value == 1 && config->optimizer_device == DS_DEVICE_NONE)
		config->optimizer_device = DS_DEVICE_CPU;
	if ((config->legacy_param.value == 1 || config->legacy_params.value == 1) && config->param_device == DS_DEVICE_NONE)
		config->param_device = DS_DEVICE_CPU;
	if (config->legacy_pin.is_given && !config->pin.is_given)
		config->pin = config->legacy_pin;
	const json_node *const zero = json_get(root, "zero_optimization");
	config->is_oldest = json_is_bool(zero);
	if (config->is_oldest)
		config->stage = (struct ds_value){.value = json_is_true(zero), .is_given = true};
	const json_node *const bfloat16 = node_at(root, "bfloat16/enabled");
	if (json_is_bool(bfloat16) && !config->bf16.is_given)
		config->bf16 = (struct ds_value){.value = json_is_true(bfloat16), .is_given = true};
}

static int check_objects(const struct reader *r)
{
	for (const struct ds_object *object = ds_objects; object->path; object++) {
		const json_node *const node = node_at(json_root(r->doc), object->path);
		const bool is_old = strcmp(object->path, "zero_optimization") == 0 && json_is_bool(node);
		if (node && !json_is_object(node) && !is_old)
			return json_fail(r->doc, node, r->err, "an object is expected");
	}
	return json_is_object(json_root(r->doc)) ? 0
						 : json_fail(r->doc, json_root(r->doc), r->err, "an object is expected");
}

bool ds_config_is(const json_node *root)
{
	static const char *const keys[] = {"zero_optimization", "train_batch_size", "train_micro_batch_size_per_gpu",
	    "gradient_accumulation_steps", "bf16", "fp16", "optimizer", NULL};

	for (size_t i = 0; keys[i]; i++)
		if (json_get(root, keys[i]))
			return true;
	return false;
}

int ds_config_read(struct ds_config *config, const struct json_doc *doc, struct arena *arena, struct err *err)
{
	const struct reader r = {.doc = doc, .arena = arena, .err = err};

	*config = (struct ds_config){0};
	if (check_objects(&r))
		return err->code;
	for (size_t i = 0; i < N_FIELDS; i++)
		if (read_field(config, &fields[i], &r))
			return err->code;
	if (read_device(&config->optimizer_device, DS_OPT "device", &r) ||
	    read_device(&config->param_device, DS_PARAM "device", &r))
		return err->code;
	config->has_optimizer_object = node_at(json_root(doc), DS_ZERO "offload_optimizer") != NULL;
	config->has_zenflow = json_is_object(node_at(json_root(doc), DS_ZERO "zenflow"));
	apply_legacy(config, json_root(doc));
	if (!config->overlap_comm.is_given)
		config->overlap_comm.value = config->stage.value == 3;
	for (const struct ds_object *object = ds_objects; object->path; object++)
		list_unknown(config, object, &r);
	return 0;
}

int ds_config_parse(
    struct ds_config *config, const char *name, const char *text, size_t n_bytes, struct arena *arena, struct err *err)
{
	struct json_relaxed relaxed;
	struct json_doc *doc;
	char *const copy = arena_alloc(arena, n_bytes + 1, 1);

	memcpy(copy, text, n_bytes);
	json_relax(&relaxed, copy, n_bytes);
	int rc = json_parse(&doc, name, copy, n_bytes, err);
	if (rc)
		return rc;
	rc = ds_config_read(config, doc, arena, err);
	config->relaxed = relaxed;
	json_close(doc);
	return rc;
}

int ds_config_load(struct ds_config *config, const char *path, struct arena *arena, struct err *err)
{
	char *text;
	size_t n_bytes;
	int rc = file_text_load(&text, &n_bytes, path, err);

	if (rc == 0)
		rc = ds_config_parse(config, file_text_name(path), text, n_bytes, arena, err);
	free(text);
	return rc;
}
