/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/hf_config.h"

#include <math.h>
#include <string.h>

#include "model/base/opt.h"
#include "model/hf_family.h"

/* ---- values */

int hf_count(double *value, bool *null, const struct hf_reader *r, const char *key, double min)
{
	const json_node *const node = json_get(r->node, key);

	if (null)
		*null = node && json_is_null(node);
	if (!node || json_is_null(node))
		return 0;
	if (json_number_of(value, r->doc, node, min, 1e12, r->err))
		return r->err->code;
	if (*value != floor(*value))
		return json_fail(r->doc, node, r->err, "%.15g: a whole number is expected", *value);
	return 0;
}

int hf_flag(bool *flag, const struct hf_reader *r, const char *key)
{
	const json_node *const node = json_get(r->node, key);

	if (!node || json_is_null(node))
		return 0;
	return json_flag(flag, r->doc, r->node, key, r->err);
}

/* One quantity under several names; two that differ are refused. */
static int count_of(double *value, const struct hf_reader *r, const char *const keys[])
{
	const char *found = NULL;

	for (; *keys; keys++) {
		double other = 0;
		if (hf_count(&other, NULL, r, *keys, 1))
			return r->err->code;
		if (other == 0)
			continue;
		if (found && other != *value)
			return json_fail(
			    r->doc, json_get(r->node, *keys), r->err, "%.15g, but \"%s\" is %.15g", other, found, *value);
		*value = other;
		found = *keys;
	}
	return 0;
}

/* ---- the shape */

static int read_sizes(struct shape *shape, const struct hf_family *family, const struct hf_reader *r)
{
	static const char *const hidden_keys[] = {"hidden_size", "n_embd", "n_embed", "d_model", NULL};
	static const char *const layers_keys[] = {"num_hidden_layers", "n_layer", NULL};
	static const char *const heads_keys[] = {"num_attention_heads", "n_head", NULL};
	bool is_heads;

	if (count_of(&shape->hidden, r, hidden_keys) || count_of(&shape->layers, r, layers_keys) ||
	    count_of(&shape->heads, r, heads_keys) || hf_count(&shape->kv_heads, &is_heads, r, "num_key_value_heads", 1) ||
	    hf_count(&shape->ffn, NULL, r, family->ffn_key, 1) || hf_count(&shape->vocab, NULL, r, "vocab_size", 1) ||
	    hf_count(&shape->head_dim, NULL, r, "head_dim", 1) || hf_flag(&shape->is_tied, r, "tie_word_embeddings"))
		return r->err->code;
	if (is_heads || shape->kv_heads == 0)
		shape->kv_heads = shape->heads;
	if (shape->ffn == 0)
		shape->ffn = 4 * shape->hidden;
	return 0;
}

static int read_positions(struct hf_config *config, const struct hf_reader *r)
{
	static const char *const keys[] = {"max_position_embeddings", "n_positions", "seq_length", NULL};

	config->max_positions = config->shape.positions;
	if (count_of(&config->max_positions, r, keys))
		return r->err->code;
	if (config->shape.positions > 0) /* learned */
		config->shape.positions = config->max_positions;
	return 0;
}

static int check_heads(struct shape *shape, const struct hf_reader *r)
{
	if (shape->head_dim == 0 && fmod(shape->hidden, shape->heads) != 0)
		return json_fail(r->doc, r->node, r->err, "%.15g heads do not divide the hidden size %.15g", shape->heads,
		    shape->hidden);
	if (fmod(shape->heads, shape->kv_heads) != 0)
		return json_fail(r->doc, r->node, r->err, "%.15g key and value heads do not divide %.15g heads",
		    shape->kv_heads, shape->heads);
	if (shape->n_active_experts > shape->n_experts && shape->n_experts > 0)
		return json_fail(
		    r->doc, r->node, r->err, "%.15g active experts of %.15g", shape->n_active_experts, shape->n_experts);
	if (shape->head_dim * shape->heads == shape->hidden)
		shape->head_dim = 0; /* says nothing new: the same model, the same contents */
	return 0;
}

static void read_precision(struct hf_config *config, const struct hf_reader *r)
{
	const char *text = NULL;
	struct err ignored = {0};

	if (json_text(&text, r->doc, r->node, "dtype", &ignored) &&
	    json_text(&text, r->doc, r->node, "torch_dtype", &ignored))
		return;
	config->has_precision = strcmp(text, "bfloat16") == 0 || strcmp(text, "float16") == 0;
	config->precision = strcmp(text, "float16") == 0 ? PRECISION_FP16 : PRECISION_BF16;
}

/* ---- which family */

static int unknown_type(const struct hf_reader *r, const char *type, struct arena *arena)
{
	const json_node *const node = json_get(r->node, "model_type");
	struct opt_list names = {0};
	const char *list = "";

	for (size_t i = 0; i < hf_n_families; i++) {
		opt_list_add(&names, hf_families[i].model_type, arena);
		list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", hf_families[i].model_type);
	}
	opt_list_add(&names, NULL, arena);
	if (strncmp(type, "deepseek_v", 10) == 0)
		return json_fail(
		    r->doc, node, r->err, "\"%s\" has latent attention, which is not counted; known are %s", type, list);
	const char *const nearest = err_nearest(type, names.items);
	return json_fail(r->doc, node, r->err, "\"%s\" is not known%s%s%s; known are %s", type,
	    nearest ? ", did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "", list);
}

/* NULL: r->err says why. */
static const struct hf_family *find_family(const struct hf_reader *r, struct arena *arena)
{
	const char *type;

	if (json_text(&type, r->doc, r->node, "model_type", r->err))
		return NULL;
	for (size_t i = 0; i < hf_n_families; i++)
		if (strcmp(hf_families[i].model_type, type) == 0)
			return &hf_families[i];
	(void)unknown_type(r, type, arena);
	return NULL;
}

/* "models/Qwen3-8B/config.json" -> "Qwen3-8B", "qwen3.json" -> "qwen3", else the model type */
static const char *name_of(const char *path, const char *model_type, struct arena *arena)
{
	const char *const slash = strrchr(path, '/');
	const char *const base = slash ? slash + 1 : path;
	const size_t length = strlen(base);

	if (length <= 5 || strcmp(base + length - 5, ".json") != 0)
		return model_type;
	if (strcmp(base, "config.json") != 0)
		return arena_printf(arena, "%.*s", (int)length - 5, base);
	const char *start = slash;
	while (start && start > path && start[-1] != '/')
		start--;
	if (!start || start == slash || *start == '.')
		return model_type;
	return arena_printf(arena, "%.*s", (int)(slash - start), start);
}

/* ---- whole files */

bool hf_config_is(const json_node *root)
{
	return json_get(root, "model_type") || json_get(root, "architectures") || json_get(root, "text_config") ||
	    json_get(root, "num_hidden_layers") || json_get(root, "n_layer");
}

int hf_config_read(struct hf_config *config, const struct json_doc *doc, struct arena *arena, struct err *err)
{
	const json_node *const part = json_get(json_root(doc), "text_config");
	struct hf_reader r = {.doc = doc, .node = json_is_object(part) ? part : json_root(doc), .err = err};

	*config = (struct hf_config){.is_part = json_is_object(part)};
	if (!json_is_object(r.node))
		return json_fail(doc, r.node, err, "an object is expected");
	const struct hf_family *const family = find_family(&r, arena);
	if (!family)
		return err->code;
	config->model_type = family->model_type;
	config->shape = family->shape;
	config->shape.name = name_of(json_name(doc), family->model_type, arena);
	int rc = read_sizes(&config->shape, family, &r);
	if (rc == 0)
		rc = read_positions(config, &r);
	if (rc == 0 && family->finish)
		rc = family->finish(&r, &config->shape);
	if (rc == 0)
		rc = check_heads(&config->shape, &r);
	if (rc == 0)
		read_precision(config, &r);
	return rc;
}

int hf_config_parse(
    struct hf_config *config, const char *name, const char *text, size_t n_bytes, struct arena *arena, struct err *err)
{
	struct json_doc *doc;
	int rc = json_parse(&doc, name, text, n_bytes, err);

	if (rc)
		return rc;
	rc = hf_config_read(config, doc, arena, err);
	json_close(doc);
	return rc;
}
