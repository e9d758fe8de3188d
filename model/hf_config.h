/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hf_config: the shape of a model from its Hugging Face config.json.
 *
 * Keys that are absent have the defaults of their model_type in transformers, and `null` is what it is there (key and value
 * heads: as many as heads; n_inner: four times hidden). Keys that the shape does not depend on are not looked at. A
 * model_type that is not known is refused, with those that are. Failures are STATUS_INPUT and name file and key.
 */
#ifndef MODEL_HF_CONFIG_H
#define MODEL_HF_CONFIG_H

#include "model/base/json.h"
#include "model/workload.h"

struct hf_config {
	struct shape shape; /* its tensors are those of the checkpoint; texts in the arena */
	const char *model_type;
	double max_positions; /* longest sequence, 0 not said */
	bool has_precision; /* 16-bit dtype is given */
	enum precision precision;
	bool is_part; /* the text model of a larger one (text_config): the rest is not counted */
};

/* True when the object looks like a config.json. */
bool hf_config_is(const json_node *root);
/* shape.name: of the file, or of its folder for DIR/config.json. */
int hf_config_read(struct hf_config *config, const struct json_doc *doc, struct arena *arena, struct err *err) MUST_CHECK;
int hf_config_parse(struct hf_config *config, const char *name, const char *text, size_t n_bytes, struct arena *arena,
    struct err *err) MUST_CHECK;

#endif
