/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay: a recording as the source of simulations: its forward and backward, and the machine as it shows it.
 *
 * What if: forward and backward keep their recorded GPU compute, scaled by the ratio of the machines, and their recorded launch time; the
 * policy's flush and update are simulated.
 */
#ifndef SIM_STUDY_REPLAY_H
#define SIM_STUDY_REPLAY_H

#include "sim/iteration.h"
#include "sim/study/replay_workload.h"

/* Forward and backward of one micro-batch on the recorded machine. */
struct replay_passes {
	struct recorded_passes passes;
	double gemm_frac; /* of the compute: in kernels that FLOP/s limit; 1 where kernels are not known */
	bool is_backward_assumed; /* a log does not part backward's compute from its gradient flush: taken from forward */
};
/* False: no forward and backward in it. */
bool replay_passes_take(
    struct replay_passes *passes, const struct recording *rec, double grad_accum, bool has_checkpointing);
/* In place: times of a machine whose FLOP/s and HBM bytes/s are these times as large. */
void replay_passes_scale(struct replay_passes *passes, double flop_ratio, double hbm_ratio);

/* Peak rates of a GPU by the name that files give it (data sheets, dense 16 bit); false: not known. */
bool replay_gpu_rates(double *flop_per_s, double *hbm_Bps, const char *gpu);

/* What a recording measures of its machine; 0: it does not. */
struct replay_measured {
	double h2d_Bps, d2h_Bps; /* of large pinned copies that run nearly alone */
	double adam_params_per_s,
	    downscale_params_per_s; /* of an update on the CPU whose 16-bit copies come after all of Adam */
};
void replay_measured_take(
    struct replay_measured *measured, const struct recording *rec, const struct replay_update *update);
/* For people: "h2d 54.4 GB/s, ..", "" nothing. */
const char *replay_measured_text(const struct replay_measured *measured, struct arena *arena);
/* Puts them in place of a profile's rates, at `threads` (0: the profile's) and its workers. */
void replay_measured_apply(struct hwprofile *hw, const struct replay_measured *measured, double threads);
/* Of the shipped profiles whose name has the GPU's ("h200" in "NVIDIA H200"), the one whose peak rates are nearest; NULL: none. */
const char *replay_nearest_profile(const char *gpu, const struct replay_measured *measured, struct arena *arena);

#endif
