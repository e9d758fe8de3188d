/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a DeepSpeed log says beside times: shape (Megatron's arguments), ds_config, memory. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/dslog.h"

static const double GiB = 1073741824.0;

/* ---- "  name ........ value" */

static const struct {
	const char *name;
	size_t offset; /* of a double in struct rec_facts */
} arguments[] = {
    {"num_layers", offsetof(struct rec_facts, layers)},
    {"hidden_size", offsetof(struct rec_facts, hidden)},
    {"num_attention_heads", offsetof(struct rec_facts, heads)},
    {"num_key_value_heads", offsetof(struct rec_facts, kv_heads)},
    {"num_query_groups", offsetof(struct rec_facts, kv_heads)},
    {"ffn_hidden_size", offsetof(struct rec_facts, ffn)},
    {"padded_vocab_size", offsetof(struct rec_facts, vocab)},
    {"seq_length", offsetof(struct rec_facts, seq)},
    {"micro_batch_size", offsetof(struct rec_facts, mbs)},
    {"data_parallel_size", offsetof(struct rec_facts, gpus)},
};

static double positive(const char *text)
{
	const double value = strtod(text, NULL);
	return value > 0 && value < 1e15 ? value : 0;
}

/* Finds " ..... " and gives the word before it and the text behind it. */
static bool dotted(const char *line, const char **name, size_t *n_name, const char **value)
{
	const char *const dots = strstr(line, " ..");

	if (!dots)
		return false;
	const char *at = dots + 1, *from = dots;
	while (*at == '.')
		at++;
	while (from > line && (isalnum((unsigned char)from[-1]) || from[-1] == '_'))
		from--;
	*name = from;
	*n_name = (size_t)(dots - from);
	while (*at == ' ')
		at++;
	*value = at;
	return *n_name > 0 && *at != '\0';
}

static bool is_word(const char *name, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(name, word, n) == 0;
}

static void read_argument(struct rec_facts *facts, const char *line)
{
	const char *name, *value;
	size_t n;

	if (!dotted(line, &name, &n, &value))
		return;
	for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++)
		if (is_word(name, n, arguments[i].name) && positive(value) > 0)
			*(double *)((char *)facts + arguments[i].offset) = positive(value);
	if (is_word(name, n, "checkpoint_activations") || is_word(name, n, "deepspeed_activation_checkpointing"))
		facts->has_checkpointing |= strncmp(value, "True", 4) == 0;
	if (is_word(name, n, "swiglu"))
		facts->is_gpt = strncmp(value, "True", 4) != 0;
	if (is_word(name, n, "global_batch_size") && facts->mbs > 0 && facts->gpus > 0)
		facts->grad_accum = positive(value) / (facts->mbs * facts->gpus);
}

/* ---- other lines */

/* Number behind a word, -1 when the line lacks it. Commas and spaces before it are skipped. */
static double number_behind(const char *line, const char *word)
{
	const char *at = strstr(line, word);
	char *end;

	if (!at)
		return -1;
	at += strlen(word);
	while (*at == ' ' || *at == ':' || *at == '=')
		at++;
	const double value = strtod(at, &end);
	return end != at && value >= 0 && value < 1e18 ? value : -1;
}

static void read_memory(struct rec_facts *facts, const char *line)
{
	double gpu = number_behind(line, "MaxMemAllocated=");
	const double host = strstr(line, "CPU Virtual Memory") ? number_behind(line, "used =") : -1;

	if (gpu < 0 && strstr(line, "MA ") && strstr(line, "Max_CA"))
		gpu = number_behind(line, "Max_MA ");
	if (gpu >= 0 && gpu < 1e6 && (int64_t)(gpu * GiB) > facts->gpu_peak_bytes)
		facts->gpu_peak_bytes = (int64_t)(gpu * GiB);
	if (host >= 0 && host < 1e6 && (int64_t)(host * GiB) > facts->host_used_bytes)
		facts->host_used_bytes = (int64_t)(host * GiB);
}

static void read_config(struct rec_facts *facts, struct dslog_config *config, const char *line)
{
	const struct {
		const char *key;
		double *member;
	} keys[] = {
	    {"\"prefetch_optimizer\"", &config->prefetch},
	    {"\"prefetch_optimizer_gap\"", &config->gap},
	    {"\"part_grads_async\"", &config->part_grads_async},
	    {"\"ratio\"", &config->ratio},
	    {"\"sub_group_size\"", &facts->subgroup_params},
	    {"\"train_micro_batch_size_per_gpu\"", &facts->mbs},
	    {"\"gradient_accumulation_steps\"", &facts->grad_accum},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const double value = number_behind(line, keys[i].key);
		if (value >= 0 && value < 1e15)
			*keys[i].member = value;
	}
	if (strstr(line, "\"device\": \"cpu\""))
		config->has_cpu_offload = true;
}

void dslog_facts(struct rec_facts *facts, struct dslog_config *config, const char *line)
{
	read_argument(facts, line);
	read_memory(facts, line);
	if (strchr(line, '"'))
		read_config(facts, config, line);
	const double vocab = strstr(line, "padded vocab") ? number_behind(line, "(new size: ") : -1;
	if (vocab > 0 && vocab < 1e10)
		facts->vocab = vocab;
	const double billions = number_behind(line, "num_elems = ");
	if (billions > 0 && billions < 1e6)
		facts->n_params = billions * 1e9;
}

void dslog_policy(struct rec_facts *facts, const struct dslog_config *config)
{
	const char *const flush = config->part_grads_async > 0 ? "async" : "blocking";
	char *const to = facts->policy;
	const size_t size = sizeof(facts->policy);

	if (!config->has_cpu_offload)
		return;
	if (config->prefetch > 0)
		snprintf(
		    to, size, "dos:stride=%.0f,flush=%s", config->gap > 0 && config->gap < 1e6 ? config->gap : 2, flush);
	else if (config->ratio >= 0 && config->ratio < 1)
		snprintf(to, size, "twinflow:ratio=%g,flush=%s", config->ratio, flush);
	else
		snprintf(to, size, "zero3-offload:flush=%s", flush);
}
