/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * config_file: a configuration of one of three kinds, told apart by what it contains: Hugging Face config.json, DeepSpeed
 * configuration, Megatron arguments.
 */
#ifndef MODEL_CONFIG_FILE_H
#define MODEL_CONFIG_FILE_H

#include "model/ds_config.h"
#include "model/hf_config.h"
#include "model/megatron.h"

enum config_kind { CONFIG_HF, CONFIG_DS, CONFIG_MEGATRON };
extern const char *const config_kind_names[]; /* "Hugging Face", .., NULL */

struct config_file {
	const char *name; /* of the file, as messages call it */
	enum config_kind kind;
	struct json_relaxed relaxed; /* what was overlooked in JSON */
	struct hf_config hf;
	struct ds_config ds;
	struct megatron megatron;
};

/* path "-" is standard input. STATUS_INPUT. */
int config_file_load(struct config_file *file, const char *path, struct arena *arena, struct err *err) MUST_CHECK;
int config_file_parse(struct config_file *file, const char *name, const char *text, size_t n_bytes, struct arena *arena,
    struct err *err) MUST_CHECK;
/* The shape it describes; NULL: none (DeepSpeed). */
const struct shape *config_file_shape(const struct config_file *file);

#endif
