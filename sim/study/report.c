/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report_css.h"
#include "report_js.h"
#include "sim/study/report_parts.h"

/* What the table has in columns of its own, or what a whole column would repeat. */
static const char *const axes[] = {"hw", "model", "stride", "ratio", "fraction", "gpus", "nodes", "zero", "tp", "mbs", "grad-accum", "seq", "subgroup",
    "threads", "contention", "scale", NULL};

/* ---- quoting */

const char *report_shell_word(const char *word, struct arena *arena)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@";
	char *const quoted = arena_alloc(arena, 4 * strlen(word) + 3, 1);
	char *to = quoted;

	if (*word && word[strspn(word, plain)] == '\0')
		return word;
	*to++ = '\'';
	for (; *word; word++)
		to = *word == '\'' ? stpcpy(to, "'\\''") : (*to = *word, to + 1);
	strcpy(to, "'");
	return quoted;
}

const char *report_command_line(int argc, char **argv, struct arena *arena)
{
	const char *text = "dos";

	for (int i = 0; i < argc; i++)
		text = arena_printf(arena, "%s %s", text, report_shell_word(argv[i], arena));
	return text;
}

const char *report_sql_text(const char *text, struct arena *arena)
{
	char *const quoted = arena_alloc(arena, 2 * strlen(text) + 3, 1);
	char *to = quoted;

	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			*to++ = '\'';
		*to++ = *text;
	}
	strcpy(to, "'");
	return quoted;
}

/* ---- labels */

/* "dos chain=duplex": the policy first, also where all runs have the same. */
static void make_labels(struct plot_rows *rows, struct arena *arena)
{
	plot_rows_label(rows, axes, arena);
	for (size_t i = 0; i < rows->n; i++) {
		struct plot_row *const row = &rows->rows[i];
		if (strncmp(row->label, row->policy, strlen(row->policy)) != 0)
			row->label = arena_printf(arena, "%s %s", row->policy, row->label);
	}
}

/* ---- title and date */

/* "7b, 13b and 3 more" */
static const char *list_names(const struct plot_rows *rows, size_t offset, struct arena *arena)
{
	enum { N_SHOWN = 4, N_KNOWN = 64 };
	const char *names[N_KNOWN];
	const char *text = "";
	size_t n = 0;

	for (size_t i = 0; i < rows->n && n < N_KNOWN; i++) {
		const char *const name = *(const char *const *)((const char *)&rows->rows[i] + offset);
		size_t j = 0;
		while (j < n && strcmp(names[j], name) != 0)
			j++;
		if (j == n)
			names[n++] = name;
	}
	for (size_t i = 0; i < n && i < N_SHOWN; i++)
		text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : i + 1 == n ? " and " : ", ", names[i]);
	return n > N_SHOWN ? arena_printf(arena, "%s and %zu%s more", text, n - N_SHOWN, n == N_KNOWN ? " or" : "") : text;
}

static const char *make_title(const struct report *r)
{
	if (r->input->title)
		return r->input->title;
	return arena_printf(r->arena, "Training %s on %s", list_names(&r->rows, offsetof(struct plot_row, model), r->arena),
	    list_names(&r->rows, offsetof(struct plot_row, hw), r->arena));
}

static int make_date(const char **text, struct arena *arena, struct err *err)
{
	const char *const epoch = getenv("SOURCE_DATE_EPOCH");
	time_t now = time(NULL);
	char *end = NULL;
	struct tm parts;
	char date[64];

	if (epoch && *epoch) {
		errno = 0;
		now = (time_t)strtoll(epoch, &end, 10);
		if (errno || *end || epoch[0] == '-')
			return err_set(err, STATUS_ENV, "SOURCE_DATE_EPOCH is '%s'; seconds since 1970 would be accepted", epoch);
	}
	if (!gmtime_r(&now, &parts) || strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &parts) == 0)
		return err_set(err, STATUS_ENV, "SOURCE_DATE_EPOCH is '%s', which is no date", epoch ? epoch : "");
	*text = arena_strdup(arena, date);
	return 0;
}

/* ---- the page */

static void write_head(const struct report *r, const char *title, const char *date)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '" REPORT_CSS_HASH "'; script-src '"
	      REPORT_JS_HASH "'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n", r->out);
	html_printf(r->out, "<title>%s</title>\n", title);
	fputs("<style>" REPORT_CSS "</style>\n</head>\n<body>\n", r->out);
	html_printf(r->out, "<header>\n<h1>%s</h1>\n<p>%s</p>\n", title, date);
	fputs("<nav aria-label=\"Sections\"><a href=\"#advice\">What to run</a> <a href=\"#policies\">Policies</a> ", r->out);
	fputs(r->input->given ? r->input->given->links : "", r->out);
	if (r->input->has_plots)
		fputs("<a href=\"#figures\">Figures</a> ", r->out);
	fputs(r->input->given ? "<a href=\"#all\">Alternatives</a> " : "<a href=\"#all\">All runs</a> ", r->out);
	fputs("<a href=\"#assumptions\">Assumptions</a> <a href=\"#machines\">Machines</a> "
	      "<a href=\"#provenance\">Provenance</a></nav>\n</header>\n<main>\n", r->out);
}

static int write_page(const struct report *r, struct err *err)
{
	const char *date = NULL;
	int code = make_date(&date, r->arena, err);

	if (code)
		return code;
	write_head(r, make_title(r), date);
	report_advice(r);
	report_policies(r);
	if (r->input->given)
		r->input->given->write(r->out, r->input->given->context, r->arena);
	if (r->input->has_plots)
		code = report_figures(r, err);
	report_table(r);
	if (!code)
		code = report_sources(r, err);
	fputs("</main>\n<script>" REPORT_JS "</script>\n</body>\n</html>\n", r->out);
	return code;
}

int report_write(FILE *out, struct opt_list *notes, const struct report_input *input, struct arena *arena, struct err *err)
{
	struct report report = {.input = input, .out = out, .arena = arena, .notes = notes};

	*notes = (struct opt_list){0};
	if (!input->given && plot_rows_from_db(&report.rows, input->db, input->where, "1", arena, err))
		return err->code;
	if (input->given)
		report.rows = *input->given->rows;
	make_labels(&report.rows, arena);
	report_groups_make(&report.groups, &report.rows, arena);
	const int code = report_sure(&report, err);
	return code ? code : write_page(&report, err);
}
