/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cases: every case of the probe, one X line each; case_*.c define them.
 */
#ifndef PROBE_CASES_H
#define PROBE_CASES_H

#include "probe/harness.h"

#define CASE_LIST(X) \
	X(cpu_copy) \
	X(cpu_triad) \
	X(cpu_stream) \
	X(cpu_adam) \
	X(cpu_adam_fused) \
	X(cpu_adam_split) \
	X(cpu_adam_out) \
	X(cpu_unscale) \
	X(cpu_downscale) \
	X(cpu_subgroup) \
	X(cpu_smt) \
	X(cpu_numa) \
	X(gpu_copy) \
	X(gpu_triad) \
	X(gpu_adam) \
	X(gpu_casts) \
	X(gpu_gemm) \
	X(gpu_launch) \
	X(link_h2d) \
	X(link_d2h) \
	X(link_duplex) \
	X(link_streams) \
	X(link_pageable) \
	X(link_push) \
	X(link_flush) \
	X(link_all_gpus) \
	X(link_pinning) \
	X(contention_copies) \
	X(contention_fused) \
	X(contention_downscale) \
	X(contention_all) \
	X(contention_gpus) \
	X(contention_gemm) \
	X(contention_spin)

#define CASE_DECLARE(name) extern const struct probe_case case_##name;
CASE_LIST(CASE_DECLARE)
#undef CASE_DECLARE

#endif
