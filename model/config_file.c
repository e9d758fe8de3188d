/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/config_file.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/file_text.h"

const char *const config_kind_names[] = {"Hugging Face", "DeepSpeed", "Megatron", NULL};

static int parse_json(struct config_file *file, const char *text, size_t n_bytes, struct arena *arena, struct err *err)
{
	struct json_doc *doc;
	int rc = json_parse(&doc, file->name, text, n_bytes, err);

	if (rc)
		return rc;
	if (ds_config_is(json_root(doc)) && !json_get(json_root(doc), "model_type")) {
		file->kind = CONFIG_DS;
		rc = ds_config_read(&file->ds, doc, arena, err);
		file->ds.relaxed = file->relaxed;
	} else if (hf_config_is(json_root(doc))) {
		file->kind = CONFIG_HF;
		rc = hf_config_read(&file->hf, doc, arena, err);
	} else {
		rc = err_set(err, STATUS_INPUT,
		    "%s: neither a Hugging Face config.json (no \"model_type\") nor a DeepSpeed configuration (no "
		    "\"zero_optimization\", no batch sizes)",
		    file->name);
	}
	json_close(doc);
	return rc;
}

int config_file_parse(
    struct config_file *file, const char *name, const char *text, size_t n_bytes, struct arena *arena, struct err *err)
{
	static const char mark[] = "\xef\xbb\xbf"; /* byte order mark of some editors */
	char *const copy = arena_alloc(arena, n_bytes + 1, 1);

	*file = (struct config_file){.name = arena_strdup(arena, name)};
	memcpy(copy, text, n_bytes);
	copy[n_bytes] = '\0';
	json_relax(&file->relaxed, copy, n_bytes);
	const char *const start = copy + (strncmp(copy, mark, 3) == 0 ? 3 : 0);
	const char first = start[strspn(start, " \t\r\n")];
	if (first == '{' || first == '[')
		return parse_json(file, copy, n_bytes, arena, err);
	file->kind = CONFIG_MEGATRON;
	file->relaxed = (struct json_relaxed){0};
	if (megatron_is(text, n_bytes))
		return megatron_parse(&file->megatron, file->name, text, n_bytes, arena, err);
	return err_set(err, STATUS_INPUT,
	    "%s: neither JSON nor Megatron arguments (--num-layers N .., or the list that a run logs)", file->name);
}

int config_file_load(struct config_file *file, const char *path, struct arena *arena, struct err *err)
{
	char *text;
	size_t n_bytes;
	int rc = file_text_load(&text, &n_bytes, path, err);

	if (rc == 0)
		rc = config_file_parse(file, file_text_name(path), text, n_bytes, arena, err);
	free(text);
	return rc;
}

const struct shape *config_file_shape(const struct config_file *file)
{
	if (file->kind == CONFIG_DS)
		return NULL;
	return file->kind == CONFIG_HF ? &file->hf.shape : &file->megatron.shape;
}
