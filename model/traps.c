/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/traps.h"

#include <stdarg.h>
#include <stdio.h>

void traps_add(struct traps *traps, struct trap trap)
{
	if (traps->n == traps->capacity) {
		struct trap *const old = traps->list;
		traps->capacity = traps->capacity ? 2 * traps->capacity : 16;
		traps->list = arena_alloc(traps->arena, traps->capacity, sizeof(*traps->list));
		for (size_t i = 0; i < traps->n; i++)
			traps->list[i] = old[i];
	}
	traps->list[traps->n++] = trap;
	traps->n_warnings += trap.is_warning;
}

const char *traps_text(struct traps *traps, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return arena_strdup(traps->arena, text);
}

/* ---- Hugging Face */

static void find_hf(struct traps *traps, const struct config_file *file)
{
	const struct hf_config *const hf = &file->hf;

	if (hf->is_part)
		traps_add(traps,
		    (struct trap){false, "part-of-a-model", file->name, "/text_config",
			"only the text model is counted, not what it is part of", NULL});
	if (hf->shape.n_experts > 0)
		traps_add(traps,
		    (struct trap){false, "mixture-of-experts", file->name, "/model_type",
			traps_text(traps, "%.0f experts, %.0f active: parameters are counted, times are not modelled",
			    hf->shape.n_experts, hf->shape.n_active_experts),
			NULL});
}

/* ---- JSON that is none */

static void find_relaxed(struct traps *traps, const struct config_file *file)
{
	const struct json_relaxed *const relaxed = &file->relaxed;

	if (relaxed->n_comments > 0)
		traps_add(traps,
		    (struct trap){true, "comments", file->name, "/",
			traps_text(traps,
			    "%zu comment%s, the first on line %zu: JSON has none, and its reader in Python fails",
			    relaxed->n_comments, relaxed->n_comments > 1 ? "s" : "", relaxed->comment_line),
			"remove them"});
	if (relaxed->n_commas > 0)
		traps_add(traps,
		    (struct trap){true, "commas", file->name, "/",
			traps_text(traps,
			    "%zu comma%s before a closing bracket, the first on line %zu: Python's reader fails",
			    relaxed->n_commas, relaxed->n_commas > 1 ? "s" : "", relaxed->comma_line),
			"remove them"});
}

int traps_find(struct traps *traps, const struct config_file *file, const struct traps_context *context, struct err *err)
{
	find_relaxed(traps, file);
	if (file->kind == CONFIG_DS)
		return traps_find_ds(traps, file, context, err);
	if (file->kind == CONFIG_HF)
		find_hf(traps, file);
	else
		traps_find_megatron(traps, file, context);
	return 0;
}
