/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * derive: the quantities of a dos-hwprofile/1 file from the results of the cases.
 *
 * Invariant: every value and curve has a kind and a source; nothing is derived from a case that did not pass.
 */
#ifndef PROBE_DERIVE_H
#define PROBE_DERIVE_H

#include "probe/fluid_fit.h"
#include "probe/harness.h"

enum { DERIVED_VALUES_MAX = 56, DERIVED_POINTS_MAX = 24, DERIVED_CURVES_MAX = 8, DERIVED_CORUN_MAX = 128 };

struct derived_value {
	const char *name; /* of model/hwprofile.h */
	const char *kind; /* "measured", "datasheet", "assumed" */
	double value, lo, hi; /* lo = hi = NAN without an interval */
	const struct result *from; /* raw samples, or NULL */
	double scale; /* value = scale * rate, or scale / rate when is_inverse */
	bool is_inverse;
	char source[200];
};

struct derived_curve {
	const char *name, *source;
	double x[DERIVED_POINTS_MAX], rate[DERIVED_POINTS_MAX];
	size_t n;
};

struct derived_corun {
	const char *first, *second;
	double first_threads, second_threads;
	double first_alone, first_together, second_alone, second_together;
	double ranks; /* that did the same at once; 0: one alone */
};

struct derived {
	struct derived_value values[DERIVED_VALUES_MAX];
	size_t n_values;
	struct derived_curve curves[DERIVED_CURVES_MAX];
	size_t n_curves;
	struct derived_corun corun[DERIVED_CORUN_MAX];
	size_t n_corun;
	struct fluid_fit fit, gpus_fit; /* of all co-runs; of those on all GPUs at once, 0 without */
	double threads, workers; /* defaults for the node */
	double gpus_per_pcie_root; /* 0: not measured */
	double pcie_root_Bps; /* its value; 0: not measured */
};

/* Of something that was measured alone and beside others. */
struct derived_slowdown {
	double alone; /* centre of all that was measured alone */
	double
	    frac; /* speed together over alone, each round against what was measured alone nearest in time; 0: not known */
};

void derive(struct derived *derived, const struct harness *harness);

/* Rate of `what` alone at x, linear between the points of case `key`; 0 without points. */
double derive_alone(const struct harness *harness, const char *key, const char *what, double x);

/* derive_corun.c: fills corun and the cells for the fit. */
size_t derive_corun(struct derived *derived, struct fluid_cell cells[FLUID_CELLS_MAX], const struct harness *harness);

#endif
