/* SPDX-License-Identifier: GPL-3.0-or-later
 * All runs of a report. A column that says the same of every run is one line above the table. */
#include <math.h>
#include <string.h>

#include "sim/study/report_parts.h"

#define AT(member) offsetof(struct plot_row, member)

enum kind { TEXT, NUMBER, BOUND, FITS, RATE };

/* What is known of some reports only comes when it differs. */
static const struct column {
	const char *key, *title, *unit;
	enum kind kind;
	size_t offset;
	double one; /* NUMBER: what is printed as 1 */
} columns[] = {
    {"role", "what", "", TEXT, AT(role), 1},
    {"model", "model", "", TEXT, AT(model), 1},
    {"hw", "machine", "", TEXT, AT(hw), 1},
    {"policy", "policy", "", TEXT, AT(label), 1},
    {"stride", "stride", "", NUMBER, AT(stride), 1},
    {"ratio", "ratio", "", NUMBER, AT(ratio), 1},
    {"fraction", "fraction", "", NUMBER, AT(fraction), 1},
    {"gpus", "GPUs", "", NUMBER, AT(gpus), 1},
    {"nodes", "nodes", "", NUMBER, AT(nodes), 1},
    {"zero", "ZeRO", "", NUMBER, AT(zero), 1},
    {"tp", "tensor parallel", "", NUMBER, AT(tp), 1},
    {"mbs", "micro-batch", "", NUMBER, AT(mbs), 1},
    {"grad_accum", "accumulation", "", NUMBER, AT(grad_accum), 1},
    {"seq", "tokens a sequence", "", NUMBER, AT(seq), 1},
    {"subgroup", "subgroup", "M", NUMBER, AT(subgroup), 1e6},
    {"n_subgroups", "subgroups", "", NUMBER, AT(n_subgroups), 1},
    {"threads", "threads", "", NUMBER, AT(threads), 1},
    {"checkpointing", "checkpointing", "", TEXT, AT(checkpointing), 1},
    {"scale", "scale", "", TEXT, AT(scale), 1},
    {"contention", "contention", "", TEXT, AT(contention), 1},
    {"feasible", "fits", "", FITS, AT(feasible), 1},
    {"forward_s", "forward", "s", NUMBER, AT(forward_s), 1},
    {"backward_s", "backward", "s", NUMBER, AT(backward_s), 1},
    {"update_s", "update", "s", NUMBER, AT(update_s), 1},
    {"other_s", "other", "s", NUMBER, AT(other_s), 1},
    {"iteration_s", "iteration", "s", NUMBER, AT(iteration_s), 1},
    {"iteration_lo_s", "at least", "s", BOUND, AT(iteration.lo), 1},
    {"iteration_hi_s", "at most", "s", BOUND, AT(iteration.hi), 1},
    {"tokens_per_s", "tokens/s", "", RATE, 0, 1},
    {"gpu_peak_GiB", "GPU memory", "GiB", NUMBER, AT(gpu_peak_bytes), 0x1p30},
    {"host_peak_GiB", "host memory", "GiB", NUMBER, AT(host_peak_bytes), 0x1p30},
    {"bottleneck", "limited by", "", TEXT, AT(bottleneck), 1},
    {"reason", "why not", "", TEXT, AT(reason), 1},
};
enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static bool is_text(const struct column *column)
{
	return column->kind == TEXT || column->kind == FITS;
}

static double number_of(const struct column *column, const struct plot_row *row)
{
	if (column->kind == RATE)
		return report_has_tokens(row) ? report_rate(row) : (double)NAN;
	const double value = *(const double *)((const char *)row + column->offset);
	return column->kind == BOUND && value <= 0 ? (double)NAN : value;
}

static const char *text_of(const struct column *column, const struct plot_row *row)
{
	if (column->kind == FITS)
		return row->feasible == 0 ? "no" : isnan(row->feasible) ? "?" : "yes";
	const char *const text = *(const char *const *)((const char *)row + column->offset);
	return text ? text : "";
}

static bool is_same(const struct column *column, const struct plot_row *a, const struct plot_row *b)
{
	if (is_text(column))
		return strcmp(text_of(column, a), text_of(column, b)) == 0;
	const double x = number_of(column, a), y = number_of(column, b);
	return x == y || (isnan(x) && isnan(y));
}

static bool differs(const struct column *column, const struct plot_rows *rows)
{
	for (size_t i = 1; i < rows->n; i++)
		if (!is_same(column, &rows->rows[i], &rows->rows[0]))
			return true;
	return false;
}

/* ---- what is the same in all */

static const char *same_text(const struct column *column, const struct plot_row *row, struct arena *arena)
{
	if (is_text(column))
		return text_of(column, row);
	const double value = number_of(column, row);
	return isnan(value) ? "" : arena_printf(arena, "%.6g%s%s", value / column->one, *column->unit ? " " : "", column->unit);
}

static void write_same(const struct report *r, const bool shown[N_COLUMNS])
{
	const struct plot_row *const row = &r->rows.rows[0];
	const char *before = "<p>The same in all: ";

	for (size_t i = 0; i < N_COLUMNS; i++) {
		const char *const text = shown[i] ? "" : same_text(&columns[i], row, r->arena);
		if (!*text)
			continue;
		fputs(before, r->out);
		html_printf(r->out, "%s %s", columns[i].title, text);
		before = ", ";
	}
	if (*before == ',')
		fputs(".</p>\n", r->out);
}

/* ---- the table; end tags that HTML does not need are left out */

void report_number_cell(FILE *out, double value, double one)
{
	if (isnan(value))
		fputs("<td>", out);
	else
		fprintf(out, fabs(value / one) < 1000 ? "<td>%.4g" : "<td>%.0f", value / one);
}

static void write_head(const struct report *r, const bool shown[N_COLUMNS])
{
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All runs\"><table id=\"runs\"><thead><tr>\n", r->out);
	for (size_t i = 0; i < N_COLUMNS; i++)
		if (shown[i])
			html_printf(r->out, "<th scope=\"col\" data-key=\"%s\"%s><button type=\"button\" disabled>%s%s%s%s</button>\n", columns[i].key,
			    is_text(&columns[i]) ? " class=t" : "", columns[i].title, *columns[i].unit ? " (" : "", columns[i].unit,
			    *columns[i].unit ? ")" : "");
	fputs("</thead><tbody>\n", r->out);
}

static void write_row(const struct report *r, const struct plot_row *row, const bool shown[N_COLUMNS])
{
	fputs(row->feasible == 0 ? "<tr class=no>" : "<tr>", r->out);
	for (size_t i = 0; i < N_COLUMNS; i++) {
		if (!shown[i])
			continue;
		if (is_text(&columns[i]))
			html_printf(r->out, "<td class=t>%s", text_of(&columns[i], row));
		else
			report_number_cell(r->out, number_of(&columns[i], row), columns[i].one);
	}
	putc('\n', r->out);
}

void report_table(const struct report *r)
{
	bool shown[N_COLUMNS];

	fprintf(r->out, "<section id=\"all\"><h2>%s: %zu</h2>\n", r->input->given ? "Alternatives" : "All runs", r->rows.n);
	for (size_t i = 0; i < N_COLUMNS; i++)
		shown[i] = columns[i].offset == AT(label) || columns[i].offset == AT(update_s) || differs(&columns[i], &r->rows);
	write_same(r, shown);
	/* a script fills this in, so that there is nothing dead without one */
	fputs("<div id=\"tools\" hidden><label for=\"filter\">Filter</label> <input id=\"filter\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" "
	      "placeholder=\"dos 20b update_s&lt;2\" aria-describedby=\"hint\"> <output id=\"count\" for=\"filter\"></output>"
	      "<p id=\"hint\">Words that a run has, or a column compared with a value: <code>mbs=1</code> <code>update_s&lt;2</code>. "
	      "A click on a heading sorts, a second one turns the order.</p></div>\n", r->out);
	write_head(r, shown);
	for (size_t i = 0; i < r->rows.n; i++)
		write_row(r, &r->rows.rows[i], shown);
	fputs("</tbody></table></div>\n<p><button type=\"button\" id=\"more\" hidden></button></p>\n</section>\n", r->out);
}
