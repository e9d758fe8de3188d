/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos validate: how far predictions are from recorded runs. */
#include <math.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/cli/uncertainty.h"
#include "sim/cli/validate_print.h"

struct params {
	double max_mape_frac; /* first member: has no given flag */
	bool has_max_mape;
	struct opt_list sets, ids, quantities;
};

static const struct opt opts[] = {
    {.name = "set", .kind = OPT_LIST, .offset = offsetof(struct params, sets), .arg = "NAME|FILE",
        .help = "recorded runs: shipped set or CSV file; may be repeated (default published)"},
    {.name = "rows", .kind = OPT_LIST, .offset = offsetof(struct params, ids), .arg = "PATTERN",
        .help = "only rows whose id matches, such as 'h100-*'; may be repeated"},
    {.name = "quantity", .kind = OPT_LIST, .offset = offsetof(struct params, quantities), .arg = "NAME",
        .help = "only this one, such as update_s; may be repeated"},
    {.name = "max-mape", .kind = OPT_NUMBER, .unit = UNIT_FRAC, .offset = offsetof(struct params, max_mape_frac), .min = 0, .max = 1e6,
        .arg = "X", .help = "exit 1 when a quantity's mean error outside the fit is above X, such as 0.05 or 5%",
        .given_offset = offsetof(struct params, has_max_mape)},
};

static int choose_quantities(bool chosen[QUANTITY_N], const struct opt_list *names, struct err *err)
{
	for (size_t q = 0; q < QUANTITY_N; q++)
		chosen[q] = names->n == 0;
	for (size_t i = 0; i < names->n; i++) {
		size_t q = 0;
		while (q < QUANTITY_N && strcmp(quantity_names[q], names->items[i]) != 0)
			q++;
		if (q == QUANTITY_N) {
			const char *const nearest = err_nearest(names->items[i], quantity_names);
			return err_set(err, STATUS_USAGE, "--quantity '%s'%s%s%s; forward_s, backward_s, update_s, sum_phases_s, "
			    "iteration_s, gpu_peak_bytes or host_peak_bytes would be accepted", names->items[i],
			    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
		}
		chosen[q] = true;
	}
	return 0;
}

/* Exit 1 when none is predicted of the rows that count: a mistake in all of them, or a machine that they do not go with. */
static int check_predicted(const struct validation *v, struct err *err)
{
	struct row_counts counts;
	size_t first = 0;

	row_counts_of(&counts, v);
	if (counts.n_predicted > 0 || counts.n_refused == 0)
		return 0;
	while (v->predictions[first].is_excluded)
		first++;
	return err_set(err, STATUS_NO, "of %zu rows none is predicted to run; the first, %s: %s", counts.n_refused, v->predictions[first].row->id,
	    v->predictions[first].reason);
}

/* Exit 1 when a mean error is too large, or when there is nothing to judge. */
static int judge(const struct validate_report *r, const struct params *p, struct arena *arena, struct err *err)
{
	size_t n_judged = 0;

	for (size_t q = 0; q < QUANTITY_N && p->has_max_mape; q++) {
		struct errors e;
		if (!r->has_quantity[q])
			continue;
		validate_errors(&e, r->validation, (enum quantity)q, false, NULL, NULL, arena);
		n_judged += e.n;
		if (e.n > 0 && !(e.mean_frac <= p->max_mape_frac))
			return err_set(err, STATUS_NO, "%s: mean error %.2f %% is outside --max-mape %.4g %%", quantity_names[q],
			    100 * e.mean_frac, 100 * p->max_mape_frac);
	}
	if (p->has_max_mape && n_judged == 0)
		return err_set(err, STATUS_NO, "--max-mape: no row outside the fit has a measured value to compare");
	return 0;
}

static int print(const struct validate_report *r, const struct common *c, struct arena *arena, struct err *err)
{
	struct file_replace file;
	const int code = file_replace_open(&file, c->output, arena, err);

	if (code)
		return code;
	switch ((enum format)c->format) {
	case FORMAT_TABLE: validate_text(file.out, r, arena); break;
	case FORMAT_JSON: validate_json(file.out, r, arena); break;
	case FORMAT_CSV: validate_csv(file.out, r); break;
	}
	return file_replace_commit(&file, err);
}

static int predict_all(struct validation *v, const struct common *c, const struct params *p, struct arena *arena, struct err *err)
{
	struct validate_options options = {.hw = c->hw, .ids = &p->ids};

	int code = common_sharing(&options.sharing, c, arena, err);
	for (size_t i = 0; !code && i < p->sets.n; i++) {
		struct rows rows;
		code = rows_load(&rows, p->sets.items[i], arena, err);
		if (!code)
			code = validate_rows(v, &rows, &options, arena, err);
	}
	if (!code && v->n == 0)
		code = err_set(err, STATUS_NO, "no rows%s", p->ids.n ? " match --rows" : " are recorded");
	return code;
}

static int cover(struct validate_report *r, const struct common *c, struct arena *arena, struct err *err)
{
	struct coverage *const coverage = arena_alloc(arena, 1, sizeof(*coverage));
	struct uncertainty_options options = uncertainty_options_of(c, NULL);

	if (c->uncertainty == 0)
		return 0;
	if (common_sharing(&options.sharing, c, arena, err) || coverage_find(coverage, r->validation, &options, arena, err))
		return err->code;
	r->coverage = coverage;
	return 0;
}

static int validate(const struct common *c, struct params *p, struct arena *arena, struct err *err)
{
	struct validation validation = {0};
	struct validate_report report = {.validation = &validation, .sets = &p->sets, .contention = c->contention,
	    .is_verbose = c->is_verbose};

	if (p->sets.n == 0)
		opt_list_add(&p->sets, "published", arena);
	int code = choose_quantities(report.has_quantity, &p->quantities, err);
	if (!code)
		code = file_replace_check(c->output, arena, err);
	if (!code)
		code = predict_all(&validation, c, p, arena, err);
	if (!code)
		code = cover(&report, c, arena, err);
	if (!code)
		code = print(&report, c, arena, err);
	if (!code)
		code = check_predicted(&validation, err);
	return code ? code : judge(&report, p, arena, err);
}

int command_validate(int argc, char **argv, struct err *err)
{
	struct params params = {0};
	const struct command_line line = {.name = "validate",
	    .usage = "[--set NAME|FILE].. [--hw H] [--max-mape X] [OPTION]..",
	    .about = "Compares predictions with recorded runs. Rows that a profile was fitted on are reported apart. --hw replaces the\n"
	             "profile that each row names. Exit 1: outside --max-mape, no rows, or none that is predicted to run.",
	    .groups = COMMON_HW | COMMON_CONTENTION | COMMON_UNCERTAINTY,
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct arena arena = {0};
	struct common c;

	int code = common_parse(&c, &line, argc, argv, NULL, &arena, err);
	if (!code && !c.wants_help)
		code = validate(&c, &params, &arena, err);
	arena_release(&arena);
	return code;
}
