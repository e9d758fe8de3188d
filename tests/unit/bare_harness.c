/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/bare_harness.h"

#include <stdlib.h>

struct harness *harness_new(void)
{
	struct harness *const harness = calloc(1, sizeof *harness);
	harness->results = calloc(HARNESS_RESULTS_MAX, sizeof harness->results[0]);
	harness->n_cpus = 16;
	return harness;
}

void harness_free(struct harness *harness)
{
	free(harness->results);
	free(harness);
}
