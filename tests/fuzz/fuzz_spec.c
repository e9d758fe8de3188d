/* SPDX-License-Identifier: GPL-3.0-or-later
 * The grammar of policies, lists and units: what is accepted has a canonical text that reads back to itself. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "model/base/opt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

struct params {
	long long stride;
	double ratio_frac, size_bytes;
	int chain;
	bool flag;
	bool stride_given;
};

static const char *const chains[] = {"serial", "duplex", NULL};
static const struct opt opts[] = {
    {.name = "stride", .kind = OPT_INT, .offset = offsetof(struct params, stride), .min = -5, .max = 0x1p53,
	.given_offset = offsetof(struct params, stride_given)},
    {.name = "ratio", .kind = OPT_NUMBER, .unit = UNIT_FRAC, .offset = offsetof(struct params, ratio_frac), .min = 0, .max = 1},
    {.name = "size", .kind = OPT_NUMBER, .unit = UNIT_BYTES, .offset = offsetof(struct params, size_bytes), .min = 0,
	.max = INFINITY},
    {.name = "chain", .kind = OPT_WORD, .offset = offsetof(struct params, chain), .words = chains},
    {.name = "flag", .kind = OPT_FLAG, .offset = offsetof(struct params, flag)},
};
enum { N_OPTS = sizeof(opts) / sizeof(opts[0]) };

static void check_spec(const char *text, struct arena *arena)
{
	struct params params = {0}, again = {0};
	struct spec spec;
	struct err err = {0};

	if (spec_parse(&spec, text, arena, &err) || spec_apply(&params, opts, N_OPTS, &spec, arena, &err))
		return;
	const char *const canonical = spec_canonical(spec.name, &params, opts, N_OPTS, arena);
	int rc = spec_parse(&spec, canonical, arena, &err);
	assert(rc == 0);
	rc = spec_apply(&again, opts, N_OPTS, &spec, arena, &err);
	assert(rc == 0);
	assert(strcmp(canonical, spec_canonical(spec.name, &again, opts, N_OPTS, arena)) == 0);
	(void)rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct arena arena = {0};
	struct opt_list specs = {0}, values = {0};
	struct err err = {0};

	if (n_bytes > 256)
		return 0;
	char *const text = arena_zalloc(&arena, n_bytes + 1, 1);
	memcpy(text, data, n_bytes);
	if (spec_split(&specs, text, &arena, &err) == 0)
		for (size_t i = 0; i < specs.n; i++)
			check_spec(specs.items[i], &arena);
	if (opt_expand(&values, text, ';', &arena, &err) == 0)
		assert(values.n > 0);
	arena_release(&arena);
	return 0;
}
