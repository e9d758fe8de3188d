/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * interval: where a prediction lies, and which alternative is best, given what is not known of the machine and of the model.
 *
 * A prediction is a draw of the profile (sample.h) times a log-normal factor (discrepancy.h). The distribution of the two is a mixture
 * of log-normals about the draws, so its quantiles need no draws of the factor. All alternatives see the same draws; for who is best
 * each gets a factor of its own, of the part of the discrepancy that alternatives do not share, and each setting (batch and partition)
 * one of the part that only alternatives in the same setting share.
 */
#ifndef SIM_STUDY_INTERVAL_H
#define SIM_STUDY_INTERVAL_H

#include "sim/study/discrepancy.h"
#include "sim/study/sample.h"

enum { INTERVAL_SAMPLES = 200, INTERVAL_SAMPLES_MAX = 100000 };

/* 5 % and 95 % quantiles; half widths of its two parts over the prediction. */
struct interval {
	double predicted; /* by the profile as it is */
	double lo, hi;
	double parameter_frac, discrepancy_frac;
};

/* Of n > 0 draws, which are sorted in place. */
void interval_of(struct interval *interval, double predicted, double *draws, size_t n, double discrepancy_log_sd);
/* Probability that the value is at most x. */
double interval_cdf(const double *draws, size_t n, double discrepancy_log_sd, double x);
/* Half width of the whole over the prediction. */
double interval_half_frac(const struct interval *interval);

/* A machine and what is not known of it. */
struct uncertainty {
	struct sampler sampler;
	struct discrepancy discrepancy;
	const struct evidence *evidence;
	size_t n_samples, n_workers;
	unsigned long long seed;
	double gpu_kept_frac; /* of a GPU's memory, that the alternatives' profiles leave out; 0 unless set after uncertainty_init */
};

struct uncertainty_options {
	const struct sharing *sharing;
	enum sync sync;
	size_t n_samples; /* 0: INTERVAL_SAMPLES */
	size_t n_workers; /* 0: one a processor */
	unsigned long long seed;
};

/* hw: the profile as it is in its file, not scaled. STATUS_INPUT when the shipped sets are not there. */
int uncertainty_init(struct uncertainty *u, const struct hwprofile *hw, const struct uncertainty_options *options, struct arena *arena,
    struct err *err) MUST_CHECK;

/* One alternative. */
struct outcome {
	struct interval of[QUANTITY_N];
	double p_best; /* that none of the others that fit takes less time a token; 0 when it does not fit */
	double p_faster; /* that it takes less time a token than the first alternative; 0 for that itself */
	double p_fits; /* that its peaks, off as the model's are on other machines, stay within the memory: E31 */
};

/* Alternatives on one machine (inputs[].hw: the profile, maybe scaled), as many GPUs and sequences as long, each with its canonical
 * policy: what a SPEC leaves open is decided once, by the profile as it is. STATUS_USAGE as trial_run. */
int outcomes_find(struct outcome *outcomes, const struct uncertainty *u, const struct trial_input *inputs, size_t n, struct arena *arena,
    struct err *err) MUST_CHECK;

/* Slower than the first one, but not surely: at least one time in twenty it is faster, or fits where that does not. */
bool outcome_is_open(const struct outcome *outcome);
/* "71 %", "under 1 %", "over 99 %": draws do not tell more. */
const char *outcome_share(double probability, struct arena *arena);

/* Alternatives and their times in every draw. */
struct contest {
	const double *times_s; /* [draw * n + alternative], INFINITY when it is out */
	size_t n, n_draws;
	const size_t *settings; /* [n], any numbers below n: those with the same share a factor; NULL: all do */
	double own_log_sd, setting_log_sd; /* of an alternative's factor, of a setting's */
	unsigned long long seed;
};
/* Shares of draws in which an alternative has the least time, and less than the first one; p_faster may be NULL. */
void contest_judge(double *p_best, double *p_faster, const struct contest *contest);

#endif
