/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/trace_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	if (n_bytes <= 65536)
		trace_target_run(&trace_reader_kineto, data, n_bytes);
	return 0;
}
