/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gpu_state: what the CUDA files share. Private to probe/cuda.
 */
#ifndef PROBE_CUDA_GPU_STATE_H
#define PROBE_CUDA_GPU_STATE_H

struct gpu {
	int device;
	int spin;
	int multiprocessors;
	char error[256]; /* "" while fine */
};

struct gpu *gpu_fail(struct gpu *gpu, const char *what, const char *why); /* keeps the first */

#endif
