/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/json.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/base/arena.h"
#include "model/base/file_text.h"

enum { PATH_MAX_BYTES = 256 };

struct json_doc {
	cJSON *root;
	char *name;
};

/* ---- paths: found by search from the root, since a node does not know its parent; only errors pay for it */

static size_t append_step(char *path, size_t used, const cJSON *node, size_t index)
{
	const size_t room = PATH_MAX_BYTES - used;
	const int n = node->string ? snprintf(path + used, room, "/%s", node->string) : snprintf(path + used, room, "/%zu", index);

	return (size_t)n < room ? used + (size_t)n : PATH_MAX_BYTES - 1;
}

/* Writes the path of `target` below `node` at path + used; false (and path cut back) when it is not there. */
static bool find_path(char path[PATH_MAX_BYTES], size_t used, const cJSON *node, const cJSON *target)
{
	size_t index = 0;

	if (node == target)
		return true;
	for (const cJSON *child = node->child; child; child = child->next) {
		if (find_path(path, append_step(path, used, child, index++), child, target))
			return true;
		path[used] = '\0';
	}
	return false;
}

static void path_of(char path[PATH_MAX_BYTES], const struct json_doc *doc, const cJSON *node)
{
	path[0] = '\0';
	if (node)
		find_path(path, 0, doc->root, node);
	if (path[0] == '\0')
		strcpy(path, "/");
}

int json_fail(const struct json_doc *doc, const json_node *node, struct err *err, const char *fmt, ...)
{
	char path[PATH_MAX_BYTES], text[sizeof(err->text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	path_of(path, doc, node);
	return err_set(err, STATUS_INPUT, "%s: %s: %s", doc->name, path, text);
}

/* ---- what cJSON lets through: a pass over the text (numbers, characters), then one over the tree (keys) */

static int text_fail(const char *name, const char *text, const char *where, struct err *err, const char *message)
{
	size_t line = 1, column = 1;

	for (const char *c = text; c < where; c++) {
		column = *c == '\n' ? 1 : column + 1;
		line += *c == '\n';
	}
	return err_set(err, STATUS_INPUT, "%s:%zu:%zu: %s", name, line, column, message);
}

/* End of the JSON number at c, NULL when it is none. */
static const char *number_end(const char *c)
{
	c += *c == '-';
	if (!isdigit((unsigned char)*c) || (*c == '0' && isdigit((unsigned char)c[1])))
		return NULL;
	while (isdigit((unsigned char)*c))
		c++;
	if (*c == '.') {
		if (!isdigit((unsigned char)*++c))
			return NULL;
		while (isdigit((unsigned char)*c))
			c++;
	}
	if (*c == 'e' || *c == 'E') {
		c += 1 + (c[1] == '+' || c[1] == '-');
		if (!isdigit((unsigned char)*c))
			return NULL;
		while (isdigit((unsigned char)*c))
			c++;
	}
	return c;
}

/* c is at the opening quote; *end after the closing one. Gives a message, or NULL when the string is fine so far. */
static const char *check_string(const char *c, const char **end)
{
	for (c++; *c != '"'; c++) {
		*end = c;
		if (*c == '\0')
			return "a string does not end";
		if ((unsigned char)*c < ' ')
			return "control characters in a string must be escaped";
		if (strncmp(c, "\\u0000", 6) == 0)
			return "\\u0000 is not accepted in a string";
		if (*c == '\\' && *++c == '\0')
			return "a string does not end";
	}
	*end = c + 1;
	return NULL;
}

static const char *check_number(const char *c, const char **end)
{
	*end = number_end(c);
	if (!*end) {
		*end = c;
		return "this is not a number of JSON (01, .5 and 1. are not)";
	}
	if (!isfinite(strtod(c, NULL))) {
		*end = c;
		return "this number is too large";
	}
	return NULL;
}

/* Length of what other writers have for no finite number, such as NaN and -Infinity; 0: none is at c. */
static size_t non_finite_length(const char *c)
{
	static const char *const words[] = {"nan", "infinity", "inf"};
	const size_t n_sign = *c == '-' || *c == '+';

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t n = strlen(words[i]);
		if (strncasecmp(c + n_sign, words[i], n) == 0 && !isalnum((unsigned char)c[n_sign + n]))
			return n_sign + n;
	}
	return 0;
}

enum { STEPS_MAX = 32 };

/* Where a text is; only errors pay for it. */
struct text_path {
	struct {
		const char *key; /* NULL: an array, or no key yet */
		size_t n_key, index;
	} steps[STEPS_MAX];
	size_t depth; /* may be more than STEPS_MAX: what is below has no path */
};

/* Of what is at `where`, from the text alone, which need not be JSON after it. */
static void text_path_find(struct text_path *path, const char *text, const char *where)
{
	const char *string = NULL, *string_end = NULL, *end;

	path->depth = 0;
	for (const char *c = text; c < where; c = end) {
		const size_t at = path->depth - 1;
		end = c + 1;
		if (*c == '"' && !check_string(c, &end)) {
			string = c + 1;
			string_end = end - 1;
		} else if (*c == '{' || *c == '[') {
			if (path->depth++ < STEPS_MAX)
				memset(&path->steps[path->depth - 1], 0, sizeof(path->steps[0]));
		} else if ((*c == '}' || *c == ']') && path->depth > 0) {
			path->depth--;
		} else if (*c == ',' && at < STEPS_MAX) {
			path->steps[at].index++;
			path->steps[at].key = NULL;
		} else if (*c == ':' && at < STEPS_MAX && string) {
			path->steps[at].key = string;
			path->steps[at].n_key = (size_t)(string_end - string);
		}
	}
}

/* Steps that have no room are "/..". */
static void text_path_print(char text[PATH_MAX_BYTES], const struct text_path *path)
{
	static const char more[] = "/..";
	size_t used = 0;

	strcpy(text, "/");
	for (size_t i = 0; i < path->depth; i++) {
		const size_t room = PATH_MAX_BYTES - sizeof(more) - used;
		int n = (int)room;
		if (i < STEPS_MAX && path->steps[i].key)
			n = snprintf(text + used, room, "/%.*s", (int)path->steps[i].n_key, path->steps[i].key);
		else if (i < STEPS_MAX)
			n = snprintf(text + used, room, "/%zu", path->steps[i].index);
		if ((size_t)n >= room) {
			strcpy(text + used, more);
			return;
		}
		used += (size_t)n;
	}
}

static int non_finite_fail(const char *name, const char *text, const char *where, size_t n, struct err *err)
{
	struct text_path path;
	char place[PATH_MAX_BYTES], message[PATH_MAX_BYTES + 100];

	text_path_find(&path, text, where);
	text_path_print(place, &path);
	snprintf(message, sizeof(message), "%s: JSON has no %.*s; a finite number would be accepted", place, (int)n, where);
	return text_fail(name, text, where, err, message);
}

static int check_text(const char *name, const char *text, struct err *err)
{
	for (const char *c = text; *c;) {
		const char *message = NULL, *end = c + 1;
		const size_t n_word = strchr("+-nNiI", *c) ? non_finite_length(c) : 0;
		if (n_word > 0)
			return non_finite_fail(name, text, c, n_word, err);
		if (*c == '"')
			message = check_string(c, &end);
		else if (*c == '-' || isdigit((unsigned char)*c))
			message = check_number(c, &end);
		else if ((unsigned char)*c < ' ' && !strchr("\t\n\r", *c))
			message = "unexpected control character";
		if (message)
			return text_fail(name, text, end, err, message);
		c = end;
	}
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp((*(cJSON *const *)a)->string, (*(cJSON *const *)b)->string);
}

static int check_keys_here(const struct json_doc *doc, const cJSON *object, struct err *err)
{
	const size_t n = json_count(object);
	const cJSON **const members = xmalloc(n, sizeof(*members));
	size_t i = 0;
	int rc = 0;

	for (const cJSON *child = object->child; child; child = child->next)
		members[i++] = child;
	qsort(members, n, sizeof(*members), compare_keys);
	for (i = 1; i < n && rc == 0; i++)
		if (strcmp(members[i - 1]->string, members[i]->string) == 0)
			rc = json_fail(doc, members[i], err, "this key stands twice in the same object");
	free(members);
	return rc;
}

/* Depth is bounded by cJSON's nesting limit. */
static int check_keys(const struct json_doc *doc, const cJSON *node, struct err *err)
{
	int rc = cJSON_IsObject(node) ? check_keys_here(doc, node, err) : 0;

	for (const cJSON *child = node->child; child && rc == 0; child = child->next)
		rc = check_keys(doc, child, err);
	return rc;
}

/* ---- open and close */

/* text is NUL-terminated at n_bytes. */
static int parse_text(struct json_doc **doc, const char *name, const char *text, size_t n_bytes, struct err *err)
{
	const char *end = NULL;
	const size_t length = strlen(text);

	*doc = NULL;
	if (length != n_bytes)
		return text_fail(name, text, text + length, err, "a NUL byte is not JSON");
	int rc = check_text(name, text, err);
	if (rc)
		return rc;
	cJSON *const root = cJSON_ParseWithOpts(text, &end, true);
	if (!root)
		return text_fail(name, text, end ? end : text, err, n_bytes ? "JSON syntax error" : "empty, JSON expected");
	struct json_doc *const parsed = xmalloc(1, sizeof(*parsed));
	*parsed = (struct json_doc){.root = root, .name = xstrdup(name)};
	rc = check_keys(parsed, root, err);
	if (rc) {
		json_close(parsed);
		return rc;
	}
	*doc = parsed;
	return 0;
}

int json_parse(struct json_doc **doc, const char *name, const char *text, size_t n_bytes, struct err *err)
{
	char *const copy = xmalloc(n_bytes + 1, 1);

	memcpy(copy, text, n_bytes);
	copy[n_bytes] = '\0';
	const int rc = parse_text(doc, name, copy, n_bytes, err);
	free(copy);
	return rc;
}

int json_open(struct json_doc **doc, const char *path, struct err *err)
{
	char *text;
	size_t n_bytes;

	*doc = NULL;
	int rc = file_text_load(&text, &n_bytes, path, err);
	if (rc == 0)
		rc = parse_text(doc, file_text_name(path), text, n_bytes, err);
	free(text);
	return rc;
}

void json_close(struct json_doc *doc)
{
	if (!doc)
		return;
	cJSON_Delete(doc->root);
	free(doc->name);
	free(doc);
}

const json_node *json_root(const struct json_doc *doc)
{
	return doc->root;
}

const char *json_name(const struct json_doc *doc)
{
	return doc->name;
}
