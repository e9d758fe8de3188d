/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/replay.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- forward and backward */

/* Parts of the names of kernels that FLOP/s limit; all else is taken as limited by memory. */
static const char *const gemm_words[] = {
    "gemm", "cutlass", "xmma", "conv", "attention", "flash", "fmha", "mma_", "wgrad", "dgrad", "matmul", "Cijk", NULL};

static bool has_word(const char *name, const char *const words[])
{
	for (size_t i = 0; words[i]; i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

/* Busy time of the kernels that a phase launched; collectives are the simulation's own. */
static double compute_s(const struct recording *rec, enum phase phase, double *gemm_s)
{
	static const char *const collective[] = {"nccl", "rccl", "all-gather", "reduce-scatter", NULL};
	int64_t until_ns = 0, sum_ns = 0, gemm_ns = 0;

	for (size_t i = 0; i < rec->n_events; i++) {
		const struct rec_event *const event = &rec->events[i];
		const char *const name = rec->names[event->name];
		if (event->phase != phase || (event->kind != REC_KERNEL && event->kind != REC_FILL) ||
		    has_word(name, collective))
			continue;
		const int64_t from_ns = event->start_ns > until_ns ? event->start_ns : until_ns;
		const int64_t ns = rec_end_ns(event) > from_ns ? rec_end_ns(event) - from_ns : 0;
		sum_ns += ns;
		gemm_ns += has_word(name, gemm_words) ? ns : 0;
		until_ns = rec_end_ns(event) > until_ns ? rec_end_ns(event) : until_ns;
	}
	*gemm_s += (double)gemm_ns * 1e-9;
	return (double)sum_ns * 1e-9;
}

/* Host time of a phase without waiting for the GPU. */
static double launch_s(const struct recording *rec, enum phase phase)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < rec->n_segments; i++)
		if (rec->segments[i].phase == phase)
			sum_ns += rec->segments[i].end_ns - rec->segments[i].start_ns;
	for (size_t i = 0; i < rec->n_calls; i++)
		if (rec->calls[i].phase == phase && rec->calls[i].kind == REC_SYNC)
			sum_ns -= rec->calls[i].duration_ns;
	return sum_ns > 0 ? (double)sum_ns * 1e-9 : 0;
}

static bool passes_of_timeline(struct replay_passes *p, const struct recording *rec, double grad_accum)
{
	const double n = (double)rec->n_iterations * (grad_accum > 0 ? grad_accum : 1);
	double gemm_s = 0;
	const double forward_s = compute_s(rec, PHASE_FORWARD, &gemm_s),
		     backward_s = compute_s(rec, PHASE_BACKWARD, &gemm_s);

	p->passes = (struct recorded_passes){.forward_s = forward_s / n,
	    .backward_s = backward_s / n,
	    .forward_launch_s = launch_s(rec, PHASE_FORWARD) / n,
	    .backward_launch_s = launch_s(rec, PHASE_BACKWARD) / n};
	p->gemm_frac = forward_s + backward_s > 0 ? gemm_s / (forward_s + backward_s) : 1;
	return forward_s + backward_s > 0;
}

/* Backward does every GEMM twice, and forward's again with recomputation; the rest of its logged time is the gradient flush. */
static bool passes_of_log(struct replay_passes *p, const struct recording *rec, double grad_accum, bool has_checkpointing)
{
	const double n = grad_accum > 0 ? grad_accum : 1;
	const double forward_s = (double)recording_median_ns(rec, PHASE_FORWARD) * 1e-9 / n;
	const double backward_s = (double)recording_median_ns(rec, PHASE_BACKWARD) * 1e-9 / n;

	p->passes = (struct recorded_passes){
	    .forward_s = forward_s, .backward_s = fmin(backward_s, (has_checkpointing ? 3 : 2) * forward_s)};
	p->gemm_frac = 1;
	p->is_backward_assumed = true;
	return forward_s > 0 && backward_s > 0;
}

bool replay_passes_take(struct replay_passes *p, const struct recording *rec, double grad_accum, bool has_checkpointing)
{
	*p = (struct replay_passes){.gemm_frac = 1};
	return rec->is_timeline ? passes_of_timeline(p, rec, grad_accum)
				: passes_of_log(p, rec, grad_accum, has_checkpointing);
}

void replay_passes_scale(struct replay_passes *p, double flop_ratio, double hbm_ratio)
{
	const double factor = p->gemm_frac / flop_ratio + (1 - p->gemm_frac) / hbm_ratio;

	p->passes.forward_s *= factor;
	p->passes.backward_s *= factor;
}
