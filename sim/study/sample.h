/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sample: profiles drawn from what a profile says about its own uncertainty. A drawn profile is an ordinary profile; nothing downstream
 * knows where it comes from.
 *
 * Each value and each curve is multiplied by a factor: log-normal, or one of its raw samples over the value where there are at least
 * SAMPLE_RAW_MIN. The standard deviation of a log factor is that of the 95 % interval (log(hi / lo) / 3.92), else by kind:
 *   measured 2 %    median of raw samples of a probe: 1 %; bound runs of one node differ by up to 3 %
 *   fitted 5 %      curvature of the fits of the shipped profiles: 2.5 % (DRAM) to 8 % for what the rows identify
 *   datasheet 10 %  links and memory deliver 80 to 90 % of their data sheets; what is left after that correction
 *   assumed 25 %    of guesses that were measured later half were off by more, up to a factor of two
 * Assumed DRAM bytes of kernels count as fitted: DRAM bandwidth is derived with the same counts, so what they share cancels. Defaults
 * that the file does not give, node counts, capacities, peak FLOPs, price and power stay. A curve that the file leaves out follows
 * cpu_adam, which it is made of.
 *
 * Invariant: draw i depends on the seed and i alone, so all alternatives see the same machines (common random numbers) at any number
 * of threads; it passes hwprofile_check when the profile does.
 */
#ifndef SIM_STUDY_SAMPLE_H
#define SIM_STUDY_SAMPLE_H

#include "model/hwprofile.h"

enum { SAMPLE_RAW_MIN = 7, SAMPLE_FIELDS_MAX = HW_N_VALUES + HW_N_CURVES };

/* What varies. */
struct sample_field {
	bool is_curve;
	size_t index; /* into hw_value_fields or hw_curve_fields */
	double log_sd; /* on its own */
	double value; /* that the raw samples are of */
	const double *raw; /* borrowed from the profile; NULL: log-normal */
	size_t n_raw;
};

struct sampler {
	struct sample_field fields[SAMPLE_FIELDS_MAX];
	size_t n_fields;
	double *root; /* [n_fields][n_fields], lower triangle: log factors are root times independent standard normals; arena */
	unsigned long long seed;
	size_t n_conditions; /* values of recorded runs that the draws agree with (sample_fit.h) */
};

/* Standard deviation of the logarithm of a value or curve by what its file says. */
double sample_log_sd(const struct hw_meta *meta, const char *name);
/* Independent fields. */
void sampler_init(struct sampler *sampler, const struct hwprofile *hw, unsigned long long seed, struct arena *arena);
/* Draw `index` of the sampler's profile, or of a scaled copy: its factors on hw. */
void sampler_draw(struct hwprofile *out, const struct sampler *sampler, const struct hwprofile *hw, size_t index);

/* One field times a factor, within its range; derived curves follow. Does not rehash. */
void sample_multiply(struct hwprofile *hw, const struct sample_field *field, double factor);
/* Seed of trial `index`. */
unsigned long sample_seed(unsigned long long master, size_t index);

#endif
