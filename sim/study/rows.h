/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rows: recorded runs, one a line of a CSV file (RFC 4180): what ran, and what was measured. Columns: DESIGN "Files", in any
 * order; a column that is not known is an error, one that is absent is empty.
 *
 * Invariant: ids are unique; measured values are in their range of units.h (other_s: or 0) or NAN; a row has a model, a shape or
 * n_subgroups. Whether its policy and shape make sense is judged when it is predicted.
 */
#ifndef SIM_STUDY_ROWS_H
#define SIM_STUDY_ROWS_H

#include "model/base/opt.h"
#include "model/workload.h"

/* What is measured and predicted, in the order of reports. */
#define QUANTITY_LIST(X)                                                                                                     \
	X(FORWARD, forward_s) X(BACKWARD, backward_s) X(UPDATE, update_s) X(SUM_PHASES, sum_phases_s)                        \
	X(ITERATION, iteration_s) X(GPU_PEAK, gpu_peak_bytes) X(HOST_PEAK, host_peak_bytes)
enum quantity {
#define QUANTITY_ENUM(name, key) QUANTITY_##name,
	QUANTITY_LIST(QUANTITY_ENUM)
#undef QUANTITY_ENUM
	QUANTITY_N
};
extern const char *const quantity_names[QUANTITY_N + 1]; /* NULL-terminated */

struct row {
	const char *id, *hw, *model, *policy, *exclude, *source; /* "" when empty */
	double layers, hidden, heads, kv_heads, ffn, vocab; /* 0: not given */
	struct batch batch;
	double threads; /* 0: the profile's */
	double measured[QUANTITY_N]; /* NAN: not measured; the sum of phases when all three are */
	double other_s; /* NAN: not measured */
	size_t line;
};

struct rows {
	const char *name; /* file */
	struct row *rows;
	size_t n;
};

/* A file, or a shipped set ("published"). STATUS_INPUT: file:line: column: message. Everything lives in the arena. */
int rows_load(struct rows *rows, const char *path, struct arena *arena, struct err *err) MUST_CHECK;
int rows_parse(struct rows *rows, const char *name, const char *text, size_t n_bytes, struct arena *arena, struct err *err) MUST_CHECK;
/* Names of the shipped sets; returns how many. */
size_t rows_list(struct opt_list *names, struct arena *arena);

/* Shape of a row: preset, or its own. STATUS_INPUT for a model that is not known. An update alone: name "update". */
int row_shape(struct shape *shape, const struct row *row, struct err *err) MUST_CHECK;

#endif
