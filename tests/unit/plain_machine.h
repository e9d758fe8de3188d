/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plain_machine: a made-up machine whose numbers are round, and update-only workloads with any subgroups, for tests of equations.
 */
#ifndef TESTS_UNIT_PLAIN_MACHINE_H
#define TESTS_UNIT_PLAIN_MACHINE_H

#include <gsl/gsl_rng.h>

#include "model/closed_form.h"
#include "model/lanes.h"

/* Every value of the table at its default, else 1; then: CPU Adam 2.5, unscale 10, downscale 5, GPU Adam 100 G parameters/s; pinned
 * copies 50 GB/s, 40 in duplex; GPU casts 500 G parameters/s; DRAM 200 GB/s; pageable push 5 G parameters/s. */
void plain_machine(struct hwprofile *hw);
/* A flat curve: the same rate whatever the size or team. */
void plain_curve(struct curve *curve, enum curve_kind kind, double rate);
/* Any order of magnitude alike. */
double plain_between(gsl_rng *rng, double low, double high);
/* DRAM that is slower the more it is loaded (E32). */
void plain_latency(struct hwprofile *hw, gsl_rng *rng);
/* An update of these subgroups, borrowed. */
void plain_update(struct workload *workload, struct subgroup *subgroups, size_t n_subgroups);
/* Sets all to n_params. */
void plain_subgroups(struct subgroup *subgroups, size_t n_subgroups, double n_params);

enum { PLAIN_SUBGROUPS_MAX = 10000 };

/* The plain machine with equal subgroups of 100 M, or what a test makes of them. */
struct plain {
	struct hwprofile hw;
	struct subgroup subgroups[PLAIN_SUBGROUPS_MAX];
	struct workload workload;
	struct cost cost;
};
/* n equal subgroups, and their costs. */
void plain_set(struct plain *plain, size_t n_subgroups);
/* Costs and sums again, after a change of hw, workload.batch or subgroups. */
void plain_refresh(struct plain *plain);
/* `dos` with the published chain and a separate unscale. */
struct interleave plain_published(size_t n_dynamic, size_t stride);
/* `hybrid` with its defaults. */
struct interleave plain_hybrid(size_t n_dynamic, size_t buffers, const bool *on_gpu);
/* Its recurrence. */
double plain_interleave_s(const struct plain *plain, const struct interleave *how);
/* The lanes of one window of this stride. */
void plain_window(struct lanes *lanes, const struct plain *plain, const struct interleave *how, size_t stride, bool is_contended);

#endif
