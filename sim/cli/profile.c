/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos profile: show, check, compare or merge hardware profiles. */
#include <math.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/cli/profile_call.h"

struct params {
	int unused; /* offset 0 means "not given" in struct opt */
	const char *name;
};

static const struct opt opts[] = {{.name = "name", .kind = OPT_TEXT, .offset = offsetof(struct params, name), .arg = "TEXT",
    .help = "merge: name of the profile (default: that of the files)"}};

static double field_value(const struct hwprofile *hw, const struct hw_field *field)
{
	return *(const double *)((const char *)hw + field->offset);
}

static const struct curve *curve_of(const struct hwprofile *hw, const struct hw_curve_field *field)
{
	return (const struct curve *)((const char *)hw + field->offset);
}

static const char *unit_suffix(enum unit unit)
{
	static const char *const words[] = {[UNIT_NONE] = "",
	    [UNIT_BYTES] = "bytes",
	    [UNIT_BYTES_PER_S] = "bytes/s",
	    [UNIT_SECONDS] = "s",
	    [UNIT_PARAMS] = "params",
	    [UNIT_PARAMS_PER_S] = "params/s",
	    [UNIT_FLOP] = "FLOP",
	    [UNIT_FLOP_PER_S] = "FLOP/s",
	    [UNIT_FRAC] = "",
	    [UNIT_WATT] = "W"};
	return words[unit];
}

static double or_nan(bool is_there, double value)
{
	return is_there ? value : NAN;
}

/* ---- show: a row a value, a row a point of a curve */

static const struct table_column show_columns[] = {
    {"hw", NULL, UNIT_NONE},
    {"name", NULL, UNIT_NONE},
    {"x", NULL, UNIT_NONE},
    {"value", NULL, UNIT_NONE},
    {"unit", NULL, UNIT_NONE},
    {"kind", NULL, UNIT_NONE},
    {"lo", NULL, UNIT_NONE},
    {"hi", NULL, UNIT_NONE},
    {"n_samples", "samples", UNIT_NONE},
    {"source", NULL, UNIT_NONE},
};

/* Numbers as people read them, or as programs do. A rate or an amount of memory that nothing limits is infinite. */
static void show_number(struct table *table, enum format format, enum unit unit, double value)
{
	char text[UNITS_TEXT_MAX];

	if (format != FORMAT_TABLE || isnan(value))
		table_number(table, value);
	else if (isinf(value))
		table_text(table, "no limit");
	else
		table_text(table, units_print(text, unit, value));
}

static void show_row(struct table *table, enum format format, const struct hwprofile *hw, const char *name, double x, double value,
    enum unit unit, const struct hw_meta *meta)
{
	table_text(table, hw->name);
	table_text(table, name);
	table_number(table, x);
	show_number(table, format, unit, value);
	table_text(table, unit_suffix(unit));
	table_text(table, meta ? hw_kind_names[meta->kind] : NULL);
	show_number(table, format, unit, meta ? meta->lo : NAN);
	show_number(table, format, unit, meta ? meta->hi : NAN);
	table_number(table, or_nan(meta && meta->n_samples, meta ? (double)meta->n_samples : 0));
	table_text(table, meta ? meta->source : NULL);
}

/* Unit of a curve's rate by its name: copies move bytes, GEMM does FLOPs, the CPU kernels parameters. */
static enum unit curve_unit(const struct hw_curve_field *field)
{
	return field->kind == CURVE_TRANSFER ? UNIT_BYTES_PER_S : field->kind == CURVE_SIZE ? UNIT_FLOP_PER_S : UNIT_PARAMS_PER_S;
}

/* The interval of a curve is one of factors: here as rates at a point. */
static struct hw_meta rate_meta(const struct hw_meta *meta, double rate)
{
	struct hw_meta shown = *meta;

	shown.lo *= rate;
	shown.hi *= rate;
	return shown;
}

static void show_profile(struct table *table, enum format format, const struct hwprofile *hw)
{
	for (size_t i = 0; i < hw_n_node_fields; i++)
		show_row(table, format, hw, hw_node_fields[i].name, NAN, field_value(hw, &hw_node_fields[i]), hw_node_fields[i].unit, NULL);
	for (size_t i = 0; i < hw_n_value_fields; i++)
		show_row(table, format, hw, hw_value_fields[i].name, NAN, field_value(hw, &hw_value_fields[i]), hw_value_fields[i].unit,
		    &hw->value_meta[i]);
	for (size_t i = 0; i < hw_n_curve_fields; i++) {
		const struct curve *const curve = curve_of(hw, &hw_curve_fields[i]);
		const struct hw_meta meta = rate_meta(&hw->curve_meta[i], curve->n_points ? curve->rate[0] : NAN);
		for (size_t point = 0; point < curve->n_points; point++)
			show_row(table, format, hw, hw_curve_fields[i].name, curve->x[point], curve->rate[point],
			    curve_unit(&hw_curve_fields[i]), point == 0 ? &meta : NULL);
	}
}

static void show_head(FILE *out, const struct hwprofile *hw)
{
	const struct hw_provenance *const p = &hw->provenance;

	fprintf(out, "%s: %s\n", hw->name, hw->summary);
	fprintf(out, "tool %s, %s%s%s; %s\n", *p->tool ? p->tool : "unknown", *p->date ? p->date : "no date", *p->machine ? ", " : "",
	    p->machine, hw->complete ? "complete" : "incomplete");
	for (size_t i = 0; i < p->n_sources; i++)
		fprintf(out, "source: %s\n", p->sources[i]);
	if (hw->n_fitted_on) {
		fprintf(out, "fitted on:");
		for (size_t i = 0; i < hw->n_fitted_on; i++)
			fprintf(out, " %s", hw->fitted_on[i]);
		putc('\n', out);
	}
	if (*p->note)
		fprintf(out, "note: %s\n", p->note);
	putc('\n', out);
}

static int show(FILE *out, const struct profile_call *call, struct arena *arena, struct err *err)
{
	const struct opt_list *const files = call->files;
	const enum format format = call->format;
	struct table *table = NULL;
	int code = 0;

	for (size_t i = 0; !code && i < files->n; i++) {
		struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
		code = hwprofile_load(hw, files->items[i], arena, err);
		if (code)
			break;
		if (format == FORMAT_TABLE)
			show_head(out, hw);
		if (!table)
			table = table_new(show_columns, sizeof(show_columns) / sizeof(show_columns[0]));
		show_profile(table, format, hw);
		if (format == FORMAT_TABLE) {
			table_print(table, format, out);
			table_free(table);
			table = NULL;
			if (i + 1 < files->n)
				putc('\n', out);
		}
	}
	if (table && !code)
		table_print(table, format, out);
	table_free(table);
	return code;
}

/* ---- diff */

static const struct table_column diff_columns[] = {
    {"name", NULL, UNIT_NONE},
    {"x", NULL, UNIT_NONE},
    {"a", NULL, UNIT_NONE},
    {"b", NULL, UNIT_NONE},
    {"change_frac", "change", UNIT_FRAC},
    {"intervals", NULL, UNIT_NONE},
};

/* "overlap", "apart", or nothing when one has no interval. */
static const char *compare_intervals(const struct hw_meta *a, const struct hw_meta *b)
{
	if (!a || !b || isnan(a->lo) || isnan(b->lo))
		return NULL;
	return a->lo <= b->hi && b->lo <= a->hi ? "overlap" : "apart";
}

static void diff_row(struct table *table, enum format format, const char *name, double x, double a, double b, enum unit unit,
    const char *intervals)
{
	table_text(table, name);
	table_number(table, x);
	show_number(table, format, unit, a);
	show_number(table, format, unit, b);
	table_number(table, isfinite(a) && isfinite(b / a - 1) ? b / a - 1 : NAN);
	table_text(table, intervals);
}

static void diff_fields(struct table *table, enum format format, const struct hwprofile hw[2], const struct hw_field *fields, size_t n,
    bool has_meta)
{
	for (size_t i = 0; i < n; i++) {
		const double a = field_value(&hw[0], &fields[i]), b = field_value(&hw[1], &fields[i]);
		if (a != b)
			diff_row(table, format, fields[i].name, NAN, a, b, fields[i].unit,
			    has_meta ? compare_intervals(&hw[0].value_meta[i], &hw[1].value_meta[i]) : NULL);
	}
}

/* At the points of both curves. */
static void diff_curve(struct table *table, enum format format, const struct hwprofile hw[2], size_t curve)
{
	const struct hw_curve_field *const field = &hw_curve_fields[curve];
	const struct curve *const curves[] = {curve_of(&hw[0], field), curve_of(&hw[1], field)};
	size_t at[2] = {0, 0};

	while (curves[0]->n_points && curves[1]->n_points && (at[0] < curves[0]->n_points || at[1] < curves[1]->n_points)) {
		const double x0 = at[0] < curves[0]->n_points ? curves[0]->x[at[0]] : INFINITY;
		const double x1 = at[1] < curves[1]->n_points ? curves[1]->x[at[1]] : INFINITY;
		const double x = fmin(x0, x1);
		const double a = curve_rate(curves[0], x), b = curve_rate(curves[1], x);
		const struct hw_meta metas[] = {rate_meta(&hw[0].curve_meta[curve], a), rate_meta(&hw[1].curve_meta[curve], b)};
		at[0] += x0 == x;
		at[1] += x1 == x;
		if (a != b)
			diff_row(table, format, field->name, x, a, b, curve_unit(field), compare_intervals(&metas[0], &metas[1]));
	}
}

static int diff(FILE *out, const struct profile_call *call, struct arena *arena, struct err *err)
{
	const struct opt_list *const files = call->files;
	const enum format format = call->format;
	struct hwprofile *const hw = arena_alloc(arena, 2, sizeof(*hw));
	struct table *table;

	if (files->n != 2)
		return err_set(err, STATUS_USAGE, "profile diff: two profiles would be accepted, %zu are given", files->n);
	for (size_t i = 0; i < 2; i++)
		if (hwprofile_load(&hw[i], files->items[i], arena, err))
			return err->code;
	table = table_new(diff_columns, sizeof(diff_columns) / sizeof(diff_columns[0]));
	diff_fields(table, format, hw, hw_node_fields, hw_n_node_fields, false);
	diff_fields(table, format, hw, hw_value_fields, hw_n_value_fields, true);
	for (size_t i = 0; i < hw_n_curve_fields; i++)
		diff_curve(table, format, hw, i);
	if (format == FORMAT_TABLE)
		fprintf(out, "a %s, b %s: %zu differ\n", hw[0].name, hw[1].name, table_n_rows(table));
	if (format != FORMAT_TABLE || table_n_rows(table) > 0)
		table_print(table, format, out);
	table_free(table);
	return 0;
}

/* ---- the command */

static const struct verb {
	const char *name;
	int (*run)(FILE *out, const struct profile_call *call, struct arena *arena, struct err *err);
} verbs[] = {{"show", show}, {"check", profile_call_check}, {"diff", diff}, {"merge", profile_call_merge}};
enum { N_VERBS = sizeof(verbs) / sizeof(verbs[0]) };

/* NULL: *err says what would be accepted. */
static const struct verb *find_verb(struct opt_list *files, const struct opt_list *rest, struct err *err)
{
	const char *names[N_VERBS + 1] = {NULL};
	const struct verb *verb = NULL;

	if (rest->n == 0) {
		(void)err_set(err, STATUS_USAGE, "profile: show, check, diff or merge, and profiles, would be accepted");
		return NULL;
	}
	for (size_t i = 0; i < N_VERBS; i++) {
		names[i] = verbs[i].name;
		if (strcmp(verbs[i].name, rest->items[0]) == 0)
			verb = &verbs[i];
	}
	if (!verb) {
		const char *const nearest = err_nearest(rest->items[0], names);
		(void)err_set(err, STATUS_USAGE, "profile: '%s' is not show, check, diff or merge%s%s%s", rest->items[0],
		    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
		return NULL;
	}
	if (rest->n == 1) {
		(void)err_set(err, STATUS_USAGE, "profile %s: a profile is missing: shipped name or file", verb->name);
		return NULL;
	}
	*files = (struct opt_list){rest->items + 1, rest->n - 1};
	return verb;
}

static int run_verb(const struct verb *verb, const struct profile_call *call, const char *path, struct arena *arena, struct err *err)
{
	struct file_replace file;
	int code = file_replace_open(&file, path, arena, err);

	if (code)
		return code;
	code = verb->run(file.out, call, arena, err);
	if (!code)
		return file_replace_commit(&file, err);
	file_replace_cancel(&file);
	return code;
}

static const char *command_text(int argc, char **argv, struct arena *arena)
{
	const char *text = "dos";

	for (int i = 0; i < argc; i++)
		text = arena_printf(arena, "%s %s", text, argv[i]);
	return text;
}

int command_profile(int argc, char **argv, struct err *err)
{
	struct params params = {0};
	const struct command_line line = {.name = "profile",
	    .usage = "show|check FILE.. | diff A B | merge A B.. [-o OUT] [OPTION]..",
	    .about = "Shows every number of hardware profiles, checks files, lists what differs between two, or joins the profiles of several\n"
	             "probe processes of one machine. A profile is a shipped name or a file. check: exit 3 and a message for the first bad\n"
	             "one. merge: geometric mean of two, median of more, intervals and samples together; the constants of DRAM latency are\n"
	             "fitted anew to the joined grid; \"extra\" is dropped; exit 1 when the machines differ.",
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct arena arena = {0};
	struct common c;
	struct opt_list rest, files;

	int code = common_parse(&c, &line, argc, argv, &rest, &arena, err);
	if (!code && !c.wants_help) {
		const struct verb *const verb = find_verb(&files, &rest, err);
		code = verb ? 0 : err->code;
		if (verb && params.name && verb->run != profile_call_merge)
			code = err_set(err, STATUS_USAGE, "profile %s: --name belongs to merge", verb->name);
		const struct profile_call call = {(enum format)c.format, params.name, command_text(argc, argv, &arena), &files, &c};
		if (verb && !code)
			code = run_verb(verb, &call, c.output, &arena, err);
	}
	arena_release(&arena);
	return code;
}
