/* SPDX-License-Identifier: GPL-3.0-or-later
 * Hardware profiles: whatever is read keeps the invariant, and can be scaled and asked for rates. */
#include <stdint.h>
#include <stdlib.h>

#include "model/hwprofile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static struct hwprofile hw;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct arena arena = {0};
	struct err err = {0};

	if (n_bytes <= 16384 && hwprofile_parse(&hw, "fuzz.json", (const char *)data, n_bytes, &arena, &err) == 0) {
		if (hwprofile_check(&hw, "fuzz.json", &err) || hwprofile_scale(&hw, "cpu", 2, &err))
			abort();
		if (!(curve_rate(&hw.h2d, 12345) > 0 && curve_rate(&hw.cpu_adam, 3) > 0 && curve_rate(&hw.gemm, 1000) > 0))
			abort();
	}
	arena_release(&arena);
	return 0;
}
