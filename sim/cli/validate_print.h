/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * validate_print: a validation as a report for people, JSON, or CSV (one line a compared value).
 */
#ifndef SIM_CLI_VALIDATE_PRINT_H
#define SIM_CLI_VALIDATE_PRINT_H

#include "model/base/jsonw.h"
#include "model/base/table.h"
#include "sim/study/coverage.h"

struct validate_report {
	const struct validation *validation;
	const struct opt_list *sets;
	const char *contention;
	bool has_quantity[QUANTITY_N]; /* which are compared */
	bool is_verbose; /* people: every row */
	const struct coverage *coverage; /* NULL: no intervals */
};

void validate_json(FILE *out, const struct validate_report *report, struct arena *arena);
void validate_csv(FILE *out, const struct validate_report *report);
void validate_text(FILE *out, const struct validate_report *report, struct arena *arena);

/* Counts of rows. n_rows = n_predicted + n_refused + n_excluded. */
struct row_counts {
	size_t n_rows, n_predicted, n_refused, n_excluded, n_in_fit, n_counted;
};
void row_counts_of(struct row_counts *counts, const struct validation *validation);

/* Distinct (hw, model) pairs, in order of appearance; first[i] is the first prediction of pair i. */
size_t validate_groups(size_t **first, const struct validation *validation, struct arena *arena);
/* Errors of the speed-ups over zero3-offload. */
void validate_speedup_errors(struct errors *errors, const struct validate_report *report, enum quantity quantity, bool is_in_fit,
    struct arena *arena);

#endif
