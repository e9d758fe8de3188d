/* SPDX-License-Identifier: GPL-3.0-or-later
 * The reading half of json.h: nodes and their values. */
#include "model/base/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const json_node *json_get(const json_node *node, const char *key)
{
	return cJSON_IsObject(node) ? cJSON_GetObjectItemCaseSensitive(node, key) : NULL;
}

const json_node *json_at(const json_node *node, size_t index)
{
	const json_node *child = cJSON_IsArray(node) ? node->child : NULL;

	while (child && index--)
		child = child->next;
	return child;
}

size_t json_count(const json_node *node)
{
	size_t n = 0;

	for (const json_node *child = json_first(node); child; child = child->next)
		n++;
	return n;
}

const char *json_key(const json_node *node)
{
	return node ? node->string : NULL;
}

const json_node *json_first(const json_node *node)
{
	return node ? node->child : NULL;
}

const json_node *json_next(const json_node *node)
{
	return node->next;
}

bool json_is_object(const json_node *node)
{
	return cJSON_IsObject(node);
}

bool json_is_array(const json_node *node)
{
	return cJSON_IsArray(node);
}

bool json_is_string(const json_node *node)
{
	return cJSON_IsString(node);
}

bool json_is_number(const json_node *node)
{
	return cJSON_IsNumber(node);
}

bool json_is_bool(const json_node *node)
{
	return cJSON_IsBool(node);
}

bool json_is_true(const json_node *node)
{
	return cJSON_IsTrue(node);
}

bool json_is_null(const json_node *node)
{
	return cJSON_IsNull(node);
}

static const char *kind_of(const json_node *node)
{
	if (cJSON_IsObject(node))
		return "an object";
	if (cJSON_IsArray(node))
		return "an array";
	if (cJSON_IsString(node))
		return "a string";
	if (cJSON_IsNumber(node))
		return "a number";
	return cJSON_IsBool(node) ? "true or false" : "null";
}

/* The member `key` if `fits` it; else the message "missing" or "is an array", with what is expected. */
static int member(const json_node **node, const struct json_doc *doc, const json_node *parent, const char *key,
    bool (*fits)(const json_node *), const char *expected, struct err *err)
{
	*node = json_get(parent, key);
	if (!*node)
		return json_fail(doc, parent, err, "\"%s\" is missing; %s is expected", key, expected);
	if (!fits(*node))
		return json_fail(doc, *node, err, "%s is expected, this is %s", expected, kind_of(*node));
	return 0;
}

int json_number_of(double *value, const struct json_doc *doc, const json_node *node, double min, double max, struct err *err)
{
	if (!node || !cJSON_IsNumber(node))
		return json_fail(doc, node, err, "a number is expected, this is %s", node ? kind_of(node) : "missing");
	const double number = node->valuedouble; /* never valueint, which saturates at 2^31 - 1 */
	if (number < min && max == INFINITY)
		return json_fail(doc, node, err, "%.17g is too small; at least %.10g would be accepted", number, min);
	if (number > max && min == -INFINITY)
		return json_fail(doc, node, err, "%.17g is too large; at most %.10g would be accepted", number, max);
	if (!(number >= min && number <= max))
		return json_fail(doc, node, err, "%.17g is outside %.10g .. %.10g", number, min, max);
	*value = number;
	return 0;
}

int json_text_of(const char **text, const struct json_doc *doc, const json_node *node, struct err *err)
{
	if (!cJSON_IsString(node))
		return json_fail(doc, node, err, "a string is expected, this is %s", node ? kind_of(node) : "missing");
	*text = node->valuestring;
	return 0;
}

int json_number(double *value, const struct json_doc *doc, const json_node *parent, const char *key, double min, double max,
    struct err *err)
{
	const json_node *node;
	const int rc = member(&node, doc, parent, key, json_is_number, "a number", err);

	return rc ? rc : json_number_of(value, doc, node, min, max, err);
}

int json_text(const char **text, const struct json_doc *doc, const json_node *parent, const char *key, struct err *err)
{
	const json_node *node;
	const int rc = member(&node, doc, parent, key, json_is_string, "a string", err);

	if (rc == 0)
		*text = node->valuestring;
	return rc;
}

int json_flag(bool *flag, const struct json_doc *doc, const json_node *parent, const char *key, struct err *err)
{
	const json_node *node;
	const int rc = member(&node, doc, parent, key, json_is_bool, "true or false", err);

	if (rc == 0)
		*flag = cJSON_IsTrue(node);
	return rc;
}

int json_object(const json_node **node, const struct json_doc *doc, const json_node *parent, const char *key,
    struct err *err)
{
	return member(node, doc, parent, key, json_is_object, "an object", err);
}

int json_array(const json_node **node, const struct json_doc *doc, const json_node *parent, const char *key, struct err *err)
{
	return member(node, doc, parent, key, json_is_array, "an array", err);
}

static bool is_one_of(const char *key, const char *const keys[])
{
	for (; *keys; keys++)
		if (strcmp(key, *keys) == 0)
			return true;
	return strcmp(key, "extra") == 0;
}

/* "a, b, c" of the keys, cut where the room ends */
static void list_keys(char *text, size_t size, const char *const keys[])
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; keys[i] && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", keys[i]);
}

int json_only_keys(const struct json_doc *doc, const json_node *object, const char *const keys[], struct err *err)
{
	char accepted[400];

	if (!cJSON_IsObject(object))
		return json_fail(doc, object, err, "an object is expected");
	for (const json_node *child = object->child; child; child = child->next) {
		if (is_one_of(child->string, keys))
			continue;
		const char *const nearest = err_nearest(child->string, keys);
		if (nearest)
			return json_fail(doc, child, err, "unknown key; did you mean \"%s\"?", nearest);
		list_keys(accepted, sizeof(accepted), keys);
		return json_fail(doc, child, err, "unknown key; accepted: %s", accepted);
	}
	return 0;
}
