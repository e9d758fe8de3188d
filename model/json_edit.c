/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/json_edit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/json_relax.h"

/* Offsets into the text. */
struct member {
	size_t key, key_end; /* with quotes */
	size_t value, value_end;
};

struct object {
	size_t open, close; /* the braces */
	size_t n_members;
	struct member last, found;
	bool is_found;
};

/* ---- the text */

static void relax(struct json_edit *e)
{
	struct json_relaxed ignored;

	e->relaxed = arena_alloc(e->arena, e->n_bytes + 1, 1);
	memcpy(e->relaxed, e->text, e->n_bytes + 1);
	json_relax(&ignored, e->relaxed, e->n_bytes);
}

static void splice(struct json_edit *e, size_t at, size_t n_removed, const char *insert)
{
	const size_t n_insert = strlen(insert), n_rest = e->n_bytes - at - n_removed;
	char *const text = arena_alloc(e->arena, e->n_bytes - n_removed + n_insert + 1, 1);

	memcpy(text, e->text, at);
	memcpy(text + at, insert, n_insert);
	memcpy(text + at + n_insert, e->text + at + n_removed, n_rest + 1);
	e->text = text;
	e->n_bytes = at + n_insert + n_rest;
	relax(e);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What the first indented line is indented by. */
static const char *indent_of(const struct json_edit *e)
{
	for (const char *c = e->relaxed; (c = strchr(c, '\n')) != NULL;) {
		const size_t length = strspn(++c, " \t");
		if (length > 0 && c[length] == '"')
			return arena_printf(e->arena, "%.*s", (int)length, c);
	}
	return "  ";
}

void json_edit_init(struct json_edit *e, const char *text, size_t n_bytes, struct arena *arena)
{
	*e = (struct json_edit){.arena = arena, .n_bytes = n_bytes};
	e->text = arena_alloc(arena, n_bytes + 1, 1);
	memcpy(e->text, text, n_bytes);
	e->text[n_bytes] = '\0';
	relax(e);
	e->indent = indent_of(e);
	const char *const line_end = strchr(e->text, '\n');
	e->newline = line_end && line_end > e->text && line_end[-1] == '\r' ? "\r\n" : "\n";
}

/* ---- finding; all on the relaxed text, which is valid JSON */

static size_t skip_space(const char *text, size_t at)
{
	return at + strspn(text + at, " \t\r\n");
}

static size_t skip_string(const char *text, size_t at)
{
	for (at++; text[at] != '"'; at++)
		at += text[at] == '\\';
	return at + 1;
}

static size_t skip_value(const char *text, size_t at)
{
	size_t depth = 0;

	if (text[at] == '"')
		return skip_string(text, at);
	if (text[at] != '{' && text[at] != '[')
		return at + strcspn(text + at, ",}] \t\r\n");
	do {
		if (text[at] == '"') {
			at = skip_string(text, at);
			continue;
		}
		depth += text[at] == '{' || text[at] == '[';
		depth -= text[at] == '}' || text[at] == ']';
		at++;
	} while (depth > 0);
	return at;
}

static bool is_key(const char *text, const struct member *member, const char *key, size_t length)
{
	return member->key_end - member->key == length + 2 && memcmp(text + member->key + 1, key, length) == 0;
}

static struct object scan(const char *text, size_t open, const char *key, size_t length)
{
	struct object object = {.open = open};
	size_t at = skip_space(text, open + 1);

	assert(text[open] == '{');
	while (text[at] != '}') {
		struct member *const m = &object.last;
		m->key = at;
		m->key_end = skip_string(text, at);
		m->value = skip_space(text, skip_space(text, m->key_end) + 1);
		m->value_end = skip_value(text, m->value);
		object.n_members++;
		if (is_key(text, m, key, length)) {
			object.found = *m;
			object.is_found = true;
		}
		at = skip_space(text, m->value_end);
		if (text[at] == ',')
			at = skip_space(text, at + 1);
	}
	object.close = at;
	return object;
}

/* Only white space and a byte order mark stand before it. */
static size_t root_of(const struct json_edit *e)
{
	return strcspn(e->relaxed, "{");
}

/* ---- inserting */

/* White space before `at` on its line, when there is nothing else; NULL otherwise. */
static const char *own_indent(const struct json_edit *e, size_t at)
{
	size_t start = at;

	while (start > 0 && is_blank(e->text[start - 1]))
		start--;
	if (start == 0 || e->text[start - 1] != '\n')
		return NULL;
	return arena_printf(e->arena, "%.*s", (int)(at - start), e->text + start);
}

/* White space at the start of the line that `at` is on. */
static const char *line_indent(const struct json_edit *e, size_t at)
{
	while (at > 0 && e->text[at - 1] != '\n')
		at--;
	return arena_printf(e->arena, "%.*s", (int)strspn(e->text + at, " \t"), e->text + at);
}

/* `"a": {"b": value}` for path "a/b", on lines of their own where indent is not NULL. */
static const char *member_text(
    const struct json_edit *e, const char *path, const char *colon, const char *value, const char *indent)
{
	const size_t length = strcspn(path, "/");

	if (path[length] == '\0')
		return arena_printf(e->arena, "\"%s\"%s%s", path, colon, value);
	const char *const deeper = indent ? arena_printf(e->arena, "%s%s", indent, e->indent) : NULL;
	const char *const inner = member_text(e, path + length + 1, colon, value, deeper);
	if (!indent)
		return arena_printf(e->arena, "\"%.*s\"%s{%s}", (int)length, path, colon, inner);
	return arena_printf(
	    e->arena, "\"%.*s\"%s{%s%s%s%s%s}", (int)length, path, colon, e->newline, deeper, inner, e->newline, indent);
}

/* What stands between the key and the value of a member. */
static const char *colon_of(const struct json_edit *e, const struct member *m)
{
	const size_t length = m->value - m->key_end;

	if (length > 3 || memchr(e->text + m->key_end, '\n', length))
		return ": ";
	return arena_printf(e->arena, "%.*s", (int)length, e->text + m->key_end);
}

/* The end of the line on which `at` is, when only commas and whole comments follow there. 0: something else does. */
static size_t clean_line_end(const struct json_edit *e, size_t at, bool *has_comma)
{
	const char *const text = e->text;

	for (; text[at] != '\n'; at++) {
		if (text[at] == '#' || (text[at] == '/' && text[at + 1] == '/')) {
			at += strcspn(text + at, "\n");
			break;
		}
		if (text[at] == '/' && text[at + 1] == '*') {
			const char *const end = strstr(text + at, "*/");
			if (!end || memchr(text + at, '\n', (size_t)(end - text) - at))
				return 0;
			at = (size_t)(end - text) + 1;
		} else if (text[at] == ',') {
			*has_comma = true;
		} else if (!is_blank(text[at]) && text[at] != '\r') {
			return 0;
		}
	}
	assert(text[at] == '\n'); /* the text was parsed: a bracket follows */
	return text[at - 1] == '\r' ? at - 1 : at;
}

static void insert_after(struct json_edit *e, const struct member *last, const char *path, const char *value)
{
	const char *const indent = own_indent(e, last->key);
	const char *const member = member_text(e, path, colon_of(e, last), value, indent);
	bool has_comma = false;

	if (!indent) {
		splice(e, last->value_end, 0, arena_printf(e->arena, ", %s", member));
		return;
	}
	const size_t line_end = clean_line_end(e, last->value_end, &has_comma);
	const char *const line = arena_printf(e->arena, "%s%s%s%s", e->newline, indent, member, has_comma ? "," : "");
	if (line_end == 0) {
		splice(e, last->value_end, 0, arena_printf(e->arena, ",%s%s%s", e->newline, indent, member));
		return;
	}
	splice(e, line_end, 0, line);
	if (!has_comma)
		splice(e, last->value_end, 0, ",");
}

static void insert_first(struct json_edit *e, const struct object *object, const char *path, const char *value)
{
	const char *const outer = line_indent(e, object->open);
	const char *const indent = arena_printf(e->arena, "%s%s", outer, e->indent);
	const bool has_line = memchr(e->text + object->open, '\n', object->close - object->open) != NULL;

	splice(e, object->open + 1, 0,
	    arena_printf(e->arena, "%s%s%s%s%s", e->newline, indent, member_text(e, path, ": ", value, indent),
		has_line ? "" : e->newline, has_line ? "" : outer));
}

/* ---- setting */

static bool is_same(const char *old, size_t n_old, const char *value)
{
	char text[64], *end;

	if (n_old >= sizeof(text))
		return false;
	memcpy(text, old, n_old);
	text[n_old] = '\0';
	if (strcmp(text, value) == 0)
		return true;
	if ((strcmp(value, "true") == 0 && strcmp(text, "1") == 0) ||
	    (strcmp(value, "false") == 0 && strcmp(text, "0") == 0))
		return true;
	if ((strcmp(value, "1") == 0 && strcmp(text, "true") == 0) ||
	    (strcmp(value, "0") == 0 && strcmp(text, "false") == 0))
		return true;
	const double number = strtod(text, &end);
	return end != text && *end == '\0' && number == strtod(value, &end) && *end == '\0';
}

static void set_below(struct json_edit *e, size_t open, const char *path, const char *value)
{
	const size_t length = strcspn(path, "/");
	const struct object object = scan(e->relaxed, open, path, length);
	const struct member *const m = &object.found;

	if (!object.is_found && object.n_members > 0) {
		insert_after(e, &object.last, path, value);
	} else if (!object.is_found) {
		insert_first(e, &object, path, value);
	} else if (path[length] == '\0') {
		if (!is_same(e->relaxed + m->value, m->value_end - m->value, value))
			splice(e, m->value, m->value_end - m->value, value);
	} else if (e->relaxed[m->value] == '{') {
		set_below(e, m->value, path + length + 1, value);
	} else {
		splice(
		    e, m->key, m->value_end - m->key, member_text(e, path, colon_of(e, m), value, own_indent(e, m->key)));
	}
}

void json_edit_set(struct json_edit *e, const char *path, const char *value)
{
	set_below(e, root_of(e), path, value);
}

bool json_edit_rename(struct json_edit *e, const char *path, const char *key, const char *member, const char *value)
{
	size_t open = root_of(e);

	for (;;) {
		const size_t length = strcspn(path, "/");
		const struct object object = scan(e->relaxed, open, path, length);
		const struct member *const m = &object.found;
		if (!object.is_found || (path[length] == '/' && e->relaxed[m->value] != '{'))
			return false;
		if (path[length] == '\0') {
			const char *const to = arena_printf(e->arena, "%s/%s", key, member);
			splice(e, m->key, m->value_end - m->key,
			    member_text(e, to, colon_of(e, m), value, own_indent(e, m->key)));
			return true;
		}
		open = m->value;
		path += length + 1;
	}
}
