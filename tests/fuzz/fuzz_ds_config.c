/* SPDX-License-Identifier: GPL-3.0-or-later
 * DeepSpeed configurations: whatever is read has a batch and a policy or a refusal; an edit reads back, does nothing the second
 * time, and nothing at all when nothing is recommended. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/ds_config.h"
#include "model/ds_edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check_edit(const char *text, size_t n_bytes, const struct ds_recommendation *what, struct arena *arena)
{
	struct err err = {0};
	char *once, *twice;
	size_t n_once, n_twice;

	if (ds_edit(&once, &n_once, "fuzz.json", text, n_bytes, what, arena, &err))
		return;
	if (ds_edit(&twice, &n_twice, "fuzz.json", once, n_once, what, arena, &err))
		abort();
	if (n_once != n_twice || memcmp(once, twice, n_once) != 0)
		abort();
}

static void check_unchanged(const char *text, size_t n_bytes, struct arena *arena)
{
	const struct ds_recommendation nothing = {.ratio = NAN};
	struct err err = {0};
	char *same;
	size_t n_same;

	if (ds_edit(&same, &n_same, "fuzz.json", text, n_bytes, &nothing, arena, &err) == 0 &&
	    (n_same != n_bytes || memcmp(same, text, n_bytes) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	const struct ds_recommendation all = {.device = "cpu",
	    .ratio = 0.7,
	    .subgroup_params = 12345678,
	    .sets_pin = true,
	    .pin = true,
	    .sets_fork = true,
	    .stride = 3,
	    .is_async = true};
	const char *const text = (const char *)data;
	struct arena arena = {0};
	struct ds_config config;
	struct err err = {0};

	if (n_bytes <= 4096 && ds_config_parse(&config, "fuzz.json", text, n_bytes, &arena, &err) == 0) {
		struct batch batch = {.gpus = 4};
		const char *spec;
		if (ds_config_batch(&batch, &config, &err) == 0 && !(batch.mbs >= 0 && batch.grad_accum >= 0))
			abort();
		if (ds_config_policy(&spec, &config, &arena, &err) == 0 && strlen(spec) == 0)
			abort();
		check_unchanged(text, n_bytes, &arena);
		check_edit(text, n_bytes, &all, &arena);
	}
	arena_release(&arena);
	return 0;
}
