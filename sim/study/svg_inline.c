/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/svg_inline.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "sim/study/html.h"

static const char *const elements[] = {"svg", "g", "defs", "path", "circle", "rect", "use", "text", "tspan", "polygon", "polyline", "line", NULL};
static const char *const attributes[] = {"width", "height", "viewBox", "x", "y", "x1", "x2", "y1", "y2", "r", "cx", "cy", "d", "points",
    "transform", "fill", "stroke", "color", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "stroke-opacity",
    "fill-opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "shape-rendering", "dy", "dx", "xml:space", NULL};
/* Left out with all they hold: nothing of gnuplot's that we draw needs them. */
static const char *const dropped[] = {"title", "desc", "filter", "pattern", NULL};

struct scan {
	const char *at;
	FILE *out;
	const char *prefix, *label;
	struct arena *arena;
	struct err *err;
};

static bool is_one_of(const char *word, const char *const words[])
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

static int refuse(struct scan *s, const char *what, const char *name)
{
	return err_set(s->err, STATUS_ENV, "a figure is left out: its SVG has %s '%.40s'", what, name);
}

static const char *word(struct scan *s)
{
	const char *const start = s->at;

	while (isalnum((unsigned char)*s->at) || strchr("-_:", *s->at)) {
		if (*s->at == '\0')
			break;
		s->at++;
	}
	return arena_printf(s->arena, "%.*s", (int)(s->at - start), start);
}

static void skip_spaces(struct scan *s)
{
	while (isspace((unsigned char)*s->at))
		s->at++;
}

/* Values are decoded nowhere: what is quoted stays quoted. */
static int value(struct scan *s, const char **text)
{
	skip_spaces(s);
	if (*s->at != '=')
		return refuse(s, "an attribute without a value before", s->at);
	s->at++;
	skip_spaces(s);
	const char quote = *s->at;
	const char *const end = quote == '"' || quote == '\'' ? strchr(s->at + 1, quote) : NULL;
	if (!end)
		return refuse(s, "an unquoted value", s->at);
	*text = arena_printf(s->arena, "%.*s", (int)(end - s->at - 1), s->at + 1);
	s->at = end + 1;
	if (strpbrk(*text, "<&\"'"))
		return refuse(s, "the value", *text);
	return 0;
}

static const char *without_spaces(const char *text, struct arena *arena)
{
	char *const copy = arena_strdup(arena, text);
	char *to = copy;

	for (const char *c = text; *c; c++)
		if (*c != ' ')
			*to++ = *c;
	*to = '\0';
	return copy;
}

static int write_attribute(struct scan *s, const char *name, const char *text)
{
	const bool is_reference = strcmp(name, "xlink:href") == 0 || strcmp(name, "href") == 0;

	if (strncmp(name, "xmlns", 5) == 0 || strcmp(name, "class") == 0)
		return 0; /* known to a page; of the page's style sheet alone */
	if (strcmp(name, "id") == 0)
		html_printf(s->out, " id=\"%s-%s\"", s->prefix, text);
	else if (is_reference && *text == '#')
		html_printf(s->out, " href=\"#%s-%s\"", s->prefix, text + 1);
	else if (!is_one_of(name, attributes))
		return refuse(s, "the attribute", name);
	else if (strstr(text, "url(") || strchr(text, ':'))
		return refuse(s, "the value", text);
	else
		html_printf(s->out, " %s=\"%s\"", name, strncmp(text, "rgb(", 4) == 0 ? without_spaces(text, s->arena) : text);
	return 0;
}

/* After "<name": attributes up to the end of the tag. */
static int open_tag(struct scan *s, const char *name, bool is_written)
{
	if (is_written)
		fprintf(s->out, "<%s", name);
	if (is_written && strcmp(name, "svg") == 0)
		html_printf(s->out, " role=\"img\" aria-label=\"%s\"", s->label);
	for (;;) {
		const char *text = "";
		skip_spaces(s);
		if (*s->at == '>' || strncmp(s->at, "/>", 2) == 0)
			break;
		const char *const attribute = word(s);
		if (!*attribute)
			return refuse(s, "in a tag", s->at);
		if (value(s, &text) || (is_written && write_attribute(s, attribute, text)))
			return s->err->code;
	}
	const size_t n = *s->at == '/' ? 2 : 1;
	if (is_written)
		fwrite(s->at, 1, n, s->out);
	s->at += n;
	return 0;
}

/* From "<title ..>" to behind "</title>"; what is in between is markup of the same kind. */
static int drop(struct scan *s, const char *name)
{
	if (open_tag(s, name, false))
		return s->err->code;
	if (s->at[-2] == '/')
		return 0;
	const char *const close = arena_printf(s->arena, "</%s>", name);
	const char *const end = strstr(s->at, close);
	if (!end)
		return refuse(s, "no end of", name);
	s->at = end + strlen(close);
	return 0;
}

static int element(struct scan *s)
{
	const bool is_end = s->at[1] == '/';

	s->at += 1 + is_end;
	const char *const name = word(s);
	if (!is_end && is_one_of(name, dropped))
		return drop(s, name);
	if (!is_one_of(name, elements))
		return refuse(s, "the element", name);
	if (!is_end)
		return open_tag(s, name, true);
	skip_spaces(s);
	if (*s->at++ != '>')
		return refuse(s, "an end of", name);
	fprintf(s->out, "</%s>", name);
	return 0;
}

/* The five entities of XML and numbers; others would mean something else in a page. */
static int entity(struct scan *s)
{
	static const char *const known[] = {"amp", "lt", "gt", "quot", "apos", NULL};
	const size_t n = strcspn(s->at, ";");
	const char *const name = arena_printf(s->arena, "%.*s", (int)(n < 12 ? n - 1 : 10), s->at + 1);

	if (s->at[n] != ';' || (!is_one_of(name, known) && !(name[0] == '#' && isdigit((unsigned char)name[1]))))
		return refuse(s, "the entity", name);
	fwrite(s->at, 1, n + 1, s->out);
	s->at += n + 1;
	return 0;
}

static int text(struct scan *s)
{
	const size_t n = strcspn(s->at, "<&");
	const bool is_blank = strspn(s->at, " \t\r\n") >= n;

	if (n == 0)
		return entity(s);
	if (is_blank)
		putc('\n', s->out);
	else
		html_text(s->out, arena_printf(s->arena, "%.*s", (int)n, s->at));
	s->at += n;
	return 0;
}

int svg_inline(FILE *out, const char *svg, const char *prefix, const char *label, struct arena *arena, struct err *err)
{
	struct scan s = {.at = strstr(svg, "<svg"), .out = out, .prefix = prefix, .label = label, .arena = arena, .err = err};
	int code = 0;

	if (!s.at)
		return refuse(&s, "no element", "svg");
	while (!code && *s.at)
		code = *s.at == '<' ? element(&s) : text(&s);
	return code;
}
