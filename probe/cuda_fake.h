/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cuda_fake: what the device of the tests has seen.
 */
#ifndef PROBE_CUDA_FAKE_H
#define PROBE_CUDA_FAKE_H

#include "probe/cuda/cuda_cases.h"

/* Host memory that copies of this device have read (H2D) or written (D2H): from the lowest byte to past the highest, NULL without;
 * and the bytes of all those copies. */
struct fake_range {
	const char *begin, *end;
	size_t bytes;
};
struct fake_range fake_read(const struct gpu *gpu);
struct fake_range fake_written(const struct gpu *gpu);

#endif
