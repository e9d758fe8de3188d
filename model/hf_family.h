/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hf_family: what a model_type of transformers means: its defaults, its traits, its own keys. Private to hf_config.c.
 */
#ifndef MODEL_HF_FAMILY_H
#define MODEL_HF_FAMILY_H

#include "model/hf_config.h"

/* The object that describes the model, and where it is from. */
struct hf_reader {
	const struct json_doc *doc;
	const json_node *node;
	struct err *err;
};

struct hf_family {
	const char *model_type;
	struct shape shape; /* traits, and defaults of keys that are absent; kv_heads 0: heads, ffn 0: 4 hidden, head_dim 0:
	                     * hidden / heads, positions: of max_position_embeddings where they are learned */
	const char *ffn_key;
	int (*finish)(struct hf_reader *r, struct shape *shape); /* own keys; NULL: none */
};

extern const struct hf_family hf_families[];
extern const size_t hf_n_families;

/* A whole number >= min; *value is kept when the key is absent. *is_null (may be NULL): it is there and null. */
int hf_count(double *value, bool *is_null, const struct hf_reader *r, const char *key, double min) MUST_CHECK;
/* true or false; *flag is kept when the key is absent or null. */
int hf_flag(bool *flag, const struct hf_reader *r, const char *key) MUST_CHECK;

#endif
