/* SPDX-License-Identifier: GPL-3.0-or-later
 * Our own timelines: JSON or CSV by the first byte, as the readers tell them. */
#include "tests/fuzz/trace_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	if (n_bytes > 0 && n_bytes <= 65536)
		trace_target_run(data[0] == '{' ? &trace_reader_own_json : &trace_reader_own_csv, data, n_bytes);
	return 0;
}
